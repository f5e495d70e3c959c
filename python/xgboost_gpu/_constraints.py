"""Constraints as LightGBM and CatBoost take them: a list of directions, and sets of column numbers.

The library reads both. Stock XGBoost's package asks a list for its keys, and looks numbers up among names.
"""

import numbers
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Tuple, Union

from ._stock import replace


def _directions(value: Any) -> Any:
    """A list or an array as the text that XGBoost reads."""
    if isinstance(value, (str, tuple, Mapping)) or not hasattr(value, "__iter__"):
        return value
    directions = value.tolist() if hasattr(value, "tolist") else value
    return "(" + ",".join(str(direction) for direction in directions) + ")"


def _sets(value: Any) -> Any:
    """Lists of column numbers as the text that XGBoost reads. Lists of names stay."""
    if isinstance(value, (str, Mapping)) or not all(hasattr(of_set, "__iter__") for of_set in value):
        return value
    sets = [list(of_set) for of_set in value]
    columns = [column for of_set in sets for column in of_set]
    if not all(isinstance(column, numbers.Integral) for column in columns):
        return value
    return str([[int(column) for column in of_set] for of_set in sets])


#: The parameters that are changed, and how.
READERS = {"monotone_constraints": _directions, "interaction_constraints": _sets}


def as_stock(name: str, value: Any) -> Any:
    """The value of a parameter as stock XGBoost's package takes it."""
    return READERS[name](value) if name in READERS and value is not None else value


def take_lists(trains_here: Callable[[Dict[str, Any]], bool]) -> None:
    """Makes boosters take such constraints if trains_here(parameters)."""
    from xgboost import Booster

    def configure_constraints(function: Callable) -> Callable:
        def configure(self: Any, params: Union[Dict[str, Any], List[Tuple[str, Any]]]) -> Any:
            if not trains_here(dict(params)):
                return function(self, params)
            if isinstance(params, list):
                return function(self, [(name, as_stock(name, value)) for name, value in params])
            return function(self, {name: as_stock(name, value) for name, value in params.items()})

        return configure

    replace(Booster, "_configure_constraints", configure_constraints)
