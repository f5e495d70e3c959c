"""Virtual functions of XGBoost's classes that the adapters' classes inherit.

A decorated part has to pass every call on to the stock part. A newer series may have another virtual function, and what
inherits it compiles: the call then ends at the base class, and the stock part is never asked.
"""

import bisect
import os
import re
import subprocess
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

import pytest

LIBRARY = Path(os.environ["XGBGPU_LIBRARY"]).resolve()
ADAPTERS = [LIBRARY, *sorted((LIBRARY.parent / "xgboost_gpu_series").glob("*.so"))]
#: Functions of XGBoost that do for our classes what they do for its own.
INHERITED = {
    "xgboost::DMatrix::SetInfo": "sets labels of whatever Info() returns",
    "xgboost::DMatrix::NumBatches": "one page, as a matrix in memory has",
    "xgboost::DMatrix::BatchPtr": "the rows of one page",
    "xgboost::TreeUpdater::CanModifyTree": "false: our updater makes trees",
}
OURS = re.compile(r"^vtable for xgbgpu::plugin::(Decorated|XgbMatrix|HeldMatrix|HeldBins|\(anonymous namespace\)::ValueMatrix|HistUpdater)")


def lines(*command: str) -> List[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(adapter: Path) -> Iterator[Tuple[int, int, str]]:
    """Address, size and name of each symbol that the adapter defines."""
    for line in lines("nm", "-CS", "--defined-only", str(adapter)):
        found = re.match(r"([0-9a-f]+) ([0-9a-f]+) \S (.*)", line)
        if found:
            yield int(found[1], 16), int(found[2], 16), found[3]


def words(adapter: Path) -> Dict[int, str]:
    """What the dynamic linker writes at each address: the name of a symbol, or an address."""
    at = {}
    for line in lines("readelf", "-rWC", str(adapter)):
        found = re.match(r"([0-9a-f]+)\s+[0-9a-f]+\s+(R_X86_64_\S+)\s+(.*)", line)
        if found:
            at[int(found[1], 16)] = found[3]
    return at


def inherited(adapter: Path) -> Tuple[Set[str], int]:
    """Functions of XGBoost in vtables of our classes, and the number of these vtables."""
    defined = sorted(symbols(adapter))
    starts = [start for start, _, _ in defined]

    def name_at(address: int) -> str:
        start, size, name = defined[bisect.bisect_right(starts, address) - 1]
        return name if start <= address < start + size else ""

    written = words(adapter)
    tables = [(start, size) for start, size, name in defined if OURS.match(name)]
    names = set()
    for start, size in tables:
        for address in range(start, start + size, 8):
            word = written.get(address, "")
            name = name_at(int(word, 16)) if re.fullmatch("[0-9a-f]+", word) else word.split(" ", 1)[-1]
            function = re.match(r"(xgboost::[\w:~]+)\(", name)
            if function and "~" not in function[1]:
                names.add(function[1])
    return names, len(tables)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: path.name)
def test_every_call_is_passed_on(adapter: Path) -> None:
    names, tables = inherited(adapter)
    assert tables >= 6, "the vtables were not found: the adapter is stripped, or classes have other names"
    assert names <= set(INHERITED), f"{names - set(INHERITED)} end at the base class"
