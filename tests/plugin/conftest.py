"""Loads the library under test into the stock XGBoost of this Python and offers small data sets.

XGBGPU_LIBRARY names the library; without it these tests are skipped.
"""

import ctypes
import os

import pytest

from helpers import make_regression

LIBRARY = os.environ.get("XGBGPU_LIBRARY")

if LIBRARY is None:
    collect_ignore_glob = ["test_plugin_*.py"]
else:
    ctypes.CDLL(LIBRARY)


@pytest.fixture
def regression():
    return make_regression()
