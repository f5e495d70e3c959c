#!/usr/bin/env bash
# XGBoost 3.2.0 and 3.4.1: XGBRegressor(missing=-999) takes -999 for missing, and its saved model does not know it. An
# estimator that loads the file takes -999 for a number and says nothing: it goes left at every split of the column. So
# does the code that m2cgen 0.10.0 makes of the estimator itself. A pickle keeps the parameter.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "scikit-learn==1.6.1" "numpy==2.2.6" "m2cgen==0.10.0"
"$folder/venv/bin/python" - "$folder" <<'END'
import pickle, sys
import m2cgen, numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 2)).astype(np.float32)
y = 3 * x[:, 0] + x[:, 1]
gone = rng.random(1000) < 0.3
x[gone, 0], y[gone] = -999, y[gone] + 50

fitted = xgb.XGBRegressor(n_estimators=10, max_depth=3, missing=-999, base_score=2.0, n_jobs=1).fit(x, y)
fitted.save_model(sys.argv[1] + "/model.json")
loaded = xgb.XGBRegressor()
loaded.load_model(sys.argv[1] + "/model.json")
told = xgb.XGBRegressor(missing=-999)
told.load_model(sys.argv[1] + "/model.json")
code = {}
exec(m2cgen.export_to_python(fitted), code)

for name, values, agrees in (
    ("a pickle", pickle.loads(pickle.dumps(fitted)).predict(x), True),
    ("the saved model, loaded with missing=-999", told.predict(x), True),
    ("the saved model", loaded.predict(x), False),
    ("code of m2cgen", np.array([code["score"]([float(value) for value in row]) for row in x]), False),
):
    error = np.abs(values - fitted.predict(x))
    off = f"{np.mean(error > 1):.0%} of rows off, by up to {error.max():.2f}"
    print(f"XGBoost {xgb.__version__}, missing=-999, {name}: {off}")
    assert error.max() < 1e-3 if agrees else error.max() > 40, "the behaviour has changed"
END
