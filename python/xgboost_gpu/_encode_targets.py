"""Converts the user's y and weights to targets, which are summed by category."""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

import numpy as np

from ._encode import FixedPoint, Targets
from ._encode_columns import Levels, as_array, is_missing
from ._text import quoted, warn_user

#: The most distinct whole numbers that target="auto" takes for classes.
MOST_CLASSES = 20
#: The largest target and weight: XGBoost has them as numbers of 32 bits.
LARGEST = float(np.finfo(np.float32).max)


def read_vector(values: Any, name: str, rows: int) -> np.ndarray:
    """A vector of the user, [rows]. Raises ValueError for another length or shape."""
    if hasattr(values, "to_numpy"):  # a series, or a frame of one column
        values = values.to_numpy()
    vector = as_array(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.shape != (rows,):
        raise ValueError(f"{name} has the shape {vector.shape}; allowed: ({rows},), a value for each row of X")
    return vector


def read_weights(values: Any, rows: int) -> Optional[np.ndarray]:
    """Weights, [rows] of float64; None if there are none."""
    if values is None:
        return None
    try:
        vector = read_vector(values, "sample_weight", rows)
        if vector.dtype.kind == "O":
            vector = np.array([np.nan if is_missing(value) else value for value in vector.tolist()])
        weights = vector.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight is no vector of {rows} numbers: {error}") from error
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST)))
    if len(wrong):
        raise ValueError(
            f"sample_weight has {weights[wrong[0]]} in row {wrong[0]}; allowed: finite numbers from 0 on, up to "
            f"{LARGEST:.2g}"
        )
    if rows and not weights.any():
        raise ValueError("sample_weight has no number above 0; allowed: at least one")
    return weights


@dataclass
class Labels:
    """y as classes or numbers."""

    kind: str  #: "classes" or "numbers"
    classes: Optional[np.ndarray]  #: ascending
    values: np.ndarray  #: [rows]: numbers of classes, or the numbers themselves

    @classmethod
    def of(cls, y: Any, rows: int, kind: str, threads: int) -> "Labels":
        vector = read_vector(y, "y", rows)
        wrong = np.zeros(rows, bool)
        if vector.dtype.kind == "O":
            wrong = np.array([is_missing(value) for value in vector.tolist()], bool)
            if not wrong.any():
                vector = np.array(vector.tolist())
        if vector.dtype.kind == "f" and not -LARGEST <= float(vector.min()) <= float(vector.max()) <= LARGEST:  # or NaN
            wrong = ~(np.abs(vector.astype(np.float64)) <= LARGEST)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"y has {vector[row]} in row {row}; allowed: finite numbers, or classes; numbers up to {LARGEST:.2g}"
            )
        if vector.dtype.kind not in "biufU":
            raise ValueError(f"y is of type {vector.dtype}; allowed: numbers, or classes (numbers or text)")
        if vector.dtype.kind == "U" and kind == "numbers":
            raise ValueError("y is text and target is 'numbers'; allowed: target='classes', or numbers")
        if vector.dtype.kind == "U":
            classes, values = np.unique(vector, return_inverse=True)
            return cls._of_classes(classes, values.reshape(-1))
        if kind == "numbers" or (kind == "auto" and _are_numbers(vector[:MOST_CLASSES])):
            return cls("numbers", None, vector.astype(np.float64))
        if vector.dtype.kind in "iu" and int(vector.max()) - int(vector.min()) == 1:  # 0 and 1, most often
            least = vector.min()
            return cls._of_classes(np.array([least, vector.max()]), (vector - least).astype(np.uint32))
        if max(float(vector.max()), -float(vector.min())) >= 2.0**63:  # beyond the keys of Levels
            classes, codes = np.unique(vector, return_inverse=True)
        else:
            levels, codes = Levels.fit(vector, "y", threads)
            classes = np.array(levels.values()).astype(vector.dtype)
        if kind == "auto" and len(classes) > 2 and (len(classes) > MOST_CLASSES or _are_numbers(classes)):
            return cls("numbers", None, vector.astype(np.float64))
        if kind == "auto" and len(classes) > 2 and vector.dtype.kind != "b":
            warn_user(
                f"y has {len(classes)} distinct whole numbers, which count as classes: each set of columns gets "
                f"{len(classes) - 1} columns; allowed: target='numbers' for their mean, target='classes' without this line"
            )
        return cls._of_classes(classes, codes)

    @classmethod
    def _of_classes(cls, classes: np.ndarray, values: np.ndarray) -> "Labels":
        if len(classes) < 2:
            raise ValueError(f"y has {len(classes)} class; allowed: two or more")
        return cls("classes", classes, values)

    def columns(self) -> np.ndarray:
        """The targets, [targets, rows]: the numbers, or for each class but the first whether a row is of it."""
        if self.kind == "numbers":
            return self.values[None, :]
        assert self.classes is not None
        return self.values[None, :] == np.arange(1, len(self.classes))[:, None]


def as_list(values: Any) -> Optional[List[Any]]:
    """The values of a list, a tuple, an array or a series. None for a single value, which may be text."""
    if getattr(values, "ndim", 0) > 0:
        return list(values.tolist())
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str) else None


def _are_numbers(values: np.ndarray) -> bool:
    """Whether there are more than two distinct values, and fractions among them."""
    return values.dtype.kind == "f" and bool((values != np.trunc(values)).any()) and len(np.unique(values)) > 2


def find_borders(labels: Labels, borders: Any) -> np.ndarray:
    """Borders of targets that are numbers, ascending: the user's, or `borders` many that divide the rows evenly."""
    if labels.kind != "numbers":
        raise ValueError("statistic has 'borders' and y has classes; allowed: 'mean', 'frequency', or target='numbers'")
    given = as_list(borders)
    if given is None:
        shares = np.arange(1, borders + 1) / (borders + 1)
        found = np.unique(np.quantile(labels.values, shares, method="lower"))
        found = found[found < labels.values.max()]  # nothing is above the last one
        if not len(found):
            raise ValueError(f"statistic has 'borders' and y has no value but {labels.values[0]}; allowed: two or more")
        return found
    return np.unique(np.array(given, np.float64))


def make_targets(
    columns: np.ndarray, weights: Optional[FixedPoint], prior: Any, prior_weight: float, numbers: Optional[np.ndarray]
) -> Targets:
    """Targets in fixed point, with the mean of each as its prior unless the user gives others.

    `columns`: [targets, rows]; `numbers`: the weights as they were, [rows].
    """
    values = FixedPoint.of(columns if numbers is None else columns * numbers)
    total = float(columns.shape[1]) if weights is None else weights.sum()
    priors: List[float] = (values.sum() / total).tolist()
    if prior is not None:
        given = as_list(prior)
        if given is None:
            given = [prior] * len(priors)
        if len(given) != len(priors):
            raise ValueError(f"prior has {len(given)} numbers; allowed: one, or {len(priors)}, one for each target")
        priors = [float(number) for number in given]
    return Targets(values, weights, priors, prior_weight)


def check_finite_numbers(name: str, values: Any) -> None:
    given = as_list(values)
    for value in [values] if given is None else given:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
            raise ValueError(f"{name} is {quoted(value)}; allowed: finite numbers")
