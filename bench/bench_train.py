#!/usr/bin/python3
"""Training time of gpu_hist over stock hist, both in the stock Python package, in one run with the same threads.

Rounds of the two alternate, so that whatever else the machine does falls on both; the median round of each is compared.
Peak memory is taken in a process of its own for each method.

    XGBGPU_LIBRARY=build/host/lib/libxgboost_gpu.so /usr/bin/python3 bench/bench_train.py [case …] [--rounds N] [--threads N]
"""

import argparse
import ctypes
import os
import subprocess
import sys
import time

import numpy as np
import scipy.sparse
import xgboost as xgb

CASES = {  # name: rows, features, share of values stored, depth, share of ones if values are 0 and 1
    "1Mx28-d6": (1_000_000, 28, 1.0, 6, None),
    "1Mx28-d8": (1_000_000, 28, 1.0, 8, None),
    "100kx500-d6": (100_000, 500, 1.0, 6, None),
    "500kx200-sparse-d6": (500_000, 200, 0.1, 6, None),
    "10kx28-d6": (10_000, 28, 1.0, 6, None),
    "20kx100-ones-d6": (20_000, 100, 1.0, 6, 0.5),
    "20kx100-few-ones-d6": (20_000, 100, 1.0, 6, 0.01),
    "150kx60-sparse-ones-d6": (150_000, 60, 0.03, 6, 1.0),
}
METHODS = ("hist", "gpu_hist")


def make_data(case):
    """Normal features, or zeros and ones; a label from sums and squares of the first few, with noise."""
    rows, features, density, _, ones = CASES[case]
    rng = np.random.default_rng(0)
    if density < 1.0:
        x = scipy.sparse.random(rows, features, density, "csr", np.float32, rng, np.ones if ones else rng.standard_normal)
        first = x[:, :20].toarray()
    else:
        x = rng.standard_normal((rows, features), dtype=np.float32)
        if ones:
            x = (rng.random((rows, features)) < ones).astype(np.float32)
        first = x[:, :20] if ones else x[:, :6]
    score = first.sum(axis=1) + 0.5 * (first[:, :3] ** 2).sum(axis=1) + rng.standard_normal(rows)
    return x, (score > np.median(score)).astype(np.float32)


def params(method, depth, threads):
    return {
        "objective": "binary:logistic",
        "eval_metric": "logloss",
        "tree_method": method,
        "max_depth": depth,
        "nthread": threads,
        "verbosity": 0,
    }


def time_case(case, rounds, threads):
    depth = CASES[case][3]
    x, y = make_data(case)
    boosters, first, later = {}, {}, {m: [] for m in METHODS}
    for method in METHODS:
        data = xgb.DMatrix(x, y)
        start = time.perf_counter()
        booster = xgb.Booster(params(method, depth, threads), [data])
        booster.update(data, 0)
        first[method] = time.perf_counter() - start
        boosters[method] = booster, data
    for i in range(1, rounds):
        for method, (booster, data) in boosters.items():
            start = time.perf_counter()
            booster.update(data, i)
            later[method].append(time.perf_counter() - start)
    loss = {m: float(b.eval(d).split(":")[1]) for m, (b, d) in boosters.items()}
    return first, {m: 1e3 * float(np.median(t)) for m, t in later.items()}, loss


def peak_memory(case, method, threads):
    """Peak resident MiB of a process that makes the data and trains."""
    out = subprocess.run([sys.executable, __file__, "--memory-of", method, case, "--threads", str(threads)],
                         check=True, capture_output=True, text=True).stdout
    return int(out)


def print_memory(case, method, threads):
    depth = CASES[case][3]
    x, y = make_data(case)
    data = xgb.DMatrix(x, y)
    del x
    xgb.train(params(method, depth, threads), data, 3)
    with open("/proc/self/status", encoding="ascii") as status:  # getrusage would count the parent's memory before exec
        peak = next(line for line in status if line.startswith("VmHWM"))
    print(int(peak.split()[1]) // 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="default: all")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--memory-of", choices=METHODS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    ctypes.CDLL(os.environ["XGBGPU_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
    if args.memory_of:
        print_memory(args.cases[0], args.memory_of, args.threads)
        return
    print(f"{args.threads} threads, {args.rounds} rounds; ratios are gpu_hist / hist")
    print(f"{'case':22} {'round ms':>17} {'ratio':>6} {'first s':>13} {'ratio':>6} {'peak MiB':>13} {'loss':>19}")
    for case in args.cases or CASES:
        first, later, loss = time_case(case, args.rounds, args.threads)
        memory = {m: peak_memory(case, m, args.threads) for m in METHODS}
        print(f"{case:22} {later['gpu_hist']:8.1f}/{later['hist']:8.1f} {later['gpu_hist'] / later['hist']:6.2f} "
              f"{first['gpu_hist']:6.2f}/{first['hist']:6.2f} {first['gpu_hist'] / first['hist']:6.2f} "
              f"{memory['gpu_hist']:6}/{memory['hist']:6} {loss['gpu_hist']:9.5f}/{loss['hist']:9.5f}", flush=True)


if __name__ == "__main__":
    main()
