#!/usr/bin/env bash
# Treelite 4.6.1 imports a GradientBoostingClassifier with loss="exponential" of scikit-learn 1.7.2, and gives other
# probabilities: it takes 1 / (1 + e^-m) of the margin m, where scikit-learn takes 1 / (1 + e^-2m). Classes are the same, and
# probabilities up to .15 nearer to one half. With loss="log_loss" both agree.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "treelite==4.6.1" "scikit-learn==1.7.2"
"$folder/venv/bin/python" - <<'END'
import numpy as np, sklearn, treelite
from sklearn.ensemble import GradientBoostingClassifier

x = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 5] > 0).astype(int)

def logistic(margins):
    return 1 / (1 + np.exp(-margins))

print("Treelite", treelite.__version__, "and scikit-learn", sklearn.__version__)
for loss in ("log_loss", "exponential"):
    model = GradientBoostingClassifier(n_estimators=10, loss=loss, random_state=0).fit(x, y)
    own, margins = model.predict_proba(x)[:, 1], model.decision_function(x)
    read = np.asarray(treelite.gtil.predict(treelite.sklearn.import_model(model), x)).reshape(-1)
    most = np.abs(read - own).max()
    print(f"{loss}: probabilities differ by up to {most:.3f}; {((read > 0.5) != (own > 0.5)).sum()} of 300 classes differ")
    assert np.allclose(read, logistic(margins)), "the behaviour has changed"
    assert np.allclose(own, logistic(2 * margins if loss == "exponential" else margins)), "the behaviour has changed"
    assert (most > 0.1) == (loss == "exponential"), "the behaviour has changed"
END
