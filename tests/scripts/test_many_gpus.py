"""scripts/many_gpus and bench/bench_gpus.py: the data that they make, and what they say, on the host backend."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "scripts" / "many_gpus"
sys.path.insert(0, str(ROOT / "bench"))

import bench_gpus  # noqa: E402
import scaling  # noqa: E402


def run(folder, *arguments):
    command = [sys.executable, "-B", str(PROGRAM), "--out", str(folder), "--backend", "host", "--scale", "0.0002"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True)


def many_gpus():
    loader = importlib.machinery.SourceFileLoader("many_gpus", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("many_gpus", loader))
    loader.exec_module(module)
    return module


def test_data_do_not_depend_on_the_cores(monkeypatch):
    x, y = bench_gpus.make_data("airline", 700_000, 13)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    again = bench_gpus.make_data("airline", 700_000, 13)
    assert (x == again[0]).all() and (y == again[1]).all()
    assert (x == np.floor(x)).all() and [len(np.unique(column)) > 1000 for column in x[:, :4].T] == [False] * 3 + [True]
    assert 0.4 < y.mean() < 0.6
    assert (x[:300_000] != x[307_692 : 607_692]).any(axis=1).mean() > 0.99, "each block of rows has a seed of its own"


def test_every_case_is_known_to_the_model():
    for case in bench_gpus.CASES:
        shape = scaling.SHAPES[case.replace("-d8", "")]
        assert (shape.rows, shape.features, shape.depth) == bench_gpus.CASES[case][1:4]


def test_it_measures_on_the_host(tmp_path):
    short = ["--cases", "higgs", "--gpus", "1", "--rounds", "8", "--repeats", "1"]
    done = run(tmp_path, *short, "--peers", "falcata", "--path", f"falcata={tmp_path}")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads((tmp_path / "gpus.json").read_text())
    assert point["data"] == "higgs" and point["gpus"] == 1
    assert 0 < point["ms"] < 1e4 and 0 < point["first_s"] < 100 and 0 < point["second_s"] < 100
    row = [cell.strip() for cell in done.stdout.strip().splitlines()[-1].split("|")[1:-1]]
    assert row[:2] == ["higgs", "1"] and row[4:6] == ["1.00", "100%"] and row[-1] == "equal"
    assert "higgs, falcata, 1: ModuleNotFoundError" in done.stdout


def test_tables_compare_with_one_gpu():
    module = many_gpus()
    point = {"data": "tall", "first_s": 1, "second_s": 0.5, "peak_bytes": [2**30, 2**29]}
    table = module.our_table([{**point, "gpus": 1, "ms": 6.0}, {**point, "gpus": 4, "ms": 2.0}], {"tall": False})
    cells = [cell.strip() for cell in table.splitlines()[-1].split("|")[1:-1]]
    modelled = scaling.round_of(scaling.SHAPES["tall"], 4, scaling.NETWORKS["nvlink"], "scatter").total()
    assert cells[:4] == ["tall", "4", "2.000", f"{modelled:.3f}"]
    assert cells[4:] == ["3.00", "75%", "1.000", "0.500", "1.00, 0.50", "DIFFERENT"]
    other = {"data": "tall", "program": "xgboost", "data_s": 1, "first_s": 2}
    table = module.peer_table([{**other, "gpus": 2, "ms": 3.0}])
    assert table.splitlines()[-1] == "| tall | xgboost | 2 | 3.000 | – | 1.00 | 2.00 |"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--cases", "lower"], "invalid choice: 'lower'"),
        (["--rounds", "3"], "--rounds has 3; allowed: 8 or more"),
        (["--gpus", "0"], "--gpus has 0; allowed: 1 or more"),
        (["--path", "lightgbm=/x"], "--path names 'lightgbm'; allowed: PROGRAM=FOLDER, with one of xgboost, falcata"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, words):
    done = run(tmp_path, *arguments)
    assert done.returncode == 2 and words in done.stderr
