#!/usr/bin/env bash
# An evaluation set with fewer columns than the training data: XGBRegressor of XGBoost 3.2.0 refuses it with
# tree_method="hist". It evaluates it in silence with "approx" and "exact", and early stopping keeps the first round.
# LightGBM 4.6.0 takes the absent columns for missing, in silence. CatBoost 1.2.8 refuses the set. A set with more columns
# than the training data XGBoost and CatBoost refuse, and LightGBM drops the columns that are too many.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "catboost==1.2.8" "scikit-learn==1.7.2"
"$folder/venv/bin/python" -W ignore - <<'END'
import catboost, lightgbm as lgb, numpy as np, xgboost as xgb

x = np.random.default_rng(0).normal(size=(300, 6))
y = x[:, 0] + x[:, 5]
few, many = x[:, :3], np.hstack([x, x[:, :3]])

def of_xgboost(method, evaluated):
    model = xgb.XGBRegressor(n_estimators=30, early_stopping_rounds=3, tree_method=method, n_jobs=1)
    try:
        return model.fit(x, y, eval_set=[(evaluated, y)], verbose=False).best_iteration
    except xgb.core.XGBoostError:
        return "error"

def of_lightgbm(evaluated):
    model = lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1)
    return model.fit(x, y, eval_set=[(evaluated, y)]).evals_result_["valid_0"]["l2"]

def of_catboost(evaluated):
    model = catboost.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False, thread_count=1)
    try:
        return model.fit(x, y, eval_set=(evaluated, y)).get_best_iteration()
    except catboost.CatBoostError:
        return "error"

methods = ("hist", "approx", "exact")
found = {name: {method: of_xgboost(method, rows) for method in methods} for name, rows in (("few", few), ("many", many))}
print("XGBoost", xgb.__version__, "- best round of 30:", found)
assert found["few"] == {"hist": "error", "approx": 0, "exact": 0}, "the behaviour has changed"
assert set(found["many"].values()) == {"error"}, "the behaviour has changed"

missing = np.hstack([few, np.full((300, 3), np.nan)])
losses = {"few": of_lightgbm(few), "missing": of_lightgbm(missing), "many": of_lightgbm(many), "all": of_lightgbm(x.copy())}
print("LightGBM", lgb.__version__, "- losses of five rounds:", {name: np.round(loss, 4).tolist() for name, loss in losses.items()})
assert losses["few"] == losses["missing"] != losses["all"] == losses["many"], "the behaviour has changed"

refused = {"few": of_catboost(few), "many": of_catboost(many)}
print("CatBoost", catboost.__version__, "-", refused)
assert set(refused.values()) == {"error"}, "the behaviour has changed"
END
