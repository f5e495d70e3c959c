#!/usr/bin/env bash
# interaction_constraints=[[0, 1]] on four columns means three things. LightGBM 4.6.0 and 4.7.0 never split by columns 2
# and 3, which no list names. XGBoost 3.2.0 and 3.4.1 split by them, each in branches of its own. scikit-learn 1.7.2
# splits by both in one branch, and is the only one whose documentation says what happens to columns without a list.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor

x = np.random.default_rng(0).normal(size=(2000, 4))
y = 2 * x[:, 2] + 3 * x[:, 2] * x[:, 3]

def errors(lists):
    light = {"verbose": -1, "num_threads": 1, "interaction_constraints": lists}
    stock = {"max_depth": 5, "nthread": 1, "interaction_constraints": str(lists)}
    other = HistGradientBoostingRegressor(max_iter=50, interaction_cst=lists).fit(x, y)
    found = {
        f"LightGBM {lgb.__version__}": lgb.train(light, lgb.Dataset(x, y), 50).predict(x),
        f"XGBoost {xgb.__version__}": xgb.train(stock, xgb.DMatrix(x, y), 50).predict(xgb.DMatrix(x)),
        f"scikit-learn {sklearn.__version__}": other.predict(x),
    }
    return {name: round(float(np.sqrt(np.mean((values - y) ** 2))), 2) for name, values in found.items()}

split, one, every = errors([[0, 1]]), errors([[0, 1], [2], [3]]), errors([[0, 1], [2, 3]])
print(f"root mean squared errors; the labels spread by {y.std():.2f}")
print(f"  [[0, 1]]           {split}\n  [[0, 1], [2], [3]] {one}\n  [[0, 1], [2, 3]]   {every}")
light, stock, other = split
assert split[light] > one[light] + 0.3, "the behaviour has changed"
assert split[stock] == one[stock] > 3 * every[stock], "the behaviour has changed"
assert split[other] == every[other] < one[other] / 3, "the behaviour has changed"
END
