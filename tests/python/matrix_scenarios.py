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


def of_csc(indptr: Any, rows: Any, values: Any, count: int, stored: Any = None) -> xgb.DMatrix:
    """A DMatrix of the C function for CSC matrices. Arrays may be None; `count`: rows, or 0."""
    arrays = [indptr, rows, values]
    made = [None if array is None else np.asarray(array, kind) for array, kind in zip(arrays, (np.uint64, np.uint32, np.float32))]
    handle = ctypes.c_void_p()
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
    "big endian": lambda: xgb.DMatrix(FULL.astype(">f4")),
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
    "coo": lambda: xgb.DMatrix(csr(X).tocoo()),
    "list": lambda: xgb.DMatrix(X.tolist()),
    "frame": lambda: xgb.DMatrix(pd.DataFrame(X, columns=list("abcdef"))),
    "frame of integers": lambda: xgb.DMatrix(pd.DataFrame(SMALL, columns=list("abcdef"))),
    "frame of categories": lambda: xgb.DMatrix(
        pd.DataFrame(SMALL, columns=list("abcdef")).astype("category"), enable_categorical=True),
    "numpy's matrix": lambda: xgb.DMatrix(np.matrix(X)),
    "masked": lambda: xgb.DMatrix(np.ma.masked_array(FULL, mask=np.isnan(X))),
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
    "interface of 2^64 values": lambda: of_interface(shape=[2**62, 4], strides=[0, 0]),
    "interface of 2^64 bytes": lambda: of_interface(shape=[2**60, 4], strides=[0, 0]),
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


def all_scenarios() -> Dict[str, Any]:
    scenarios = {f"values of {form}": lambda make=make: numbers(make()) for form, make in FORMS.items()}
    for form in ("float32", "uint8", "csr", "csc", "table of float32", "frame"):
        make = FORMS[form]
        for method in ("hist", "approx", "exact"):
            scenarios[f"{method} of {form}"] = lambda make=make, method=method: model(make(), tree_method=method)
        scenarios[f"gblinear of {form}"] = lambda make=make: model(make(), booster="gblinear", updater="coord_descent")
        scenarios[f"dart of {form}"] = lambda make=make: model(make(), booster="dart", tree_method="hist")
        for what in (contributions, sliced, slice_after_use, saved, ranked, cross_validated):
            scenarios[f"{what.__name__} of {form}"] = lambda make=make, what=what: what(make())
    scenarios["slice beyond the rows"] = lambda: FORMS["float32"]().num_row()
    return {name: result(scenario) for name, scenario in scenarios.items()}


if __name__ == "__main__":
    if sys.argv[1] == "with":
        import xgboost_gpu  # noqa: F401
    with open(sys.argv[2], "wb") as out:
        pickle.dump(all_scenarios(), out)
