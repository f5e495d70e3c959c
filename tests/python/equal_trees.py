"""The comparing tool of the package, without the package's own module: the suite also runs without the library."""

import importlib
import sys
import types
from pathlib import Path

_PACKAGE = sys.modules["models_alone"] = types.ModuleType("models_alone")
_PACKAGE.__path__ = [str(Path(__file__).resolve().parents[2] / "python" / "xgboost_gpu")]
_COMPARE = importlib.import_module("models_alone._compare")

FLOAT_EPS = _COMPARE.FLOAT_EPS
GRADIENT_ERROR = _COMPARE.GRADIENT_ERROR
SMALLEST_GAIN = _COMPARE.SMALLEST_GAIN
Comparison = _COMPARE.Comparison
ModelTree = _COMPARE.ModelTree
compare = _COMPARE.compare_trees
compare_models = _COMPARE.compare
gain_tolerance = _COMPARE.gain_tolerance
goes_left = _COMPARE.goes_left
