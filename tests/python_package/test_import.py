"""`import xgboost_gpu`: finds the library, loads it into the right XGBoost, and says what is wrong if it cannot."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import xgboost
from fresh_python import ENGINE, LIBRARY, PACKAGE, Interpreter, copy_libraries, stand_in_for_xgboost
from xgboost.libpath import find_lib_path

TRAIN = """
import numpy
data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), numpy.arange(10))
booster = xgboost.train({"tree_method": "gpu_hist"}, data, 2)
assert booster.num_boosted_rounds() == 2
"""

PRINT_LIBRARY = "import xgboost_gpu; print(xgboost_gpu.build_info()['library'])"


@pytest.mark.parametrize("imports", ["import xgboost, xgboost_gpu", "import xgboost_gpu, xgboost"])
def test_before_or_after_xgboost(python, imports):
    python.output_of(imports + TRAIN)


def test_library_named_by_the_environment(package_copy, library):
    output = Interpreter(package_copy.parent, library=str(library)).output_of(PRINT_LIBRARY)
    assert output == str(library)


def test_a_relative_name_in_the_environment_holds_for_workers_that_start_elsewhere(package_copy, library):
    relative = os.path.relpath(library)
    move = "; import os; os.chdir('/'); print(os.environ['XGBGPU_LIBRARY'])"
    output = Interpreter(package_copy.parent, library=relative).output_of(PRINT_LIBRARY + move)
    assert output.split() == [str(library)] * 2


def test_library_beside_the_package(package_copy, library):
    copy = copy_libraries(library, package_copy)
    assert Interpreter(package_copy.parent).output_of(PRINT_LIBRARY) == str(copy)


PRINT_ENGINE = """
import xgboost_gpu
xgboost_gpu.build_info()
print(*{line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "libxgbgpu" in line})
"""


def test_engine_of_a_copied_folder(package_copy, library, tmp_path):
    """A folder with both files can be anywhere. Its library loads its engine, and no other."""
    folder = tmp_path / "a copied folder"
    folder.mkdir()
    python = Interpreter(package_copy.parent, library=str(copy_libraries(library, folder)))
    assert python.output_of(PRINT_ENGINE) == str(folder / ENGINE)


def test_newest_library_of_the_source_tree(package_copy, library):
    root = package_copy.parent.parent
    (root / "CMakeLists.txt").touch()
    for age, preset in ((100, "a"), (0, "b"), (200, "c")):
        folder = root / "build" / preset / "lib"
        folder.mkdir(parents=True)
        file = copy_libraries(library, folder)
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    output = Interpreter(package_copy.parent).output_of(PRINT_LIBRARY)
    assert output == str(root / "build" / "b" / "lib" / LIBRARY)


@pytest.mark.parametrize("editable", [True, False])
def test_library_of_an_editable_installation(package_copy, library, tmp_path, editable):
    """`pip install -e` leaves the package in the source tree, and what it builds among the installed packages."""
    root, site = package_copy.parent.parent, tmp_path / "site"
    (root / "CMakeLists.txt").touch()
    described = site / "xgboost_gpu-0.1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: xgboost-gpu\nVersion: 0.1.0\n")
    (described / "direct_url.json").write_text(json.dumps({"url": "file:///", "dir_info": {"editable": editable}}))
    (site / "xgboost_gpu").mkdir()
    built = copy_libraries(library, site / "xgboost_gpu")
    python = Interpreter(package_copy.parent, site)
    if not editable:
        assert "cannot find libxgboost_gpu.so.0" in python.import_error()
        return
    assert python.output_of(PRINT_LIBRARY) == str(built)
    newer = root / "build" / "host" / "lib"
    newer.mkdir(parents=True)
    copy_libraries(library, newer)
    os.utime(built, (1_000_000, 1_000_000))
    assert python.output_of(PRINT_LIBRARY) == str(newer / LIBRARY)


def test_library_where_the_system_finds_it(package_copy, library, tmp_path):
    folder = tmp_path / "system"
    folder.mkdir()
    copy_libraries(library, folder)
    python = Interpreter(package_copy.parent)
    python.environment["LD_LIBRARY_PATH"] = str(folder)
    assert python.output_of("import xgboost_gpu; print(xgboost_gpu.__version__)").startswith("0.")


@pytest.mark.parametrize("way", ["environment", "beside the package", "system"])
def test_library_without_its_engine(package_copy, library, tmp_path, way):
    """The message names the engine, where it was looked for, and what to do."""
    folder = package_copy if way == "beside the package" else tmp_path / "alone"
    folder.mkdir(exist_ok=True)
    file = Path(shutil.copy(library, folder / LIBRARY))
    python = Interpreter(package_copy.parent, library=str(file) if way == "environment" else "")
    python.environment.pop("LD_LIBRARY_PATH", None)
    if way == "system":
        python.environment["LD_LIBRARY_PATH"] = str(folder)
    message = python.import_error()
    found = file.name if way == "system" else file
    assert message.startswith(f"xgboost_gpu found {found} but not {ENGINE}, the engine that it is linked to. ")
    if way == "system":
        assert f"LD_LIBRARY_PATH, which is {folder}" in message
    else:
        assert "LD_LIBRARY_PATH, which is not set" in message
        assert f"the library's folder: {folder / ENGINE}" in message
    assert f"the system's libraries: {ENGINE}: cannot open shared object file" in message
    assert message.endswith(f"copy {ENGINE} from the folder that the library was built or installed in.")


def test_no_library_anywhere(package_copy):
    root = package_copy.parent.parent
    (root / "CMakeLists.txt").touch()
    message = Interpreter(package_copy.parent).import_error()
    assert message.startswith("xgboost_gpu cannot find libxgboost_gpu.so.0. It looked for it in:")
    assert "XGBGPU_LIBRARY, which is not set" in message
    assert str(package_copy / LIBRARY) in message
    assert str(root / "build/*/lib" / LIBRARY) in message
    assert "cannot open shared object file" in message  # the system loader's own words


def test_environment_names_no_file(package_copy):
    message = Interpreter(package_copy.parent, library="/nowhere/lib.so").import_error()
    assert message == "xgboost_gpu: XGBGPU_LIBRARY names /nowhere/lib.so, which is not a file"


def test_file_that_is_no_library(package_copy, tmp_path):
    file = tmp_path / "text.so"
    file.write_text("no library")
    message = Interpreter(package_copy.parent, library=str(file)).import_error()
    assert message.startswith(f"xgboost_gpu found {file} but cannot load it: ")


def test_library_of_something_else(package_copy, tmp_path):
    path = compile_library(tmp_path, "int Nothing(void) { return 0; }")
    message = Interpreter(package_copy.parent, library=path).import_error()
    assert "but cannot load it: " in message
    assert "XGBGPUBuildInfo" in message


def test_without_xgboost(package_copy, library, tmp_path):
    stand_in_for_xgboost(tmp_path, "raise ImportError('there is none')")
    message = Interpreter(tmp_path, package_copy.parent, library=str(library)).import_error()
    assert message.startswith("xgboost_gpu cannot import xgboost: there is none. ")
    assert "python3-xgboost" in message


@pytest.mark.parametrize("version", ["1.6.2", "2.0.3", "1.70.0"])
def test_another_version_of_xgboost(package_copy, library, tmp_path, version):
    own = library_of_version(tmp_path, version)
    stand_in_for_xgboost(tmp_path, f"__version__ = '{version}'", own)
    message = Interpreter(tmp_path, package_copy.parent, library=str(library)).import_error()
    assert message.startswith(f"xgboost_gpu: XGBoost {version} in '{own}': xgboost-gpu works in 1.7 (by libxgboost_gpu.so), 3.0, ")
    assert "pip install xgboost" in message


def test_an_xgboost_that_lacks_what_its_series_has(package_copy, library, tmp_path):
    """As one that was stripped, or a library that only says that it is XGBoost."""
    own = library_of_version(tmp_path, "3.4.1")
    stand_in_for_xgboost(tmp_path, "__version__ = '3.4.1'", own)
    message = Interpreter(tmp_path, package_copy.parent, library=str(library)).import_error()
    assert message.startswith(f"xgboost_gpu: XGBoost 3.4.1 in '{own}'")
    assert "; allowed: " in message


def test_no_bridge_for_a_newer_xgboost(package_copy, library, tmp_path):
    stand_in_for_xgboost(tmp_path, "__version__ = '3.4.1'", library_of_version(tmp_path, "3.4.1"))
    alone = copy_libraries(library, tmp_path)
    message = Interpreter(tmp_path, package_copy.parent, library=str(alone)).import_error()
    assert message == f"xgboost_gpu: there is no libxgbgpu_bridge.so beside {alone}, which XGBGPU_LIBRARY names"
    message = Interpreter(tmp_path, package_copy.parent).import_error()
    assert message.startswith("xgboost_gpu cannot find libxgbgpu_bridge.so. It looked for it in:")


def test_a_bridge_that_is_no_library(package_copy, tmp_path):
    stand_in_for_xgboost(tmp_path, "__version__ = '3.4.1'", library_of_version(tmp_path, "3.4.1"))
    file = package_copy / "libxgbgpu_bridge.so"
    file.write_text("no library")
    message = Interpreter(tmp_path, package_copy.parent).import_error()
    assert message.startswith(f"xgboost_gpu found {file} but cannot load it: ")


def test_xgboost_with_a_library_of_its_own(package_copy, library, tmp_path):
    """As with the wheel of the package index: right version, but not the library that the system has."""
    own = library_of_version(tmp_path, "1.7.4")
    stand_in_for_xgboost(tmp_path, "__version__ = '1.7.4'", own)
    message = Interpreter(tmp_path, package_copy.parent, library=str(library)).import_error()
    assert f"uses a library of its own, {own}. " in message
    assert "--system-site-packages" in message


def test_library_that_refuses_this_xgboost(package_copy, tmp_path):
    info = '{\\"registered\\": false, \\"why_not_registered\\": \\"it is Tuesday\\"}'
    xgboost_library = find_lib_path()[0]
    functions = f'char const* XGBGPUBuildInfo(void) {{ return "{info}"; }}'
    functions += "char const* XGBGPUDeviceInfo(void) { return 0; } char const* XGBGPUMemoryReport(void) { return 0; }"
    path = compile_library(tmp_path, functions, "-Wl,--no-as-needed", xgboost_library)
    message = Interpreter(package_copy.parent, library=path).import_error()
    assert message == f"xgboost_gpu loaded {path}, which does not serve this XGBoost: it is Tuesday"


def test_build_info(python, library):
    code = "import json, xgboost_gpu; print(json.dumps([xgboost_gpu.build_info(), xgboost_gpu.__version__]))"
    info, version = json.loads(python.output_of(code))
    assert info["version"] == version
    assert version.split(".")[0] == "0"
    assert info["xgboost_built"].startswith("1.7.")
    assert info["xgboost_running"] == xgboost.__version__
    assert info["registered"] is True
    assert info["why_not_registered"] == ""
    assert "host" in info["backends"]
    assert ("cuda" in info["backends"]) == (info["why_no_cuda"] == "")
    assert ("cuda" in info["backends"]) == bool(info["devices"])
    assert all(architecture.isdigit() for architecture in info["cuda_architectures"])
    for device in info["devices"]:
        assert device["name"] and device["architecture"] >= 75 and device["memory"] > 2**30
    assert info["library"] == str(library)


def test_a_driver_that_is_older_than_the_cuda_of_the_build(python, tmp_path):
    """A driver for CUDA 11.4, of which the CUDA runtime asks no more than the version."""
    code = "import xgboost_gpu; info = xgboost_gpu.build_info(); print(len(info['cuda_architectures']), info['why_no_cuda'])"
    if python.output_of(code).startswith("0 "):
        pytest.skip("this build has no CUDA backend")
    functions = "int cuDriverGetVersion(int* version) { *version = 11040; return 0; } int cuInit(unsigned flags) { return flags; }"
    os.rename(compile_library(tmp_path, functions), tmp_path / "libcuda.so.1")
    python.environment["LD_LIBRARY_PATH"] = str(tmp_path)
    said = "the NVIDIA driver (?:[0-9.]+ )?is for CUDA 11\\.4; needed: a driver for CUDA 1[23]\\.0 or newer, which is (525|580) or newer"
    assert re.fullmatch(rf"[0-9]+ {said}", python.output_of(code))


def test_the_nccl_of_pypi_is_told_to_the_library_unless_the_user_tells_of_another(python, tmp_path):
    file = tmp_path / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    file.parent.mkdir(parents=True)
    file.touch()
    code = f"import os, sys; sys.path.append({str(tmp_path)!r}); {{}}import xgboost_gpu; print(os.environ['{{}}'])"
    assert python.output_of(code.format("", "XGBGPU_NCCL_WHEEL")) == str(file)
    own = "os.environ['XGBGPU_NCCL_WHEEL'] = '/own'; "
    assert python.output_of(code.format(own, "XGBGPU_NCCL_WHEEL")) == "/own"


FORK = """
import os, xgboost, xgboost_gpu
xgboost_gpu.__version__
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
assert not any("libcuda.so" in name or "libcudart" in name for name in mapped), mapped
folder = "/proc/self/fd"
opened = [os.readlink(f"{folder}/{number}") for number in os.listdir(folder) if os.path.lexists(f"{folder}/{number}")]
assert not any("/dev/nvidia" in name for name in opened), opened
if os.fork() == 0:
    status = 1
    try:
        exec(TRAIN)
        status = 17
    finally:
        os._exit(status)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_process_may_fork_after_the_import(python):
    """Nothing has looked for a device by then: a child cannot use a CUDA driver that its parent has started."""
    output = python.output_of(f"TRAIN = {TRAIN!r}\n{FORK}")  # a warning may come first: there is no device
    assert output.splitlines()[-1] == "17"


MEMORY = """
import numpy, xgboost, xgboost_gpu
data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), numpy.arange(10))
class Look(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        global report
        report = xgboost_gpu.memory_report()
xgboost.train({"tree_method": "gpu_hist", "gpu_backend": "host"}, data, 2, callbacks=[Look()])
assert xgboost_gpu.memory_report() == []
assert set(report[0]) == set(xgboost_gpu.TrainingMemory.__annotations__)
print(len(report), report[0]["backend"], report[0]["device"], report[0]["rows"], report[0]["columns"])
"""


def test_memory_report(python):
    """Every key is documented; xgboost.train ends with a copy of the booster, which has trained nothing."""
    assert python.output_of(MEMORY) == "1 host None 10 2"


def test_build_info_documents_every_key(python):
    code = "import xgboost_gpu as x; print(set(x.build_info()) == set(x.BuildInfo.__annotations__))"
    assert python.output_of(code) == "True"


def test_package_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def library_of_version(folder: Path, version: str) -> str:
    """A shared library that says that it is this XGBoost."""
    numbers = [f"*{name} = {number};" for name, number in zip("abc", version.split("."))]
    return compile_library(folder, f"void XGBoostVersion(int* a, int* b, int* c) {{ {' '.join(numbers)} }}")


def compile_library(folder: Path, code: str, *options: str) -> str:
    """A shared library made of this line of C."""
    source, target = folder / "small.c", folder / "small.so"
    source.write_text(code + "\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", target, source, *options], check=True)
    return str(target)
