"""Data of the shapes that the field measures with, made here: a folder for each set with X, y (training), Xt, yt (test) as .npy.

higgs    10.5 million x 28: 24 continuous columns that depend on each other, 4 of three values; binary
m1, mid, small   its first 1,000,000, 100,000 and 10,000 rows, tested on 100,000 others
airline  115 million x 13: whole numbers with 2 to 7,000 values; binary
cover    464,810 x 54: 10 numbers, 44 columns of which two are 1; 7 classes
"""

from pathlib import Path
from typing import Dict, Tuple

import numpy as np

BLOCK = 1 << 16  # rows made at once
HEADS = {"m1": 1_000_000, "mid": 100_000, "small": 10_000}
ROWS: Dict[str, Tuple[int, int, int]] = {  # training, test, columns
    "higgs": (10_500_000, 500_000, 28),
    "airline": (115_000_000, 500_000, 13),
    "cover": (464_810, 116_202, 54),
    **{name: (rows, 100_000, 28) for name, rows in HEADS.items()},
}
CLASSES = {"cover": 7}
AIRLINE_VALUES = (22, 12, 31, 7, 1440, 1440, 29, 7000, 1000, 340, 340, 2000, 2)


def _coin(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """1 with the probability whose logit is the score."""
    return (rng.random(len(score), dtype=np.float32) < 1 / (1 + np.exp(-score))).astype(np.float32)


def _higgs(rows: int, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
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


def _airline(rows: int, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
    x = rng.random((rows, 13), dtype=np.float32)
    for j, values in enumerate(AIRLINE_VALUES):
        if values > 100:
            x[:, j] **= 2  # few are frequent, many are rare
        x[:, j] = np.floor(x[:, j] * values)
    score = 1.5 * np.sin(x[:, 4] / 230) + 0.4 * (x[:, 6] % 5 - 2) + 0.1 * (x[:, 9] * 7919 % 11 - 5) + np.cos(x[:, 1]) / 2
    return x, _coin(score, rng)


def _cover(rows: int, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
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


def _blocks(name: str, rows: int, part: int, x_file: Path, y_file: Path) -> None:
    """Writes `rows` rows block by block: a block depends on its number alone, so that a head is a head."""
    make = {"airline": _airline, "cover": _cover}.get(name, _higgs)
    x = np.lib.format.open_memmap(x_file, "w+", np.float32, (rows, ROWS[name][2]))
    y = np.lib.format.open_memmap(y_file, "w+", np.float32, (rows,))
    for begin in range(0, rows, BLOCK):
        count = min(BLOCK, rows - begin)
        a, b = make(BLOCK, np.random.default_rng((part, begin)))
        x[begin : begin + count], y[begin : begin + count] = a[:count], b[:count]


def ensure(folder: Path, name: str, scale: float = 1.0) -> Path:
    """The folder of a set, which is made if it is not there yet. `scale` < 1 makes as much fewer rows, elsewhere."""
    path = folder / (name if scale == 1 else f"{name}-{scale:g}")
    if all((path / f"{array}.npy").is_file() for array in ("X", "y", "Xt", "yt")):
        return path
    path.mkdir(parents=True, exist_ok=True)
    training, test, _ = ROWS[name]
    _blocks(name, max(100, int(test * scale)), 1, path / "Xt.npy", path / "yt.npy")
    # Written last and renamed: what is there is complete.
    _blocks(name, max(500, int(training * scale)), 0, path / "X.tmp", path / "y.npy")
    (path / "X.tmp").rename(path / "X.npy")
    return path
