"""The library that $XGBGPU_LIBRARY names, and interpreters that load it."""

import os
import shutil
from pathlib import Path

import pytest
import xgboost
from fresh_python import PACKAGE, Interpreter, stand_in_for_xgboost
from xgboost.libpath import find_lib_path


@pytest.fixture(scope="session")
def library() -> Path:
    """The library under test."""
    return Path(os.environ["XGBGPU_LIBRARY"]).resolve()


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the package away from the source tree, beside a stand-in for the package xgboost that has the real
    library but not the second of imports: scikit-learn, pandas and their like."""
    stand_in_for_xgboost(tmp_path / "python", f"__version__ = {xgboost.__version__!r}", find_lib_path()[0])
    return Path(shutil.copytree(PACKAGE, tmp_path / "python" / "xgboost_gpu"))


@pytest.fixture
def python(library: Path) -> Interpreter:
    """An interpreter in which the package and the library are in order."""
    return Interpreter(PACKAGE.parent, library=str(library))
