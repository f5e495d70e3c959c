"""The library's computations for encoders: codes of keys, sums by category, ordered target statistics."""

import json
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _LIBRARY


def _call(function: str, *arguments: Any) -> None:
    from xgboost.core import _check_call

    _check_call(_LIBRARY.function(function)(*arguments))


def _address(array: Optional[np.ndarray]) -> Optional[int]:
    return None if array is None else array.ctypes.data


def number_keys(keys: np.ndarray, threads: int) -> Tuple[np.ndarray, np.ndarray]:
    """Codes of keys, [n] of uint32, and the distinct keys, ascending, [distinct] of uint64.

    `keys`: [n] of uint64 without gaps. The code of a key is its place among the distinct ones.
    """
    codes, distinct = np.empty(len(keys), np.uint32), np.zeros(1, np.uint64)
    _call("XGBGPUNumberKeys", _address(keys), len(keys), threads, _address(codes), _address(distinct))
    known = np.empty(int(distinct[0]), np.uint64)
    known[codes] = keys
    return codes, known


def combined_keys(codes: np.ndarray, others: np.ndarray, levels: int) -> np.ndarray:
    """A key for each pair of codes, [n] of uint64; `others` are below `levels`. Both factors are below 2^32."""
    return codes.astype(np.uint64) * np.uint64(levels) + others  # numpy would multiply 32 bits


def find_keys(keys: np.ndarray, known: np.ndarray, threads: int) -> np.ndarray:
    """Places of keys, [n] of uint64, among `known`, which ascends; len(known) where a key is not among them."""
    codes = np.empty(len(keys), np.uint32)
    _call("XGBGPUFindKeys", _address(keys), len(keys), _address(known), len(known), threads, _address(codes))
    return codes


def is_settled(codes: np.ndarray, categories: int, settled_rows: Optional[int]) -> np.ndarray:
    """Whether the category of each row has at least `settled_rows` of these rows, [rows]; None: no category has."""
    if settled_rows is None:
        return np.zeros(len(codes), bool)
    return (np.bincount(codes, minlength=categories) >= settled_rows)[codes]


@dataclass
class Order:
    """The order in which rows come: their own, or a shuffled one, a function of seed and number."""

    is_given: bool
    seed: int = 0
    number: int = 0


@dataclass
class FixedPoint:
    """Numbers as integers times a unit, a power of two, so that sums of them are exact."""

    integers: np.ndarray  #: int64, rows last
    unit: float

    @classmethod
    def of(cls, numbers: np.ndarray) -> "FixedPoint":
        """`numbers`: [..., rows] of float64, finite; or of truth values, which are 1 and 0.

        The unit makes the largest number 2^45 units at most, or fewer if the sum of all rows might exceed 2^62. Whole
        numbers that fit are exact; others are rounded to the nearest unit, once.
        """
        if numbers.dtype == bool:
            return cls(numbers.astype(np.int64), 1.0)
        rows = numbers.shape[-1]
        bits = min(45, 62 - max(rows - 1, 1).bit_length())
        largest = float(np.abs(numbers).max(initial=0.0))
        exponent = int(np.frexp(largest)[1])  # largest < 2^exponent
        shift = min(bits - exponent, 1000)  # more would leave double's range
        return cls(np.rint(np.ldexp(numbers, shift)).astype(np.int64), float(np.ldexp(1.0, -shift)))

    def sum(self) -> Any:
        """Sums over the rows, as numbers."""
        return self.integers.sum(axis=-1) * self.unit


@dataclass
class Totals:
    """Sums of the training rows by category, in the units of the targets and weights."""

    values: np.ndarray  #: [targets, categories] of int64
    weights: np.ndarray  #: [categories] of int64


@dataclass
class Targets:
    """Columns of targets of one unit, weights, and the statistics of a category without rows."""

    values: FixedPoint  #: [targets, rows]: target times weight
    weights: Optional[FixedPoint]  #: [rows]; None: all are 1
    priors: List[float]
    prior_weight: float

    @property
    def weight_unit(self) -> float:
        return 1.0 if self.weights is None else self.weights.unit

    def encode(
        self,
        codes: np.ndarray,
        categories: int,
        order: Order,
        out: Optional[np.ndarray],
        threads: int,
        backend: str = "host",
    ) -> Totals:
        """Writes statistics of the rows before to `out`, [rows, targets] of a larger array of float32; sums all rows.

        `codes`: [rows] of uint32 below `categories`. `out`: None for sums alone.
        """
        targets, rows = self.values.integers.shape
        totals = Totals(np.empty((targets, categories), np.int64), np.empty(categories, np.int64))
        stride = targets if out is None else out.strides[0] // 4
        config = {
            "rows": rows,
            "categories": categories,
            "targets": targets,
            "value_unit": self.values.unit,
            "weight_unit": self.weight_unit,
            "prior_weight": self.prior_weight,
            "priors": self.priors,
            "order": "given" if order.is_given else "shuffled",
            "seed": order.seed,
            "number": order.number,
            "row_stride": max(stride, targets),
            "nthread": threads,
            "gpu_backend": backend,
            "gpu_id": 0,
        }
        _call(
            "XGBGPUOrderTargets",
            json.dumps(config).encode(),
            _address(codes),
            _address(self.values.integers),
            None if self.weights is None else _address(self.weights.integers),
            _address(out),
            _address(totals.values),
            _address(totals.weights),
        )
        return totals
