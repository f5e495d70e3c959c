#!/usr/bin/env bash
# A model of three classes is loaded by a booster whose parameters name base_score. Its contributions in XGBoost 3.2.0
# lack the base score in every class but the first, and do not add up to the margin. Those of XGBoost 3.0.5 add up.
# Margins are equal in both, and neither says anything.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.0.5 3.2.0; do
  "$python" -m venv "$folder/$version"
  "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
  "$folder/$version/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x, y = rng.integers(0, 6, (40, 3)).astype(np.float32), rng.integers(0, 3, 40)
params = {"objective": "multi:softprob", "num_class": 3, "base_score": 2.0, "max_depth": 3}
trained = xgb.train(params, xgb.DMatrix(x, label=y), 2)
loaded = xgb.Booster(params, model_file=bytearray(trained.save_raw("json")))
def lacks(booster):
    data = xgb.DMatrix(x)
    return np.round(booster.predict(data, output_margin=True) - booster.predict(data, pred_contribs=True).sum(-1), 3)[0] + 0.0
print(f"{xgb.__version__}: margin less contributions of row 0, as trained {lacks(trained)}, as loaded {lacks(loaded)}")
assert not lacks(trained).any(), "the behaviour has changed"
assert lacks(loaded).tolist() == ([0, 2, 2] if xgb.__version__ == "3.2.0" else [0, 0, 0]), "the behaviour has changed"
END
done
