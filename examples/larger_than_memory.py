"""Rows that never are in memory together: batches come from a generator, XGBoost keeps them on disk."""

import os
import tempfile
from typing import Callable

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)

BATCHES, ROWS = 20, 10_000


def batch(number: int):
    """Stands for a file of a large data set."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(ROWS, 8)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] + 0.5 * x[:, 2] + 0.3 * rng.normal(size=ROWS) > 0).astype(np.float32)
    return x, y


class Batches(xgb.DataIter):
    def __init__(self, cache: str) -> None:
        self.number = 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data: Callable) -> int:
        if self.number == BATCHES:
            return 0
        x, y = batch(self.number)
        input_data(data=x, label=y)
        self.number += 1
        return 1

    def reset(self) -> None:
        self.number = 0


with tempfile.TemporaryDirectory() as folder:
    data = xgb.DMatrix(Batches(os.path.join(folder, "cache")))
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    print(f"{data.num_row()} rows, {size / 2**20:.0f} MiB on disk")
    booster = xgb.train({"tree_method": "gpu_hist", "objective": "binary:logistic", "max_depth": 5}, data, 30)
    del data  # before its folder goes

x, y = batch(BATCHES)
accuracy = float(np.mean((booster.predict(xgb.DMatrix(x)) > 0.5) == y))
print(f"{accuracy:.1%} of a batch that was never seen are right")
assert accuracy > 0.8
