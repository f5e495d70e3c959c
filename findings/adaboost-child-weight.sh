#!/usr/bin/env bash
# scikit-learn 1.7.2's AdaBoostClassifier gives its estimator weights whose sum is 1. The hessians of all rows then sum
# to .25, and min_child_weight=1, the default of XGBoost 3.2.0, allows no split: every tree is one leaf, and the ensemble
# predicts one class for all rows without a word. LightGBM 4.6.0 (min_child_weight=.001), scikit-learn's own trees, and
# XGBoost with min_child_weight=0 learn.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "scikit-learn==1.7.2" "xgboost-cpu==3.2.0" "lightgbm==4.6.0" "numpy==2.2.6"
"$folder/venv/bin/python" - <<'END'
import warnings
import lightgbm as lgb, numpy as np, sklearn, xgboost as xgb
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier

warnings.filterwarnings("error", category=UserWarning, module="xgboost")  # a word of XGBoost would end this script
warnings.filterwarnings("ignore", message="X does not have valid feature names")
x, y = make_classification(2000, 10, n_informative=6, weights=[0.45], random_state=0)
base = {
    f"XGBoost {xgb.__version__}": xgb.XGBClassifier(n_estimators=5, max_depth=3),
    f"XGBoost {xgb.__version__}, min_child_weight=0": xgb.XGBClassifier(n_estimators=5, max_depth=3, min_child_weight=0),
    f"LightGBM {lgb.__version__}": lgb.LGBMClassifier(n_estimators=5, max_depth=3, verbose=-1),
    f"scikit-learn {sklearn.__version__}": GradientBoostingClassifier(n_estimators=5, max_depth=3),
}
for name, estimator in base.items():
    try:
        model = AdaBoostClassifier(estimator, n_estimators=5, random_state=0).fit(x, y)
        accuracy, classes = model.score(x, y), len(np.unique(model.predict(x)))
    except ValueError as error:
        accuracy, classes = str(error), 0
    print(f"AdaBoostClassifier of {name}: accuracy {accuracy}, {classes} classes predicted")
    learns = name != f"XGBoost {xgb.__version__}"
    assert (isinstance(accuracy, float) and accuracy > 0.8) == learns, "the behaviour has changed"
    if not learns:
        assert classes <= 1, "the behaviour has changed"
END
