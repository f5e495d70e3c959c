"""Arrays of numpy and sparse matrices of scipy that stock XGBoost reads otherwise than numpy shows them.

Entries of a masked array that are masked are missing. Masked labels and gradients are refused. A CSC matrix misses the
values that `missing` says, which XGBoost 1.7 alone ignores. Gradients, and the values of a CSC matrix, are numbers
whatever their type, their order of bytes and the gaps between them. (The library itself reads arrays whose bytes are in
the other order, where XGBoost's C functions are given an array interface.)
"""

import copy
import ctypes
import sys
import warnings
from typing import Any, Callable, List, Optional, Tuple

from ._stock import replace, with_data

#: The unit that a value of a field belongs to, if it is not a row.
UNITS = {"group": "group", "feature_weights": "feature"}


def _say(text: str) -> None:
    """Warns of what stock XGBoost does otherwise, but not while XGBoost's warnings are off. Python shows a warning once."""
    import xgboost

    if xgboost.get_config()["verbosity"] >= 1:
        warnings.warn(f"xgboost-gpu: {text}", UserWarning)


def _is_masked(data: Any) -> bool:
    import numpy as np

    return isinstance(data, np.ma.MaskedArray)


#: Attributes of data that are more than an array, or not on the host.
_MORE = ("iloc", "names", "tocsr", "to_arrow", "__dataframe__", "__arrow_c_stream__", "__cuda_array_interface__", "__dlpack__")


def as_masked(data: Any) -> Any:
    """Converts a list or tuple with masked rows or values to a masked array. Converts an object that hands itself over
    as an array (a variable of netCDF4) to that array, because stock drops its mask. Returns other data as they are."""
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
    _say("masked entries of an array are missing, for all methods. XGBoost alone reads what is behind the mask")
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
    """A CSC matrix in which values equal to `missing` are missing. (Stock ignores `missing` for CSC.)"""
    import numpy as np

    if missing is None or np.isnan(missing):
        return data
    _say(f"missing={missing} holds for a CSC matrix, for all methods. XGBoost alone ignores missing for CSC matrices")
    return data.tocsr()


def _plain(ctype: Any, values: Any) -> Any:
    """A C-contiguous array of the values, if stock would read them as one and look only at the size of a value."""
    import numpy as np

    if not isinstance(values, np.ndarray):
        return values
    if values.dtype.kind == "c":
        raise TypeError(f"An array has values of type {values.dtype}; allowed: bool, integers and floats")
    if values.dtype.itemsize != ctypes.sizeof(ctype) and not _is_masked(values):
        return values
    _refuse_masks(values)
    wanted = np.dtype(ctype)
    lies_well = values.dtype.isnative and (values.dtype.kind == "f") == (wanted.kind == "f")
    return values if lies_well and values.flags.c_contiguous else np.ascontiguousarray(values, wanted)


def _refuse_masks(values: Any) -> None:
    import numpy as np

    if np.ma.is_masked(values):
        raise ValueError(f"An array is masked at {np.argwhere(values.mask)[0][0]}; allowed: a number everywhere")


def _stock_modules() -> List[Any]:
    """The modules of stock's package that may have functions for arrays by their names."""
    names = ("core", "data", "_data_utils", "objective", "compat", "dask", "dask.data")
    return [sys.modules[f"xgboost.{name}"] for name in names if f"xgboost.{name}" in sys.modules]


def _lies_plainly(values: Any) -> bool:
    return values.dtype.isnative and values.flags.c_contiguous


def _plain_csc(data: Any) -> Any:
    """A CSC matrix whose arrays have their bytes in this machine's order, and no gaps."""
    import numpy as np

    if getattr(data, "format", None) != "csc":
        return data
    others = [name for name in ("data", "indices", "indptr") if not _lies_plainly(getattr(data, name))]
    if others:
        data = copy.copy(data)
    for name in others:
        values = getattr(data, name)
        setattr(data, name, np.ascontiguousarray(values, values.dtype.newbyteorder("=")))
    return data


def _take_csc(stock: Any) -> None:
    """Has XGBoost 1.7 apply `missing` to a CSC matrix. Has newer packages read its arrays whatever their layout. (1.7
    does the latter by itself, newer packages the former.)"""

    def with_missing(function: Callable) -> Callable:
        def dispatch(data: Any, missing: float, *others: Any, **more: Any) -> Any:
            if stock._is_scipy_csc(data):
                data = _with_missing(data, missing)
            return function(data, missing, *others, **more)

        return dispatch

    if hasattr(stock, "_is_scipy_csc"):
        replace(stock, "dispatch_data_backend", with_missing)
        return
    for name in ("dispatch_data_backend", "_proxy_transform"):
        replace(stock, name, with_data(_plain_csc))


class _Interface(bytes):
    """An array interface that keeps its array, which newer packages would let go before it is read."""

    array: Any


def _as_gradients(values: Any) -> Any:
    """An array of gradients as XGBoost reads one where it lies. What is no array of numpy's stays as it is."""
    import numpy as np

    if not isinstance(values, np.ndarray):
        return values
    _refuse_masks(values)
    if values.dtype.kind == "c":
        raise TypeError(f"An array has values of type {values.dtype}; allowed: bool, integers and floats")
    is_read = values.dtype.isnative and values.dtype.kind in "fiu" and values.dtype.itemsize >= 4
    is_read = is_read and (values.ndim > 1 or values.flags.c_contiguous) and values.flags.aligned
    return values if is_read else np.ascontiguousarray(values, np.float32)


def _take_gradients() -> None:
    """Has gradients be numbers whatever their type and order of bytes."""
    from xgboost import Booster, core

    def boost(function: Callable) -> Callable:
        def call(self: Any, dtrain: Any, *arguments: Any, **others: Any) -> Any:
            named = {name: _as_gradients(value) for name, value in others.items()}
            return function(self, dtrain, *map(_as_gradients, arguments), **named)

        return call

    def grad_arrinf(function: Callable) -> Callable:
        def interface(array: Any, *others: Any) -> bytes:
            array = _as_gradients(array)
            made = _Interface(function(array, *others))
            made.array = array
            return made

        return interface

    replace(Booster, "boost", boost)
    replace(core, "_grad_arrinf", grad_arrinf)


def take_arrays() -> None:
    """Has the functions of stock's package that make a matrix, set labels and the like, and predict in place, read arrays
    as numpy shows them."""
    import numpy as np
    import xgboost
    from xgboost import data as stock

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

    def c_array(function: Callable) -> Callable:
        return lambda ctype, values: function(ctype, _plain(ctype, values))

    def concat(function: Callable) -> Callable:
        """numpy's concatenate does not keep masks."""
        return lambda value: np.ma.concatenate(value, axis=0) if any(map(_is_masked, value)) else function(value)

    _take_csc(stock)
    _take_gradients()
    for name in ("dispatch_data_backend", "_proxy_transform"):
        replace(stock, name, with_data(_readable))
    replace(stock, "dispatch_meta_backend", dispatch_meta_backend)
    replace(xgboost.Booster, "inplace_predict", with_data(_readable, at=1))
    for module in _stock_modules():
        for name, make in (("_ensure_np_dtype", ensure_np_dtype), ("c_array", c_array), ("concat", concat)):
            replace(module, name, make)
