"""Sets of columns whose categories are combined."""

from dataclasses import dataclass
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ._encode import Totals, combined_keys, find_keys, number_keys
from ._encode_columns import Levels

#: The columns of a set at most.
MOST_COLUMNS = 4
#: A set of columns: their places in X, ascending; of one column on its own, one place.
ColumnSet = Tuple[int, ...]


@dataclass
class FittedSet:
    """Sums of the training rows by the categories of a set."""

    columns: ColumnSet
    mean: Totals
    borders: Optional[Totals]

    def __len__(self) -> int:
        return len(self.mean.weights)


class Combiner:
    """Codes of combinations of columns, numbered by what occurs.

    The code of columns (a, b) is the place of code(a) · levels(b) + code(b) among those of the training rows; a third
    column is added to that in the same way.
    """

    def __init__(self, levels: Dict[int, Levels], known: Dict[ColumnSet, np.ndarray], threads: int) -> None:
        self.levels, self.known, self.threads = levels, known, threads

    def size(self, columns: ColumnSet) -> int:
        return len(self.levels[columns[0]]) if len(columns) == 1 else len(self.known[columns])

    def walk(
        self, sets: Sequence[ColumnSet], codes: Dict[int, np.ndarray], is_fit: bool
    ) -> Iterator[Tuple[ColumnSet, np.ndarray]]:
        """Yields each set and its codes, [rows] of uint32. Codes of sets that begin alike are made once.

        `codes`: codes of each column. If the categories did not occur together in the training rows, the code is
        `size(set)`, the number of known combinations. `is_fit`: these are the training rows, and `known` is filled.
        """
        path: List[Tuple[ColumnSet, np.ndarray]] = []
        for columns in sorted(sets):
            while path and path[-1][0] != columns[: len(path[-1][0])]:
                path.pop()
            if not path:
                path.append((columns[:1], codes[columns[0]]))
            for count in range(len(path[-1][0]) + 1, len(columns) + 1):
                path.append((columns[:count], self._extend(path[-1], columns[:count], codes[columns[count - 1]], is_fit)))
            yield columns, path[-1][1]

    def _extend(
        self, before: Tuple[ColumnSet, np.ndarray], columns: ColumnSet, codes: np.ndarray, is_fit: bool
    ) -> np.ndarray:
        levels = len(self.levels[columns[-1]])
        keys = combined_keys(before[1], codes, levels)
        if is_fit:
            found, self.known[columns] = number_keys(keys, self.threads)
            return found
        known = self.known[columns]
        found = find_keys(keys, known, self.threads)
        found[(before[1] == self.size(before[0])) | (codes == levels)] = len(known)
        return found
