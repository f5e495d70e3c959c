"""The bridge in XGBoosts of PyPI: what it loads, what it refuses, and what others see of it."""

import re
import shutil
import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from conftest import ADAPTERS, HOSTS, LOAD, RELEASES, ROOT, library, run

ALL = "xgboost-gpu works in 1.7 (by libxgboost_gpu.so), 3.0, 3.2, 3.3 and 3.4"
GBTREE = "_ZTVN7xgboost3gbm6GBTreeE"
CONTEXT = "_ZN7xgboost7ContextC"


@pytest.mark.parametrize("release", RELEASES)
def test_an_adapter_gets_into_its_series(release):
    text = """
ctypes.CDLL(XGBOOST)
first, named = load(None), load(XGBOOST)
small = ctypes.CDLL(first["adapter"], mode=os.RTLD_NOLOAD)
print(json.dumps([first, named, small.SmallAdapterSeries()]))
"""
    first, named, bound = run(text, library(release), ADAPTERS)
    series = release.rsplit(".", 1)[0]
    assert first == {"status": 0, "adapter": f"{ADAPTERS}/libxgboost_gpu-{series}.so", "error": ""}
    assert named == first
    assert bound == int(series.replace(".", "0"))


@pytest.mark.parametrize("release", RELEASES)
def test_names_of_contracts_are_in_the_wheel(release):
    contract = ROOT / f"plugin/bridge/contracts/{release.rsplit('.', 1)[0]}.txt"
    names = set(re.findall(r"^name (.*)$", contract.read_text(encoding="utf-8"), re.MULTILINE))
    nm = [subprocess.run(["nm", "--defined-only", *options, str(library(release))], check=True, capture_output=True, text=True)
          for options in ([], ["-D"])]
    has = {line.split()[-1] for run_ in nm for line in run_.stdout.splitlines()}
    assert names
    assert {name for name in names - has if not re.match("(GOMP|omp)_", name)} == set()


@pytest.mark.parametrize("release", RELEASES)
def test_contracts_have_the_slots_and_sizes_of_the_wheel(release):
    """scripts/contract would write them again."""
    loader = SourceFileLoader("contract", str(ROOT / "scripts/contract"))
    script = module_from_spec(spec_from_loader("contract", loader))
    loader.exec_module(script)
    measured, lines = script.measured(str(library(release)))
    contract = (ROOT / f"plugin/bridge/contracts/{release.rsplit('.', 1)[0]}.txt").read_text("utf-8").splitlines()
    assert measured == release and f"release {release}" in contract
    assert [line for line in contract if re.match("(slot|size) ", line)] == lines


def test_debians_stripped_one():
    """It shows its C++ names, and has no others."""
    debian = HOSTS / "debian-13"
    if not debian.is_dir():
        pytest.skip(f"{debian} is not there: `scripts/hosts debian-13` brings it")
    path = debian / "usr/lib/x86_64-linux-gnu/libxgboost.so.0"
    assert run(LOAD, path, ADAPTERS, python=str(debian / "python")) == {
        "status": 0, "adapter": f"{ADAPTERS}/libxgboost_gpu-3.0.so", "error": ""}  # fmt: skip


def test_a_tested_release_leaves_no_file(cache):
    assert run(LOAD, library("3.4.1"), ADAPTERS)["status"] == 0
    assert not cache.exists()


def test_nobody_else_sees_the_names():
    text = """
names = ["XGBGPUBridgeLoad", "XGBGPURegister", "XGBoosterSetParam", "_ZN7xgboost7ContextC1Ev", "_ZN7xgboost7ContextC2Ev"]
ctypes.CDLL(XGBOOST, mode=os.RTLD_LOCAL)
loaded = load(XGBOOST)
print(json.dumps([loaded["status"], [name for name in names if hasattr(ctypes.CDLL(None), name)],
                  [name for name in names if hasattr(bridge, name)]]))
"""
    assert run(text, library("3.2.0"), ADAPTERS) == [0, [], ["XGBGPUBridgeLoad"]]


def test_memory_of_the_table_is_no_code_and_there_is_one_openmp():
    text = """
ctypes.CDLL(XGBOOST)
loaded = load(XGBOOST)
print(json.dumps([loaded["status"], [line.split() for line in open("/proc/self/maps")]]))
"""
    status, maps = run(text, library("3.4.1"), ADAPTERS)
    assert status == 0
    table = [line for line in maps if "libxgb_bridge.so" in " ".join(line)]
    assert table and not [line for line in table if "x" in line[1]], table
    assert len({line[5] for line in maps if len(line) > 5 and re.search(r"lib(?:g|i)?omp", line[5])}) == 1


def test_without_a_home_nothing_is_kept():
    text = "del os.environ['XDG_CACHE_HOME']\nos.environ['HOME'] = '/nowhere'\n" + LOAD
    assert run(text, library("3.4.1"), ADAPTERS)["status"] == 0


def test_the_chosen_xgboost_is_bound_though_another_is_loaded_for_all():
    text = """
ctypes.CDLL(os.environ["OTHER"], mode=os.RTLD_GLOBAL)
ctypes.CDLL(XGBOOST)
several, loaded = load(None), load(XGBOOST)
small = ctypes.CDLL(loaded["adapter"], mode=os.RTLD_NOLOAD)
print(json.dumps([several["error"], loaded, small.SmallAdapterSeries(), load(os.environ["OTHER"])["error"]]))
"""
    other = library("3.2.0")
    several, loaded, bound, second = run(text, library("3.4.1"), ADAPTERS, OTHER=str(other))
    assert several == (f"the process has XGBoost 3.2.0 in '{other}' and XGBoost 3.4.1 in '{library('3.4.1')}'; allowed: one, "
                       "or the name of the one that is meant")  # fmt: skip
    assert loaded["status"] == 0
    assert bound == 304
    assert second == (f"xgboost-gpu works in XGBoost 3.4.1 in '{library('3.4.1')}' of this process and was asked for XGBoost "
                      f"3.2.0 in '{other}'; allowed: one XGBoost of a process")  # fmt: skip


# --- refusals --------------------------------------------------------------------------------------------------------


def refusal(path: Path, folder: Path = ADAPTERS, **environment: str) -> str:
    """Why an XGBoost is refused. Afterwards no adapter is in the process."""
    text = """
ctypes.CDLL(XGBOOST)
result = load(XGBOOST)
result["left"] = [line.split()[-1] for line in open("/proc/self/maps") if "libxgboost_gpu-" in line or "libxgb_bridge" in line]
print(json.dumps(result))
"""
    result = run(text, path, folder, **environment)
    assert result["status"] == -1
    assert result["adapter"] is None
    assert not result["left"]
    return result["error"]


def test_a_process_without_xgboost():
    text = "print(json.dumps([load(None)['error'], load('libm.so.6')['error'], load(None, None)['error']]))"
    nothing, unknown, null = run(text, Path("/"), ADAPTERS)
    assert nothing == "no XGBoost is in the process; allowed: to load the bridge behind libxgboost"
    assert unknown == "'libm.so.6' has no function XGBoostVersion; allowed: a libxgboost"
    assert null == "folder is null; allowed: the folder of the adapters"


@pytest.mark.parametrize("version", [(3, 5, 0), (3, 1, 3), (2, 1, 4), (1, 7, 6)])
def test_an_unknown_series(copy_of, version):
    copy = copy_of("3.4.1")
    copy.set_version(*version)
    assert refusal(copy.save()) == f"XGBoost {'.'.join(map(str, version))} in '{copy.path}': {ALL}"


def test_a_folder_without_the_adapter(tmp_path):
    path = library("3.4.1")
    assert refusal(path, tmp_path) == (
        f"XGBoost 3.4.1 in '{path}' needs '{tmp_path}/libxgboost_gpu-3.4.so', which cannot be read; allowed: a folder with the "
        "adapter of that series")


def test_an_adapter_that_is_none(tmp_path):
    for name, why in ((library("3.4.1"), "does not need libxgb_bridge.so; allowed: an adapter for the bridge"),
                      (Path(__file__), "is no ELF file; allowed: a shared object for x86-64, complete")):  # fmt: skip
        shutil.copy(name, tmp_path / "libxgboost_gpu-3.4.so")
        assert refusal(library("3.4.1"), tmp_path) == f"'{tmp_path}/libxgboost_gpu-3.4.so' {why}"


def test_a_stripped_one_that_hides_its_names(copy_of):
    copy = copy_of("3.2.0")
    subprocess.run(["strip", str(copy.path)], check=True)
    assert refusal(copy.path) == (
        f"XGBoost 3.2.0 in '{copy.path}' hides its C++ names and was stripped: it lacks 'xgboost::Context::Context()'; allowed: "
        "one that was not stripped, as PyPI's wheels, or that shows its names, as Debian's")


def test_a_stripped_one_that_shows_its_names(copy_of):
    copy = copy_of("3.4.1")
    subprocess.run(["strip", str(copy.path)], check=True)
    assert run(LOAD, copy.path, ADAPTERS)["error"] == ""


def test_the_old_string(copy_of):
    """GCC marks names with the new std::string by cxx11."""
    copy = copy_of("3.2.0")
    copy.replace_hidden(b"cxx11", b"cxx98")
    assert refusal(copy.save()) == (
        f"XGBoost 3.2.0 in '{copy.path}' was compiled with the old std::string (_GLIBCXX_USE_CXX11_ABI=0); allowed: one with the "
        "new std::string, as PyPI's wheels from 3.0 on")


def test_a_name_is_missing(copy_of):
    copy = copy_of("3.2.0")
    copy.replace(CONTEXT.encode(), CONTEXT.replace("7Context", "7Kontext").encode())
    assert refusal(copy.save()) == (
        f"XGBoost 3.2.0 in '{copy.path}' lacks 1 names that the adapter needs: 'xgboost::Context::Context()'; allowed: an "
        "XGBoost that has them all")


def test_a_function_is_elsewhere(copy_of):
    """A virtual function that is not in its slot: the layout of the class is another one."""
    copy = copy_of("3.3.0")
    do_boost = next(line.split()[3:] for line in (ROOT / "plugin/bridge/contracts/3.3.txt").read_text("utf-8").splitlines()
                    if line.startswith(f"slot {GBTREE} ") and "7DoBoost" in line)  # fmt: skip
    for name in do_boost:
        copy.move(name, copy.value(name) + 16)
    error = refusal(copy.save())
    assert re.match(rf"XGBoost 3\.3\.0 in '{copy.path}' has another function in word \d+ of 'vtable for xgboost::gbm::GBTree'; "
                    r"allowed: 'xgboost::gbm::GBTree::DoBoost\(", error), error  # fmt: skip


def test_a_size_is_another(copy_of):
    """The constructor of one class is said to be where the one of a smaller class is."""
    copy = copy_of("3.2.0")
    copy.move(f"{CONTEXT}2Ev", copy.value("_ZN7xgboost10SparsePageC2Ev"))
    assert refusal(copy.save()) == (
        f"XGBoost 3.2.0 in '{copy.path}' writes 32 bytes in 'xgboost::Context::Context()'; allowed: 84")


def test_a_file_that_was_replaced(copy_of):
    copy = copy_of("3.2.0")
    text = """
import shutil
ctypes.CDLL(XGBOOST)
os.remove(XGBOOST)
shutil.copy(os.environ["OTHER"], XGBOOST)
print(json.dumps(load(None)))
"""
    result = run(text, copy.path, ADAPTERS, OTHER=str(library("3.3.0")))
    assert re.match(rf"XGBoost 3\.2\.0 in '{copy.path}' was loaded from another file than the one that is there now: 'XG\w+' is not "
                    "where that has it; allowed: to start the program anew", result["error"]), result  # fmt: skip


@pytest.mark.parametrize("behaviour", ["refuse", "differ"])
def test_an_adapter_says_no(behaviour):
    path = library("3.4.1")
    error = refusal(path, XGBGPU_SMALL_ADAPTER=behaviour)
    assert error == f"the adapter does not work in XGBoost 3.4.1 in '{path}': the small adapter says no"


def test_a_second_copy_of_the_bridge(tmp_path):
    text = """
import shutil
ctypes.CDLL(XGBOOST)
first = load(XGBOOST)["status"]
bridge = ctypes.CDLL(shutil.copy(os.environ["XGBGPU_BRIDGE"], os.environ["COPY"]))
bridge.XGBGPUBridgeError.restype = ctypes.c_char_p
print(json.dumps([first, load(XGBOOST)["error"]]))
"""
    assert run(text, library("3.4.1"), ADAPTERS, COPY=str(tmp_path / "libcopy.so")) == [
        0, "libxgb_bridge.so is in the process already, from another copy of this library or from an adapter that said no; "
           "allowed: one adapter of a process, and one try"]  # fmt: skip


# --- releases that nobody has tested ---------------------------------------------------------------------------------


@pytest.fixture(name="untested")
def untested_fixture(copy_of):
    copy = copy_of("3.4.1")
    copy.set_version(3, 4, 77)
    return copy.save()


def test_an_untested_release_that_trains(untested, cache):
    assert run(LOAD, untested, ADAPTERS)["error"] == ""
    verdict, = cache.iterdir()
    assert verdict.read_text("utf-8").endswith("\n+")
    # The next process believes the verdict: this adapter would not pass another trial.
    assert run(LOAD, untested, ADAPTERS, XGBGPU_SMALL_ADAPTER="no training")["error"] == ""


@pytest.mark.parametrize("behaviour, reason", [
    ("crash", "it crashed with signal 6"),
    ("no training", "XGBoosterUpdateOneIter failed: .*gpu_hist.*"),
    ("differ", "the adapter does not work in XGBoost 3.4.77 in .*: the small adapter says no"),
])  # fmt: skip
def test_an_untested_release_that_fails_is_refused(untested, cache, behaviour, reason):
    for environment in ({"XGBGPU_SMALL_ADAPTER": behaviour}, {}):  # the second time by the verdict that was kept
        error = refusal(untested, **environment)
        assert re.fullmatch(rf"XGBoost 3\.4\.77 in '{untested}' is no release that was tested, and a trial in a child process "
                            rf"failed: {reason} \(kept in '{cache}/trial-\d+'\); allowed: a release of series 3\.4 that passes, "
                            "or one that was tested", error, re.DOTALL), error  # fmt: skip


def test_a_verdict_is_of_one_file(untested, cache):
    refusal(untested, XGBGPU_SMALL_ADAPTER="crash")
    untested.touch()
    assert run(LOAD, untested, ADAPTERS)["error"] == ""
    assert len(list(cache.iterdir())) == 2


def test_without_a_cache_folder_every_process_tries(untested, cache):
    cache.parent.mkdir()
    cache.write_text("no folder", encoding="utf-8")
    assert "it crashed with signal 6; allowed" in refusal(untested, XGBGPU_SMALL_ADAPTER="crash")
    assert run(LOAD, untested, ADAPTERS)["error"] == ""
