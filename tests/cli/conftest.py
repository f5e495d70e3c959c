"""Runs the program that $XGBGPU_CLI names in a folder of its own, on generated data or on that of $XGBGPU_TEST_DATA."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict

import numpy as np
import pytest

STOCK_PROGRAM = "/usr/bin/xgboost"


class Program:
    """A command line program of XGBoost and the folder that it runs in."""

    def __init__(self, path: str, folder: Path) -> None:
        self.path = path
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=600)

    def configure(self, text: str, name: str = "train.conf") -> str:
        """Writes a configuration file, and gives its name."""
        (self.folder / name).write_bytes(text.encode())
        return name

    def succeed(self, *arguments: str) -> subprocess.CompletedProcess:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done

    def fail(self, *arguments: str) -> str:
        """Expects exit status 1, nothing on standard output and a message, which it gives."""
        done = self.run(*arguments)
        assert done.returncode == 1, f"exit status {done.returncode}: {done.stderr}"
        assert done.stdout == ""
        assert "xgboost-gpu: error: " in done.stderr
        assert "Stack trace" not in done.stderr
        return done.stderr

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def files(self) -> Dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.folder.iterdir()}


@pytest.fixture
def cli(tmp_path: Path) -> Program:
    return Program(os.environ["XGBGPU_CLI"], tmp_path / "ours")


@pytest.fixture
def stock(tmp_path: Path) -> Program:
    if shutil.which(STOCK_PROGRAM) is None:
        pytest.skip(f"{STOCK_PROGRAM} (Debian package xgboost) is not installed")
    return Program(STOCK_PROGRAM, tmp_path / "stock")


@pytest.fixture(scope="session")
def agaricus() -> Dict[str, str]:
    """URIs of the mushroom data: train and test."""
    folder = os.environ.get("XGBGPU_TEST_DATA")
    if not folder:
        pytest.skip("XGBGPU_TEST_DATA, the folder of the real data, is not set")
    return {part: f"{Path(folder).resolve()}/agaricus.txt.{part}?format=libsvm" for part in ("train", "test")}


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """URI of 200 rows with 4 columns of small whole numbers, labelled by column 0 > 4, column 3 being noise."""
    values = np.random.RandomState(0).randint(0, 10, size=(200, 4))
    lines = [f"{int(row[0] > 4)} " + " ".join(f"{i}:{v}" for i, v in enumerate(row)) for row in values]
    file = tmp_path_factory.mktemp("data") / "numbers.txt"
    file.write_text("\n".join(lines) + "\n")
    return f"{file}?format=libsvm"


@pytest.fixture
def model(cli: Program, numbers: str) -> str:
    """Name of a binary model of three rounds on `numbers`, trained by the program with hist, in its folder."""
    cli.configure(
        f'objective = binary:logistic\ntree_method = hist\nmax_depth = 2\nnum_round = 3\ndata = "{numbers}"\n'
    )
    cli.succeed("train.conf", "model_out=m.model")
    return "m.model"
