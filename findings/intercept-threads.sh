#!/usr/bin/env bash
# XGBoost 3.2.0 estimates the intercept of multi:softprob with a sum for each thread, in float. nthread=1 and nthread=2
# give intercepts whose last bits differ, so margins and saved models differ, too, and sometimes trees. One seed gives one
# model on a machine of one core, and another on a larger one. A given base_score makes all equal. 3.4.1 does as 3.2.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "numpy==2.2.6" "scipy==1.15.3"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb

def models(**given):
    """The number of trainings of 40 whose models depend on nthread."""
    differ = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = xgb.DMatrix(rng.normal(size=(20, 2)), rng.integers(0, 10, 20))
        settings = dict(objective="multi:softprob", num_class=10, tree_method="hist", seed=1, **given)
        saved = {bytes(xgb.train({**settings, "nthread": n}, data, 2).save_raw("ubj")) for n in (1, 2)}
        differ += len(saved) > 1
    return differ

estimated, given = models(), models(base_score=0.5)
print(f"XGBoost {xgb.__version__}: of 40 models, {estimated} depend on nthread; with a given base_score {given}")
assert estimated > 0 and given == 0, "the behaviour has changed"
END
