"""Ordered target statistics made the slow way: a dictionary and a loop over the rows."""

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np


def key_of(row: Sequence[Any], columns: Sequence[int]) -> Tuple:
    """The category of a row; a missing value is one."""
    return tuple("missing" if row[c] is None or row[c] != row[c] else row[c] for c in columns)


def ordered(
    rows: List[Sequence[Any]], columns: Sequence[int], y: Sequence[float], weights: Sequence[float], order: Sequence[int],
    prior: float, prior_weight: float,
) -> np.ndarray:  # fmt: skip
    """The statistic of each row, of rows of its category that come earlier in `order`."""
    sums: Dict[Tuple, float] = {}
    counts: Dict[Tuple, float] = {}
    found = np.empty(len(rows), np.float32)
    for row in order:
        key = key_of(rows[row], columns)
        found[row] = (sums.get(key, 0.0) + prior_weight * prior) / (counts.get(key, 0.0) + prior_weight)
        sums[key] = sums.get(key, 0.0) + y[row] * weights[row]
        counts[key] = counts.get(key, 0.0) + weights[row]
    return found


def of_all(
    rows: List[Sequence[Any]], columns: Sequence[int], y: Sequence[float], weights: Sequence[float], new: List[Sequence[Any]],
    prior: float, prior_weight: float,
) -> Tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """For new rows: the statistic of all rows of the category, and the share of rows that are of it."""
    sums: Dict[Tuple, float] = {}
    counts: Dict[Tuple, float] = {}
    for row, target, weight in zip(rows, y, weights):
        key = key_of(row, columns)
        sums[key] = sums.get(key, 0.0) + target * weight
        counts[key] = counts.get(key, 0.0) + weight
    keys = [key_of(row, columns) for row in new]
    means = [(sums.get(key, 0.0) + prior_weight * prior) / (counts.get(key, 0.0) + prior_weight) for key in keys]
    shares = [counts.get(key, 0.0) / sum(weights) for key in keys]
    return np.array(means, np.float32), np.array(shares, np.float32)
