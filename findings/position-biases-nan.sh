#!/usr/bin/env bash
# The position biases of lambdarank_unbiased in XGBoost 3.2.0 and 3.4.1 become NaN as soon as the margins of a pair differ by some 17
# or more, and stay NaN: the loss of a pair is the logarithm of 1 - p, where p is a float, which is 1 from there on.
# Nothing says so. Rounds go on as if no position had a bias.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
"$folder/venv/bin/python" - <<'END'
import json
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 3))

def biases(scale):
    data = xgb.DMatrix(x, x[:, 0] > 0, base_margin=scale * x[:, 0])
    data.set_group([16] * 4)
    how = dict(objective="rank:ndcg", lambdarank_unbiased=1, lambdarank_num_pair_per_sample=4, max_depth=2, tree_method="hist")
    saved = json.loads(xgb.train(how, data, 2).save_config())["learner"]["objective"]
    return np.array(saved["ti+"], float)

near, far = biases(1), biases(20)
print(f"XGBoost {xgb.__version__}: biases ti+ with near margins {near.round(3)}, with far ones {far}")
assert np.isfinite(near).all() and np.isnan(far).any(), "the behaviour has changed"
END
