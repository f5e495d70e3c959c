"""The wheel, made once, and Pythons with nothing but it and an XGBoost."""

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Callable, List, Sequence

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # for documents.py
HOSTS = ROOT / "build" / "hosts"
#: PyPI's XGBoosts that scripts/hosts has brought, the newest last.
WHEELS = sorted(file.parent for file in HOSTS.glob("wheel-3.*/xgboost"))
#: Debian's own XGBoost, its name in `hosts`.
DEBIAN = "1.7, Debian 12"


class Installed:
    """A Python that has the wheel. It sees no compiler, nothing of the source tree, and a home of its own."""

    def __init__(self, home: Path, program: Path, *modules: Path) -> None:
        self.home, self.program = home, program
        home.mkdir(exist_ok=True)
        self.environment = {"HOME": str(home), "PATH": str(program.parent), "OMP_NUM_THREADS": "1"}
        if modules:
            self.environment["PYTHONPATH"] = os.pathsep.join(map(str, modules))

    def run(self, *command: object) -> subprocess.CompletedProcess:
        words = [str(word) for word in command]
        return subprocess.run(
            words, env=self.environment, cwd=self.home.parent, capture_output=True, text=True, timeout=600
        )

    def python(self, *command: object) -> str:
        done = self.run(self.program, *command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


def pip(*words: object, home: Path) -> None:
    """Debian's pip, which installs into any folder or environment."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, words)]
    done = subprocess.run(command, env={"PATH": "/usr/bin", "HOME": str(home)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def make_venv(folder: Path, wheel: Path, *, debian: bool, modules: Sequence[Path] = ()) -> Path:
    """A virtual environment with the wheel, these folders of modules and, if asked for, Debian's; returns its Python."""
    venv.create(folder, system_site_packages=debian, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python3.*/site-packages"))
    (site / "modules.pth").write_text("".join(f"{one}\n" for one in modules), encoding="utf-8")
    pip("--python", folder / "bin/python", "install", "--no-deps", "--no-index", wheel, home=folder)
    return folder / "bin/python"


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What scripts/release makes of the build folder, or has made in the folder that $XGBGPU_RELEASE names."""
    if os.environ.get("XGBGPU_RELEASE"):
        return Path(os.environ["XGBGPU_RELEASE"])
    folder = tmp_path_factory.mktemp("release") / "dist"
    script = [ROOT / "scripts/release", "--from", os.environ["XGBGPU_BUILD_FOLDER"], "--out", folder]
    done = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip().splitlines()[-2])
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="session")
def wheel(release: Path) -> Path:
    (file,) = release.glob("*.whl")
    return file


def hosts() -> List[str]:
    """XGBoosts to test in: Debian's, PyPI's in Debian 12's Python and in Debian 13's, and Debian 13's own."""
    wheels = [folder.name for folder in WHEELS]
    in_debian_13 = ["debian-13", *(f"debian-13 {name}" for name in wheels[-1:])]
    return [DEBIAN, *wheels, *(in_debian_13 if (HOSTS / "debian-13").is_dir() else [])]


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installed]:
    """Installs the wheel beside an XGBoost of `hosts`."""

    def install(host: str) -> Installed:
        folder = tmp_path_factory.mktemp("installed")
        words = host.split()
        if words[0] == "debian-13":  # it has no pip. The wheel is for every Python
            pip("install", "--no-deps", "--no-index", "--target", folder / "site", wheel, home=folder)
            modules = [folder / "site", *(HOSTS / word for word in words[1:])]
            here = Installed(folder / "home", HOSTS / "debian-13/python", *modules)
            (folder / "tools").mkdir()
            (folder / "tools/dirname").symlink_to("/usr/bin/dirname")  # for the script that starts this Python
            here.environment["PATH"] += f":{folder / 'tools'}"
            return here
        modules = [] if host == DEBIAN else [HOSTS / host]
        return Installed(folder / "home", make_venv(folder / "venv", wheel, debian=True, modules=modules))

    return install
