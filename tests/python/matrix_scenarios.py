"""What a DMatrix is to stock code, for every way to make one: run once with the library loaded and once without.

    python3 matrix_scenarios.py with|without FILE      writes {scenario: result} as a pickle
"""

import ctypes
import json
import os
import pickle
import sys
import tempfile
from typing import Any, Callable, Dict

import numpy as np
import pandas as pd
import scipy.sparse as sp
import xgboost as xgb
from arrow_producer import Column, Table, categories, numbers as column, texts

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 6)).astype(np.float32)
X[RNG.random(X.shape) < 0.15] = np.nan
FULL = RNG.normal(size=(300, 6)).astype(np.float32)
SMALL = RNG.integers(0, 20, size=(300, 6))
Y = (np.nansum(X, axis=1) > 0).astype(np.float32)
WEIGHTS = RNG.integers(1, 5, size=300).astype(np.float32)


def csr(values: np.ndarray) -> sp.csr_matrix:
    rows, columns = np.nonzero(~np.isnan(values))
    return sp.csr_matrix((values[rows, columns], (rows, columns)), shape=values.shape)


def shuffled(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """The same values, those of each row in the opposite order."""
    result = matrix.copy()
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:]):
        result.indices[begin:end] = matrix.indices[begin:end][::-1]
        result.data[begin:end] = matrix.data[begin:end][::-1]
    result.has_sorted_indices = False
    return result


class Subclass(np.ndarray):
    """As packages make them that add units or names to arrays."""


def of_interface(**members: Any) -> xgb.DMatrix:
    """A DMatrix of an array interface that has other members than numpy's; None: without the member."""
    interface = {"data": [FULL.ctypes.data, True], "shape": [300, 6], "strides": None, "typestr": "<f4", "version": 3}
    interface.update(members)
    text = json.dumps({name: value for name, value in interface.items() if value is not None or name == "strides"})
    handle = ctypes.c_void_p()
    make = xgb.core._LIB.XGDMatrixCreateFromDense
    xgb.core._check_call(make(text.encode(), b'{"missing": NaN, "nthread": 2}', ctypes.byref(handle)))
    return put_into(xgb.DMatrix(X[:1]), handle)


def put_into(data: xgb.DMatrix, handle: ctypes.c_void_p) -> xgb.DMatrix:
    """The same object of Python, with a matrix that a C function made."""
    xgb.core._check_call(xgb.core._LIB.XGDMatrixFree(data.handle))
    data.handle = handle
    return data


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def interface_of(array: np.ndarray, **members: Any) -> Dict[str, Any]:
    """The array interface of an array, with other members than numpy's."""
    there = array.__array_interface__
    return {"data": there["data"], "shape": there["shape"], "strides": there["strides"], "typestr": there["typestr"], "version": 3,
            **members}


def has_function(name: str) -> bool:
    return hasattr(xgb.core._LIB, name)


def of_csc(indptr: Any, rows: Any, values: Any, count: int, stored: Any = None) -> xgb.DMatrix:
    """A DMatrix of the C function for CSC matrices. Arrays may be None; `count`: rows, or 0."""
    arrays = [indptr, rows, values]
    made = [None if array is None else np.asarray(array, kind) for array, kind in zip(arrays, (np.uint64, np.uint32, np.float32))]
    handle = ctypes.c_void_p()
    if not has_function("XGDMatrixCreateFromCSCEx"):  # the newer function takes interfaces
        length = len(values or []) if stored is None else stored
        none = {"data": (0, True), "strides": None, "version": 3}
        texts = [json.dumps(none | {"shape": (0 if kind == "<u8" else length,), "typestr": kind} if array is None else
                            interface_of(array, shape=array.shape if kind == "<u8" else (length,))).encode()
                 for array, kind in zip(made, ("<u8", "<u4", "<f4"))]
        make = xgb.core._LIB.XGDMatrixCreateFromCSC
        xgb.core._check_call(make(*texts, ctypes.c_uint64(count), b'{"missing": NaN, "nthread": 2}', ctypes.byref(handle)))
        return put_into(xgb.DMatrix(X[:1]), handle)
    xgb.core._check_call(xgb.core._LIB.XGDMatrixCreateFromCSCEx(
        *[None if array is None else address(array) for array in made], ctypes.c_size_t(0 if indptr is None else len(indptr)),
        ctypes.c_size_t(len(values or []) if stored is None else stored), ctypes.c_size_t(count), ctypes.byref(handle)))
    return put_into(xgb.DMatrix(X[:1]), handle)


def of_table(*columns: Any, types: Any = None, threads: int = 2, rows: Any = None) -> xgb.DMatrix:
    """A DMatrix of the columns of a frame of `datatable`. A column or a type may be None."""
    names = {"bool": "bool8"}
    if types is None:
        types = [names.get(column.dtype.name, column.dtype.name) for column in columns]
    values = (ctypes.c_void_p * len(columns))(*[None if column is None else column.ctypes.data for column in columns])
    texts = (ctypes.c_char_p * len(columns))(*[None if kind is None else kind.encode() for kind in types])
    handle = ctypes.c_void_p()
    xgb.core._check_call(xgb.core._LIB.XGDMatrixCreateFromDT(
        values, texts, ctypes.c_uint64(len(columns[0]) if rows is None else rows), ctypes.c_uint64(len(columns)),
        ctypes.byref(handle), ctypes.c_int(threads)))
    return put_into(xgb.DMatrix(X[:1]), handle)


def of_columns(*columns: np.ndarray, masks: Any = None, missing: float = np.nan, threads: int = 2) -> xgb.DMatrix:
    """A DMatrix of the C function for tables by columns. A mask has True where a value is there; None: everywhere."""
    bits = [None if mask is None else np.packbits(mask, bitorder="little") for mask in masks or [None] * len(columns)]
    table = [interface_of(column, mask=None if mask is None else interface_of(mask, typestr="|t1", shape=column.shape, strides=None))
             for column, mask in zip(columns, bits)]
    config = json.dumps({"missing": missing, "nthread": threads, "data_split_mode": None}).encode()
    handle = ctypes.c_void_p()
    make = xgb.core._LIB.XGDMatrixCreateFromColumnar
    xgb.core._check_call(make(json.dumps(table).encode(), config, ctypes.byref(handle)))
    return put_into(xgb.DMatrix(X[:1]), handle)


def numeric_columns() -> list:
    """A column of every type of numbers, some with gaps between their values."""
    kinds = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
    integers = [SMALL[:, at % 6].astype(kind) for at, kind in enumerate(kinds)]
    return [X[:, 0].copy(), X[:, 1], X[:, 2].astype(np.float64), FULL[::-1, 3], *integers]


def mixed_columns() -> list:
    """A column of every type of `datatable`, with what means "missing" in it."""
    floats = [X[:, 0].copy(), X[:, 1].astype(np.float64), SMALL[:, 0] > 9]
    for at, kind in enumerate((np.int8, np.int16, np.int32, np.int64)):
        column = SMALL[:, 1 + at].astype(kind)
        column[::7] = np.iinfo(kind).min
        column[1::7] = np.iinfo(kind).max
        floats.append(column)
    floats[0][3], floats[1][4], floats[1][5] = np.inf, -np.inf, np.nan
    return floats


NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Caller:
    """Hands the batches of a table over as the Python package does: one by one, until there is none or an error."""

    def __init__(self, *batches: Dict[str, Column], **settings: Any) -> None:
        """A setting of None is left out."""
        self.table, self.codes = Table(*batches), []
        settings = {"missing": float("nan"), "nthread": 2, "nbatch": len(batches), **settings}
        self.config = json.dumps({name: value for name, value in settings.items() if value is not None})

    def hand_over(self, importer: int, schema: Any, array: Any) -> int:
        pointers = [None if of is None else ctypes.byref(of) for of in (array, schema)]
        self.codes.append(xgb.core._LIB.XGImportArrowRecordBatch(ctypes.c_void_p(importer), *pointers))
        return self.codes[-1]

    def next(self, importer: int) -> int:
        batch = self.table.next_batch()
        return 0 if batch is None else int(self.hand_over(importer, *batch) == 0)

    def dmatrix(self) -> xgb.DMatrix:
        self.table.begin()
        handle, config = ctypes.c_void_p(), self.config.encode()
        make = xgb.core._LIB.XGDMatrixCreateFromArrowCallback
        xgb.core._check_call(make(NEXT(self.next), config, ctypes.byref(handle)))
        return put_into(xgb.DMatrix(X[:1]), handle)


class SchemaOnce(Caller):
    """Has no schema but for the first batch."""

    def next(self, importer: int) -> int:
        batch = self.table.next_batch()
        if batch is None:
            return 0
        schema, array = batch
        if self.codes:
            schema.release(ctypes.pointer(schema))
        return int(self.hand_over(importer, None if self.codes else schema, array) == 0)


class SchemaAlone(Caller):
    """Hands over a schema and no batch."""

    def next(self, importer: int) -> int:
        batch = self.table.next_batch()
        if batch is None:
            return 0
        batch[1].release(ctypes.pointer(batch[1]))
        return int(self.hand_over(importer, batch[0], None) == 0)


class NoSchema(Caller):
    def next(self, importer: int) -> int:
        batch = self.table.next_batch()
        if batch is None:
            return 0
        batch[0].release(ctypes.pointer(batch[0]))
        code = self.hand_over(importer, None, batch[1])
        batch[1].release(ctypes.pointer(batch[1]))  # XGBoost has not taken it
        return int(code == 0)


class AllAtOnce(Caller):
    """Imports whatever there is in one call."""

    def next(self, importer: int) -> int:
        while (batch := self.table.next_batch()) is not None:
            if self.hand_over(importer, *batch) != 0:
                batch[1].release(ctypes.pointer(batch[1]))
        return 0


class AnIdleCall(Caller):
    """Brings nothing in the second call."""

    def next(self, importer: int) -> int:
        if len(self.codes) == 1:
            self.codes.append("idle")
            return 1
        return super().next(importer)


class GivesUp(Caller):
    """Has an error of its own before the third batch."""

    def next(self, importer: int) -> int:
        return 0 if len(self.codes) == 2 else super().next(importer)


class GoesOn(Caller):
    """Does not look at what XGBoost says."""

    def next(self, importer: int) -> int:
        batch = self.table.next_batch()
        if batch is not None and self.hand_over(importer, *batch) != 0:
            for structure in batch:
                if structure.release:
                    structure.release(ctypes.pointer(structure))
        return int(batch is not None)


def columns(x: np.ndarray, dtype: Any = np.float32) -> Dict[str, Column]:
    """A batch of columns whose NaN are null."""
    there = ~np.isnan(x)
    return {f"f{at}": column(np.where(there, x, 0).astype(dtype)[:, at], there[:, at]) for at in range(x.shape[1])}


def in_batches(*rows: int, dtype: Any = np.float32) -> list:
    ends = np.cumsum([0, *rows])
    return [columns(X[begin:end], dtype) for begin, end in zip(ends[:-1], ends[1:])]


def all_numbers(count: int = 300) -> Dict[str, Column]:
    """A column of every type that XGBoost takes, with nulls, infinite values and those that are no number."""
    there = RNG_MASK[:count]
    batch = {}
    for at, kind in enumerate(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]):
        values = SMALL[:count, at % 6].astype(kind)
        values[::7], values[1::7] = np.iinfo(kind).min, np.iinfo(kind).max
        batch[kind] = column(values, there[:, at % 6] if at % 2 else None)
    for kind in ("float32", "float64"):
        values = X[:count, 0].astype(kind)
        values[::9] = np.inf if kind == "float32" else -1e-300
        batch[kind] = column(values, there[:, 1])
    return batch


def with_array(spoil: Callable, caller: Caller) -> Caller:
    caller.table.spoil_array = spoil
    return caller


def uncounted(array: Any) -> None:
    """Bitmaps have nulls, and the numbers of nulls say that there are none."""
    array.null_count = 0
    for at in range(array.n_children):
        array.children[at].contents.null_count = 0


def with_null_rows(array: Any) -> None:
    array.null_count, array.buffers[0] = 2, NULL_ROWS.ctypes.data


def unreleasable(array: Any) -> None:
    """Memory of which somebody else takes care."""
    array.release = type(array.release)()


NULL_ROWS = np.full(100, 0xF3, np.uint8)
TEXT = texts(["a", "b", "c"] * 100)
CODED = {"a": column(FULL[:, 0]), "b": categories(SMALL[:, 0].astype(np.int8), texts(["x"] * 20))}
NAN_ROWS = np.where(np.isnan(X), np.float32(-9), X)
CALLERS: Dict[str, Callable[[], Caller]] = {
    "one batch": lambda: Caller(columns(X)),
    "three batches": lambda: Caller(*in_batches(100, 1, 199)),
    "an empty batch between": lambda: Caller(*in_batches(100, 0, 200)),
    "three batches, one by one": lambda: Caller(*in_batches(100, 1, 199), nbatch=1),
    "three batches, two by two": lambda: Caller(*in_batches(100, 1, 199), nbatch=2),
    "more batches than there are": lambda: Caller(*in_batches(100, 200), nbatch=100),
    "no batches wanted": lambda: Caller(*in_batches(100, 200), nbatch=0),
    "no batch": lambda: Caller(nbatch=3),
    "no row": lambda: Caller(columns(X[:0])),
    "no column": lambda: Caller({}),
    "one row": lambda: Caller(columns(X[:1])),
    "one thread": lambda: Caller(*in_batches(150, 150), nthread=1),
    "any threads": lambda: Caller(*in_batches(150, 150), nthread=None),
    "all numbers": lambda: Caller(all_numbers()),
    "all numbers, a mark": lambda: Caller(all_numbers(), missing=3),
    "all numbers, an infinite mark": lambda: Caller(all_numbers(), missing=float("inf")),
    "a mark": lambda: Caller(columns(NAN_ROWS), missing=-9.0),
    "doubles": lambda: Caller(*in_batches(100, 200, dtype=np.float64)),
    "infinite doubles": lambda: Caller({"a": column(np.array([1, np.inf, -np.inf, np.nan]))}),
    "doubles without a float": lambda: Caller({"a": column(np.array([1, 1e300, np.inf]))}, columns(X[:5, :1], np.float64)),
    "missing values alone": lambda: Caller({"a": column(np.full(5, np.nan, np.float32))}),
    "truths": lambda: Caller({"a": column(FULL[:, 0]), "b": column(FULL[:, 0] > 0), "c": column(FULL[:, 1])}),
    "texts": lambda: Caller({"a": TEXT}),
    "texts, and the caller goes on": lambda: GoesOn({"a": TEXT}, {"a": column(FULL[:, 0])}),
    "halves": lambda: Caller({"a": column(FULL[:, 0].astype(np.float16))}),
    "codes of a dictionary": lambda: Caller(CODED),
    "a schema once": lambda: SchemaOnce(*in_batches(100, 200)),
    "a schema alone": lambda: SchemaAlone(columns(X)),
    "no schema": lambda: NoSchema(columns(X)),
    "all at once": lambda: AllAtOnce(*in_batches(100, 200)),
    "one at once": lambda: AllAtOnce(columns(X)),
    "an idle call": lambda: AnIdleCall(*in_batches(100, 200)),
    "an end before the end": lambda: GivesUp(*in_batches(100, 50, 150)),
    "nulls that are not counted": lambda: with_array(uncounted, Caller(columns(X))),
    "rows that are null": lambda: with_array(with_null_rows, Caller(*in_batches(100, 200))),
    "batches of others": lambda: with_array(unreleasable, Caller(*in_batches(100, 200))),
    "more columns later": lambda: Caller(*in_batches(100), {**columns(X), "more": column(FULL[:, 0])}),
    "no mark": lambda: Caller(columns(X), missing=None),
    "a mark that is a text": lambda: Caller(columns(X), missing="x"),
    "no number of batches": lambda: Caller(columns(X), nbatch=None),
    "a number of threads that is a text": lambda: Caller(columns(X), nthread="two"),
}


def handed_over(make: Callable[[], Caller]) -> Any:
    """Also what the caller was told, and how often his structures were released."""
    caller = make()
    values = result(lambda: numbers(caller.dmatrix()))
    return values, caller.codes, caller.table.released


def in_a_file(values: np.ndarray) -> np.memmap:
    with tempfile.NamedTemporaryFile() as file:
        file.write(values.tobytes())
        file.flush()
        return np.memmap(file.name, values.dtype, "r", shape=values.shape)


WIDE = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
FORMS: Dict[str, Callable[[], xgb.DMatrix]] = {
    "float32": lambda: xgb.DMatrix(X),
    "float64": lambda: xgb.DMatrix(X.astype(np.float64)),
    "float16": lambda: xgb.DMatrix(FULL.astype(np.float16)),
    "longdouble": lambda: xgb.DMatrix(X.astype(np.longdouble)),
    "fortran": lambda: xgb.DMatrix(np.asfortranarray(X)),
    "strided": lambda: xgb.DMatrix(WIDE[::2, ::3]),
    "backwards": lambda: xgb.DMatrix(X[::-1, ::-1]),
    "broadcast": lambda: xgb.DMatrix(np.broadcast_to(X[:1], (300, 6))),
    "unaligned": lambda: xgb.DMatrix(np.frombuffer(b"x" + FULL.tobytes(), np.uint8)[1:].view(np.float32).reshape(300, 6)),
    "read only": lambda: xgb.DMatrix(np.frombuffer(FULL.tobytes(), np.float32).reshape(300, 6)),
    "one row": lambda: xgb.DMatrix(X[:1]),
    "one column": lambda: xgb.DMatrix(X[:, :1]),
    "no row": lambda: xgb.DMatrix(X[:0]),
    "no column": lambda: xgb.DMatrix(X[:, :0]),
    "missing -1": lambda: xgb.DMatrix(np.where(np.isnan(X), np.float32(-1), X), missing=-1.0),
    "missing 0": lambda: xgb.DMatrix(np.nan_to_num(X), missing=0),
    "missing inf": lambda: xgb.DMatrix(np.where(np.isnan(X), np.float32(np.inf), X), missing=np.inf),
    "missing 3 of integers": lambda: xgb.DMatrix(SMALL.astype(np.uint8), missing=3),
    "missing 300 of bytes": lambda: xgb.DMatrix(SMALL.astype(np.uint8), missing=300),
    "all missing": lambda: xgb.DMatrix(np.full_like(X, np.nan)),
    "infinite": lambda: xgb.DMatrix(np.where(np.isnan(X), np.float32(np.inf), X)),
    "minus infinite": lambda: xgb.DMatrix(np.where(np.isnan(X), np.float32(-np.inf), X), missing=np.inf),
    "too large": lambda: xgb.DMatrix(np.where(np.isnan(X), 1e300, X)),
    "objects": lambda: xgb.DMatrix(FULL.astype(object)),
    "texts": lambda: xgb.DMatrix(np.array([["a", "b"], ["c", "d"]])),
    "three dimensions": lambda: xgb.DMatrix(np.zeros((2, 3, 4))),
    "one dimension": lambda: xgb.DMatrix(np.zeros(5)),
    "complex": lambda: xgb.DMatrix(FULL.astype(np.complex64)),
    "csr": lambda: xgb.DMatrix(csr(X)),
    "csr float64": lambda: xgb.DMatrix(csr(X).astype(np.float64)),
    "csr of 64-bit indices": lambda: xgb.DMatrix(wide_indices(csr(X))),
    "csr shuffled": lambda: xgb.DMatrix(shuffled(csr(X))),
    "csr missing 0": lambda: xgb.DMatrix(csr(np.where(RNG_MASK, np.float32(0), X)), missing=0),
    "csr with nan": lambda: xgb.DMatrix(sp.csr_matrix(X)),
    "csr without values": lambda: xgb.DMatrix(sp.csr_matrix((300, 6), dtype=np.float32)),
    "csr without rows": lambda: xgb.DMatrix(sp.csr_matrix((0, 6), dtype=np.float32)),
    "csr infinite": lambda: xgb.DMatrix(csr(np.where(np.isnan(X), np.float32(np.inf), X))),
    "csc": lambda: xgb.DMatrix(csr(X).tocsc()),
    "csc float64": lambda: xgb.DMatrix(csr(X).tocsc().astype(np.float64)),
    "csc shuffled": lambda: xgb.DMatrix(shuffled(csr(X).tocsc())),
    "csc with nan": lambda: xgb.DMatrix(sp.csc_matrix(X)),
    "csc with nan and 0": lambda: xgb.DMatrix(sp.csc_matrix(np.where(RNG_MASK, np.float32(0), X))),
    "csc of one row": lambda: xgb.DMatrix(csr(X[:1]).tocsc()),
    "csc of gaps": lambda: xgb.DMatrix(csr(np.where(GAPS, np.float32(np.nan), X)).tocsc()),
    "csc without values": lambda: xgb.DMatrix(sp.csc_matrix((300, 6), dtype=np.float32)),
    "csc without rows": lambda: xgb.DMatrix(sp.csc_matrix((0, 6), dtype=np.float32)),
    "csc without columns": lambda: xgb.DMatrix(sp.csc_matrix((300, 0), dtype=np.float32)),
    "csc infinite": lambda: xgb.DMatrix(csr(np.where(np.isnan(X), np.float32(np.inf), X)).tocsc()),
    "csc of any rows": lambda: of_csc([0, 2, 2, 3], [4, 1, 2], [1, 2, 3], 0),
    "csc from the third value on": lambda: of_csc([2, 3, 5], [9, 9, 1, 0, 4], [1, 2, 3, 4, 5], 5),
    "csc with values twice": lambda: of_csc([0, 4], [1, 1, 0, 1], [1, 2, 3, 0.5], 3),
    "csc with nan in a row that is none": lambda: of_csc([0, 2, 3], [0, 9, 1], [1, np.nan, 2], 3),
    "csc of nothing": lambda: of_csc([0], [], [], 3),
    "csc of a missing row": lambda: of_csc([0, 2, 3], [0, 2, 0], [1, 2, np.nan], 5),
    "batches": lambda: Caller(*in_batches(100, 200)).dmatrix(),
    "table of float32": lambda: of_table(*X.T.copy()),
    "table of float64": lambda: of_table(*X.T.astype(np.float64)),
    "table of all types": lambda: of_table(*mixed_columns()),
    "table of all types by one thread": lambda: of_table(*mixed_columns(), threads=1),
    "table of one row": lambda: of_table(*(column[:1].copy() for column in mixed_columns())),
    "table of truths beside 0 and 1": lambda: of_table(np.array([0, 1, 2, 128, 255], np.uint8), types=["bool8"]),
    "table without rows": lambda: of_table(*(column[:0] for column in mixed_columns())),
    "table of missing values": lambda: of_table(np.full(9, np.nan, np.float32), np.full(9, -128, np.int8)),
    "table of a missing column": lambda: of_table(X[:, 0].copy(), np.full(300, np.nan), SMALL[:, 0].copy()),
    "table of values without a float32": lambda: of_table(np.array([1, 1e300, np.inf])),
    "table of small values": lambda: of_table(np.array([1, 1e-300, -1e-42, 0.0, -0.0])),
    "table of texts": lambda: of_table(np.zeros(4, np.int32), types=["str32"]),
    "table of a type without a name": lambda: of_table(np.zeros(4, np.int32), types=[None]),
    "columns": lambda: of_columns(*numeric_columns()),
    "columns by one thread": lambda: of_columns(*numeric_columns(), threads=1),
    "columns with masks": lambda: of_columns(*numeric_columns(), masks=[*RNG_MASK.T, None, None, *~RNG_MASK[:, :4].T]),
    "columns with a mark": lambda: of_columns(*numeric_columns(), missing=3),
    "columns with an infinite mark": lambda: of_columns(np.where(np.isnan(X[:, 0]), np.inf, X[:, 0]), missing=np.inf),
    "columns of one row": lambda: of_columns(*(column[:1] for column in numeric_columns())),
    "columns without rows": lambda: of_columns(*(column[:0] for column in numeric_columns())),
    "columns of infinite values": lambda: of_columns(X[:, 0].copy(), np.full(300, np.inf)),
    "columns without a float32": lambda: of_columns(np.array([1, 1e300, 2])),
    "columns of different lengths": lambda: of_columns(X[:, 0].copy(), X[:7, 1].copy()),
    "columns of truths": lambda: of_columns(X[:, 0].copy(), SMALL[:, 0] > 9),
    "columns of halves": lambda: of_columns(X[:, 0].copy(), FULL[:, 0].astype(np.float16)),
    "columns of texts": lambda: of_columns(X[:, 0].copy(), np.array(["a"] * 300)),
    "no columns": lambda: of_columns(),
    "coo": lambda: xgb.DMatrix(csr(X).tocoo()),
    "list": lambda: xgb.DMatrix(X.tolist()),
    "frame": lambda: xgb.DMatrix(pd.DataFrame(X, columns=list("abcdef"))),
    "frame of integers": lambda: xgb.DMatrix(pd.DataFrame(SMALL, columns=list("abcdef"))),
    "frame of categories": lambda: xgb.DMatrix(
        pd.DataFrame(SMALL, columns=list("abcdef")).astype("category"), enable_categorical=True),
    "numpy's matrix": lambda: xgb.DMatrix(np.matrix(X)),
    "subclass": lambda: xgb.DMatrix(X.view(Subclass)),
    "file": lambda: xgb.DMatrix(in_a_file(X)),
    "structures": lambda: xgb.DMatrix(np.zeros((3, 2), [("a", "f4"), ("b", "i4")])),
    "fields": lambda: xgb.DMatrix(np.rec.fromarrays(list(X.T))),
    "field of structures": lambda: xgb.DMatrix(
        np.array([(1, row) for row in FULL], [("a", "i4"), ("values", "f4", (6,))])["values"]),
    "field of packed structures": lambda: xgb.DMatrix(
        np.array([(1, row) for row in FULL], [("a", "i1"), ("values", "f4", (6,))])["values"]),
    "tuples": lambda: xgb.DMatrix(tuple(map(tuple, FULL.tolist()))),
    "dates": lambda: xgb.DMatrix(SMALL.astype("datetime64[s]")),
    "interface": lambda: of_interface(),
    "interface without a version": lambda: of_interface(version=None),
    "interface of version 2": lambda: of_interface(version=2),
    "interface of version 4": lambda: of_interface(version=4),
    "interface of version '3'": lambda: of_interface(version="3"),
    "interface between addresses": lambda: of_interface(data=[FULL.ctypes.data + 1, True], shape=[299, 6]),
    "interface of another array's end": lambda: of_interface(data=[FULL.ctypes.data + 4, True], shape=[299, 6]),
    "interface of few strides": lambda: of_interface(strides=[4]),
    "interface of a type of one letter": lambda: of_interface(typestr="f"),
    "interface of objects": lambda: of_interface(typestr="|O"),
    "interface at 0": lambda: of_interface(data=[0, True]),
    "interface of a text": lambda: of_interface(data="here"),
    "threads": lambda: xgb.DMatrix(X, nthread=1),
    "names": lambda: xgb.DMatrix(X, feature_names=list("uvwxyz"), feature_types=["q", "int", "float", "i", "q", "q"]),
}
RNG_MASK = RNG.random(X.shape) < 0.2
GAPS = RNG_MASK | (np.arange(300) % 4 == 0)[:, None] | (np.arange(6) == 2)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, bool]
FORMS.update({np.dtype(kind).name: lambda kind=kind: xgb.DMatrix(SMALL.astype(kind)) for kind in INTEGERS})


#: The C function of forms that not every series of XGBoost has, by the beginning of their names.
FUNCTIONS = {
    "table ": "XGDMatrixCreateFromDT",
    "batches": "XGDMatrixCreateFromArrowCallback",
    "columns": "XGDMatrixCreateFromColumnar",
    "no columns": "XGDMatrixCreateFromColumnar",
}
FORMS = {form: make for form, make in FORMS.items()
         if all(has_function(name) for begin, name in FUNCTIONS.items() if form.startswith(begin))}


def wide_indices(matrix: sp.csr_matrix) -> sp.csr_matrix:
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return matrix


def numbers(data: xgb.DMatrix) -> Any:
    values = data.get_data()
    return (data.num_row(), data.num_col(), data.num_nonmissing(), values.indptr, values.indices, values.data.view(np.uint32),
            data.feature_names, data.feature_types)


def model(data: xgb.DMatrix, rounds: int = 3, **settings: Any) -> bytes:
    if data.num_row() == len(Y):
        data.set_label(Y)
        data.set_weight(WEIGHTS)
    booster = xgb.train({"max_depth": 4, "nthread": 2, **settings}, data, rounds)
    return bytes(booster.save_raw("json")), booster.predict(data).tobytes()


def contributions(data: xgb.DMatrix) -> Any:
    data.set_label(Y)
    booster = xgb.train({"tree_method": "hist", "max_depth": 3}, data, 3)
    return booster.predict(data, pred_contribs=True).tobytes(), booster.predict(data, pred_leaf=True).tobytes()


def sliced(data: xgb.DMatrix) -> Any:
    data.set_label(Y)
    data.set_base_margin(WEIGHTS)
    part = data.slice([5, 3, 299, 3])
    return numbers(part), part.get_label(), part.get_base_margin(), numbers(part.slice([1])), numbers(data)


def slice_after_use(data: xgb.DMatrix) -> Any:
    model(data, tree_method="hist")
    return sliced(data)


def saved(data: xgb.DMatrix) -> Any:
    data.set_label(Y)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "data")
        data.save_binary(file)
        again = xgb.DMatrix(file)
        return open(file, "rb").read(), numbers(again), again.get_label()


def ranked(data: xgb.DMatrix) -> Any:
    data.set_group([100, 120, 80])
    data.set_label(Y)
    booster = xgb.train({"objective": "rank:pairwise", "tree_method": "hist", "max_depth": 3}, data, 3)
    return bytes(booster.save_raw("json"))


def cross_validated(data: xgb.DMatrix) -> Any:
    data.set_label(Y)
    return xgb.cv({"tree_method": "hist", "max_depth": 3}, data, 3, nfold=3, seed=1).to_csv()


def result(scenario: Callable[[], Any]) -> Any:
    try:
        return scenario()
    except (xgb.core.XGBoostError, ValueError, TypeError, AssertionError) as error:
        text = str(error)  # the stack below it has addresses
        return type(error).__name__, text[: text.find("Stack trace")].split("] ", 1)[-1]


#: The C function that makes a form, where XGBoost has given it up in some series.
MADE_BY = {"of_csc": "XGDMatrixCreateFromCSCEx", "of_table": "XGDMatrixCreateFromDT", "Caller": "XGDMatrixCreateFromArrowCallback"}


def there_are(forms: Dict[str, Callable]) -> Dict[str, Callable]:
    """The forms that this XGBoost has functions for."""
    missing = {form for form, function in MADE_BY.items() if not hasattr(xgb.core._LIB, function)}
    return {name: make for name, make in forms.items() if not missing.intersection(make.__code__.co_names)}


def all_scenarios() -> Dict[str, Any]:
    forms = there_are(FORMS)
    scenarios = {f"values of {form}": lambda make=make: numbers(make()) for form, make in forms.items()}
    for form in filter(forms.get, ("float32", "uint8", "csr", "csc", "table of float32", "frame", "batches", "columns")):
        make = forms[form]
        for method in ("hist", "approx", "exact"):
            scenarios[f"{method} of {form}"] = lambda make=make, method=method: model(make(), tree_method=method)
        scenarios[f"gblinear of {form}"] = lambda make=make: model(make(), booster="gblinear", updater="coord_descent")
        scenarios[f"dart of {form}"] = lambda make=make: model(make(), booster="dart", tree_method="hist")
        for what in (contributions, sliced, slice_after_use, saved, ranked, cross_validated):
            scenarios[f"{what.__name__} of {form}"] = lambda make=make, what=what: what(make())
    callers = CALLERS if "batches" in forms else {}
    scenarios.update({f"batches: {name}": lambda make=make: handed_over(make) for name, make in callers.items()})
    scenarios["slice beyond the rows"] = lambda: FORMS["float32"]().num_row()
    return {name: result(scenario) for name, scenario in scenarios.items()}


if __name__ == "__main__":
    if sys.argv[1] == "with":
        import xgboost_gpu  # noqa: F401
    with open(sys.argv[2], "wb") as out:
        pickle.dump(all_scenarios(), out)
