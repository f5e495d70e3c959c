#!/usr/bin/env bash
# Floats in the other byte order (FITS, netCDF, Java): XGBoost 3.2.0 takes their bytes as they lie and trains on noise.
# LightGBM 4.6.0 and scikit-learn 1.7.2 take the numbers. None says anything.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor as Scikit
x = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
y = 10 * x[:, 0]
trainings = {
    "xgboost": lambda data: xgb.train({}, xgb.DMatrix(data, y), 20).predict(xgb.DMatrix(x)),
    "lightgbm": lambda data: lgb.train({"verbosity": -1}, lgb.Dataset(data, y), 20).predict(x),
    "scikit-learn": lambda data: Scikit().fit(data, y).predict(x),
}
same = {}
for name, train in trainings.items():
    error = {kind: float(np.sqrt(np.mean((train(x.astype(kind)) - y) ** 2))) for kind in ("<f4", ">f4")}
    print(f"{name}: rmse {error['<f4']:.3g} from <f4, {error['>f4']:.3g} from the same numbers as >f4")
    same[name] = error["<f4"] == error[">f4"]
assert same == {"xgboost": False, "lightgbm": True, "scikit-learn": True}, "the behaviour has changed"
END
