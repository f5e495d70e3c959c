"""Arrays on a GPU of other packages than CuPy and cuDF: PyTorch, JAX, Numba, all that have ``__cuda_array_interface__``
or hand themselves over by DLPack."""

import ctypes
import json
from typing import Any, Dict, Tuple


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


class DeviceArray:
    """Such an array as the package handles data that stock XGBoost refuses (see _frames). It has no names."""

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

    def features(self, names: Any, types: Any, enable_categorical: bool, threads: int = 0) -> Tuple[Any, Any]:
        return names, types

    def column_names(self) -> None:
        return None

    def to_dmatrix(self, missing: float, threads: int, enable_categorical: bool) -> ctypes.c_void_p:
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

    def array(self, enable_categorical: bool) -> Any:
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
