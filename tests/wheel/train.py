"""Trains models, and prints the XGBoost, the library and the models as hashes. `train.py first` imports xgboost_gpu first."""

import hashlib
import json
import sys

if sys.argv[1:] == ["first"]:
    import xgboost_gpu
    import xgboost
else:
    import xgboost
    import xgboost_gpu

import numpy as np

xgboost.set_config(verbosity=0)
draw = np.random.RandomState(7)
values = draw.normal(size=(400, 6)).astype(np.float32)
values[draw.uniform(size=values.shape) < 0.1] = np.nan
score = np.nan_to_num(values[:, 0] * values[:, 1] - values[:, 2])
data = {"binary:logistic": score > 0, "reg:squarederror": score, "multi:softprob": np.digitize(score, [-1, 1])}
models = {}
for objective, labels in data.items():
    for method in ("gpu_hist", "gpu_exact"):
        parameters = {
            "tree_method": method,
            "objective": objective,
            "base_score": 0.5,
            "subsample": 0.7,
            "seed": 3,
            "max_depth": 5,
        }
        if objective == "multi:softprob":
            parameters["num_class"] = 3
        matrix = xgboost.DMatrix(values, labels)
        booster = xgboost.train(parameters, matrix, 8)
        text = "".join(booster.get_dump(with_stats=True, dump_format="json")).encode()
        models[f"{method} {objective}"] = hashlib.sha256(text + booster.predict(matrix).tobytes()).hexdigest()
print(json.dumps({"xgboost": xgboost.__version__, "library": xgboost_gpu.build_info()["library"], "models": models}))
