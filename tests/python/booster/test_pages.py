"""A training in less memory than its bins take (gpu_memory_limit), on pages of bins: models are those without a limit.

Each test finds the least limit that its data allow, from the error that a smaller one is. With it, pages are as small,
and histograms as few, as they ever are. On a device what trees take is not known before: there the limit grows until
they fit.
"""

import gc
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import group_scenarios
import numpy as np
import pandas as pd
import pytest
import round_scenarios
import scipy.sparse
import test_rounds  # noqa: F401  (it has scenarios, too)
import xgboost as xgb
import xgboost_gpu
from group_workers import Group, WorkerError, group_of
from round_scenarios import History
from support import BACKEND, Batches, binary_labels, make_data, params, raw

host_only = pytest.mark.skipif(BACKEND != "host", reason="of pages on disk, and of limits that the host takes exactly")

X, Y = make_data(4000, 8, missing=0.15)
LABEL = binary_labels(Y)


def in_least_memory(work: Callable[[int], Any]) -> Any:
    """Returns what `work` does with the least limit that it can be done with."""
    limit = 1
    for _ in range(16):
        try:
            return work(limit)
        except xgb.core.XGBoostError as error:
            least = re.search(r"gpu_memory_limit is \d+ bytes.*allowed: (\d+) or more", str(error))
            short_of_memory = re.search("bytes (of GPU memory|for the histograms)", str(error)) is not None
            if least is None and BACKEND != "host" and short_of_memory:
                limit = limit * 3 // 2
                continue
            if least is None:
                raise
            assert int(least[1]) > limit
            limit = int(least[1])
    raise AssertionError("no limit is enough")


def in_least_limit(how: Dict[str, Any], data: xgb.DMatrix, rounds: int = 1) -> Tuple[xgb.Booster, int]:
    """Returns a booster that is trained in the least gpu_memory_limit, and the limit in bytes."""
    return in_least_memory(lambda limit: (train({**how, "gpu_memory_limit": limit}, data, rounds), limit))


def on_disk(folder: Path) -> Dict[str, Any]:
    """With these parameters a device, too, has its pages in a file."""
    return dict(gpu_cache_folder=str(folder), gpu_host_memory_limit=1)


def pages_of_newest() -> int:
    """The number of pages of the training that began last; 0: it is in core, or there is none."""
    reports = xgboost_gpu.memory_report()
    return reports[-1]["pages"]["count"] if reports and reports[-1]["pages"] is not None else 0


def train(how: Dict[str, Any], data: xgb.DMatrix, rounds: int) -> xgb.Booster:
    """As xgb.train, which returns a copy of the booster: its training is over."""
    booster = xgb.Booster(how, [data])
    for number in range(rounds):
        booster.update(data, number)
    return booster


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[List[int]]:
    """Numbers of pages, each of the newest training after a round of any booster."""
    seen: List[int] = []
    for name in ("update", "boost"):

        def call(*args: Any, function: Callable[..., Any] = getattr(xgb.Booster, name), **others: Any) -> None:
            function(*args, **others)
            seen.append(pages_of_newest())

        monkeypatch.setattr(xgb.Booster, name, call)
    yield seen


@pytest.mark.parametrize("name", round_scenarios.SCENARIOS)
def test_rounds_of_every_kind(name: str, counts: List[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Objectives, metrics, dart, early stopping, continuations, changes in between: what is seen is the same."""
    expected = History()
    round_scenarios.SCENARIOS[name](expected)
    assert set(counts) <= {0}

    def limited(limit: int) -> History:
        counts.clear()
        for module in (round_scenarios, test_rounds):
            monkeypatch.setattr(module, "params", lambda **others: params(gpu_memory_limit=limit, **others))
        history = History()
        round_scenarios.SCENARIOS[name](history)
        return history

    assert in_least_memory(limited).seen == expected.seen
    assert max(counts) > 1, "nothing was in pages"


@pytest.mark.parametrize("name", group_scenarios.SCENARIOS)
def test_settings(name: str, counts: List[int]) -> None:
    scenario = {**group_scenarios.SCENARIOS[name], "name": name}
    expected = group_scenarios.train(scenario, None)
    found = in_least_memory(lambda limit: group_scenarios.train({**scenario, "gpu_memory_limit": limit}, None))
    assert found.keys() == expected.keys()
    for part in expected:
        same = np.array_equal if isinstance(expected[part], np.ndarray) else (lambda one, other: one == other)
        assert same(found[part], expected[part]), part
    least = 2 if BACKEND == "host" else 1  # pages of a device are larger
    assert max(counts) >= least or scenario.get("rows", 5000) < 1000, "nothing was in pages"


def csr(x: np.ndarray) -> scipy.sparse.csr_matrix:
    rows, columns = np.nonzero(~np.isnan(x))
    return scipy.sparse.csr_matrix((x[rows, columns], (rows, columns)), shape=x.shape)


def categories() -> pd.DataFrame:
    frame = pd.DataFrame({f"f{number}": X[:, number] for number in range(4)})
    frame["town"] = pd.Categorical(np.random.default_rng(2).integers(0, 300, len(X)))
    frame["kind"] = pd.Categorical(np.random.default_rng(3).integers(0, 3, len(X)))
    return frame


def wide() -> scipy.sparse.csr_matrix:
    """More cells than two bytes tell apart, of which a row has few."""
    return scipy.sparse.random(4000, 300, 0.4, "csr", np.float32, np.random.default_rng(4))


ENDS = [1, 200, 1500, 1501, 3999]
MATRICES: Dict[str, Callable[[Path], xgb.DMatrix]] = {
    "array": lambda _: xgb.DMatrix(X, LABEL),
    "whole numbers": lambda _: xgb.DMatrix(np.nan_to_num(X * 20).astype(np.int8), LABEL),
    "csr": lambda _: xgb.DMatrix(csr(X), LABEL),
    "sparse csr": lambda _: xgb.DMatrix(csr(np.where(np.abs(X) > 1.3, X, np.nan)), LABEL),
    "wide csr": lambda _: xgb.DMatrix(wide(), LABEL),
    "frame": lambda _: xgb.DMatrix(categories(), LABEL, enable_categorical=True),
    "slice": lambda _: xgb.DMatrix(X, LABEL).slice(np.arange(0, 4000, 2).repeat(2)),
    "binary file": lambda folder: binary_file(folder),
    "QuantileDMatrix": lambda _: xgb.QuantileDMatrix(X, LABEL, max_bin=256),
    "iterator": lambda _: xgb.QuantileDMatrix(Batches(X, LABEL, ENDS), max_bin=256),
    "ref": lambda _: xgb.QuantileDMatrix(X, LABEL, ref=xgb.QuantileDMatrix(X[:700], LABEL[:700])),
    "external memory": lambda folder: xgb.DMatrix(Batches(X, LABEL, ENDS, str(folder / "cache"))),
    "weights": lambda _: xgb.DMatrix(X, LABEL, weight=np.arange(4000) % 5),
}


def binary_file(folder: Path) -> xgb.DMatrix:
    xgb.DMatrix(X, LABEL).save_binary(str(folder / "data.bin"))
    return xgb.DMatrix(str(folder / "data.bin"))


@pytest.mark.parametrize("kind", MATRICES)
def test_matrices(kind: str, tmp_path: Path, counts: List[int]) -> None:
    for number, how in enumerate((dict(), dict(grow_policy="lossguide", max_leaves=20), dict(sampling_method="goss"))):
        folders = [tmp_path / f"{name}{number}" for name in ("core", "pages")]
        for folder in folders:
            folder.mkdir()
        how = params(objective="binary:logistic", max_depth=5, max_bin=256, max_cat_to_onehot=4, **how)
        whole, data = MATRICES[kind](folders[0]), MATRICES[kind](folders[1])
        expected = train(how, whole, 3)
        counts.clear()
        found = in_least_memory(lambda limit: train({**how, "gpu_memory_limit": limit}, data, 3))
        assert max(counts) > 1
        assert raw(found) == raw(expected)
        assert np.array_equal(found.predict(data), expected.predict(whole))


@host_only
def test_any_limit_gives_the_model(counts: List[int]) -> None:
    how = params(max_depth=7, subsample=0.7)
    expected = raw(train(how, xgb.DMatrix(X, Y), 3))
    least = in_least_limit(how, xgb.DMatrix(X, Y))[1]
    found = []
    for limit in [least, least + 10_000, least + 20_000, least + 1_000_000, "1GiB", 0]:
        counts.clear()
        assert raw(train({**how, "gpu_memory_limit": limit}, xgb.DMatrix(X, Y), 3)) == expected, limit
        found.append(counts[-1])
    assert found[0] > 1 and found[-3:] == [0, 0, 0] and found == sorted(found, reverse=True)


@host_only
@pytest.mark.parametrize(
    "how",
    [
        dict(subsample=0.2),
        dict(subsample=0.2, sampling_method="gradient_based", objective="reg:logistic"),
        dict(sampling_method="goss", top_rate=0.1, other_rate=0.1, grow_policy="lossguide", max_leaves=40, max_depth=0),
        dict(subsample=0.2, grow_policy="symmetric", num_parallel_tree=2),
    ],
)
def test_trees_on_samples_that_fit_read_pages_twice(how: Dict[str, Any]) -> None:
    x, y = make_data(20_000, 20, missing=0.1)
    data = xgb.DMatrix(x, binary_labels(y))
    how = params(**how)
    expected = raw(train(how, data, 4))
    least = in_least_limit(how, data)[1]
    booster = train({**how, "gpu_memory_limit": least + 900_000}, data, 1)
    trees = how.get("num_parallel_tree", 1)
    for number in range(1, 4):
        before = xgboost_gpu.memory_report()[-1]["pages"]["copied_bytes"]
        booster.update(data, number)
        report = xgboost_gpu.memory_report()[-1]
        assert report["pages"]["count"] > 2
        read = report["pages"]["copied_bytes"] - before
        assert 0 < read <= 2 * trees * report["pages"]["file_bytes"]
        assert report["training_bytes"] + report["dataset_bytes"] <= least + 900_000
    assert raw(booster) == expected


def test_verbosity_2_tells_where_the_pages_are(capsys: pytest.CaptureFixture) -> None:
    data = xgb.DMatrix(X[:3777], Y[:3777])  # of no other test: it is told once
    in_least_memory(lambda limit: train(params(verbosity=2, gpu_memory_limit=limit), data, 1))
    told = capsys.readouterr().out
    assert "3777 rows" in told and re.search(r"its bins are in \d+ pages: \d+ bytes in host memory, \d+ in a file", told)


def test_what_a_booster_predicts_and_stores() -> None:
    data, other = xgb.DMatrix(X, LABEL), xgb.DMatrix(X[:500] + 0.01)
    how = params(objective="binary:logistic", max_depth=4)

    def answers(limit: int) -> Tuple[Any, ...]:
        booster = train({**how, "gpu_memory_limit": limit}, data, 4)
        assert (pages_of_newest() > 1) == (limit > 0)
        kinds: List[Dict[str, bool]] = [{name: True} for name in ("output_margin", "pred_leaf", "pred_contribs")]
        predictions = [booster.predict(rows, **kind).tobytes() for rows in (data, other) for kind in [{}, *kinds]]
        again = xgb.train({**how, "gpu_memory_limit": limit}, data, 2, xgb_model=bytearray(booster.save_raw("ubj")))
        refreshed = xgb.train({**params(), "process_type": "update", "updater": "refresh"}, data, 4, xgb_model=booster)
        return predictions, raw(booster), raw(again), raw(refreshed), booster.copy().predict(data).tobytes()

    assert in_least_memory(answers) == answers(0)


def test_two_trainings_at_a_time_with_other_limits() -> None:
    data = xgb.DMatrix(X, Y)

    def least_for(depth: int) -> int:
        return in_least_limit(params(max_depth=depth), data)[1]

    expected = [raw(train(params(max_depth=depth), data, 3)) for depth in (3, 6)]
    least = least_for(6)
    boosters = [
        xgb.Booster(params(max_depth=depth, gpu_memory_limit=limit), [data])
        for depth, limit in ((3, least_for(3)), (6, least + 9000))
    ]
    for number in range(3):
        for booster in boosters:
            booster.update(data, number)
    assert [raw(booster) for booster in boosters] == expected
    # The limit of a booster may be set anew in between.
    booster = xgb.Booster(params(max_depth=6), [data])
    for number, limit in enumerate([0, least, 0]):
        booster.set_param({"gpu_memory_limit": limit})
        booster.update(data, number)
    assert raw(booster) == expected[1]


@host_only
def test_the_report_tells_of_pages(disk_path: Path) -> None:
    data = xgb.DMatrix(X, Y)
    how = params(gpu_cache_folder=str(disk_path))
    booster, limit = in_least_limit(how, data, 2)
    report = xgboost_gpu.memory_report()[-1]
    assert report["pages"]["count"] > 1 and report["pages"]["on_device"] == report["pages"]["memory_bytes"] == 0
    assert report["pages"]["file_bytes"] >= 4000 * 8
    assert report["training_bytes"] + report["dataset_bytes"] <= limit
    read = report["pages"]["copied_bytes"]
    booster.update(data, 2)
    assert xgboost_gpu.memory_report()[-1]["pages"]["copied_bytes"] > read
    assert list(disk_path.iterdir()) == []  # the file has no name


@host_only
def test_errors_leave_the_booster_as_it_was(tmp_path: Path) -> None:
    data = xgb.DMatrix(X, Y)
    expected = raw(train(params(), data, 3))
    least = in_least_limit(params(), data)[1]
    booster = train(params(gpu_memory_limit=least), data, 2)
    before = raw(booster)
    (tmp_path / "file").touch()
    for others, words in [
        (dict(gpu_memory_limit=least - 1), f"gpu_memory_limit is {least - 1} bytes.*allowed: {least} or more"),
        (dict(gpu_cache_folder=str(tmp_path / "nowhere")), "gpu_cache_folder.*nowhere"),
        (dict(gpu_cache_folder=str(tmp_path / "file")), "gpu_cache_folder.*file"),
    ]:
        booster.set_param(others)
        with pytest.raises(xgb.core.XGBoostError, match=words):
            booster.update(data, 2)
        assert raw(booster) == before
        booster.set_param(dict(gpu_memory_limit=least, gpu_cache_folder=""))
    booster.update(data, 2)
    assert raw(booster) == expected


def open_files(folder: Path) -> Dict[Path, str]:
    """The descriptors of files in the folder that this process has open, and each file's name; a file without a name
    counts."""
    found = {}
    for link in Path("/proc/self/fd").iterdir():
        try:
            file = os.readlink(link)
        except OSError:  # the descriptor by which the folder was listed
            continue
        if file.startswith(str(folder)):
            found[link] = file
    return found


@host_only
def test_a_page_that_is_cut_short(disk_path: Path) -> None:
    """The file is cut short through the process's own descriptor of it."""
    data = xgb.DMatrix(X, Y)
    how = params(gpu_cache_folder=str(disk_path))
    expected = raw(train(how, data, 3))
    booster, limit = in_least_limit(how, data, 2)
    before = raw(booster)
    os.truncate(next(iter(open_files(disk_path))), 4096)
    for _ in range(2):
        with pytest.raises(xgb.core.XGBoostError, match="page .* offset .*possible: another gpu_cache_folder"):
            booster.update(data, 2)
        assert raw(booster) == before
    booster.set_param({"gpu_memory_limit": limit + 1})  # new pages
    booster.update(data, 2)
    assert raw(booster) == expected


def expect_no_file(folder: Path) -> None:
    """The library frees the pages of matrices that are gone when it next runs."""
    gc.collect()  # what errors hold
    xgb.train(params(), xgb.DMatrix(X[:50], Y[:50]), 1)
    assert not open_files(folder) and list(folder.iterdir()) == []


class Interrupted(xgb.callback.TrainingCallback):
    """Presses Ctrl-C after the second round: raises the error itself, or has another thread send the signal while a
    later round goes on. Python raises it when that round's call returns.
    """

    def __init__(self, by_signal: bool, folder: Path) -> None:
        self.by_signal, self.folder, self.files = by_signal, folder, 0
        self.sender = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        self.files = max(self.files, len(open_files(self.folder)))
        if epoch == 1 and self.by_signal:
            self.sender.start()
        elif epoch == 1:
            raise KeyboardInterrupt
        return False


@pytest.mark.parametrize("by_signal", [False, True])
def test_ctrl_c(by_signal: bool, tmp_path: Path) -> None:
    """The training is over, the next one on the same data is right, and its file is gone with the data."""
    data = xgb.DMatrix(X, Y)
    expected = raw(xgb.train(params(), data, 3))
    how = params(**on_disk(tmp_path))
    least = in_least_limit(how, data)[1]
    how["gpu_memory_limit"] = least
    for _ in range(2):
        pressing = Interrupted(by_signal, tmp_path)
        with pytest.raises(KeyboardInterrupt):
            xgb.train(how, data, 100_000, callbacks=[pressing])
        assert pressing.files == 1, "nothing was in pages"
        assert raw(xgb.train(how, data, 3)) == expected
    assert len(open_files(tmp_path)) == 1  # for the next training on these data, and not of each that has ended
    del data
    expect_no_file(tmp_path)


def test_trainings_in_threads_share_a_folder(tmp_path: Path) -> None:
    """Each has its own limit, data and file, and gets the model that it gets alone."""
    hows = [params(max_depth=3), params(max_depth=6, subsample=0.6), params(grow_policy="lossguide", max_leaves=30)]
    rows = [slice(0, 4000), slice(500, 3500), slice(1000, 4000)]
    matrices = [xgb.DMatrix(X[part], Y[part]) for part in rows]
    expected = [raw(train(how, data, 40)) for how, data in zip(hows, matrices)]
    limited = []
    for number, (how, data) in enumerate(zip(hows, matrices)):
        how = {**how, **on_disk(tmp_path)}
        least = in_least_limit(how, data)[1]
        limited.append({**how, "gpu_memory_limit": least + 5000 * number})
    barrier = threading.Barrier(len(hows), timeout=600)  # seconds; if one fails, the others do not wait for it

    def work(how: Dict[str, Any], data: xgb.DMatrix) -> Tuple[bytes, int]:
        booster, files = xgb.Booster(how, [data]), 0
        for number in range(40):
            if number < 2:
                barrier.wait()  # all have pages by the second round
            booster.update(data, number)
            files = max(files, len(open_files(tmp_path)))
        return raw(booster), files

    with ThreadPoolExecutor(len(hows)) as pool:
        found = list(pool.map(work, limited, matrices))
    assert [model for model, _ in found] == expected
    assert max(files for _, files in found) == len(hows), "the trainings were not in pages at the same time"
    matrices.clear()
    del data
    expect_no_file(tmp_path)


def test_without_gpu_exact() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="gpu_memory_limit.*gpu_exact"):
        xgb.train(params(tree_method="gpu_exact", gpu_memory_limit="1GiB"), xgb.DMatrix(X, Y), 1)


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    with group_of(2) as group:
        yield group


@host_only
@pytest.mark.parametrize("name", ["uniform sample", "categories", "symmetric", "absolute error with weights", "sparse"])
def test_workers_with_limits_of_their_own(name: str, group: Group) -> None:
    """If one worker of a process group needs pages, all have some; the other one here has no limit."""
    scenario = {**group_scenarios.SCENARIOS[name], "name": name}

    def limited(limit: int) -> List[Any]:
        answers = group.run(group_scenarios.in_pages, [0, 0.3, 1], scenario, [0, limit])
        for answer in answers:
            if isinstance(answer, WorkerError):
                raise xgb.core.XGBoostError(str(answer))
        return answers

    expected = group_scenarios.train(scenario, None)
    found = in_least_memory(limited)
    assert set(found[0][1]) == {1} and min(found[1][1]) > 1
    for part in ("base_score", "lines", "models"):
        assert [trained[part] for trained, _ in found] == [expected[part]] * 2, part
    assert np.array_equal(np.concatenate([trained["predictions"] for trained, _ in found]), expected["predictions"])
