"""scripts/host-headers, scripts/hosts and scripts/r-xgboost: what they bring, what they refuse, and what they skip. No registry is needed: pip
finds small packages that the tests make."""

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
NOWHERE = "http://127.0.0.1:9"  # nobody listens

# To build it is to call the build's tools, which a script must have replaced.
BACKEND = """
import os, subprocess

def prepare_metadata_for_build_wheel(folder, settings=None):
    subprocess.run(["cmake", "--build"], check=True)
    subprocess.run(["ninja"], check=True)
    assert os.path.exists("lib/libxgboost.so")
    name = "xgboost-3.4.1.dist-info"
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: xgboost\\nVersion: 3.4.1\\n")
    return name

def build_wheel(*others):
    raise RuntimeError("nobody needs the wheel")
"""
SOURCES = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "cpp_src/include/xgboost/c_api.h": "// c_api",
    "cpp_src/include/xgboost/tree/more.h": "// more",
    "cpp_src/dmlc-core/include/dmlc/base.h": "// base",
    "cpp_src/src/learner.cc": "// learner",
}


class Project:
    """A copy of the scripts, with a folder of packages in the place of a registry."""

    def __init__(self, folder: Path) -> None:
        self.root, self.packages = folder / "project", folder / "packages"
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        self.packages.mkdir()

    def pin(self, line: str, file: Path) -> None:
        """Says which package is wanted, with the hash of the file."""
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        (self.root / "scripts" / "hosts.txt").write_text(f"{line} --hash=sha256:{digest}\n", encoding="utf-8")

    def source_package(self, files: Dict[str, str]) -> Path:
        path = self.packages / "xgboost-3.4.1.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(f"xgboost-3.4.1/{name}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        return path

    def wheel(self, version: str) -> Path:
        path = self.packages / "xgboost_cpu-3.4.1-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("xgboost/__init__.py", f"__version__ = {version!r}\n")
            info = "xgboost_cpu-3.4.1.dist-info"
            archive.writestr(
                f"{info}/METADATA",
                "Metadata-Version: 2.1\nName: xgboost-cpu\nVersion: 3.4.1\nRequires-Python: >=3.99\nRequires-Dist: no-such\n",
            )
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return path

    def run(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.packages), "PIP_CONFIG_FILE": os.devnull}
        command: List[str] = [str(self.root / "scripts" / script), *arguments]
        environment = {**os.environ, **own, **variables}
        return subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
        )

    def unreachable(self, script: str, name: str) -> subprocess.CompletedProcess:
        """The same, where neither pip's registry nor apt's answers."""
        apt = self.root / "apt.conf"
        apt.write_text(f'Acquire::http::Proxy "{NOWHERE}";\nAcquire::https::Proxy "{NOWHERE}";\n', encoding="utf-8")
        variables = {
            "PIP_NO_INDEX": "0",
            "PIP_FIND_LINKS": "",
            "PIP_INDEX_URL": f"{NOWHERE}/simple",
            "PIP_RETRIES": "0",
        }
        return self.run(script, name, APT_CONFIG=str(apt), **variables)

    @property
    def made(self) -> List[str]:
        """All files in the folder of the scripts, hidden ones, too."""
        folder = self.root / "build" / "hosts"
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_headers_lie_side_by_side(project: Project) -> None:
    project.pin("xgboost==3.4.1", project.source_package(SOURCES))
    done = project.run("host-headers", "3.4")
    assert done.returncode == 0, done.stdout
    headers = ["include/dmlc/base.h", "include/xgboost/c_api.h", "include/xgboost/tree/more.h", "source"]
    assert project.made == [f"headers/3.4/{name}" for name in headers]


def test_headers_are_brought_once_for_each_pin(project: Project) -> None:
    project.pin("xgboost==3.4.1", project.source_package(SOURCES))
    assert project.run("host-headers", "3.4").returncode == 0
    header = project.root / "build/hosts/headers/3.4/include/xgboost/c_api.h"
    again = project.run("host-headers", "3.4")
    assert (again.returncode, again.stdout) == (0, "")
    project.pin("xgboost==3.4.1", project.source_package({**SOURCES, "cpp_src/include/xgboost/c_api.h": "// mended"}))
    assert project.run("host-headers", "3.4").returncode == 0
    assert header.read_text(encoding="utf-8") == "// mended"


def test_a_package_without_headers_is_refused(project: Project) -> None:
    less = {name: text for name, text in SOURCES.items() if not name.endswith("c_api.h")}
    project.pin("xgboost==3.4.1", project.source_package(less))
    done = project.run("host-headers", "3.4")
    assert done.returncode == 1
    assert "error: the source package of XGBoost 3.4.1 has no xgboost/c_api.h" in done.stdout
    assert project.made == []


def test_a_wheel_comes_before_the_xgboost_of_the_system(project: Project) -> None:
    """It is taken whatever Python and packages it asks for: the tests bring their own."""
    project.pin("xgboost-cpu==3.4.1", project.wheel("3.4.1 of a test"))
    done = project.run("hosts", "wheel-3.4.1")
    assert done.returncode == 0, done.stdout
    folder = project.root / "build/hosts/wheel-3.4.1"
    ask = ["-c", "import sys, xgboost; print(sys.argv[1], xgboost.__version__)", "a b"]
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command, environment in [
        ([str(folder / "python")], elsewhere),
        (["/usr/bin/python3"], {**elsewhere, "PYTHONPATH": str(folder)}),
    ]:
        said = subprocess.run([*command, *ask], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert said == "a b 3.4.1 of a test\n"
    again = project.run("hosts", "wheel-3.4.1")
    assert (again.returncode, again.stdout) == (0, "")


@pytest.mark.parametrize(
    "script, name, project_of_file",
    [
        ("host-headers", "3.4", "xgboost"),
        ("hosts", "wheel-3.4.1", "xgboost-cpu"),
    ],
)
def test_another_file_is_refused(project: Project, script: str, name: str, project_of_file: str) -> None:
    file = project.source_package(SOURCES) if script == "host-headers" else project.wheel("3.4.1")
    project.pin(f"{project_of_file}==3.4.1", file)
    with file.open("ab") as more:
        more.write(b"one byte more")
    done = project.run(script, name)
    assert done.returncode == 1, done.stdout
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (
        f"error: {project_of_file} 3.4.1: the file has another SHA-256 than the one in scripts/hosts.txt ({digest})"
        in done.stdout
    )
    assert project.made == []


def test_a_release_that_is_gone_is_an_error(project: Project) -> None:
    project.pin("xgboost-cpu==3.4.2", project.wheel("3.4.1"))
    done = project.run("hosts", "wheel-3.4.2")
    assert done.returncode == 1, done.stdout
    assert "error: xgboost-cpu 3.4.2: the registry has other releases and not this one" in done.stdout


@pytest.mark.parametrize(
    "script, name, what",
    [
        ("host-headers", "3.4", "headers of XGBoost 3.4.1: pip cannot download the source package"),
        ("hosts", "wheel-3.4.1", "wheel-3.4.1: pip cannot download it"),
        ("hosts", "debian-13", "debian-13: apt cannot download its packages"),
        pytest.param(
            "r-xgboost",
            "--own",
            "XGBoost's package for R: apt cannot download Debian's source packages xgboost dmlc-core",
            marks=pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed"),
        ),
    ],
)
def test_nothing_comes_where_the_registry_is_silent(project: Project, script: str, name: str, what: str) -> None:
    done = project.unreachable(script, name)
    assert done.returncode == SKIPPED, done.stdout
    assert done.stdout.endswith(f"skipped: {what}\nskipped in all: 1\n"), done.stdout
    assert project.made == []


@pytest.mark.parametrize(
    "script, name, said",
    [
        ("host-headers", "3.9", "error: SERIES is '3.9'; allowed: 2.0 3.0 3.2 3.3 3.4"),
        ("host-headers", "3.4.1", "error: SERIES is '3.4.1'; allowed: 2.0 3.0 3.2 3.3 3.4"),
        (
            "hosts",
            "wheel-3.4",
            "error: NAME is 'wheel-3.4'; allowed: debian-13 wheel-3.0.5 wheel-3.2.0 wheel-3.3.0 wheel-3.4.1",
        ),
    ],
)
def test_unknown_names_are_refused(project: Project, script: str, name: str, said: str) -> None:
    done = project.run(script, name)
    assert (done.returncode, done.stdout) == (1, said + "\n")
    assert project.made == []


def test_an_argument_of_r_xgboost_that_is_not_there(project: Project) -> None:
    done = project.run("r-xgboost", "--copy")
    assert (done.returncode, done.stdout) == (1, "error: the argument is '--copy'; allowed: --own, or none\n")
