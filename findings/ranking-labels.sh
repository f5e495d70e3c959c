#!/usr/bin/env bash
# XGBoost 3.2.0, rank:ndcg: after set_label in the middle of a training, the next tree learns the new labels with the ideal
# DCG of the old ones. A new matrix with the new labels gives another tree.
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
x = rng.normal(size=(rows, 3)).astype(np.float32)
old, group = rng.integers(0, 4, rows), np.arange(rows) // 20
new = np.where(group < 10, old, old // 2)  # other gains in half of the groups

def second_tree(how):
    data = xgb.DMatrix(x, old, qid=group)
    words = {"objective": "rank:ndcg", "lambdarank_pair_method": "topk", "max_depth": 3, "nthread": 1}
    booster = xgb.Booster(words, [data])
    booster.update(data, 0)
    if how == "set_label":
        data.set_label(new)
    else:
        data = xgb.DMatrix(x, new, qid=group)
    booster.update(data, 1)
    return booster.predict(xgb.DMatrix(x))

difference = abs(second_tree("set_label") - second_tree("a new matrix")).max()
print(f"XGBoost {xgb.__version__}: set_label and a new matrix of the same labels differ by up to {difference:.4f}")
assert difference > 1e-3, "the behaviour has changed"
assert abs(second_tree("a new matrix") - second_tree("a new matrix")).max() == 0
END
