#!/usr/bin/env bash
# NGBoost 0.5.11 begins with a distribution of all labels that does not know sample_weight: rows of weight 0 decide where
# it begins. With default settings 60 rows of 600 with the label 999,999 and the weight 0 make the predicted scale about 5
# times as wide as a training without these rows; after 200 rounds predictions are off by hundreds. Weights of a classifier are
# not what as many copies of a row are. XGBoost 3.2.0 ignores rows of weight 0. Nothing says so.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "ngboost==0.5.11" "xgboost-cpu==3.2.0" "scikit-learn==1.7.2" "numpy==2.2.6"
"$folder/venv/bin/python" - <<'END'
import importlib.metadata, numpy as np, xgboost as xgb
from ngboost import NGBClassifier, NGBRegressor

rng = np.random.default_rng(0)
x = rng.normal(size=(600, 2))
truth = x[:, 0] + 0.3 * rng.normal(size=600)
y, weight = truth.copy(), np.ones(600)
y[:60], weight[:60] = 999_999, 0
rest = slice(60, None)

def error(found):
    return float(np.sqrt(np.mean((found - truth[rest]) ** 2)))

print(f"NGBoost {importlib.metadata.version('ngboost')}, labels from {truth.min():.1f} to {truth.max():.1f}, noise 0.3")
for rounds in (200, 500):
    found = []
    for rows, words in ((slice(None), {"sample_weight": weight}), (rest, {})):
        model = NGBRegressor(n_estimators=rounds, verbose=False, random_state=0).fit(x[rows], y[rows], **words)
        normal = model.pred_dist(x[rest])
        found.append((error(normal.loc), float(np.median(normal.scale))))
    (wide_error, wide), (narrow_error, narrow) = found
    print(f"  {rounds} rounds, 60 more rows of weight 0: error {wide_error:.3f}, median of scales {wide:.3f}")
    print(f"  {rounds} rounds without these rows:        error {narrow_error:.3f}, median of scales {narrow:.3f}")
    assert wide > 3 * narrow and narrow < 0.5, "the behaviour has changed"
    assert wide_error > 100 if rounds == 200 else wide_error < 1, "the behaviour has changed"

stock = [
    xgb.XGBRegressor(n_estimators=20, n_jobs=1).fit(x[rows], y[rows], **words).predict(x[rest])
    for rows, words in ((slice(None), {"sample_weight": weight}), (rest, {}))
]
print(f"  XGBoost {xgb.__version__}: error {error(stock[0]):.3f} with rows of weight 0, {error(stock[1]):.3f} without")
assert abs(error(stock[0]) - error(stock[1])) < 0.05, "the behaviour has changed"

label = (rng.random(600) < 0.1).astype(int)
weight = np.where(label == 1, 9, 1)
copies = np.repeat(np.arange(600), weight)
classifiers = [NGBClassifier(n_estimators=20, verbose=False, random_state=0) for _ in range(2)]
classifiers[0].fit(x, label, sample_weight=weight)
classifiers[1].fit(x[copies], label[copies])
share = [float(model.predict_proba(x)[:, 1].mean()) for model in classifiers]
print(f"  a rare class, 20 rounds: mean probability {share[0]:.3f} with weights of 9, {share[1]:.3f} with 9 copies")
assert share[0] < 0.3 and share[1] > 0.45, "the behaviour has changed"
END
