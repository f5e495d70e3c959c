"""Every fenced block of the documents is run, or says in a comment above it why it is not.

A page is run in a folder of its own, block by block, with the files that PRELUDE makes:

* blocks of Python in one process, as one program, after PRELUDE and what PAGES adds to it;
* blocks of a shell one after the other, with the build's programs and libraries in the paths;
* a block of C is the file train.c, and one of a configuration file train.conf, for the shell's blocks;
* blocks of R are run by tests/r.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from documents import Block, blocks_of  # noqa: E402

BUILD = Path(os.environ["XGBGPU_BUILD_FOLDER"])
#: Languages of blocks that only show something.
SHOWN = {"diff", "text"}
FILES = {"c": "train.c", "ini": "train.conf"}
PRELUDE = """
import json
import numpy as np
import xgboost as xgb
import xgboost_gpu

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.float32)
new, held_out, held_out_y = X[:100] + 1, X[300:], y[300:]
data = xgb.DMatrix(X, y)
"""
FRAME = """
import pandas as pd
X = pd.DataFrame(X, columns=list("abcd"))
X["shop"] = pd.Categorical(np.where(X.a > 0, "north", "south"))
X["town"] = pd.Categorical(np.where(X.b > 0, "here", "there"))
new, held_out = X[:100], X[300:]
"""
#: What pages need beside PRELUDE.
PAGES: Dict[str, str] = {
    "docs/categories.md": FRAME,
    "docs/distributed.md": """
from xgboost.tracker import RabitTracker
tracker = RabitTracker(n_workers=1, host_ip="127.0.0.1")
tracker.start()
addresses, number = tracker.worker_args(), "0"
X_of_this_worker, y_of_this_worker = X, y
""",
    "docs/exact.md": 'xgb.train({"tree_method": "exact", "max_depth": 6}, data, 100).save_model("stock.json")\n',
    "docs/migrating.md": """
booster = xgb.train({"objective": "multi:softprob", "num_class": 3}, xgb.DMatrix(X, np.arange(400) % 3), 2)
model = json.loads(bytes(booster.save_raw("json")))
model["learner"]["learner_model_param"]["base_score"] = "[1E-1,2E-1,3E-1]"
with open("newer.json", "w") as file:
    json.dump(model, file)
""",
    "docs/parameters.md": """
import polars
towns = ["here", "there"]
columns = {"x": X[:, 0], "town": [towns[row % 2] for row in range(400)], "y": y}
polars.DataFrame(columns).write_parquet("train.parquet")
""",
    "docs/start/c.md": """
with open("train.libsvm", "w") as file:
    for row, label in zip(X, y):
        file.write(f"{label:.0f} " + " ".join(f"{i}:{value}" for i, value in enumerate(row)) + "\\n")
""",
}
#: Pages that are run in a newer XGBoost than Debian's.
NEWER = {"docs/distributed.md", "docs/start/python.md"}
#: How many blocks of each document are not run.
NOT_RUN = {
    "CONTRIBUTING.md": 4,
    "README.md": 4,
    "cli/README.md": 1,
    "docs/distributed.md": 5,
    "docs/parameters.md": 1,
    "docs/r.md": 1,
    "docs/start/sources.md": 2,
    "docs/testing.md": 5,
    "examples/README.md": 1,
}
#: Packages that not every machine has.
OPTIONAL = ("dask", "distributed", "pandas", "polars", "pyspark", "sklearn")


def documents() -> List[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names]


BLOCKS = [block for document in documents() for block in blocks_of(document)]
RUN = [block for block in BLOCKS if block.language in ("python", "sh", *FILES) and not block.reason]


def environment_of(page: str, folder: Path) -> Dict[str, str]:
    modules = [ROOT / "python", ROOT / "build/arrow", ROOT / "build/spark"]
    if page in NEWER:
        wheels = sorted((ROOT / "build/hosts").glob("wheel-3.4.*"))
        if not wheels:
            pytest.skip("there is no XGBoost 3.4: `scripts/hosts wheel-3.4.1` brings it")
        modules = [ROOT / "python", wheels[-1]]
    if page == "docs/start/spark.md":
        modules = [folder / "shared/python", *modules]
    return {
        **os.environ,
        "PATH": f"{BUILD / 'bin'}:/usr/bin:/bin",
        "LD_LIBRARY_PATH": str(BUILD / "lib"),
        "XGBGPU_LIBRARY": str(BUILD / "lib/libxgboost_gpu.so"),
        "PYTHONPATH": os.pathsep.join(map(str, modules)),
        "OMP_WAIT_POLICY": "passive",
        "PYSPARK_PYTHON": "/usr/bin/python3",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false pyspark-shell",
    }


def run(command: List[str], folder: Path, environment: Dict[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", done.stderr)
    if done.returncode != 0 and missing is not None and missing[1] in OPTIONAL:
        pytest.skip(f"{missing[1]} is not installed")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", sorted({str(block.document.relative_to(ROOT)) for block in RUN}))
def test_page(page: str, tmp_path: Path) -> None:
    environment = environment_of(page, tmp_path)
    (tmp_path / "shared/python").mkdir(parents=True)
    (tmp_path / "shared/python/sitecustomize.py").write_text("import xgboost_gpu\n", encoding="utf-8")
    (tmp_path / "cache").mkdir()
    blocks = [block for block in RUN if block.document == ROOT / page]
    python = "".join(f"# {block}\n{block.text}" for block in blocks if block.language == "python")
    python = python.replace("/shared/python", str(tmp_path / "shared/python"))
    (tmp_path / "page.py").write_text(PRELUDE + PAGES.get(page, "") + python, encoding="utf-8")
    run(["/usr/bin/python3", "page.py"], tmp_path, environment)
    for block in blocks:
        if block.language in FILES:
            (tmp_path / FILES[block.language]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            run(["/bin/sh", "-ec", block.text], tmp_path, environment)


def test_every_block_is_known() -> None:
    """It is run, or shows something, or gives a reason. A suite that the reason names is there."""
    for block in BLOCKS:
        if block.language == "r":
            assert block.document == ROOT / "docs/r.md", f"{block} is not among the blocks that tests/r runs"
        known = {*SHOWN, *FILES, "python", "sh", "r"}
        assert block.language in known, f"{block} begins with ```{block.language}; allowed: {', '.join(sorted(known))}"
        assert not (block.reason and block.language in SHOWN), f"{block} is not run anyway"
        for name in re.findall(r"tests/[\w/.]*\w", block.reason):
            assert (ROOT / name).exists(), f"{block} names {name}, which does not exist"


def test_blocks_that_are_not_run() -> None:
    """Their number in each document: a new one is a decision."""
    without: Dict[str, int] = {}
    for block in BLOCKS:
        if block.reason:
            print(f"{block}: {block.reason}")
            page = str(block.document.relative_to(ROOT))
            without[page] = without.get(page, 0) + 1
    assert without == NOT_RUN
