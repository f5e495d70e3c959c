#!/usr/bin/env bash
# ndcg means other numbers. Equal predictions: XGBoost 3.2.0 and LightGBM 4.6.0 count them in the order of rows, so a model
# that predicts one constant has an NDCG of 1 on rows sorted by their labels; CatBoost 1.2.8 takes the worst order,
# scikit-learn 1.7.2 the mean of all orders. The gain of a label is 2^label - 1 in the first two, the label itself in the
# others. A group without a hit counts 1 in all but scikit-learn, where it counts 0. So it is with 3.4.1, 4.7.0, 1.2.10 and
# 1.9.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "catboost==1.2.8" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import catboost, lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from catboost.utils import eval_metric
from sklearn.metrics import ndcg_score

def stock(labels, scores):  # a booster without trees, so the margins are what is measured
    data = xgb.DMatrix(scores.reshape(-1, 1), labels.ravel(), base_margin=scores.ravel())
    data.set_group([10] * 50)
    words = {"objective": "rank:ndcg", "eval_metric": "ndcg", "base_score": 0, "nthread": 1}
    return float(xgb.train(words, data, 0).eval(data).split(":")[1])

def light(labels, scores):  # a tree that has no split
    data, found = lgb.Dataset(scores.reshape(-1, 1), labels.ravel(), group=[10] * 50, init_score=scores.ravel()), {}
    words = {"objective": "lambdarank", "metric": "ndcg", "eval_at": 10, "min_data_in_leaf": 500, "verbose": -1}
    lgb.train(words, data, 1, valid_sets=[data], valid_names=["seen"], callbacks=[lgb.record_evaluation(found)])
    return found["seen"]["ndcg@10"][0]

def cat(labels, scores):
    return eval_metric(labels.ravel(), scores.ravel(), "NDCG", group_id=np.repeat(np.arange(50), 10))[0]

libraries = {
    f"XGBoost {xgb.__version__}": stock,
    f"LightGBM {lgb.__version__}": light,
    f"CatBoost {catboost.__version__}": cat,
    f"scikit-learn {sklearn.__version__}": ndcg_score,
}
rng = np.random.default_rng(0)
labels, scores, same = rng.integers(0, 5, (50, 10)).astype(float), rng.normal(size=(50, 10)), np.zeros((50, 10))
binary, half = np.minimum(labels, 1), labels.copy()
half[:25] = 0
for name, case, expected in (
    ("labels 0 and 1, other predictions", (binary, scores), (0.925, 0.925, 0.925, 0.925)),
    ("labels 0 to 4, other predictions", (labels, scores), (0.723, 0.723, 0.807, 0.807)),
    ("equal predictions, best label first", (-np.sort(-labels), same), (1.0, 1.0, 0.619, 0.811)),
    ("equal predictions, best label last", (np.sort(labels), same), (0.524, 0.524, 0.619, 0.811)),
    ("half of the groups without a hit", (half, scores), (0.874, 0.874, 0.913, 0.413)),
):
    found = [round(float(measure(*case)), 3) for measure in libraries.values()]
    print(f"{name}: " + ", ".join(f"{library} {value}" for library, value in zip(libraries, found)))
    assert np.allclose(found, expected, atol=0.0011), "the behaviour has changed"
END
