"""External memory: the host never holds the values. Peak memory of processes, beside bounds that page and bins give."""

import functools
import json
import tempfile

import pytest
from support import BACKEND, LIBRARY, only_before, only_ours, run_python

ROWS, COLUMNS, PAGES = 20_000, 50, 40  # of a page; pages
VALUE = 8  # bytes of a value in a page of XGBoost's: column and number

CODE = """
import json, os, sys
import numpy as np, xgboost as xgb
kind, folder, rows, columns, pages, backend, limit = *sys.argv[1:3], *map(int, sys.argv[3:6]), *sys.argv[6:]
cache = os.path.join(folder, kind)

def status(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))

def page(number):
    x = np.random.default_rng(number).standard_normal((rows, columns), dtype=np.float32)
    return x, x[:, 0] + x[:, 1]

class Pages(xgb.core.DataIter):
    def __init__(self):
        self.at = 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data):
        if self.at == pages:
            return 0
        x, y = page(self.at)
        input_data(data=x, label=y)
        self.at += 1
        return 1

    def reset(self):
        self.at = 0

def in_memory():
    x, y = np.empty((pages * rows, columns), dtype=np.float32), np.empty(pages * rows, dtype=np.float32)
    for number in range(pages):
        here = slice(number * rows, (number + 1) * rows)
        x[here], y[here] = page(number)
    return xgb.DMatrix(x, y)

def text():
    digits = np.random.default_rng(0).integers(1, 10, size=(1000, columns))
    line = lambda row: f"{row[0]} " + " ".join(f"{column}:{value}" for column, value in enumerate(row))
    block = "".join(line(row) + "\\n" for row in digits)
    with open(cache + ".txt", "w") as file:
        for _ in range(pages * rows // 1000):
            file.write(block)
    return xgb.DMatrix(f"{cache}.txt?format=libsvm#{cache}")

before = status("VmRSS")
data = {"pages": lambda: xgb.DMatrix(Pages()), "memory": in_memory, "text": text}[kind]()
made, peak = status("VmRSS"), status("VmHWM")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins anew
how = {"tree_method": "gpu_hist", "gpu_backend": backend, "max_depth": 4, "nthread": 2, "gpu_memory_limit": limit}
booster = xgb.train({**how, "gpu_cache_folder": folder}, data, 2)
assert data.num_row() == rows * pages and len(booster.get_dump()[0]) > 100
print(json.dumps({"whole": max(peak, status("VmHWM")) - before, "training": status("VmHWM") - made}))
"""


@functools.lru_cache(maxsize=None)
def growth(kind: str, pages: int = PAGES, limit: int = 0) -> dict:
    """Bytes by which a process grows, at its peak: with the data's making, and from the data's making on."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # pages are not written to a tmpfs, which /tmp may be
        arguments = (kind, folder, *(str(size) for size in (ROWS, COLUMNS, pages)), BACKEND, str(limit))
        # Blocks of 1 MiB and more, such as XGBoost's pages, go back to the system when they are freed. Left to itself the
        # allocator keeps some of them, more or fewer in every run.
        done = run_python(CODE, *arguments, library=LIBRARY, MALLOC_MMAP_THRESHOLD_=str(2**20))
        return json.loads(done.stdout)


def of_rows(pages: int) -> int:
    """The table in docs/parameters.md, for 256 bins and 2 threads: what grows with the rows."""
    rows = ROWS * pages
    bins = rows * (64 + COLUMNS)  # a byte by row, rows padded from 50 to 64 bytes, and a byte by column
    training = rows * 24
    columns = 2 * 4 * rows + 8 * rows  # one for each thread; where rows begin
    xgboost = rows * (4 + 8 + 2 * 4)  # label, gradient, predictions and their copy
    return xgboost + columns + (training + bins if BACKEND == "host" else 4 * rows)  # on a device: leaves of rows


def in_flight(page: int) -> int:
    """Bytes of pages at a time, at most: XGBoost reads four ahead, one is looked at and one may not be freed yet."""
    return 6 * page


# Columns in flight, and the sums of 257 cells a column in 31 nodes.
FIXED = 4 * 2**24 + 16 * 257 * COLUMNS * 2**5
RAW = VALUE * ROWS * PAGES * COLUMNS
on_the_host = pytest.mark.skipif(BACKEND != "host", reason="the driver of a device takes memory of the process, too")


@only_ours
@on_the_host
def test_pages_of_an_iterator_are_held_a_few_at_a_time() -> None:
    bound = FIXED + of_rows(PAGES) + in_flight(VALUE * ROWS * COLUMNS)
    assert bound < RAW  # so that a process that held all values would be found out
    assert growth("pages")["whole"] < bound
    assert growth("memory")["whole"] > RAW


@only_ours
@on_the_host
@only_before(300, "text files have no cache")
def test_pages_of_a_text_file_are_held_a_few_at_a_time() -> None:
    """A page is made from 8 MiB of text. The parser's own buffers, from before the training, are not counted."""
    of_text = len("10:1 ") - 0.2  # characters a value: ten of the fifty columns have a number of one digit
    bound = FIXED + of_rows(PAGES) + in_flight(int(VALUE * 2**23 / of_text))
    assert bound < RAW
    assert growth("text")["training"] < bound


@only_ours
def test_twice_the_pages_take_what_their_rows_take() -> None:
    """Everywhere: what does not grow, a driver's memory, is on both sides. Pages in flight may be on one of them."""
    bound = of_rows(PAGES // 2) + in_flight(VALUE * ROWS * COLUMNS)
    assert bound < RAW // 2
    assert growth("pages")["whole"] - growth("pages", PAGES // 2)["whole"] < bound


@only_ours
@on_the_host
@pytest.mark.parametrize("kind", ["memory", "pages"])
def test_a_training_takes_no_more_than_its_limit(kind: str) -> None:
    """Cuts and bins included. Beside them there are XGBoost's own vectors, its pages in flight, and a few MB of heap."""
    limit, rows, page = 48 * 2**20, ROWS * PAGES, VALUE * ROWS * COLUMNS
    beside = rows * (8 + 2 * 4) + 2**22 + (in_flight(page) + 2 * page if kind == "pages" else 0)
    assert growth(kind, limit=limit)["training"] < limit + beside
    assert growth(kind)["training"] > limit + beside
