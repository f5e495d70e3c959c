#!/usr/bin/env bash
# XGBoost 3.2.0 and 3.4.1: xgb.cv of ranked groups forgets the weights of groups, and says nothing. Weights of 0.001 and
# 100 give the table of no weights. xgb.train counts them in trees and in ndcg, and xgb.cv of data without groups counts
# weights of rows. DMatrix.slice(allow_groups=True) is the cause: the slice has no weights.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "xgboost-cpu==3.2.0" "pandas==2.3.3"
"$folder/venv/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(600, 4))
y = (x[:, 0] + rng.normal(size=600) > 0).astype(int)
group = np.repeat(np.arange(60), 10)
x[:, 1] += y * (group % 2) * 3  # groups with an odd number are easy
weight = np.where(np.arange(60) % 2, 100.0, 0.001)
ranked = {"objective": "rank:ndcg", "eval_metric": "ndcg", "max_depth": 3, "nthread": 1}
plain = {"objective": "binary:logistic", "eval_metric": "logloss", "max_depth": 3, "nthread": 1}

def matrix(ranks, weighted):
    if ranks:
        return xgb.DMatrix(x, y, qid=group, weight=weight if weighted else None)
    return xgb.DMatrix(x, y, weight=weight[group] if weighted else None)

def folds(weighted, ranks=True):
    table = xgb.cv(ranked if ranks else plain, matrix(ranks, weighted), 5, nfold=3, seed=1)
    return table, round(float(table.iloc[-1]["test-ndcg-mean" if ranks else "test-logloss-mean"]), 4)

def trained(weighted):
    found, data = {}, matrix(True, weighted)
    xgb.train(ranked, data, 5, evals=[(data, "rows")], evals_result=found, verbose_eval=False)
    return round(found["rows"]["ndcg"][-1], 4)

(none, first), (weights, second) = folds(False), folds(True)
rows = [folds(weighted, ranks=False)[1] for weighted in (False, True)]
print(f"XGBoost {xgb.__version__}, without and with weights of groups: xgb.cv says an ndcg of {first} and {second},")
print(f"xgb.train {trained(False)} and {trained(True)}. Weights of rows, logloss: xgb.cv says {rows[0]} and {rows[1]}")
part = matrix(True, True).slice(np.arange(50), allow_groups=True)
print(f"weights in a slice of five groups: {len(part.get_weight())}")
assert none.equals(weights) and len(part.get_weight()) == 0, "the behaviour has changed"
assert trained(True) - trained(False) > 0.01 and rows[0] - rows[1] > 0.1, "the behaviour has changed"
END
