"""The library that $XGBGPU_LIBRARY names, and interpreters that load it."""

import os
import shutil
from pathlib import Path

import pytest
from fresh_python import PACKAGE, Interpreter


@pytest.fixture(scope="session")
def library() -> Path:
    """The library under test."""
    return Path(os.environ["XGBGPU_LIBRARY"]).resolve()


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the package away from the source tree."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "python" / "xgboost_gpu"))


@pytest.fixture
def python(library: Path) -> Interpreter:
    """An interpreter in which the package and the library are in order."""
    return Interpreter(PACKAGE.parent, library=str(library))
