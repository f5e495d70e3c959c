"""GPU training for the XGBoost that is already installed.

Importing this package, before or after ``xgboost``, loads ``libxgboost_gpu.so`` into the process; from then on
``tree_method="gpu_hist"`` works in ``xgboost``::

    import xgboost as xgb
    import xgboost_gpu

    booster = xgb.train({"tree_method": "gpu_hist"}, xgb.DMatrix(X, y))

The library is looked for, in this order, in the file named by the environment variable ``XGBGPU_LIBRARY``, beside this
package, in the ``build`` folder of the source tree, and where the system's loader finds libraries. ``ImportError`` says
where it was looked for, or which XGBoost is needed if the installed one does not fit.
"""

from ._library import BuildInfo, Device, load_library

__all__ = ["BuildInfo", "Device", "__version__", "build_info"]

_LIBRARY = load_library()


def build_info() -> BuildInfo:
    """What was built and what was found: versions, backends, devices, the library's file.

    Returns a new dictionary; see :class:`BuildInfo` for its keys. Looking for devices starts the CUDA driver, which
    processes forked from then on cannot use; importing this package does not.
    """
    return _LIBRARY.build_info()


__version__: str = _LIBRARY.what_was_built()["version"]
