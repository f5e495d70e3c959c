"""R with XGBoost's package for it (scripts/r-xgboost), and with ours, which is installed for these tests.

XGBGPU_TEST_R names another folder of build/hosts than r. Without R, or without XGBoost's package, all of them are skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # for documents.py
XGBOOST_PACKAGES = ROOT / "build/hosts" / os.environ.get("XGBGPU_TEST_R", "r")
LIBRARY = os.environ["XGBGPU_LIBRARY"]


class R:
    """R with folders of packages."""

    def __init__(self, packages: List[Path], source: Path) -> None:
        self.packages = packages  #: the first has our package
        self.source = source  #: our package as a file

    def environment(self, **changes: Optional[str]) -> "dict[str, str]":
        """The environment, without the library's: our package has a copy of it. None takes a variable out."""
        every = {**os.environ, "R_LIBS": ":".join(map(str, self.packages)), "XGBGPU_LIBRARY": None, **changes}
        return {name: value for name, value in every.items() if value is not None}

    def run(self, code: str, *arguments: str, **environment: Optional[str]) -> "subprocess.CompletedProcess[str]":
        """Runs a program."""
        command = ["Rscript", "--vanilla", "-e", code, *arguments]
        return subprocess.run(command, env=self.environment(**environment), capture_output=True, text=True, timeout=1800)


@pytest.fixture(scope="session")
def r(tmp_path_factory) -> R:
    if shutil.which("Rscript") is None or not (XGBOOST_PACKAGES / "xgboost").is_dir():
        pytest.skip("R or XGBoost's package for R is not here (scripts/r-xgboost makes it)")
    folder = tmp_path_factory.mktemp("r")
    subprocess.run([ROOT / "scripts/r-package", folder / "packages"], check=True, env={**os.environ, "XGBGPU_LIBRARY": LIBRARY})
    shutil.copytree(ROOT / "r", folder / "xgboostgpu")
    subprocess.run(["R", "CMD", "build", "xgboostgpu"], check=True, cwd=folder)
    return R([folder / "packages", XGBOOST_PACKAGES], next(folder.glob("xgboostgpu_*.tar.gz")))
