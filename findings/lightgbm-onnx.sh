#!/usr/bin/env bash
# onnxmltools 1.16.0 converts five kinds of models of LightGBM 4.6.0 and 4.7.0 without an error, and the ONNX models
# predict other numbers: boosting=rf gives the sum of the trees and not their mean, linear_tree the constants of the
# leaves, reg_sqrt the root of the prediction, sigmoid=2 the probability of sigmoid=1, multiclassova a softmax. Poisson,
# dart and models with categories are right.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "lightgbm==4.6.0" "onnxmltools==1.16.0" "onnxruntime==1.20.1" \
  "onnx==1.17.0" "skl2onnx==1.18.0" "scikit-learn==1.6.1" "numpy==2.2.6"
"$folder/venv/bin/python" 2>/dev/null <<'END'
import lightgbm as lgb, numpy as np, onnxmltools, onnxruntime
from onnxmltools.convert.common.data_types import FloatTensorType

rng = np.random.default_rng(0)
x = rng.normal(size=(1000, 3)).astype(np.float32)
x[:, 2] = rng.integers(0, 30, 1000)
y = 2 * x[:, 0] + np.abs(x[:, 1]) + 3 * np.sin(2 * x[:, 2])

for name, words, labels, agrees in (
    ("poisson", {"objective": "poisson"}, np.abs(y), True),
    ("dart", {"boosting": "dart"}, y, True),
    ("categories", {}, y, True),
    ("rf", {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}, y, False),
    ("linear_tree", {"linear_tree": True}, y, False),
    ("reg_sqrt", {"reg_sqrt": True}, np.abs(y), False),
    ("binary, sigmoid=2", {"objective": "binary", "sigmoid": 2}, y > 0, False),
    ("multiclassova", {"objective": "multiclassova", "num_class": 3}, np.digitize(y, [0, 2]), False),
):
    data = lgb.Dataset(x, labels, categorical_feature=[2] if name == "categories" else [])
    booster = lgb.train({"verbose": -1, "num_threads": 1, "seed": 1, **words}, data, 20)
    types = [("x", FloatTensorType([None, 3]))]
    converted = onnxmltools.convert_lightgbm(booster, initial_types=types, zipmap=False)
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    own, other = booster.predict(x), session.run(None, {"x": x})[-1]
    other = other[:, 1] if other.shape[1] == 2 else other.reshape(own.shape)
    error = np.abs(own - other).max()
    pair = [np.round(values[0].astype(float), 4) for values in (own, other)]
    print(
        f"{name}, row 0: LightGBM {lgb.__version__} {pair[0]}, onnxmltools {onnxmltools.__version__} {pair[1]}; "
        f"largest difference {error:.4f}"
    )
    assert error < 1e-4 if agrees else error > 0.05, "the behaviour has changed"
END
