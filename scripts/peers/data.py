"""Data of the shapes that the field measures with, made here: a folder for each set with X, y (training), Xt, yt (test) as .npy.

higgs    10.5 million x 28: 24 continuous columns that depend on each other, 4 of three values; binary
m1, mid, small   its first 1,000,000, 100,000 and 10,000 rows, tested on 100,000 others
airline  115 million x 13: whole numbers with 2 to 7,000 values; binary
cover    464,810 x 54: 10 numbers, 44 columns of which two are 1; 7 classes
epsilon  400,000 x 2,000: continuous; binary
bosch    1 million x 968: continuous, 81 % missing, 16 neighbouring columns together; binary
text     1 million x 10,000, sparse: about 45 values a row, most of them in few columns; binary
onehot   1 million x 4,000, sparse: 40 categories of 100 levels, a 1 for each; binary
levels   1 million x 28: ten columns of 7 to 5,000 categories, of which some are frequent, 18 continuous; binary
mslr     2.07 million x 136: 60 columns of whole numbers; relevance 0 to 4 in queries of 40 to 199 rows

A sparse X is in CSR, four files: X.data, X.indices, X.indptr and X.shape. Ranking has q and qt too, the number of each
row's query: neighbours with the same number are of one query. Where --scale cuts the rows, it cuts the last query.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Tuple

import numpy as np

BLOCK = 1 << 16  # rows made at once
PAIRS = 107  # of queries in a block of mslr
PAIR_ROWS = 239  # a query of 40 to 199 rows, and one of as many as are left
THREADS = min(16, os.cpu_count() or 1)  # each takes about 0.1 GB
HEADS = {"m1": 1_000_000, "mid": 100_000, "small": 10_000}
CLASSES = {"cover": 7}
LEVELS = (10, 50, 100, 500, 1000, 2500, 5000, 5000, 30, 7)
CATEGORIES = {"levels": len(LEVELS)}  # so many columns, the first ones
AIRLINE_VALUES = (22, 12, 31, 7, 1440, 1440, 29, 7000, 1000, 340, 340, 2000, 2)
DENSE, RANKING = ("X{}", "y{}"), ("X{}", "y{}", "q{}")  # files, of the test rows with a t
SPARSE = ("X{}.data", "X{}.indices", "X{}.indptr", "X{}.shape", "y{}")
Made = Tuple[np.ndarray, ...]


def _coin(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """1 with the probability whose logit is the score."""
    return (rng.random(len(score), dtype=np.float32) < 1 / (1 + np.exp(-score))).astype(np.float32)


def _higgs(rows: int, rng: np.random.Generator) -> Made:
    hidden = rng.standard_normal((rows, 6), dtype=np.float32)
    x = rng.standard_normal((rows, 28), dtype=np.float32)
    for j in range(28):
        column = np.float32(0.8) * x[:, j] + np.float32(0.6) * hidden[:, j % 6]
        if j % 7 == 6:
            x[:, j] = np.clip(np.floor(column + 1), 0, 2)
        elif j % 3 == 0:
            x[:, j] = np.exp(column / 2)
        else:
            x[:, j] = column
    score = 2 * hidden[:, 0] * hidden[:, 1] + np.sin(2 * x[:, 1]) + x[:, 4] * x[:, 7] - x[:, 0] + (x[:, 6] > 1) * x[:, 10]
    return x, _coin(1.2 * score, rng)


def _airline(rows: int, rng: np.random.Generator) -> Made:
    x = rng.random((rows, 13), dtype=np.float32)
    for j, values in enumerate(AIRLINE_VALUES):
        if values > 100:
            x[:, j] **= 2  # few are frequent, many are rare
        x[:, j] = np.floor(x[:, j] * values)
    score = 1.5 * np.sin(x[:, 4] / 230) + 0.4 * (x[:, 6] % 5 - 2) + 0.1 * (x[:, 9] * 7919 % 11 - 5) + np.cos(x[:, 1]) / 2
    return x, _coin(score, rng)


def _cover(rows: int, rng: np.random.Generator) -> Made:
    x = np.zeros((rows, 54), np.float32)
    numbers = rng.standard_normal((rows, 10), dtype=np.float32)
    x[:, :10] = np.round(numbers * 300 + 1500)
    kind = rng.integers(0, 40, rows)
    x[np.arange(rows), 10 + rng.integers(0, 4, rows)] = 1
    x[np.arange(rows), 14 + kind] = 1
    classes = np.arange(1, 8)
    weights = np.random.default_rng(7).standard_normal((10, 7))  # those of every block
    score = numbers @ weights + 2 * np.sin(numbers[:, :1] * 3 * classes) + kind[:, None] * classes % 5
    return x, np.argmax(score + rng.gumbel(size=score.shape), axis=1).astype(np.float32)


def _weights(columns: int) -> np.ndarray:
    """Of a linear score, the same in every block."""
    return np.random.default_rng(5).standard_normal(columns, dtype=np.float32)


def _epsilon(rows: int, rng: np.random.Generator) -> Made:
    x = rng.standard_normal((rows, 2000), dtype=np.float32)
    return x, _coin(x[:, :50] @ _weights(50) / 4 + x[:, 3] * x[:, 900] + x[:, 7] * x[:, 1500], rng)


def _bosch(rows: int, rng: np.random.Generator) -> Made:
    x = rng.standard_normal((rows, 968), dtype=np.float32)
    missing = rng.random((rows, 61), dtype=np.float32) < 0.81
    np.putmask(x, np.repeat(missing, 16, axis=1)[:, :968], np.nan)
    known = np.nan_to_num(x[:, :960:16])
    score = known @ _weights(60) / 2 + known[:, 3] * known[:, 5] + missing[:, 200 // 16] - 0.8
    return x, _coin(score, rng)


def _levels(rows: int, rng: np.random.Generator) -> Made:
    x = rng.standard_normal((rows, 28), dtype=np.float32)
    effects = np.random.default_rng(11)  # those of every block
    score = x[:, 10] + x[:, 11] * x[:, 12] + np.sin(3 * x[:, 13])
    for j, levels in enumerate(LEVELS):
        level = (rng.random(rows, dtype=np.float32) ** 2 * levels).astype(np.int32)
        x[:, j] = level
        score += 0.4 * effects.standard_normal(levels, dtype=np.float32)[level]
    return x, _coin(score, rng)


def _mslr(rows: int, rng: np.random.Generator) -> Made:
    x = rng.standard_normal((rows, 136), dtype=np.float32)
    x[:, :60] = np.floor(np.abs(x[:, :60]) * 20)
    score = 0.4 * (x[:, 60:80] @ _weights(20)) + x[:, 70] * x[:, 90] + rng.standard_normal(rows, dtype=np.float32)
    relevance = np.digitize(score, np.quantile(score, (0.5, 0.8, 0.93, 0.985))).astype(np.float32)
    sizes = rng.integers(40, 200, PAIRS)
    sizes = rng.permutation(np.concatenate([sizes, PAIR_ROWS - sizes]))
    return x, relevance, np.repeat(np.arange(len(sizes)), sizes)


def _stored(columns: np.ndarray, values: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> Made:
    """A sparse block of rows of (columns, values), in order of columns, of which equal ones are stored once."""
    first = np.ones(columns.shape, bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    score = (weights[columns] * values * first).sum(axis=1)
    label = _coin(1.5 * (score - score.mean()) / score.std(), rng)
    return values[first], columns[first], first.sum(axis=1), label


def _text(rows: int, rng: np.random.Generator) -> Made:
    popularity = np.cumsum(np.arange(1, 10_001) ** -0.8)
    columns = np.searchsorted(popularity, rng.random((rows, 48)) * popularity[-1]).astype(np.int32)
    columns.sort(axis=1)
    values = np.round(-np.log(1 - rng.random(columns.shape, dtype=np.float32)), 3) + np.float32(0.01)
    return _stored(columns, values, _weights(10_000), rng)


def _onehot(rows: int, rng: np.random.Generator) -> Made:
    levels = np.minimum(rng.random((rows, 40), dtype=np.float32) ** 3 * 100, 99).astype(np.int32)
    return _stored(levels + 100 * np.arange(40, dtype=np.int32), np.ones((rows, 40), np.float32), _weights(4000), rng)


class Set(NamedTuple):
    """How a set is made."""

    training: int  #: rows
    test: int
    columns: int
    make: Callable[[int, np.random.Generator], Made]  #: X, y and q of a block; sparse: values, columns, values in each row, y
    block: int = BLOCK  #: rows
    parts: Tuple[str, ...] = DENSE


SETS: Dict[str, Set] = {
    "higgs": Set(10_500_000, 500_000, 28, _higgs),
    "airline": Set(115_000_000, 500_000, 13, _airline),
    "cover": Set(464_810, 116_202, 54, _cover),
    **{name: Set(rows, 100_000, 28, _higgs) for name, rows in HEADS.items()},
    "epsilon": Set(400_000, 20_000, 2000, _epsilon, 1 << 12),
    "bosch": Set(1_000_000, 50_000, 968, _bosch, 1 << 12),
    "text": Set(1_000_000, 50_000, 10_000, _text, 1 << 14, SPARSE),
    "onehot": Set(1_000_000, 50_000, 4000, _onehot, 1 << 14, SPARSE),
    "levels": Set(1_000_000, 50_000, 28, _levels),
    "mslr": Set(81 * PAIRS * PAIR_ROWS, 9 * PAIRS * PAIR_ROWS, 136, _mslr, PAIRS * PAIR_ROWS, RANKING),
}


def _dense(kind: Set, rows: int, number: int, files: List[Path]) -> None:
    """Writes X, y and q block by block."""
    types, shapes = (np.float32, np.float32, np.int32), ((rows, kind.columns), (rows,), (rows,))
    arrays = [np.lib.format.open_memmap(file, "w+", dtype, shape) for file, dtype, shape in zip(files, types, shapes)]

    def write(begin: int) -> None:
        for array, values in zip(arrays, kind.make(kind.block, np.random.default_rng((number, begin)))):
            array[begin : begin + kind.block] = values[: rows - begin]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(0, rows, kind.block)))


def _sparse(kind: Set, rows: int, number: int, files: List[Path]) -> None:
    """Writes CSR and y when all blocks are there: only then it is known where each begins."""
    with ThreadPoolExecutor(THREADS) as pool:
        begins = range(0, rows, kind.block)
        blocks = pool.map(lambda begin: kind.make(kind.block, np.random.default_rng((number, begin))), begins)
        values, columns, counts, y = (np.concatenate(part) for part in zip(*blocks))
    ends = np.concatenate([[0], np.cumsum(counts[:rows])])
    arrays = (values[: ends[-1]], columns[: ends[-1]], ends, np.array([rows, kind.columns]), y[:rows])
    for path, array in zip(files, arrays):
        with path.open("wb") as file:
            np.save(file, array)


def ensure(folder: Path, name: str, scale: float = 1.0) -> Path:
    """The folder of a set, which is made if it is not there yet. `scale` < 1 makes as much fewer rows, elsewhere."""
    path = folder / (name if scale == 1 else f"{name}-{scale:g}")
    kind = SETS[name]
    training, test = ([path / f"{part.format(t)}.npy" for part in kind.parts] for t in ("", "t"))
    if all(file.is_file() for file in training + test):
        return path
    path.mkdir(parents=True, exist_ok=True)
    write = _sparse if kind.parts == SPARSE else _dense
    # A block depends on its number alone, so that a head is a head.
    write(kind, max(500, int(kind.training * scale)), 0, [file.with_suffix(".tmp") for file in training])
    write(kind, max(100, int(kind.test * scale)), 1, [file.with_suffix(".tmp") for file in test])
    for file in training + test:  # renamed when all are written: what is there is complete
        file.with_suffix(".tmp").rename(file)
    return path
