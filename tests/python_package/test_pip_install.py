"""pip builds the library of the source package in a virtual environment of Debian's Python, and gpu_hist trains there."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest
from fresh_python import SOURCE_TREE

TRAIN = """
import numpy, xgboost, xgboost_gpu
values = numpy.arange(200.0).reshape(100, 2)
labels = values[:, 0] > 80
parameters = {"tree_method": "gpu_hist", "gpu_backend": "host", "objective": "binary:logistic"}
booster = xgboost.train(parameters, xgboost.DMatrix(values, labels), 5)
assert ((booster.predict(xgboost.DMatrix(values)) > 0.5) == labels).all()
print(xgboost_gpu.build_info()["library"])
print(xgboost_gpu.__version__)
"""


HOSTS = SOURCE_TREE / "build" / "hosts"


def newest_series(folder: Path) -> Path:
    """A folder with the headers of the newest series that scripts/host-headers has brought, or of none."""
    folder.mkdir()
    found = sorted(file for file in (HOSTS / "headers").glob("*.*") if (file / "include").is_dir())
    for file in found[-1:]:
        (folder / file.name).symlink_to(file.resolve())
    return folder


def test_pip_install(tmp_path: Path):
    venv.create(tmp_path / "venv", system_site_packages=True, with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "XGBGPU_LIBRARY")}

    # The build needs scikit-build-core, which Debian does not package, and ninja; without a network nothing can be tested.
    fetch = [python, "-m", "pip", "install", "-q", "scikit-build-core>=0.10", "ninja"]
    fetched = subprocess.run(fetch, env=environment, capture_output=True, text=True)
    if fetched.returncode != 0:
        pytest.skip(f"pip cannot install scikit-build-core: {fetched.stderr.strip().splitlines()[-1]}")

    make = ["-c", f"import scikit_build_core.build as build; print(build.build_sdist({str(tmp_path)!r}))"]
    made = subprocess.run([python, *make], env=environment, cwd=SOURCE_TREE, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    source = tmp_path / made.stdout.split()[-1]

    # Device code takes ten times as long to compile, and each adapter as long as the library. Code that is not optimised
    # takes less.
    headers = newest_series(tmp_path / "headers")
    defined = ("XGBGPU_CUDA=OFF", f"XGBGPU_SERIES_DIR={headers}", "CMAKE_CXX_FLAGS_RELEASE=-O0")
    settings = [f"--config-settings=cmake.define.{one}" for one in defined]
    install = [python, "-m", "pip", "install", "-v", "--no-build-isolation", "--no-deps", *settings, source]
    installed = subprocess.run(install, env=environment, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    told = installed.stdout + installed.stderr  # what -v shows
    assert "host-only build" in told and "The library takes about" in told
    assert re.search(r"\[1/\d+\] Building", told), told  # by ninja, which uses all cores

    run = subprocess.run([python, "-c", TRAIN], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    library, version = run.stdout.splitlines()
    assert Path(library).is_relative_to(tmp_path / "venv" / "lib")
    files = sorted(file.name for file in Path(library).parent.glob("*.so*"))
    assert files == ["libxgbgpu.so.0", "libxgbgpu_bridge.so", "libxgboost_gpu.so.0"]
    assert os.access(Path(library).parent / "xgbgpu-probe", os.X_OK)

    adapters = sorted(file.name for file in Path(library).parent.glob("xgboost_gpu_series/*"))
    assert adapters == [f"libxgboost_gpu-{series.name}.so" for series in headers.iterdir()]
    assert adapters or "scripts/host-headers brings headers" in told
    for series in headers.iterdir():
        for wheel in HOSTS.glob(f"wheel-{series.name}.*"):
            newer = {**environment, "PYTHONPATH": str(wheel)}
            run = subprocess.run([python, "-c", TRAIN], env=newer, cwd=tmp_path, capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            assert run.stdout.splitlines()[0] == str(Path(library).parent / "xgboost_gpu_series" / adapters[0])

    show = [python, "-m", "pip", "show", "xgboost-gpu"]
    shown = subprocess.run(show, env=environment, capture_output=True, text=True)
    assert f"Version: {version}\n" in shown.stdout
