#!/usr/bin/python3
"""Predictions by the number of rows, in a process that has trained: a DMatrix, and a numpy array in place.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python /usr/bin/python3 bench/bench_predictions.py [--rows 1000 1000000]
    PYTHONPATH=FOLDER_OF_ANOTHER_XGBOOST python3 bench/bench_predictions.py --other

100 trees of depth 8 on 28 columns. Each call gets an array that its booster has not seen. The first call reads the
model; the others are calls 2 to 4, of which the table has the median. --grow-policy depthwise symmetric measures both
in one run. --other measures XGBoost 2 or later with device=cuda, on the same data.
"""

import argparse
import statistics
import time
from typing import Any, Callable, Dict, List

import numpy as np
import xgboost as xgb

COLUMNS, CALLS, TRAINING_ROWS = 28, 4, 1_000_000


def milliseconds(predict: Callable[[Any], Any], batches: List[Any]) -> List[float]:
    """Of each call."""
    times = []
    for batch in batches:
        start = time.perf_counter()
        predict(batch)
        times.append(1e3 * (time.perf_counter() - start))
    return times


def main() -> None:
    """Trains once, prints a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=8)
    policies = ("depthwise", "lossguide", "symmetric")
    parser.add_argument("--grow-policy", nargs="+", default=["depthwise"], choices=policies)
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "host"), help="gpu_backend")
    parser.add_argument("--other", action="store_true", help="an XGBoost of 2.0 or later with device=cuda")
    args = parser.parse_args()
    method: Dict[str, Any] = {"tree_method": "hist", "device": "cuda"}
    if not args.other:
        import xgboost_gpu  # noqa: F401

        method = {"tree_method": "gpu_hist", "gpu_backend": args.backend}
    rng = np.random.default_rng(0)
    x = rng.standard_normal((min(TRAINING_ROWS, max(args.rows)), COLUMNS), dtype=np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) - x[:, 3] > 0
    params = {**method, "objective": "binary:logistic", "max_depth": args.depth, "eta": 0.1}
    data = xgb.DMatrix(x, y)
    models = {how: xgb.train({**params, "grow_policy": how}, data, args.trees) for how in args.grow_policy}
    saved = {how: model.save_raw("json") for how, model in models.items()}

    print("| rows | trees | DMatrix: first call, ms | others | in place: first call | others |")
    print("|---|---|---|---|---|---|")
    for rows in args.rows:
        arrays = [rng.standard_normal((rows, COLUMNS), dtype=np.float32) for _ in range(CALLS)]
        for how, model in saved.items():
            cells = []
            for in_place in (False, True):
                booster = xgb.Booster(method, model_file=bytearray(model))  # one that has predicted nothing yet
                if in_place:
                    times = milliseconds(booster.inplace_predict, arrays)
                else:
                    times = milliseconds(booster.predict, [xgb.DMatrix(array) for array in arrays])
                cells += [f"{times[0]:.2f}", f"{statistics.median(times[1:]):.2f}"]
            print(f"| {rows:,} | {how} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
