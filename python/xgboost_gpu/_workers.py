"""Boosters and estimators that are sent to another process take the library with them.

Workers of joblib, and of `multiprocessing` with "spawn", are new Python processes. XGBoost is imported there when an
estimator arrives, but this package is not. So a sent object says that it needs this package. An object written to a
file (pickle, joblib.dump) does not ask for it, and stock XGBoost reads it.
"""

import sys
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Tuple


def make(function: Callable, arguments: Tuple) -> Any:
    """Makes what arrives. It exists because a process must import this package to find this function."""
    return function(*arguments)


def _parts(thing: Any) -> Tuple:
    """The parts that pickle would write of `thing`, but with `make` as the function that makes it."""
    function, arguments, *rest = thing.__reduce_ex__(2)
    return (make, (function, arguments), *rest)


def _send_with_library(kind: type) -> None:
    """Registers a class with `multiprocessing` and joblib (for scikit-learn): for what is sent, not for files."""
    ForkingPickler.register(kind, _parts)
    if "joblib" in sys.modules:  # imported by xgboost if scikit-learn is there
        from joblib.externals.loky.backend.reduction import register

        register(kind, _parts)


def send_with_library() -> None:
    """XGBoost's Booster, its estimators and all classes derived from them, now or later, take the library along."""
    from xgboost import Booster, XGBModel

    def derived(kind: type, **others: Any) -> None:
        super(XGBModel, kind).__init_subclass__(**others)
        _send_with_library(kind)

    XGBModel.__init_subclass__ = classmethod(derived)
    kinds = [Booster, XGBModel]
    for kind in kinds:
        kinds += kind.__subclasses__()
        _send_with_library(kind)
