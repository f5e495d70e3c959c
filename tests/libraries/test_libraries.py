"""libxgboost_gpu.so and libxgbgpu.so as files: what they show, need and keep to themselves."""

import os
import re
import subprocess
from pathlib import Path
from typing import Dict, List, Set

ADAPTER = os.environ["XGBGPU_LIBRARY"]
ENGINE = os.environ["XGBGPU_ENGINE"]
ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"^(?:class|struct) XGBGPU_API (\w+)|^(?:\[\[\w+\]\] )?XGBGPU_API [^;{(]*?(operator==|\w+)\(", re.MULTILINE)
NAME = re.compile(r"(?:(?:vtable|typeinfo) for )?xgbgpu::(?:host::)?(operator==|\w+)")


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(library: str, *options: str) -> List[List[str]]:
    """The kind of each symbol that is defined there, as nm writes it, and the name in the words of C++."""
    lines = output_of("nm", "-C", "--defined-only", *options, library).splitlines()
    return [line.split(maxsplit=2)[1:] for line in lines]


def dynamic_section(library: str) -> Dict[str, List[str]]:
    entries: Dict[str, List[str]] = {}
    for kind, value in re.findall(r"\((\w+)\).*\[(.*)\]", output_of("readelf", "-dW", library)):
        entries.setdefault(kind, []).append(value)
    return entries


def marked_names() -> Set[str]:
    """The classes and functions that headers mark with XGBGPU_API."""
    headers = [path for folder in ("base", "include") for path in (ROOT / folder).rglob("*.h")]
    return {a or b for path in headers for a, b in MARK.findall(path.read_text(encoding="utf-8"))}


def test_the_engine_shows_what_is_marked_and_nothing_else():
    shown = set()
    for kind, name in symbols(ENGINE, "-D"):
        if (kind, name) == ("A", "XGBGPU_0"):  # the version of the interface
            continue
        found = NAME.match(name)
        assert found, f"{name} is shown and not the engine's"
        assert name.endswith("@@XGBGPU_0"), name
        shown.add(found.group(1))
    assert shown == marked_names()


def test_the_adapter_finds_the_engine_beside_itself():
    section = dynamic_section(ADAPTER)
    assert "libxgbgpu.so.0" in section["NEEDED"]
    assert section["RUNPATH"] == ["$ORIGIN"]
    assert dynamic_section(ENGINE)["SONAME"] == ["libxgbgpu.so.0"]


def test_the_engine_needs_no_xgboost_no_cuda_and_no_folder():
    section = dynamic_section(ENGINE)
    assert not [name for name in section["NEEDED"] if re.match(r"lib(xgboost|dmlc|rabit|cuda|cudart|nvidia|nccl)", name)]
    assert "RUNPATH" not in section and "RPATH" not in section


def test_no_variable_of_the_engine_stands_in_both():
    """A header that both compile may have constants; a variable would be there twice, with two values."""
    variables = [{name for kind, name in symbols(library) if kind in "bBdDuVv" and "xgbgpu::" in name and
                  not re.match(r"(vtable|typeinfo|typeinfo name|construction vtable|VTT) for ", name)}
                 for library in (ADAPTER, ENGINE)]  # fmt: skip
    assert all(variables)
    # The locale "C", which is the same in both, and the guard of its initialisation.
    assert all("CLocale" in name or "kLocale" in name for name in variables[0] & variables[1]), variables[0] & variables[1]


def test_the_cuda_runtime_is_in_the_engine_alone():
    assert not [name for _, name in symbols(ADAPTER) if re.match(r"_*cuda[A-Z]|__cudart|__cudaRegister", name)]


def test_both_wrap_operator_new():
    """Sizes in errors of memory: shared_engine_test and test_plugin_memory.py see what comes of it."""
    for library in (ADAPTER, ENGINE):
        assert {"__wrap__Znwm", "__wrap__ZnwmSt11align_val_t"} <= {name for _, name in symbols(library)}, library
