#!/usr/bin/env python3
"""What sampling costs in accuracy, and saves in time, where bins are in pages: AUC and seconds for several shares.

For every share of rows in a tree, in core and in pages: seconds of making the DMatrix and of all rounds, the area under
the curve of rows that were not trained on, and whether both models are equal bit for bit. The limit has room for 24
bytes a row, which is the rows' state, for working memory, and for a quarter of the bins.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_pages_auc.py [--rows 10500000] [--features 28]
        [--depth 8] [--rounds 500] [--shares 1,0.5,0.3,0.1] [--working 100663296] [--json FILE]

Shares below 1 are sampled with sampling_method=gradient_based.
"""

import argparse
import json

import numpy as np
import xgboost as xgb
from bench_pages import make_data, sampled, train


def area_under_curve(labels, scores):
    """Returns the chance that a row with label 1 has the larger score, of two with different labels."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(count) - (count - 1) / 2  # of equal scores: the mean
    ones = int(np.sum(labels))
    return (np.sum(ranks[place[labels == 1]]) - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_500_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--shares", default="1,0.5,0.3,0.1")
    parser.add_argument("--working", type=int, default=96 << 20)
    parser.add_argument("--json")
    options = parser.parse_args()
    arrays = make_data(options.rows, options.features)
    x, y = make_data(500_000, options.features, seed=2)
    test = xgb.DMatrix(x)
    limit = options.rows * 24 + options.working + options.rows * options.features // 4
    rows, models = [], {}
    for share in map(float, options.shares.split(",")):
        for memory in (0, limit):
            params = {"max_depth": options.depth, "gpu_memory_limit": str(memory), **sampled(share)}
            row, booster = train(lambda: xgb.DMatrix(*arrays), params, options.rounds)
            model = booster.save_raw("json")
            same = {"same_model": models[share] == model} if share in models else {}
            models.setdefault(share, model)
            auc = area_under_curve(y, booster.predict(test))
            rows.append({"share": share, "limit": memory, "auc": auc, **same, **row})
            print(rows[-1], flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
