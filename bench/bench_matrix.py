"""Times the way from an array to a model: XGBoost's DMatrix, and the first rounds on it.

    XGBGPU_LIBRARY=build/host/lib/libxgboost_gpu.so bench/bench_matrix.py --rows 1000000 --columns 28 --rounds 1
    bench/bench_matrix.py --stock …                                    XGBoost alone, with tree_method=hist
    bench/bench_matrix.py --fit --rows 16300000 --columns 128 --rounds 100 --depth 8 --repeat 3

It prints a line for each form of the array: medians of the seconds that the matrix takes, and the matrix and the rounds
together. Each repetition makes a new matrix. The first use of CUDA in the process is not timed.

With --fit it times XGBRegressor.fit in turns: as it is, which on a GPU bins the array where it lies, and with a copy of
the array. Peaks are of the host's memory of the process, the array and all libraries counted, over the array.
"""

import argparse
import statistics
import time
from typing import Any, Callable, Dict, List

import numpy as np
import scipy.sparse
import xgboost as xgb


def csr_rows(rows: int, columns: int) -> scipy.sparse.csr_matrix:
    """45 values a row, at random columns."""
    generator = np.random.default_rng(2)
    indices = np.sort(generator.integers(0, columns, size=(rows, 45)), axis=1).astype(np.int32)
    values = generator.standard_normal(rows * 45, dtype=np.float32)
    return scipy.sparse.csr_matrix((values, indices.ravel(), np.arange(rows + 1) * 45), shape=(rows, columns))


FORMS: Dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda x: x,
    "float64": lambda x: x.astype(np.float64),
    "fortran": np.asfortranarray,
    "uint8": lambda x: np.clip(x * 40 + 128, 0, 255).astype(np.uint8),
    "csr": lambda x: csr_rows(len(x), 10_000),
}


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def peak_during(work: Callable[[], Any]) -> int:
    """The most host memory that the process had, in bytes, from now to the end of `work`."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    work()
    with open("/proc/self/status", encoding="ascii") as lines:
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def time_fits(array: np.ndarray, labels: np.ndarray, settings: Dict[str, Any], options: argparse.Namespace) -> None:
    """Prints medians of fits with and without a copy, in turns."""
    from xgboost_gpu import _fit

    settings = {**settings, "n_estimators": options.rounds, "objective": "reg:squarederror"}
    usual = ("cuda", "host") if options.on_host else _fit.BACKENDS
    took: Dict[str, List[float]] = {"where it lies": [], "copied": []}
    peaks = dict.fromkeys(took, 0)

    def fit() -> None:
        took[way].append(seconds(lambda: xgb.XGBRegressor(**settings).fit(array, labels)))

    for _ in range(options.repeat):
        for way in took:
            _fit.BACKENDS = usual if way == "where it lies" else ()
            peaks[way] = max(peaks[way], peak_during(fit))
    medians = {way: statistics.median(times) for way, times in took.items()}
    for way, median in medians.items():
        print(f"fit, {way}: {median:.3f} s, peak of host memory over the array {peaks[way] / array.nbytes:.2f}")
    print(f"ratio of seconds {medians['where it lies'] / medians['copied']:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--forms", nargs="+", choices=sorted(FORMS), default=["float32"])
    parser.add_argument("--stock", action="store_true", help="do not load the library")
    parser.add_argument("--fit", action="store_true", help="time XGBRegressor.fit instead, with a copy and without")
    parser.add_argument("--on-host", action="store_true", help="with --fit: have fits without a GPU make no copy, too")
    options = parser.parse_args()
    settings = {"max_depth": options.depth, "eta": 0.1, "objective": "binary:logistic", "verbosity": 0}
    if options.stock:
        settings["tree_method"] = "hist"
    else:
        import xgboost_gpu  # noqa: F401

        settings["tree_method"] = "gpu_hist"
    values = np.random.default_rng(1).standard_normal((options.rows, options.columns), dtype=np.float32)
    labels = (values[:, 0] + values[:, -1] > 0).astype(np.float32)
    xgb.train(settings, xgb.DMatrix(values[:1000], labels[:1000]), 1)
    if options.fit:
        time_fits(values, labels, settings, options)
        return
    for form in options.forms:
        array = FORMS[form](values)
        matrix, model = [], []
        for _ in range(options.repeat):
            matrix.append(seconds(lambda: xgb.DMatrix(array, labels)))
            if options.rounds:
                train = lambda: xgb.train(settings, xgb.DMatrix(array, labels), options.rounds)  # noqa: E731
                model.append(seconds(train))
        both = f", with {options.rounds} round(s) {statistics.median(model):.3f} s" if model else ""
        print(f"{form}, {array.shape[0]:,} x {array.shape[1]:,}: DMatrix {statistics.median(matrix):.3f} s{both}", flush=True)


if __name__ == "__main__":
    main()
