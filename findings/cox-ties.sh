#!/usr/bin/env bash
# XGBoost 3.2.0 trains another model of survival:cox when rows of equal times come in another order: the gradient of a row
# counts the events of its own time that stand before it after sorting, and not those behind it.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgboost-cpu==3.2.0 numpy==2.2.6
"$folder/env/bin/python" <<'END'
import numpy as np, xgboost as xgb

rng = np.random.default_rng(0)
rows = 400
x = rng.normal(size=(rows, 3)).astype(np.float32)
event = np.where(rng.random(rows) < 0.3, -1, 1)  # negative: censored
order = rng.permutation(rows)
words = {"objective": "survival:cox", "base_score": 1.0, "max_depth": 3, "nthread": 1}

def difference(times):
    models = [xgb.train(words, xgb.DMatrix(x[rows_of], times[rows_of]), 10) for rows_of in (np.arange(rows), order)]
    first, second = (model.predict(xgb.DMatrix(x), output_margin=True) for model in models)
    return abs(first - second).max(), abs(first).max()

for name, times, equal in (("five times", rng.integers(1, 6, rows), False), ("a time for each row", rng.permutation(rows) + 1, True)):
    most, size = difference((times * event).astype(float))
    print(f"XGBoost {xgb.__version__}, {rows} rows, {name}: margins of up to {size:.2f} differ by up to {most:.4f} in another order of rows")
    assert (most < 1e-6) == equal, "the behaviour has changed"
END
