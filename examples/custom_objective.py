"""An objective and a metric of your own: gradients in NumPy, trees by the library."""

from typing import Tuple

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)
from sklearn.datasets import load_diabetes

x, y = load_diabetes(return_X_y=True)
train, test = xgb.DMatrix(x[:300], y[:300]), xgb.DMatrix(x[300:], y[300:])
settings = {"tree_method": "gpu_hist", "eta": 0.1, "max_depth": 3, "base_score": float(np.mean(y[:300]))}


def asymmetric(predicted: np.ndarray, data: xgb.DMatrix) -> Tuple[np.ndarray, np.ndarray]:
    """Squared error that counts four times where the prediction is too low."""
    residual = predicted - data.get_label()
    weight = np.where(residual < 0, 4.0, 1.0)
    return weight * residual, weight


def share_too_low(predicted: np.ndarray, data: xgb.DMatrix) -> Tuple[str, float]:
    return "share_too_low", float(np.mean(predicted < data.get_label()))


results = {}
for name, objective in {"squared error": None, "asymmetric": asymmetric}.items():
    history: dict = {}
    xgb.train(
        settings,
        train,
        50,
        obj=objective,
        custom_metric=share_too_low,
        evals=[(test, "test")],
        evals_result=history,
        verbose_eval=False,
    )
    results[name] = history["test"]["share_too_low"][-1]
    print(f"{name}: {results[name]:.1%} of held-out predictions are too low")
assert results["asymmetric"] < results["squared error"]
