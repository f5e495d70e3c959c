"""Fitted encoders as JSON. A file may come from anywhere: all of it is checked when it is read, and nothing in it runs."""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from ._encode import Totals
from ._encode_columns import KINDS, Levels
from ._encode_sets import MOST_COLUMNS, FittedSet
from ._text import quoted, quoted_name

if TYPE_CHECKING:
    from ._encoder import OrderedTargetEncoder

FORMAT = "xgboost_gpu.OrderedTargetEncoder"
VERSION = 1


def _plain(value: Any) -> Any:
    """Numbers of numpy as those of Python; arrays, tuples and the like as lists."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


#: JSON has no infinite numbers, which may be categories.
INFINITE = {"inf": float("inf"), "-inf": float("-inf")}


def _named(value: Any) -> Any:
    return str(value) if isinstance(value, float) and value in INFINITE.values() else value


def write_encoder(encoder: "OrderedTargetEncoder", file: Any) -> None:
    """Writes a fitted encoder; see OrderedTargetEncoder.save."""
    written: Dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": {name: _plain(value) for name, value in encoder.get_params().items()},
        "n_features_in": encoder.n_features_in_,
        "names": encoder._names if encoder._has_names else None,
        "target_type": encoder.target_type_,
        "classes": _plain(encoder.classes_),
        "borders": _plain(encoder.borders_),
        "units": encoder._units,
        "priors": encoder._priors,
        "total_weight": encoder._total_weight,
        "columns": [
            {"place": place, "kind": levels.kind, "categories": [_named(value) for value in levels.values()]}
            for place, levels in encoder._levels.items()
        ],
        "plain": encoder._plain,
        "keys": [{"columns": list(columns), "keys": keys.tolist()} for columns, keys in encoder._known.items()],
        "sets": [
            {
                "columns": list(columns),
                "weights": fitted.mean.weights.tolist(),
                "mean": fitted.mean.values.tolist(),
                "borders": None if fitted.borders is None else fitted.borders.values.tolist(),
            }
            for columns, fitted in ((columns, encoder._sets[columns]) for columns in encoder._place)
        ],
    }
    Path(file).write_text(json.dumps(written, allow_nan=False), encoding="utf-8")


class _Reader:
    """Reads keys of a JSON object, and says which key is wrong."""

    def __init__(self, data: Any, what: str) -> None:
        self.what = what
        if not isinstance(data, dict):
            raise ValueError(f"{what} is no JSON object; allowed: what OrderedTargetEncoder.save writes")
        self._data = data

    def refuse(self, key: str, allowed: str) -> None:
        shown = quoted(json.dumps(self._data.get(key)))
        raise ValueError(f"{self.what} has {quoted(key)}: {shown}; allowed: {allowed}")

    def has(self, key: str) -> bool:
        return key in self._data

    def get(self, key: str, is_allowed: Any, allowed: str) -> Any:
        value = self._data.get(key)
        if not is_allowed(value):
            self.refuse(key, allowed)
        return value

    def whole(self, key: str, least: int, most: int) -> int:
        number: int = self.get(key, lambda v: type(v) is int and least <= v <= most, f"{least} to {most}")
        return number

    def wholes(self, key: str, least: int, most: int, n: Optional[int] = None) -> List[int]:
        def fits(value: Any) -> bool:
            is_list = isinstance(value, list) and (n is None or len(value) == n)
            return is_list and all(type(v) is int and least <= v <= most for v in value)

        numbers: List[int] = self.get(key, fits, f"a list of {'' if n is None else n} whole numbers, {least} to {most}")
        return numbers

    def rows_of_wholes(self, key: str, rows: int, n: int) -> np.ndarray:
        def fits(value: Any) -> bool:
            is_list = isinstance(value, list) and len(value) == rows
            return is_list and all(
                isinstance(row, list) and len(row) == n and all(type(v) is int and abs(v) <= 2**62 for v in row)
                for row in value
            )

        return np.array(self.get(key, fits, f"{rows} lists of {n} whole numbers"), np.int64).reshape(rows, n)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_unit(value: Any) -> bool:
    return _is_number(value) and value > 0 and math.frexp(value)[0] == 0.5


def _is_ascending(values: List[Any]) -> bool:
    return all(a < b for a, b in zip(values, values[1:]))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def read_encoder(kind: Any, file: Any) -> "OrderedTargetEncoder":
    """Reads what write_encoder wrote; see OrderedTargetEncoder.load."""
    if not Path(file).is_file():
        raise FileNotFoundError(f"file is {quoted_name(file)}, which is not a file")
    what = f"the file {quoted_name(file)}"
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is no JSON: {quoted(error)}; allowed: what OrderedTargetEncoder.save writes") from error
    reader = _Reader(data, what)
    reader.get("format", lambda v: v == FORMAT, FORMAT)
    reader.get("version", lambda v: v == VERSION and type(v) is int, str(VERSION))
    encoder = _with_parameters(kind, reader)
    _read_shape(encoder, reader)
    _read_targets(encoder, reader)
    _read_levels(encoder, reader)
    _read_plain(encoder, reader)
    _read_sets(encoder, reader)
    return encoder


def _with_parameters(kind: Any, reader: _Reader) -> "OrderedTargetEncoder":
    parameters = reader.get("parameters", lambda v: isinstance(v, dict), "an object")
    known = kind().get_params()
    if set(parameters) != set(known):
        wrong = sorted(set(parameters) ^ set(known))[0]
        raise ValueError(f"{reader.what} lacks or has the parameter {quoted(wrong)}; allowed: {', '.join(sorted(known))}")
    tuples = {name: value for name, value in known.items() if isinstance(value, tuple)}  # in JSON they are lists
    defaults = {name: value for name, value in tuples.items() if parameters[name] == list(value)}
    encoder: "OrderedTargetEncoder" = kind(**{**parameters, **defaults})
    try:
        encoder._take_parameters()
    except (ValueError, TypeError) as error:
        raise ValueError(f"{reader.what}: {error}") from error
    return encoder


def _read_shape(encoder: "OrderedTargetEncoder", reader: _Reader) -> None:
    columns = reader.whole("n_features_in", 1, 2**31)

    def fits(value: Any) -> bool:
        is_list = isinstance(value, list) and len(value) == columns and all(isinstance(name, str) for name in value)
        return value is None or (is_list and len(set(value)) == columns)

    names = reader.get("names", fits, f"null, or {columns} different texts")
    encoder.n_features_in_ = columns
    encoder._has_names = names is not None
    encoder._names = [f"x{column}" for column in range(columns)] if names is None else names
    if names is not None:
        encoder.feature_names_in_ = np.array(names, dtype=object)


def _read_targets(encoder: "OrderedTargetEncoder", reader: _Reader) -> None:
    encoder.target_type_ = reader.get("target_type", lambda v: v in ("classes", "numbers"), "classes, numbers")
    has_classes = encoder.target_type_ == "classes"

    def are_classes(value: Any) -> bool:
        if not has_classes:
            return value is None
        is_list = isinstance(value, list) and len(value) >= 2
        is_one_kind = is_list and (
            all(isinstance(v, str) for v in value) or all(_is_number(v) or type(v) is bool for v in value)
        )
        return is_one_kind and _is_ascending(value)

    classes = reader.get("classes", are_classes, "two classes or more, ascending; null for numbers")
    encoder.classes_ = np.array(classes) if has_classes else None
    has_borders = encoder._has("borders")

    def are_borders(value: Any) -> bool:
        if not has_borders:
            return value is None
        return isinstance(value, list) and all(map(_is_number, value)) and _is_ascending(value)

    borders = reader.get("borders", are_borders, "numbers, ascending; null without the statistic")
    encoder.borders_ = np.array(borders, np.float64) if has_borders else None
    counts = {"mean": len(classes) - 1 if has_classes else 1}
    if has_borders:
        counts["borders"] = len(borders)

    def are_units(value: Any) -> bool:
        return isinstance(value, dict) and set(value) == {"weight", *counts} and all(map(_is_unit, value.values()))

    def are_priors(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and set(value) == set(counts)
            and all(isinstance(v, list) and len(v) == counts[k] and all(map(_is_number, v)) for k, v in value.items())
        )

    encoder._units = reader.get("units", are_units, f"powers of two for weight, {', '.join(counts)}")
    encoder._priors = reader.get("priors", are_priors, f"lists of numbers for {', '.join(counts)}")
    encoder._total_weight = reader.whole("total_weight", 1, 2**62)


def _read_levels(encoder: "OrderedTargetEncoder", reader: _Reader) -> None:
    encoder._levels, encoder._known = {}, {}
    for number, data in enumerate(reader.get("columns", lambda v: isinstance(v, list) and v, "a list")):
        of_column = _Reader(data, f"{reader.what}, columns[{number}],")
        place = of_column.whole("place", max(encoder._levels, default=-1) + 1, encoder.n_features_in_ - 1)
        kind = of_column.get("kind", lambda v: isinstance(v, str) and v in KINDS, ", ".join(KINDS))
        values = of_column.get("categories", lambda v: isinstance(v, list) and v, "a list that is not empty")
        if kind == "numbers":
            values = [INFINITE.get(value, value) if isinstance(value, str) else value for value in values]
        try:
            encoder._levels[place] = Levels.of_values(encoder._names[place], kind, values)
        except ValueError as error:
            raise ValueError(f"{of_column.what} {error}; allowed: what OrderedTargetEncoder.save writes") from error


def _has_search(encoder: "OrderedTargetEncoder") -> bool:
    return isinstance(encoder.combinations, str) and encoder.combinations == "auto"


def _read_plain(encoder: "OrderedTargetEncoder", reader: _Reader) -> None:
    """Reads which columns' numbers of categories are in the result. Older files lack the key: all are, or none."""
    encoder._plain = list(encoder._levels) if encoder.keep_codes else []
    if not reader.has("plain"):
        return
    plain = reader.wholes("plain", 0, encoder.n_features_in_ - 1)
    is_choice = _has_search(encoder) and not encoder.keep_codes
    if is_choice and not (set(plain) <= set(encoder._levels) and _is_ascending(plain)):
        reader.refuse("plain", "encoded columns, ascending")
    if not is_choice and plain != encoder._plain:
        reader.refuse("plain", f"{encoder._plain} with keep_codes={encoder.keep_codes} and these combinations")
    encoder._plain = plain


def _read_columns(encoder: "OrderedTargetEncoder", reader: _Reader, least: int) -> Tuple[int, ...]:
    columns = tuple(reader.wholes("columns", 0, encoder.n_features_in_ - 1))
    if not (least <= len(columns) <= MOST_COLUMNS and _is_ascending(list(columns)) and set(columns) <= set(encoder._levels)):
        reader.refuse("columns", f"{least} to {MOST_COLUMNS} encoded columns, ascending")
    return columns


def _read_sets(encoder: "OrderedTargetEncoder", reader: _Reader) -> None:
    combiner = encoder._combiner()
    for number, data in enumerate(reader.get("keys", lambda v: isinstance(v, list), "a list")):
        of_keys = _Reader(data, f"{reader.what}, keys[{number}],")
        columns = _read_columns(encoder, of_keys, 2)
        if columns in encoder._known or (len(columns) > 2 and columns[:-1] not in encoder._known):
            of_keys.refuse("columns", "a set once, after the set without its last column")
        most = combiner.size(columns[:-1]) * len(encoder._levels[columns[-1]]) - 1
        keys = of_keys.wholes("keys", 0, most)
        if not keys or not _is_ascending(keys):
            of_keys.refuse("keys", "one or more, ascending")
        encoder._known[columns] = np.array(keys, np.uint64)
    encoder._sets = {}
    sums: List[List[int]] = []
    for number, data in enumerate(reader.get("sets", lambda v: isinstance(v, list), "a list")):
        of_set = _Reader(data, f"{reader.what}, sets[{number}],")
        columns = _read_columns(encoder, of_set, 1)
        if columns in encoder._sets or (len(columns) > 1 and columns not in encoder._known):
            of_set.refuse("columns", "a set once, which has keys")
        encoder._sets[columns] = _read_set(encoder, of_set, columns, combiner.size(columns))
        sums.append(_sums(encoder._sets[columns]))
        if sums[-1][0] != encoder._total_weight:
            of_set.refuse("weights", f"numbers whose sum is the total weight, {encoder._total_weight}")
        if sums[-1] != sums[0]:
            of_set.refuse("mean", "numbers whose sum is that of the other sets, and likewise of borders")
    may_lack = encoder._plain if _has_search(encoder) else []
    missing = [column for column in encoder._levels if (column,) not in encoder._sets and column not in may_lack]
    if missing:
        raise ValueError(f"{reader.what} has no set for the column at place {missing[0]}; allowed: one for each column")
    encoder._lay_out(list(encoder._sets))


def _sums(fitted: FittedSet) -> List[int]:
    """Sums over the categories, which are those of all training rows."""
    totals = [fitted.mean.weights, *fitted.mean.values, *(() if fitted.borders is None else fitted.borders.values)]
    return [sum(each.tolist()) for each in totals]


def _read_set(encoder: "OrderedTargetEncoder", reader: _Reader, columns: Tuple[int, ...], size: int) -> FittedSet:
    weights = np.array(reader.wholes("weights", 0, 2**62, size), np.int64)
    mean = Totals(reader.rows_of_wholes("mean", len(encoder._priors["mean"]), size), weights)
    if not encoder._has("borders"):
        reader.get("borders", lambda v: v is None, "null without the statistic")
        return FittedSet(columns, mean, None)
    values = reader.rows_of_wholes("borders", len(encoder._priors["borders"]), size)
    return FittedSet(columns, mean, Totals(values, weights))
