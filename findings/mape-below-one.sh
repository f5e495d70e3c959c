#!/usr/bin/env bash
# mape of LightGBM 4.6.0, and MAPE of CatBoost 1.2.8, divide an error by the label only where the label is above 1, and by 1
# elsewhere. So a metric of 0.5 becomes 0.07 when dollars are written as thousands of dollars, and with labels far below 1
# objective="mape" of LightGBM is hardly better than "l1". XGBoost 3.2.0 and scikit-learn 1.7.2 divide by the label whatever
# its size. Nothing says so. So it is with 4.7.0, 1.2.10, 3.4.1 and 1.9.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "catboost==1.2.8" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import catboost, lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from catboost.utils import eval_metric
from sklearn.metrics import mean_absolute_percentage_error

def stock(labels, scores):  # a booster without trees, so the margins are what is measured
    data = xgb.DMatrix(scores.reshape(-1, 1), labels, base_margin=scores)
    return float(xgb.train({"eval_metric": "mape", "base_score": 0, "nthread": 1}, data, 0).eval(data).split(":")[1])

def light(labels, scores):  # a tree that has no split
    data, found = lgb.Dataset(scores.reshape(-1, 1), labels, init_score=scores), {}
    words = {"objective": "regression", "metric": "mape", "min_data_in_leaf": 500, "verbose": -1}
    lgb.train(words, data, 1, valid_sets=[data], valid_names=["seen"], callbacks=[lgb.record_evaluation(found)])
    return found["seen"]["mape"][0]

libraries = {
    f"XGBoost {xgb.__version__}": stock,
    f"LightGBM {lgb.__version__}": light,
    f"CatBoost {catboost.__version__}": lambda labels, scores: eval_metric(labels, scores, "MAPE")[0],
    f"scikit-learn {sklearn.__version__}": mean_absolute_percentage_error,
}
labels = np.array([10.0, 20.0, 50.0, 500.0])
for unit, expected in ((1, [0.5] * 4), (1000, [0.5, 0.0725, 0.0725, 0.5])):
    found = [round(float(measure(labels / unit, labels * 1.5 / unit)), 4) for measure in libraries.values()]
    print(f"labels {labels / unit}, predictions half as large again: " + ", ".join(map("{} {}".format, libraries, found)))
    assert np.allclose(found, expected, atol=1e-4), "the behaviour has changed"

rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 2))
y = 1000 * np.exp(x[:, 0] + rng.normal(size=3000))
for unit in (1, 1_000_000):
    found = {}
    for loss in ("mape", "l1"):
        words = {"objective": loss, "verbose": -1, "num_threads": 1}
        found[loss] = lgb.train(words, lgb.Dataset(x, y / unit), 200).predict(x)
    errors = {loss: round(float(np.mean(np.abs(unit * values - y) / y)), 2) for loss, values in found.items()}
    print(f"labels with a median of {np.median(y) / unit:.4g}: LightGBM's true mean percentage errors by objective {errors}")
    assert errors["mape"] < 0.75 if unit == 1 else errors["mape"] > 0.85, "the behaviour has changed"
    assert errors["l1"] > 0.85, "the behaviour has changed"
END
