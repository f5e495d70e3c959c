"""Arrays on a GPU of other packages than CuPy and cuDF: PyTorch, JAX, Numba, all that have ``__cuda_array_interface__``."""

import ctypes
import json
from typing import Any, Dict, Tuple


def is_device_array(data: Any) -> bool:
    return hasattr(data, "__cuda_array_interface__")


class DeviceArray:
    """Such an array as the package handles data that stock XGBoost refuses (see _frames). It has no names."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def features(self, names: Any, types: Any, enable_categorical: bool, threads: int = 0) -> Tuple[Any, Any]:
        return names, types

    def column_names(self) -> None:
        return None

    def to_dmatrix(self, missing: float, threads: int, enable_categorical: bool) -> ctypes.c_void_p:
        """The handle of a DMatrix that takes the values where they are."""
        from xgboost.core import _LIB, _check_call

        interface: Dict[str, Any] = dict(self._data.__cuda_array_interface__)
        config = json.dumps({"missing": float(missing), "nthread": int(threads)}).encode()
        handle = ctypes.c_void_p()
        create = _LIB.XGDMatrixCreateFromCudaArrayInterface
        _check_call(create(json.dumps(interface).encode(), config, ctypes.byref(handle)))
        return handle

    def array(self, enable_categorical: bool) -> Any:
        """The values on the host, for a QuantileDMatrix and for predictions in place."""
        import numpy as np

        if hasattr(self._data, "copy_to_host"):  # Numba
            return self._data.copy_to_host()
        return np.asarray(self._data.cpu() if hasattr(self._data, "cpu") else self._data)  # PyTorch; JAX

    def info(self) -> Any:
        """Labels, weights and the like. XGBoost keeps them on the host."""
        return self.array(False)
