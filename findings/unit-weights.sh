#!/usr/bin/env bash
# XGBoost 3.2.0 trains another model when every row is given the weight 1, with reg:absoluteerror and reg:quantileerror:
# leaves of rows without weights interpolate between two rows, leaves of rows with weights take one of the rows.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
x, y = np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 10.0])  # one leaf

def leaf(weight, **objective):
    data = xgb.DMatrix(x, y, weight=weight)
    how = {"base_score": 0.0, "eta": 1, "tree_method": "hist", "nthread": 1, **objective}
    return float(xgb.train(how, data, 1).predict(data)[0])

found = {}
for objective in ({"objective": "reg:absoluteerror"}, {"objective": "reg:quantileerror", "quantile_alpha": 0.5}):
    found[objective["objective"]] = [leaf(None, **objective), leaf(np.ones(4), **objective)]
print(f"XGBoost {xgb.__version__}, labels 1 2 3 10 in one leaf, without weights and with weights of 1: {found}")
assert all(pair == [2.5, 2.0] for pair in found.values()), "the behaviour has changed"
END
