#!/usr/bin/python3
"""Seconds a round of gpu_exact and of stock exact, both by xgb.train, on the same data with the same parameters.

Trainings of different numbers of rounds take turns; a round is what one more of them takes, so that reading the data
and sorting its columns, which both do once, are told apart (column "first").

    XGBGPU_LIBRARY=build/cuda-dev/lib/libxgboost_gpu.so /usr/bin/python3 bench/bench_exact_stock.py \\
        [--rows N] [--features N] [--density F] [--depth N] [--threads N] [--rounds N] [--stock-rounds N] [--repeat N]
        [--backend auto|cuda|host]
"""

import argparse
import ctypes
import os
import time

import numpy as np
import xgboost as xgb
from bench_train import make_data

METHODS = ("exact", "gpu_exact")


def seconds(params, x, y, rounds):
    """Of a training on a new matrix, which knows nothing of the one before; and its last loss."""
    data = xgb.DMatrix(x, y, nthread=params["nthread"])
    start = time.perf_counter()
    booster = xgb.train(params, data, rounds)
    taken = time.perf_counter() - start
    told = booster.eval(data)
    return taken, float(told.split(":")[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--density", type=float, default=1.0, help="share of values stored")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: all cores")
    parser.add_argument("--rounds", type=int, default=50, help="of gpu_exact")
    parser.add_argument("--stock-rounds", type=int, default=5, help="of stock exact, which may be slow")
    parser.add_argument("--repeat", type=int, default=3, help="trainings of either; the medians are compared")
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "host"))
    args = parser.parse_args()
    if args.rounds < 2 or args.stock_rounds < 2 or args.repeat < 1:
        parser.error("rounds and stock rounds must be 2 or more, repeat 1 or more")
    ctypes.CDLL(os.environ["XGBGPU_LIBRARY"], mode=ctypes.RTLD_GLOBAL)

    x, y = make_data(args.rows, args.features, args.density)
    shared = {"objective": "binary:logistic", "eval_metric": "logloss", "max_depth": args.depth,
              "nthread": args.threads, "verbosity": 0}
    params = {"exact": {**shared, "tree_method": "exact"},
              "gpu_exact": {**shared, "tree_method": "gpu_exact", "gpu_backend": args.backend}}
    rounds = {"exact": args.stock_rounds, "gpu_exact": args.rounds}
    seconds(params["gpu_exact"], x[:1000], y[:1000], 2)  # starts the device
    first, later = {m: [] for m in METHODS}, {m: [] for m in METHODS}
    for _ in range(args.repeat):
        for method in METHODS:
            one, _ = seconds(params[method], x, y, 1)
            more, _ = seconds(params[method], x, y, rounds[method])
            first[method].append(one)
            later[method].append((more - one) / (rounds[method] - 1))
    loss = {m: seconds(params[m], x, y, args.stock_rounds)[1] for m in METHODS}

    print(f"{args.rows} x {args.features}, {args.density:.0%} stored, depth {args.depth}, {args.threads} threads, "
          f"gpu_backend={args.backend}, medians of {args.repeat}")
    print(f"{'':10} {'rounds':>6} {'first s':>9} {'s a round':>10} {f'loss after {args.stock_rounds}':>14}")
    for method in METHODS:
        print(f"{method:10} {rounds[method]:6} {np.median(first[method]):9.3f} {np.median(later[method]):10.4f} "
              f"{loss[method]:14.6f}")
    print(f"exact / gpu_exact: {np.median(later['exact']) / np.median(later['gpu_exact']):.2f} a round, "
          f"{np.median(first['exact']) / np.median(first['gpu_exact']):.2f} the first")


if __name__ == "__main__":
    main()
