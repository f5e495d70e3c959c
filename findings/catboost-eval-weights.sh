#!/usr/bin/env bash
# CatBoost 1.2.8 computes AUC during a training, and so for early stopping, without the weights of the evaluated rows, and
# Logloss with them; catboost.utils.eval_metric("AUC") counts the weights. And scale_pos_weight is a weight of the evaluated
# rows there, so Logloss is that of other data. XGBoost 3.2.0 and LightGBM 4.6.0 do the opposite twice: their auc counts
# weights, and scale_pos_weight changes no metric. So it is with 1.2.10, 3.4.1 and 4.7.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "catboost==1.2.8" "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import catboost, lightgbm as lgb, numpy as np, xgboost as xgb
from catboost.utils import eval_metric
from sklearn.metrics import log_loss, roc_auc_score

rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 3))
y = (x[:, 0] + rng.normal(size=2000) > 1).astype(int)
weight = np.where((y == 1) & (x[:, 0] < 0.5), 10.0, 1.0)

def cat(weights, **words):
    shared = {"iterations": 20, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(eval_metric="AUC", use_best_model=False, **shared, **words)
    pool = catboost.Pool(x, y, weight=weights)
    found = model.fit(pool, eval_set=pool).get_evals_result()["validation"]
    return model.predict_proba(x)[:, 1], found["AUC"][-1], found["Logloss"][-1]

def stock(weights, **words):
    data, found = xgb.DMatrix(x, y, weight=weights), {}
    shared = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "max_depth": 3, "nthread": 1}
    booster = xgb.train({**shared, **words}, data, 20, evals=[(data, "seen")], evals_result=found, verbose_eval=False)
    return booster.predict(data), found["seen"]["auc"][-1], found["seen"]["logloss"][-1]

def light(weights, **words):
    data, found = lgb.Dataset(x, y, weight=weights), {}
    shared = {"objective": "binary", "metric": ["auc", "binary_logloss"], "num_leaves": 7, "verbose": -1, "num_threads": 1}
    booster = lgb.train(
        {**shared, **words}, data, 20, valid_sets=[data], valid_names=["seen"], callbacks=[lgb.record_evaluation(found)]
    )
    return booster.predict(x), found["seen"]["auc"][-1], found["seen"]["binary_logloss"][-1]

trains = {f"CatBoost {catboost.__version__}": cat, f"XGBoost {xgb.__version__}": stock, f"LightGBM {lgb.__version__}": light}
for name, train in trains.items():
    p, auc, loss = train(weight)
    plain, weighted = roc_auc_score(y, p), roc_auc_score(y, p, sample_weight=weight)
    print(f"weights, {name} reports auc {auc:.4f}; scikit-learn computes {weighted:.4f}, and {plain:.4f} without weights")
    assert abs(auc - (plain if train is cat else weighted)) < 1e-4, "the behaviour has changed"
    assert abs(loss - log_loss(y, p, sample_weight=weight)) < 1e-4 and abs(plain - weighted) > 0.02, "the behaviour has changed"
    if train is cat:
        later = eval_metric(y, p, "AUC", weight=weight)[0]
        print(f'  catboost.utils.eval_metric("AUC") is {later:.4f}')
        assert abs(later - weighted) < 1e-4, "the behaviour has changed"
    p, auc, loss = train(None, scale_pos_weight=10)
    plain, scaled = log_loss(y, p), log_loss(y, p, sample_weight=np.where(y == 1, 10, 1))
    print(f"scale_pos_weight=10, {name} reports logloss {loss:.4f}; it is {plain:.4f}, and {scaled:.4f} with weights of 10")
    assert abs(loss - (scaled if train is cat else plain)) < 1e-4 < abs(plain - scaled), "the behaviour has changed"
END
