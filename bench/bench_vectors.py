#!/usr/bin/python3
"""Trees whose leaves are vectors on a GPU, beside one tree an output and beside stock's hist with device=cuda.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python python3 bench/bench_vectors.py
        [--rows 1000000] [--columns 100] [--outputs 16] [--depth 6] [--rounds 30] [--only ours]
        [--grow-policy symmetric] [--gpus 2]

Normal columns, and targets or classes that share some of them. A line for each objective: milliseconds a round, the mean
of all rounds but the first five, and each over one tree an output. Stock needs an XGBoost with CUDA; --only leaves it
out. Wall-clock.
"""

import argparse
import time
from typing import Any, Dict, Tuple

import numpy as np
import xgboost as xgb

WARM = 5
VECTORS = {"multi_strategy": "multi_output_tree"}


def make_data(rows: int, columns: int, outputs: int) -> Tuple[np.ndarray, np.ndarray]:
    """Features, and targets [rows, outputs]."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    shared = np.tanh(x[:, 0] + x[:, 1] * x[:, 2]) + (x[:, 3] > 0.5)
    y = np.empty((rows, outputs), np.float32)
    for k in range(outputs):
        own = x[:, (5 + 3 * k) % columns]
        y[:, k] = shared * np.cos(k) + own * np.sin(k) + 0.3 * rng.normal(size=rows)
    return x, y


def ms_a_round(params: Dict[str, Any], data: xgb.DMatrix, rounds: int) -> float:
    booster = xgb.Booster(params, [data])
    for i in range(WARM):
        booster.update(data, i)
    start = time.perf_counter()
    for i in range(WARM, WARM + rounds):
        booster.update(data, i)
    seconds = time.perf_counter() - start
    del booster
    return 1e3 * seconds / rounds


def main() -> None:
    """Prints a line for each objective."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--outputs", type=int, default=16)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", choices=("ours", "stock"))
    parser.add_argument("--grow-policy", default="depthwise", help="of gpu_hist")
    parser.add_argument("--gpus", type=int, default=1, help="n_gpus of gpu_hist")
    args = parser.parse_args()
    if args.only != "stock":
        import xgboost_gpu  # noqa: F401
    x, y = make_data(args.rows, args.columns, args.outputs)
    cases = {
        "reg:squarederror": (y, {}),
        "binary:logistic": ((y > 0).astype(np.float32), {}),
        "multi:softprob": (np.argmax(y, axis=1), {"num_class": args.outputs}),
    }
    ours = {"tree_method": "gpu_hist", "gpu_backend": "cuda", "grow_policy": args.grow_policy, "n_gpus": args.gpus}
    kinds = {"one tree an output": ours, "vectors": {**ours, **VECTORS}}
    stock = {"tree_method": "hist", "device": "cuda"}
    if args.only != "ours":
        kinds = {**({} if args.only else kinds), "stock": stock, "stock, vectors": {**stock, **VECTORS}}
    print("| objective | " + " | ".join(kinds) + " |\n|---" + "|---" * len(kinds) + "|")
    for objective, (labels, more) in cases.items():
        data = xgb.DMatrix(x, labels)
        times = {}
        for name, how in kinds.items():
            params = {"objective": objective, "max_depth": args.depth, **more, **how}
            times[name] = ms_a_round(params, data, args.rounds)
        first = next(iter(times.values()))
        print(f"| {objective} | " + " | ".join(f"{t:.2f} ({t / first:.2f})" for t in times.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
