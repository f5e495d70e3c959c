#!/usr/bin/env bash
# perpetual 2.3.0 trains HuberLoss and AdaptiveHuberLoss on labels from 93 to 107 without outliers, and predicts up to
# 4,410,450,000: the losses against outliers make them. It says nothing. SquaredLoss and AbsoluteLoss of the same rows
# are right.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "perpetual==2.3.0" "scikit-learn==1.7.2" "numpy==2.2.6"
"$folder/venv/bin/python" 2>/dev/null - <<'END'
import importlib.metadata, numpy as np
from perpetual import PerpetualBooster

x = np.random.default_rng(0).normal(size=(500, 3))
y = 2 * x[:, 0] + np.abs(x[:, 1]) + 100
print(f"perpetual {importlib.metadata.version('perpetual')}, labels from {y.min():.1f} to {y.max():.1f}")
for loss, agrees in (("SquaredLoss", True), ("AbsoluteLoss", True), ("HuberLoss", False), ("AdaptiveHuberLoss", False)):
    booster = PerpetualBooster(objective=loss, budget=0.3, num_threads=1)
    booster.fit(x, y)
    found = booster.predict(x)
    far = np.mean(np.abs(found - y) > 10)
    print(f"{loss}: predictions from {found.min():.6g} to {found.max():.6g}; {far:.0%} of rows off by more than 10")
    assert far == 0 if agrees else np.abs(found).max() > 1e6, "the behaviour has changed"
END
