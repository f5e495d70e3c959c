"""Arrow tables: what stock's DMatrix takes gives the trees of the same numbers. test_frames.py has what it refuses.

pyarrow is no package of Debian 12: docs/testing.md says how to bring it.
"""

import ctypes
import gc
from typing import Callable

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from arrow_producer import Array, Schema
from matrix_scenarios import Caller
from support import OURS, assert_same_trees, fresh, make_data, only_before, only_ours, pages_made, sampled, train

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: docs/testing.md says how")
if not OURS:
    pytest.importorskip("pyarrow.cffi", reason="cffi is not installed, which stock has tables handed over with")

X, Y = make_data(700, 4, missing=0.15)
NAMES = ["a", "b", "c", "d"]


def table(x: np.ndarray = X, kind: "pa.DataType" = None) -> "pa.Table":
    """NaN becomes null."""
    columns = [pa.array(column, mask=np.isnan(column)).cast(kind or "float") for column in x.T]
    return pa.table(dict(zip(NAMES, columns)))


def in_batches(rows: int) -> "pa.Table":
    """Each batch in memory of its own: of a slice stock alone reads the rows at the beginning of its buffers."""
    return pa.concat_tables([table(X[first : first + rows]) for first in range(0, len(X), rows)])


@pytest.mark.parametrize("rows", [700, 64, 1], ids=["one batch", "64 rows a batch", "1 row a batch"])
@pytest.mark.parametrize("settings", [{}, sampled(subsample=0.5, colsample_bynode=0.5)], ids=["all", "sampled"])
def test_batches_of_a_table_are_the_rows_of_an_array(rows: int, settings: dict) -> None:
    data = xgb.DMatrix(in_batches(rows), Y)
    booster = train(data, 4, **settings)
    assert_same_trees(booster, train(xgb.DMatrix(X, Y), 4, **settings))
    named = xgb.DMatrix(X, feature_names=booster.feature_names)  # newer packages take the table's names
    assert np.array_equal(booster.predict(data), fresh(booster).predict(named))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "double"])
def test_types_of_columns(kind: str) -> None:
    whole = np.round(np.abs(X) * 20)
    assert_same_trees(train(xgb.DMatrix(table(whole, kind), Y), 3), train(xgb.DMatrix(whole, Y), 3))


def test_the_marker_of_missing_values() -> None:
    marked = np.where(np.isnan(X), np.float32(-9), X)
    assert_same_trees(train(xgb.DMatrix(table(marked), Y, missing=-9), 3), train(xgb.DMatrix(X, Y), 3))


def test_labels_that_dlpack_does_not_have() -> None:
    """Stock code takes them, or refuses them in its own words."""
    x = np.zeros((4, 2), np.float32)
    truth = [True, False, True, True]
    data = xgb.DMatrix(x, pa.array(truth), weight=pa.array([1, 2, 3, 4]).dictionary_encode())
    assert data.get_label().tolist() == [1, 0, 1, 1] and data.get_weight().tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="could not convert string to float"):
        xgb.DMatrix(x, pa.array(["a", "b", "c", "d"]))
    with pytest.raises(xgb.core.XGBoostError, match="NaN"):
        xgb.DMatrix(x, pa.array([1.0, None, 0.0, 1.0]))


def test_labels_and_weights_from_columns_of_arrow() -> None:
    weight = np.arange(1, 701, dtype=np.float32)
    data = xgb.DMatrix(table(), pa.array(Y), weight=pa.array(weight), feature_names=NAMES)
    assert_same_trees(train(data, 3), train(xgb.DMatrix(X, Y, weight=weight), 3))
    assert data.feature_names == NAMES


def test_a_table_as_a_frame_of_pandas_brings_names_and_categories() -> None:
    towns = pa.array(np.random.default_rng(1).choice(["Bonn", "Kiel", "Ulm", "Trier", "Hof"], 700)).dictionary_encode()
    whole = table().append_column("town", towns)
    frame = pd.DataFrame({**{name: X[:, i] for i, name in enumerate(NAMES)}, "town": towns.to_pandas()})
    data = xgb.DMatrix(whole.to_pandas(), Y, enable_categorical=True)
    assert data.feature_names == NAMES + ["town"]
    assert_same_trees(train(data, 4), train(xgb.DMatrix(frame, Y, enable_categorical=True), 4))


@only_before(201, "XGBoost has no function for record batches any more")
@only_ours
@pytest.mark.parametrize("rows", [700, 100], ids=["one batch", "slices of it"])
def test_batches_that_are_imported_one_by_one(capfd: pytest.CaptureFixture, rows: int) -> None:
    """As a C program does it, and stock's package of a pyarrow before 14."""

    class OfPyarrow(Caller):
        parts = table().to_batches(max_chunksize=rows)

        def next(self, importer: int) -> int:
            if not self.parts:
                return 0
            kept.append((Schema(), Array()))
            schema, array = kept[-1]
            self.parts.pop(0)._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
            return int(self.hand_over(importer, schema, array) == 0)

    kept = []
    caller = OfPyarrow(nbatch=100)
    data = caller.dmatrix()
    assert len(caller.codes) == 700 // rows
    assert not any(schema.release or array.release for schema, array in kept)
    data.set_label(Y)
    assert_same_trees(train(data, 4), train(xgb.DMatrix(X, Y), 4))
    assert "XGBoost asks for" in pages_made(capfd, data.get_data), "the library holds the values"
    gc.collect()
    assert pa.total_allocated_bytes() == 0


takes_streams = only_before(200, "the Python package refuses streams of record batches")


@takes_streams
@only_ours
@pytest.mark.parametrize("read", [xgb.DMatrix, xgb.QuantileDMatrix, lambda stream: xgb.DMatrix(X, label=stream)])
def test_a_stream_that_was_read_is_refused(read: Callable) -> None:
    """Else it makes a matrix of 0 rows, or without labels, in silence."""
    stream = in_batches(100).select([0]).to_reader()
    assert xgb.DMatrix(stream).num_row() == len(X)
    with pytest.raises(ValueError, match="stream of record batches has 0 rows.*allowed"):
        read(stream)
    assert xgb.DMatrix(in_batches(100)[:0]).num_row() == 0


@takes_streams
@only_ours
def test_a_stream_that_was_read_is_not_predicted() -> None:
    booster = train(xgb.DMatrix(X, np.arange(len(X))), rounds=1)
    stream = in_batches(100).to_reader()
    assert len(booster.inplace_predict(stream)) == len(X)
    with pytest.raises(ValueError, match="stream of record batches has 0 rows"):
        booster.inplace_predict(stream)
