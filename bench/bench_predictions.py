#!/usr/bin/python3
"""Predictions by the number of rows, in a process that has trained: a DMatrix, a numpy array in place, and others.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python /usr/bin/python3 bench/bench_predictions.py [--rows 1000 1000000]
    PYTHONPATH=FOLDER_OF_ANOTHER_XGBOOST python3 bench/bench_predictions.py --other

100 trees of depth 8 on 28 columns. Each call gets rows that its booster has not seen. The first call reads the model;
the others are calls 2 to 4, of which the table has the median. --grow-policy depthwise symmetric measures both in one
run, and --gpus 1 2 one GPU and two (n_gpus) in turns, call by call, with a check that they answer the same; of few
rows two are asked for and one is used. --kinds says what is asked for; contributions take a tenth of the rows, and
interactions a hundredth. --other measures XGBoost 2 or later with device=cuda, on the same data.
"""

import argparse
import statistics
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import xgboost as xgb

COLUMNS, CALLS, TRAINING_ROWS = 28, 4, 1_000_000
# What is asked of a booster, and of how many of the rows.
KINDS: Dict[str, Tuple[int, Callable[[xgb.Booster, Any], np.ndarray]]] = {
    "matrix": (1, lambda booster, rows: booster.predict(rows)),
    "in-place": (1, lambda booster, rows: booster.inplace_predict(rows)),
    "leaves": (1, lambda booster, rows: booster.predict(rows, pred_leaf=True)),
    "contributions": (10, lambda booster, rows: booster.predict(rows, pred_contribs=True)),
    "interactions": (100, lambda booster, rows: booster.predict(rows, pred_interactions=True)),
}


def milliseconds(kind: str, boosters: List[xgb.Booster], arrays: List[np.ndarray]) -> List[List[float]]:
    """Of each call of each booster, which take turns and must give the same answers."""
    part, ask = KINDS[kind]
    times: List[List[float]] = [[] for _ in boosters]
    for number, array in enumerate(arrays):
        own = array[: max(1, len(array) // part)]
        turns = list(zip(boosters, times))
        answers = []
        for booster, of_booster in turns if number % 2 == 0 else turns[::-1]:
            rows = own if kind == "in-place" else xgb.DMatrix(own)
            start = time.perf_counter()
            answers.append(ask(booster, rows))
            of_booster.append(1e3 * (time.perf_counter() - start))
        assert all(np.array_equal(answers[0], other) for other in answers[1:]), f"{kind} differ between numbers of GPUs"
    return times


def main() -> None:
    """Trains once, prints a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=8)
    policies = ("depthwise", "lossguide", "symmetric")
    parser.add_argument("--grow-policy", nargs="+", default=["depthwise"], choices=policies)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1], help="n_gpus: of each booster that takes turns")
    parser.add_argument("--kinds", nargs="+", default=["matrix", "in-place"], choices=list(KINDS))
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

    print("| rows | trees | GPUs | " + " | ".join(f"{kind}: first call, ms | others" for kind in args.kinds) + " |")
    print("|---|---|---|" + "---|---|" * len(args.kinds))
    for rows in args.rows:
        arrays = [rng.standard_normal((rows, COLUMNS), dtype=np.float32) for _ in range(CALLS)]
        for how, model in saved.items():
            cells: Dict[int, List[str]] = {gpus: [] for gpus in args.gpus}
            for kind in args.kinds:
                settings = [method if args.other else {**method, "n_gpus": gpus} for gpus in args.gpus]
                boosters = [xgb.Booster(one, model_file=bytearray(model)) for one in settings]  # have predicted nothing
                for gpus, times in zip(args.gpus, milliseconds(kind, boosters, arrays)):
                    cells[gpus] += [f"{times[0]:.2f}", f"{statistics.median(times[1:]):.2f}"]
            for gpus, found in cells.items():
                print(f"| {rows:,} | {how} | {gpus} | " + " | ".join(found) + " |", flush=True)


if __name__ == "__main__":
    main()
