"""Every program in examples/ runs as it is, and its own checks hold; examples/README.md lists each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import BACKEND, only_ours

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))


@only_ours
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_example(program: Path) -> None:
    path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-B", str(program)], capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout, "an example shows something"
    on_host = "training runs on the CPU" in done.stdout + done.stderr
    assert not (BACKEND == "cuda" and on_host), done.stderr


def test_the_list_of_examples() -> None:
    listed = re.findall(r"\(([a-z_]+\.py)\)", (ROOT / "examples" / "README.md").read_text())
    assert sorted(listed) == [path.name for path in PROGRAMS]
