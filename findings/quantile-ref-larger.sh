#!/usr/bin/env bash
# A QuantileDMatrix that shares the bins of another (ref) and has larger values, and missing ones: XGBoost 3.4.1 trains the larger
# values in the last bin. A split that separates present from missing values is saved as "below the last cut of ref". The model
# sends the larger values of a DMatrix to the missing ones, and predicts what it has not learned. Nothing says so.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.4.1"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.integers(0, 100, size=(400, 1)).astype(np.float32)
x[rng.random(400) < 0.3] = np.nan
y = np.isnan(x[:, 0]).astype(np.float32)

def worst_error(ref):
    data = xgb.QuantileDMatrix(x, y, ref=xgb.QuantileDMatrix(ref, np.zeros(len(ref))))
    booster = xgb.train({"max_depth": 1, "base_score": 0.5, "eta": 1}, data, 1)
    return np.abs(booster.predict(data) - y).max(), np.abs(booster.predict(xgb.DMatrix(x)) - y).max()

small = worst_error(np.arange(30, dtype=np.float32).reshape(-1, 1))
large = worst_error(np.arange(100, dtype=np.float32).reshape(-1, 1))
print(f"XGBoost {xgb.__version__}: worst error on the training's matrix, and on a DMatrix of the same rows")
print(f"  ref has smaller values: {small[0]:.3f}, {small[1]:.3f}\n  ref has all values:     {large[0]:.3f}, {large[1]:.3f}")
assert small[0] < 0.02 and small[1] > 0.9 and max(large) < 0.02, "the behaviour has changed"
END
