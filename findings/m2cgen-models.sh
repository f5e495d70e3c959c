#!/usr/bin/env bash
# m2cgen 0.10.0 turns models of XGBoost 3.2.0 into code without an error that forgets the weights of a dart's trees, the
# exponential of count:poisson, and that early stopping found an earlier round best.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgboost-cpu==3.2.0 m2cgen==0.10.0 scikit-learn==1.6.1 numpy==2.2.6
"$folder/env/bin/python" 2>/dev/null <<'END'
import m2cgen, numpy as np, xgboost as xgb

x = np.arange(40, dtype=np.float32).reshape(-1, 1)
shared = {"max_depth": 2, "base_score": 2.0}
stopping = {"n_estimators": 50, "early_stopping_rounds": 1, "learning_rate": 1.5}
for name, words, y, agrees in (
    ("gbtree", {"n_estimators": 4}, x[:, 0], True),
    ("dart", {"n_estimators": 4, "booster": "dart", "rate_drop": 0.5}, x[:, 0], False),
    ("count:poisson", {"n_estimators": 4, "objective": "count:poisson"}, x[:, 0], False),
    ("early stopping", stopping, np.sin(x[:, 0]), False),
):
    fitted = xgb.XGBRegressor(**shared, **words)
    others = [(x + 0.5, np.cos(x[:, 0]))] if words is stopping else None
    fitted.fit(x, y, eval_set=others, verbose=False)
    code = {}
    exec(m2cgen.export_to_python(fitted), code)
    own, other = fitted.predict(x), np.array([code["score"]([float(value)]) for value in x[:, 0]])
    print(f"{name}, row 39: XGBoost {xgb.__version__} {own[39]:.4f}, code of m2cgen {other[39]:.4f}; largest difference {abs(own - other).max():.4f}")
    assert np.allclose(own, other, rtol=1e-4) == agrees, "the behaviour has changed"
END
