#!/usr/bin/env bash
# XGBoost 3.2.0 makes leaves below `min_child_weight` in trees of vectors (multi_strategy=multi_output_tree), and gives
# them the value 0: rows of such a leaf get the base score. Trees of one output make no such leaf.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 4)).astype(np.float32)
step = np.where(x[:, 0] > 1.2, 9, 0)
data = xgb.DMatrix(x, np.stack([step + x[:, 1], step - x[:, 2]], axis=1))

def smallest_leaf(strategy):
    how = {"multi_strategy": strategy, "min_child_weight": 300, "max_depth": 3, "tree_method": "hist", "nthread": 1}
    booster = xgb.train(how, data, 1)
    leaves = booster.predict(data, pred_leaf=True).reshape(1000, -1)[:, 0]
    numbers, rows = np.unique(leaves, return_counts=True)
    return int(rows.min())

found = {strategy: smallest_leaf(strategy) for strategy in ("one_output_per_tree", "multi_output_tree")}
print(f"XGBoost {xgb.__version__}, squared error, min_child_weight=300, rows of the smallest leaf: {found}")
assert found == {"one_output_per_tree": 302, "multi_output_tree": 2}, "the behaviour has changed"
END
