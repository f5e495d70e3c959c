"""Finds the library for the XGBoost which Python uses, loads it and the engine beside it, and makes sure that it sits there."""

import ctypes
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, TypedDict

from ._text import escaped_message, escaped_name

#: The library for the system's XGBoost. Builds, wheels and the system's loader have it by this name.
LIBRARY_NAME = "libxgboost_gpu.so.0"
#: The engine, which the library is linked to. The loader looks for it beside the library.
ENGINE_NAME = "libxgbgpu.so.0"
ENVIRONMENT_VARIABLE = "XGBGPU_LIBRARY"
#: Tells the library where PyPI's package of NCCL has its file, for GPUs of workers on several hosts.
NCCL_VARIABLE = "XGBGPU_NCCL_WHEEL"
NCCL_IN_WHEEL = "nvidia/nccl/lib/libnccl.so.2"
#: The library that brings adapters into an XGBoost which hides its C++ names, and the folder of adapters beside it.
BRIDGE_NAME, ADAPTERS = "libxgbgpu_bridge.so", "xgboost_gpu_series"
#: The series of XGBoost that LIBRARY_NAME is linked to. For others there are adapters.
LINKED_SERIES = "1.7"
#: The functions of xgboost_gpu.h: what each returns and takes.
PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "XGBGPUBuildInfo": (ctypes.c_char_p, []),
    "XGBGPUDeviceInfo": (ctypes.c_char_p, []),
    "XGBGPUMemoryReport": (ctypes.c_char_p, []),
    "XGBGPUFunctionsInFront": (ctypes.c_char_p, []),
    "XGBGPUTakeHist": (None, [ctypes.c_int]),
    "XGBGPUBinAtOnce": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]),
    "XGBGPUTableRead": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "XGBGPUTableDescribe": (ctypes.c_char_p, [ctypes.c_void_p]),
    "XGBGPUTableToDMatrix": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "XGBGPUTableFree": (None, [ctypes.c_void_p]),
    "XGBGPUNumberKeys": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p],
    ),
    "XGBGPUFindKeys": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p],
    ),
    "XGBGPUOrderTargets": (ctypes.c_int, [ctypes.c_char_p] + 6 * [ctypes.c_void_p]),
}
HOW_TO_GET_XGBOOST = (
    "xgboost_gpu works in XGBoost 1.7 and 3.0 of Debian (package python3-xgboost, used by /usr/bin/python3 or by a virtual "
    "environment made with: /usr/bin/python3 -m venv --system-site-packages) and in 3.0, 3.2, 3.3 and 3.4 of PyPI "
    "(pip install xgboost, or xgboost-cpu)"
)


class Device(TypedDict):
    """A CUDA device."""

    name: str
    architecture: int  #: compute capability: 90 for 9.0
    memory: int  #: bytes, free or not


class BuildInfo(TypedDict):
    """What was built and what was found."""

    version: str  #: version of xgboost-gpu
    xgboost_built: str  #: version of the XGBoost headers it was compiled with
    xgboost_running: str  #: version of the XGBoost it runs in
    registered: bool  #: whether gpu_hist is available in that XGBoost: always true after a successful import
    why_not_registered: str  #: the reason if it is not, else ""
    cuda_architectures: List[str]  #: GPUs that the library has code for; empty if it was built without CUDA
    gpus_of_a_process: str  #: what sums of several GPUs (n_gpus) travel through; "" if it was built without CUDA
    gpus_of_processes: str  #: the same for workers of a process group
    backends: List[str]  #: backends that can be used now, for instance ["cuda", "host"]
    why_no_cuda: str  #: the reason if "cuda" is not among them, else ""
    devices: List[Device]  #: in the order of gpu_id
    nccl: str  #: version and file of NCCL, which GPUs of workers on several hosts use; "" if it is not here
    why_no_nccl: str  #: the reason if it is not, else ""
    library: str  #: path of the loaded file; its bare name if the system's loader found it


class PagesOfBins(TypedDict):
    """Where the bins of a training in pages are (gpu_memory_limit)."""

    count: int  #: pages
    on_device: int  #: pages of these that stay where the training takes place
    memory_bytes: int  #: bytes of host memory that they take
    file_bytes: int  #: bytes of the file that they take
    copied_bytes: int  #: bytes that have been copied to where the training takes place, so far


class TrainingMemory(TypedDict):
    """What a training holds: memory of its device, or of the host if it trains there."""

    backend: str  #: where it trains: "cuda" or "host"
    device: Optional[int]  #: gpu_id of the device, the first of several; None on the host
    devices: int  #: number of devices that have its rows; 0 on the host
    rows: int  #: rows of its training matrix
    columns: int  #: columns of its training matrix
    dataset_bytes: int  #: bytes of the quantised matrix, which two trainings on one matrix share
    array_bytes: int  #: bytes of the arrays that the matrices of this process hold on that device; 0 on the host
    training_bytes: int  #: bytes that the training holds beside the quantised matrix
    peak_bytes: int  #: the most that training_bytes has been
    parts: Dict[str, int]  #: training_bytes by what they are for
    pages: Optional[PagesOfBins]  #: None: the bins are in core


class Library:
    """A loaded adapter of one series of XGBoost, and with it the engine."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._handle = ctypes.CDLL(path)
        told = ("XGBGPUBuildInfo", "XGBGPUDeviceInfo", "XGBGPUMemoryReport")
        self._functions = {name: self.function(name) for name in told}

    def function(self, name: str) -> Any:
        """A function of xgboost_gpu.h."""
        function = getattr(self._handle, name)
        function.restype, function.argtypes = PROTOTYPES[name]
        return function

    def what_was_built(self) -> Dict[str, Any]:
        """What the library says of itself. Touches no device, so that a process may fork after it."""
        return json.loads(self._functions["XGBGPUBuildInfo"]())

    def build_info(self) -> BuildInfo:
        """What the library says of itself and of devices, and its path."""
        found = json.loads(self._functions["XGBGPUDeviceInfo"]())
        return {**self.what_was_built(), **found, "library": self.path}

    def memory_report(self) -> List[TrainingMemory]:
        """What the trainings of this process hold."""
        return json.loads(self._functions["XGBGPUMemoryReport"]())

    def stand_in_front_of(self, other: ctypes.CDLL) -> None:
        """Has Python call XGBoost's functions through ours of the same names, which tell the library of each call."""
        for name in json.loads(self.function("XGBGPUFunctionsInFront")()):
            ours = getattr(self._handle, name)
            theirs = getattr(other, name, None)  # XGBoost's header has names that its library has not
            if theirs is not None:
                ours.argtypes, ours.restype = theirs.argtypes, theirs.restype
            setattr(other, name, ours)

    def shares_xgboost_with(self, other: ctypes.CDLL) -> bool:
        """Whether this library uses the libxgboost `other`: both then find a function at the same address."""
        return _address(self._handle.XGBoostVersion) == _address(other.XGBoostVersion)


class _Place(NamedTuple):
    """Somewhere to look for the library: what it is called in messages, and the files to try, best first."""

    description: str
    files: List[Path]


def load_library() -> Library:
    """Loads the library into the XGBoost of this process, which is imported first if it is not there yet.

    Raises ImportError, in words for the user, if XGBoost is missing or of a series without an adapter, or if the library
    is not found, has no engine beside it, cannot be loaded, or needs another libxgboost than the Python package has
    loaded.
    """
    xgboost_library, series = _load_xgboost()
    library = _load_linked(xgboost_library) if series == LINKED_SERIES else _load_by_bridge(xgboost_library)
    info = library.what_was_built()
    if not info["registered"]:
        raise ImportError(
            f"xgboost_gpu loaded {escaped_name(library.path)}, which does not serve this XGBoost: "
            f"{info['why_not_registered']}"
        )
    library.stand_in_front_of(xgboost_library)
    _tell_of_nccl()
    if os.environ.get(ENVIRONMENT_VARIABLE):  # worker processes may start in another folder
        os.environ[ENVIRONMENT_VARIABLE] = os.path.abspath(os.environ[ENVIRONMENT_VARIABLE])
    return library


def has_linked_series() -> bool:
    """Whether XGBoost is of the series that LIBRARY_NAME is linked to."""
    return _load_xgboost()[1] == LINKED_SERIES


def _load_xgboost() -> Tuple[ctypes.CDLL, str]:
    """The library that the Python package xgboost uses, as it calls it, and its series."""
    try:
        import xgboost
    except ImportError as error:
        raise ImportError(f"xgboost_gpu cannot import xgboost: {error}. {HOW_TO_GET_XGBOOST}.") from error
    from xgboost.core import _LIB

    return _LIB, ".".join(xgboost.__version__.split(".")[:2])


def _load_linked(xgboost_library: ctypes.CDLL) -> Library:
    """The library that is linked to the system's XGBoost."""
    path = _find_library(LIBRARY_NAME)
    try:
        library = Library(path)
    except (OSError, AttributeError) as error:
        if _is_about_the_engine(error):
            raise ImportError(_without_engine(path, error)) from error
        raise ImportError(
            f"xgboost_gpu found {escaped_name(path)} but cannot load it: {escaped_message(error)}. {HOW_TO_GET_XGBOOST}."
        ) from error
    if not library.shares_xgboost_with(xgboost_library):
        raise ImportError(
            f"xgboost_gpu: {escaped_name(path)} extends the system's libxgboost.so.0, but the Python package xgboost uses "
            f"a library of its own, {escaped_name(xgboost_library._name)}. {HOW_TO_GET_XGBOOST}."
        )
    return library


def _load_by_bridge(xgboost_library: ctypes.CDLL) -> Library:
    """The adapter of XGBoost's series, which the bridge loads."""
    path = _find_library(BRIDGE_NAME)
    try:
        bridge = ctypes.CDLL(path)
        load, why_not = bridge.XGBGPUBridgeLoad, bridge.XGBGPUBridgeError
    except (OSError, AttributeError) as error:
        raise ImportError(f"xgboost_gpu found {escaped_name(path)} but cannot load it: {escaped_message(error)}") from error
    why_not.restype = ctypes.c_char_p
    adapter = ctypes.c_char_p()
    folder = os.path.join(os.path.dirname(_mapped(path)), ADAPTERS)
    if load(os.fsencode(xgboost_library._name), os.fsencode(folder), ctypes.byref(adapter)) != 0:
        why = why_not().decode(errors="replace")
        raise ImportError(f"xgboost_gpu: {why}. {HOW_TO_GET_XGBOOST}.")
    return Library(os.fsdecode(adapter.value or b""))


def _mapped(path: str) -> str:
    """The path of a loaded library. The system's loader may know only its bare name."""
    if os.path.dirname(path):
        return path
    with open("/proc/self/maps", "rb") as maps:
        files = {os.fsdecode(line.rstrip(b"\n").split(maxsplit=5)[-1]) for line in maps}
    return next(file for file in files if os.path.basename(file) == path)


def _find_library(name: str) -> str:
    """The path of the file `name`, or its bare name if the system's loader knows it."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise ImportError(f"xgboost_gpu: {ENVIRONMENT_VARIABLE} names {escaped_name(named)}, which is not a file")
        if name == LIBRARY_NAME:
            return str(Path(named).resolve())
        beside = Path(named).resolve().parent / name
        if beside.is_file():
            return str(beside)
        raise ImportError(
            f"xgboost_gpu: there is no {name} beside {escaped_name(named)}, which {ENVIRONMENT_VARIABLE} names"
        )
    places = _places(Path(__file__).resolve().parent, name)
    for place in places:
        for file in place.files:
            if file.is_file():
                return str(file)
    try:
        ctypes.CDLL(name)
        return name
    except OSError as error:
        if _is_about_the_engine(error):  # the library itself is there
            return name
        looked = "".join(f"\n  - {escaped_message(place.description)}" for place in places)
        raise ImportError(
            f"xgboost_gpu cannot find {name}. It looked for it in:\n"
            f"  - the environment variable {ENVIRONMENT_VARIABLE}, which is not set{looked}\n"
            f"  - the system's libraries: {error}\n"
            "Install the package with pip (pip install .), or build the source tree (scripts/test, or cmake --preset host "
            "&& cmake --build --preset host; --preset cuda with the CUDA toolkit)."
        ) from error


def _is_about_the_engine(error: Exception) -> bool:
    """Whether the system's loader says that it misses the engine: its messages begin with the file they are about."""
    return str(error).startswith(f"{ENGINE_NAME}: cannot open")


def _without_engine(path: str, error: Exception) -> str:
    """The message for a library that is there without its engine."""
    if path == LIBRARY_NAME:
        beside = f"the folder where the system's loader found {path}"
    else:
        beside = f"the library's folder: {escaped_message(str(Path(path).parent / ENGINE_NAME))}"
    return (
        f"xgboost_gpu found {escaped_name(path)} but not {ENGINE_NAME}, the engine that it is linked to. "
        f"The system's loader looked for it in:\n"
        f"  - the environment variable LD_LIBRARY_PATH, which is {_quoted_or_not_set('LD_LIBRARY_PATH')}\n"
        f"  - {beside}\n"
        f"  - the system's libraries: {escaped_message(error)}\n"
        f"The two files belong into one folder: copy {ENGINE_NAME} from the folder that the library was built or installed in."
    )


def _quoted_or_not_set(variable: str) -> str:
    value = os.environ.get(variable)
    return escaped_name(value) if value else "not set"


def _places(package: Path, name: str) -> List[_Place]:
    """Where the file `name` can be beside the package: installed with it, or built in the package's source tree."""
    places = [_Place(f"beside the package: {package / name}", [package / name])]
    root = package.parent.parent
    if package.parent.name == "python" and (root / "CMakeLists.txt").is_file():
        pattern = f"build/*/lib/{name}"
        built = [*root.glob(pattern), *_editable_installation(name)]
        built.sort(key=lambda file: file.stat().st_mtime, reverse=True)
        places.append(_Place(f"the source tree: {root / pattern}, or what pip install -e has built, the newest", built))
    return places


def _editable_installation(name: str) -> List[Path]:
    """The file that `pip install -e` has built: it lies among installed packages, the package in the source tree."""
    try:
        distribution = importlib.metadata.distribution("xgboost-gpu")
    except importlib.metadata.PackageNotFoundError:
        return []
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    file = Path(distribution.locate_file(f"xgboost_gpu/{name}"))
    return [file] if origin.get("dir_info", {}).get("editable") and file.is_file() else []


def _address(function: Any) -> Optional[int]:
    return ctypes.cast(function, ctypes.c_void_p).value


def _tell_of_nccl() -> None:
    """Notes the file of PyPI's nvidia-nccl-cu13 or nvidia-nccl-cu12, the first on Python's path, if one is installed.

    The library opens it when workers on several hosts train on GPUs, and finds no other NCCL.
    """
    for folder in (entry for entry in sys.path if isinstance(entry, str)):  # Python passes over others
        file = os.path.join(os.path.abspath(folder), NCCL_IN_WHEEL)
        if os.path.exists(file):
            os.environ.setdefault(NCCL_VARIABLE, file)
            return
