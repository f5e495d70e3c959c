"""Several GPUs of one process (n_gpus), and of the processes of a group: the models of one, bit for bit.

Without XGBGPU_TEST_BACKEND=cuda it is tested what can be without a GPU. Data are so large where they are to be dealt to
several GPUs at all.
"""

import contextlib
import ctypes
import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import group_scenarios
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost as xgb
import xgboost_gpu
from group_scenarios import SCENARIOS
from group_workers import Group, WorkerError
from support import BACKEND, LIBRARY, SERIES, assert_same_trees, binary_labels, fresh, make_data, only_before, only_since, params, run_python, train

on_gpu = pytest.mark.skipif(BACKEND != "cuda", reason="this test needs a GPU")
ROWS, COLUMNS = 4_000_000, 60
SHARES = {2: [0, 0.3, 1], 3: [0, 0.2, 0.7, 1]}
LOGISTIC = dict(objective="binary:logistic")
#: A part of the memory report where rounds stay on a GPU.
LABELS_ON_GPU = "labels"


def device_info() -> Dict[str, Any]:
    function = ctypes.CDLL(LIBRARY).XGBGPUDeviceInfo
    function.restype = ctypes.c_char_p
    return json.loads(function())


def gpus() -> int:
    return len(device_info()["devices"]) if BACKEND == "cuda" else 0


@pytest.fixture(scope="module")
def small() -> xgb.DMatrix:
    return xgb.DMatrix(*make_data(700, 6))


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 16])
def test_a_number_of_gpus_is_never_part_of_a_model(small: xgb.DMatrix, number: int) -> None:
    assert_same_trees(train(small, 3, n_gpus=number, gpu_backend="auto"), train(small, 3))


def test_numbers_that_are_none(small: xgb.DMatrix) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="n_gpus is '-2'.*-1 .all., 1 or more"):
        train(small, 1, n_gpus=-2)


def test_exact_trees_need_all_rows_in_one_place(small: xgb.DMatrix) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="n_gpus is '2'.*gpu_exact.*n_gpus=1"):
        train(small, 1, n_gpus=2, tree_method="gpu_exact")


@pytest.fixture(scope="module")
def large() -> Dict[str, Any]:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    rng = np.random.default_rng(3)
    x = rng.integers(-8, 9, size=(ROWS, COLUMNS)).astype(np.float32)
    x[::11, 5] = np.nan
    y = (x[:, 0] * x[:, 1] + np.nan_to_num(x[:, 5]) + 4 * rng.standard_normal(ROWS) > 0).astype(np.float32)
    return {"x": x, "y": y, "data": xgb.DMatrix(x, y)}


LARGE: Dict[str, Dict[str, Any]] = {
    "plain": dict(objective="binary:logistic", eval_metric=["logloss", "auc"]),
    "sample": dict(objective="binary:logistic", subsample=0.5, colsample_bynode=0.5, max_depth=5),
    "gradient sample": dict(objective="binary:logistic", subsample=0.2, sampling_method="gradient_based"),
    "leaves": dict(objective="reg:squarederror", grow_policy="lossguide", max_depth=0, max_leaves=60),
    "classes": dict(objective="multi:softprob", num_class=2, max_depth=6),
    "median": dict(objective="reg:absoluteerror", max_depth=4),
    "dart": dict(objective="binary:logistic", booster="dart", rate_drop=0.5, max_depth=4),
    "forest": dict(objective="binary:logistic", num_parallel_tree=3, subsample=0.6, max_depth=4),
    "signs": dict(objective="binary:logistic", monotone_constraints="(1,-1)", max_depth=4),
}


if SERIES >= 304:
    VECTORS = dict(objective="multi:softprob", num_class=16, multi_strategy="multi_output_tree")  # many make two faster
    LARGE["vectors"] = dict(**VECTORS, subsample=0.7)
    LARGE["symmetric vectors"] = dict(**VECTORS, grow_policy="symmetric", max_depth=6)


class Places(xgb.callback.TrainingCallback):
    """Notes what the memory report says of the training, which ends with xgb.train."""

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        self.newest = xgboost_gpu.memory_report()[-1]
        return False


@on_gpu
@pytest.mark.parametrize("name", list(LARGE))
def test_two_gpus_give_the_model_of_one(large: Dict[str, Any], name: str) -> None:
    found: List[Any] = []
    for number in (1, 2):
        history: Dict[str, Any] = {}
        how = params(**{"max_depth": 8, "seed": 7, **LARGE[name]}, n_gpus=number)
        places = Places()
        booster = xgb.train(how, large["data"], 4, evals=[(large["data"], "train")], evals_result=history,
                            verbose_eval=False, callbacks=[places])  # fmt: skip
        assert places.newest["devices"] == number and places.newest["backend"] == "cuda"
        found.append((booster.get_dump(with_stats=True, dump_format="json"), history, booster.predict(large["data"])))
        del booster
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]
    np.testing.assert_array_equal(found[0][2], found[1][2])


class Batches(xgb.DataIter):
    """The rows in four batches, as they are: on the host or on a GPU."""

    def __init__(self, x: Any, y: Any) -> None:
        self.parts = [(x[begin : begin + ROWS // 4], y[begin : begin + ROWS // 4]) for begin in range(0, ROWS, ROWS // 4)]
        self.next_part = 0
        super().__init__()

    def next(self, input_data: Any) -> int:
        if self.next_part == len(self.parts):
            return 0
        input_data(data=self.parts[self.next_part][0], label=self.parts[self.next_part][1])
        self.next_part += 1
        return 1

    def reset(self) -> None:
        self.next_part = 0


def matrices(x: np.ndarray, y: np.ndarray, where: str) -> Dict[str, Callable[[], xgb.DMatrix]]:
    """Every way in that is not an array on the host in a DMatrix."""
    if where == "host":
        return {
            "quantile": lambda: xgb.QuantileDMatrix(x, y),
            "batches": lambda: xgb.QuantileDMatrix(Batches(x, y)),
            "compressed rows": lambda: xgb.DMatrix(scipy.sparse.csr_matrix(np.nan_to_num(x[:, :30])), y),
            "frame": lambda: xgb.DMatrix(pd.DataFrame(x, copy=False), y),
        }
    cp = pytest.importorskip("cupy", reason="CuPy is not installed")
    with cp.cuda.Device(int(where)):
        on_device, labels = cp.asarray(x), cp.asarray(y)
    return {
        "array": lambda: xgb.DMatrix(on_device, labels),
        "quantile": lambda: xgb.QuantileDMatrix(on_device, labels),
        "batches": lambda: xgb.QuantileDMatrix(Batches(on_device, labels)),
    }


@on_gpu
@pytest.mark.parametrize("way", ["host quantile", "host batches", "host compressed rows", "host frame", "0 array",
                                 "0 quantile", "0 batches", "1 array"])  # fmt: skip
def test_every_way_in_leads_to_two_gpus(large: Dict[str, Any], way: str) -> None:
    where, name = way.split(" ", 1)
    make = matrices(large["x"], large["y"], where)[name]
    found: List[Any] = []
    for number in (1, 2):
        places, data = Places(), make()
        booster = xgb.train(params(max_depth=8, n_gpus=number), data, 3, callbacks=[places])
        found.append((places.newest["devices"], booster.get_dump(with_stats=True, dump_format="json")))
        del booster, data
    assert found[0][1] == found[1][1]
    assert [devices for devices, _ in found] == [1, 2]


@on_gpu
def test_each_gpu_writes_a_timeline(large: Dict[str, Any], tmp_path: Any) -> None:
    file = str(tmp_path / "t.json")
    booster = xgb.train(params(n_gpus=2, gpu_trace=file, max_depth=6), large["data"], 3)
    del booster
    names = sorted(os.listdir(tmp_path))
    assert names == ["t.json", "t.json.gpu1"]
    for name in names:
        assert len(json.loads((tmp_path / name).read_text())) > 20


@on_gpu
def test_small_data_stay_on_one_gpu(small: xgb.DMatrix, capfd: Any) -> None:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    places = Places()
    xgb.train(params(n_gpus=2, verbosity=2), small, 1, callbacks=[places])
    assert places.newest["devices"] == 1
    said = capfd.readouterr()
    assert "n_gpus allows 2 GPUs, and 1 of them" in said.out + said.err


# Predictions. Two GPUs have enough to do from 2^26 rows × rounds × outputs on, and from 2^24 rows × rounds (× columns)
# for explanations (prediction_policy.h).
ROUNDS = 70
PREDICTED, EXPLAINED, PAIRED = 1_100_000, 250_000, 60_000
LABELS: Dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda y: y,
    "classes": lambda y: np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(np.float32),
    "yes": binary_labels,
}
MODELS: Dict[str, Tuple[str, Dict[str, Any]]] = {
    "plain": ("plain", dict(max_depth=5)),
    "classes": ("classes", dict(objective="multi:softprob", num_class=3, max_depth=3)),
    "forest": ("yes", dict(objective="binary:logistic", num_parallel_tree=2, subsample=0.7, base_score=0.2)),
    "symmetric": ("plain", dict(grow_policy="symmetric", max_depth=5)),
    "dart": ("plain", dict(booster="dart", rate_drop=0.2, max_depth=4)),
    "categories": ("plain", dict(max_cat_to_onehot=3)),
}
Answers = Dict[str, np.ndarray]


class Predicted:
    """Models, and rows to predict, of which some values are missing."""

    def __init__(self) -> None:
        x, self.y = make_data(2000, 5, missing=0.1)
        self.x = make_data(PREDICTED, 5, seed=1, missing=0.1)[0]
        self.train_x = {False: x, True: self.with_categories(x)}
        self.rows = {False: self.x, True: self.with_categories(self.x)}

    @staticmethod
    def with_categories(x: np.ndarray) -> np.ndarray:
        x = x.copy()
        x[:, 0] = np.clip(np.floor(3 * np.abs(x[:, 0])), 0, 8)
        return x

    @staticmethod
    def matrix(name: str, x: Any, y: Any = None, **others: Any) -> xgb.DMatrix:
        kind = dict(feature_types=["c"] + ["float"] * 4, enable_categorical=True) if name == "categories" else {}
        return xgb.DMatrix(x, y, **kind, **others)

    def model(self, name: str) -> xgb.Booster:
        labels, how = MODELS[name]
        data = self.matrix(name, self.train_x[name == "categories"], LABELS[labels](self.y))
        return xgb.train(params(**how), data, ROUNDS)

    def to_predict(self, name: str, most: int = PREDICTED) -> np.ndarray:
        outputs = 3 if name == "classes" else 1
        return self.rows[name == "categories"][: min(most, -(-PREDICTED // outputs))]


@pytest.fixture(scope="module")
def predicted() -> Predicted:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    return Predicted()


def assert_same_answers(booster: xgb.Booster, ask: Callable[[xgb.Booster], Answers]) -> None:
    """Of one GPU, of two, and of all."""
    expected = ask(fresh(booster, **params(n_gpus=1)))
    for number in (2, -1):
        found = ask(fresh(booster, **params(n_gpus=number)))
        for name, values in expected.items():
            assert found[name].shape == values.shape and found[name].dtype == values.dtype == np.float32, name
            assert np.array_equal(found[name].view(np.uint32), values.view(np.uint32)), f"{name}, n_gpus={number}"


@on_gpu
@pytest.mark.parametrize("name", list(MODELS))
def test_two_gpus_predict_as_one(predicted: Predicted, name: str) -> None:
    x = predicted.to_predict(name)

    def ask(booster: xgb.Booster) -> Answers:
        data = predicted.matrix(name, x)
        start = np.sin(np.arange(len(x), dtype=np.float32))
        outputs = 3 if name == "classes" else 1
        based = predicted.matrix(name, x, base_margin=np.repeat(start[:, None], outputs, axis=1))
        return {
            "first round": booster.predict(data, iteration_range=(0, 1), output_margin=True),
            "all rounds": booster.predict(data, output_margin=True),
            "some rounds": booster.predict(data, iteration_range=(3, 68), output_margin=True),
            "base margin": booster.predict(based),
            "in place": booster.inplace_predict(x),
            "in place, some rounds": booster.inplace_predict(x, iteration_range=(2, 67), predict_type="margin"),
            "in place, double": booster.inplace_predict(x.astype(np.float64)),
            "in place, columns": booster.inplace_predict(np.asfortranarray(x), missing=0.0),
        }

    assert_same_answers(predicted.model(name), ask)


@on_gpu
@pytest.mark.parametrize("name", list(MODELS))
def test_two_gpus_find_the_leaves_of_one(predicted: Predicted, name: str) -> None:
    data = predicted.matrix(name, predicted.to_predict(name))
    assert_same_answers(predicted.model(name), lambda booster: {"leaves": booster.predict(data, pred_leaf=True)})


@on_gpu
def test_two_gpus_predict_sparse_rows_as_one(predicted: Predicted) -> None:
    rng = np.random.default_rng(5)
    x = predicted.x.copy()
    x[rng.random(x.shape) < 0.6] = 0
    sparse = scipy.sparse.csr_matrix(np.nan_to_num(x))

    def ask(booster: xgb.Booster) -> Answers:
        data = xgb.DMatrix(sparse)
        return {
            "margins": booster.predict(data, output_margin=True),
            "in place": booster.inplace_predict(sparse),
            "contributions": booster.predict(xgb.DMatrix(sparse[:EXPLAINED]), pred_contribs=True),
        }

    assert_same_answers(predicted.model("plain"), ask)


@only_before(302, "XGBoost makes no pages of text any more")
@on_gpu
def test_two_gpus_predict_pages_of_a_file_as_one(predicted: Predicted, tmp_path: Any) -> None:
    x = np.nan_to_num(predicted.x)
    numbers = [" ".join(f"{f}:{value:.3f}" for f, value in enumerate(row)) for row in x[:2000]]
    file = tmp_path / "rows.libsvm"
    file.write_text("".join(f"0 {line}\n" for line in numbers * (PREDICTED // 2000)))

    def ask(booster: xgb.Booster) -> Answers:
        data = xgb.DMatrix(f"{file}?format=libsvm#{tempfile.mkdtemp(dir=tmp_path)}/cache")
        return {"margins": booster.predict(data, output_margin=True)}

    assert_same_answers(predicted.model("plain"), ask)


@on_gpu
@pytest.mark.parametrize("name", list(MODELS))
def test_two_gpus_explain_as_one(predicted: Predicted, name: str) -> None:
    many = predicted.matrix(name, predicted.to_predict(name, EXPLAINED))
    few = predicted.matrix(name, predicted.to_predict(name, PAIRED))

    def ask(booster: xgb.Booster) -> Answers:
        return {
            "contributions": booster.predict(many, pred_contribs=True),
            "of some rounds": booster.predict(many, pred_contribs=True, iteration_range=(0, 30)),
            "approximate": booster.predict(many, pred_contribs=True, approx_contribs=True),
            "interactions": booster.predict(few, pred_interactions=True),
        }

    assert_same_answers(predicted.model(name), ask)


@on_gpu
@pytest.mark.parametrize("rows", [1, 2, 3, 5000])
def test_few_rows_are_predicted_as_on_one_gpu(predicted: Predicted, rows: int) -> None:
    booster = predicted.model("plain")
    x = predicted.x[:rows]

    def ask(booster: xgb.Booster) -> Answers:
        data = xgb.DMatrix(x)
        return {
            "margins": booster.predict(data),
            "in place": booster.inplace_predict(x),
            "leaves": booster.predict(data, pred_leaf=True),
            "contributions": booster.predict(data, pred_contribs=True),
            "interactions": booster.predict(data, pred_interactions=True),
        }

    assert_same_answers(booster, ask)


BOTH_ARE_USED = """
import ctypes, sys
import numpy as np, xgboost as xgb, xgboost_gpu

driver = ctypes.CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0

def is_used(device):
    flags, active = ctypes.c_uint(), ctypes.c_int()
    assert driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) == 0
    return active.value

rows, number, what = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = np.random.default_rng(0).normal(size=(rows, 5)).astype(np.float32)
how = {"tree_method": "gpu_hist", "gpu_backend": "cuda", "n_gpus": number}
booster = xgb.train(how, xgb.DMatrix(x[:500], x[:500, 0]), 70)
before = is_used(1)
booster.inplace_predict(x) if what == "in place" else booster.predict(xgb.DMatrix(x), **({what: True} if what else {}))
print("used before and after:", before, is_used(1))
"""


@on_gpu
@pytest.mark.parametrize("what, rows", [("", PREDICTED), ("in place", PREDICTED), ("pred_leaf", PREDICTED),
                                        ("pred_contribs", EXPLAINED), ("pred_interactions", PAIRED)])  # fmt: skip
def test_the_second_gpu_is_used_where_there_is_much_to_do(what: str, rows: int) -> None:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    said = run_python(BOTH_ARE_USED, str(rows), "2", what, library=LIBRARY).stdout
    assert said.split(":")[1].split() == ["0", "1"], said


@pytest.fixture(scope="module")
def groups() -> Iterator[Dict[int, Group]]:
    made = {workers: Group(workers) for workers in (2, 3)}
    yield made
    for group in made.values():
        group.end()


@on_gpu
@pytest.mark.parametrize("workers", [2, 3])
def test_processes_on_gpus_give_the_model_of_one(groups: Dict[int, Group], workers: int) -> None:
    """Also where several processes share a GPU."""
    assert_models_of_one(groups[workers], list(SCENARIOS) if workers == 2 else list(SCENARIOS)[::4], SHARES[workers])


def assert_models_of_one(group: Group, names: List[str], shares: List[float]) -> None:
    scenarios = [{**SCENARIOS[name], "name": name} for name in names]
    found = group.results(group_scenarios.several, scenarios, shares)
    wrong = []
    for number, name in enumerate(names):
        expected = group_scenarios.train({**SCENARIOS[name], "name": name}, None)
        for part in ("base_score", "lines", "models"):
            if any(worker[number][part] != expected[part] for worker in found):
                wrong.append(f"{name}: {part} {[worker[number][part] == expected[part] for worker in found]}")
        together = np.concatenate([worker[number]["predictions"] for worker in found])
        if not np.array_equal(together, expected["predictions"]):
            wrong.append(f"{name}: predictions")
    assert wrong == []


@on_gpu
def test_processes_train_on_gpus(groups: Dict[int, Group]) -> None:
    found = [place for place, _ in groups[2].results(group_scenarios.places, SHARES[2], LOGISTIC)]
    assert [place["backend"] for place in found] == ["cuda", "cuda"]
    assert [place["device"] for place in found] == [0, 1 % gpus()]


QUANTILES_THAT_STAY = [(dict(objective="reg:quantileerror", quantile_alpha=[0.2, 0.7]), True)] if SERIES >= 200 else []
VECTORS_THAT_STAY = [(SCENARIOS["symmetric trees of vectors"], True)] if SERIES >= 302 else []


@on_gpu
@pytest.mark.parametrize(
    "scenario, stay",
    [
        (LOGISTIC, True),
        (dict(objective="rank:ndcg", groups=True, weights="groups"), True),
        (dict(objective="rank:ndcg"), False),
        (dict(objective="survival:cox"), False),
        (SCENARIOS["dart"], True),
        (dict(objective="reg:absoluteerror"), True),
        (dict(objective="reg:absoluteerror", weights=True), SERIES >= 304),  # stock rounds sums of weights before
        *QUANTILES_THAT_STAY,
        *VECTORS_THAT_STAY,
    ],
    ids=str,
)
def test_rounds_stay_on_gpus_where_no_objective_needs_rows_of_others(
    groups: Dict[int, Group], scenario: Dict[str, Any], stay: bool
) -> None:
    found = groups[2].results(group_scenarios.places, SHARES[2], scenario)
    assert [LABELS_ON_GPU in place["parts"] for place, _ in found] == [stay, stay]
    assert [model for _, model in found] == [group_scenarios.places(None, scenario)[1]] * 2


@on_gpu
def test_labels_that_one_worker_changes_and_all_evaluate_on_gpus(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.labels_of_one_change(SHARES[2], in_one_process=True)
    assert groups[2].results(group_scenarios.labels_of_one_change, SHARES[2]) == [expected] * 2


@on_gpu
def test_evaluated_rows_that_one_worker_changes_on_gpus(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.evaluated_rows_of_one_change(SHARES[2], in_one_process=True)
    assert groups[2].results(group_scenarios.evaluated_rows_of_one_change, SHARES[2]) == [expected] * 2


@on_gpu
def test_boosters_that_train_in_turns_on_gpus(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.trains_in_turns(SHARES[2], in_one_process=True)
    assert groups[2].results(group_scenarios.trains_in_turns, SHARES[2]) == [expected] * 2


@on_gpu
@pytest.mark.skipif("XGBGPU_MESSAGE_COUNTER" not in os.environ or SERIES >= 200, reason="needs message_counter.cc")
@pytest.mark.parametrize("evaluated", [None, [0, 1, 1], [0, 0.01, 1]], ids=["trained", "of one", "few of one"])
def test_an_area_under_a_curve_takes_one_message_on_gpus(evaluated: Optional[List[float]]) -> None:
    """Also if a worker has few of the evaluated rows, or none: their device counts with the others."""
    group = Group(2, [["env", f"LD_PRELOAD={os.environ['XGBGPU_MESSAGE_COUNTER']}"]] * 2)
    with ended(group):
        none, area = (group.results(group_scenarios.messages, SHARES[2], {}, metrics, evaluated)[0][3:]
                      for metrics in ([], ["auc"]))  # fmt: skip
    assert [a - b for a, b in zip(area, none)] == [1] * 3


@on_gpu
@pytest.mark.parametrize("evaluated", [[0, 1, 1], [0, 0.01, 1], [0, 0, 1]], ids=str)
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_rows_that_few_workers_evaluate_on_gpus(groups: Dict[int, Group], evaluated: List[float], booster: str) -> None:
    scenario = dict(LOGISTIC, booster=booster, rate_drop=0.3, eval_metric=["logloss", "auc", "aucpr"])
    if booster == "gbtree":
        del scenario["rate_drop"]
    expected = group_scenarios.evaluates(None, scenario, evaluated)
    assert groups[2].results(group_scenarios.evaluates, SHARES[2], scenario, evaluated) == [expected] * 2


@on_gpu
def test_rounds_are_on_hosts_if_some_workers_time_their_trees(groups: Dict[int, Group], tmp_path: Any) -> None:
    """A tree that is timed exchanges other numbers."""
    file = str(tmp_path / "trace.json")
    found = groups[2].results(group_scenarios.places, SHARES[2], LOGISTIC, {1: file})
    assert [LABELS_ON_GPU in place["parts"] for place, _ in found] == [False, False]
    assert [model for _, model in found] == [group_scenarios.places(None, LOGISTIC)[1]] * 2
    both = groups[2].results(group_scenarios.places, SHARES[2], LOGISTIC, {0: file, 1: str(tmp_path / "other.json")})
    assert [LABELS_ON_GPU in place["parts"] for place, _ in both] == [True, True]


#: Workers without rows: between others, the first of two, and all but the second.
SOME_HAVE_NONE = [[0, 0.4, 0.4, 1], [0, 0, 1], [0, 0, 1, 1]]


@pytest.fixture(scope="module")
def without_gpu() -> Iterator[Group]:
    """Three workers, of which the second sees no GPU."""
    made = Group(3, [[], ["env", "CUDA_VISIBLE_DEVICES="], []])
    yield made
    made.end()


@on_gpu
@pytest.mark.parametrize("shares", SOME_HAVE_NONE, ids=str)
def test_workers_without_rows_get_the_model_of_one(groups: Dict[int, Group], shares: List[float]) -> None:
    """They stand by while the others train on GPUs, or the one that has rows on its own."""
    chosen = list(SCENARIOS)[:: 4 if shares == SOME_HAVE_NONE[0] else 9]
    names = list(dict.fromkeys([*chosen, "poisson", *(name for name in SCENARIOS if name == "trees of vectors")]))
    assert_models_of_one(groups[len(shares) - 1], names, shares)


@on_gpu
def test_a_worker_without_rows_needs_no_gpu(without_gpu: Group) -> None:
    found = [place for place, _ in without_gpu.results(group_scenarios.places, SOME_HAVE_NONE[0], LOGISTIC)]
    assert [place["backend"] for place in found] == ["cuda", "host", "cuda"]
    assert [place["device"] for place in (found[0], found[2])] == [0, 1 % gpus()]
    for answer in without_gpu.run(group_scenarios.places, SHARES[3], LOGISTIC):
        assert isinstance(answer, WorkerError) and "a worker with rows sees no GPU" in str(answer)


@only_before(200, "newer XGBoosts refuse infinite values")
@on_gpu
def test_bins_of_xgboost_where_a_worker_has_no_rows(groups: Dict[int, Group]) -> None:
    found = groups[3].results(group_scenarios.bins_of_workers, SOME_HAVE_NONE[0])
    assert [model for model, _ in found] == [found[0][0]] * 3


@on_gpu
def test_a_worker_without_rows_is_told_who_has_failed(groups: Dict[int, Group]) -> None:
    answers = groups[3].run(group_scenarios.little_memory, SOME_HAVE_NONE[0], 2)
    assert all(isinstance(answer, WorkerError) for answer in answers)
    assert "gpu_memory_limit" in str(answers[2])
    for answer in answers[:2]:
        assert "All stop because worker 2 of 3 failed. It says: " in str(answer) and "gpu_memory_limit" in str(answer)
    # What comes next is not disturbed.
    expected = group_scenarios.columns_of_one(None, "array")
    assert groups[3].results(group_scenarios.columns_of_one, SOME_HAVE_NONE[0], "array") == [expected] * 3


@only_since(302, "gpu_hist has no trees of vectors there")
@on_gpu
def test_trees_of_vectors_grow_on_cpus_if_one_worker_limits_memory(groups: Dict[int, Group]) -> None:
    scenario = SCENARIOS["trees of vectors"]
    expected = group_scenarios.train(scenario, None)
    for found, _ in groups[2].results(group_scenarios.in_pages, SHARES[2], scenario, [0, 1 << 30]):
        assert found["models"] == expected["models"]


@on_gpu
def test_a_booster_on_gpus_goes_on_after_a_round_that_failed(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.goes_on_after_a_failed_round(None)
    assert groups[2].results(group_scenarios.goes_on_after_a_failed_round, SHARES[2]) == [expected] * 2


def hosts(*visible: str, **settings: str) -> List[List[str]]:
    """Commands that start workers which see these GPUs, as on a host each: they take each other to be on another one,
    and so does NCCL, which has the network alone then."""
    alone = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_SOCKET_IFNAME": "lo", **settings}
    return [
        ["env", f"CUDA_VISIBLE_DEVICES={gpu}", f"XGBGPU_HOST_ID=host{n}", f"NCCL_HOSTID=host{n}"]
        + [f"{name}={value}" for name, value in alone.items()]
        for n, gpu in enumerate(visible)
    ]


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Group]:
    if gpus() < 2:
        pytest.skip("this test needs two GPUs")
    if not device_info()["nccl"]:
        pytest.skip(device_info()["why_no_nccl"])
    group = Group(2, hosts("0", "1"))
    yield group
    group.end()


@on_gpu
def test_gpus_of_two_hosts_give_the_model_of_one_process(two_hosts: Group) -> None:
    assert_models_of_one(two_hosts, list(SCENARIOS), SHARES[2])
    found = two_hosts.results(group_scenarios.places, SHARES[2], LOGISTIC)
    assert [place["backend"] for place, _ in found] == ["cuda", "cuda"]


@on_gpu
def test_a_booster_on_two_hosts_goes_on_after_a_round_that_failed(two_hosts: Group) -> None:
    expected = group_scenarios.goes_on_after_a_failed_round(None)
    assert two_hosts.results(group_scenarios.goes_on_after_a_failed_round, SHARES[2]) == [expected] * 2


@on_gpu
def test_after_a_worker_of_another_host_has_failed_all_train_again(two_hosts: Group) -> None:
    answers = two_hosts.run(group_scenarios.dies, SHARES[2], "raises", silence=10)
    assert all(isinstance(answer, WorkerError) for answer in answers)
    assert max(two_hosts.seconds) < 40
    assert_models_of_one(two_hosts, ["logistic with weights", "categories"], SHARES[2])


@contextlib.contextmanager
def ended(group: Group) -> Iterator[Group]:
    try:
        yield group
    finally:
        group.end()


@on_gpu
@pytest.mark.parametrize("are_on_one_host", [True, False])
def test_a_worker_that_is_killed_is_an_error_at_once(are_on_one_host: bool, tmp_path: Any) -> None:
    if not are_on_one_host and (gpus() < 2 or not device_info()["nccl"]):
        pytest.skip("needs two GPUs and NCCL")
    with ended(Group(2, None if are_on_one_host else hosts("0", "1"))) as group, ThreadPoolExecutor(1) as pool:
        training = pool.submit(group.run, group_scenarios.trains_until_it_fails, SHARES[2], str(tmp_path), limit=600,
                               silence=20)  # fmt: skip
        while len(os.listdir(tmp_path)) < 2 and not training.done():
            time.sleep(0.01)
        time.sleep(0.5)
        killed = time.monotonic()
        group.workers[1].process.kill()
        answer = training.result()[0]
    assert time.monotonic() - killed < 40
    assert isinstance(answer, WorkerError)
    assert any(words in str(answer) for words in ("A worker was lost", "does not reach the others any more"))


@on_gpu
def test_two_workers_on_one_gpu_of_what_look_like_two_hosts_are_refused() -> None:
    if not device_info()["nccl"]:
        pytest.skip(device_info()["why_no_nccl"])
    with ended(Group(2, hosts("0", "0"))) as group:
        answers = group.run(group_scenarios.places, SHARES[2], LOGISTIC)
    for answer in answers:
        assert isinstance(answer, WorkerError) and "workers 0 and 1 would train on the same GPU" in str(answer)


@on_gpu
def test_without_nccl_an_error_says_what_to_install() -> None:
    with ended(Group(2, hosts("0", "0", XGBGPU_NCCL="/nowhere/libnccl.so.2"))) as group:
        answers = group.run(group_scenarios.places, SHARES[2], LOGISTIC)
    for answer in answers:
        assert isinstance(answer, WorkerError), answer
        for words in ("NCCL cannot be loaded", "/nowhere/libnccl.so.2", "nvidia-nccl-cu13", "gpu_backend=host"):
            assert words in str(answer)
