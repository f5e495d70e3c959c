#!/usr/bin/env bash
# XGBoost 3.2.0 and 3.4.1 save the position biases of lambdarank_unbiased in a model, and a training that goes on from the model
# begins with biases of 1 all the same: two rounds and three more give other trees than five rounds. Booster.update with the
# number of rounds that the model has is an error ("Check failed: iter == 0").
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0"
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import json
import numpy as np, xgboost as xgb
rng = np.random.default_rng(12)
groups = [12, 1, 40, 25, 2] * 12
place = np.concatenate([np.arange(size) for size in groups])
x = np.round(rng.normal(size=(len(place), 3)), 1)
clicks = np.clip(np.floor(x[:, 0] + 2.5 / (1 + place) + rng.normal(size=len(place)) + 1), 0, 4)
data = xgb.DMatrix(x, clicks)
data.set_group(groups)
how = dict(objective="rank:ndcg", lambdarank_unbiased=1, max_depth=3, tree_method="hist", nthread=1)

whole = xgb.train(how, data, 5).get_dump()
xgb.train(how, data, 2).save_model("half.json")
saved = json.load(open("half.json"))["learner"]["objective"]["ti+"]
rest = xgb.train(how, data, 3, xgb_model="half.json").get_dump()
equal = [one == other for one, other in zip(rest, whole)]
booster = xgb.Booster(how, [data])
booster.load_model("half.json")
try:
    booster.update(data, 2)
    error = "none"
except xgb.core.XGBoostError as thrown:
    error = "iter == 0" if "iter == 0" in str(thrown) else "another"
print(f"XGBoost {xgb.__version__}: biases in the file {np.round(saved[:3], 2)}; trees as without a stop: {equal}; update(data, 2): {error}")
assert len(set(saved)) > 1 and equal[:2] == [True, True] and not all(equal) and error == "iter == 0", "the behaviour has changed"
END
