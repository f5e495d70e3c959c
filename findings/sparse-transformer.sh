#!/usr/bin/env bash
# ColumnTransformer of scikit-learn 1.7.2 gives a sparse matrix once fewer than 3 of 10 values are other than 0, and a dense
# array before. XGBoost 3.2.0 and 3.4.1 take what a sparse matrix does not hold as missing. So the number of cities in one
# column decides what the number 0 means in another: with 3 cities 0 and NaN are two things, with 20 cities they are one,
# and the same pipeline predicts 28 for both in place of 0 and 50. Nothing says so. LightGBM 4.6.0 tells them apart in both.
# So it is with 1.9.0 and 4.7.0.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2" "numpy==2.2.6" "pandas==2.3.3"
"$folder/venv/bin/python" 2>/dev/null - <<'END'
import lightgbm as lgb, numpy as np, pandas as pd, sklearn, xgboost as xgb
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

rng = np.random.default_rng(0)
amount = rng.integers(0, 4, 4000).astype(float)
gone = rng.random(4000) < 0.3
y = np.where(gone, 50, amount)  # a missing amount means 50
amount[gone] = np.nan
asked = pd.DataFrame({"amount": [0, 1, np.nan], "city": ["c0"] * 3})
models = {
    f"XGBoost {xgb.__version__}": (xgb.XGBRegressor, {"n_estimators": 50, "n_jobs": 1}),
    f"LightGBM {lgb.__version__}": (lgb.LGBMRegressor, {"n_estimators": 200, "n_jobs": 1, "verbose": -1}),
}
print(f"scikit-learn {sklearn.__version__}; the label is the amount, or 50 where it is missing")
for cities, words in ((3, {}), (20, {}), (20, {"sparse_threshold": 0})):
    frame = pd.DataFrame({"amount": amount, "city": [f"c{city}" for city in rng.integers(0, cities, 4000)]})
    for name, (model, settings) in models.items():
        columns = ColumnTransformer([("city", OneHotEncoder(), ["city"])], remainder="passthrough", **words)
        pipeline = make_pipeline(columns, model(**settings)).fit(frame, y)
        kind, (zero, one, missing) = type(columns.transform(asked)).__name__, pipeline.predict(asked)
        print(
            f"  {cities} cities {words or ''}: {name} gets a {kind}, and predicts {zero:.1f} for 0, {one:.1f} for 1, "
            f"{missing:.1f} for NaN"
        )
        one_thing = name.startswith("XGBoost") and cities == 20 and not words
        assert kind == ("csr_matrix" if cities == 20 and not words else "ndarray"), "the behaviour has changed"
        assert abs(one - 1) < 0.5, "the behaviour has changed"
        if one_thing:
            assert zero == missing and 25 < zero < 40, "the behaviour has changed"
        else:
            assert abs(zero) < 0.5 and abs(missing - 50) < 0.5, "the behaviour has changed"
END
