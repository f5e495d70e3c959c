#!/usr/bin/env bash
# XGBoost 3.3.0 writes the weights of a dart's trees beside the model, XGBoost 3.4.1 inside it; before, a dart was a
# booster of its own. 3.4.1 reads the file of 3.3.0. 3.3.0 and 3.2.0 read that of 3.4.1 without an error, and predict as
# if every tree had the weight 1.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -c 'import sys; sys.exit("Python 3.12 or newer, please: XGBoost 3.4.1 needs it") if sys.version_info < (3, 12) else None'

for version in 3.2.0 3.3.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
done

for version in 3.3.0 3.4.1; do
  "$folder/$version/bin/python" - "$folder" 2>/dev/null <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
data = xgb.DMatrix(x, label=x[:, 0] + x[:, 1] * x[:, 2])
booster = xgb.train({"booster": "dart", "rate_drop": 0.5, "max_depth": 3, "base_score": 0.5, "seed": 1}, data, 8)
name = f"{sys.argv[1]}/{xgb.__version__}"
booster.save_model(name + ".json")
np.save(name + ".npy", booster.predict(data))
END
done

compare() { # reader, writer, expected
  "$folder/$1/bin/python" - "$folder" "$2" "$3" 2>/dev/null <<'END'
import json, sys
import numpy as np, xgboost as xgb
folder, writer, expected = sys.argv[1:]
x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
booster = json.load(open(f"{folder}/{writer}.json"))["learner"]["gradient_booster"]
place = "beside the model" if "weight_drop" in booster else "in the model"
here = xgb.Booster(model_file=f"{folder}/{writer}.json").predict(xgb.DMatrix(x))
off = np.abs(here - np.load(f"{folder}/{writer}.npy")).max()
print(f"written by {writer}, weights {place}; read by {xgb.__version__}: predictions are off by {off:.4f}")
if (off < 1e-4) != (expected == "right"):
    sys.exit(print("the behaviour has changed") or 1)
END
}
compare 3.4.1 3.3.0 right
compare 3.3.0 3.3.0 right
compare 3.3.0 3.4.1 wrong
compare 3.2.0 3.4.1 wrong
compare 3.2.0 3.3.0 wrong
