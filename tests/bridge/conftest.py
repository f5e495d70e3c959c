"""XGBoosts of PyPI, copies of them with changes, and programs that load the bridge."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOSTS = Path(os.environ.get("XGBGPU_HOSTS", ROOT / "build/hosts"))
ADAPTERS = Path(os.environ["XGBGPU_SMALL_ADAPTERS"])
RELEASES = ["3.0.5", "3.2.0", "3.3.0", "3.4.1"]

# What every program of a test begins with. It prints a dictionary at its end.
PROGRAM = """
import ctypes, json, os, sys
XGBOOST, ADAPTERS = sys.argv[1:3]
bridge = ctypes.CDLL(os.environ["XGBGPU_BRIDGE"])
bridge.XGBGPUBridgeError.restype = ctypes.c_char_p

def load(xgboost, folder=ADAPTERS):
    adapter = ctypes.c_char_p()
    status = bridge.XGBGPUBridgeLoad(xgboost and xgboost.encode(), folder and folder.encode(), ctypes.byref(adapter))
    return {"status": status, "adapter": adapter.value and adapter.value.decode(),
            "error": bridge.XGBGPUBridgeError().decode()}
"""
LOAD = """
ctypes.CDLL(XGBOOST)
print(json.dumps(load(XGBOOST)))
"""


def run(text: str, xgboost: Path, folder: Path, python: str = sys.executable, **environment: str) -> Any:
    """What a new process with this program prints, as JSON."""
    command = [python, "-c", PROGRAM + text, str(xgboost), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def library(release: str) -> Path:
    """The libxgboost of a wheel."""
    path = HOSTS / f"wheel-{release}/xgboost/lib/libxgboost.so"
    if not path.is_file():
        pytest.skip(f"{path} is not there: `scripts/hosts wheel-{release}` brings it")
    return path


class Copy:
    """A copy of a wheel's libxgboost that a test changes."""

    def __init__(self, release: str, folder: Path) -> None:
        original = library(release)
        self.path = folder / "xgboost/lib/libxgboost.so"
        self.path.parent.mkdir(parents=True)
        (folder / "xgboost_cpu.libs").symlink_to(original.parents[2] / "xgboost_cpu.libs")
        self.bytes = bytearray(original.read_bytes())
        self.save()

    def save(self) -> Path:
        self.path.write_bytes(self.bytes)
        return self.path

    def sections(self, kind: int) -> list:
        """Offset and size of sections of this kind, and of the strings that they link to."""
        start, = struct.unpack_from("<Q", self.bytes, 0x28)
        number, = struct.unpack_from("<H", self.bytes, 0x3C)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, start + 64 * i) for i in range(number)]
        return [(h[4], h[5], headers[h[6]][4], headers[h[6]][5]) for h in headers if h[1] == kind]

    def symbols(self, name: str) -> list:
        """Offsets of the symbols with this name in .dynsym and .symtab."""
        found, text = [], name.encode() + b"\0"
        for offset, size, strings, _ in self.sections(2) + self.sections(11):
            for at in range(offset, offset + size, 24):
                start = strings + struct.unpack_from("<I", self.bytes, at)[0]
                if self.bytes[start:start + len(text)] == text:
                    found.append(at)
        assert found, name
        return found

    def value(self, name: str) -> int:
        return struct.unpack_from("<Q", self.bytes, self.symbols(name)[0] + 8)[0]

    def move(self, name: str, value: int) -> None:
        """Says that a name is elsewhere."""
        for at in self.symbols(name):
            struct.pack_into("<Q", self.bytes, at + 8, value)

    def replace(self, old: bytes, new: bytes) -> None:
        assert len(old) == len(new) and self.bytes.count(old) > 0
        self.bytes = self.bytes.replace(old, new)

    def replace_hidden(self, old: bytes, new: bytes) -> None:
        """Replaces text in names of .symtab, which the dynamic linker does not read."""
        (_, _, begin, size), = self.sections(2)
        names = self.bytes[begin:begin + size]
        assert len(old) == len(new) and names.count(old) > 0
        self.bytes[begin:begin + size] = names.replace(old, new)

    def set_version(self, major: int, minor: int, patch: int) -> None:
        """XGBoostVersion stores numbers of 4 bytes through its arguments: through rdi, rsi and rdx."""
        address = self.value("XGBoostVersion")
        start, = struct.unpack_from("<Q", self.bytes, 0x20)
        number, = struct.unpack_from("<H", self.bytes, 0x38)
        for i in range(number):
            kind, _, offset, begin, _, size = struct.unpack_from("<IIQQQQ", self.bytes, start + 56 * i)
            if kind == 1 and begin <= address < begin + size:
                at = offset + address - begin
        for code, value in ((b"\xc7\x07", major), (b"\xc7\x06", minor), (b"\xc7\x02", patch)):
            store = self.bytes.index(code, at, at + 64)
            struct.pack_into("<I", self.bytes, store + 2, value)


@pytest.fixture(name="copy_of")
def copy_of_fixture(tmp_path: Path):
    """Makes copies of wheels."""
    return lambda release: Copy(release, tmp_path / f"copy-{release}")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that no other test has."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/xgboost-gpu"
