#!/usr/bin/env bash
# boosting=rf of LightGBM 4.6.0 predicts the mean of its trees, and predict(pred_contrib=True) explains their sum: with 20
# trees contributions add up to 20 times the prediction. TreeExplainer of SHAP 0.54.1 gives the same ones, with background
# data, too, and its check of additivity passes. Nothing says so. Forests of XGBoost 3.2.0 (num_parallel_tree), and gbdt
# and dart of LightGBM, add up to the prediction. So it is with 4.7.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "lightgbm==4.6.0" "xgboost-cpu==3.2.0" "shap==0.54.1" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, shap, xgboost as xgb

rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3))
y = 2 * x[:, 0] + np.abs(x[:, 1]) + 5
sampled = {"bagging_fraction": 0.5, "bagging_freq": 1}
for name, words, trees in (
    ("gbdt", {}, 20),
    ("dart", {"boosting": "dart"}, 20),
    ("rf", {"boosting": "rf", **sampled}, 20),
    ("rf", {"boosting": "rf", **sampled}, 50),
):
    booster = lgb.train({"verbose": -1, "num_threads": 1, "seed": 1, **words}, lgb.Dataset(x, y), trees)
    own = booster.predict(x)
    found = {"pred_contrib": booster.predict(x, pred_contrib=True).sum(axis=1)}
    for kind, background in (("SHAP", ()), ("SHAP with background data", (x[:100],))):
        if name == "dart" and background:
            continue
        explainer = shap.TreeExplainer(booster, *background)
        found[kind] = explainer.shap_values(x, check_additivity=True).sum(axis=1) + explainer.expected_value
    shown = ", ".join(f"{kind} {values[0]:.3f}" for kind, values in found.items())
    print(f"LightGBM {lgb.__version__}, {name}, {trees} trees, row 0: prediction {own[0]:.3f}; sums of {shown}")
    times = trees if name == "rf" else 1
    for values in found.values():
        assert np.allclose(values, times * own, rtol=1e-4), "the behaviour has changed"

data = xgb.DMatrix(x, y)
booster = xgb.train({"num_parallel_tree": 20, "subsample": 0.5, "eta": 1, "nthread": 1}, data, 1)
own, sums = booster.predict(data), booster.predict(data, pred_contribs=True).sum(axis=1)
print(f"XGBoost {xgb.__version__}, a forest of 20 trees, row 0: prediction {own[0]:.3f}; sum of pred_contribs {sums[0]:.3f}")
assert np.allclose(own, sums, atol=1e-3), "the behaviour has changed"
END
