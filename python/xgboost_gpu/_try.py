"""``python3 -m xgboost_gpu try``: a small training by `gpu_hist` beside one by `hist`, on generated data."""

import sys
import time
from typing import Any, Dict, Tuple

import numpy as np
import xgboost as xgb

from . import __version__, build_info

_COLUMNS, _ROUNDS = 20, 50


def _make_data(rows: int) -> Tuple[np.ndarray, np.ndarray]:
    """Two classes with interactions and noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, _COLUMNS), dtype=np.float32)
    score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.3 * x[:, 3:8].sum(axis=1)
    return x, (score + 0.3 * rng.logistic(size=rows) > 0).astype(np.float32)


def _where() -> str:
    """The device that `gpu_hist` trains on, or why it is the CPU."""
    info = build_info()
    return f"on {info['devices'][0]['name']}" if "cuda" in info["backends"] else f"on the CPU: {info['why_no_cuda']}"


def try_here(rows: int) -> int:
    """Prints seconds and accuracy of both, and whether the model has the same bits elsewhere. Returns 1 if it has not."""
    held_out = rows // 5
    x, y = _make_data(rows + held_out)
    common = {"objective": "binary:logistic", "verbosity": 0}  # the first line says what warnings would say

    def train(rounds: int, **params: Any) -> xgb.Booster:
        return xgb.train({**common, **params}, xgb.DMatrix(x[:rows], y[:rows]), rounds)

    print(f"XGBoost {xgb.__version__} with xgboost_gpu {__version__}, {_where()}")
    print(f"{rows:,} rows of {_COLUMNS} columns, {_ROUNDS} rounds\n")
    print(f"{'':<10}{'seconds':>9}{'accuracy':>10}", flush=True)
    models: Dict[str, xgb.Booster] = {}
    for method in ("hist", "gpu_hist"):
        train(1, tree_method=method)  # starts threads and the GPU
        start = time.perf_counter()
        models[method] = train(_ROUNDS, tree_method=method)
        seconds = time.perf_counter() - start
        right = (models[method].predict(xgb.DMatrix(x[rows:])) > 0.5) == y[rows:]
        print(f"{method:<10}{seconds:>9.2f}{f'{np.mean(right):.4f}'.lstrip('0'):>10}", flush=True)

    on_one_thread = train(_ROUNDS, tree_method="gpu_hist", gpu_backend="host", nthread=1)
    if on_one_thread.save_raw() != models["gpu_hist"].save_raw():
        print("try: gpu_hist made another model with gpu_backend=host and one thread", file=sys.stderr)
        return 1
    print("\nThe model of gpu_hist has the same bits with gpu_backend=host and one thread.")
    return 0
