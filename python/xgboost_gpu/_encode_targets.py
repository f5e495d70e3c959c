"""The user's y and weights as what is summed by category."""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

import numpy as np

from ._encode import FixedPoint, Targets
from ._encode_columns import Levels
from ._text import quoted

#: The most distinct whole numbers that target="auto" takes for classes.
MOST_CLASSES = 20


def read_vector(values: Any, name: str, rows: int) -> np.ndarray:
    """A vector of the user, [rows]. Raises ValueError for another length or shape."""
    if hasattr(values, "to_numpy"):  # a series, or a frame of one column
        values = values.to_numpy()
    vector = np.asarray(values)
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
        weights = read_vector(values, "sample_weight", rows).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight is no vector of {rows} numbers: {error}") from error
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(f"sample_weight has {weights[wrong[0]]} in row {wrong[0]}; allowed: finite numbers from 0 on")
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
        if vector.dtype.kind == "O":
            missing = np.array([value is None or value != value for value in vector.tolist()], bool)
            if not missing.any():
                vector = np.array(vector.tolist())
        else:
            missing = ~np.isfinite(vector) if vector.dtype.kind == "f" else np.zeros(rows, bool)
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(f"y has {vector[row]} in row {row}; allowed: finite numbers, or classes")
        if vector.dtype.kind not in "biufUS":
            raise ValueError(f"y is of type {vector.dtype}; allowed: numbers, or classes (numbers or text)")
        if vector.dtype.kind in "US" and kind == "numbers":
            raise ValueError("y is text and target is 'numbers'; allowed: target='classes', or numbers")
        if vector.dtype.kind in "US":
            classes, values = np.unique(vector, return_inverse=True)
            return cls._of_classes(classes, values.reshape(-1))
        if kind == "numbers" or (kind == "auto" and _are_numbers(vector[:MOST_CLASSES])):
            return cls("numbers", None, vector.astype(np.float64))
        if vector.dtype.kind in "iu" and int(vector.max()) - int(vector.min()) == 1:  # 0 and 1, most often
            least = vector.min()
            return cls._of_classes(np.array([least, vector.max()]), (vector - least).astype(np.uint32))
        levels, codes = Levels.fit(vector, "y", threads)
        classes = np.array(levels.values()).astype(vector.dtype)
        if kind == "auto" and len(classes) > 2 and (len(classes) > MOST_CLASSES or _are_numbers(classes)):
            return cls("numbers", None, vector.astype(np.float64))
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


def _are_numbers(values: np.ndarray) -> bool:
    """Whether there are more than two distinct values, and fractions among them."""
    return values.dtype.kind == "f" and bool((values != np.trunc(values)).any()) and len(np.unique(values)) > 2


def find_borders(labels: Labels, borders: Any) -> np.ndarray:
    """Borders of targets that are numbers, ascending: those of the user, or so many that divide the rows evenly."""
    if labels.kind != "numbers":
        raise ValueError("statistic has 'borders' and y has classes; allowed: 'mean', 'frequency', or target='numbers'")
    if not isinstance(borders, Sequence):
        shares = np.arange(1, borders + 1) / (borders + 1)
        found = np.unique(np.quantile(labels.values, shares, method="lower"))
        found = found[found < labels.values.max()]  # nothing is above the last one
        if not len(found):
            raise ValueError(f"statistic has 'borders' and y has no value but {labels.values[0]}; allowed: two or more")
        return found
    return np.unique(np.array(borders, np.float64))


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
        given = list(prior) if isinstance(prior, Sequence) else [prior] * len(priors)
        if len(given) != len(priors):
            raise ValueError(f"prior has {len(given)} numbers; allowed: one, or {len(priors)}, one for each target")
        priors = [float(number) for number in given]
    return Targets(values, weights, priors, prior_weight)


def check_finite_numbers(name: str, values: Any) -> None:
    for value in values if isinstance(values, Sequence) and not isinstance(values, str) else [values]:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
            raise ValueError(f"{name} is {quoted(value)}; allowed: finite numbers")
