"""Tables of polars, pyarrow and others, and columns of pandas that stock XGBoost 1.7 refuses, as data and as labels.

Data that stock's package converts are left to it, except pyarrow's tables: it reads wrong rows of their slices. A table
hands itself over by the Arrow C data interface (``__arrow_c_stream__``). The library writes its values row by row; no
value becomes a Python object.
"""

import ctypes
import functools
import inspect
import json
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._device_arrays import address_in
from ._library import Library

#: Feature types of columns that stock takes from a pyarrow table. It takes no names from one that has only these.
NUMBERS = {"int", "float"}
#: pandas' nullable types that stock does not know. All are integers.
NULLABLE = {"Int8", "UInt8", "UInt16", "UInt32", "UInt64"}


class Table:
    """A table that the library has read: its values row by row, names and types of its columns."""

    def __init__(self, library: Library, capsule: Any, **config: Any) -> None:
        """`capsule`: what ``__arrow_c_stream__`` returns. `config`: see XGBGPUTableRead in xgboost_gpu.h."""
        self._library = library
        self._handle = ctypes.c_void_p()
        stream = ctypes.c_void_p(address_in(capsule, b"arrow_array_stream"))
        self._check("XGBGPUTableRead", stream, json.dumps(config).encode(), ctypes.byref(self._handle))
        self._describe()

    def _check(self, function: str, *arguments: Any) -> None:
        from xgboost.core import _check_call

        _check_call(self._library.function(function)(*arguments))

    def _describe(self) -> None:
        has = json.loads(self._library.function("XGBGPUTableDescribe")(self._handle))
        self.names: List[str] = has["names"]
        self.types: List[str] = has["types"]
        self.shape: Tuple[int, int] = (has["rows"], has["columns"])
        self._address: int = has["values"]

    def __del__(self) -> None:
        if self._handle:
            self._library.function("XGBGPUTableFree")(self._handle)

    def array(self, of_info: bool = False) -> Any:
        """The values as an array of numpy's, which keeps the table's memory. `of_info`: numbers of 8 bytes."""
        import numpy as np

        kind = "<f8" if of_info else "<f4"
        if self.shape[0] * self.shape[1] == 0:
            return np.empty(self.shape, kind)
        memory = _Memory(self, {"data": (self._address, False), "shape": self.shape, "typestr": kind, "version": 3})
        return np.asarray(memory)

    def to_dmatrix(self, missing: float, threads: int) -> ctypes.c_void_p:
        """The handle of a DMatrix that takes the values."""
        handle = ctypes.c_void_p()
        config = json.dumps({"missing": float(missing), "nthread": int(threads)}).encode()
        self._check("XGBGPUTableToDMatrix", self._handle, config, ctypes.byref(handle))
        self._describe()
        return handle


class _Memory:
    """Owner of a table's memory; numpy's view of the table keeps it alive."""

    def __init__(self, table: Table, interface: Dict[str, Any]) -> None:
        self._table = table
        self.__array_interface__ = interface


class ArrowFrame:
    """A table that hands itself over by the Arrow C data interface. It is read once, for any number of requests."""

    def __init__(self, library: Library, export: Callable[[], Any]) -> None:
        """`export`: returns the capsule of a stream."""
        self._library, self._export = library, export
        self._table: Optional[Table] = None
        #: None: the table's; [] if the data have none (a column on its own)
        self.names: Optional[List[str]] = None
        self.is_nameless_if_numbers = False
        #: Whether the rows can be handed over once, as those of a RecordBatchReader.
        self.is_stream = False

    def _take(self, **config: Any) -> Table:
        """Reads the table. Raises ValueError for a stream without rows, which may have been read before."""
        table = Table(self._library, self._export(), **config)
        if self.is_stream and table.shape[0] == 0:
            raise ValueError(
                "A stream of record batches has 0 rows, and can be read once; allowed: one that was not read before, or a "
                "table (read_all())"
            )
        return table

    def read(self, enable_categorical: bool, threads: int = 0) -> Table:
        if self._table is None:
            self._table = self._take(categories=enable_categorical, nthread=int(threads))
        return self._table

    def features(self, names: Any, types: Any, enable_categorical: bool, threads: int = 0) -> Tuple[Any, Any]:
        """Names and types of the features, as stock would find them in a frame of pandas; the user's, if there are."""
        table = self.read(enable_categorical, threads)
        if self.names == [] or (self.is_nameless_if_numbers and set(table.types) <= NUMBERS):
            return names, types
        return (self.column_names() if names is None else names), (table.types if types is None else types)

    def column_names(self) -> Optional[List[str]]:
        """Names to compare with a model's; None if there are none."""
        if self._table is None or self.names == []:
            return None
        return self._table.names if self.names is None else self.names

    def array(self, enable_categorical: bool) -> Any:
        return self.read(enable_categorical).array()

    def to_dmatrix(self, missing: float, threads: int, enable_categorical: bool) -> ctypes.c_void_p:
        return self.read(enable_categorical, threads).to_dmatrix(missing, threads)

    def info(self) -> Any:
        """Labels, weights and the like: a vector, or an array of a column for each output."""
        values = self._take(values="info").array(of_info=True)
        return values.reshape(-1) if values.shape[1] == 1 else values


class PandasFrame:
    """A frame of pandas whose columns have nullable types that stock does not know, and types that it knows."""

    def __init__(self, frame: Any, refused: List[int], have_names: bool) -> None:
        import numpy as np

        self._have_names = have_names
        self._made: Optional[Tuple[Any, Any, Any]] = None
        self._frame, self._refused = frame.copy(deep=False), refused
        for at in refused:
            self._frame.isetitem(at, frame.iloc[:, at].to_numpy(np.float32, na_value=np.nan))

    def _read(self, enable_categorical: bool) -> Tuple[Any, Any, Any]:
        """Values, names and types, as stock makes them of a frame of types that it knows."""
        from xgboost.data import _ensure_np_dtype, _transform_pandas_df

        if self._made is None:
            array, names, types = _transform_pandas_df(self._frame, enable_categorical)
            types = ["int" if at in self._refused else kind for at, kind in enumerate(types)]
            self._made = _ensure_np_dtype(array, array.dtype)[0], names, types
        return self._made

    def features(self, names: Any, types: Any, enable_categorical: bool, threads: int = 0) -> Tuple[Any, Any]:
        """As ArrowFrame's."""
        _, own_names, own_types = self._read(enable_categorical)
        if not self._have_names:
            return names, types
        return (own_names if names is None else names), (own_types if types is None else types)

    def column_names(self) -> Optional[List[str]]:
        return self._made[1] if self._made is not None and self._have_names else None

    def array(self, enable_categorical: bool) -> Any:
        return self._read(enable_categorical)[0]

    def to_dmatrix(self, missing: float, threads: int, enable_categorical: bool) -> ctypes.c_void_p:
        from xgboost.data import _from_numpy_array

        return _from_numpy_array(self.array(enable_categorical), missing, threads, None, None)[0]

    def info(self) -> Any:
        return self._frame if self._have_names else self._frame.iloc[:, 0]


def _is_of(data: Any, module: str, *names: str) -> bool:
    """Whether the data are of one of these classes of a module, which is not imported for that."""
    return any(kind.__module__.split(".")[0] == module and kind.__name__ in names for kind in type(data).__mro__)


def _is_lazy(data: Any) -> bool:
    return _is_of(data, "polars", "LazyFrame")


def _pyarrow_hands_over() -> bool:
    """Whether pyarrow, which is there, is one that has the interface for Python: 14 or newer."""
    import pyarrow

    return hasattr(pyarrow.RecordBatchReader, "__arrow_c_stream__")


class Frames:
    """Tells the data that this package converts from those that stock converts."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def find(self, data: Any) -> Any:
        """An ArrowFrame or a PandasFrame; None for what is stock's to convert or to refuse."""
        from xgboost import data as stock

        if isinstance(data, (ArrowFrame, PandasFrame)):
            return data
        if _is_lazy(data):
            raise TypeError("The data are a polars.LazyFrame, a query without rows; allowed: what .collect() returns")
        if stock._is_pandas_df(data) or stock._is_pandas_series(data):
            return self._of_pandas(data)
        if _is_of(data, "pyarrow", "Dataset") and _pyarrow_hands_over():
            frame = ArrowFrame(self._library, lambda: data.scanner().to_reader().__arrow_c_stream__())
        elif not hasattr(data, "__arrow_c_stream__") or self._is_known(data):
            return None
        else:
            stock._check_data_shape(data)
            frame = ArrowFrame(self._library, lambda: data.__arrow_c_stream__(None))  # polars 1.3 has no default
            frame.is_stream = hasattr(data, "__next__")  # one that goes on from where it is
        frame.is_nameless_if_numbers = _is_of(data, "pyarrow", "Dataset", "Table", "RecordBatch")
        return frame

    def find_info(self, data: Any) -> Any:
        """As `find`, for labels, weights and the like: stock takes all that numpy makes an array of."""
        from xgboost import data as stock

        if hasattr(data, "__array__") and not _is_lazy(data) and not stock._is_pandas_df(data):
            if not (stock._is_pandas_series(data) and self._is_on_arrow(data.dtype)):
                return None
        return self.find(data)

    @staticmethod
    def _is_known(data: Any) -> bool:
        """Whether stock has a way of its own for data that can also be handed over by Arrow's interface."""
        from xgboost import data as stock

        known = (stock._is_cudf_df, stock._is_cudf_ser, stock._is_cupy_array, stock._is_dt_df, stock._is_modin_df)
        return any(is_it(data) for is_it in (*known, stock._is_modin_series, stock._is_numpy_array))

    @staticmethod
    def _is_on_arrow(dtype: Any) -> bool:
        return type(dtype).__name__ == "ArrowDtype"

    def _of_pandas(self, data: Any) -> Any:
        from pandas.api.types import is_categorical_dtype, is_sparse
        from xgboost import data as stock

        is_frame = stock._is_pandas_df(data)
        dtypes = list(data.dtypes) if is_frame else [data.dtype]
        if any(self._is_on_arrow(dtype) for dtype in dtypes) and _pyarrow_hands_over():
            return self._of_pandas_on_arrow(data, is_frame)
        refused = [
            at
            for at, dtype in enumerate(dtypes)
            if dtype.name not in stock._pandas_dtype_mapper and not is_sparse(dtype) and not is_categorical_dtype(dtype)
        ]
        if not refused or any(dtypes[at].name not in NULLABLE for at in refused):
            return None
        return PandasFrame(data if is_frame else data.to_frame(), refused, is_frame)

    def _of_pandas_on_arrow(self, data: Any, is_frame: bool) -> ArrowFrame:
        """pyarrow is there: it holds the columns. Columns of numpy's are copied if they do not lie in one piece."""
        import pyarrow

        table = pyarrow.Table.from_pandas(data if is_frame else data.to_frame("0"), preserve_index=False)
        frame = ArrowFrame(self._library, table.to_reader().__arrow_c_stream__)
        if is_frame:
            from xgboost.data import _pandas_feature_info

            frame.names = _pandas_feature_info(data, None, None, [], True)[0]
        else:
            frame.names = []
        return frame


def take_frames(library: Library) -> None:
    """Has stock's package give the data that it refuses, and tables, to this one."""
    from xgboost import Booster
    from xgboost import data as stock

    frames = Frames(library)
    stock_data, stock_info = stock.dispatch_data_backend, stock.dispatch_meta_backend
    stock_batch, stock_iterator = stock._proxy_transform, stock.SingleBatchInternalIter.__init__
    stock_predict = Booster.inplace_predict
    predict_arguments = inspect.signature(stock_predict)

    @functools.wraps(stock_data)
    def dispatch_data_backend(
        data: Any,
        missing: float,
        threads: int,
        feature_names: Any,
        feature_types: Any,
        enable_categorical: bool = False,
    ) -> Tuple[ctypes.c_void_p, Any, Any]:
        frame = frames.find(data)
        if frame is None:
            return stock_data(data, missing, threads, feature_names, feature_types, enable_categorical)
        names, types = frame.features(feature_names, feature_types, enable_categorical, threads)
        return frame.to_dmatrix(missing, threads, enable_categorical), names, types

    @functools.wraps(stock_info)
    def dispatch_meta_backend(matrix: Any, data: Any, name: str, dtype: Any = None) -> None:
        frame = frames.find_info(data)
        stock_info(matrix, data if frame is None else frame.info(), name, dtype)

    @functools.wraps(stock_batch)
    def proxy_transform(data: Any, feature_names: Any, feature_types: Any, enable_categorical: bool) -> Tuple:
        frame = frames.find(data)
        if frame is None:
            return stock_batch(data, feature_names, feature_types, enable_categorical)
        names, types = frame.features(feature_names, feature_types, enable_categorical)
        return frame.array(enable_categorical), None, names, types

    @functools.wraps(stock_iterator)
    def make_iterator(self: Any, **arguments: Any) -> None:
        """A QuantileDMatrix asks for its one batch several times; a table is read once, and may allow no more."""
        stock_iterator(self, **arguments)
        frame = frames.find(arguments.get("data"))
        if frame is not None:
            self.kwargs = {**arguments, "data": frame}

    @functools.wraps(stock_predict)
    def inplace_predict(self: Any, *arguments: Any, **others: Any) -> Any:
        call = predict_arguments.bind(self, *arguments, **others)
        frame = frames.find(call.arguments["data"])
        if frame is None:
            return stock_predict(self, *arguments, **others)
        values = call.arguments["data"] = frame.array("c" in (self.feature_types or []))
        names = frame.column_names()
        # Stock compares the number of columns of a frame of pandas before it compares the names. So do we.
        if call.arguments.get("validate_features", True) and names is not None:
            if values.shape[1] == self.num_features():
                self._validate_features(names)
        return stock_predict(*call.args, **call.kwargs)

    stock.dispatch_data_backend, stock.dispatch_meta_backend = dispatch_data_backend, dispatch_meta_backend
    stock._proxy_transform, stock.SingleBatchInternalIter.__init__ = proxy_transform, make_iterator
    Booster.inplace_predict = inplace_predict
