#!/usr/bin/env bash
# Booster.inplace_predict of a dart adds the base margin of a row once more for each tree in XGBoost 3.2.0. Booster.predict of the same
# rows, and a gbtree, add it once, and so does 3.4.1. Nothing says so.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.2.0 3.4.1; do
    "$python" -m venv "$folder/$version"
    "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
    "$folder/$version/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x, y, margin = rng.normal(size=(60, 3)).astype(np.float32), rng.normal(size=60), rng.normal(size=60).astype(np.float32)
data = xgb.DMatrix(x, y, base_margin=margin)
apart = {}
for kind in ("gbtree", "dart"):
    booster = xgb.train({"booster": kind, "tree_method": "hist", "base_score": 0.0}, data, 3)
    apart[kind] = (booster.inplace_predict(x, base_margin=margin) - booster.predict(data)) / margin
print(f"XGBoost {xgb.__version__}: margins too many, gbtree {apart['gbtree'].mean():.3f}, dart of three trees {apart['dart'].mean():.3f}")
more = 3.0 if xgb.__version__.startswith("3.2") else 0.0
assert np.abs(apart["gbtree"]).max() < 1e-3 and np.abs(apart["dart"] - more).max() < 1e-3, "the behaviour has changed"
END
done
