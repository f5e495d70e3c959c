#!/usr/bin/env bash
# XGBoost 3.4.1 looks names of categories up when it predicts, but not when a training goes on from a model (xgb_model):
# with a frame that lists the same categories in another order, new trees learn the residuals of other categories, without
# a word.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3" "pandas==2.3.3"
"$folder/venv/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==3.4.1"
"$folder/venv/bin/python" - <<'END'
import pandas as pd, xgboost as xgb
names, values = ["b", "d", "f"] * 20, [1.0, 5.0, 9.0] * 20

def matrix(order):
    return xgb.DMatrix(pd.DataFrame({"c": pd.Categorical(names, categories=order)}), values, enable_categorical=True)

def error(*orders):
    how = {"tree_method": "hist", "max_depth": 3, "eta": 0.5, "lambda": 0, "nthread": 1, "base_score": 0}
    booster = None
    for order in orders:
        booster = xgb.train(how, matrix(order), 3, xgb_model=booster)
    return max(abs(float(p) - v) for p, v in zip(booster.predict(matrix(["b", "d", "f"])), values))

same, other = error(["b", "d", "f"], ["b", "d", "f"]), error(["b", "d", "f"], ["f", "d", "b"])
print(f"XGBoost {xgb.__version__}, three rounds and three more: largest error {same:.2f}, with categories in another order {other:.2f}")
assert same < 0.2 and other > 5 * same, "the behaviour has changed"
END
