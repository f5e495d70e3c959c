"""Tables that come by the Arrow C data interface, and pandas' newer columns: the same numbers give the same trees.

A producer of this suite's own (arrow_producer.py) needs no package. polars and pyarrow are no packages of Debian 12:
docs/testing.md says how to bring them; without them their tests are skipped.
"""

from typing import Any, Callable, Dict

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from arrow_producer import Column, Table, categories, numbers, texts
from support import Batches, assert_same_trees, fresh, make_data, only_before, only_ours, params, train

# test_data_inputs.py has frames that the packages of newer series read.
pytestmark = [only_ours, only_before(200, "the Python package reads frames itself")]

X, Y = make_data(700, 4, missing=0.15)
NAMES = ["a", "b", "c", "d"]
TOWNS = ["Bonn", "Kiel", "Ulm", "Trier-Ehrang", "Hof", "Neustadt an der Weinstraße"]
CODES = np.random.default_rng(1).integers(0, len(TOWNS), 700)
IS_TOWN = np.random.default_rng(2).random(700) > 0.1
WITH_TOWN = np.column_stack([X[:, 0], np.where(IS_TOWN, CODES, np.nan)]).astype(np.float32)
DMATRICES = pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
XGBoostError = xgb.core.XGBoostError


@pytest.fixture
def pl() -> Any:
    return pytest.importorskip("polars", reason="polars is not installed: docs/testing.md says how")


@pytest.fixture
def pa() -> Any:
    found = pytest.importorskip("pyarrow", reason="pyarrow is not installed: docs/testing.md says how")
    if not hasattr(found.Table, "__arrow_c_stream__"):
        pytest.skip(f"pyarrow {found.__version__} does not hand tables over: docs/testing.md names a version that does")
    return found


def batch(x: np.ndarray, dtype: Any = np.float32, offset: int = 0) -> Dict[str, Column]:
    """Columns whose NaN are null."""
    there = ~np.isnan(x)
    whole = np.where(there, x, 0).astype(dtype)
    return {name: numbers(whole[:, i], there[:, i], offset) for i, name in enumerate(NAMES)}


def values_of(data: xgb.DMatrix) -> np.ndarray:
    """What a matrix has, NaN where nothing is."""
    csr = data.get_data()
    dense = np.full((data.num_row(), data.num_col()), np.nan, np.float32)
    dense[np.repeat(np.arange(data.num_row()), np.diff(csr.indptr)), csr.indices] = csr.data
    return dense


def assert_values(data: xgb.DMatrix, expected: np.ndarray) -> None:
    assert np.array_equal(values_of(data), expected, equal_nan=True)


# What is in columns


@DMATRICES
@pytest.mark.parametrize("rows", [700, 64, 1], ids=["one batch", "64 rows a batch", "1 row a batch"])
def test_batches_are_the_rows_of_an_array(matrix: Callable, rows: int) -> None:
    table = Table(*(batch(X[first : first + rows]) for first in range(0, 700, rows)))
    data = matrix(table, Y)
    booster = train(data, 4)
    expected = train(matrix(pd.DataFrame(X, columns=NAMES), Y), 4)
    assert data.feature_names == NAMES
    assert data.feature_types == ["float"] * 4
    assert booster.save_raw("ubj") == expected.save_raw("ubj")
    assert table.released == {"schema": 1, "array": -(-700 // rows), "stream": 1}
    assert np.array_equal(booster.predict(data), expected.predict(xgb.DMatrix(pd.DataFrame(X, columns=NAMES))))


@pytest.mark.parametrize("offset", [0, 3, 8])
@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bool"],
)
def test_types_of_columns(dtype: str, offset: int) -> None:
    whole = np.round(X * 20)
    if dtype[0] == "u":
        whole = np.abs(whole)
    if dtype == "bool":
        whole = np.where(np.isnan(whole), np.nan, whole > 0)
    data = xgb.DMatrix(Table(batch(whole, dtype, offset)))
    assert_values(data, whole.astype(np.float32))
    assert data.feature_types == [{"b": "i", "f": "float"}.get(dtype[0], "int")] * 4


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "int32", "uint32", "float16"])
def test_numbers_are_rounded_as_numpys_are(dtype: str) -> None:
    rng = np.random.default_rng(3)
    if dtype == "float16":
        column = np.arange(1 << 16, dtype=np.uint16).view(np.float16)  # all there are
        column = column[np.isfinite(column)]
    elif dtype == "float64":
        column = rng.normal(size=5000) * 10.0 ** rng.integers(-45, 38, 5000)
    else:
        limits = np.iinfo(dtype)
        column = rng.integers(limits.min, limits.max, 5000, dtype=dtype, endpoint=True)
    data = xgb.DMatrix(Table({"a": numbers(column)}))
    assert np.array_equal(values_of(data), values_of(xgb.DMatrix(column[:, None])))


def test_many_columns_and_threads() -> None:
    x = np.random.default_rng(4).normal(size=(9001, 37)).astype(np.float32)
    x[x > 1.5] = np.nan
    for threads in (1, 3, 0):
        columns = {f"f{c}": numbers(np.nan_to_num(x[:, c]), ~np.isnan(x[:, c]), c % 5) for c in range(37)}
        assert_values(xgb.DMatrix(Table(columns), nthread=threads), x)


def test_columns_of_nulls_alone_and_tables_that_begin_later() -> None:
    table = Table({"a": Column("n", [], 700), "b": numbers(X[:, 1], ~np.isnan(X[:, 1]))}, skip=13)
    expected = np.column_stack([np.full(700, np.nan), X[:, 1]])[13:]
    assert_values(xgb.DMatrix(table), expected.astype(np.float32))


@DMATRICES
def test_one_row_and_no_row(matrix: Callable) -> None:
    one = matrix(Table(batch(X[:1])), Y[:1])
    assert (one.num_row(), one.num_col()) == (1, 4)
    if matrix is xgb.DMatrix:  # stock makes no bins of no rows
        for table in (Table(batch(X[:0])), Table(batch(X[:0]), batch(X[:2]), batch(X[:0]))):
            assert_values(matrix(table), X[: matrix(table).num_row()])


def test_the_marker_of_missing_values_and_infinity() -> None:
    marked = np.where(np.isnan(X), np.float32(-9), X)
    table = Table({name: numbers(marked[:, i]) for i, name in enumerate(NAMES)})
    assert_same_trees(train(xgb.DMatrix(table, Y, missing=-9), 3), train(xgb.DMatrix(X, Y), 3))
    with pytest.raises(XGBoostError, match="inf"):
        xgb.DMatrix(Table({"a": numbers(np.array([1, np.inf]))}))


# Categories


@DMATRICES
@pytest.mark.parametrize("format", ["u", "U", "vu"])
@pytest.mark.parametrize("dtype", ["int8", "uint32"])
def test_a_dictionary_is_a_column_of_categories(matrix: Callable, format: str, dtype: str) -> None:
    table = Table({"a": batch(X)["a"], "t": categories(CODES.astype(dtype), texts(TOWNS, format, 2), IS_TOWN, 5)})
    frame = pd.DataFrame({"a": X[:, 0], "t": pd.Categorical.from_codes(np.where(IS_TOWN, CODES, -1), TOWNS)})
    data = matrix(table, Y, enable_categorical=True)
    assert data.feature_types == ["float", "c"]
    expected = train(matrix(frame, Y, enable_categorical=True), 4)
    assert train(data, 4).save_raw("ubj") == expected.save_raw("ubj")
    with pytest.raises(XGBoostError, match="Column 't' has categories: these need enable_categorical=True"):
        matrix(table, Y)


@pytest.mark.parametrize("format", ["u", "U", "vu"])
def test_dictionaries_that_differ_between_batches(format: str) -> None:
    """A category has the number of the first dictionary that has it; those that come later are numbered on."""
    first, second = np.arange(350), np.arange(350, 700)
    others = [3, 5, 1, 0, 2, 4]  # the second batch's dictionary has the towns in this order
    place = np.argsort(others)
    known = CODES[first] % 4  # the first batch knows four towns
    table = Table(
        {"t": categories(known.astype(np.int16), texts(TOWNS[:4], format))},
        {"t": categories(place[CODES[second]].astype(np.int16), texts([TOWNS[i] for i in others], format, 1))},
        {"t": categories(np.array([0, 1, 2], np.int16), texts([TOWNS[5], None, "Worms"], format))},
    )
    number = {0: 0, 1: 1, 2: 2, 3: 3, 5: 4, 4: 5}  # in the order in which they come
    expected = np.concatenate([known, [number[code] for code in CODES[second]], [4, np.nan, 6]])
    assert_values(xgb.DMatrix(table, enable_categorical=True), expected[:, None].astype(np.float32))


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8", "bool"])
def test_dictionaries_of_numbers(dtype: str) -> None:
    words = np.array([1, 0] if dtype == "bool" else [7, 3, 5], dtype)
    table = Table(
        {"t": categories(np.array([0, 1, 1], np.int8), numbers(words))},
        {"t": categories(np.array([0, 1], np.int8), numbers(words[:2][::-1].copy(), offset=1))},
    )
    assert_values(xgb.DMatrix(table, enable_categorical=True), np.array([[0], [1], [1], [1], [0]], np.float32))


# Where tables can go


def test_predictions_in_place() -> None:
    booster = train(xgb.DMatrix(Table(batch(X)), Y), 4)
    expected = booster.predict(xgb.DMatrix(X, feature_names=NAMES, feature_types=["float"] * 4))
    assert np.array_equal(booster.inplace_predict(Table(batch(X))), expected)
    margin = booster.inplace_predict(Table(batch(X)), predict_type="margin", base_margin=np.ones(700, np.float32))
    assert margin.shape == (700,)
    swapped = {name: batch(X)[name] for name in reversed(NAMES)}
    with pytest.raises(ValueError, match="feature_names mismatch"):
        booster.inplace_predict(Table(swapped))
    assert booster.inplace_predict(Table(swapped), validate_features=False).shape == (700,)
    del swapped["a"]
    with pytest.raises(ValueError, match="Feature shape mismatch, expected: 4, got 3"):
        booster.inplace_predict(Table(swapped))


def test_predictions_in_place_with_categories() -> None:
    def table() -> Table:
        return Table({"a": batch(X)["a"], "t": categories(CODES.astype(np.int8), texts(TOWNS), IS_TOWN)})

    data = xgb.DMatrix(table(), Y, enable_categorical=True)
    booster = train(data, 4)
    assert np.array_equal(booster.inplace_predict(table()), booster.predict(data))
    plain = train(xgb.DMatrix(WITH_TOWN, Y, feature_names=["a", "t"]), 2)
    with pytest.raises(XGBoostError, match="Column 't' has categories"):
        plain.inplace_predict(table())


def test_batches_of_an_iterator() -> None:
    class Tables(Batches):
        def next(self, input_data: Callable) -> int:
            return super().next(lambda data, **others: input_data(data=Table(batch(data)), **others))

    expected = train(xgb.QuantileDMatrix(Batches(X, Y, [300])), 3)
    data = xgb.QuantileDMatrix(Tables(X, Y, [300]))
    assert data.feature_names == NAMES
    assert_same_trees(train(data, 3), expected)


def test_a_quantile_matrix_with_the_bins_of_another() -> None:
    data = xgb.QuantileDMatrix(Table(batch(X)), Y)
    other = xgb.QuantileDMatrix(Table(batch(X[:300])), Y[:300], ref=data)
    assert (other.num_row(), other.feature_names) == (300, NAMES)


def test_labels_and_weights() -> None:
    weight = np.arange(1, 701)
    table = Table({"w": numbers(weight, offset=2)})
    data = xgb.DMatrix(X, Table({"y": numbers(Y)}, format="f"), weight=table)
    assert_same_trees(train(data, 3), train(xgb.DMatrix(X, Y, weight=weight), 3))
    both = xgb.DMatrix(X, Table({"y": numbers(Y), "z": numbers(-Y)}))
    assert np.array_equal(both.get_label(), np.column_stack([Y, -Y]).reshape(-1))
    big = np.repeat(np.arange(7, dtype=np.uint32) + (1 << 24) * 3 + 1, 100)  # a float would lose these
    ranked = xgb.DMatrix(X, Y, qid=Table({"q": numbers(big)}))
    assert np.array_equal(ranked.get_uint_info("group_ptr"), np.arange(0, 701, 100))
    with pytest.raises(XGBoostError, match="Label contains NaN"):
        xgb.DMatrix(X, Table({"y": numbers(Y, Y > 0)}))
    with pytest.raises(XGBoostError, match="Column 'y' has the type string .*allowed: numbers and truth values$"):
        xgb.DMatrix(X, Table({"y": texts(["x"] * 700)}))
    with pytest.raises(XGBoostError, match="Column 'y' has categories; allowed: numbers and truth values"):
        xgb.DMatrix(X, Table({"y": categories(CODES.astype(np.int8), texts(TOWNS))}))
    with pytest.raises(ValueError, match="Invalid shape: \\(700, 2\\) for weight"):
        xgb.DMatrix(X, Y, weight=Table({"y": numbers(Y), "z": numbers(Y)}))


def test_names_and_types_of_the_user_come_first() -> None:
    data = xgb.DMatrix(Table(batch(X)), feature_names=list("wxyz"), feature_types=["q"] * 4)
    assert (data.feature_names, data.feature_types) == (list("wxyz"), ["q"] * 4)


def test_estimators() -> None:
    labels = (Y > 0).astype(int)
    frame = pd.DataFrame(X, columns=NAMES)
    settings = dict(**params(), n_estimators=4)
    ours = xgb.XGBClassifier(**settings)
    ours.fit(Table(batch(X)), labels, eval_set=[(Table(batch(X)), labels)], verbose=False)
    pandas = xgb.XGBClassifier(**settings).fit(frame, labels)
    assert ours.get_booster().save_raw("ubj") == pandas.get_booster().save_raw("ubj")
    assert np.array_equal(ours.predict_proba(Table(batch(X))), pandas.predict_proba(frame))


# What is refused


@pytest.mark.parametrize(
    "format, name, advice",
    [
        ("u", "string", "Make categories of texts"),
        ("vu", "string", "Make categories of texts"),
        ("z", "binary", "Make numbers"),
        ("tdD", "date", "Make numbers"),
        ("tsu:UTC", "timestamp", "Make numbers"),
        ("tDn", "duration", "Make numbers"),
        ("d:19,4", "decimal", "Make numbers"),
        ("+l", "list", "Make numbers"),
        ("+r", "run-end encoded", "Make numbers"),
        ("?", "unknown", "Make numbers"),
    ],
)
@DMATRICES
def test_columns_of_other_types(matrix: Callable, format: str, name: str, advice: str) -> None:
    table = Table({"a": batch(X)["a"], "d\n": Column(format, [None, Y], 700)})
    with pytest.raises(XGBoostError) as error:
        matrix(table, Y, enable_categorical=True)
    what = f"Column 'd\\n' has the type {name} (Arrow's format '{format}')"
    assert str(error.value).startswith(f"{what}; allowed: numbers, truth values and categories. {advice}")
    assert table.released == {"schema": 1, "array": 0, "stream": 1}


def test_a_column_on_its_own_is_no_table() -> None:
    with pytest.raises(XGBoostError, match="The data are one column of the type float; allowed: tables"):
        xgb.DMatrix(Table({"a": numbers(Y)}, format="f"))


def test_a_producer_that_has_to_be_told_a_schema() -> None:
    """As polars 1.3."""

    class Strict:
        def __arrow_c_stream__(self, requested_schema: Any) -> Any:
            assert requested_schema is None
            return Table(batch(X)).__arrow_c_stream__()

    assert xgb.DMatrix(Strict(), Y).num_row() == 700


def test_a_stream_that_was_read_and_a_producer_that_fails() -> None:
    table = Table(batch(X))
    capsule = table.__arrow_c_stream__()

    class Once:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return capsule

    assert xgb.QuantileDMatrix(Once(), Y).num_row() == 700
    with pytest.raises(XGBoostError, match="The table was read before"):
        xgb.DMatrix(Once())
    assert table.released == {"schema": 1, "array": 1, "stream": 1}
    for function, doing in (("get_schema", "giving its schema"), ("get_next", "giving rows")):
        table = Table(batch(X))
        table.fails[function] = 5
        with pytest.raises(XGBoostError, match=f"The producer of the table failed while {doing}: the disk is full"):
            xgb.DMatrix(table)
        assert table.released["stream"] == 1


def spoilt(what: str, member: str, value: Any, path: str = "") -> Callable[[Table], None]:
    """Sets a member of a structure; `path` leads to it from the table's: children's numbers, and d for a dictionary."""

    def spoil(table: Table) -> None:
        def change(structure: Any) -> None:
            for step in path:
                structure = (structure.dictionary if step == "d" else structure.children[int(step)]).contents
            kind = dict(type(structure)._fields_)[member]
            setattr(structure, member, kind() if value is None else value)

        setattr(table, f"spoil_{what}", change)

    return spoil


def spoilt_pointer(what: str, path: str, at: int, buffer: bool = False) -> Callable[[Table], None]:
    """Makes a pointer to a child, or to a buffer, null."""

    def spoil(table: Table) -> None:
        def change(structure: Any) -> None:
            for step in path:
                structure = (structure.dictionary if step == "d" else structure.children[int(step)]).contents
            pointers = structure.buffers if buffer else structure.children
            pointers[at] = None if buffer else type(pointers[at])()

        setattr(table, f"spoil_{what}", change)

    return spoil


MALFORMED = {
    "function": (spoilt("stream", "get_next", None), "a function of the stream is null"),
    "released schema": (spoilt("schema", "release", None), "its schema is released already"),
    "table's format": (spoilt("schema", "format", None), "its format is null"),
    "column's format": (spoilt("schema", "format", None, "0"), "Column 'a'.*its format is null"),
    "fewer than 0 columns": (spoilt("schema", "n_children", -1), "there are -1 columns"),
    "too many columns": (spoilt("schema", "n_children", 1 << 40), "there are 1099511627776 columns"),
    "no list of columns": (spoilt("schema", "children", None), "the list of columns is null"),
    "no column": (spoilt_pointer("schema", "", 1), "Column 1 .*its schema is null"),
    "numbers of a dictionary": (spoilt("schema", "format", b"f", "1"), "format 'f'; allowed: integers"),
    "no dictionary in the schema": (spoilt("schema", "dictionary", None, "1"), "do not agree whether there is a dict"),
    "no dictionary in the array": (spoilt("array", "dictionary", None, "1"), "do not agree whether there is a dict"),
    "table's length": (spoilt("array", "length", -1), "the length is -1"),
    "table too long": (spoilt("array", "length", 1 << 60), "the length is 1152921504606846976"),
    "table's offset": (spoilt("array", "offset", -8), "the offset is -8"),
    "table past its columns": (spoilt("array", "offset", 1), "the length is 3; allowed: the table's, 4, or more"),
    "columns of the array": (spoilt("array", "n_children", 1), "there are 1 columns; allowed: the schema's, 2"),
    "no list in the array": (spoilt("array", "children", None), "the list of columns is null"),
    "no array": (spoilt_pointer("array", "", 0), "Column 'a' in batch 0.*its array is null"),
    "table's buffers": (spoilt("array", "n_buffers", 0), "there are 0 buffers; allowed: 1"),
    "column's length": (spoilt("array", "length", -5, "0"), "the length is -5"),
    "column too short": (spoilt("array", "length", 2, "0"), "the length is 2; allowed: the table's, 3, or more"),
    "column's offset": (spoilt("array", "offset", -1, "0"), "the offset is -1"),
    "column's offset too far": (spoilt("array", "offset", (1 << 63) - 1, "0"), "the offset is 9223372036854775807"),
    "column's nulls": (spoilt("array", "null_count", -2, "0"), "the number of nulls is -2"),
    "more nulls than values": (spoilt("array", "null_count", 9, "0"), "the number of nulls is 9"),
    "nulls without a bitmap": (spoilt("array", "null_count", 1, "0"), "1 values are null, and no bitmap says which"),
    "column's buffers": (spoilt("array", "n_buffers", 1, "0"), "there are 1 buffers; allowed: 2"),
    "negative buffers": (spoilt("array", "n_buffers", -1, "0"), "there are -1 buffers; allowed: 2"),
    "no list of buffers": (spoilt("array", "buffers", None, "0"), "the list of buffers is null"),
    "no values": (spoilt_pointer("array", "0", 1, True), "buffer 1 is null, and there are values"),
    "dictionary's length": (spoilt("array", "length", -1, "1d"), "The dictionary of 't' in batch 0.*the length is -1"),
    "dictionary too long": (spoilt("array", "length", 1 << 25, "1d"), "has 33554432 values; allowed: up to 2.24"),
    "dictionary's buffers": (spoilt("array", "n_buffers", 2, "1d"), "there are 2 buffers; allowed: 3"),
    "dictionary's ends": (spoilt_pointer("array", "1d", 1, True), "buffer 1 is null"),
    "dictionary's bytes": (spoilt_pointer("array", "1d", 2, True), "buffer 2 is null, and there are texts"),
    "dictionary's offset": (spoilt("array", "offset", -3, "1d"), "the offset is -3"),
}


@pytest.mark.parametrize("spoil, message", MALFORMED.values(), ids=MALFORMED.keys())
def test_structures_that_do_not_follow_the_interface(spoil: Callable, message: str) -> None:
    table = Table({"a": numbers(Y[:3]), "t": categories(np.array([0, 1, 0], np.int32), texts(["x", "y"]))})
    assert xgb.DMatrix(table, enable_categorical=True).num_row() == 3
    spoil(table)
    table.released = {"schema": 0, "array": 0, "stream": 0}
    with pytest.raises(XGBoostError, match=message):
        xgb.DMatrix(table, enable_categorical=True)
    assert table.released["stream"] == 1
    assert table.released["schema"] <= 1
    assert table.released["array"] <= 1


@pytest.mark.parametrize("codes", [[0, 2], [0, -1]])
def test_numbers_that_a_dictionary_does_not_have(codes: list) -> None:
    table = Table({"t": categories(np.array(codes, np.int8), texts(["x", "y"]))})
    with pytest.raises(XGBoostError, match=f"Column 't' .*number {codes[1]} of a dictionary of 2 values"):
        xgb.DMatrix(table, enable_categorical=True)
    table = Table({"t": categories(np.array(codes, np.int8), texts(["x", "y"]), np.array([True, False]))})
    assert_values(xgb.DMatrix(table, enable_categorical=True), np.array([[0], [np.nan]], np.float32))


@pytest.mark.parametrize(
    "format, buffer, at, value, message",
    [
        ("u", 1, 1, -1, "text 0 is from byte 0 to -1"),
        ("U", 1, 2, 1, "text 1 is from byte 20 to 1"),
        ("vu", 1, 0, -2, "text 0 has -2 bytes"),
        ("vu", 1, 2, 1, "text 0 is at byte 0 of buffer 1 of 1"),
        ("vu", 1, 3, 1 << 20, "text 0 is at byte 1048576 of buffer 0 of 1"),
    ],
)
def test_texts_of_a_dictionary_that_lie_nowhere(format: str, buffer: int, at: int, value: int, message: str) -> None:
    words = texts(["x" * 20, "y" * 20], format)
    memory = words.buffers[buffer].copy()
    memory.view("i8" if format == "U" else "i4")[at] = value
    words.buffers[buffer] = memory
    with pytest.raises(XGBoostError, match=message):
        xgb.DMatrix(Table({"t": categories(np.array([0, 1], np.int8), words)}), enable_categorical=True)


def test_rows_that_are_null() -> None:
    table = Table(batch(X[:8]))
    mask = np.array([0b11110111], np.uint8)

    def spoil(array: Any) -> None:
        array.buffers[0], array.null_count = mask.ctypes.data, -1

    table.spoil_array = spoil
    with pytest.raises(XGBoostError, match="Batch 0: row 3 is null"):
        xgb.DMatrix(table)


# polars


def polars_frame(pl: Any) -> Any:
    floats = [pl.Series(name, X[:, i], nan_to_null=True) for i, name in enumerate(NAMES)]
    towns = [TOWNS[code] if there else None for code, there in zip(CODES, IS_TOWN)]
    return pl.DataFrame(floats + [pl.Series("t", towns, pl.Enum(TOWNS))])


def pandas_frame() -> pd.DataFrame:
    town = pd.Categorical.from_codes(np.where(IS_TOWN, CODES, -1), TOWNS)
    return pd.DataFrame({**{name: X[:, i] for i, name in enumerate(NAMES)}, "t": town})


@DMATRICES
def test_polars_is_as_pandas(pl: Any, matrix: Callable) -> None:
    expected = train(matrix(pandas_frame(), Y, enable_categorical=True), 4)
    for frame in (polars_frame(pl), pl.concat([polars_frame(pl)[:200], polars_frame(pl)[200:]], rechunk=False)):
        data = matrix(frame, pl.Series(Y), enable_categorical=True)
        assert data.feature_types == ["float"] * 4 + ["c"]
        booster = train(data, 4)
        assert booster.save_raw("ubj") == expected.save_raw("ubj")
        whole = xgb.DMatrix(frame, enable_categorical=True)
        assert np.array_equal(booster.inplace_predict(frame), booster.predict(whole))
    assert_values(xgb.DMatrix(polars_frame(pl)[:0], enable_categorical=True), np.empty((0, 5), np.float32))
    part = xgb.DMatrix(polars_frame(pl)[100:150], enable_categorical=True)
    assert_values(part, values_of(xgb.DMatrix(pandas_frame()[100:150], enable_categorical=True)))


def test_types_of_polars(pl: Any) -> None:
    frame = pl.DataFrame({"i": [1, None, 3], "b": [True, False, None], "f": [0.5, 1.5, None], "n": [None] * 3})
    data = xgb.DMatrix(frame.with_columns(s=pl.Series(["x", "y", "x"]).cast(pl.Categorical)), enable_categorical=True)
    assert data.feature_types == ["int", "i", "float", "float", "c"]
    n = np.nan
    assert_values(data.slice([0, 1, 2]), values_of(data))
    assert np.array_equal(values_of(data)[:, :4], [[1, 1, 0.5, n], [n, 0, 1.5, n], [3, n, n, n]], equal_nan=True)
    assert values_of(data)[0, 4] == values_of(data)[2, 4] != values_of(data)[1, 4]


def test_what_polars_has_no_numbers_for(pl: Any) -> None:
    frame = polars_frame(pl)
    for make in (
        lambda: xgb.DMatrix(frame.lazy()),
        lambda: xgb.QuantileDMatrix(frame.lazy(), Y),
        lambda: xgb.DMatrix(X, frame.lazy()),
        lambda: train(xgb.DMatrix(X, Y), 1).inplace_predict(frame.lazy()),
        lambda: xgb.XGBClassifier(**params()).fit(frame.lazy(), Y > 0),
    ):
        with pytest.raises(TypeError, match=r"polars.LazyFrame, a query without rows; allowed: what .collect\(\) returns"):
            make()
    with pytest.raises(XGBoostError, match="Column 'w' has the type string .*Make categories of texts"):
        xgb.DMatrix(frame.with_columns(w=pl.lit("x")), enable_categorical=True)
    with pytest.raises(XGBoostError, match="Column 'w' has the type date "):
        xgb.DMatrix(frame.with_columns(w=pl.date(2020, 1, 1)), enable_categorical=True)
    with pytest.raises(ValueError, match="Please reshape"):
        xgb.DMatrix(frame["a"])


def test_estimators_with_polars(pl: Any) -> None:
    labels = Y > 0
    settings = dict(**params(), n_estimators=4, enable_categorical=True)
    ours = xgb.XGBClassifier(**settings).fit(polars_frame(pl), pl.Series(labels))
    pandas = xgb.XGBClassifier(**settings).fit(pandas_frame(), labels)
    assert ours.get_booster().save_raw("ubj") == pandas.get_booster().save_raw("ubj")
    assert np.array_equal(ours.predict_proba(polars_frame(pl)), pandas.predict_proba(pandas_frame()))
    assert list(ours.feature_names_in_) == NAMES + ["t"]


def test_labels_of_polars(pl: Any) -> None:
    for label in (pl.Series(Y), pl.DataFrame({"y": Y}), pl.concat([pl.Series(Y[:9]), pl.Series(Y[9:])], rechunk=False)):
        assert np.array_equal(xgb.DMatrix(X, label).get_label(), Y)


# pyarrow


def arrow_table(pa: Any, x: np.ndarray = X) -> Any:
    return pa.table({name: pa.array(x[:, i], mask=np.isnan(x[:, i])) for i, name in enumerate(NAMES)})


def test_a_table_of_numbers_has_no_names_as_in_stock_and_slices_are_right(pa: Any) -> None:
    """Of a slice stock reads the rows at the beginning of its buffers."""
    whole = arrow_table(pa)
    dataset = pytest.importorskip("pyarrow.dataset")
    uneven = pa.table([pa.chunked_array([column[:90].combine_chunks(), column[90:].combine_chunks()])
                       if name == "b" else column for name, column in zip(NAMES, whole.columns)], names=NAMES)
    for table in (whole, uneven, whole.to_batches()[0], dataset.dataset(whole)):
        data = xgb.DMatrix(table)
        assert (data.feature_names, data.feature_types) == (None, None)
        assert_values(data, X)
    assert_values(xgb.DMatrix(whole[100:300]), X[100:300])
    assert_values(xgb.DMatrix(whole.to_reader(max_chunksize=64)), X)
    assert_same_trees(train(xgb.QuantileDMatrix(whole, Y), 3), train(xgb.QuantileDMatrix(X, Y), 3))


def test_a_table_with_categories_and_truth_values(pa: Any) -> None:
    town = pa.DictionaryArray.from_arrays(pa.array(CODES.astype(np.int8), mask=~IS_TOWN), TOWNS)
    table = arrow_table(pa).append_column("t", town)
    for matrix in (xgb.DMatrix, xgb.QuantileDMatrix):
        data = matrix(table, pa.array(Y), enable_categorical=True)
        expected = train(matrix(pandas_frame(), Y, enable_categorical=True), 4)
        assert train(data, 4).save_raw("ubj") == expected.save_raw("ubj")
    truths = xgb.DMatrix(pa.table({"b": [True, None, False], "i": pa.array([1, 2, None], "int32")}))
    assert (truths.feature_names, truths.feature_types) == (["b", "i"], ["i", "int"])
    grown = pa.chunked_array([pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", "y"]).dictionary_encode()])
    data = xgb.DMatrix(pa.table({"t": grown}), enable_categorical=True)
    assert_values(data, np.array([[0], [1], [2], [1]], np.float32))


def test_pandas_on_arrow(pa: Any) -> None:
    frame = pandas_frame()
    table = arrow_table(pa)
    on_arrow = frame.copy()
    for name in NAMES[:3]:
        on_arrow[name] = pd.arrays.ArrowExtensionArray(table[name])
    for matrix in (xgb.DMatrix, xgb.QuantileDMatrix):
        data = matrix(on_arrow, pd.Series(pd.arrays.ArrowExtensionArray(pa.array(Y))), enable_categorical=True)
        expected = train(matrix(frame, Y, enable_categorical=True), 4)
        booster = train(data, 4)
        assert booster.save_raw("ubj") == expected.save_raw("ubj")
        assert np.array_equal(booster.inplace_predict(on_arrow), expected.inplace_predict(frame))
    with pytest.raises(XGBoostError, match="Column 't' has categories"):
        xgb.DMatrix(on_arrow)
    pairs = on_arrow[["a", "b"]].set_axis(pd.MultiIndex.from_tuples([("p", "q"), ("p", "r")]), axis=1)
    assert xgb.DMatrix(pairs).feature_names == ["p q", "p r"]
    assert_values(xgb.DMatrix(on_arrow["a"]), X[:, :1])
    label = pd.DataFrame({"y": pd.arrays.ArrowExtensionArray(pa.array(Y))})
    assert np.array_equal(xgb.DMatrix(X, label).get_label(), Y)


# pandas' nullable types that stock does not know


@DMATRICES
def test_nullable_types_that_stock_refuses(matrix: Callable) -> None:
    whole = np.where(np.isnan(X[:, 0]), np.nan, np.round(np.abs(X[:, 0]) * 20))
    kinds = ["Int8", "UInt8", "UInt16", "UInt32", "UInt64"]
    frame = pd.DataFrame({kind: pd.array(whole, dtype=kind) for kind in kinds})
    frame["f"], frame["t"] = X[:, 1], pandas_frame()["t"]
    plain = pd.DataFrame({kind: pd.array(whole, dtype="Int32") for kind in kinds})
    plain["f"], plain["t"] = frame["f"], frame["t"]
    data, expected = (train(matrix(each, Y, enable_categorical=True), 4) for each in (frame, plain))
    assert data.save_raw("ubj") == expected.save_raw("ubj")
    assert np.array_equal(data.inplace_predict(frame), expected.inplace_predict(plain))
    assert frame.dtypes["Int8"].name == "Int8"  # the user's frame is as it was
    assert np.array_equal(xgb.DMatrix(X, pd.DataFrame({"y": pd.array([3] * 700, "UInt8")})).get_label(), [3] * 700)
    with pytest.raises(ValueError, match="enable_categorical"):
        matrix(frame, Y)
    with pytest.raises(ValueError, match="w: object"):
        xgb.DMatrix(frame.assign(w="x"), Y, enable_categorical=True)
