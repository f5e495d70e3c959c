#!/usr/bin/env bash
# XGBoost 3.0.0, 3.2.0 and 3.4.1, rank:pairwise and rank:ndcg: after set_group (or set_info with qid) in the middle of a training,
# further trees still learn the pairs of the old groups, and say nothing. XGBoost 1.7.4 learns the new groups.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgboost-cpu==3.2.0 numpy==2.2.6
"$folder/env/bin/python" <<'END'
import numpy as np, xgboost as xgb

rng = np.random.default_rng(0)
rows = 400
x = rng.normal(size=(rows, 4)).astype(np.float32)
y = rng.integers(0, 4, rows)
large, small = [100] * 4, [10] * 40

def predictions(objective, how):
    data = xgb.DMatrix(x, y)
    data.set_group(large)
    words = {"objective": objective, "lambdarank_pair_method": "topk", "max_depth": 3, "nthread": 1}
    booster = xgb.Booster(words, [data])
    booster.update(data, 0)
    if how == "a new matrix":
        data = xgb.DMatrix(x, y)
    if how != "old groups":
        data.set_group(small)
    for number in range(1, 4):
        booster.update(data, number)
    return booster.predict(xgb.DMatrix(x))

for objective in ("rank:pairwise", "rank:ndcg"):
    changed = predictions(objective, "set_group")
    new, old = (abs(changed - predictions(objective, how)).max() for how in ("a new matrix", "old groups"))
    print(f"XGBoost {xgb.__version__}, {objective}: after set_group predictions differ by up to {new:.2f} from those with a new matrix, and by {old:.2f} from those with the old groups")
    assert new > 0.1 and old == 0, "the behaviour has changed"
END
