"""What the tests of this folder share."""

import ctypes
import json
import os
import subprocess
import sys

import numpy as np
import xgboost as xgb


def device_info():
    """What the library says of devices."""
    function = ctypes.CDLL(os.environ["XGBGPU_LIBRARY"]).XGBGPUDeviceInfo
    function.restype = ctypes.c_char_p
    return json.loads(function())


def make_regression(rows=300, columns=5, seed=0, missing=0.1):
    """Rows with a learnable label and some missing values."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    label = (values[:, 0] * 2 + np.abs(values[:, 1]) + 0.1 * rng.normal(size=rows)).astype(np.float32)
    values[rng.random(values.shape) < missing] = np.nan
    return values, label


def section(booster):
    """The part of the configuration that describes the gbtree."""
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
    """Unlike xgb.train, without the copy at the end."""
    result = xgb.Booster(params, [data])
    for i in range(rounds):
        result.update(data, i)
    return result
