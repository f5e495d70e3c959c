#!/usr/bin/env bash
# SHAP 0.54.1: TreeExplainer with background data, which model_output="probability" needs, reads trees itself, and
# explains another model without a word: a dart of XGBoost 3.2.0 without the weights of its trees, an estimator with
# missing=-999 that takes -999 for a number, a model of LightGBM 4.6.0 with zero_as_missing that compares zeros.
# Contributions and expected value do not add up to the prediction. SHAP's own check passes: it adds up the same trees.
# Without background data all three add up, because XGBoost and LightGBM do the work. So it is with 3.4.1 and 4.7.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "shap==0.54.1" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, shap, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3))
y = 3 * x[:, 0] + x[:, 1] * x[:, 2]
gone = rng.random(1000) < 0.3
y[gone] += 50

def without(mark):
    rows = x.copy()
    rows[gone, 0] = mark
    return rows

def stock(rows, **words):
    return xgb.XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1, random_state=1, **words).fit(rows, y)

def light(rows, **words):
    return lgb.train({"verbose": -1, "num_threads": 1, **words}, lgb.Dataset(rows, y), 20)

nan, minus, zero = without(np.nan), without(-999), without(0)
for name, model, rows, agrees in (
    (f"XGBoost {xgb.__version__}, gbtree", stock(nan), nan, True),
    (f"XGBoost {xgb.__version__}, dart", stock(nan, booster="dart", rate_drop=0.5), nan, False),
    (f"XGBoost {xgb.__version__}, missing=-999", stock(minus, missing=-999), minus, False),
    (f"LightGBM {lgb.__version__}", light(nan), nan, True),
    (f"LightGBM {lgb.__version__}, zero_as_missing", light(zero, zero_as_missing=True), zero, False),
):
    off = []
    for background in ((), (rows[:100],)):
        explainer = shap.TreeExplainer(model, *background)
        sums = explainer.shap_values(rows, check_additivity=True).sum(axis=1) + explainer.expected_value
        off.append(np.abs(sums - model.predict(rows)).max())
    print(f"SHAP {shap.__version__}, {name}: sums off by {off[0]:.4f}, with background data by {off[1]:.4f}")
    assert off[0] < 1e-3 and (off[1] < 1e-3 if agrees else off[1] > 1), "the behaviour has changed"
END
