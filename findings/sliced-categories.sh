#!/usr/bin/env bash
# A slice of an XGBoost 3.2.0 model forgets the names of categories: it predicts a frame that lists them in another order
# by their numbers there, without a word, where the whole model looks names up. EarlyStopping(save_best=True) returns
# such a slice. XGBoost 3.4.1 keeps the names.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

program='
import pandas as pd, xgboost as xgb
names, values = ["b", "d", "f"] * 20, [1.0, 5.0, 9.0] * 20
frame = pd.DataFrame({"c": pd.Categorical(names, categories=["b", "d", "f"])})
how = {"tree_method": "hist", "max_depth": 3, "eta": 1, "lambda": 0, "nthread": 1, "base_score": 0}
booster = xgb.train(how, xgb.DMatrix(frame, values, enable_categorical=True), 1)
other = pd.DataFrame({"c": pd.Categorical(["b", "d", "f"], categories=["f", "d", "b"])})
whole, slice_ = ([float(p) for p in model.predict(xgb.DMatrix(other, enable_categorical=True))] for model in (booster, booster[:1]))
print(f"XGBoost {xgb.__version__}, rows b, d, f of a frame that lists f, d, b: the model predicts {whole}, its slice of all rounds {slice_}")
expected = {"3.2.0": [9.0, 5.0, 1.0], "3.4.1": [1.0, 5.0, 9.0]}[xgb.__version__]
assert whole == [1.0, 5.0, 9.0] and slice_ == expected, f"the behaviour has changed; expected {expected} of the slice"
'
for version in 3.2.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3" "pandas==2.3.3"
  "$folder/$version/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==$version"
  "$folder/$version/bin/python" -c "$program"
done
