"""scripts/peers: the sets of data.py, what worker.py makes of them, and table.py on the host backend."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest

PEERS = Path(__file__).resolve().parents[2] / "scripts" / "peers"
sys.path.insert(0, str(PEERS))

import data  # noqa: E402
import worker  # noqa: E402

NEW = ("epsilon", "bosch", "text", "onehot", "levels", "mslr")
TABLE = PEERS / "table.py"


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Dict[str, Any]]:
    """The new sets with a block and a part of the next."""
    folder = tmp_path_factory.mktemp("sets")
    scales = {name: 1.2 * data.SETS[name].block / data.SETS[name].training for name in NEW}
    return {name: worker.load(data.ensure(folder, name, scales[name])) for name in NEW}


def as_array(x: Any) -> np.ndarray:
    return x if isinstance(x, np.ndarray) else x.toarray()


@pytest.mark.parametrize("name", NEW)
def test_fewer_rows_are_a_head(name: str, sets: Dict[str, Dict[str, Any]], tmp_path: Path) -> None:
    few, more = worker.load(data.ensure(tmp_path, name, 1e-6)), sets[name]
    assert few["X"].shape == (500, data.SETS[name].columns)
    assert few["Xt"].shape == (100, data.SETS[name].columns)
    assert len(more["y"]) > data.SETS[name].block
    for array in few:
        rows = len(few["y"]) if array in ("X", "y", "q") else len(few["yt"])
        np.testing.assert_array_equal(as_array(few[array]), as_array(more[array][:rows]), array)


@pytest.mark.parametrize("name", NEW)
def test_blocks_differ(name: str, sets: Dict[str, Dict[str, Any]]) -> None:
    x, block = sets[name]["X"], data.SETS[name].block
    first, second, test = (as_array(of) for of in (x[:100], x[block : block + 100], sets[name]["Xt"][:100]))
    assert not np.array_equal(first, second, equal_nan=True)
    assert not np.array_equal(first, test, equal_nan=True)


@pytest.mark.parametrize("name", ("epsilon", "bosch", "text", "onehot", "levels"))
def test_classes_are_balanced(name: str, sets: Dict[str, Dict[str, Any]]) -> None:
    y = sets[name]["y"]
    assert set(np.unique(y)) == {0, 1}
    assert 0.4 < y.mean() < 0.6


def test_bosch_misses_neighbours_together(sets: Dict[str, Dict[str, Any]]) -> None:
    missing = np.isnan(sets["bosch"]["X"])
    assert missing.mean() == pytest.approx(0.81, abs=0.01)  # 4,915 rows x 61 groups: 0.0007 is a standard deviation
    np.testing.assert_array_equal(missing, np.repeat(missing[:, ::16], 16, axis=1)[:, :968])


def test_text_has_few_frequent_columns(sets: Dict[str, Dict[str, Any]]) -> None:
    x = sets["text"]["X"]
    assert 44.5 < x.nnz / x.shape[0] < 46
    assert x.has_canonical_format  # columns in order, none twice
    assert x.data.dtype == np.float32 and x.data.min() > 0
    rows = np.bincount(x.indices, minlength=10_000)
    assert rows[:10].min() > rows[100:110].max() > 10 * rows[9000:].mean() > 0


def test_onehot_has_a_level_of_each_category(sets: Dict[str, Dict[str, Any]]) -> None:
    x = sets["onehot"]["X"]
    np.testing.assert_array_equal(x.indices.reshape(-1, 40) // 100, np.tile(np.arange(40), (x.shape[0], 1)))
    assert (x.data == 1).all()
    levels = np.bincount(x.indices % 100, minlength=100) / x.nnz
    # floor(100 u^3) is a level with the probability ((level + 1) / 100)^(1/3) - (level / 100)^(1/3)
    np.testing.assert_allclose(levels, np.diff(np.cbrt(np.arange(101) / 100)), atol=0.003)


def test_levels_has_categories(sets: Dict[str, Dict[str, Any]]) -> None:
    x = sets["levels"]["X"]
    categories = x[:, : data.CATEGORIES["levels"]]
    np.testing.assert_array_equal(categories, np.floor(categories))
    assert (categories.min(axis=0) == 0).all()
    assert (categories.max(axis=0) <= np.array(data.LEVELS) - 1).all() and categories.max() == 4999
    assert (x[:, data.CATEGORIES["levels"] :] != np.floor(x[:, data.CATEGORIES["levels"] :])).mean() > 0.99


def test_mslr_has_queries(sets: Dict[str, Dict[str, Any]]) -> None:
    case, block = sets["mslr"], data.SETS["mslr"].block
    sizes = worker.sizes(case["q"])
    assert sizes[:-1].min() >= 40 and sizes.max() <= 199  # the last is cut
    assert sizes[: 2 * data.PAIRS].sum() == block  # a block ends with a query
    assert data.SETS["mslr"].training % block == data.SETS["mslr"].test % block == 0
    np.testing.assert_array_equal(np.unique(case["y"]), np.arange(5))
    numbers = case["X"][:, :60]
    np.testing.assert_array_equal(numbers, np.floor(numbers))


def test_unfinished_set_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(kind: data.Set, rows: int, number: int, files: List[Path]) -> None:
        for path in files:
            with path.open("wb") as file:
                np.save(file, np.zeros(3))
        if number == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(data, "_sparse", interrupted)
        with pytest.raises(KeyboardInterrupt):
            data.ensure(tmp_path, "onehot", 1e-6)
    assert worker.load(data.ensure(tmp_path, "onehot", 1e-6))["X"].shape == (500, 4000)


def test_queries_are_numbered_in_order(tmp_path: Path) -> None:
    for name, values in {"X": np.zeros((6, 1)), "y": np.zeros(6), "q": np.array([7, 7, 3, 7, 7, 0])}.items():
        np.save(tmp_path / f"{name}.npy", values)
        np.save(tmp_path / f"{name}t.npy", values)
    loaded = worker.load(tmp_path)
    np.testing.assert_array_equal(loaded["q"], [0, 0, 1, 2, 2, 3])
    np.testing.assert_array_equal(loaded["qt"], loaded["q"])


def test_ndcg_is_that_of_xgboost() -> None:
    import xgboost as xgb

    rng = np.random.default_rng(3)
    sizes = np.concatenate([rng.integers(1, 40, 200), [1, 10, 11]])
    queries = np.repeat(np.arange(len(sizes)), sizes)
    label = rng.integers(0, 5, len(queries)).astype(np.float32)
    label[queries == 5] = 0
    prediction = rng.permutation(len(queries)).astype(np.float32)  # no two are equal: their order would matter
    matrix = xgb.DMatrix(prediction[:, None], label, base_margin=prediction, qid=queries)
    booster = xgb.train({"objective": "rank:ndcg", "eval_metric": "ndcg@10"}, matrix, 0)
    expected = float(booster.eval(matrix).split(":")[-1])
    assert worker.ndcg(prediction.astype(np.float64), label, queries) == pytest.approx(expected, abs=1e-6)
    assert worker.ndcg(label, label, queries) == 1


def table(*options: str) -> str:
    command = [sys.executable, "-B", str(TABLE), "--backend", "host", "--runs", "1", "--rounds", "4", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_table_trains_on_all_kinds(tmp_path: Path) -> None:
    rows = (*NEW, "cover", "small", "m1-b4096")
    options = ("--data", str(tmp_path), "--scale", "0.002", "--threads", "2")
    printed = table(*options, "--libraries", "ours", "catboost", "--rows", *rows)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")]
    times, facts = cells[2 : 2 + len(rows)], cells[4 + len(rows) :]
    assert [row[0] for row in times] == [row[0] for row in facts] == list(rows)
    assert all(float(cell) > 0 for row in times for cell in row[2:6])
    ways_in = [float(row[3]) - float(row[4]) for row in times]  # from the array, less the training
    assert min(ways_in) >= 0  # of few rows nothing is left when rounded
    assert max(ways_in) > 0
    accuracy = {row[0]: float(row[1]) for row in facts}
    assert accuracy["mslr"] > 0.3  # 0.15 in any order
    assert all(accuracy[name] > 0.51 for name in ("bosch", "onehot", "small"))
    assert "catboost is missing: No module named 'catboost'" in printed


CATBOOST = """
import sys
import numpy as np

class Pool:
    def __init__(self, x, y, group_id):
        if not isinstance(x, np.ndarray):
            raise ValueError("no " + type(x).__name__)
        self.queries = group_id

    def quantize(self, border_count):
        pass

class CatBoost:
    def __init__(self, params):
        self.ranks = params["loss_function"] == "YetiRank"

    def fit(self, pool):
        assert (pool.queries is not None) == self.ranks

    def predict(self, x):
        return np.load(sys.argv[2] + "/yt.npy")
"""


def test_table_says_what_failed(tmp_path: Path) -> None:
    """A library that cannot train on a set has a dash there and is tried on the next; one that knows the answers has 1."""
    (tmp_path / "catboost.py").write_text(CATBOOST)
    options = ("--data", str(tmp_path / "data"), "--scale", "1e-4", "--path", f"catboost={tmp_path}")
    lines = table(*options, "--libraries", "catboost", "--rows", "text", "mslr", "small").splitlines()
    assert "| text | 4, 8 | – | – | – | – | – | – |" in lines
    accuracy = [line.split("|")[2].strip() for line in lines if line.startswith("|")][-3:]
    assert accuracy == ["–", "1.0000", "1.0000"]
    assert [line for line in lines if "failed" in line] == ["catboost failed on text: ValueError: no csr_matrix"]
