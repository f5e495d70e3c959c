#!/usr/bin/env bash
# XGBoost 1.7.4, 3.0.0, 3.2.0 and 3.4.1, hist: feature_types set on a DMatrix that was trained on before. Training goes on with the
# matrix's old cuts, as if they were categories, and says nothing. A new matrix with these types gives another, good model.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgboost-cpu==3.2.0 numpy==2.2.6
"$folder/env/bin/python" <<'END'
import numpy as np, xgboost as xgb

rng = np.random.default_rng(0)
x = rng.integers(0, 8, (600, 2)).astype(np.float32)
y = np.array([0, 5, 1, 4, 2, 7, 3, 6], np.float32)[x[:, 0].astype(int)] + x[:, 1] / 10
words = {"tree_method": "hist", "max_depth": 3, "nthread": 1}

def predictions(trained_before):
    data = xgb.DMatrix(x, y)
    if trained_before:
        xgb.train(words, data, 1)
    data.feature_types = ["c", "q"]
    return xgb.train(words, data, 3).predict(data)

new, old = predictions(False), predictions(True)
errors = [abs(predicted - y).mean() for predicted in (new, old)]
print(f"XGBoost {xgb.__version__}: mean error {errors[0]:.2f} with a new matrix, {errors[1]:.2f} with one that was trained on before; labels are 0 to {y.max():.1f}")
assert errors[1] > 10 * errors[0], "the behaviour has changed"
assert np.array_equal(new, predictions(False))
END
