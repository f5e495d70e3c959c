"""What the tests of this folder share."""

import ctypes
import json
import os
import subprocess
import sys
import threading

import numpy as np
import xgboost as xgb


def device_info():
    """Returns what the library says about devices."""
    function = ctypes.CDLL(os.environ["XGBGPU_LIBRARY"]).XGBGPUDeviceInfo
    function.restype = ctypes.c_char_p
    return json.loads(function())


def make_regression(rows=300, columns=5, seed=0, missing=0.1):
    """Makes rows with a learnable label and some missing values."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    label = (values[:, 0] * 2 + np.abs(values[:, 1]) + 0.1 * rng.normal(size=rows)).astype(np.float32)
    values[rng.random(values.shape) < missing] = np.nan
    return values, label


def section(booster):
    """Returns the part of the configuration that describes the gbtree."""
    config = json.loads(booster.save_config())["learner"]["gradient_booster"]
    return config.get("gbtree", config)


def trees(booster):
    return json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]


def without_plugin(code, *arguments):
    """Runs Python code in a process that has only the stock XGBoost; returns what it printed."""
    environment = {k: v for k, v in os.environ.items() if k not in ("XGBGPU_LIBRARY", "LD_PRELOAD")}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def booster(params, data, rounds):
    """Trains a booster without the copy that xgb.train makes at the end."""
    result = xgb.Booster(params, [data])
    for i in range(rounds):
        result.update(data, i)
    return result


def in_threads(params, matrices, rounds):
    """Trains a booster for each matrix at the same time. Returns the trees of each, or its error."""
    found = [None] * len(matrices)

    def train(i):
        try:
            found[i] = trees(booster(params, matrices[i], rounds))
        except xgb.core.XGBoostError as error:
            found[i] = str(error)  # callers compare it

    threads = [threading.Thread(target=train, args=(i,)) for i in range(len(matrices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def log_of(params, code=""):
    """Returns the lines that a training in a new process prints. `code` runs after it."""
    program = f"""
import ctypes, os, pickle
ctypes.CDLL(os.environ["XGBGPU_LIBRARY"])
import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
values = rng.normal(size=(60, 3))
data = xgb.DMatrix(values, values[:, 0])
params = {params!r}
booster = xgb.train(params, data, 3)
{code}
"""
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
