"""C functions that newer series of XGBoost have, and texts of JSON whose members are null."""

import ctypes
import json
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost as xgb
from matrix_scenarios import interface_of, numeric_columns, of_columns, put_into
from support import (
    Batches,
    assert_same_trees,
    fresh,
    make_data,
    only_ours,
    only_since,
    pages_made,
    params,
    raw,
    stock_params,
    train,
    trees_of,
)

pytestmark = only_ours

X, Y = make_data(800, 6, missing=0.1)


def squares(margins: np.ndarray, data: xgb.DMatrix) -> Any:
    return margins - data.get_label(), np.ones_like(margins)


def is_held(data: xgb.DMatrix, capfd: pytest.CaptureFixture) -> bool:
    """Whether stock code, which asks for values now, has its page or bins made. Of a stock matrix no line is said."""
    return "XGBoost asks for" in pages_made(capfd, lambda: xgb.train(stock_params(max_depth=1), data, 1))


# A matrix is quantised once, whichever function hands it to XGBoost


@pytest.mark.parametrize("objective", ["XGBoost's", "the user's"])
def test_rounds_train_on_bins_that_are_made_once(objective: str) -> None:
    import xgboost_gpu

    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(base_score=0.5), [data])
    for i in range(3):
        booster.update(data, i, fobj=None if objective == "XGBoost's" else squares)
        booster.eval_set([(data, "train")], i)
        booster.predict(data)
    trainings = [training for training in xgboost_gpu.memory_report() if training["rows"] == 800]
    assert len(trainings) == 1 and trainings[0]["dataset_bytes"] > 0


# Members of JSON that are null


@pytest.mark.parametrize("config", [
    {"nthread": None, "max_bin": None, "max_quantile_blocks": None},
    {"nthread": 2, "max_bin": None, "data_split_mode": None},
    {},
])
def test_null_is_a_member_that_is_not_there(config: Dict[str, Any], capfd: pytest.CaptureFixture) -> None:
    rows = Batches(X, Y, [])
    proxy, handle = ctypes.c_void_p(), ctypes.c_void_p()
    library = xgb.core._LIB
    xgb.core._check_call(library.XGProxyDMatrixCreate(ctypes.byref(proxy)))

    def next_batch(_: Any) -> int:
        if rows.at == 1:
            return 0
        rows.at += 1
        xgb.core._check_call(library.XGProxyDMatrixSetDataDense(proxy, json.dumps(interface_of(X)).encode()))
        return 1

    def reset(_: Any) -> None:
        rows.at = 0

    functions = (ctypes.CFUNCTYPE(None, ctypes.c_void_p)(reset), ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(next_batch))
    text = json.dumps({"missing": float("nan"), **config}).encode()
    make = library.XGQuantileDMatrixCreateFromCallback
    xgb.core._check_call(make(None, proxy, None, *functions, text, ctypes.byref(handle)))
    library.XGDMatrixFree(proxy)
    data = put_into(xgb.DMatrix(X[:1]), handle)
    data.set_label(Y)
    assert_same_trees(train(data), train(xgb.DMatrix(X, Y)))
    assert is_held(data, capfd)


def test_a_matrix_of_an_array_without_a_number_of_threads(capfd: pytest.CaptureFixture) -> None:
    handle = ctypes.c_void_p()
    make = xgb.core._LIB.XGDMatrixCreateFromDense
    config = b'{"missing": NaN, "nthread": null, "data_split_mode": null}'
    xgb.core._check_call(make(json.dumps(interface_of(X)).encode(), config, ctypes.byref(handle)))
    data = put_into(xgb.DMatrix(X[:1]), handle)
    data.set_label(Y)
    assert is_held(data, capfd)


# Tables by columns

COLUMNS = "XGDMatrixCreateFromColumnar is new"


@only_since(201, COLUMNS)
@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("missing", [np.nan, 3])
def test_columns_train_as_rows_and_no_page_is_made(threads: int, missing: float, capfd: pytest.CaptureFixture) -> None:
    columns = numeric_columns()
    there = np.random.default_rng(5).random((300, len(columns))) < 0.8
    rows = np.column_stack([column.astype(np.float32) for column in columns])
    expected = xgb.DMatrix(np.where(there & (rows != missing), rows, np.float32(np.nan)), Y[:300])
    data = of_columns(*columns, masks=list(there.T), missing=missing, threads=threads)
    data.set_label(Y[:300])
    for column in columns[:3]:
        column[:] = 1  # the caller may change his columns
    assert data.num_nonmissing() == expected.num_nonmissing()
    assert pages_made(capfd, lambda: assert_same_trees(train(data, 4), train(expected, 4))) == ""
    assert np.array_equal(data.get_data().toarray(), expected.get_data().toarray())
    assert "XGBoost asks for" not in pages_made(capfd, data.get_data), "the page is made once"


def frame() -> pd.DataFrame:
    of = pd.DataFrame(X, columns=list("abcdef"))
    of["g"] = pd.array(np.arange(800) % 7, dtype="Int8")
    of.loc[3:90, "g"] = pd.NA
    of["h"] = X[:, 0].astype(np.float64)
    return of


@only_since(201, COLUMNS)
def test_frames_are_held_and_predicted_in_place(capfd: pytest.CaptureFixture) -> None:
    of = frame()
    data = xgb.DMatrix(of, Y)
    booster = train(data, 4)
    expected = booster.predict(data)
    many = pd.concat([of] * 40, ignore_index=True)
    assert np.array_equal(booster.inplace_predict(of), expected)
    assert np.array_equal(booster.inplace_predict(many), np.tile(expected, 40))
    assert is_held(data, capfd)
    quantised = xgb.QuantileDMatrix(of, Y)
    assert np.array_equal(train(quantised, 4).predict(data), expected)
    assert is_held(quantised, capfd)


@only_since(301, "matrices have categories of their own")
@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_frames_with_categories_are_stocks(make: Callable, capfd: pytest.CaptureFixture) -> None:
    of = frame()
    of["k"] = pd.Categorical(np.array(["x", "yy", "zzz"])[np.arange(800) % 3])
    data = make(of, Y + (np.arange(800) % 3), enable_categorical=True)
    assert not is_held(data, capfd)
    booster = train(data, 4)
    other = of.assign(k=of["k"].cat.reorder_categories(["zzz", "x", "yy"]))
    expected = booster.predict(data)
    assert any("{" in tree for tree in booster.get_dump()), "no split by categories"
    assert np.array_equal(booster.predict(xgb.DMatrix(other, enable_categorical=True)), expected)
    assert np.array_equal(booster.inplace_predict(other), expected)


@only_since(301, "matrices have categories of their own")
def test_matrices_without_categories_say_so() -> None:
    for data in (xgb.DMatrix(X, Y), xgb.QuantileDMatrix(X, Y), xgb.DMatrix(frame(), Y), xgb.DMatrix(sp.csr_matrix(X), Y)):
        assert data.get_categories().empty()
        saved = [json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]["cats"]
                 for booster in (train(data, 1), xgb.train(stock_params(), xgb.DMatrix(X, Y), 1))]
        assert saved[0] == saved[1]


# Sparse matrices by columns

CSC = "XGDMatrixCreateFromCSC is new"


def of_csc_arrays(indptr: np.ndarray, rows: np.ndarray, values: np.ndarray, count: int, missing: float = np.nan) -> xgb.DMatrix:
    handle = ctypes.c_void_p()
    texts = [json.dumps(interface_of(array)).encode() for array in (indptr, rows, values)]
    config = json.dumps({"missing": missing, "nthread": 2}).encode()
    make = xgb.core._LIB.XGDMatrixCreateFromCSC
    xgb.core._check_call(make(*texts, ctypes.c_uint64(count), config, ctypes.byref(handle)))
    return put_into(xgb.DMatrix(X[:1]), handle)


@only_since(200, CSC)
@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("missing", [np.nan, 2])
def test_types_of_columns_with_gaps(index: Any, kind: Any, missing: float, capfd: pytest.CaptureFixture) -> None:
    values = np.random.default_rng(1).integers(0, 9, (800, 6))
    columns = sp.csc_matrix(values.astype(kind))
    data = of_csc_arrays(columns.indptr.astype(index), columns.indices.astype(index), columns.data, 800, missing)
    data.set_label(Y)
    expected = xgb.DMatrix(np.where((values == 0) | (values == missing), np.nan, values).astype(np.float32), Y)
    assert data.num_nonmissing() == expected.num_nonmissing()
    assert pages_made(capfd, lambda: assert_same_trees(train(data, 4), train(expected, 4))) == ""
    assert is_held(data, capfd)


@only_since(200, CSC)
@pytest.mark.parametrize("row", [-1, 5, 2**31 - 1])
def test_a_row_that_is_not_there(row: int) -> None:
    offsets, rows = np.array([0, 2, 3], np.int32), np.array([0, row, 1], np.int32)
    with pytest.raises(xgb.core.XGBoostError, match=rf"Value 1 of a CSC matrix, in column 0, is in row {row} \(indices\); allowed: 0 to 4"):
        of_csc_arrays(offsets, rows, np.ones(3, np.float32), 5)


# Batches, and boosters that start afresh


def external(folder: Path, **more: Any) -> xgb.DMatrix:
    return xgb.ExtMemQuantileDMatrix(Batches(X, Y, [300, 500], cache=str(folder / "pages")), **more)


@only_since(300, "ExtMemQuantileDMatrix is new")
def test_pages_of_bins_are_refused_by_name(tmp_path: Path) -> None:
    data = external(tmp_path)
    with pytest.raises(xgb.core.XGBoostError, match="the data are an ExtMemQuantileDMatrix.*; allowed with gpu_hist: a QuantileDMatrix"):
        train(data, 1)
    by_stock = xgb.train(stock_params(base_score=0.5), data, 2)
    assert len(trees_of(by_stock)) == 2


@only_since(300, "ExtMemQuantileDMatrix is new")
def test_pages_of_bins_are_predicted_and_evaluated(tmp_path: Path) -> None:
    quantised = xgb.QuantileDMatrix(X, Y)
    data = external(tmp_path, ref=quantised)
    seen: Dict[str, Any] = {}
    booster = xgb.train(params(base_score=0.5), quantised, 3, evals=[(data, "pages")], evals_result=seen, verbose_eval=False)
    predictions = booster.predict(data)
    assert np.array_equal(predictions, fresh(booster).predict(data)), "stock code predicts otherwise"
    assert np.isclose(seen["pages"]["rmse"][-1], np.sqrt(np.mean((predictions - Y) ** 2)), rtol=1e-5)


@only_since(300, "XGBoosterReset is new")
def test_a_booster_that_is_reset_goes_on() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(base_score=0.5), [data])
    straight = xgb.Booster(params(base_score=0.5), [data])
    for i in range(4):
        booster.update(data, i)
        straight.update(data, i)
        booster.reset()
    assert raw(booster) == raw(straight)


def test_the_old_function_that_predicts() -> None:
    data = xgb.DMatrix(X, Y)
    booster = train(data)
    n, out = ctypes.c_uint64(), ctypes.POINTER(ctypes.c_float)()
    predict = xgb.core._LIB.XGBoosterPredict
    xgb.core._check_call(predict(booster.handle, data.handle, 0, 0, 0, ctypes.byref(n), ctypes.byref(out)))
    assert np.array_equal(np.ctypeslib.as_array(out, (n.value,)), booster.predict(data))
