"""One library on one set in one process: worker.py LIBRARY FOLDER CLASSES CATEGORIES ROUNDS DEPTH MAX_BIN THREADS BACKEND.

Prints one line of JSON. FOLDER has what data.py makes. Where there are queries, they are ranked; else CLASSES 0 is a binary set.
The first CATEGORIES columns are categorical.
A library that cannot be imported, or is too old, says {"missing": why}.
"""

import ctypes
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple

import numpy as np

ETA = 0.1
Arrays = Dict[str, Any]  # of numpy; X of scipy where it is sparse


class Missing(Exception):
    """The library is not there."""


class Case(NamedTuple):
    """What to train."""

    arrays: Arrays
    classes: int  #: 0: binary, or queries
    categories: int  #: columns, the first ones
    rounds: int
    depth: int
    max_bin: int
    threads: int
    backend: str  #: of ours; the others' devices: cuda, or cpu for "host"

    def head(self, rows: int) -> "Case":
        """Of a few rows, to warm up."""
        return self._replace(arrays={name: self.arrays[name][:rows] for name in ("X", "y", "q") if name in self.arrays})

    def objective(self, binary: str, classes: str, ranking: str) -> str:
        return ranking if "q" in self.arrays else classes if self.classes else binary


class Trained(NamedTuple):
    """A training that has ended; `marks` has when each round did."""

    data_s: float  #: from arrays to the library's own data set
    begin: float  #: of the training, by the clock
    predict: Callable[[], Any]  #: of the test rows


class DeviceMemory(threading.Thread):
    """The most memory that device 0 has in use beyond what it had before, looked at every 5 ms. None: no driver."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_gib = None
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        self._device = ctypes.c_void_p()
        if self._nvml.nvmlInit_v2() or self._nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)):
            return
        self._before = self._used()
        self.peak_gib = 0.0
        self.start()

    def _used(self) -> int:
        memory = (ctypes.c_ulonglong * 3)()  # total, free, used
        return 0 if self._nvml.nvmlDeviceGetMemoryInfo(self._device, ctypes.byref(memory)) else memory[2]

    def run(self) -> None:
        while True:
            self.peak_gib = max(self.peak_gib, (self._used() - self._before) / 2**30)
            time.sleep(0.005)


def train_xgboost(case: Case, ours: bool, marks: List[float]) -> Trained:
    if ours:
        import xgboost_gpu  # noqa: F401
    import xgboost as xgb

    if not ours and int(xgb.__version__.split(".")[0]) < 2:
        raise Missing(f"xgboost is {xgb.__version__}; needed: 2 or later")
    device = {"tree_method": "gpu_hist", "gpu_backend": case.backend}
    if not ours:
        device = {"tree_method": "hist", "device": "cpu" if case.backend == "host" else "cuda"}
    params: Dict[str, Any] = {"max_depth": case.depth, "eta": ETA, "max_bin": case.max_bin, "nthread": case.threads, **device}
    params["objective"] = case.objective("binary:logistic", "multi:softprob", "rank:ndcg")
    if case.classes:
        params["num_class"] = case.classes
    if ours and "q" in case.arrays:
        params["lambdarank_pair_method"] = "topk"  # as XGBoost 3 ranks, in 1.7, too

    class Clock(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            marks.append(time.perf_counter())
            return False

    def matrix(of: Arrays, kind: Callable[..., xgb.DMatrix] = xgb.DMatrix, **options: Any) -> xgb.DMatrix:
        if case.categories:
            types = ["c"] * case.categories + ["q"] * (of["X"].shape[1] - case.categories)
            options.update(feature_types=types, enable_categorical=True)
        return kind(of["X"], of.get("y"), qid=of.get("q"), **options)

    xgb.train(params, matrix(case.head(500).arrays), 2)  # starts the driver
    start = time.perf_counter()
    data = matrix(case.arrays) if ours else matrix(case.arrays, xgb.QuantileDMatrix, max_bin=case.max_bin)
    begin = time.perf_counter()
    booster = xgb.train(params, data, case.rounds, callbacks=[Clock()])
    return Trained(begin - start, begin, lambda: booster.predict(matrix({"X": case.arrays["Xt"]})))


def train_lightgbm(case: Case, library: str, marks: List[float]) -> Trained:
    if library == "falcata":
        import falcata as lgb
    else:
        import lightgbm as lgb
    params: Dict[str, Any] = {
        "device_type": "cpu" if case.backend == "host" else "cuda", "num_leaves": 2**case.depth - 1, "max_depth": case.depth,
        "learning_rate": ETA, "max_bin": case.max_bin - 1, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1, "lambda_l2": 1,
        "verbosity": -1, "metric": "none", "num_threads": case.threads,
        "objective": case.objective("binary", "multiclass", "lambdarank"),
    }
    if case.classes:
        params["num_class"] = case.classes
    if library == "falcata":
        params.update(cuda_plan="auto", quant_mode="stochastic", cuda_precision="fp32")

    def dataset(of: Arrays) -> Any:
        group = sizes(of["q"]) if "q" in of else None
        categories = list(range(case.categories))
        return lgb.Dataset(of["X"], of["y"], group=group, params=params, categorical_feature=categories, free_raw_data=False)

    lgb.train(params, dataset(case.head(2400).arrays), 2)
    start = time.perf_counter()
    data = dataset(case.arrays).construct()
    begin = time.perf_counter()
    booster = lgb.train(params, data, case.rounds, callbacks=[lambda env: marks.append(time.perf_counter())])
    return Trained(begin - start, begin, lambda: booster.predict(case.arrays["Xt"]))


def train_catboost(case: Case, marks: List[float]) -> Trained:
    import catboost

    if case.categories:
        raise NotImplementedError("catboost takes categories from data frames only, which are not made here")
    params: Dict[str, Any] = {
        "loss_function": case.objective("Logloss", "MultiClass", "YetiRank"), "depth": case.depth, "learning_rate": ETA,
        "task_type": "CPU" if case.backend == "host" else "GPU", "border_count": case.max_bin - 2, "boosting_type": "Plain",
        "l2_leaf_reg": 1, "bootstrap_type": "No", "verbose": False, "metric_period": 10**6, "allow_writing_files": False,
        "thread_count": case.threads,
    }

    def pool(of: Arrays) -> Any:
        return catboost.Pool(of["X"], of["y"], group_id=of.get("q"))

    catboost.CatBoost({**params, "iterations": 2}).fit(pool(case.head(2400).arrays))
    start = time.perf_counter()
    data = pool(case.arrays)
    data.quantize(border_count=case.max_bin - 2)
    data_s = time.perf_counter() - start
    quarter = catboost.CatBoost({**params, "iterations": max(1, case.rounds // 4)})
    start = time.perf_counter()
    quarter.fit(data)  # a GPU training has no callbacks: two trainings make the slope
    quarter_s = time.perf_counter() - start
    begin = time.perf_counter()
    booster = catboost.CatBoost({**params, "iterations": case.rounds})
    booster.fit(data)
    end = time.perf_counter()
    marks.extend(np.linspace(begin + quarter_s, end, case.rounds - max(1, case.rounds // 4) + 1))
    return Trained(data_s, begin, lambda: booster.predict(case.arrays["Xt"]))


def area(prediction: np.ndarray, label: np.ndarray) -> float:
    """Under the ROC curve; equal predictions count half."""
    order = np.argsort(prediction, kind="stable")
    _, first, count = np.unique(prediction[order], return_index=True, return_counts=True)
    ranks = np.empty(len(label))
    ranks[order] = np.repeat(first + (count + 1) / 2, count)
    positive = label == 1
    n = positive.sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(label) - n)))


def sizes(queries: np.ndarray) -> np.ndarray:
    """How many rows each query has."""
    return np.unique(queries, return_counts=True)[1]


def ndcg(prediction: np.ndarray, label: np.ndarray, queries: np.ndarray, top: int = 10) -> float:
    """Mean over the queries, numbered from 0 in order; one without anything relevant counts 1, as in XGBoost and LightGBM."""
    count = sizes(queries)
    rank = np.arange(len(label)) - np.repeat(np.cumsum(count) - count, count)
    discounts = np.where(rank < top, 1 / np.log2(rank + 2), 0)

    def gain(by: np.ndarray) -> np.ndarray:
        """Of each query, its rows by falling `by`."""
        order = np.lexsort((-by, queries))
        return np.bincount(queries, weights=discounts * (np.exp2(label[order]) - 1))

    best, found = gain(label), gain(prediction)
    return float(np.where(best > 0, found / np.where(best > 0, best, 1), 1).mean())


def measure(library: str, case: Case) -> Dict[str, Any]:
    memory = DeviceMemory()
    marks: List[float] = []
    if library == "catboost":
        trained = train_catboost(case, marks)
    elif library in ("lightgbm", "falcata"):
        trained = train_lightgbm(case, library, marks)
    else:
        trained = train_xgboost(case, library == "ours", marks)
    end = time.perf_counter()
    # The slope between a quarter of the rounds and all; of CatBoost `marks` begins there.
    quarter = 0 if library == "catboost" else max(1, len(marks) // 4) - 1
    found: Dict[str, Any] = {"all_s": end - trained.begin, "from_array_s": trained.data_s + end - trained.begin}
    if len(marks) > quarter + 1:
        found["round_ms"] = 1e3 * (marks[-1] - marks[quarter]) / (len(marks) - 1 - quarter)
    if library != "catboost":
        found["first_s"] = marks[0] - trained.begin
    prediction, label = np.asarray(trained.predict(), np.float64), case.arrays["yt"]
    if "q" in case.arrays:
        found["accuracy"] = ndcg(prediction.reshape(-1), label, case.arrays["qt"])
    elif case.classes:
        found["accuracy"] = float((prediction.reshape(len(label), -1).argmax(axis=1) != label).mean())
    else:
        found["accuracy"] = area(prediction.reshape(-1), label)
    found["device_gib"] = memory.peak_gib
    with open("/proc/self/status", encoding="ascii") as status:
        found["host_gib"] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
    return found


def load(folder: Path) -> Arrays:
    """A set; queries numbered anew, from 0 in order: XGBoost wants them in order."""

    def array(name: str) -> np.ndarray:
        return np.load(folder / f"{name}.npy")

    def rows(name: str) -> Any:
        if (folder / f"{name}.npy").is_file():
            return array(name)
        import scipy.sparse

        data, indices, indptr, shape = (array(f"{name}.{part}") for part in ("data", "indices", "indptr", "shape"))
        return scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))

    arrays = {"X": rows("X"), "y": array("y"), "Xt": rows("Xt"), "yt": array("yt")}
    for name in ("q", "qt"):
        if (folder / f"{name}.npy").is_file():
            queries = array(name)
            arrays[name] = np.cumsum(np.diff(queries, prepend=queries[:1]) != 0)
    return arrays


def main() -> None:
    library, folder, *numbers, backend = sys.argv[1:]
    case = Case(load(Path(folder)), *map(int, numbers), backend)  # type: ignore[arg-type]
    try:
        found = measure(library, case)
    except (ImportError, Missing) as error:
        found = {"missing": str(error).splitlines()[0]}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
