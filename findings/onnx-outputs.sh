#!/usr/bin/env bash
# onnxmltools 1.16.0 converts a regressor of XGBoost 3.2.0 with two targets, or two quantiles, without an error. The ONNX
# model predicts other numbers for the first output, and 0 for the second.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install xgboost-cpu==3.2.0 onnxmltools==1.16.0 onnxruntime==1.20.1 onnx==1.17.0 skl2onnx==1.18.0 \
  scikit-learn==1.6.1 numpy==2.2.6
"$folder/env/bin/python" 2>/dev/null <<'END'
import numpy as np, onnxmltools, onnxruntime, xgboost as xgb
from onnxmltools.convert.common.data_types import FloatTensorType

x = np.arange(40, dtype=np.float32).reshape(-1, 1)
targets = np.stack([100 + x[:, 0], 200 - x[:, 0]], 1)

def by_onnx(fitted):
    converted = onnxmltools.convert_xgboost(fitted, initial_types=[("x", FloatTensorType([None, 1]))])
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]

for name, words, y in (
    ("two targets", {}, targets),
    ("two quantiles", {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.9]}, targets[:, 0]),
    ("one target", {}, targets[:, 0]),
):
    fitted = xgb.XGBRegressor(n_estimators=3, max_depth=2, base_score=5.0, **words).fit(x, y)
    own, other = fitted.predict(x), by_onnx(fitted).reshape(fitted.predict(x).shape)
    print(f"XGBoost {xgb.__version__}, {name}, row 0: {own[0]}; onnxmltools {onnxmltools.__version__}: {other[0]}")
    if own.ndim == 1:
        assert np.allclose(own, other, atol=1e-3), "the behaviour has changed"
    else:
        assert np.all(other[:, 1] == 0) and np.all(np.abs(own - other)[:, 0] > 1), "the behaviour has changed"
END
