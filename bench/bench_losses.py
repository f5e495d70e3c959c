#!/usr/bin/env python3
"""A round of objectives that XGBoost 3 brought, by gpu_hist, and by stock's hist with device=cuda.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python python3 bench/bench_losses.py
        [--rows 1000000] [--columns 28] [--ranked-rows 2000000] [--ranked-columns 136] [--depth 8] [--rounds 30] [--stock]

Normal columns. Targets of three columns and noise, and ranking groups of 100 rows with labels 0 to 4. A line for each
objective: milliseconds of a round, the median of all but the first eight, and for rankings NDCG@10 of the training rows.
--stock trains with `hist` and device=cuda, which needs an XGBoost with CUDA. Wall-clock.
"""

import argparse
import time
from typing import Any, Dict

import numpy as np
import xgboost as xgb

WARM = 8
GROUP = 100


def measure(name: str, params: Dict[str, Any], data: xgb.DMatrix, rounds: int) -> xgb.Booster:
    booster, seconds = xgb.Booster(params, [data]), []
    for i in range(rounds):
        begin = time.perf_counter()
        booster.update(data, i)
        seconds.append(time.perf_counter() - begin)
    print(f"{name:40}{np.median(seconds[WARM:]) * 1e3:9.3f} ms, first {seconds[0]:.2f} s", flush=True)
    return booster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    numbers = {"rows": 1_000_000, "columns": 28, "ranked-rows": 2_000_000, "ranked-columns": 136, "depth": 8, "rounds": 30}
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--stock", action="store_true")
    args = parser.parse_args()
    if args.rounds <= WARM:
        parser.error(f"--rounds is {args.rounds}; allowed: {WARM + 1} or more")
    params: Dict[str, Any] = {"max_depth": args.depth, "eta": 0.1, "verbosity": 1}
    matrix = xgb.DMatrix
    if args.stock:
        params.update(tree_method="hist", device="cuda")
        matrix = xgb.QuantileDMatrix
    else:
        import xgboost_gpu  # noqa: F401

        params.update(tree_method="gpu_hist", gpu_backend=args.backend)
    rng = np.random.default_rng(5)

    x = rng.standard_normal((args.rows, args.columns), dtype=np.float32)
    y = x[:, 0] * x[:, 1] + np.abs(x[:, 2]) + 0.5 * rng.standard_normal(args.rows, dtype=np.float32)
    data = matrix(x, y)
    quantiles = {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]}
    measure("reg:quantileerror, three alphas", {**params, **quantiles}, data, args.rounds)
    measure("reg:absoluteerror", {**params, "objective": "reg:absoluteerror"}, data, args.rounds)

    rows = args.ranked_rows // GROUP * GROUP
    x = rng.standard_normal((rows, args.ranked_columns), dtype=np.float32)
    score = x[:, :10] @ rng.standard_normal(10, dtype=np.float32) + x[:, 0] * x[:, 1]
    y = np.clip(np.floor((score + 2 * rng.standard_normal(rows, dtype=np.float32)) / 3 + 1.5), 0, 4)
    data = matrix(x, y, qid=np.arange(rows) // GROUP)
    ranking = {"objective": "rank:ndcg", "eval_metric": "ndcg@10"}
    for method in ("topk", "mean"):
        ways = {**params, **ranking, "lambdarank_pair_method": method}
        print(measure(f"rank:ndcg, {method}", ways, data, args.rounds).eval(data))


if __name__ == "__main__":
    main()
