#!/usr/bin/env bash
# XGBoost 2.1.4 writes the bare word NaN into the JSON of a model that splits by categories: orjson 3.10.18 refuses it.
# XGBoost 3.0.5 writes 1E-45 in the same places, which is JSON.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

try() { # version, what orjson says of its model
  "$python" -m venv "$folder/$1"
  "$folder/$1/bin/pip" -q install "xgboost-cpu==$1" orjson==3.10.18
  "$folder/$1/bin/python" - "$2" <<'END'
import sys
import numpy as np, orjson, xgboost as xgb
rng = np.random.default_rng(1)
codes = rng.integers(0, 6, size=(300, 1)).astype(np.float32)
data = xgb.DMatrix(codes, label=np.array([0.0, 5, 1, 4, 2, 3])[codes[:, 0].astype(int)], feature_types=["c"], enable_categorical=True)
model = bytes(xgb.train({"max_cat_to_onehot": 1, "max_depth": 2, "tree_method": "hist"}, data, 1).save_raw("json"))
try:
    orjson.loads(model)
    said = "read"
except orjson.JSONDecodeError as error:
    said = f"refused ({error})"
print(f"XGBoost {xgb.__version__}: {said}; NaN is there {model.count(b'NaN')} times, 1E-45 {model.count(b'1E-45')} times")
sys.exit(0 if said.startswith(sys.argv[1]) else print("the behaviour has changed") or 1)
END
}
try 2.1.4 refused
try 3.0.5 read
