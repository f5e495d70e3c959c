#!/usr/bin/env bash
# Code that CatBoost 1.2.8 writes for a model (save_model with format="python") ignores nan_mode="Max": a missing value goes
# left at every split, where the model sends it right. The file has no word of it. With nan_mode="Min", the default, both
# agree. A model saved as JSON and loaded again predicts as before.
set -euo pipefail
python=${1:-${PYTHON:-python3}}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "catboost==1.2.8"
cd "$folder"
"$folder/venv/bin/python" - <<'END'
import catboost, numpy as np

x = np.random.default_rng(0).normal(size=(300, 2))
x[::5, 0] = np.nan
y = np.where(np.isnan(x[:, 0]), 5, x[:, 0])  # a missing value is the largest label
rows = [[np.nan, 0.0], [3.0, 0.0], [-3.0, 0.0]]
print("CatBoost", catboost.__version__, "- predictions of a missing value, 3 and -3")
differ = {}
for mode in ("Min", "Max"):
    model = catboost.CatBoostRegressor(
        iterations=20, depth=3, nan_mode=mode, verbose=0, allow_writing_files=False, thread_count=1
    ).fit(x, y)
    model.save_model("model.py", format="python")
    model.save_model("model.json", format="json")
    code = {}
    exec(open("model.py", encoding="utf-8").read(), code)
    of_code = np.array([code["apply_catboost_model"](row) for row in rows])
    of_model, of_json = model.predict(rows), catboost.CatBoost().load_model("model.json", format="json").predict(rows)
    print(f"nan_mode={mode}: model {of_model.round(3)}, JSON {of_json.round(3)}, code {of_code.round(3)}")
    assert np.allclose(of_json, of_model), "the behaviour has changed"
    differ[mode] = np.abs(of_code - of_model).round(3).tolist()
assert differ["Min"] == [0, 0, 0], "the behaviour has changed"
assert differ["Max"][0] > 5 and differ["Max"][1:] == [0, 0], "the behaviour has changed"
END
