#!/usr/bin/env bash
# XGBoost 3.2.0 draws the pairs of lambdarank_pair_method=mean alike whatever `seed` is: two seeds give one model. A
# sample of rows does follow the seed. So a mean over seeds of such rankings is a mean over one model.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 5)).astype(np.float32)
labels = np.clip((x[:, 0] + rng.normal(size=2000)).round() + 1, 0, 4)
data = xgb.DMatrix(x, labels, qid=np.arange(2000) // 50)
how = {"objective": "rank:ndcg", "lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 1, "nthread": 1}

def models(**more):
    dumps = [xgb.train({**how, **more, "seed": seed}, data, 5).get_dump() for seed in (1, 2)]
    return "one model" if dumps[0] == dumps[1] else "two models"

print(f"XGBoost {xgb.__version__}, seeds 1 and 2: drawn pairs alone {models()}, with subsample=0.5 {models(subsample=0.5)}")
assert models() == "one model" and models(subsample=0.5) == "two models", "the behaviour has changed"
END
