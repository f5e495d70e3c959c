"""GPU training for the XGBoost that is already installed.

Importing this package, before or after ``xgboost``, loads the library for that XGBoost into the process, and the engine
``libxgbgpu.so.0``; from then on ``tree_method="gpu_hist"`` works in ``xgboost``::

    import xgboost as xgb
    import xgboost_gpu

    booster = xgb.train({"tree_method": "gpu_hist"}, xgb.DMatrix(X, y))

The library is ``libxgboost_gpu.so.0`` for XGBoost 1.7. For 3.0, 3.2, 3.3 and 3.4 it is one of the adapters in
``xgboost_gpu_series``, which ``libxgbgpu_bridge.so`` loads. The files are looked for, in this order, beside the file named
by the environment variable ``XGBGPU_LIBRARY``, beside this package, in the ``build`` folder of the source tree, and where the system's loader finds libraries. ``ImportError`` says
where it was looked for, or which XGBoost is needed if the installed one does not fit.
"""

import importlib
from typing import TYPE_CHECKING, Any, List

from ._arrays import take_arrays
from ._constraints import take_lists
from ._dask import watch_workers
from ._device_arrays import take_device_arrays
from ._estimators import trains_here, write_for_stock
from ._fit import bin_in_fit
from ._frames import take_frames
from ._library import BuildInfo, Device, TrainingMemory, has_linked_series, load_library
from ._workers import send_with_library

if TYPE_CHECKING:  # see __getattr__
    from . import callback
    from ._compare import Comparison, Difference, compare
    from ._encoder import OrderedTargetEncoder
    from ._profile import Profile, profile

__all__ = [
    "BuildInfo",
    "Comparison",
    "Device",
    "Difference",
    "OrderedTargetEncoder",
    "Profile",
    "TrainingMemory",
    "__version__",
    "build_info",
    "callback",
    "compare",
    "memory_report",
    "profile",
    "take_hist",
]

_LIBRARY = load_library()
send_with_library()
write_for_stock()
take_arrays()
take_lists(trains_here)
if has_linked_series():  # newer packages of XGBoost read frames, and look for workers of Dask, themselves
    take_frames(_LIBRARY)
    watch_workers()
take_device_arrays()
bin_in_fit(_LIBRARY)


def build_info() -> BuildInfo:
    """Tells what was built and what was found: versions, backends, devices, the library's file.

    Returns a new dictionary; see :class:`BuildInfo` for its keys. Looking for devices starts the CUDA driver, which
    processes forked from then on cannot use; importing this package does not.
    """
    return _LIBRARY.build_info()


def memory_report() -> List[TrainingMemory]:
    """Tells the memory of every training of this process, oldest first.

    A training is in the list as long as its booster and its matrix exist. ``xgboost.train`` returns a copy of the
    booster that has trained, and the training is gone by then: call this function from a callback while it runs, or
    train with ``Booster.update``. It may be called from any thread at any time. The numbers are those of the end of
    each training's last round.
    """
    return _LIBRARY.memory_report()


def take_hist(take: bool = True) -> None:
    """Has ``gpu_hist`` train where XGBoost 3 would train ``hist`` on a GPU, with ``device="cuda"``.

    It counts in this process, for boosters that are told their parameters from now on. The environment variable
    ``XGBGPU_TAKE_HIST=1`` says the same, for workers too. What ``gpu_hist`` refuses XGBoost trains as before, and one line
    says why. ``take_hist(False)`` ends it.
    """
    _LIBRARY.function("XGBGPUTakeHist")(int(take))


__version__: str = _LIBRARY.what_was_built()["version"]


_IMPORTED_LATER = {
    "._compare": ("Comparison", "Difference", "compare"),
    "._encoder": ("OrderedTargetEncoder",),
    "._profile": ("Profile", "profile"),
}


def __getattr__(name: str) -> Any:
    """Imports what takes time once somebody asks for it."""
    if name == "callback":
        return importlib.import_module(".callback", __name__)
    for module, names in _IMPORTED_LATER.items():
        if name in names:
            return getattr(importlib.import_module(module, __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
