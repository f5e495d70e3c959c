"""Boosters and estimators that are sent to another process take the library with them.

joblib's workers, and those that `multiprocessing` starts with "spawn", are new Python processes: XGBoost is imported
there when an estimator arrives, this package is not. So what is sent says that it needs it. What is written to files
(pickle, joblib.dump) stays as XGBoost makes it, and stock XGBoost reads it.
"""

import sys
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Tuple

SENT = ("Booster", "XGBModel", "XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFClassifier", "XGBRFRegressor")


def make(function: Callable, arguments: Tuple) -> Any:
    """Makes what arrives. That this function is looked up in this module is the point: its package is imported then."""
    return function(*arguments)


def _parts(thing: Any) -> Tuple:
    """What pickle would say of it, made by `make`."""
    function, arguments, *rest = thing.__reduce_ex__(2)
    return (make, (function, arguments), *rest)


def register() -> None:
    """Applies to what processes send to each other, by `multiprocessing` and by joblib, which scikit-learn uses."""
    import xgboost

    ways = [ForkingPickler.register]
    if "joblib" in sys.modules:  # imported by xgboost if scikit-learn is there
        from joblib.externals.loky.backend.reduction import register as register_with_joblib

        ways.append(register_with_joblib)
    for way in ways:
        for name in SENT:
            if hasattr(xgboost, name):
                way(getattr(xgboost, name), _parts)
