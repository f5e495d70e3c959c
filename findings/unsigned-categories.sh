#!/usr/bin/env bash
# XGBoost 3.2.0 cannot train on a pandas column whose categories are unsigned integers of 64 bits: it makes the matrix, and
# the booster's copy of the names cannot be read back as JSON at the end of the training. Signed integers work, and
# unsigned ones of 8 bits. XGBoost 3.4.1 takes all.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

program='
import numpy as np, pandas as pd, xgboost as xgb

def train(kind):
    frame = pd.DataFrame({"c": pd.Categorical(np.array([3, 5, 7] * 20, kind))})
    data = xgb.DMatrix(frame, [1.0, 5.0, 9.0] * 20, enable_categorical=True)
    try:
        xgb.train({"tree_method": "hist", "nthread": 1}, data, 1)
        return "trains"
    except xgb.core.XGBoostError as error:
        return "error" if "Unknown construct" in str(error) else str(error)

found = {kind: train(kind) for kind in ("int64", "uint8", "uint64")}
print(f"XGBoost {xgb.__version__}, categories of these types: {found}")
unsigned = {"3.2.0": "error", "3.4.1": "trains"}[xgb.__version__]
assert found == {"int64": "trains", "uint8": "trains", "uint64": unsigned}, "the behaviour has changed"
'
for version in 3.2.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3" "pandas==2.3.3"
  "$folder/$version/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==$version"
  "$folder/$version/bin/python" -c "$program"
done
