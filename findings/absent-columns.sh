#!/usr/bin/env bash
# XGBoost 3.1.3, 3.2.0 and 3.4.1 predict wrongly for a matrix with fewer columns than the model, if none of its values is missing:
# rows go right at every split by an absent column, though the model has learned the left side for missing values. One
# missing value anywhere in the matrix makes all its predictions right. XGBoost 1.7.4, 2.1.4 and 3.0.5 predict rightly. Leaves
# (pred_leaf) are right in all, so the sum of a row's leaves is not its prediction.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(500, 3)).astype(np.float32)
y = 3 * (x[:, 2] > 0) + x[:, 0]
gone = rng.random(500) < 0.3
x[gone, 2], y[gone] = np.nan, 0
booster = xgb.train({"tree_method": "hist", "max_depth": 3}, xgb.DMatrix(x, y), 5)

rows = rng.normal(size=(20, 3)).astype(np.float32)
missing = rows.copy()
missing[:, 2] = np.nan
one_missing = rows[:, :2].copy()
one_missing[0, 0] = np.nan
right = booster.predict(xgb.DMatrix(missing))

def error(data):
    return np.abs(booster.predict(data) - right)[1:].max()

wrong = error(xgb.DMatrix(rows[:, :2]))
print(f"XGBoost {xgb.__version__}, two of three columns: predictions off by {wrong:.2f}; with one missing value among them by {error(xgb.DMatrix(one_missing)):.2f}")
leaves = [booster.predict(xgb.DMatrix(some), pred_leaf=True) for some in (missing, rows[:, :2])]
assert wrong > 1 and error(xgb.DMatrix(one_missing)) == 0 and np.array_equal(*leaves), "the behaviour has changed"
END
