#!/usr/bin/env bash
# XGBoost 3.2.0 and 3.4.1: the name of a metric of your own decides what early stopping looks for. Names that begin with
# auc, map, ndcg or pre are maximised, all others minimised. An error called prediction_error keeps the worst round: the
# estimator predicts with one tree. The same function called error_of_mine keeps the best. The documentation of
# eval_metric says that a function is a cost and is minimised.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
x = np.random.default_rng(0).normal(size=(600, 3))
y = 3 * np.sin(x[:, 0]) + x[:, 1] ** 2 + 100

def metric(labels, predictions):
    return float(np.abs(labels - predictions).mean())

best = {}
for name in ("error_of_mine", "prediction_error", "mape_by_day", "mape"):
    metric.__name__ = name
    fitted = xgb.XGBRegressor(
        n_estimators=60, max_depth=3, base_score=0.0, eval_metric=metric, early_stopping_rounds=5, n_jobs=1
    ).fit(x[:400], y[:400], eval_set=[(x[400:], y[400:])], verbose=False)
    best[name] = fitted.best_iteration
    print(
        f"XGBoost {xgb.__version__}, {name}: best round {best[name]} with an error of {fitted.best_score:.2f}; "
        f"row 400 has the label {y[400]:.1f} and the prediction {fitted.predict(x[400:401])[0]:.1f}"
    )
assert best["error_of_mine"] == best["mape"] > 40, "the behaviour has changed"
assert best["prediction_error"] == best["mape_by_day"] == 0, "the behaviour has changed"
END
