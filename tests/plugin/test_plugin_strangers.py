"""Objectives and metrics of another plugin, registered after this library was loaded: they see what stock shows them.

Each case is a process of its own, because a registry forgets nothing. XGBGPU_STRANGER names the other plugin.
"""

import json
import os
import subprocess
import sys

import pytest

from helpers import device_info

STRANGER = os.environ.get("XGBGPU_STRANGER")
pytestmark = pytest.mark.skipif(not STRANGER, reason="XGBGPU_STRANGER is not set")

PROGRAM = """
import ctypes, json, os, sys
sys.path.insert(0, PACKAGE)
import numpy as np, xgboost as xgb
if METHOD != "hist":
    import xgboost_gpu
rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 5)).astype(np.float32)
y = x[:, 0] + np.abs(x[:, 1])
data, valid = xgb.DMatrix(x, y), xgb.DMatrix(x[:1500], y[:1500])  # valid: large enough to stay on a device
params = {"max_depth": 3, "tree_method": METHOD}
if METHOD != "hist":
    params["gpu_backend"] = BACKEND
def load():
    ctypes.CDLL(os.environ["XGBGPU_STRANGER"], ctypes.RTLD_GLOBAL)
def rounds(booster, first, n):
    found = []
    for i in range(first, first + n):
        booster.update(data, i)
        found.append(booster.eval_set([(data, "train"), (valid, "valid")], i))
    return found
CASE
print(json.dumps(found))
"""

CASES = {
    "its metric": """
load()
found = rounds(xgb.Booster({**params, "eval_metric": ["stranger_sum", "rmse"]}, [data, valid]), 0, 4)
""",
    "its metric, from the middle of a training on": """
booster = xgb.Booster({**params, "eval_metric": ["rmse"]}, [data, valid])
found = rounds(booster, 0, 3)
load()
booster.set_param({"eval_metric": "stranger_sum"})
found += rounds(booster, 3, 3)
""",
    "its objective, with its metric": """
load()
found = rounds(xgb.Booster({**params, "objective": "stranger:squares"}, [data, valid]), 0, 4)
""",
    "its objective, which sets leaves": """
load()
found = rounds(xgb.Booster({**params, "objective": "stranger:leaves", "subsample": 0.9}, [data, valid]), 0, 4)
""",
    "its objective, with ours as well": """
load()
found = rounds(xgb.Booster({**params, "objective": "stranger:squares", "eval_metric": "rmse"}, [data, valid]), 0, 4)
""",
    "its objective, from the middle of a training on": """
booster = xgb.Booster({**params, "eval_metric": ["rmse"]}, [data, valid])
found = rounds(booster, 0, 3)
load()
booster.set_param({"objective": "stranger:squares", "eval_metric": "stranger_sum"})
found += [booster.eval_set([(data, "train"), (valid, "valid")], 3)]
found += rounds(booster, 3, 3)
booster.set_param({"objective": "reg:squarederror"})
found += [booster.eval_set([(data, "train"), (valid, "valid")], 6)]
found += rounds(booster, 6, 2)
""",
    "a custom objective with its own": """
load()
booster = xgb.Booster({**params, "objective": "stranger:squares"}, [data, valid])
found = []
for i in range(4):
    booster.update(data, i, fobj=lambda p, d: (p - d.get_label(), np.ones_like(p)))
    found.append(booster.eval_set([(data, "train"), (valid, "valid")], i))
""",
}


def histories(case, method, backend):
    package = os.path.join(os.path.dirname(__file__), "..", "..", "python")
    program = PROGRAM.replace("CASE", CASES[case]).replace("METHOD", repr(method)).replace("BACKEND", repr(backend))
    program = program.replace("PACKAGE", repr(package))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout.splitlines()[-1])
    return [[float(entry.split(":")[1]) for entry in line.split("\t")[1:]] for line in lines]


@pytest.mark.parametrize("backend", ["host", "cuda"])
@pytest.mark.parametrize("case", CASES)
def test_they_see_what_stock_shows_them(case, backend):
    if backend == "cuda" and "cuda" not in device_info()["backends"]:
        pytest.skip("no device")
    found, expected = histories(case, "gpu_hist", backend), histories(case, "hist", backend)
    assert len(found) == len(expected)
    for ours, stock in zip(found, expected):
        # Cuts are not the same, so trees are only alike; an empty vector would make a sum of 0 instead of thousands.
        assert ours == pytest.approx(stock, rel=0.02, abs=0.02)
