"""Python in a new process, with the modules and the library that a test gives it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict

SOURCE_TREE = Path(__file__).resolve().parents[2]
PACKAGE = SOURCE_TREE / "python" / "xgboost_gpu"
ENGINE, LIBRARY = "libxgbgpu.so.0", "libxgboost_gpu.so.0"


class Interpreter:
    """Runs Python code in a new process, which finds modules in the given folders first."""

    def __init__(self, *folders: Path, library: str = "", program: str = sys.executable) -> None:
        self.program = program
        path = [str(folder) for folder in folders] + os.environ.get("PYTHONPATH", "").split(os.pathsep)
        self.environment: Dict[str, str] = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        self.environment.pop("XGBGPU_LIBRARY", None)
        if library:
            self.environment["XGBGPU_LIBRARY"] = library

    def run(self, code: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.program, "-B", "-c", code], env=self.environment, capture_output=True, text=True, timeout=600
        )

    def output_of(self, code: str) -> str:
        done = self.run(code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def import_error(self) -> str:
        """The message of the ImportError that `import xgboost_gpu` raises."""
        return self.output_of(
            "try:\n    import xgboost_gpu\n"
            "except ImportError as error:\n    print(error)\n"
            "else:\n    raise AssertionError('the import succeeded')"
        )


def copy_libraries(library: Path, folder: Path) -> Path:
    """Copies the library to this folder, and its engine beside it; returns the library's copy."""
    shutil.copy(library.parent / ENGINE, folder / ENGINE)
    return Path(shutil.copy(library, folder / LIBRARY))


def stand_in_for_xgboost(folder: Path, init: str, library: str = "") -> None:
    """Makes a package `xgboost` in this folder, with this module text, the path of this library and a handle of it."""
    package = folder / "xgboost"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"{init}\n\nclass Booster:\n    def inplace_predict(self, data): pass\n"
        "class XGBModel:\n    def save_model(self, name): pass\n    def load_model(self, name): pass\n"
        "class QuantileDMatrix: pass\n")
    (package / "sklearn.py").write_text("")
    (package / "data.py").write_text("def dispatch_data_backend(): pass\ndef dispatch_meta_backend(): pass\n"
        "def _proxy_transform(): pass\ndef dispatch_proxy_set_data(): pass\nclass SingleBatchInternalIter: pass\n")
    (package / "libpath.py").write_text(f"def find_lib_path():\n    return [{library!r}]\n")
    (package / "core.py").write_text(f"import ctypes\n_LIB = ctypes.CDLL({library!r})\n" if library else "")
