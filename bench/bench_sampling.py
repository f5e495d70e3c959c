#!/usr/bin/python3
"""Sampling methods beside all rows: time of a round and area under the curve, on data of higgs' shape.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python /usr/bin/python3 bench/bench_sampling.py [--rows 10500000] [--share 0.1]

A round's time is the slope between a quarter of the rounds and all, without evaluation. Each method trains alone, one after the
other, on the same DMatrix; the area is that of rows that nobody trained on.
"""

import argparse
import time

import numpy as np
import xgboost as xgb

import xgboost_gpu  # noqa: F401


def make(rows: int, seed: int, chunk: int = 1 << 20):
    """28 columns, a third of them without use; the label depends on interactions and on noise."""
    rng = np.random.default_rng(seed)
    x = np.empty((rows, 28), dtype=np.float32)
    y = np.empty(rows, dtype=np.float32)
    for first in range(0, rows, chunk):
        part = x[first : first + chunk]
        part[:] = rng.standard_normal(size=part.shape, dtype=np.float32)
        c = part.T
        score = c[0] * c[1] + np.abs(c[2]) - c[3] * (c[4] > 0) + 0.5 * c[5] + np.sin(2 * c[6]) + 0.7 * c[7] * c[8] * c[9]
        score += 0.3 * (c[10] > c[11]) - 0.3 * np.maximum(c[12], c[13])
        y[first : first + chunk] = score + 1.5 * rng.standard_normal(size=len(part), dtype=np.float32) > 0.6
    return x, y


def auc(label: np.ndarray, score: np.ndarray) -> float:
    ranks = np.empty(len(score))
    ranks[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    positive = label == 1
    n = positive.sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(label) - n)))


def plain(backend: str, depth: int) -> dict:
    """Parameters of a training with nothing special in use."""
    return {
        "tree_method": "gpu_hist",
        "gpu_backend": backend,
        "objective": "binary:logistic",
        "eta": 0.1,
        "max_depth": depth,
    }


def seconds(settings: dict, data: xgb.DMatrix, rounds: int):
    start = time.perf_counter()
    booster = xgb.train(settings, data, rounds)
    return time.perf_counter() - start, booster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_500_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    x, y = make(options.rows, 1)
    data = xgb.DMatrix(x, y)
    del x
    test_x, test_y = make(500_000, 2)
    test = xgb.DMatrix(test_x)
    common = plain(options.backend, options.depth)
    half = options.share / 2
    methods = {
        "all rows": {},
        "uniform": {"subsample": options.share},
        "gradient_based": {"sampling_method": "gradient_based", "subsample": options.share},
        "goss, half and half": {"sampling_method": "goss", "top_rate": half, "other_rate": half},
        "goss, 0.2 and 0.1": {"sampling_method": "goss"},
    }
    xgb.train(common, data, 2)  # cuts, bins, the driver
    quarter, base = options.rounds // 4, None
    for name, how in methods.items():
        few, _ = seconds({**common, **how}, data, quarter)
        all_rounds, booster = seconds({**common, **how}, data, options.rounds)
        slope = 1e3 * (all_rounds - few) / (options.rounds - quarter)
        base = base or slope
        area = auc(test_y, booster.predict(test))
        print(f"{name:20} {slope:8.3f} ms a round, {slope / base:.2f} of all rows; AUC {area:.5f}", flush=True)


if __name__ == "__main__":
    main()
