#!/usr/bin/python3
"""Symmetric trees beside depth-wise ones and stock's hist: time of a round, accuracy, and time of a prediction.

    XGBGPU_LIBRARY=build/host/lib/libxgboost_gpu.so PYTHONPATH=python /usr/bin/python3 bench/bench_symmetric.py
        [--rows 100000] [--depth 8] [--rounds 150] [--backend host] [--threads 1]

28 columns as in higgs, a label of pairs of them with much noise, 200,000 other rows to predict. On the host times are
those of the process's threads together (CPU time), so that other work on the machine counts little; with a GPU they are
wall-clock.
"""

import argparse
import time
from typing import Any, Callable, Tuple

import numpy as np
import xgboost_gpu  # noqa: F401
import xgboost as xgb

COLUMNS, PREDICTED = 28, 200_000


def higgs_like(rows: int, seed: int) -> Tuple[np.ndarray, np.ndarray]:
    """Normal columns; the label's log-odds are sums of functions of two or three of them."""
    rng, shape = np.random.default_rng(seed), np.random.default_rng(5)
    x = rng.normal(size=(rows, COLUMNS)).astype(np.float32)
    score = np.zeros(rows, np.float32)
    for _ in range(12):
        a, b, c = shape.integers(0, COLUMNS, 3)
        score += shape.normal() * np.sin(x[:, a] * shape.uniform(0.5, 2)) * x[:, b] * np.float32(0.7)
        score += shape.normal() * (x[:, c] > shape.normal()) * np.tanh(x[:, a])
    return x, (score + 0.8 * rng.logistic(size=rows) > 0).astype(np.float32)


def auc(predictions: np.ndarray, labels: np.ndarray) -> float:
    ranks = np.empty(len(predictions))
    ranks[np.argsort(predictions, kind="stable")] = np.arange(1, len(predictions) + 1)
    positive = labels > 0
    count = positive.sum()
    return (ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(labels) - count))


def main() -> None:
    """Prints a line for each kind of tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--backend", default="host", choices=("cuda", "host"), help="gpu_backend")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    clock = time.process_time if args.backend == "host" else time.perf_counter

    def timed(work: Callable[[], Any]) -> Tuple[float, Any]:
        start = clock()
        result = work()
        return clock() - start, result

    data = xgb.DMatrix(*higgs_like(args.rows, 1))
    x, y = higgs_like(PREDICTED, 2)
    common = dict(objective="binary:logistic", max_depth=args.depth, eta=0.1, nthread=args.threads)
    ours = dict(tree_method="gpu_hist", gpu_backend=args.backend)
    print("| trees | ms a round | AUC | ns a row and tree of a prediction |\n|---|---|---|---|")
    for name, how in {
        "stock hist": dict(tree_method="hist"),
        "depth-wise": ours,
        "symmetric": dict(ours, grow_policy="symmetric"),
    }.items():
        xgb.train({**common, **how}, data, 1)  # bins are made
        seconds, booster = timed(lambda how=how: xgb.train({**common, **how}, data, args.rounds))
        booster.predict(xgb.DMatrix(x))  # the model is read
        rows = xgb.DMatrix(x)
        predicting, predictions = timed(lambda booster=booster, rows=rows: booster.predict(rows))
        each = 1e9 * predicting / PREDICTED / args.rounds
        print(f"| {name} | {1e3 * seconds / args.rounds:.1f} | {auc(predictions, y):.4f} | {each:.1f} |", flush=True)


if __name__ == "__main__":
    main()
