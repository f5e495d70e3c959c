#!/usr/bin/env bash
# ydf 0.16.1: ydf.from_sklearn makes a model of YDF of a random forest of scikit-learn 1.7.2, and forgets which way a
# missing value goes at a split: the forest has learned it since scikit-learn 1.4, in the model of YDF it is the smallest
# value everywhere. Of a classifier it makes a forest that votes: a probability is the share of trees that are above one
# half, not the mean of their probabilities, in rows without missing values, too. Nothing says so. Treelite 4.8.1 is right.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "ydf==0.16.1" "scikit-learn==1.7.2" "treelite==4.8.1" "numpy==2.2.6"
"$folder/venv/bin/python" - <<'END'
import numpy as np, sklearn, treelite, ydf
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3)).astype(np.float32)
y = 3 * x[:, 0] + x[:, 1]
gone = rng.random(1000) < 0.3
x[gone, 0] = np.nan
y[gone] += 20  # a missing value means a large label
smallest = np.nan_to_num(x, nan=-1e30)

def both(forest, rows):
    found = forest.predict_proba(rows)[:, 1] if hasattr(forest, "classes_") else forest.predict(rows)
    other = treelite.gtil.predict(treelite.sklearn.import_model(forest), rows).reshape(len(rows), -1)[:, -1]
    assert np.abs(found - other).max() < 1e-4, "the behaviour has changed"
    return found, ydf.from_sklearn(forest).predict({"features": rows})

print(f"scikit-learn {sklearn.__version__}, ydf {ydf.__version__}; Treelite {treelite.__version__} predicts as scikit-learn")
row = np.flatnonzero(gone)[0]
for kind in (RandomForestRegressor, ExtraTreesRegressor):
    forest = kind(20, max_depth=6, random_state=0, n_jobs=1).fit(x, y)
    own, other = both(forest, x)
    error = np.abs(own - other)
    print(
        f"{kind.__name__}, a row with a missing value: {own[row]:.3f}, of ydf {other[row]:.3f}; "
        f"off by up to {error[gone].max():.3f}, in rows without one by {error[~gone].max():.6f}"
    )
    assert error[~gone].max() < 1e-4 and error[gone].max() > 20, "the behaviour has changed"
    assert np.abs(other - forest.predict(smallest)).max() < 1e-4, "the behaviour has changed"

x = rng.normal(size=(1000, 3)).astype(np.float32)  # nothing is missing
forest = RandomForestClassifier(20, max_depth=6, random_state=0, n_jobs=1).fit(x, x[:, 0] + rng.normal(size=1000) > 0)
own, other = both(forest, x)
votes = np.mean([tree.predict(x) for tree in forest.estimators_], axis=0)
print(
    f"RandomForestClassifier without missing values, probabilities: {np.round(own[:4], 3)}, of ydf {np.round(other[:4], 3)}; "
    f"off by up to {np.abs(own - other).max():.3f}"
)
assert np.abs(own - other).max() > 0.2 and np.abs(votes - other).max() < 1e-4, "the behaviour has changed"
END
