"""A random forest: many trees side by side in one round, each on a sample of rows and columns."""

import numpy as np
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

x, y = load_digits(return_X_y=True)
x, x_test, y, y_test = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)

forest = xgb.XGBRFClassifier(
    tree_method="gpu_hist", n_estimators=50, max_depth=8, subsample=0.8, colsample_bynode=0.3, random_state=0
)
forest.fit(x, y)
accuracy = float(np.mean(forest.predict(x_test) == y_test))
pixel = int(np.argmax(forest.feature_importances_))
trees = len(forest.get_booster().get_dump())
print(f"{trees} trees for 10 digits; {accuracy:.1%} of the held-out images right")
print(f"the pixel that tells most: row {pixel // 8}, column {pixel % 8}")
assert accuracy > 0.9
