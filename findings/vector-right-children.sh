#!/usr/bin/env bash
# In a saved model of XGBoost 3.2.0 and 3.4.1 whose leaves are vectors (multi_strategy=multi_output_tree), right_children
# of a leaf is the place of its vector in leaf_weights, and so a number that looks like a node. In every other saved tree it
# is -1, as in left_children. A reader that takes -1 in right_children for a leaf finds no leaf. Nothing says so.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.2.0 3.4.1; do
    "$python" -m venv "$folder/$version"
    "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
    "$folder/$version/bin/python" - <<'END'
import json
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(200, 3)).astype(np.float32)
y = np.column_stack([x[:, 0], x[:, 1]])
for strategy in ("one_output_per_tree", "multi_output_tree"):
    how = {"tree_method": "hist", "max_depth": 2, "multi_strategy": strategy}
    model = json.loads(xgb.train(how, xgb.DMatrix(x, y), 1).save_raw("json"))
    tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
    left, right = tree["left_children"], tree["right_children"]
    of_leaves = [r for l, r in zip(left, right) if l == -1]
    print(f"XGBoost {xgb.__version__}, {strategy}: right_children of the leaves {of_leaves}")
    expected = list(range(len(of_leaves))) if strategy == "multi_output_tree" else [-1] * len(of_leaves)
    assert len(of_leaves) > 2 and of_leaves == expected, "the behaviour has changed"
END
done
