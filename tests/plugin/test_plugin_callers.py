"""Libraries that call functions in front: one whose own XGBoost is of another series is refused by each of them.

Each case is a process of its own, with the library in the global scope, as LD_PRELOAD puts it there.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest
import xgboost as xgb

LIBRARY = os.environ["XGBGPU_LIBRARY"]
VERSION = """
void XGBoostVersion(int* major, int* minor, int* patch) {{ if (major) *major = {}; if (minor) *minor = {}; if (patch) *patch = {}; }}
"""
CALLER = """
int XGDMatrixCreateFromMat(float const*, unsigned long, unsigned long, float, void**);
int Make(void** matrix) { float const values[4] = {1, 2, 3, 4}; return XGDMatrixCreateFromMat(values, 2, 2, 0, matrix); }
"""
RUN = """
import ctypes, sys
caller = ctypes.CDLL(sys.argv[1])
last_error = ctypes.CDLL(None).XGBGetLastError
last_error.restype = ctypes.c_char_p
"""
MAKE = RUN + """
matrix = ctypes.c_void_p()
for _ in range(2):
    print(caller.Make(ctypes.byref(matrix)), last_error().decode())
"""


def functions_in_front() -> List[str]:
    function = ctypes.CDLL(LIBRARY).XGBGPUFunctionsInFront
    function.restype = ctypes.c_char_p
    return json.loads(function())


def compiled(file: Path, source: str, *options: str) -> str:
    file.with_suffix(".c").write_text(source, encoding="utf-8")
    command = ["gcc", "-shared", "-fPIC", "-o", str(file), str(file.with_suffix(".c")), *options]
    subprocess.run(command, check=True)
    return str(file)


def run(code: str, caller: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, caller]
    return subprocess.run(command, env={**os.environ, "LD_PRELOAD": LIBRARY, **environment}, capture_output=True, text=True)


def refusal(caller: str, version: str, file: str) -> str:
    return (
        f"xgboost-gpu works in XGBoost {xgb.__version__} of '{linked_xgboost()}', and '{caller}' calls it, whose XGBoost is "
        f"{version} of '{file}'; allowed: a caller whose XGBoost is of series 1.7"
    )


def linked_xgboost() -> str:
    """The file of the XGBoost that the library is linked to, under the name by which the loader finds it."""
    listing = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
    return re.search(r"libxgboost\S* => (\S+)", listing).group(1)


@pytest.mark.parametrize("version", ["3.1.4", "2.7.4", "1.6.2"])
def test_a_caller_with_another_series_is_refused(tmp_path, version):
    caller = compiled(tmp_path / "caller.so", VERSION.format(*version.split(".")) + CALLER)
    done = run(MAKE, caller)
    message = refusal(caller, version, caller)
    assert done.stdout.splitlines() == [f"-1 {message}"] * 2
    assert done.stderr.splitlines() == [message + "."]  # once: the caller may ask its own XGBoost for the error


def test_a_caller_that_is_linked_to_another_series_is_refused(tmp_path):
    beside = compiled(tmp_path / "libown.so", VERSION.format(3, 2, 1))
    caller = compiled(tmp_path / "caller.so", CALLER, f"-L{tmp_path}", "-Wl,--no-as-needed", "-lown", f"-Wl,-rpath,{tmp_path}")
    done = run(MAKE, caller)
    assert done.stdout.splitlines() == [f"-1 {refusal(caller, '3.2.1', beside)}"] * 2


@pytest.mark.parametrize("source", [CALLER, VERSION.format(1, 7, 11) + CALLER], ids=["no XGBoost", "its own 1.7"])
def test_other_callers_are_served(tmp_path, source):
    done = run(MAKE, compiled(tmp_path / "caller.so", source))
    assert (done.stdout.splitlines(), done.stderr) == (["0 ", "0 "], "")


def test_every_function_in_front_looks_at_its_caller(tmp_path):
    """With null pointers alone: each returns before it reads one."""
    names = functions_in_front()
    calls = "".join(f"int {name}();\nint Call{name}() {{ return {name}(0, 0, 0, 0, 0, 0, 0, 0, 0); }}\n" for name in names)
    caller = compiled(tmp_path / "caller.so", VERSION.format(3, 1, 4) + calls)
    code = RUN + f"""
for name in {names}:
    function = getattr(caller, "Call" + name)
    if name.startswith("Rabit"):
        function.restype = ctypes.c_bool
    print(name, int(function()), last_error().decode(), flush=True)
"""
    done = run(code, caller)
    message = refusal(caller, "3.1.4", caller)
    assert done.stdout.splitlines() == [f"{name} {0 if name.startswith('Rabit') else -1} {message}" for name in names]


def test_callers_are_told_apart(tmp_path):
    """One that is refused and one that is served, in turns, and in several threads."""
    refused = compiled(tmp_path / "refused.so", VERSION.format(3, 1, 4) + CALLER)
    served = compiled(tmp_path / "served.so", CALLER)
    code = RUN + f"""
from concurrent.futures import ThreadPoolExecutor
other = ctypes.CDLL({served!r})
def call(i):
    return (other if i % 2 else caller).Make(ctypes.byref(ctypes.c_void_p()))
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(call, range(200))) == [-1, 0] * 100)
"""
    assert run(code, refused).stdout == "True\n"
