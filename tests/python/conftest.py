"""Loads the library that $XGBGPU_LIBRARY names into this process, whose XGBoost is the stock package.

XGBGPU_TEST_HOST names the XGBoost, one that scripts/hosts makes (wheel-3.4.1, debian-13); absent, it is the system's.
XGBGPU_TEST_METHOD=hist runs the suite against stock XGBoost instead, without the library: a check of the tests.
XGBGPU_TEST_BACKEND names the value of gpu_backend (default: host). XGBGPU_TEST_DATA names the folder of real data.
"""

import ctypes
import json
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, Iterator

import pytest

# This is set before anything loads OpenMP. Waiting threads then leave the cores of a shared machine to others.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

ROOT = Path(__file__).resolve().parents[2]
#: The exit status by which CTest knows that nothing was tested, because the XGBoost to test in is not there.
SKIPPED = 77


def enter_host(name: str) -> None:
    """Puts an XGBoost that scripts/hosts has made in front of the system's, for this process and its children."""
    if not re.fullmatch(r"debian-\d+|wheel-\d+\.\d+\.\d+", name):
        raise pytest.UsageError(f"XGBGPU_TEST_HOST is {name!r}; allowed: the names that scripts/hosts knows")
    folder = ROOT / "build" / "hosts" / name
    if not folder.is_dir():
        pytest.exit(f"skipped: XGBGPU_TEST_HOST is {name}, which `scripts/hosts {name}` makes", SKIPPED)
    if name.startswith("wheel"):
        sys.path.insert(0, str(folder))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    elif folder not in Path(sys.executable).parents:
        raise pytest.UsageError(f"XGBGPU_TEST_HOST is {name}, which has a Python of its own: {folder / 'python'}")


if "XGBGPU_TEST_HOST" in os.environ:
    enter_host(os.environ["XGBGPU_TEST_HOST"])

import xgboost as xgb
from support import BACKEND, LIBRARY, OURS, PACKAGE, data_folder

if OURS:
    if not LIBRARY:
        raise pytest.UsageError("XGBGPU_LIBRARY is not set: it names the libxgboost_gpu.so to test")
    sys.path.append(PACKAGE)
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
def warnings_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """XGBoost's warnings are lines on stderr, as they were before 2.1, where Python's package made warnings of them."""
    shown = warnings.showwarning

    def show(message: Warning, *place: Any) -> None:
        if re.match(r"\[\d\d:\d\d:\d\d\] ", str(message)):
            print(message, file=sys.stderr)
        else:
            shown(message, *place)

    monkeypatch.setattr(warnings, "showwarning", show)
    warnings.filterwarnings("always", r"\[\d\d:", UserWarning)


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
