#!/usr/bin/env bash
# XGBoost 3.4.1, a QuantileDMatrix of a DataIter: batches that list the same categories in another order are taken by their
# numbers, without a word, though XGBoost knows the names since 3.1. The model is not that of the same rows in one frame.
# Batches with more or fewer categories are an error.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/env"
"$folder/env/bin/pip" -q install "numpy==2.2.6" "scipy==1.15.3" "pandas==2.3.3"
"$folder/env/bin/pip" -q install --no-deps --ignore-requires-python "xgboost-cpu==3.4.1"
"$folder/env/bin/python" <<'END'
import pandas as pd, xgboost as xgb

values = {"b": 1.0, "d": 5.0, "f": 9.0}
rows = ["b", "d", "f"] * 20
how = {"tree_method": "hist", "max_depth": 3, "eta": 1, "lambda": 0, "nthread": 1, "base_score": 0}

def frame(names, categories):
    return pd.DataFrame({"c": pd.Categorical(names, categories=categories)})

class Batches(xgb.DataIter):
    def __init__(self, orders):
        self.orders, self.at = orders, 0
        super().__init__()

    def next(self, input_data):
        if self.at == len(self.orders):
            return 0
        input_data(data=frame(rows, self.orders[self.at]), label=[values[r] for r in rows])
        self.at += 1
        return 1

    def reset(self):
        self.at = 0

def predicted(*orders):
    booster = xgb.train(how, xgb.QuantileDMatrix(Batches(orders), enable_categorical=True), 1)
    test = xgb.DMatrix(frame(["b", "d", "f"], ["b", "d", "f"]), enable_categorical=True)
    return [float(p) for p in booster.predict(test)]

same, mixed = predicted(["b", "d", "f"], ["b", "d", "f"]), predicted(["b", "d", "f"], ["f", "d", "b"])
print(f"XGBoost {xgb.__version__}, labels of b, d, f: 1, 5, 9. Batches of one order predict {same}, batches of two orders {mixed}")
assert same == [1.0, 5.0, 9.0] and mixed == [5.0, 5.0, 5.0], "the behaviour has changed"
try:
    predicted(["b", "d", "f"], ["b", "d", "f", "g"])
except xgb.core.XGBoostError as error:
    print("a category more in the second batch:", str(error).splitlines()[0][:120])
else:
    raise AssertionError("the behaviour has changed: another number of categories is no error any more")
END
