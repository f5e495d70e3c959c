"""``python3 -m xgboost_gpu try``: what a person sees first."""

import os
import re
import subprocess
import sys
from typing import Any, List

import pytest
import xgboost as xgb
import xgboost_gpu
from support import LIBRARY, PACKAGE, only_ours
from xgboost_gpu import _try

pytestmark = only_ours


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE, *sys.path]), "XGBGPU_LIBRARY": LIBRARY}
    command = [sys.executable, "-m", "xgboost_gpu", "try", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def test_what_it_shows() -> None:
    done = run("--rows", "20000")
    assert done.returncode == 0 and done.stderr == ""
    info = xgboost_gpu.build_info()
    where = f"on {info['devices'][0]['name']}" if "cuda" in info["backends"] else f"on the CPU: {info['why_no_cuda']}"
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        f"XGBoost {xgb.__version__} with xgboost_gpu {xgboost_gpu.__version__}, {where}",
        "20,000 rows of 20 columns, 50 rounds",
    ]
    found = {
        name: float(accuracy)
        for name, accuracy in re.findall(r"^(\w+) +\d+\.\d\d +(\.\d{4})$", done.stdout, re.MULTILINE)
    }
    assert list(found) == ["hist", "gpu_hist"]
    # A model that has learnt nothing is right in every second row.
    assert all(accuracy > 0.8 for accuracy in found.values())
    # Five standard errors of a difference between two accuracies of 4,000 rows.
    assert abs(found["hist"] - found["gpu_hist"]) < 5 * 2**0.5 * 0.5 / 4000**0.5
    assert lines[-1] == "The model of gpu_hist has the same bits with gpu_backend=host and one thread."


def test_models_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    def train(params: Any, data: xgb.DMatrix, rounds: int) -> xgb.Booster:
        return stock(params, data, rounds - ("gpu_backend" in params))

    stock = xgb.train
    monkeypatch.setattr(xgb, "train", train)
    assert _try.try_here(1000) == 1
    assert capsys.readouterr().err == "try: gpu_hist made another model with gpu_backend=host and one thread\n"


@pytest.mark.parametrize("words", [["--rows", "99"], ["--rows", "many"], ["--rows", "-1"]])
def test_bad_numbers_of_rows(words: List[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(f"argument --rows: '{words[1]}'; allowed: a whole number from 100 on")
