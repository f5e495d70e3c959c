"""On a CUDA device: where a training runs, what is said about it, and that it is the host's model. Skipped without one."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import xgboost as xgb

from helpers import booster, device_info, in_threads, log_of, make_regression, section, trees

INFO = device_info()
DEVICES = len(INFO["devices"])
pytestmark = pytest.mark.skipif(DEVICES == 0, reason=f"no test on CUDA: {INFO['why_no_cuda']}")
HOST = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 4}
CUDA = {**HOST, "gpu_backend": "cuda"}


@pytest.fixture
def data(regression):
    return xgb.DMatrix(*regression)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"objective": "binary:logistic", "subsample": 0.5, "colsample_bynode": 0.6},
        {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 20},
        {"num_parallel_tree": 3, "subsample": 0.7},
        {"booster": "dart", "rate_drop": 0.3},
        {"objective": "reg:absoluteerror"},
        {"max_bin": 1000, "reg_alpha": 0.1},
    ],
    ids=str,
)
def test_one_model(regression, more):
    values, label = regression
    if more.get("objective") == "binary:logistic":
        label = label > 0
    models = [booster({**params, **more}, xgb.DMatrix(values, label), 6) for params in (HOST, CUDA)]
    assert trees(models[0]) == trees(models[1])
    found = [model.predict(xgb.DMatrix(values)) for model in models]
    np.testing.assert_array_equal(found[0], found[1])


def test_margins_of_the_user_that_equal_the_base_score(regression):
    """Those of the base score are made on the device, those of the user are brought there."""
    values, label = regression
    params = {**CUDA, "base_score": 0.25}
    given = xgb.DMatrix(values, label, base_margin=np.full(len(label), 0.25, np.float32))
    own = xgb.train(params, xgb.DMatrix(values, label), 3)
    assert trees(own) == trees(xgb.train(params, given, 3))
    assert trees(own) != trees(xgb.train({**params, "base_score": 0.5}, xgb.DMatrix(values, label), 3))


def test_one_model_of_many_classes(regression):
    values, label = regression
    params = {"objective": "multi:softprob", "num_class": 3}
    matrix = xgb.DMatrix(values, np.digitize(label, [-0.5, 1.0]))
    host, cuda = (booster({**where, **params}, matrix, 4) for where in (HOST, CUDA))
    assert trees(host) == trees(cuda)
    np.testing.assert_array_equal(host.predict(matrix), cuda.predict(matrix))


def test_one_model_from_a_quantile_matrix(regression):
    host, cuda = (booster(params, xgb.QuantileDMatrix(*regression, max_bin=32), 4) for params in (HOST, CUDA))
    assert trees(host) == trees(cuda)


def test_a_booster_changes_places(data):
    """Every round elsewhere: trees and cached predictions go on as if nothing had happened."""
    expected = booster(HOST, data, 6)
    moving = xgb.Booster(HOST, [data])
    for number in range(6):
        moving.set_param({"gpu_backend": ("host", "cuda", "auto")[number % 3], "gpu_id": number % DEVICES})
        moving.update(data, number)
        np.testing.assert_array_equal(moving.predict(data), moving.predict(xgb.DMatrix(make_regression()[0])))
    assert trees(moving) == trees(expected)


@pytest.mark.parametrize("params", [CUDA, {**CUDA, "gpu_backend": "auto"}, {**CUDA, "gpu_id": DEVICES - 1}], ids=str)
def test_nothing_is_said_without_reason(params):
    assert log_of(params, "booster.update(data, 3); booster.copy().predict(data)") == []


def test_an_ordinal_beyond_the_devices_wraps_with_one_line():
    lines = log_of({**CUDA, "gpu_id": DEVICES}, "xgb.train(params, data, 2)")
    assert len(lines) == 1
    assert f"gpu_id is {DEVICES}" in lines[0] and "training on device 0" in lines[0]


def test_an_ordinal_beyond_the_devices_may_be_an_error(data):
    strict = {"fail_on_invalid_gpu_id": True}
    with pytest.raises(xgb.core.XGBoostError, match=f"gpu_id is '{DEVICES}'; allowed with fail_on_invalid_gpu_id: -1 to {DEVICES - 1}"):
        booster({**CUDA, **strict, "gpu_id": DEVICES}, data, 1)
    model = booster({**CUDA, **strict, "gpu_id": DEVICES - 1}, data, 2)
    assert trees(model) == trees(booster(HOST, data, 2))


def test_the_configuration_names_what_was_asked_for(data):
    model = booster({**CUDA, "gpu_id": 0}, data, 1)
    shown = section(model)["xgboost_gpu_param"]
    assert (shown["gpu_backend"], shown["gpu_id"]) == ("cuda", "0")


def test_a_bad_gradient_leaves_the_booster_as_it_was(data):
    def bad(predictions, _):
        gradient = np.zeros_like(predictions)
        gradient[7] = np.nan
        return gradient, np.ones_like(predictions)

    model = booster(CUDA, data, 3)
    before, margins = trees(model), model.predict(data)
    with pytest.raises(xgb.core.XGBoostError, match="row 7"):
        model.update(data, 3, fobj=bad)
    assert trees(model) == before
    np.testing.assert_array_equal(model.predict(data), margins)
    model.update(data, 3)
    assert trees(model) == trees(booster(HOST, data, 4))


def test_boosters_in_several_threads():
    matrices = [xgb.DMatrix(*make_regression(rows=2000, seed=s)) for s in range(3)] + [xgb.DMatrix(*make_regression())] * 3
    expected = [trees(booster(HOST, matrix, 8)) for matrix in matrices]
    assert in_threads(CUDA, matrices, 8) == expected


FORK = """
import ctypes, os
ctypes.CDLL(os.environ["XGBGPU_LIBRARY"])
import numpy as np, xgboost as xgb
values = np.random.default_rng(0).normal(size=(60, 3))
params = {"tree_method": "gpu_hist", "gpu_backend": "BEFORE"}
if "BEFORE": xgb.train(params, xgb.DMatrix(values, values[:, 0]), 1)
if os.fork() == 0:
    status = 1
    try:
        booster = xgb.train({"tree_method": "gpu_hist", "gpu_backend": "cuda"}, xgb.DMatrix(values, values[:, 0]), 2)
        status = 16 + booster.num_boosted_rounds()
    except xgb.core.XGBoostError as error:
        status = 3 if "gpu_backend" in str(error) or "CUDA" in str(error) else 2
    finally:
        os._exit(status)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.parametrize("before, status", [("", 18), ("cuda", 3)], ids=["unused before", "used before"])
def test_a_forked_process(before, status):
    """It can use CUDA if its parent has not; else it gets an error, and neither a crash nor silence."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # GCC's OpenMP does not survive a fork with threads
    program = FORK.replace("BEFORE", before)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == [str(status)], done.stdout + done.stderr


def clocks_off(event, tracing):
    """By how many microseconds the event may be misplaced: what the clocks were brought together with happened in one
    of `tracing`, and was placed in the middle of a part of it (timeline.h; in the others the file was written); CUDA's
    events have a resolution of 0.5 us, and three are compared; two clocks of 100 ppm drift apart; times in the file are
    rounded to 0.001 us."""
    longest, first = max(span["dur"] for span in tracing), min(span["ts"] for span in tracing)
    return longest / 2 + 3 * 0.5 + 2e-4 * (event["ts"] + event["dur"] - first) + 4 * 0.001


def test_a_trace_tells_every_stage_of_every_tree(data, tmp_path):
    file = tmp_path / "trace.json"
    traced = xgb.train({**CUDA, "gpu_trace": str(file)}, data, 3)
    events = json.loads(file.read_text(encoding="utf-8"))
    stages = [event for event in events if event["ph"] == "X" and event["pid"] == 1]
    of_trees = {"gradients", "root rows", "partition", "histograms", "splits", "leaves"}
    assert {event["name"] for event in stages} == of_trees | {"objective", "margins"}
    assert {event["args"]["tree"] for event in stages if event["name"] in of_trees} == {0, 1, 2}
    # An event of the device lies in the host's span that waited for it, but for the clocks' difference.
    spans = [event for event in events if event["ph"] == "X" and event["pid"] == 2]
    grown = {event["args"]["round"]: event for event in spans if event["name"] == "tree"}
    leaves = [event for event in stages if event["name"] == "leaves" and event["args"]["tree"] > 0]
    assert len(leaves) == 2
    for event in leaves:
        around = grown[event["args"]["tree"]]
        since = grown[event["args"]["tree"] - 1]["ts"]
        off = clocks_off(event, [s for s in spans if s["name"] == "tracing" and since <= s["ts"] <= around["ts"]])
        assert around["ts"] - off <= event["ts"]
        assert event["ts"] + event["dur"] <= around["ts"] + around["dur"] + off
    assert {event["args"]["level"] for event in stages if event["name"] == "histograms"} == {0, 1, 2, 3}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in stages)
    # (Nobody reads gradients again whose maxima are known, of few rows: that stage moves nothing.)
    assert all(event["args"]["bytes"] > 0 for event in stages if event["name"] in ("root rows", "histograms"))
    assert trees(traced) == trees(xgb.train(CUDA, data, 3))


def test_training_goes_on_after_a_bad_trace_file(data):
    trained = xgb.train(CUDA, data, 1)
    trained.set_param({"gpu_trace": "/no/such/folder/t"})
    with pytest.raises(xgb.core.XGBoostError, match="gpu_trace is '/no/such/folder/t'"):
        trained.update(data, 1)
    trained.set_param({"gpu_trace": ""})
    trained.update(data, 1)
    assert trees(trained) == trees(xgb.train(CUDA, data, 2))
