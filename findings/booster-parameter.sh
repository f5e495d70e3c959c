#!/usr/bin/env bash
# XGBoost 3.2.0: a booster that is made with the parameter booster=gbtree, which is the default, and the file of a dart
# has no trees. It predicts the base score for every row. Without the parameter it has all trees.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install xgboost-cpu==3.2.0
"$folder/venv/bin/python" - "$folder" 2>"$folder/said" <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
data = xgb.DMatrix(x, label=x[:, 0] + x[:, 1])
file = sys.argv[1] + "/dart.json"
xgb.train({"booster": "dart", "base_score": 0.5}, data, 5).save_model(file)
without = xgb.Booster(model_file=file)
beside = xgb.Booster({"booster": "gbtree"}, model_file=file)
print(f"without the parameter: {without.num_boosted_rounds()} rounds, {len(np.unique(without.predict(data)))} predictions that differ")
print(f"with booster=gbtree: predictions {np.unique(beside.predict(data))}, {len(beside.get_dump())} trees")
assert without.num_boosted_rounds() == 5 and len(np.unique(without.predict(data))) > 1, "the behaviour has changed"
assert np.unique(beside.predict(data)).tolist() == [0.5] and beside.get_dump() == [], "the behaviour has changed"
END
if [ -s "$folder/said" ]; then
  echo "XGBoost says something now: $(cat "$folder/said")"
  exit 1
fi
