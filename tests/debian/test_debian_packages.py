"""Debian's packages of this build folder: what is in them, what they need, and a training in Debian 12 and 13."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from documents import two_commands  # noqa: E402

DEBIAN_13 = ROOT / "build" / "hosts" / "debian-13"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
MODULES = "usr/lib/python3/dist-packages"
NAMES = ["libxgbgpu-dev", "libxgbgpu0", "python3-xgboost-gpu", "xgboost-gpu"]
TRAINING = """
import numpy as np, xgboost as xgb, xgboost_gpu
x = np.random.default_rng(0).normal(size=(500, 5)).astype(np.float32)
data = xgb.DMatrix(x, x[:, 0] > 0)
booster = xgb.train({"tree_method": "gpu_hist", "gpu_backend": "host", "base_score": 0.5}, data, 5)
print(xgb.__version__, xgboost_gpu.__file__)
print("".join(booster.get_dump(with_stats=True)))
"""
#: Removes the packages and fails if a file of theirs, or one that they have made, is left.
REMOVAL = r"""
apt-get -qq remove libxgbgpu0 xgboost-gpu python3-xgboost-gpu >/packages/said 2>&1
find /etc /opt /root /usr /var/cache /var/lib \( -name '*xgbgpu*' -o -name '*xgboost?gpu*' \) >/packages/left
test ! -s /packages/left || { cat /packages/left; exit 1; }
"""


def output_of(*command: object, **environment: str) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Path]:
    """The packages by name. scripts/debian-packages fails over an error of lintian."""
    folder = tmp_path_factory.mktemp("packages")
    output_of(ROOT / "scripts/debian-packages", "--from", os.environ["XGBGPU_BUILD_FOLDER"], "--out", folder)
    return {file.name.split("_")[0]: file for file in sorted(folder.glob("*.deb"))}


@pytest.fixture(scope="module")
def unpacked(packages: Dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    for file in packages.values():
        output_of("dpkg-deb", "-x", file, folder)
    return folder


def fields(file: Path) -> Dict[str, str]:
    lines = output_of("dpkg-deb", "-f", file).splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith(" "))


def test_four_packages(packages: Dict[str, Path], unpacked: Path) -> None:
    assert sorted(packages) == NAMES
    assert (unpacked / LIBRARIES / "libxgbgpu.so.0").exists()
    assert (unpacked / LIBRARIES / "libxgboost_gpu.so.0").exists()
    assert (unpacked / "usr/bin/xgboost-gpu").exists()
    assert (unpacked / "usr/include/xgbgpu/training.h").exists()
    assert list((unpacked / MODULES / "xgboost_gpu").glob("*.so*")) == []


def test_what_they_need(packages: Dict[str, Path]) -> None:
    needs = {name: fields(file).get("Depends", "") for name, file in packages.items()}
    assert "libxgboost0" in needs["xgboost-gpu"] and "libxgbgpu0 (=" in needs["xgboost-gpu"]
    assert "python3-xgboost" in needs["python3-xgboost-gpu"]
    assert "libxgboost" not in needs["libxgbgpu0"] and "cuda" not in needs["libxgbgpu0"].lower()


def test_nothing_stays_behind(packages: Dict[str, Path]) -> None:
    """dpkg removes its files. Scripts of packages are debhelper's: caches of the loader and of Python."""
    for file in packages.values():
        control = output_of("dpkg-deb", "-I", file)
        assert "preinst" not in control and "postrm" not in control, control
        files = [line.split()[5] for line in output_of("dpkg-deb", "-c", file).splitlines()]
        assert all(name == "./" or name.startswith("./usr/") for name in files), files


def trained(output: str) -> List[str]:
    first, _, trees = output.partition("\n")
    return [*first.split(), hashlib.sha256(trees.encode()).hexdigest()]


@pytest.fixture(scope="module")
def in_debian_12(unpacked: Path) -> List[str]:
    environment = {"PYTHONPATH": str(unpacked / MODULES), "LD_LIBRARY_PATH": str(unpacked / LIBRARIES)}
    environment["XGBGPU_LIBRARY"] = ""
    return trained(output_of("/usr/bin/python3", "-B", "-c", TRAINING, **environment))


def test_debian_12(in_debian_12: List[str], unpacked: Path) -> None:
    assert in_debian_12[0].startswith("1.7.") and Path(in_debian_12[1]).is_relative_to(unpacked)


def test_debian_13(in_debian_12: List[str], packages: Dict[str, Path], tmp_path: Path) -> None:
    if not (DEBIAN_13 / "python").exists():
        pytest.skip(f"{DEBIAN_13} is not there: `scripts/hosts debian-13` brings it")
    root = tmp_path / "root"
    output_of("cp", "-a", "--reflink=auto", DEBIAN_13, root)
    for file in packages.values():
        output_of("dpkg-deb", "-x", file, root)
    found = trained(output_of(root / "python", "-B", "-c", TRAINING, XGBGPU_LIBRARY=""))
    assert found[0].startswith("3.0.") and Path(found[1]).is_relative_to(root)
    assert found[2] == in_debian_12[2]


@pytest.mark.parametrize("suite, series", [("bookworm", "1.7"), ("trixie", "3.0")])
def test_commands_of_the_readme(packages: Dict[str, Path], tmp_path: Path, suite: str, series: str) -> None:
    """In a fresh system with python3-xgboost, made for the test, whose apt installs the packages and removes them."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        pytest.skip("only root makes a system to install in, with the package mmdebstrap")
    commands = tmp_path / "commands"
    commands.write_text(f"cd /packages\n{two_commands('apt install ')}", encoding="utf-8")
    sources = output_of("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)").splitlines()
    mirror = next(uri for uri, release, part in map(str.split, sources) if (release, part) == ("bookworm", "main"))
    files = " ".join(map(str, [commands, *packages.values()]))
    removal = tmp_path / "removal"
    removal.write_text(REMOVAL, encoding="utf-8")
    files += f" {removal}"
    runs = [f'chroot "$1" sh -e /packages/{name}' for name in ("commands", "removal")]
    hooks = ['mkdir "$1/packages"', f"copy-in {files} /packages", *runs]
    options = ["--quiet", "--variant=apt", "--include=python3-xgboost", "--skip=cleanup/apt"]
    make = ["mmdebstrap", *options, *(f"--customize-hook={hook}" for hook in hooks), suite, "/dev/null", mirror]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "XGBGPU_LIBRARY": ""}
    if shutil.disk_usage("/dev/shm").free > 4 * 2**30:
        environment["TMPDIR"] = "/dev/shm"  # it writes up to 1.2 GB of small files, and removes them
    try:
        done = subprocess.run(
            make,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{suite} was not made in 5 minutes")
    if "Failed to fetch" in done.stdout:
        pytest.skip(f"the mirror of {suite} cannot be reached: {done.stdout}")
    assert done.returncode == 0, done.stdout
    assert f"\nXGBoost {series}." in done.stdout
    assert (
        done.stdout.splitlines()[-1] == "The model of gpu_hist has the same bits with gpu_backend=host and one thread."
    )


def test_a_program_in_cxx(unpacked: Path, tmp_path: Path) -> None:
    """CMake finds the package of headers, and both of its libraries serve a program."""
    package = unpacked / LIBRARIES / "cmake/xgbgpu"
    for library in ("engine", "engine_static"):
        build = tmp_path / library
        source = ROOT / "tests/install/consumer"
        output_of("cmake", "-S", source, "-B", build, f"-Dxgbgpu_DIR={package}", f"-DXGBGPU_LIBRARY={library}")
        output_of("cmake", "--build", build)
        output_of(build / "consumer", LD_LIBRARY_PATH=str(unpacked / LIBRARIES))
