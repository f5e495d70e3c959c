"""A column of categories as it is: pandas' category type, no one-hot encoding."""

import numpy as np
import pandas as pd
import xgboost as xgb
import xgboost_gpu  # noqa: F401  (makes tree_method="gpu_hist" work)

rng = np.random.default_rng(0)
rows = 8000
towns = np.array([f"town {i:03d}" for i in range(120)])
level = rng.normal(size=len(towns))  # what each town adds; its number tells nothing about it
town = rng.integers(0, len(towns), rows)
area = rng.uniform(20, 200, rows)
price = area * (2 + 0.5 * level[town]) + 10 * rng.normal(size=rows)
table = pd.DataFrame({"area": area, "town": pd.Categorical(towns[town], categories=towns)})
train, test = table[:6000], table[6000:]


def error(settings: dict, encode) -> float:
    model = xgb.train(
        {"tree_method": "gpu_hist", "eta": 0.1, **settings},
        xgb.DMatrix(encode(train), price[:6000], enable_categorical=True),
        150,
    )
    predicted = model.predict(xgb.DMatrix(encode(test), enable_categorical=True))
    return float(np.sqrt(np.mean((predicted - price[6000:]) ** 2)))


as_categories = error({"max_cat_to_onehot": 5}, lambda part: part)
as_numbers = error({}, lambda part: part.assign(town=part["town"].cat.codes))
print(f"root mean square error: {as_categories:.2f} with categories, {as_numbers:.2f} with their numbers")
assert as_categories < as_numbers
