"""The R package as users load it: in either order, in another XGBoost, and with the models of Python."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xgboost as xgb
import xgboost_gpu  # registers gpu_hist
from conftest import XGBOOST_PACKAGES
from documents import blocks_of, two_commands

ROOT = Path(__file__).resolve().parents[2]
BOTH = "suppressMessages({library(xgboostgpu); library(xgboost)})\n"
SETTINGS = {
    "plain": {},
    "sampled": {"subsample": 0.5, "colsample_bytree": 0.7, "seed": 3},
    "symmetric": {"grow_policy": "symmetric"},
    "gradient_based": {"subsample": 0.3, "sampling_method": "gradient_based"},
    "dart": {"booster": "dart", "rate_drop": 0.3},
    "exact": {"tree_method": "gpu_exact"},
    "absolute": {"objective": "reg:absoluteerror"},
}
COMMON = {"tree_method": "gpu_hist", "gpu_backend": "host", "objective": "binary:logistic", "max_depth": 5, "nthread": 2}
ROUNDS = 12
TRAIN_ALL = f"""
arguments <- commandArgs(trailingOnly = TRUE)
x <- matrix(readBin(file.path(arguments[1], "x"), "double", 3000 * 6), 3000)
y <- readBin(file.path(arguments[1], "y"), "double", 3000)
settings <- jsonlite::fromJSON(file.path(arguments[1], "settings.json"), simplifyVector = FALSE)
for (name in names(settings)) {{
  booster <- suppressWarnings(xgb.train(settings[[name]], xgb.DMatrix(x, label = y), {ROUNDS}, verbose = 0))
  writeLines(xgb.dump(booster, with_stats = TRUE, dump_format = "json"), file.path(arguments[1], name))
}}
"""


def make_data():
    """Floats that are the same numbers in R; one in twenty is missing."""
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(3000, 6)) * 1024) / 1024
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0.3).astype(np.float64)
    x[rng.random(size=x.shape) < 0.05] = np.nan
    return x, y


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with data and parameters for R, and Python's models."""
    folder = tmp_path_factory.mktemp("models")
    x, y = make_data()
    x.T.tofile(folder / "x")  # R has columns one after the other
    y.tofile(folder / "y")
    settings = {name: {**COMMON, **changes} for name, changes in SETTINGS.items()}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    matrix = xgb.DMatrix(x, y)
    boosters = {name: xgb.train(parameters, matrix, ROUNDS) for name, parameters in settings.items()}
    trees = {name: booster.get_dump(with_stats=True, dump_format="json") for name, booster in boosters.items()}
    return folder, {name: list(map(json.loads, texts)) for name, texts in trees.items()}


@pytest.mark.parametrize(
    "load, preloaded",
    [
        ("library(xgboostgpu); library(xgboost)", False),
        ("library(xgboost); library(xgboostgpu)", False),
        ("library(xgboost)", True),
        ("dyn.load(commandArgs(trailingOnly = TRUE)[2], local = FALSE); library(xgboost)", False),
    ],
    ids=["before", "after", "preloaded", "by hand"],
)
def test_models_are_those_of_python(r, models, load, preloaded):
    folder, expected = models
    library = os.environ["XGBGPU_LIBRARY"]
    done = r.run(f"suppressMessages({{{load}}})" + TRAIN_ALL, str(folder), library, LD_PRELOAD=library if preloaded else None)
    assert done.returncode == 0, done.stderr
    for name, trees in expected.items():
        assert len(trees) == ROUNDS
        assert json.loads((folder / name).read_text(encoding="utf-8")) == trees, name
        (folder / name).unlink()


def test_commands_of_the_readme(tmp_path):
    """scripts/r-package installs the library of the build, and not what it would build itself."""
    if shutil.which("Rscript") is None or not (XGBOOST_PACKAGES / "xgboost").is_dir():
        pytest.skip("R or XGBoost's package for R is not here (scripts/r-xgboost makes it)")
    packages = {"R_LIBS": f"{tmp_path}:{XGBOOST_PACKAGES}", "XGBGPU_LIBRARY": os.environ["XGBGPU_LIBRARY"]}
    command = ["/bin/sh", "-ec", two_commands("scripts/r-package")]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **packages}, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^xgboost 1\.7\.\S+ with xgboostgpu [0-9.]+, on ", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == "The model of gpu_hist has the same bits with gpu_backend=host and one thread."
    assert (tmp_path / "xgboostgpu").is_dir()


@pytest.mark.parametrize("page", ["docs/r.md"])
def test_blocks_of_the_documents(r, page):
    """Every block of R, with data. tests/site runs all other blocks."""
    blocks = [block for block in blocks_of(ROOT / page) if block.language == "r"]
    assert blocks
    for block in blocks:
        done = r.run("x <- matrix(as.numeric(1:200), 50); y <- rep(0:1, 25)\n" + block.text)
        assert done.returncode == 0, done.stderr


def test_check(r, tmp_path):
    """R CMD check, which runs the package's own tests and the examples of its pages."""
    command = ["R", "CMD", "check", "--no-manual", str(r.source)]
    environment = r.environment(XGBGPU_LIBRARY=os.environ["XGBGPU_LIBRARY"])
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1800)
    tests = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("xgboostgpu.Rcheck/tests/testthat.Rout*"))
    assert done.returncode == 0, done.stdout + done.stderr + tests
    assert not re.findall(r"\b(?:ERROR|WARNING)\b", done.stdout), done.stdout
    assert re.search(r"\[ FAIL 0 \| WARN 0 \| SKIP 0 \| PASS [1-9]\d+ \]", tests), tests


def fake_package(folder: Path, version: str) -> Path:
    """A package xgboost that has a version, and code that would be seen."""
    package = folder / "source/xgboost"
    (package / "R").mkdir(parents=True)
    (package / "DESCRIPTION").write_text(
        f"Package: xgboost\nVersion: {version}\nTitle: Fake\nDescription: Fake.\nLicense: GPL\nAuthor: A\nMaintainer: A <a@b.c>\n"
    )
    (package / "NAMESPACE").write_text("")
    (package / "R/a.R").write_text('.onLoad <- function(...) cat("loaded\\n")\n')
    installed = folder / "packages"
    installed.mkdir()
    command = ["R", "CMD", "INSTALL", "--no-test-load", f"--library={installed}", str(package)]
    subprocess.run(command, check=True, capture_output=True)
    return installed


@pytest.mark.parametrize("version", ["3.2.1.1", "1.6.0.1", "2.1.4.1"])
def test_other_versions_are_refused(r, tmp_path, version):
    packages = fake_package(tmp_path, version)
    paths = ":".join(map(str, [packages, *r.packages]))
    message = f"xgboostgpu does not work with xgboost {version} in '{packages}/xgboost'; allowed: xgboost 1.7"
    before = r.run("library(xgboostgpu)", R_LIBS=paths)
    assert before.returncode == 1 and message in before.stderr and before.stdout == ""
    after = r.run("library(xgboost); library(xgboostgpu)", R_LIBS=paths)
    assert after.returncode == 1 and message in after.stderr and after.stdout == "loaded\n"


def test_another_version_that_is_loaded_later_stays_as_it_is(r, tmp_path):
    """The package is there when no xgboost is; then one comes from a folder that it did not know."""
    packages = fake_package(tmp_path, "3.2.1.1")
    ours_alone = str(r.packages[0])
    code = f"library(xgboostgpu); library(xgboost, lib.loc = '{packages}'); cat(build_info()$bound)"
    done = r.run(code, R_LIBS=ours_alone)
    assert f"xgboost 3.2.1.1 in '{packages}/xgboost'" in done.stderr and "gpu_hist cannot be used" in done.stderr
    assert done.stdout.startswith("loaded\nxgboostgpu does not work with xgboost 3.2.1.1")


def test_xgboost_that_is_loaded_twice_is_bound_twice(r):
    code = """
library(xgboost); library(xgboostgpu)
assignInNamespace("check_version", function() cat("bound "), "xgboostgpu")
detach("package:xgboost", unload = TRUE); library(xgboost)
detach("package:xgboost", unload = TRUE); library(xgboost)
cat(basename(build_info()$bound))
"""
    assert r.run(code).stdout == "bound bound xgboost.so"


def test_a_library_that_is_not_there(r, tmp_path):
    done = r.run("library(xgboostgpu)", XGBGPU_LIBRARY=str(tmp_path))
    assert f"xgboostgpu: XGBGPU_LIBRARY names '{tmp_path}', which is not a file" in done.stderr
    (tmp_path / "no.so").write_text("no library")
    done = r.run("library(xgboostgpu)", XGBGPU_LIBRARY=str(tmp_path / "no.so"))
    assert f"xgboostgpu cannot load '{tmp_path}/no.so': " in done.stderr


def test_nowhere_to_be_found(r, tmp_path):
    """An installation without the library, on a machine whose loader does not know it."""
    command = ["R", "CMD", "INSTALL", "--no-test-load", f"--library={tmp_path}", str(r.source)]
    subprocess.run(command, check=True, capture_output=True, env=r.environment())
    done = r.run("library(xgboostgpu)", R_LIBS=":".join(map(str, [tmp_path, *r.packages])))
    for place in ("XGBGPU_LIBRARY, which is not set", f"{tmp_path}/xgboostgpu/libs/libxgboost_gpu.so.0", "the system's libraries: "):
        assert place in done.stderr


BIND = BOTH + """
glue <- dyn.load(commandArgs(trailingOnly = TRUE)[1])
update <- function() .C(glue$Update, 0L)[[1]]
cat(update(), "")
cat(tryCatch(.Call(xgboostgpu:::C_bind, glue[["path"]]), error = conditionMessage), update())
"""
GLUE = """
int XGBoosterUpdateOneIter(void* booster, int round, void* data) { return 7; }
void Update(int* status) { *status = XGBoosterUpdateOneIter(0, 0, 0); }
"""


@pytest.mark.parametrize("option", ["-Wl,-z,lazy", "-Wl,-z,now", "-Wl,-Bsymbolic-functions"])
def test_a_package_with_its_own_copy(r, tmp_path, option):
    """Its calls go through slots, which are read-only with -z now. With -Bsymbolic-functions it has none."""
    (tmp_path / "glue.c").write_text(GLUE)
    glue = tmp_path / "glue.so"
    subprocess.run(["gcc", "-shared", "-fPIC", option, "-o", glue, tmp_path / "glue.c"], check=True)
    done = r.run(BIND, str(glue))
    if option == "-Wl,-Bsymbolic-functions":
        refused = f"cannot stand in front of the functions of '{glue}', which calls its own directly; allowed: "
        assert refused in done.stdout and done.stdout.startswith("7 ") and done.stdout.endswith(" 7")
    else:
        assert done.stdout == "7  -1", done.stderr  # XGBoost has no booster
