"""Loads the library that $XGBGPU_LIBRARY names into this process, whose XGBoost is the stock package.

XGBGPU_TEST_METHOD=hist runs the suite against stock XGBoost instead, without the library: a check of the tests.
XGBGPU_TEST_BACKEND names the value of gpu_backend (default: host). XGBGPU_TEST_DATA names the folder of real data.
"""

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

# This is set before anything loads OpenMP. Waiting threads then leave the cores of a shared machine to others.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import xgboost as xgb
from support import BACKEND, LIBRARY, OURS, data_folder

if OURS:
    if not LIBRARY:
        raise pytest.UsageError("XGBGPU_LIBRARY is not set: it names the libxgboost_gpu.so to test")
    sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "python"))
    import xgboost_gpu  # noqa: F401  (loads it, in front of XGBoost's functions)


@pytest.fixture(scope="session", autouse=True)
def backend_is_here() -> None:
    """Skips everything, with one line for all, where the backend to test cannot run."""
    if OURS and BACKEND == "cuda":
        function = ctypes.CDLL(LIBRARY).XGBGPUDeviceInfo
        function.restype = ctypes.c_char_p
        found = json.loads(function())
        if "cuda" not in found["backends"]:
            pytest.skip(f"no test on CUDA: {found['why_no_cuda']}")


@pytest.fixture(autouse=True)
def usual_verbosity() -> Iterator[None]:
    """A booster's verbosity is the process's, and would stay so for the tests that follow."""
    with xgb.config_context(verbosity=1):
        yield


def pytest_report_header() -> str:
    what = LIBRARY if OURS else "stock only, a check of the tests themselves"
    return f"xgboost {xgb.__version__} for Python {sys.version.split()[0]}; library: {what}"


@pytest.fixture
def disk_path() -> Iterator[Path]:
    """A folder for pages, which are not written to a tmpfs; the one of tmp_path may be on one."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def data_dir() -> str:
    return data_folder()
