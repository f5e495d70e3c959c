#!/usr/bin/env bash
# XGBoost 3.2.0 with reg:absoluteerror and reg:quantileerror, and scikit-learn 1.7.2 and 1.9.0 with absolute_error and
# quantile, accept monotone constraints, and predictions fall where they must rise. A tree is grown under the constraints,
# and then each leaf gets the median or quantile of its rows, whatever its neighbours have. Nothing says so. LightGBM
# 4.6.0 refuses the constraints, CatBoost 1.2.8 and XGBoost 3.4.1 keep to them.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "scikit-learn==1.7.2" "lightgbm==4.6.0" "catboost==1.2.8"
"$folder/venv/bin/python" 2>/dev/null - <<'END'
import catboost, lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor

rng = np.random.default_rng(0)
x = rng.normal(size=(4000, 3))
y = x[:, 0] + 2 * np.sin(3 * x[:, 0]) + rng.normal(size=4000) * (1 + np.abs(x[:, 1])) + 3 * x[:, 1] * (x[:, 2] > 0)
means = ("reg:squarederror", "squared_error", "regression", "RMSE")
middles = ("reg:absoluteerror", "absolute_error", "regression_l1", "MAE")
tails = ("reg:quantileerror", "quantile", "quantile", "Quantile:alpha=0.9")

def stock(name):
    words = {"objective": name, "monotone_constraints": "(1, 0, 0)", "max_depth": 5, "nthread": 1}
    if name == "reg:quantileerror":
        words["quantile_alpha"] = 0.9
    booster = xgb.train(words, xgb.DMatrix(x, y), 50)
    return lambda rows: booster.predict(xgb.DMatrix(rows))

def scikit(name):
    words = {"quantile": 0.9} if name == "quantile" else {}
    return HistGradientBoostingRegressor(loss=name, monotonic_cst=[1, 0, 0], max_iter=50, **words).fit(x, y).predict

def light(name):
    words = {"objective": name, "alpha": 0.9, "monotone_constraints": [1, 0, 0], "num_threads": 1, "verbose": -1}
    return lgb.train(words, lgb.Dataset(x, y), 50).predict

def cat(name):
    words = {"loss_function": name, "monotone_constraints": [1, 0, 0], "iterations": 50, "thread_count": 1}
    return catboost.CatBoostRegressor(verbose=0, allow_writing_files=False, **words).fit(x, y).predict

def fall(train, name):  # the largest one while column 0 rises and the others stay
    try:
        predict = train(name)
    except lgb.basic.LightGBMError as error:
        return str(error)
    lines = []
    for row in x[:40]:
        rows = np.tile(row, (400, 1))
        rows[:, 0] = np.linspace(-2.5, 2.5, 400)
        lines.append(np.diff(predict(rows)).min())
    return max(0.0, -float(min(lines)))

print(f"labels from {y.min():.1f} to {y.max():.1f}; the largest fall of a prediction that must not fall:")
for label, train, names in (
    (f"XGBoost {xgb.__version__}", stock, 0),
    (f"scikit-learn {sklearn.__version__}", scikit, 1),
    (f"LightGBM {lgb.__version__}", light, 2),
    (f"CatBoost {catboost.__version__}", cat, 3),
):
    falls = [fall(train, loss[names]) for loss in (means, middles, tails)]
    for loss, value in zip((means, middles, tails), falls):
        print(f"  {label}, {loss[names]}: {value if isinstance(value, str) else f'{value:.3f}'}")
    assert falls[0] == 0, "the behaviour has changed"
    for value in falls[1:]:
        if train in (stock, scikit):
            assert value > 0.1, "the behaviour has changed"
        elif train is light:
            assert "Cannot use ``monotone_constraints``" in value, "the behaviour has changed"
        else:
            assert value == 0, "the behaviour has changed"
END
