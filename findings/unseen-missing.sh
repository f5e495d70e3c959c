#!/usr/bin/env bash
# A column without missing values in the training, and NaN in a prediction: LightGBM 4.6.0 takes NaN for the number 0, so
# the prediction follows the unit or origin of the column. XGBoost 3.2.0 goes right at every split with hist, the default,
# and left at every split with exact. CatBoost 1.2.8 takes the smallest value, with nan_mode="Max" too. scikit-learn 1.7.2
# goes where more rows went, and documents it. None says anything. The label is the column, from 10 to 20, before a
# constant is taken off. So it is with 4.7.0, 3.4.1, 1.2.10 and 1.9.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "scikit-learn==1.7.2" "lightgbm==4.6.0" "catboost==1.2.8"
"$folder/venv/bin/python" - <<'END'
import catboost, lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor

values = np.random.default_rng(0).uniform(10, 20, (2000, 1))
y = values[:, 0]
nan = np.array([[np.nan]])

def predictions(x):
    def stock(method):
        words = {"max_depth": 4, "nthread": 1, "tree_method": method}
        return xgb.train(words, xgb.DMatrix(x, y), 100).predict(xgb.DMatrix(nan))

    def cat(mode):
        words = {"iterations": 100, "nan_mode": mode, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
        return catboost.CatBoostRegressor(**words).fit(x, y).predict(nan)

    light = lgb.train({"verbose": -1, "num_threads": 1}, lgb.Dataset(x, y), 100).predict(nan)
    found = {
        f"LightGBM {lgb.__version__}": light,
        f"XGBoost {xgb.__version__}, hist": stock("hist"),
        "exact": stock("exact"),
        f"CatBoost {catboost.__version__}, nan_mode=Min": cat("Min"),
        "Max": cat("Max"),
        f"scikit-learn {sklearn.__version__}": HistGradientBoostingRegressor().fit(x, y).predict(nan),
    }
    return {name: round(float(value[0]), 1) for name, value in found.items()}

rows = {less: predictions(values - less) for less in (0, 15, 30)}
print("labels from 10 to 20; the prediction of NaN")
for less, found in rows.items():
    print(f"  the column has values from {10 - less} to {20 - less}: {found}")
for place, at_zero in ((0, 10.0), (1, 15.0), (2, 19.9)):
    light, hist, exact, least, most, scikit = list(rows.values())[place].values()
    assert abs(light - at_zero) < 0.2, "the behaviour has changed"
    assert hist > 19.8 and exact < 10.2 and least == most < 10.2 and 12 < scikit < 18, "the behaviour has changed"
END
