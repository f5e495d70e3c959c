"""What the library says about the memory of trainings."""

import ctypes
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import xgboost as xgb

from helpers import booster, device_info, make_regression

INFO = device_info()


def memory_report():
    function = ctypes.CDLL(os.environ["XGBGPU_LIBRARY"]).XGBGPUMemoryReport
    function.restype = ctypes.c_char_p
    return json.loads(function())


@pytest.fixture(params=["host", "cuda"])
def params(request):
    if request.param == "cuda" and not INFO["devices"]:
        pytest.skip(f"no test on CUDA: {INFO['why_no_cuda']}")
    return {"tree_method": "gpu_hist", "gpu_backend": request.param}


def test_nobody_trains(params):
    data = xgb.DMatrix(*make_regression())
    xgb.Booster(params, [data])
    booster({"tree_method": "hist"}, data, 1)
    assert memory_report() == []


def test_a_training_is_reported_while_its_booster_lives(params):
    data = xgb.DMatrix(*make_regression(rows=700, columns=4))
    model = booster(params, data, 1)
    (training,) = memory_report()
    assert training["backend"] == params["gpu_backend"]
    assert training["device"] == (0 if params["gpu_backend"] == "cuda" else None)
    assert training["devices"] == (1 if params["gpu_backend"] == "cuda" else 0)
    assert (training["rows"], training["columns"]) == (700, 4)
    # A byte for every value at least; 8 bytes for every row's gradient or its place in a node.
    assert training["dataset_bytes"] >= 700 * 4
    assert training["training_bytes"] >= 700 * 8
    assert training["training_bytes"] == sum(training["parts"].values())
    assert training["peak_bytes"] >= training["training_bytes"]
    assert "gradients" in training["parts"]
    assert all(size >= 0 for size in training["parts"].values())
    del model
    assert memory_report() == []


def test_a_round_refreshes_the_report(params):
    data = xgb.DMatrix(*make_regression(rows=5000))
    model = booster({**params, "max_depth": 1}, data, 1)
    shallow = memory_report()[0]
    model.set_param({"max_depth": 10})
    assert memory_report() == [shallow]
    model.update(data, 1)
    deep = memory_report()[0]
    assert deep["training_bytes"] > shallow["training_bytes"]
    assert deep["dataset_bytes"] == shallow["dataset_bytes"]
    model.update(data, 2)
    assert memory_report()[0]["peak_bytes"] >= deep["peak_bytes"]


def test_several_trainings(params):
    """Oldest first; two on one matrix share it; the training on a matrix ends with it."""
    small, large = (xgb.DMatrix(*make_regression(rows=rows)) for rows in (300, 600))
    first = booster(params, small, 1)
    second = booster(params, large, 1)
    third = booster(params, large, 1)
    report = memory_report()
    assert [training["rows"] for training in report] == [300, 600, 600]
    assert report[1] == report[2]
    first.update(large, 1)
    assert sorted(training["rows"] for training in memory_report()) == [300, 600, 600, 600]
    del small
    first.predict(large)  # what belongs to matrices that are gone goes at the next call
    assert [training["rows"] for training in memory_report()] == [600, 600, 600]
    del first, second, third
    assert memory_report() == []


def test_reports_from_other_threads_while_boosters_train(params):
    stop = threading.Event()
    wrong = []

    def watch():
        while not stop.is_set():
            for training in memory_report():
                if training["training_bytes"] != sum(training["parts"].values()) or training["rows"] != 2000:
                    wrong.append(training)

    def train(seed):
        for _ in range(3):
            booster({**params, "nthread": 1}, xgb.DMatrix(*make_regression(rows=2000, seed=seed)), 10)

    watchers = [threading.Thread(target=watch) for _ in range(2)]
    trainers = [threading.Thread(target=train, args=(seed,)) for seed in range(3)]
    for thread in watchers + trainers:
        thread.start()
    for thread in trainers:
        thread.join()
    stop.set()
    for thread in watchers:
        thread.join()
    assert wrong == []
    assert memory_report() == []


# Prints the first line of each error of memory that a task meets while it is given half a MB more each time.
SHORT_OF_MEMORY = """
import os, resource, sys
import numpy as np, xgboost as xgb, xgboost_gpu
xgboost_gpu.build_info()
method, task = sys.argv[1:]
values = np.random.default_rng(0).normal(size=(200_000, 8)).astype("float32")
label = values[:, 0] > 0
data, small = xgb.DMatrix(values, label), xgb.DMatrix(values[:100], label[:100])
foreign = values.astype(">f4")  # of which the adapter makes a copy in this machine's order of bytes
params = {"tree_method": method, "gpu_backend": "host", "nthread": 2, "objective": "binary:logistic"}
model = xgb.train(params, small, 3)  # what a process needs once is there
for how in ({}, {"pred_contribs": True}):
    model.predict(small, **how)
if task == "train":
    model = xgb.Booster(params, [data])
tasks = {
    "copy": lambda: xgb.DMatrix(foreign),
    "train": lambda: model.update(data, 0),
    "predict": lambda: model.predict(data),
    "contributions": lambda: model.predict(data, pred_contribs=True),
}
for extra in range(0, 64 << 20, 1 << 19):
    used = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, resource.RLIM_INFINITY))
    try:
        tasks[task]()
        break
    except xgb.core.XGBoostError as error:
        print(str(error).splitlines()[0])
    except MemoryError:
        pass  # of numpy
else:
    raise SystemExit("nothing was enough")
"""


def errors_of_memory(method, task):
    package = str(Path(__file__).resolve().parents[2] / "python")
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "PYTHONPATH": package}
    command = [sys.executable, "-c", SHORT_OF_MEMORY, method, task]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(done.stdout.splitlines())


def test_an_error_of_the_adapter_s_memory_says_how_much_was_asked_for():
    """Stock code makes the matrix of the copy, and has no sizes in its errors."""
    lines = errors_of_memory("gpu_hist", "copy")
    assert "xgboost-gpu: out of memory while copying an array: the system refuses 6400000 bytes" in lines
    assert not [line for line in lines if "xgboost-gpu: out of memory" in line and "6400000 bytes" not in line]


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
@pytest.mark.parametrize("task", ["train", "predict", "contributions"])
def test_an_error_of_memory_says_how_much_was_asked_for(method, task):
    lines = errors_of_memory(method, task)
    for line in lines:
        assert re.match(r"xgboost-gpu: out of memory while .*: .* \d{4,} bytes", line), line
    if task == "train":
        first = "quantiles of the data" if method == "gpu_hist" else "sorted columns of the data"
        assert any(first in line for line in lines), lines
    elif task == "contributions":
        assert lines
