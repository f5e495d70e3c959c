#!/usr/bin/env bash
# A model of two quantiles whose curves cross: XGBoost 3.4.1 predicts them in ascending order in every row, XGBoost
# 3.3.0 as the trees say. Margins are equal, and neither says anything.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -c 'import sys; sys.exit("Python 3.12 or newer, please: XGBoost 3.4.1 needs it") if sys.version_info < (3, 12) else None'

for version in 3.3.0 3.4.1; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
done
"$folder/3.3.0/bin/python" - "$folder" <<'END'
import sys
import numpy as np, xgboost as xgb
rng = np.random.default_rng(7)
x = rng.normal(size=(200, 3)).astype(np.float32)
booster = xgb.train({"objective": "reg:quantileerror", "quantile_alpha": [0.45, 0.55]}, xgb.DMatrix(x, label=rng.normal(size=200)), 20)
booster.save_model(sys.argv[1] + "/model.json")
np.savez(sys.argv[1] + "/there.npz", predictions=booster.predict(xgb.DMatrix(x)), margins=booster.predict(xgb.DMatrix(x), output_margin=True))
END
"$folder/3.4.1/bin/python" - "$folder" <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.random.default_rng(7).normal(size=(200, 3)).astype(np.float32)
there = np.load(sys.argv[1] + "/there.npz")
booster = xgb.Booster(model_file=sys.argv[1] + "/model.json")
here, margins = booster.predict(xgb.DMatrix(x)), booster.predict(xgb.DMatrix(x), output_margin=True)
crossing = {name: int((p[:, 0] > p[:, 1]).sum()) for name, p in {"3.3.0": there["predictions"], "3.4.1": here}.items()}
print(f"rows of 200 with the lower quantile above the upper: {crossing}; margins are off by {np.abs(margins - there['margins']).max():.2g}")
assert crossing["3.3.0"] > 0 and crossing["3.4.1"] == 0, "the behaviour has changed"
assert np.array_equal(np.sort(there["predictions"], axis=1), here) and np.array_equal(margins, there["margins"]), "the behaviour has changed"
END
