"""Tells malignant from benign tumours: the scikit-learn wrapper, early stopping, and why one row got its prediction."""

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

data = load_breast_cancer()
x, x_test, y, y_test = train_test_split(data.data, data.target, test_size=0.3, random_state=0, stratify=data.target)
x_fit, x_stop, y_fit, y_stop = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)

model = xgb.XGBClassifier(
    tree_method="gpu_hist",
    n_estimators=500,
    learning_rate=0.1,
    max_depth=4,
    subsample=0.8,
    eval_metric="logloss",
    early_stopping_rounds=20,
)
model.fit(x_fit, y_fit, eval_set=[(x_stop, y_stop)], verbose=False)
auc = roc_auc_score(y_test, model.predict_proba(x_test)[:, 1])
print(f"stopped after {model.best_iteration + 1} rounds; AUC of held-out rows {auc:.4f}")

row = xgb.DMatrix(x_test[:1])
contributions = model.get_booster().predict(row, pred_contribs=True)[0]
largest = np.argsort(-np.abs(contributions[:-1]))[:3]
print("the first of them, in log odds:", ", ".join(f"{data.feature_names[f]} {contributions[f]:+.2f}" for f in largest))
assert auc > 0.95
