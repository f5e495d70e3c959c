"""Tables of the user as columns, and columns as codes of categories."""

from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._arrays import as_masked
from ._encode import find_keys, number_keys
from ._text import quoted

#: The key of a missing number. No other number has it.
MISSING = np.uint64(2**64 - 1)
SIGN = np.uint64(2**63)
#: The largest whole number that can be a category.
LARGEST = 2**63 - 2
#: What can be a category, in messages.
KINDS = {"integers": "whole numbers", "numbers": "numbers", "text": "text"}


@dataclass
class Distinct:
    """A column of text, or of anything: its distinct values, and for each row the place of its own; -1: missing."""

    values: List[Any]
    places: np.ndarray


class Table:
    """The user's data, column by column.

    Takes pandas, polars and pyarrow frames, arrays of two dimensions, lists of rows, and sparse matrices of scipy.
    Values that a sparse matrix does not store are missing, as in XGBoost.
    """

    def __init__(self, data: Any) -> None:
        if hasattr(data, "collect") and hasattr(data, "lazy"):
            raise TypeError("X is a polars.LazyFrame, a query without rows; allowed: what .collect() returns")
        if hasattr(data, "to_pandas") and hasattr(data, "column_names"):  # of pyarrow
            import pandas
            import pyarrow

            nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.uint64(): pandas.UInt64Dtype()}
            data = data.to_pandas(types_mapper=nullable.get)  # else numbers beside missing ones become doubles
        self._data = data
        self.names: Optional[List[str]] = None
        if hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_column")):
            self._kind = "pandas" if hasattr(data, "iloc") else "polars"
            self.names = [str(name) for name in data.columns]
            if len(set(self.names)) != len(self.names):
                twice = next(name for name in self.names if self.names.count(name) > 1)
                raise ValueError(f"X has two columns {quoted(twice)}; allowed: columns with different names")
        elif hasattr(data, "tocsc"):
            if isinstance(getattr(data, "data", None), np.ma.MaskedArray):
                raise TypeError("X is a sparse matrix whose values are masked; allowed: one that does not store what is missing")
            self._kind, self._data = "sparse", data.tocsc()
        else:
            self._kind, self._data = "array", as_array(data)
        if len(self._data.shape) != 2:
            raise ValueError(f"X has {len(self._data.shape)} dimensions; allowed: 2, rows and columns")
        self.rows, self.columns = self._data.shape

    def name(self, column: int) -> str:
        return f"x{column}" if self.names is None else self.names[column]

    @property
    def is_frame(self) -> bool:
        return self.names is not None

    def has_categories(self, column: int) -> bool:
        """Whether a frame says that a column is text or categories."""
        if self._kind == "pandas":
            dtype = self._data.dtypes.iloc[column]
            return dtype.name in ("category", "object", "string", "str") or "string" in dtype.name
        if self._kind == "polars":
            return str(self._data.dtypes[column]).split("(")[0] in ("String", "Utf8", "Categorical", "Enum")
        return False

    def column(self, number: int) -> Any:
        """An array of numbers, NaN or masked where one is missing, or a Distinct."""
        try:
            return self._column(number)
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            raise TypeError(
                f"X has values in column {quoted(self.name(number))} that are no category ({error}); allowed: numbers, "
                "truth values, text"
            ) from error

    def _column(self, number: int) -> Any:
        if self._kind == "pandas":
            return self._of_pandas(self._data.iloc[:, number], number)
        if self._kind == "polars":
            series = self._data.get_column(self._data.columns[number])
            if self.has_categories(number):
                return _distinct(series.cast(_polars_text()).to_numpy())
            if series.dtype.is_integer():
                return _masked(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
            return self._numbers(series.to_numpy(), number)
        if self._kind == "sparse":
            return self._of_sparse(*self._data.indptr[number : number + 2])
        return self._numbers(self._data[:, number], number)

    def _of_sparse(self, begin: int, end: int) -> np.ndarray:
        """The values of a column of scipy's, from begin to end. Whole numbers are exact."""
        stored = self._data.data[begin:end]
        missing = np.ones(self.rows, bool)
        missing[self._data.indices[begin:end]] = False
        values = np.zeros(self.rows, stored.dtype if stored.dtype.kind in "biu" else np.float64)
        values[self._data.indices[begin:end]] = stored
        if values.dtype.kind in "biu":
            return _masked(values, missing)
        values[missing] = np.nan
        return values

    def _of_pandas(self, series: Any, number: int) -> Any:
        if series.dtype.name == "category":
            categories, places = series.cat.categories, np.asarray(series.cat.codes, np.int64)
            values = list(categories)
            if categories.dtype != object and categories.dtype.kind not in "biuf":  # intervals, which cut makes; dates
                values = [str(value) for value in values]
            return _numbers_if_all_are(Distinct(values, places))
        if self.has_categories(number):
            return _distinct(series.to_numpy(dtype=object, na_value=None))
        if series.dtype.kind in "biuf" and hasattr(series.dtype, "numpy_dtype"):  # nullable
            if series.dtype.kind == "f":
                return series.to_numpy(np.float64, na_value=np.nan)
            missing = series.isna().to_numpy()
            return _masked(series.to_numpy(series.dtype.numpy_dtype, na_value=series.dtype.type(0)), missing)
        return self._numbers(series.to_numpy(), number)

    def _numbers(self, values: np.ndarray, number: int) -> Any:
        if values.dtype.kind in "OUS":
            return _distinct(values)
        if values.dtype.kind not in "biuf":
            raise TypeError(
                f"X has a column {quoted(self.name(number))} of type {values.dtype}; allowed: numbers, truth values, "
                f"text, categories{_way_out(values.dtype.kind in 'mM')}"
            )
        return values


def _way_out(is_time: bool) -> str:
    """What a message says to the owner of a column of dates or times."""
    return "; of a date give the number of days, or its text (.astype(str))" if is_time else ""


def _content(column: Any) -> str:
    """What a column holds, for messages."""
    if not isinstance(column, Distinct):
        return "numbers"
    other = next((type(value).__name__ for value in column.values if not isinstance(value, str)), None)
    return "text" if other is None else f"values of type {other}"


def _masked(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Whole numbers, exact also beside missing ones."""
    return np.ma.array(values, mask=missing) if missing.any() else values


def as_array(data: Any) -> np.ndarray:
    """Rows, or a vector, as an array. Values of lists keep their types, and masked ones are missing."""
    data = as_masked(data)
    if isinstance(data, np.ma.MaskedArray):
        values = np.array(data.data, dtype=object)
        values[np.ma.getmaskarray(data)] = None
        return values
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"X is no array: {error}; allowed: rows of equally many values") from error
    return np.array(data, dtype=object) if array.dtype.kind in "US" else array


def _polars_text() -> Any:
    import polars

    return polars.Utf8


def is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _distinct(values: np.ndarray) -> Any:
    """Numbers the values of an array of Python objects or texts as they come."""
    try:
        import pandas
    except ImportError:
        numbers: Dict[Any, int] = {}
        found = [-1 if is_missing(value) else numbers.setdefault(value, len(numbers)) for value in values.tolist()]
        return _numbers_if_all_are(Distinct(list(numbers), np.array(found, np.int64)))
    places, distinct = pandas.factorize(np.asarray(values, dtype=object))
    return _numbers_if_all_are(Distinct(list(distinct), places))


def _numbers_if_all_are(column: Distinct) -> Any:
    """Makes an array of numbers of a column, if all its values are numbers: 1 and 1.0 are the same category."""
    numeric = (bool, int, float, np.bool_, np.integer, np.floating)
    if not column.values or not all(isinstance(value, numeric) for value in column.values):
        return column
    values = np.array(column.values)
    if values.dtype.kind in "biu" or (column.places >= 0).all():
        return _masked(values[column.places], column.places < 0)
    return np.append(values.astype(np.float64), np.nan)[column.places]


def _keys_of_integers(values: np.ndarray, name: str) -> np.ndarray:
    """Keys that ascend with the values; `values` are whole numbers, or missing."""
    missing = np.isnan(values) if values.dtype.kind == "f" else np.ma.getmaskarray(values)
    values = np.ma.filled(values, 0)
    if values.dtype.kind == "f":
        is_wrong = bool((np.abs(values) >= 2.0**63).any())
    else:
        is_wrong = len(values) > 0 and int(values.max()) > LARGEST
    if is_wrong:
        largest = int(np.nanmax(np.abs(values)))
        raise ValueError(f"X has a category {largest} in column {quoted(name)}; allowed: up to {LARGEST}, or text")
    if not missing.any():
        return values.astype(np.int64, copy=False).view(np.uint64) ^ SIGN
    keys = np.where(missing, 0, values).astype(np.int64).view(np.uint64) ^ SIGN
    keys[missing] = MISSING
    return keys


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers, NaN where one is missing."""
    return np.ma.filled(values.astype(np.float64), np.nan)


def _keys_of_numbers(values: np.ndarray) -> np.ndarray:
    """Keys that ascend with the values, equal for 0 and -0."""
    values = as_numbers(values) + 0.0
    bits = values.view(np.uint64)
    keys = np.where(bits & SIGN, ~bits, bits | SIGN)
    keys[np.isnan(values)] = MISSING
    return keys


@dataclass
class Levels:
    """The categories of a column: those of the training rows, in ascending order, and "missing" last if it occurred."""

    name: str
    kind: str  #: a key of KINDS
    known: np.ndarray  #: of numbers: keys, [categories] of uint64
    texts: List[str]  #: of text, ascending
    has_missing: bool = False

    def __len__(self) -> int:
        return len(self.texts) + self.has_missing if self.kind == "text" else len(self.known)

    @classmethod
    def fit(cls, column: Any, name: str, threads: int) -> Tuple["Levels", np.ndarray]:
        """The levels of a column and its codes, [rows] of uint32. Costs a pass, and a sort if numbers lie far apart."""
        none = np.empty(0, np.uint64)
        if isinstance(column, Distinct):
            for value in column.values:
                if not isinstance(value, str):
                    raise TypeError(
                        f"X has {quoted(value)}, of type {type(value).__name__}, in column {quoted(name)}; allowed: "
                        f"text alone, or numbers alone{_way_out(isinstance(value, (date, time, timedelta)))}"
                    )
            used = np.unique(column.places)
            levels = cls(name, "text", none, sorted(column.values[at] for at in used if at >= 0), bool((used == -1).any()))
            return levels, levels.codes(column, threads)
        is_whole = column.dtype.kind != "f" or bool(np.all((np.trunc(column) == column) & np.isfinite(column) | np.isnan(column)))
        levels = cls(name, "integers" if is_whole else "numbers", none, [])
        codes, levels.known = number_keys(np.ascontiguousarray(levels._keys(column)), threads)
        return levels, codes

    def _keys(self, column: np.ndarray) -> np.ndarray:
        return _keys_of_integers(column, self.name) if self.kind == "integers" else _keys_of_numbers(column)

    def codes(self, column: Any, threads: int) -> np.ndarray:
        """Codes of other rows, [rows] of uint32; len(self) where a category is not known."""
        if isinstance(column, Distinct) != (self.kind == "text") and not self._is_all_missing(column):
            raise TypeError(
                f"X has {_content(column)} in column {quoted(self.name)}; allowed: {KINDS[self.kind]}, as in the training rows"
            )
        if self.kind == "text":
            if not isinstance(column, Distinct):
                column = Distinct([], np.full(len(column), -1))
            number = {text: place for place, text in enumerate(self.texts)}
            missing = len(self.texts)  # the code of "missing" if there is one; else the number of levels
            codes = [number.get(value, len(self)) for value in column.values] + [missing]
            return np.array(codes, np.uint32)[column.places]
        if isinstance(column, Distinct):
            column = np.full(len(column.places), np.nan)
        may_be_known = self._may_be_known(column)
        if not may_be_known.all():
            codes = np.full(len(column), len(self), np.uint32)
            codes[may_be_known] = find_keys(self._keys(column[may_be_known]), self.known, threads)
            return codes
        return find_keys(np.ascontiguousarray(self._keys(column)), self.known, threads)

    def _may_be_known(self, column: np.ndarray) -> np.ndarray:
        """Which numbers have keys. If categories are whole numbers, fractions and numbers beyond 64 bits have none."""
        if self.kind == "integers" and column.dtype.kind == "f":
            return (np.trunc(column) == column) & (np.abs(column) < 2.0**63) | np.isnan(column)
        if self.kind == "integers" and column.dtype.kind in "iu":
            return np.ma.filled(column <= LARGEST, True)
        return np.ones(1, bool)

    @staticmethod
    def _is_all_missing(column: Any) -> bool:
        if isinstance(column, Distinct):
            return bool((column.places == -1).all())
        return bool(np.isnan(as_numbers(column)).all())

    def values(self) -> List[Any]:
        """The categories as Python values, None for "missing"."""
        if self.kind == "text":
            return [*self.texts, None] if self.has_missing else list(self.texts)
        keys = self.known[self.known != MISSING]
        if self.kind == "integers":
            values = (keys ^ SIGN).view(np.int64)
        else:
            values = np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float64)
        return values.tolist() + [None] * (len(self.known) - len(keys))

    @classmethod
    def of_values(cls, name: str, kind: str, values: List[Any]) -> "Levels":
        """The inverse of `values`. Raises ValueError where they are not of the kind, or do not ascend."""
        present = values[:-1] if values and values[-1] is None else values
        allowed = {"integers": int, "numbers": float, "text": str}[kind]
        if not all(type(value) is allowed for value in present):
            raise ValueError(f"categories of {quoted(name)} are not all {KINDS[kind]}")
        if not all(a < b for a, b in zip(present, present[1:])):
            raise ValueError(f"categories of {quoted(name)} do not ascend")
        has_missing = len(present) != len(values)
        if kind == "text":
            return cls(name, kind, np.empty(0, np.uint64), list(present), has_missing)
        if kind == "integers" and present and not -(2**63) <= present[0] <= present[-1] <= LARGEST:
            raise ValueError(f"categories of {quoted(name)} are beyond 64 bits")
        if kind == "integers":
            keys = np.array(present, np.int64).view(np.uint64) ^ SIGN
        else:
            keys = _keys_of_numbers(np.array(present, np.float64))
            if (keys == MISSING).any():
                raise ValueError(f"categories of {quoted(name)} are not all numbers")
        return cls(name, kind, np.append(keys, MISSING) if has_missing else keys, [])


def read_numbers(column: Any, name: str) -> np.ndarray:
    """A column that is not encoded, [rows] of numbers."""
    if isinstance(column, Distinct):
        if (column.places == -1).all():
            return np.full(len(column.places), np.nan)
        raise TypeError(
            f"X has {_content(column)} in column {quoted(name)}, which is not encoded; allowed: numbers, or its name in "
            "columns"
        )
    return as_numbers(column) if isinstance(column, np.ma.MaskedArray) else column
