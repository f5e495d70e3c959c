"""Estimators bin the user's array where it lies, without a copy of it.

``fit`` makes the matrix that it trains on, and no code of the user sees it. So the bins are made with the matrix, on
the GPU that will train. No value of the array is read later: the user may change it from the first callback on. If the
values are needed again, the matrix is made as without this module.
"""

import ctypes
import inspect
import json
from contextvars import ContextVar
from typing import Any, Callable, Dict, Optional

from ._library import Library
from ._stock import replace

#: The backends that bin arrays where they lie. Tests and benches set others.
BACKENDS = ("cuda",)
#: Parameters that say where the training takes place, and whether it needs the values of the rows.
PARAMETERS = (
    "booster", "device", "gpu_backend", "gpu_cache_folder", "gpu_host_memory_limit", "gpu_id", "gpu_memory_limit",
    "gpu_ordinal", "n_gpus", "one_drop", "process_type", "rate_drop", "tree_method", "updater", "updater_seq",
)  # fmt: skip
#: The methods whose evaluation sets have the columns of the training data.
METHODS = ("gpu_hist", "gpu_exact")
#: Whether the running `fit` reads only the bins of its training rows.
_READS_BINS: ContextVar[bool] = ContextVar("reads_bins", default=False)


def _reads_bins(estimator: Any, arguments: Dict[str, Any]) -> bool:
    """Whether fit reads only bins: not with another model's thresholds, nor with functions that may get the matrix."""
    functions = (estimator.objective, estimator.eval_metric, arguments.get("eval_metric"))
    return arguments.get("xgb_model") is None and not any(map(callable, functions))


def _fit(function: Callable) -> Callable:
    signature = inspect.signature(function)

    def fit(self: Any, *arguments: Any, **others: Any) -> Any:
        try:
            given = signature.bind(self, *arguments, **others).arguments
        except TypeError:  # stock has the words for it
            return function(self, *arguments, **others)
        outer = _READS_BINS.set(_reads_bins(self, given))
        try:
            return function(self, *arguments, **others)
        finally:
            _READS_BINS.reset(outer)

    return fit


def _check_columns(evaluated: Any, trained: Any) -> None:
    """XGBoost compares them for the methods that it makes a QuantileDMatrix for: since 2.0 only those that it knows."""
    from xgboost.core import XGBoostError

    if evaluated.num_col() != trained.num_col():
        raise XGBoostError(f"An evaluation set has {evaluated.num_col()} columns, and the training data have "
                           f"{trained.num_col()}; allowed: the same number")  # fmt: skip


def bin_in_fit(library: Library) -> None:
    """Has XGBoost's estimators, and classes derived from them, make the matrix to train on so.

    Their evaluation sets are compared with it.
    """
    import numpy as np
    from xgboost import QuantileDMatrix, XGBModel, sklearn

    bin_at_once = library.function("XGBGPUBinAtOnce")

    def binned(estimator: Any, data: Dict[str, Any]) -> Optional[QuantileDMatrix]:
        parameters = estimator.get_xgb_params()
        if parameters.get("tree_method") != "gpu_hist" or not BACKENDS:
            return None
        told = {name: str(parameters[name]) for name in PARAMETERS if parameters.get(name) is not None}
        is_told = ctypes.c_int()
        bin_at_once(json.dumps(told).encode(), "host" in BACKENDS, ctypes.byref(is_told))
        try:
            if is_told.value:
                return QuantileDMatrix(**data, nthread=estimator.n_jobs, max_bin=estimator.max_bin)
        except Exception:  # pylint: disable=broad-except
            pass  # the matrix is made in the other way, which may say what is wrong
        finally:
            bin_at_once(None, 0, ctypes.byref(is_told))
        return None

    def create_dmatrix(function: Callable) -> Callable:
        def create(self: Any, ref: Any = None, **data: Any) -> Any:
            is_array = type(data.get("data")) is np.ndarray  # a class derived from it may mean more than its values
            may_bin = is_array and ref is None and _READS_BINS.get()
            matrix = binned(self, data) if may_bin else None
            if matrix is None:
                matrix = function(self, ref, **data)
            if ref is not None and self.get_xgb_params().get("tree_method") in METHODS:
                _check_columns(matrix, ref)
            return matrix

        return create

    replace(XGBModel, "_create_dmatrix", create_dmatrix)
    for kind in vars(sklearn).values():
        if isinstance(kind, type) and issubclass(kind, XGBModel) and "fit" in vars(kind):
            replace(kind, "fit", _fit)
