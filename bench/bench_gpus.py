#!/usr/bin/env python3
"""Training on one GPU and on several of the same process (n_gpus), in turns, in one run.

For every case: milliseconds a round (the slope between a quarter of the rounds and all of them, so that the first round
does not count), seconds of the first round (cuts and bins, and one tree), each the median of several trainings; and
whether all models are equal. Every training has a DMatrix of its own, whose making is not counted: it does not depend on
the GPUs.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_gpus.py [case …] [--gpus 1,2] [--repeats 3]
        [--json FILE]

--data FOLDER takes FOLDER/NAME/X.npy and y.npy for a case that has such files, instead of making rows: those with which
other programs were measured.
"""

import argparse
import json
import os
import sys
import time

import numpy as np

CASES = {  # name: data, rows, features, depth, rounds
    "small": ("small", 10_000, 28, 6, 200),
    "mid": ("mid", 100_000, 28, 6, 200),
    "m1": ("m1", 1_000_000, 28, 6, 200),
    "higgs-d6": ("higgs", 10_500_000, 28, 6, 100),
    "higgs-d8": ("higgs", 10_500_000, 28, 8, 100),
    "epsilon-d8": ("epsilon", 400_000, 2_000, 8, 24),
    "tall-d8": ("tall", 16_300_000, 128, 8, 40),
    "airline-d8": ("airline", 115_000_000, 13, 8, 40),
}


def make_data(name, rows, features):
    """Normal columns, of which the first few tell; those of `airline` are whole numbers of a few to a few thousand values."""
    rng = np.random.default_rng(0)
    x = np.empty((rows, features), dtype=np.float32)
    step = max(1, 50_000_000 // features)
    for first in range(0, rows, step):
        rng.standard_normal(out=x[first : first + step], dtype=np.float32)
    if name == "airline":
        for f in range(features):
            np.floor(x[:, f] * (4, 12, 30, 700)[f % 4], out=x[:, f])
    score = x[:, 0] * x[:, 1] + np.abs(x[:, 2]) - x[:, 3] * (x[:, 4] > 0)
    score += rng.standard_normal(rows, dtype=np.float32)
    return x, (score > np.median(score[:100_000])).astype(np.float32)


def read_data(folder, name, rows, features):
    path = os.path.join(folder or "", name, "X.npy")
    if folder and os.path.exists(path):
        return np.load(path), np.load(os.path.join(folder, name, "y.npy"))
    return make_data(name, rows, features)


def train(xgb, arrays, depth, rounds, gpus):
    """Returns milliseconds a round, seconds of the first, and the model."""
    data = xgb.DMatrix(*arrays)
    params = {
        "objective": "binary:logistic", "tree_method": "gpu_hist", "gpu_backend": "cuda", "n_gpus": gpus,
        "max_depth": depth, "eta": 0.1, "verbosity": 1,
    }  # fmt: skip
    booster = xgb.Booster(params, [data])
    marks = [time.perf_counter()]
    for i in range(rounds):
        booster.update(data, i)
        marks.append(time.perf_counter())
    quarter = rounds // 4
    slope = (marks[-1] - marks[quarter]) / (rounds - quarter) * 1e3
    return slope, marks[1] - marks[0], booster.save_raw("ubj")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--gpus", default="1,2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data")
    parser.add_argument("--json")
    args = parser.parse_args()
    wrong = [case for case in args.cases if case not in CASES]
    if wrong:
        parser.error(f"{wrong[0]} is no case; there are: {', '.join(CASES)}")
    numbers = [int(n) for n in args.gpus.split(",")]

    import xgboost_gpu  # noqa: F401
    import xgboost as xgb

    points, equal = [], True
    print(f"{'case':12}" + "".join(f"{f'{n} GPU, ms':>11}{'first, s':>9}" for n in numbers) + "   faster  first  models")
    loaded, data = None, None
    for case in args.cases:
        name, rows, features, depth, rounds = CASES[case]
        if loaded != name:
            data = None
            data = read_data(args.data, name, rows, features)
            loaded = name
        times, models = {n: [] for n in numbers}, set()
        for _ in range(args.repeats):
            for n in numbers:
                slope, first, model = train(xgb, data, depth, rounds, n)
                times[n].append((slope, first))
                models.add(bytes(model))
        median = {n: tuple(float(np.median([t[i] for t in times[n]])) for i in (0, 1)) for n in numbers}
        least, most = numbers[0], numbers[-1]
        same = len(models) == 1
        equal = equal and same
        print(
            f"{case:12}" + "".join(f"{median[n][0]:11.3f}{median[n][1]:9.3f}" for n in numbers)
            + f"{median[least][0] / median[most][0]:9.2f}{median[least][1] / median[most][1]:7.2f}  "
            + ("equal" if same else "DIFFERENT"),
            flush=True,
        )  # fmt: skip
        points += [{"data": case, "gpus": n, "ms": median[n][0], "first_s": median[n][1]} for n in numbers]
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(points, file, indent=1)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
