"""The library as a file: what it shows, where and how it can be loaded, and which XGBoost it refuses."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import xgboost as xgb
from xgboost.libpath import find_lib_path

from helpers import booster, in_threads, make_regression, trees

LIBRARY = os.environ["XGBGPU_LIBRARY"]
TRAIN = """
import numpy as np
values = np.random.default_rng(0).normal(size=(50, 3))
booster = xgb.train({"tree_method": "gpu_hist", "gpu_backend": "host"}, xgb.DMatrix(values, values[:, 0]), 2)
print(len(booster.get_dump()))
"""
ROOT = Path(__file__).resolve().parents[2]
XGBOOST = os.path.realpath(find_lib_path()[0])
WITH_PACKAGE = {"PYTHONPATH": str(ROOT / "python")}
LOAD = "import ctypes, os; ctypes.CDLL(os.environ['XGBGPU_LIBRARY'])\n"


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True)


def told_by(library, name):
    function = getattr(ctypes.CDLL(library), name)
    function.restype = ctypes.c_char_p
    return json.loads(function())


def dynamic_section(library):
    return subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout


def exported_by(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def test_only_the_c_interface_is_visible():
    header = (ROOT / "plugin/xgboost_gpu.h").read_text(encoding="utf-8")
    own = set(re.findall(r"^XGBGPU_EXPORT [\w ]+?\*? ?(XGBGPU\w+)\(", header, re.MULTILINE))
    in_front = told_by(LIBRARY, "XGBGPUFunctionsInFront")
    assert {"XGBGPUVersion", "XGBGPUTableFree", "XGBGPUOrderTargets"} <= own
    assert len(in_front) == len(set(in_front))
    assert exported_by(LIBRARY) == own | set(in_front)


def test_functions_in_front_are_those_of_xgboost():
    """XGBoost has each of them, but for two that its header declares and its library calls otherwise."""
    declared_only = {"XGBoosterPredictFromCudaArray", "XGBoosterPredictFromCudaColumnar"}
    assert set(told_by(LIBRARY, "XGBGPUFunctionsInFront")) - exported_by(XGBOOST) == declared_only


def test_the_file_names_no_folder_of_the_build():
    with open(LIBRARY, "rb") as library:
        assert re.search(rb"/[^\0]*/plugin/(booster/booster|errors/notice)\.(cc|h)\0", library.read()) is None


def test_the_file_needs_no_cuda_library():
    """Where there is no driver it must load all the same: the CUDA runtime inside looks for one when it is used."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section(LIBRARY))
    assert any(name.startswith("libxgboost") for name in needed), needed
    assert not [name for name in needed if re.match(r"lib(cuda|cudart|nvidia|nccl|nvToolsExt)", name)]


def test_build_info():
    info = told_by(LIBRARY, "XGBGPUBuildInfo")
    assert info["registered"] is True
    assert info["why_not_registered"] == ""
    assert info["xgboost_running"] == xgb.__version__
    assert info["xgboost_built"].startswith("1.7.")
    assert all(architecture.isdigit() for architecture in info["cuda_architectures"])
    found = told_by(LIBRARY, "XGBGPUDeviceInfo")
    assert "host" in found["backends"]
    assert ("cuda" in found["backends"]) == (found["why_no_cuda"] == "") == bool(found["devices"])
    if not info["cuda_architectures"]:
        assert "no CUDA backend" in found["why_no_cuda"]
    numbers = [ctypes.c_int() for _ in range(3)]
    ctypes.CDLL(LIBRARY).XGBGPUVersion(*map(ctypes.byref, numbers))
    assert info["version"] == ".".join(str(n.value) for n in numbers)
    ctypes.CDLL(LIBRARY).XGBGPUVersion(None, None, None)


@pytest.mark.parametrize(
    "code, environment",
    [
        (LOAD + "import xgboost as xgb" + TRAIN, {}),
        ("import xgboost as xgb\n" + LOAD + TRAIN, {}),
        (LOAD + LOAD + "import xgboost as xgb" + TRAIN, {}),
        ("import xgboost as xgb" + TRAIN, {"LD_PRELOAD": LIBRARY}),
        ("import xgboost as xgb\nimport xgboost_gpu" + TRAIN, {"LD_PRELOAD": f"{XGBOOST} {LIBRARY}", **WITH_PACKAGE}),
    ],
    ids=["before xgboost", "after xgboost", "twice", "LD_PRELOAD", "LD_PRELOAD after XGBoost"],
)
def test_ways_to_load(code, environment):
    done = python(code, **environment)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_a_second_copy_stays_out_of_the_way(tmp_path):
    copy = shutil.copy(LIBRARY, tmp_path / "copy.so")
    code = f"{LOAD}ctypes.CDLL({str(copy)!r})\nimport xgboost as xgb{TRAIN}"
    done = python(code)
    assert done.stdout == "2\n"
    assert "another copy of xgboost-gpu is loaded" in done.stderr


def test_another_version_of_xgboost_is_refused(tmp_path):
    """A preloaded function makes XGBoost say that it is 3.1.4."""
    source = tmp_path / "version.c"
    source.write_text("void XGBoostVersion(int *a, int *b, int *c) { if (a) *a = 3; if (b) *b = 1; if (c) *c = 4; }\n")
    fake = tmp_path / "version.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", fake, source], check=True)
    code = LOAD + "import xgboost as xgb\n" + f"""
function = ctypes.CDLL({LIBRARY!r}).XGBGPUBuildInfo
function.restype = ctypes.c_char_p
print(function().decode())
""" + TRAIN  # fmt: skip
    done = python(code, LD_PRELOAD=str(fake))
    assert "works in XGBoost 1.7.x, and the one in this process is 3.1.4" in done.stderr
    info = json.loads(done.stdout)
    assert info["registered"] is False
    assert "3.1.4" in info["why_not_registered"]
    assert "not compiled with GPU support" in done.stderr  # what stock XGBoost says of gpu_hist


@pytest.mark.skipif("XGBGPU_STRANGER" not in os.environ, reason="XGBGPU_STRANGER is not set")
@pytest.mark.parametrize("version, decorated", [("3.1.4", False), ("1.7.4", True)])
def test_a_refused_library_leaves_metrics_and_batches_alone(tmp_path, version, decorated):
    major, minor, patch = version.split(".")
    source = tmp_path / "version.c"
    source.write_text(
        f"void XGBoostVersion(int *a, int *b, int *c) {{ if (a) *a = {major}; if (b) *b = {minor}; if (c) *c = {patch}; }}\n"
    )
    fake = tmp_path / "version.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", fake, source], check=True)
    code = LOAD + f"""
import numpy as np, xgboost as xgb
for name in ("XGBoosterEvalOneIter", "XGQuantileDMatrixCreateFromCallback"):
    setattr(xgb.core._LIB, name, getattr(ctypes.CDLL({LIBRARY!r}), name))
""" + """
stranger = ctypes.CDLL(os.environ["XGBGPU_STRANGER"], ctypes.RTLD_GLOBAL)
stranger.MakerOfMetric.restype = ctypes.c_char_p
data = xgb.DMatrix(np.zeros((4, 1)), [0, 1, 2, 3])
print(xgb.train({"tree_method": "hist"}, data, 1).eval(data))
print(["xgbgpu" in stranger.MakerOfMetric(name).decode() for name in (b"rmse", b"stranger_sum")], flush=True)
try:
    xgb.QuantileDMatrix(np.zeros((4, 1)), weight=[1, 2])
except xgb.core.XGBoostError as error:
    print("one weight for each row" in str(error))
"""
    done = python(code, LD_PRELOAD=str(fake))
    lines = done.stdout.splitlines()
    assert lines[0].startswith("[0]\teval-rmse:")
    assert lines[1] == str([decorated] * 2)
    assert lines[2:] == (["True"] if decorated else [])  # stock XGBoost ends the process


def test_boosters_in_several_threads():
    """Each on its own matrix and all on one; the same models as one after the other."""
    params = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 4, "subsample": 0.7, "nthread": 2}
    shared = xgb.DMatrix(*make_regression(rows=2000))
    matrices = [xgb.DMatrix(*make_regression(rows=2000, seed=s)) for s in range(1, 4)] + [shared] * 3
    expected = [trees(booster(params, matrix, 8)) for matrix in matrices]
    assert in_threads(params, matrices, 8) == expected


def test_predictions_in_several_threads():
    matrix = xgb.DMatrix(*make_regression())
    model = booster({"tree_method": "gpu_hist", "gpu_backend": "host"}, matrix, 5)
    expected = model.predict(matrix)
    wrong = []

    def predict():
        for _ in range(20):
            if not np.array_equal(model.predict(matrix), expected):
                wrong.append(threading.get_ident())

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_worker_of_a_communicator_trains():
    code = LOAD + """
import xgboost as xgb
from xgboost.libpath import find_lib_path
from xgboost import collective
from xgboost.tracker import RabitTracker
tracker = RabitTracker(host_ip="127.0.0.1", n_workers=1)
tracker.start(1)
with collective.CommunicatorContext(**tracker.worker_envs()):
""" + "\n".join("    " + line for line in TRAIN.splitlines())  # fmt: skip
    done = python(code)
    assert done.stdout.splitlines()[-1:] == ["2"], done.stderr


INIT = """
import ctypes, sys
import xgboost as xgb

def by_rabit(name, value):
    library = xgb.core._LIB if sys.argv[1] == "package" else ctypes.CDLL(None)
    library.RabitInit.restype = ctypes.c_bool
    library.XGBGetLastError.restype = ctypes.c_char_p
    if not library.RabitInit(1, (ctypes.c_char_p * 1)(f"{name}={value}".encode())):
        raise xgb.core.XGBoostError(library.XGBGetLastError().decode())

def by_name(name, value):
    if sys.argv[1] == "rabit":
        xgb.rabit.init([f"{name}={value}".encode()])
    else:
        xgb.collective.init(**{name: value})

for name in ("rabit_task_id", "x", "DMLC_TASK_ID", "x" * 300):
    for size in (1, 255, 256, 10_000):
        try:
            (by_name if sys.argv[1] in ("rabit", "collective") else by_rabit)(name, "1" * size)
            print(name, size, "world of", xgb.collective.get_world_size())
            xgb.collective.finalize()
        except xgb.core.XGBoostError as error:
            print(name, size, error)
"""


@pytest.mark.parametrize("how", ["collective", "rabit", "package", "preloaded"])
def test_long_parameters_of_the_communicator(how):
    """XGBoost reads them into 256 bytes, beyond which it overwrites its stack."""
    load, environment = ("", {"LD_PRELOAD": LIBRARY}) if how == "preloaded" else ("import xgboost_gpu\n", WITH_PACKAGE)
    command = [sys.executable, "-W", "ignore", "-c", load + INIT, how]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    refused = "of the communicator has"
    expected = [
        f"{name} {size} " + ("world of 1" if size < 256 else f"Parameter '{name}' {refused} a value of {size} bytes; allowed: up to 255")
        for name in ("rabit_task_id", "x", "DMLC_TASK_ID")
        for size in (1, 255, 256, 10_000)
    ]
    long = f"Parameter '{'x' * 80}… (300 bytes)' {refused} a name of 300 bytes; allowed: up to 255"
    expected += [f"{'x' * 300} {size} {long}" for size in (1, 255, 256, 10_000)]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize(
    "function, arguments, name",
    [
        ("XGDMatrixCreateFromCudaArrayInterface", [None, b"{}", None], "data"),
        ("XGDMatrixCreateFromCudaColumnar", [b"[]", None, None], "config"),
        ("XGDMatrixCreateFromCudaArrayInterface", [b"{}", b"{}", None], "out"),
        ("XGProxyDMatrixSetDataCudaArrayInterface", [None, None], "data"),
        ("XGBoosterPredictFromCudaArray", [None, None, b"{}", None, None, None, None], "data"),
    ],
)
def test_a_null_pointer_is_named(function, arguments, name):
    code = f"import ctypes, os, xgboost as xgb\nlibrary = ctypes.CDLL(os.environ['XGBGPU_LIBRARY'])\n" \
           f"assert library.{function}(*{arguments!r}) == -1\n" \
           "xgb.core._LIB.XGBGetLastError.restype = ctypes.c_char_p\n" \
           "print(xgb.core._LIB.XGBGetLastError().decode())"
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert f"Argument {name} is null" in done.stdout
