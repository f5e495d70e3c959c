#!/usr/bin/env bash
# XGBoost 3.2.0 predicts a row of a category that training has not seen as if it were of the next category in the order of
# names. Only a name behind the last one is an error. XGBoost 3.4.1 refuses all of them.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

program='
import pandas as pd, xgboost as xgb
names, values = ["b", "d", "f"] * 20, [1.0, 5.0, 9.0] * 20
frame = pd.DataFrame({"c": pd.Categorical(names)})
how = {"tree_method": "hist", "max_depth": 3, "eta": 1, "lambda": 0, "nthread": 1, "base_score": 0}
booster = xgb.train(how, xgb.DMatrix(frame, values, enable_categorical=True), 1)

def predict(name):
    unseen = pd.DataFrame({"c": pd.Categorical([name])})
    try:
        return float(booster.predict(xgb.DMatrix(unseen, enable_categorical=True))[0])
    except xgb.core.XGBoostError as error:
        return "error" if "category not in the training set" in str(error) else str(error)

found = [predict(name) for name in ("a", "c", "e", "z")]
print(f"XGBoost {xgb.__version__}, trained on b: 1, d: 5, f: 9; predicts a, c, e, z as {found}")
expected = {"3.2.0": [1.0, 5.0, 9.0, "error"], "3.4.1": ["error"] * 4}[xgb.__version__]
assert found == expected, f"the behaviour has changed; expected {expected}"
'
for version in 3.2.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3" "pandas==2.3.3"
  "$folder/$version/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==$version"
  "$folder/$version/bin/python" -c "$program"
done
