#!/usr/bin/env bash
# A model of LightGBM 4.6.0 says at each split what is missing: NaN, nothing (NaN counts as 0), or 0 (zero_as_missing). Three
# readers take it without an error and predict other numbers: Treelite 4.8.1 does not know that 0 is missing, daal4py of
# scikit-learn-intelex 2026.2.0 neither that nor that NaN is 0, and Snap ML 1.17.2 none of the three: it sends NaN left.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "lightgbm==4.6.0" "treelite==4.8.1" "scikit-learn-intelex==2026.2.0" "snapml==1.17.2" \
  "scikit-learn==1.7.2" "numpy==2.2.6"
cd "$folder"
"$folder/venv/bin/python" 2>/dev/null - <<'END'
import importlib.metadata, lightgbm as lgb, numpy as np, snapml, treelite
from daal4py import mb

rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3)).astype(np.float32)
y = 3 * x[:, 0] + x[:, 1] + 20
gone = rng.random(1000) < 0.3
holes, zeros = x.copy(), x.copy()
holes[gone, 0], zeros[gone, 0] = np.nan, 0

def snap(booster, rows):
    model = snapml.BoostingMachineRegressor()
    model.import_model("model.txt", "lightgbm")
    return model.predict(rows)

readers = {
    "treelite": lambda booster, rows: treelite.gtil.predict(treelite.frontend.load_lightgbm_model("model.txt"), rows),
    "scikit-learn-intelex": lambda booster, rows: mb.convert_model(booster).predict(rows),
    "snapml": snap,
}
version = importlib.metadata.version
print(f"LightGBM {lgb.__version__}; " + ", ".join(f"{name} {version(name)}" for name in readers))
for name, words, data, labels, rows, right in (
    ("no missing value anywhere", {}, x, y, x, (True, True, True)),
    ("NaN in training and prediction", {}, holes, y + 20 * gone, holes, (True, True, False)),
    ("NaN in the prediction only", {}, x, y, holes, (True, False, False)),
    ("use_missing=False", {"use_missing": False}, holes, y + 20 * gone, holes, (True, False, False)),
    ("zero_as_missing", {"zero_as_missing": True}, zeros, y + 20 * gone, zeros, (False, False, False)),
):
    booster = lgb.train({"verbose": -1, "num_threads": 1, **words}, lgb.Dataset(data, labels), 20)
    booster.save_model("model.txt")
    own, row = booster.predict(rows), np.flatnonzero(gone)[0]
    line = f"{name}: LightGBM {own[row]:.2f}"
    for (reader, predict), agrees in zip(readers.items(), right):
        other = np.ravel(predict(booster, rows))
        error = np.abs(own - other).max()
        line += f"; {reader} {other[row]:.2f}, off by up to {error:.2f}"
        assert error < 1e-3 if agrees else error > 1, "the behaviour has changed"
    print(line)
END
