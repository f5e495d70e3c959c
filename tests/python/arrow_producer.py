"""A producer of Arrow's C stream interface that needs no package: well-formed tables for the tests of values, and every
structure open to be spoilt for the tests of errors."""

import ctypes
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


SCHEMA_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
ARRAY_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", SCHEMA_RELEASE),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ARRAY_RELEASE),
    ("private_data", ctypes.c_void_p),
]
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
STREAM_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", STREAM_RELEASE),
    ("private_data", ctypes.c_void_p),
]

FORMATS = {
    "bool": "b",
    "int8": "c",
    "uint8": "C",
    "int16": "s",
    "uint16": "S",
    "int32": "i",
    "uint32": "I",
    "int64": "l",
    "uint64": "L",
    "float16": "e",
    "float32": "f",
    "float64": "g",
}


class Column:
    """A column in one batch: its format, its buffers, and how many elements lie before the first."""

    def __init__(self, format: str, buffers: Sequence[Optional[np.ndarray]], length: int, offset: int = 0) -> None:
        self.format, self.buffers, self.length, self.offset = format, list(buffers), length, offset
        self.null_count = -1
        self.dictionary: Optional[Column] = None
        self.n_children = 0
        self.n_buffers = len(self.buffers)


def bits(truths: np.ndarray) -> np.ndarray:
    return np.packbits(truths, bitorder="little")


def numbers(values: np.ndarray, there: Optional[np.ndarray] = None, offset: int = 0) -> Column:
    """Values where `there`, else null; `offset` elements that nobody may look at lie before them."""
    values = np.concatenate([np.ones(offset, values.dtype), values])
    mask = None if there is None else bits(np.concatenate([np.ones(offset, bool), there]))
    memory = bits(values) if values.dtype == bool else values
    return Column(FORMATS[values.dtype.name], [mask, memory], len(values) - offset, offset)


def texts(words: Sequence[Optional[str]], format: str = "u", offset: int = 0) -> Column:
    """Texts in one of Arrow's three ways to store them; None is null."""
    words = ["before"] * offset + list(words)
    parts = [(word or "").encode() for word in words]
    there = bits(np.array([word is not None for word in words], bool))
    memory = np.frombuffer(b"".join(parts) + b"\0", np.uint8)
    ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    if format != "vu":
        ends = ends.astype("i4" if format == "u" else "i8")
        return Column(format, [there, ends, memory], len(words) - offset, offset)
    views = b"".join(
        len(part).to_bytes(4, "little")
        + (
            part.ljust(12, b"\0")
            if len(part) <= 12
            else part[:4] + (0).to_bytes(4, "little") + int(begin).to_bytes(4, "little")
        )
        for part, begin in zip(parts, ends)
    )
    sizes = np.array([len(memory)], np.int64)
    return Column("vu", [there, np.frombuffer(views, np.uint8), memory, sizes], len(words) - offset, offset)


def categories(codes: np.ndarray, values: Column, there: Optional[np.ndarray] = None, offset: int = 0) -> Column:
    column = numbers(codes, there, offset)
    column.dictionary = values
    return column


class Table:
    """Batches of columns by name, with ``__arrow_c_stream__``. A test may spoil each structure that it hands over.

    spoil_schema, spoil_array, spoil_stream  called with the finished structure (of the whole table)
    released                                 how often "schema", "array" and "stream" were released
    """

    def __init__(self, *batches: Dict[str, Column], format: str = "+s", skip: int = 0) -> None:
        """`skip`: rows of each batch's columns that are before the table's first."""
        self.batches, self.format, self.skip = batches, format, skip
        self.spoil_schema: Callable[[Schema], None] = lambda schema: None
        self.spoil_array: Callable[[Array], None] = lambda array: None
        self.spoil_stream: Callable[[Stream], None] = lambda stream: None
        self.fails: Dict[str, int] = {}
        self.released = {"schema": 0, "array": 0, "stream": 0}
        self._problem = ctypes.create_string_buffer(b"the disk is full")
        self._kept: List[Any] = []

    def _keep(self, thing: Any) -> Any:
        self._kept.append(thing)
        return thing

    def _release(self, what: str, kind: Any) -> Any:
        def release(pointer: Any) -> None:
            self.released[what] += 1
            pointer.contents.release = kind()

        return self._keep(kind(release))

    def _pointers(self, kind: type, things: List[Any]) -> Any:
        return self._keep((ctypes.POINTER(kind) * max(1, len(things)))(*[ctypes.pointer(thing) for thing in things]))

    def _schema(self, column: Column, name: str) -> Schema:
        schema = self._keep(Schema(format=column.format.encode(), name=name.encode()))
        if column.dictionary is not None:
            schema.dictionary = ctypes.pointer(self._schema(column.dictionary, ""))
        return schema

    def _array(self, column: Column) -> Array:
        pointers = [None if buffer is None else self._keep(buffer).ctypes.data for buffer in column.buffers]
        buffers = self._keep((ctypes.c_void_p * max(1, len(pointers)))(*pointers))
        array = self._keep(Array(length=column.length, null_count=column.null_count, offset=column.offset))
        array.n_buffers, array.buffers, array.n_children = column.n_buffers, buffers, column.n_children
        if column.dictionary is not None:
            array.dictionary = ctypes.pointer(self._array(column.dictionary))
        return array

    def _get_schema(self, _: Any, out: Any) -> int:
        schema = out.contents
        if self.format == "+s":
            columns = [self._schema(column, name) for name, column in self.batches[0].items()]
            schema.format, schema.name, schema.n_children = b"+s", b"", len(columns)
            schema.children = self._pointers(Schema, columns)
        else:
            (name, column), = self.batches[0].items()
            ctypes.memmove(out, ctypes.byref(self._schema(column, name)), ctypes.sizeof(Schema))
        schema.release = self._release("schema", SCHEMA_RELEASE)
        self.spoil_schema(schema)
        return self.fails.get("get_schema", 0)

    def _get_next(self, _: Any, out: Any) -> int:
        array = out.contents
        if self._at == len(self.batches):
            array.release = ARRAY_RELEASE()
            return self.fails.get("get_next", 0)
        columns = [self._array(column) for column in self.batches[self._at].values()]
        self._at += 1
        if self.format == "+s":
            array.length = (columns[0].length if columns else 0) - self.skip
            array.offset, array.n_buffers, array.n_children = self.skip, 1, len(columns)
            array.buffers = self._keep((ctypes.c_void_p * 1)(None))
            array.children = self._pointers(Array, columns)
        else:
            ctypes.memmove(out, ctypes.byref(columns[0]), ctypes.sizeof(Array))
        array.release = self._release("array", ARRAY_RELEASE)
        self.spoil_array(array)
        return 0

    def begin(self) -> None:
        """The next batch is the first."""
        self._at = 0

    def next_batch(self) -> Optional[Tuple[Schema, Array]]:
        """The schema and the next batch, for who takes them one by one; None after the last one."""
        if self._at == len(self.batches):
            return None
        schema, array = self._keep(Schema()), self._keep(Array())
        self._get_schema(None, ctypes.pointer(schema))
        self._get_next(None, ctypes.pointer(array))
        return schema, array

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self._at = 0
        stream = self._keep(
            Stream(
                self._keep(GET_SCHEMA(self._get_schema)),
                self._keep(GET_NEXT(self._get_next)),
                self._keep(GET_ERROR(lambda _: ctypes.addressof(self._problem))),
                self._release("stream", STREAM_RELEASE),
            )
        )
        self.spoil_stream(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(stream), b"arrow_array_stream", None)
