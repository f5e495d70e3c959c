#!/usr/bin/env bash
# numpy.ma: XGBoost 3.2.0 and LightGBM 4.6.0 train on what lies behind the mask, and say nothing. With NaN in place of
# the masked entries both make another model.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, xgboost as xgb
x = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
y = 10 * x[:, 0]
arrays = {"masked": np.ma.array(x, mask=x > 0.5), "behind the mask": x, "NaN": np.where(x > 0.5, np.float32(np.nan), x)}
trainings = {
    "xgboost": lambda data: xgb.train({}, xgb.DMatrix(data, y), 20).predict(xgb.DMatrix(x)),
    "lightgbm": lambda data: lgb.train({"verbosity": -1}, lgb.Dataset(data, y), 20).predict(x),
}
for name, train in trainings.items():
    predicted = {kind: train(data) for kind, data in arrays.items()}
    like = [kind for kind in ("behind the mask", "NaN") if np.array_equal(predicted["masked"], predicted[kind])]
    print(f"{name}: a masked array trains the model of: {like}")
    assert like == ["behind the mask"], "the behaviour has changed"
END
