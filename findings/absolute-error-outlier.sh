#!/usr/bin/env bash
# Since XGBoost 3.4 the loss of reg:absoluteerror is smooth, and its width is a mean over all rows. One row with a huge
# label makes the loss of all other rows a squared one, and their predictions bad: the objective that people choose
# because it ignores such rows does not any more. XGBoost 3.2.0, whose leaves are medians, does.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.2.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3"
  "$folder/$version/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==$version"
  "$folder/$version/bin/python" - "$version" <<'END'
import sys
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(10_000, 3)).astype(np.float32)
clean = (x[:, 0] + rng.exponential(size=len(x))).astype(np.float32)
with_outlier = clean.copy()
with_outlier[7] = 1e12

def error_of_others(labels):
    how = {"objective": "reg:absoluteerror", "max_depth": 3, "tree_method": "hist", "nthread": 1}
    residuals = xgb.train(how, xgb.DMatrix(x, labels), 100).predict(xgb.DMatrix(x)) - clean
    return float(np.abs(np.delete(residuals, 7)).mean())

before, after = error_of_others(clean), error_of_others(with_outlier)
print(f"XGBoost {xgb.__version__}, reg:absoluteerror, mean absolute error of 9,999 rows: {before:.3f}; with a label of 1e12 in one other row {after:.3f}")
assert (after < 1.05 * before) == (sys.argv[1] == "3.2.0"), "the behaviour has changed"
assert sys.argv[1] == "3.2.0" or after > 2 * before, "the behaviour has changed"
END
done
