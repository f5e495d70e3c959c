"""Constraints as LightGBM and CatBoost take them: a list of directions, and sets of column numbers.

The library reads both. Stock XGBoost's package asks a list for its keys, and looks numbers up among names.
"""

import numbers
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Tuple, Union

from ._estimators import STOCK_VALUES
from ._stock import replace


def _directions(value: Any) -> Any:
    """A list or an array as the tuple that stock's package takes."""
    if isinstance(value, (str, tuple, Mapping)) or not hasattr(value, "__iter__"):
        return value
    return tuple(value.tolist() if hasattr(value, "tolist") else value)


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


def _translated(name: str, value: Any) -> Any:
    return READERS[name](value) if name in READERS and value is not None else value


def take_lists() -> None:
    """Makes boosters take them where tree_method is one of ours."""
    from xgboost import Booster

    def configure_constraints(function: Callable) -> Callable:
        def configure(self: Any, params: Union[Dict[str, Any], List[Tuple[str, Any]]]) -> Any:
            if dict(params).get("tree_method") not in list(STOCK_VALUES["tree_method"]):
                return function(self, params)
            if isinstance(params, list):
                return function(self, [(name, _translated(name, value)) for name, value in params])
            return function(self, {name: _translated(name, value) for name, value in params.items()})

        return configure

    replace(Booster, "_configure_constraints", configure_constraints)
