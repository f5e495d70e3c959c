#!/usr/bin/env bash
# XGBoost 2.1.4 and 3.0.5 read a regression model of 3.2.0 without an error or a warning, and predict from 0.5 in place
# of the base score 100: since 3.1 the file has a list there.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.2.0 2.1.4 3.0.5; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
done

"$folder/3.2.0/bin/python" - "$folder" <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.arange(40, dtype=np.float32).reshape(-1, 1)
data = xgb.DMatrix(x, label=100 + x[:, 0] / 40)
booster = xgb.train({"max_depth": 2, "base_score": 100}, data, 3)
booster.save_model(sys.argv[1] + "/model.json")
np.save(sys.argv[1] + "/there.npy", booster.predict(data))
END

for version in 2.1.4 3.0.5; do
  "$folder/$version/bin/python" - "$folder" 2>"$folder/said" <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.arange(40, dtype=np.float32).reshape(-1, 1)
here = xgb.Booster(model_file=sys.argv[1] + "/model.json").predict(xgb.DMatrix(x))
there = np.load(sys.argv[1] + "/there.npy")
print(f"XGBoost {xgb.__version__}: {here[0]:.4f} to {here[-1]:.4f}; XGBoost 3.2.0, which wrote the model: {there[0]:.4f} to {there[-1]:.4f}")
assert np.allclose(there - here, 99.5, atol=1e-3), "the behaviour has changed"
END
  if [ -s "$folder/said" ]; then
    echo "XGBoost $version says something now: $(cat "$folder/said")"
    exit 1
  fi
done
