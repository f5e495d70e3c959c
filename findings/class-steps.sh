#!/usr/bin/env bash
# One round with learning_rate=0.1, no L2, K classes in equal shares, each of which a column tells: the score of the right
# class rises by 0.1 · K in HistGradientBoostingClassifier of scikit-learn 1.7.2, by 0.1 · (K - 1) in LightGBM 4.6.0, and by
# 0.1 · K / 2 in XGBoost 3.2.0, whose hessian of a class is 2 p (1 - p). For 3 classes the same learning_rate so makes half the
# step in XGBoost; with 0.2 its training goes as scikit-learn's. For 2 classes by a binary objective all three are equal.
# So it is with 1.9.0, 4.7.0 and 3.4.1.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

names = f"XGBoost {xgb.__version__}", f"LightGBM {lgb.__version__}", f"scikit-learn {sklearn.__version__}"

def scores(x, y, classes, rounds, eta, leaves=31):
    few = classes == 2
    words = {"lambda": 0, "eta": eta, "min_child_weight": 1e-3, "max_depth": 0, "max_leaves": leaves, "nthread": 1}
    words |= {"objective": "binary:logistic"} if few else {"objective": "multi:softprob", "num_class": classes}
    words |= {"grow_policy": "lossguide", "base_score": 0.5}
    data = xgb.DMatrix(x, y)
    stock = xgb.train(words, data, rounds).predict(data, output_margin=True)
    words = {"learning_rate": eta, "num_leaves": leaves, "num_threads": 1, "verbose": -1}
    words |= {"objective": "binary"} if few else {"objective": "multiclass", "num_class": classes}
    light = lgb.train(words, lgb.Dataset(x, y), rounds).predict(x, raw_score=True)
    model = HistGradientBoostingClassifier(learning_rate=eta, max_iter=rounds, max_leaf_nodes=leaves)
    return stock, light, model.fit(x, y).decision_function(x)

for classes in (2, 3, 10):
    y = np.repeat(np.arange(classes), 50)
    x = (y[:, None] == np.arange(classes)).astype(float)
    steps = []
    for raw, first in zip(scores(x, y, classes, 1, 0.1), (0.5, np.log(1 / classes), 0)):
        steps.append(round(float(raw[-1] if classes == 2 else raw[-1, -1] - first), 3))
    print(f"{classes} classes, a step of the right one: {dict(zip(names, steps))}")
    expected = [0.2] * 3 if classes == 2 else [0.05 * classes, 0.1 * (classes - 1), 0.1 * classes]
    assert np.allclose(steps, expected, atol=2e-3), "the behaviour has changed"

rng = np.random.default_rng(0)
x = rng.normal(size=(6000, 4))
y = np.digitize(x[:, 0] + 0.7 * rng.normal(size=6000), [-0.5, 0.5])
losses = {}
for eta in (0.1, 0.2):
    for name, raw in zip(names, scores(x, y, 3, 5, eta, 15)):
        p = np.exp(raw - raw.max(axis=1, keepdims=True))
        losses[name, eta] = round(float(log_loss(y, p / p.sum(axis=1, keepdims=True))), 3)
print(f"3 classes, log losses after 5 rounds: {losses}")
stock, light, scikit = names
assert losses[stock, 0.1] > losses[scikit, 0.1] + 0.05, "the behaviour has changed"
assert abs(losses[stock, 0.2] - losses[scikit, 0.1]) < 0.02, "the behaviour has changed"
END
