#!/usr/bin/env bash
# CatBoost 1.2.8 and 1.2.10 multiply l2_leaf_reg by the mean of the weights: weights of 10 give the leaves of weights of
# 1. XGBoost 3.2.0, LightGBM 4.6.0 and scikit-learn 1.7.2 take the parameter as it is, so the same weights make their
# leaves larger. One tree of two leaves shows it: ten rows of 10, ten rows of -10, an L2 of 10.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "catboost==1.2.8" "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import catboost, lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor

x, y = np.repeat([0.0, 1.0], 10).reshape(-1, 1), np.repeat([-10.0, 10.0], 10)

def leaves(weight):
    plain = catboost.CatBoostRegressor(
        iterations=1, depth=1, learning_rate=1, l2_leaf_reg=10, boost_from_average=False, bootstrap_type="No",
        random_strength=0, thread_count=1, verbose=0, allow_writing_files=False,
    )
    light = {"learning_rate": 1, "lambda_l2": 10, "min_data_in_leaf": 1, "boost_from_average": False, "verbose": -1}
    stock = {"max_depth": 1, "eta": 1, "lambda": 10, "base_score": 0, "nthread": 1}
    other = HistGradientBoostingRegressor(max_iter=1, learning_rate=1, l2_regularization=10, min_samples_leaf=1)
    last = np.ones((1, 1))
    found = {
        "CatBoost " + catboost.__version__: plain.fit(x, y, sample_weight=weight).predict(last),
        "XGBoost " + xgb.__version__: xgb.train(stock, xgb.DMatrix(x, y, weight=weight), 1).predict(xgb.DMatrix(last)),
        "LightGBM " + lgb.__version__: lgb.train(light, lgb.Dataset(x, y, weight=weight), 1).predict(last),
        "scikit-learn " + sklearn.__version__: other.fit(x, y, sample_weight=weight).predict(last),
    }
    return {name: round(float(value[0]), 3) for name, value in found.items()}

ones, tens = leaves(np.ones(20)), leaves(np.full(20, 10.0))
print(f"the leaf of label 10, weights of 1:  {ones}\nthe leaf of label 10, weights of 10: {tens}")
assert set(ones.values()) == {5.0}, "the behaviour has changed"
assert list(tens.values()) == [5.0] + 3 * [9.091], "the behaviour has changed"
mixed = np.where(y > 0, 10.0, 1.0)  # the mean is 5.5
value = leaves(mixed)["CatBoost " + catboost.__version__]
print(f"weights of 10 there and of 1 elsewhere: {value}; 100 · 10 / (10 · 10 + 10 · 5.5) is {1000 / 155:.3f}")
assert value == round(1000 / 155, 3), "the behaviour has changed"
END
