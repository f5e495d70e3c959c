"""Arrays of numpy and sparse matrices of scipy that stock XGBoost 1.7 reads otherwise than numpy shows them.

Entries of a masked array that are masked are missing. A CSC matrix misses the values that `missing` says. Gradients, and
the values of a CSC matrix, are numbers whatever their type, their order of bytes and the gaps between them. (The library
itself reads arrays whose bytes are in the other order, where XGBoost's C functions are given an array interface.)
"""

import copy
import ctypes
import inspect
import warnings
from typing import Any, Callable, Optional, Set, Tuple

from ._stock import replace

#: What one value of a field belongs to, where it is not a row.
UNITS = {"group": "group", "feature_weights": "feature"}

_said: Set[str] = set()


def _say_once(key: str, text: str) -> None:
    """Warns of what stock XGBoost does otherwise, once in a process, and not while XGBoost's warnings are off."""
    import xgboost

    if key in _said or xgboost.get_config()["verbosity"] < 1:
        return
    _said.add(key)
    warnings.warn(f"xgboost-gpu: {text}", UserWarning)


def _is_masked(data: Any) -> bool:
    import numpy as np

    return isinstance(data, np.ma.MaskedArray)


#: What data have that are more than an array, or none on the host.
_MORE = ("iloc", "names", "tocsr", "__arrow_c_stream__", "__cuda_array_interface__", "__dlpack__")


def as_masked(data: Any) -> Any:
    """A list or tuple with masked rows or values as the masked array that it means, and what hands itself over as an array
    (a variable of netCDF4) as that array, of which stock drops the mask. All else as it is."""
    import numpy as np

    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "__array__") and not any(hasattr(data, has) for has in _MORE):
        return np.asanyarray(data)
    if isinstance(data, (list, tuple)):
        if any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, data))):
            return np.ma.array(data)
    return data


def filled(data: Any) -> Any:
    """The array without a mask: NaN where an entry is masked. What is no masked array stays as it is."""
    import numpy as np

    if not _is_masked(data):
        return data
    if not np.ma.is_masked(data):
        return np.asarray(data.data)
    if data.dtype.kind not in "biufO":
        raise TypeError(f"A masked array has values of type {data.dtype}; allowed: bool, integers and floats")
    _say_once("mask", "masked entries of an array are missing, for all methods. XGBoost alone reads what is behind the mask")
    floats = data if data.dtype.kind in "fO" else data.astype(np.float32)
    return floats.filled(np.nan)


def _readable(data: Any) -> Any:
    """Data as numpy shows them: an array, a list of rows, or a sparse matrix."""
    data = as_masked(data)
    if hasattr(data, "tocsr") and _is_masked(getattr(data, "data", None)):
        values = filled(data.data)
        data = copy.copy(data)
        data.data = values
    return filled(data)


def _check_info(data: Any, name: str) -> Any:
    """Labels, weights and the like without a mask. Raises ValueError if one is masked."""
    import numpy as np

    data = as_masked(data)
    if np.ma.is_masked(data):
        row = np.argwhere(np.ma.getmaskarray(data))[0][0]
        raise ValueError(f"{name} is masked in {UNITS.get(name, 'row')} {row}; allowed: a number in every one")
    return filled(data)


def _with_missing(data: Any, missing: Optional[float]) -> Any:
    """A CSC matrix as one of whose values `missing` marks those that are not there. (Stock ignores it for CSC.)"""
    import numpy as np

    if missing is None or np.isnan(missing):
        return data
    _say_once(
        "csc", f"missing={missing} holds for a CSC matrix, for all methods. XGBoost alone ignores missing for CSC matrices"
    )
    return data.tocsr()


def _plain(ctype: Any, values: Any) -> Any:
    """Values as an array that lies as one of C does, if stock would take it for one by the size of its values alone."""
    import numpy as np

    if not isinstance(values, np.ndarray):
        return values
    if values.dtype.kind == "c":
        raise TypeError(f"An array has values of type {values.dtype}; allowed: bool, integers and floats")
    if values.dtype.itemsize != ctypes.sizeof(ctype) and not _is_masked(values):
        return values
    if np.ma.is_masked(values):
        raise ValueError(f"An array is masked at {np.argwhere(values.mask)[0][0]}; allowed: a number everywhere")
    wanted = np.dtype(ctype)
    lies_well = values.dtype.isnative and (values.dtype.kind == "f") == (wanted.kind == "f")
    return values if lies_well and values.flags.c_contiguous else np.ascontiguousarray(values, wanted)


def take_arrays() -> None:
    """Has the functions of stock's package that make a matrix, set labels and the like, and predict in place, read arrays
    as numpy shows them."""
    import numpy as np
    import xgboost
    from xgboost import core
    from xgboost import data as stock

    #: XGBoost ignores `missing` for CSC matrices where it makes them by a function without such an argument.
    is_csc = None if hasattr(core._LIB, "XGDMatrixCreateFromCSC") else stock._is_scipy_csc

    def dispatch_data_backend(function: Callable) -> Callable:
        signature = inspect.signature(function)

        def dispatch(*given: Any, **named: Any) -> Tuple:
            bound = signature.bind(*given, **named)
            data = _readable(bound.arguments["data"])
            if is_csc is not None and is_csc(data):
                data = _with_missing(data, bound.arguments["missing"])
            bound.arguments["data"] = data
            return function(*bound.args, **bound.kwargs)

        return dispatch

    def dispatch_meta_backend(function: Callable) -> Callable:
        def dispatch(matrix: Any, data: Any, name: str, dtype: Any = None) -> None:
            function(matrix, _check_info(data, name), name, dtype)

        return dispatch

    def ensure_np_dtype(function: Callable) -> Callable:
        """Stock makes floats of 2 bytes float32, but knows them in this machine's order only."""

        def ensure(data: Any, dtype: Any) -> Tuple[Any, Any]:
            if data.dtype.kind == "f" and data.dtype.itemsize == 2:
                data, dtype = data.astype(np.float32), np.float32
            return function(data, dtype)

        return ensure

    def concat(function: Callable) -> Callable:
        """numpy's concatenate does not keep masks."""
        return lambda value: np.ma.concatenate(value, axis=0) if any(map(_is_masked, value)) else function(value)

    replace(stock, "dispatch_data_backend", dispatch_data_backend)
    replace(stock, "dispatch_meta_backend", dispatch_meta_backend)
    replace(stock, "_proxy_transform", lambda function: lambda data, *others, **more: function(_readable(data), *others, **more))
    replace(stock, "_ensure_np_dtype", ensure_np_dtype)
    for module in (core, stock):  # each has the name
        replace(module, "c_array", lambda function: lambda ctype, values: function(ctype, _plain(ctype, values)))
    replace(getattr(xgboost, "dask", None), "concat", concat)
    replace(
        xgboost.Booster,
        "inplace_predict",
        lambda function: lambda self, data, *arguments, **others: function(self, _readable(data), *arguments, **others),
    )
