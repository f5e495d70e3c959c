"""scripts/upstream-tests finds the tests that the library breaks, and no others: in a copy of the scripts, with a small
repository in the place of XGBoost's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNHURT = """
import sys

def test_passes():
    pass

def test_fails_always():
    assert False
"""
HURT = """
def test_fails_beside_the_library():
    assert "xgboost_gpu" not in sys.modules
"""


def run(folder: Path, tests: str, release: str) -> subprocess.CompletedProcess:
    """A clone of `tests` with the tag of 1.7.4, tested."""
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    (folder / "python").symlink_to(ROOT / "python")
    clone = folder / "clone"
    for name, text in {"tests/python/test_one.py": tests, "tests/pytest.ini": "[pytest]\n", "demo/data/empty": ""}.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"], ["tag", "v1.7.4"]):
        subprocess.run(git + command, check=True)
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [folder / "scripts" / "upstream-tests", release, clone, "-n0"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize(
    "tests, broken", [(UNHURT, "none"), (UNHURT + HURT, "tests/python/test_one.py::test_fails_beside_the_library")]
)
def test_what_the_library_breaks_is_named(tmp_path: Path, tests: str, broken: str) -> None:
    done = run(tmp_path, tests, "1.7.4")
    assert done.stdout.splitlines()[-1] == f"== Pass without and fail with the library: {broken}", done.stdout
    assert done.returncode == (0 if broken == "none" else 1)


def test_a_clone_without_the_release_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path, UNHURT, "1.7.3")
    assert "has no tag v1.7.3; allowed: a clone of XGBoost" in done.stdout
    assert done.returncode == 1
