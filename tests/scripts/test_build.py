"""How the project is configured: warnings are errors in continuous integration alone; what a build for GPUs is for."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

ROOT = Path(__file__).resolve().parents[2]
NVCC = "#!/bin/sh\necho compute_75\necho compute_80\necho compute_90\n"


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_no_preset_treats_warnings_as_errors() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    assert presets
    assert [preset["name"] for preset in presets if "XGBGPU_WERROR" in preset.get("cacheVariables", {})] == []
    assert "WERROR" not in (ROOT / "scripts" / "gpu_check").read_text(encoding="utf-8")


@pytest.mark.parametrize("script, value", [(".ci/run", "ON"), ("scripts/test", "OFF")])
def test_warnings_are_errors_in_continuous_integration(tmp_path: Path, script: str, value: str) -> None:
    """A copy of the scripts, in which nothing is installed and cmake only says what it was called with."""
    for folder in (".ci", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    setup = tmp_path / "scripts" / "setup.sh"
    nothing = "".join(f"{name}() {{ :; }}\n" for name in ("install_packages", "bring_series", "bring_r", "bring_tables", "bring_spark"))
    setup.write_text(f"{setup.read_text(encoding='utf-8')}\n{nothing}", encoding="utf-8")
    tools = tmp_path / "tools"
    program(tools, "cmake", '#!/bin/sh\necho "cmake $*"\n')
    program(tools, "ctest", "#!/bin/sh\nexit 1\n")
    environment = {name: text for name, text in os.environ.items() if name != "XGBGPU_WERROR"}
    environment["PATH"] = f"{tools}:{environment['PATH']}"
    done = subprocess.run([tmp_path / script], env=environment, stdout=subprocess.PIPE, text=True)
    configured = [line for line in done.stdout.splitlines() if "--preset" in line and "--build" not in line]
    assert len(configured) == 1 and f"-DXGBGPU_WERROR={value}" in configured[0], done.stdout
    assert "-DXGBGPU_UNITY=ON" in configured[0]


def chosen(folder: Path, settings: Dict[str, str], has_gpu: bool) -> List[str]:
    """What cmake says, with a compiler that knows three architectures."""
    tools = folder / "tools"
    program(tools, "nvidia-smi", '#!/bin/sh\necho "GPU 0: one"\n' if has_gpu else "#!/bin/sh\nexit 9\n")
    compiler = program(tools, "nvcc", NVCC)
    (folder / "choose.cmake").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        f"include({ROOT}/cmake/CudaArchitectures.cmake)\n"
        f"xgbgpu_choose_cuda_architectures({compiler})\n"
        'message(STATUS "= ${CMAKE_CUDA_ARCHITECTURES}")\n',
        encoding="utf-8",
    )
    options = [f"-D{name}={value}" for name, value in settings.items()]
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    command = ["cmake", *options, "-P", str(folder / "choose.cmake")]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [line[3:] if line.startswith("-- ") else line for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "settings, has_gpu, architectures, reason",
    [
        ({}, True, "75-real;80-real;90", "every GPU that is supported"),
        ({"XGBGPU_CUDA_ARCHITECTURES": "release"}, True, "75-real;80-real;90", "every GPU that is supported"),
        ({"XGBGPU_CUDA_ARCHITECTURES": "auto"}, True, "native", "the GPU of this machine"),
        ({"XGBGPU_CUDA_ARCHITECTURES": "auto"}, False, "75-real;80-real;90", "no GPU was found here, so every GPU"),
        ({"XGBGPU_CUDA_ARCHITECTURES": "local"}, True, "native", "the GPU of this machine"),
        ({"XGBGPU_CUDA_ARCHITECTURES": "local"}, False, "75", "no GPU was found here, so one architecture"),
        ({"CMAKE_CUDA_ARCHITECTURES": "86"}, True, "86", "as CMAKE_CUDA_ARCHITECTURES says"),
    ],
)
def test_a_build_says_what_it_is_for(
    tmp_path: Path, settings: Dict[str, str], has_gpu: bool, architectures: str, reason: str
) -> None:
    said = chosen(tmp_path, settings, has_gpu)
    assert said[-1] == f"= {architectures}", said
    assert said[0].startswith(f"CUDA architectures: {architectures.replace(';', ' ')} ({reason}"), said
    assert " min on" in said[0] and " core" in said[0]


def test_a_build_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    said = " ".join(chosen(tmp_path, {"XGBGPU_CUDA_ARCHITECTURES": "mine"}, True))
    assert "XGBGPU_CUDA_ARCHITECTURES is 'mine'; allowed: release, auto, local" in said
