"""What is in the wheel, where it can be installed, and that it trains there the models of the source tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import DEBIAN, HOSTS, ROOT, WHEELS, Installed, hosts, make_venv, pip
from documents import two_commands

TRAIN = Path(__file__).with_name("train.py")
VERSION = re.search(r"project\(xgboost_gpu VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text("utf-8")).group(1)
IMPORT_ERROR = "try:\n import xgboost_gpu\nexcept ImportError as error:\n print(error)"


@pytest.fixture(scope="session")
def models() -> dict:
    """The models of the build folder, in Debian's XGBoost."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-B", TRAIN], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["library"] == os.environ["XGBGPU_LIBRARY"] and len(set(result["models"].values())) == 6
    return result["models"]


# --- the files -------------------------------------------------------------------------------------------------------


def adapters() -> set:
    build = Path(os.environ["XGBGPU_BUILD_FOLDER"])
    return {f"xgboost_gpu/xgboost_gpu_series/{file.name}" for file in build.glob("lib/xgboost_gpu_series/*.so")}


def test_files_of_a_release(release):
    names = [f"xgboost_gpu-{VERSION}-py3-none-manylinux_2_34_x86_64.whl", f"xgboost_gpu-{VERSION}.tar.gz", "SHA256SUMS"]
    assert sorted(file.name for file in release.iterdir()) == sorted(names)
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=release, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines() == [f"{name}: OK" for name in names[:2]]


def test_the_wheel_has_our_files_and_no_library_of_others(wheel):
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if not name.endswith((".py", "/")) and ".dist-info/" not in name}
    ours = ("libxgboost_gpu.so.0", "libxgbgpu.so.0", "libxgbgpu_bridge.so", "xgbgpu-probe", "xgboost-gpu", "py.typed")
    notices = (f"licenses/{package}.txt" for package in ("nlohmann-json3-dev", "libxxhash-dev", "librandom123-dev"))
    script = f"xgboost_gpu-{VERSION}.data/scripts/xgboost-gpu"
    assert found == {*(f"xgboost_gpu/{name}" for name in (*ours, *notices)), *adapters(), script}


#: Every Linux of the tag has these.
SYSTEM = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}
XGBOOST = {"libxgboost.so.0", "libdmlc.so.0", "libgomp.so.1"}
NEEDS = {
    "libxgbgpu.so.0": set(),
    "libxgbgpu_bridge.so": set(),
    "xgbgpu-probe": {"libxgbgpu_bridge.so"},
    "libxgboost_gpu.so.0": {"libxgbgpu.so.0", *XGBOOST},
    "xgboost-gpu": {"libxgboost_gpu.so.0", *XGBOOST},
}


def test_what_its_files_need(wheel, tmp_path):
    """The engine and bridged adapters name no runtime of OpenMP. Nothing is looked for in the working directory."""
    with zipfile.ZipFile(wheel) as file:
        names = [
            name for name in file.namelist() if name.startswith("xgboost_gpu/") and file.read(name)[:4] == b"\x7fELF"
        ]
        assert all(file.getinfo(name).external_attr >> 16 & 0o111 for name in names)  # pip keeps them executable
        file.extractall(tmp_path, names)
    assert len(names) == len(NEEDS) + len(adapters())
    for name in names:
        told = subprocess.run(["readelf", "-d", tmp_path / name], check=True, capture_output=True, text=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", told))
        assert needed - SYSTEM <= NEEDS.get(Path(name).name, {"libxgbgpu.so.0", "libxgb_bridge.so"}), name
        for folder in ":".join(re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", told)).split(":"):
            assert folder in ("$ORIGIN", "$ORIGIN/..", "$ORIGIN/../lib") or "RUNPATH" not in told, (name, folder)


@pytest.mark.parametrize("words, error", [
    (["--from", "/nowhere"], "--from is '/nowhere'; allowed: a folder that cmake has configured"),
    (["--sign", "all"], "the argument is '--sign'; allowed: --archs LIST, --from FOLDER, --out FOLDER"),
    (["--archs"], "the argument is '--archs'; allowed: --archs LIST, --from FOLDER, --out FOLDER"),
])  # fmt: skip
def test_the_script_refuses_other_arguments(words, error):
    done = subprocess.run([ROOT / "scripts/release", *words], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == f"error: {error}\n"


# --- beside each XGBoost ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", hosts())
def test_models_are_those_of_the_source_tree(installed, models, host):
    here = installed(host)
    for order in ("first", "second"):
        result = json.loads(here.python(TRAIN, order))
        assert result["models"] == models
        series = ".".join(result["xgboost"].split(".")[:2])
        assert host == DEBIAN or "wheel" not in host or host.endswith(result["xgboost"])
        name = "libxgboost_gpu.so.0" if series == "1.7" else f"libxgboost_gpu-{series}.so"
        assert result["library"].startswith(f"{here.home.parent}/") and result["library"].endswith(f"/{name}")
    assert not list(here.home.iterdir())  # no cache


def test_commands_of_the_readme(release, tmp_path):
    """In a new environment with PyPI's XGBoost; of Debian's Python, or of the one that XGBGPU_TEST_PYTHON names."""
    program = os.environ.get("XGBGPU_TEST_PYTHON")
    if program is None:
        venv.create(tmp_path / "venv", system_site_packages=True, with_pip=True)
        site = next(tmp_path.glob("venv/lib/python3.*/site-packages"))
        (site / "xgboost.pth").write_text(f"{newest()}\n", encoding="utf-8")
    else:  # it has packages of its own, or none
        subprocess.run([program, "-m", "venv", tmp_path / "venv"], check=True)
        packages = ["numpy", "scipy", newest().name.replace("wheel-", "xgboost-cpu==")]
        subprocess.run([tmp_path / "venv/bin/pip", "install", "-q", *packages], check=True)
    here = Installed(tmp_path / "home", tmp_path / "venv/bin/python3")
    done = here.run("/bin/sh", "-ec", f"cd '{release}'\n{two_commands('pip install ')}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^XGBoost {newest().name[6:]} with xgboost_gpu {VERSION}, on ", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == "The model of gpu_hist has the same bits with gpu_backend=host and one thread."


def newest() -> Path:
    if not WHEELS:
        pytest.skip(f"{HOSTS} has no XGBoost of PyPI: `scripts/hosts wheel-3.4.1` brings one")
    return WHEELS[-1]


def test_a_library_of_xgboost_in_the_prefix(wheel, models, tmp_path):
    """Conda has libxgboost.so in the folder lib of an environment, and the package xgboost without it."""
    modules = tmp_path / "prefix/modules"
    shutil.copytree(newest(), modules, ignore=shutil.ignore_patterns("libxgboost.so"))
    python = make_venv(tmp_path / "venv", wheel, debian=True, modules=[modules])
    (tmp_path / "prefix/lib").mkdir()
    shutil.copy(newest() / "xgboost/lib/libxgboost.so", tmp_path / "prefix/lib")
    shutil.move(modules / "xgboost_cpu.libs", tmp_path)  # where that library looks for its runtime of OpenMP
    assert json.loads(Installed(tmp_path / "home", python).python(TRAIN))["models"] == models


def files_below(folder: Path) -> set:
    return {file for file in folder.rglob("*") if not file.is_dir()}


@pytest.mark.parametrize("where", ["venv", "user"])
def test_pip_uninstall_leaves_nothing(models, wheel, tmp_path, where):
    home = tmp_path / "home"
    home.mkdir()
    python, words = Path(sys.executable), ["--user"]
    if where == "venv":
        venv.create(tmp_path / "venv", system_site_packages=True, symlinks=True)
        python, words = tmp_path / "venv/bin/python", []
    of_python, anywhere = ["--python", python], ["--break-system-packages"]
    before = files_below(tmp_path)
    pip(*of_python, "install", *anywhere, *words, "--no-deps", "--no-index", wheel, home=home)
    assert files_below(tmp_path) > before
    assert json.loads(Installed(home, python).python(TRAIN))["models"] == models
    pip(*of_python, "uninstall", *anywhere, "--yes", "xgboost-gpu", home=home)
    assert files_below(tmp_path) == before


# --- without an XGBoost that fits ------------------------------------------------------------------------------------


def test_without_xgboost_the_error_says_what_to_install(wheel, tmp_path):
    here = Installed(tmp_path / "home", make_venv(tmp_path / "venv", wheel, debian=False))
    message = here.python("-c", IMPORT_ERROR)
    assert message.startswith(
        "xgboost_gpu cannot import xgboost: No module named 'xgboost'. xgboost_gpu works in XGBoost 1.7 "
    )
    assert message.endswith("(pip install xgboost, or xgboost-cpu).")


def test_a_series_without_an_adapter_is_named(installed):
    here = installed(newest().name)
    series = newest().name.split("-")[1].rsplit(".", 1)[0]
    (adapter,) = here.home.parent.glob(f"venv/lib/*/site-packages/*/*/libxgboost_gpu-{series}.so")
    adapter.unlink()
    message = here.python("-c", IMPORT_ERROR)
    assert message.startswith(f"xgboost_gpu: XGBoost {series}.") and "a folder with the adapter of that series" in message
    assert message.endswith("(pip install xgboost, or xgboost-cpu).")


# --- the program -----------------------------------------------------------------------------------------------------


def test_the_program(installed):
    here = installed(DEBIAN)
    done = here.run("xgboost-gpu", "--version")
    assert done.returncode == 0 and re.search(r"XGBoost: 1\.7\.", done.stdout), done.stdout + done.stderr


def test_the_program_beside_another_xgboost(installed):
    here = installed(DEBIAN)
    here.environment["LD_LIBRARY_PATH"] = f"{here.home}:{newest() / 'xgboost_cpu.libs'}"
    library = here.home / "libxgboost.so.0"
    library.write_text("no library", encoding="utf-8")
    done = here.run("xgboost-gpu", "--version")
    assert done.returncode == 1 and done.stderr.startswith(f"xgboost-gpu cannot load XGBoost: {library}: "), done.stderr
    shutil.copy(newest() / "xgboost/lib/libxgboost.so", library)
    done = here.run("xgboost-gpu", "--version")
    release = newest().name.split("-")[1]
    assert done.returncode == 1 and done.stderr == (
        f"xgboost-gpu found XGBoost {release} in libxgboost.so.0. It works in XGBoost 1.7 of Debian 12 (package libxgboost0); "
        "Python's module xgboost_gpu works in others, too.\n"
    )
