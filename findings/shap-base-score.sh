#!/usr/bin/env bash
# SHAP 0.49.1 with XGBoost 3.2.0: TreeExplainer fails on every model,
# also on one that XGBoost 2.1.4 wrote, since it reads the booster's own bytes, in which the base score is a list.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/old"
"$folder/old/bin/pip" -q install xgboost-cpu==2.1.4
"$python" -m venv "$folder/new"
"$folder/new/bin/pip" -q install xgboost-cpu==3.2.0 shap==0.49.1
"$folder/old/bin/python" - "$folder" <<'END'
import sys
import numpy as np, xgboost as xgb
x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
xgb.train({"max_depth": 2}, xgb.DMatrix(x, label=x[:, 0]), 3).save_model(sys.argv[1] + "/model.json")
END
"$folder/new/bin/python" - "$folder" 2>/dev/null <<'END'
import sys
import numpy as np, shap, xgboost as xgb
booster = xgb.Booster(model_file=sys.argv[1] + "/model.json")
try:
    shap.TreeExplainer(booster)
    sys.exit(print("the behaviour has changed: SHAP explains the model") or 1)
except ValueError as error:
    print(f"SHAP {shap.__version__}, XGBoost {xgb.__version__}, a model of 2.1.4: ValueError: {error}")
    assert "could not convert string to float: '[" in str(error), "the behaviour has changed"
END
