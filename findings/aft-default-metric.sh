#!/usr/bin/env bash
# XGBoost 3.2.0 and 3.4.1 report aft-nloglik with aft_loss_distribution_scale=1 if nobody names the metric, though
# survival:aft trains with another scale. With eval_metric=aft-nloglik a training reports the loss that it minimises, and
# the booster that it returns reports the other number for the same rows. Early stopping and comparisons watch another
# loss than the one that is trained.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for version in 3.2.0 3.4.1; do
    "$python" -m venv "$folder/$version"
    "$folder/$version/bin/pip" -q install "xgboost-cpu==$version"
    "$folder/$version/bin/python" - <<'END'
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(500, 3)).astype(np.float32)
low = np.exp(x[:, 0] + 0.1 * rng.normal(size=500))
high = 2 * low
data = xgb.DMatrix(x)
data.set_float_info("label_lower_bound", low)
data.set_float_info("label_upper_bound", high)
how = {"tree_method": "hist", "objective": "survival:aft", "aft_loss_distribution": "logistic",
       "aft_loss_distribution_scale": 0.5, "base_score": 1.0, "max_depth": 3}

def loss(margin, scale):
    cdf = lambda time: 1 / (1 + np.exp(-(np.log(time) - margin) / scale))
    return -np.log(cdf(high) - cdf(low)).mean()

for named in ({}, {"eval_metric": "aft-nloglik"}):
    seen = {}
    booster = xgb.train({**how, **named}, data, 5, evals=[(data, "t")], evals_result=seen, verbose_eval=False)
    margin = booster.predict(data, output_margin=True).astype(float)
    training, after = seen["t"]["aft-nloglik"][-1], float(booster.eval(data).split(":")[1])
    half, one = loss(margin, 0.5), loss(margin, 1.0)
    print(f"XGBoost {xgb.__version__}, {named}: {training:.4f} in training, {after:.4f} after it; "
          f"by the formula {half:.4f} with scale 0.5, {one:.4f} with scale 1")
    assert abs(half - one) > 0.1
    assert abs(training - (half if named else one)) < 1e-4 and abs(after - one) < 1e-4, "the behaviour has changed"
END
done
