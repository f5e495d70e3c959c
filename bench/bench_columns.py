#!/usr/bin/python3
"""The time of a round on all columns and on samples of them, in one process for each data set.

Data are made on the GPU. A row tells the median of the milliseconds between the ends of rounds, its ratio to the round on
all columns, and the objective's own metric of the training rows.

    XGBGPU_LIBRARY=build/cuda-dev/lib/libxgboost_gpu.so python3 bench/bench_columns.py [case …] [--rounds N] [--gpus N]
"""

import argparse
import statistics
import time

import cupy as cp
import numpy as np
import xgboost as xgb

import xgboost_gpu  # noqa: F401  (loads the library)

CASES = {  # rows, features, share of values that are missing, depth, objective
    "1Mx500": (1_000_000, 500, 0.0, 8, "binary:logistic"),
    "16Mx128": (16_300_000, 128, 0.0, 8, "binary:logistic"),
    "1Mx968-missing": (1_000_000, 968, 0.81, 6, "binary:logistic"),
    "425kx700-rank": (425_000, 700, 0.0, 6, "rank:ndcg"),
}
SAMPLES = {
    "all": {},
    "bytree .1": {"colsample_bytree": 0.1},
    "bytree .5": {"colsample_bytree": 0.5},
    "bylevel .1": {"colsample_bylevel": 0.1},
    "bynode .1": {"colsample_bynode": 0.1},
}


class Clock(xgb.callback.TrainingCallback):
    """Notes when rounds end."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def after_iteration(self, model, epoch, evals_log) -> bool:
        self.ends.append(time.perf_counter())
        return False

    def milliseconds(self) -> float:
        """Of a round, after the first quarter of them."""
        ends = self.ends[len(self.ends) // 4 :]
        return 1e3 * statistics.median(np.diff(ends))


def make_matrix(case: str) -> xgb.DMatrix:
    """Normal features, and a label that a few of them decide; queries of 50 rows for rankings."""
    rows, features, missing, _, objective = CASES[case]
    cp.random.seed(1)
    x = cp.random.standard_normal((rows, features), dtype=cp.float32)
    score = x[:, : features : features // 10].sum(axis=1) + x[:, 3] * x[:, 7] + 2 * cp.random.standard_normal(rows)
    if missing:
        for first in range(0, rows, 100_000):
            part = x[first : first + 100_000]
            part[cp.random.random(part.shape, dtype=cp.float32) < missing] = cp.nan
    if objective == "rank:ndcg":
        return xgb.DMatrix(x, cp.clip(score / 3 + 2, 0, 4).astype(cp.int32), qid=np.arange(rows) // 50)
    return xgb.DMatrix(x, (score > 0).astype(cp.float32))


def measure(case: str, rounds: int, gpus: int) -> None:
    """Prints a row for each sample."""
    matrix = make_matrix(case)
    of_all = None
    for name, sample in SAMPLES.items():
        params = {
            "objective": CASES[case][4],
            "tree_method": "gpu_hist",
            "gpu_backend": "cuda",
            "n_gpus": gpus,
            "max_depth": CASES[case][3],
            "eta": 0.1,
            "max_bin": 256,
        }
        clock = Clock()
        booster = xgb.train({**params, **sample}, matrix, rounds, callbacks=[clock])
        ms = clock.milliseconds()
        of_all = of_all or ms
        print(f"| {case} | {name} | {ms:.3f} | {ms / of_all:.2f} | {booster.eval(matrix).split(':')[-1]} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--gpus", type=int, default=1)
    args = parser.parse_args()
    print("| data | columns of | ms a round | ÷ all | metric |\n|---|---|---|---|---|")
    for case in args.cases or CASES:
        measure(case, args.rounds, args.gpus)


if __name__ == "__main__":
    main()
