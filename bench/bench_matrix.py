"""Times the way from an array to a model: XGBoost's DMatrix, and the first rounds on it.

    XGBGPU_LIBRARY=build/host/lib/libxgboost_gpu.so bench/bench_matrix.py --rows 1000000 --columns 28 --rounds 1
    bench/bench_matrix.py --stock …                                    XGBoost alone, with tree_method=hist

It prints a line for each form of the array: medians of the seconds that the matrix takes, and the matrix and the rounds
together. Each repetition makes a new matrix. The first use of CUDA in the process is not timed.
"""

import argparse
import statistics
import time
from typing import Any, Callable, Dict

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--forms", nargs="+", choices=sorted(FORMS), default=["float32"])
    parser.add_argument("--stock", action="store_true", help="do not load the library")
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
