#!/usr/bin/python3
"""Seconds of fit_transform of one column of whole numbers and a target of two classes, beside category_encoders' CatBoostEncoder.

    XGBGPU_LIBRARY=build/host/lib/libxgboost_gpu.so PYTHONPATH=python python3 bench/bench_encoder.py [--rows 1000000]

The two take turns; the table has the best of --runs. Without category_encoders (PyPI) it has ours alone.
"""

import argparse
import importlib.util
import time
from typing import Any, Callable

import numpy as np
import pandas as pd

import xgboost_gpu


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    """Prints a line for each number of categories."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--categories", type=int, nargs="+", default=[10, 1_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    has_other = importlib.util.find_spec("category_encoders") is not None
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, args.rows)
    print("| categories | ours, s | category_encoders, s | times as fast |\n|---|---|---|---|")
    for categories in args.categories:
        x = rng.integers(0, categories, (args.rows, 1))
        ours = theirs = float("inf")
        for _ in range(args.runs):
            encoder = xgboost_gpu.OrderedTargetEncoder(statistic="mean")
            ours = min(ours, seconds(lambda: encoder.fit_transform(x, y)))
            if has_other:
                from category_encoders import CatBoostEncoder

                frame = pd.DataFrame(x, columns=["a"])
                theirs = min(theirs, seconds(lambda: CatBoostEncoder(cols=["a"]).fit_transform(frame, y)))
        print(f"| {categories} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
