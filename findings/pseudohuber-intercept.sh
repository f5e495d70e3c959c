#!/usr/bin/env bash
# XGBoost 3.4.1 estimates the intercept of reg:pseudohubererror by one Newton step from 0. Where labels are far from 0 the
# hessian there is almost 0, and the step goes far beyond the labels: predictions stay there for all rounds. A given
# base_score helps.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3"
"$folder/venv/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==3.4.1"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3)).astype(np.float32)
y = 5 + 0.8 * np.tanh(x[:, 0])
data = xgb.DMatrix(x, y)

def mean_error(**more):
    how = {"objective": "reg:pseudohubererror", "tree_method": "hist", "nthread": 1, **more}
    return float(np.abs(xgb.train(how, data, 50).predict(data) - y).mean())

estimated, given = mean_error(), mean_error(base_score=5)
print(f"XGBoost {xgb.__version__}, reg:pseudohubererror, labels 4.2 to 5.8, 50 rounds: mean error {estimated:.2f}, with base_score=5 {given:.3f}")
assert estimated > 20 and given < 0.2, "the behaviour has changed"
END
