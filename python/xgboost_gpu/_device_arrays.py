"""Arrays on a GPU of other packages than CuPy and cuDF: PyTorch, JAX, Numba, all that have ``__cuda_array_interface__``
or hand themselves over by DLPack."""

import ctypes
import inspect
import json
from typing import Any, Callable, Dict, Tuple

from ._stock import replace, with_data


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack, the first member of the structure that a capsule points to."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # values, not bytes; null: rows without gaps
        ("offset", ctypes.c_uint64),
    ]


#: Letters of numpy's types for the kinds of DLPack's.
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
#: DLPack's numbers of a CUDA device's memory, and of memory that CUDA moves.
_CUDA = (2, 13)
#: The number of CUDA's default stream in DLPack and in the CUDA array interface.
_DEFAULT_STREAM = 1

#: The address in a capsule of this name.
address_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _is_on_device_by_dlpack(data: Any) -> bool:
    if not (hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__")):
        return False
    try:
        return data.__dlpack_device__()[0] in _CUDA
    except Exception:  # pylint: disable=broad-except
        return False  # pyarrow's arrays on the host raise errors of several kinds for types that DLPack does not have


def is_device_array(data: Any) -> bool:
    return hasattr(data, "__cuda_array_interface__") or _is_on_device_by_dlpack(data)


def interface_of_capsule(capsule: Any) -> Dict[str, Any]:
    """The CUDA array interface of what a capsule of DLPack describes. The capsule must outlive its use."""
    tensor = _Tensor.from_address(address_in(capsule, b"dltensor"))
    letter = _KINDS.get(tensor.kind)
    if letter is None or tensor.lanes != 1 or tensor.bits % 8 != 0:
        raise TypeError(
            f"An array on a GPU has values of DLPack's type ({tensor.kind}, {tensor.bits}, {tensor.lanes}); "
            "allowed: integers, floats and bool, one a value"
        )
    size = tensor.bits // 8
    axes = range(tensor.dimensions)
    return {
        "data": ((tensor.data or 0) + tensor.offset, True),
        "shape": tuple(tensor.shape[d] for d in axes),
        "strides": tuple(tensor.strides[d] * size for d in axes) if tensor.strides else None,
        "typestr": f"{'|' if size == 1 else '<'}{letter}{size}",
        "version": 3,
        "stream": _DEFAULT_STREAM,
    }


def _is_for_us(data: Any) -> bool:
    """Whether stock's package cannot read an array on a GPU. It reads arrays of CuPy and cuDF. Newer series treat every
    object with the interface as one of CuPy's."""
    if hasattr(data, "iloc") or not is_device_array(data):
        return False
    return all(kind.__module__.split(".")[0] not in ("cupy", "cudf") for kind in type(data).__mro__)


class DeviceArray:
    """An array on a GPU as the package hands it to the library."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._capsule: Any = None

    def interface(self) -> bytes:
        """The CUDA array interface as JSON."""
        if hasattr(self._data, "__cuda_array_interface__"):
            return json.dumps(dict(self._data.__cuda_array_interface__)).encode()
        if self._capsule is None:
            self._capsule = self._data.__dlpack__(stream=_DEFAULT_STREAM)
        return json.dumps(interface_of_capsule(self._capsule)).encode()

    def to_dmatrix(self, missing: float, threads: int) -> ctypes.c_void_p:
        """The handle of a DMatrix that takes the values where they are."""
        from xgboost.core import _LIB, _check_call

        config = json.dumps({"missing": float(missing), "nthread": int(threads)}).encode()
        handle = ctypes.c_void_p()
        _check_call(_LIB.XGDMatrixCreateFromCudaArrayInterface(self.interface(), config, ctypes.byref(handle)))
        return handle

    def set_batch(self, proxy: Any) -> None:
        """Gives the values to a QuantileDMatrix or an external-memory DMatrix that is being made."""
        from xgboost.core import _LIB, _check_call

        _check_call(_LIB.XGProxyDMatrixSetDataCudaArrayInterface(proxy.handle, self.interface()))

    def set_info(self, matrix: Any, name: str) -> None:
        """Gives the values to a matrix as labels, weights or the like, which XGBoost keeps on the host."""
        from xgboost.core import _LIB, _check_call

        _check_call(_LIB.XGDMatrixSetInfoFromInterface(matrix.handle, name.encode(), self.interface()))

    def array(self) -> Any:
        """The values for predictions in place: on their device where CuPy is installed, else on the host."""
        try:
            import cupy
        except ImportError:
            return self._on_host()
        data = self._data.detach() if hasattr(self._data, "detach") else self._data
        return cupy.asarray(data) if hasattr(data, "__cuda_array_interface__") else cupy.from_dlpack(data)

    def _on_host(self) -> Any:
        import numpy as np

        if hasattr(self._data, "copy_to_host"):  # Numba
            return self._data.copy_to_host()
        if hasattr(self._data, "cpu"):  # PyTorch
            return np.asarray(self._data.detach().cpu())
        return np.asarray(self._data)  # JAX


def take_device_arrays() -> None:
    """Has stock's package take arrays on a GPU of other packages, as data and as labels, weights and the like."""
    import numpy as np
    import xgboost
    from xgboost import data as stock

    def dispatch_data_backend(function: Callable) -> Callable:
        parameters = inspect.signature(function)

        def dispatch(*arguments: Any, **others: Any) -> Any:
            call = parameters.bind(*arguments, **others)
            call.apply_defaults()
            given = call.arguments
            if not _is_for_us(given["data"]):
                return function(*arguments, **others)
            handle = DeviceArray(given["data"]).to_dmatrix(given["missing"], given["threads"])
            return handle, given["feature_names"], given["feature_types"]

        return dispatch

    def dispatch_meta_backend(function: Callable) -> Callable:
        def dispatch(matrix: Any, data: Any, name: str, dtype: Any = None) -> None:
            if _is_for_us(data):
                DeviceArray(data).set_info(matrix, name)
            else:
                function(matrix, data, name, dtype)

        return dispatch

    def proxy_transform(function: Callable) -> Callable:
        def transform(data: Any, *others: Any) -> Tuple:
            if not _is_for_us(data):
                return function(data, *others)
            return (DeviceArray(data), *function(np.empty((1, 1)), *others)[1:])  # the rest as of any array

        return transform

    def dispatch_proxy_set_data(function: Callable) -> Callable:
        def dispatch(proxy: Any, data: Any, *others: Any, **more: Any) -> None:
            if isinstance(data, DeviceArray):
                data.set_batch(proxy)
            else:
                function(proxy, data, *others, **more)

        return dispatch

    def for_prediction(data: Any) -> Any:
        return DeviceArray(data).array() if _is_for_us(data) else data

    replace(stock, "dispatch_data_backend", dispatch_data_backend)
    replace(stock, "dispatch_meta_backend", dispatch_meta_backend)
    replace(stock, "_proxy_transform", proxy_transform)
    replace(stock, "dispatch_proxy_set_data", dispatch_proxy_set_data)
    replace(xgboost.Booster, "inplace_predict", with_data(for_prediction, at=1))
