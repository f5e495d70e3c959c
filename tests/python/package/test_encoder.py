"""xgboost_gpu.OrderedTargetEncoder: statistics beside a slow loop, inputs, scikit-learn's manners, files, bad input."""

import copy
import datetime
import json
import pickle
import warnings
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost as xgb
from encoder_reference import of_all, ordered
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from support import BACKEND, OURS, only_ours, params

if OURS:
    import xgboost_gpu
    from xgboost_gpu import OrderedTargetEncoder as Encoder

pytestmark = only_ours
#: Targets and weights of the tests are quarters, so that all sums of doubles are exact, as the library's are.
QUARTERS = 4.0


def make_table(rows: int = 400, seed: int = 0) -> Tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Text, whole numbers with missing ones, fractions, a number that is none; targets and weights in quarters."""
    rng = np.random.default_rng(seed)
    text = rng.choice(["a", "b", "ccc", "", "ü"], rows).astype(object)
    text[rng.random(rows) < 0.1] = None
    whole = rng.integers(-3, 4, rows).astype(np.float64)
    whole[rng.random(rows) < 0.1] = np.nan
    frame = pd.DataFrame(
        {"text": text, "whole": whole, "half": rng.integers(0, 5, rows) / 2, "number": rng.normal(size=rows)}
    )
    return frame, rng.integers(-20, 40, rows) / QUARTERS, rng.integers(0, 9, rows) / QUARTERS


def rows_of(frame: pd.DataFrame) -> List[Tuple]:
    return list(frame.itertuples(index=False, name=None))


ENCODED = ["text", "whole", "half"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combinations", [1, 2, 3])
def test_statistics_are_those_of_a_loop(weighted: bool, combinations: int) -> None:
    frame, y, weights = make_table()
    w = weights if weighted else np.ones(len(y))
    encoder = Encoder(ENCODED, combinations, target="numbers", order="given", prior=0.25, prior_weight=1.5)
    found = encoder.fit_transform(frame, y, weights if weighted else None)
    new = encoder.transform(frame[::-1])
    names = list(encoder.get_feature_names_out())
    assert names[:7] == [
        "text__mean", "text__frequency", "whole__mean", "whole__frequency", "half__mean", "half__frequency", "number",
    ]  # fmt: skip
    sets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)][: {1: 3, 2: 6, 3: 7}[combinations]]
    rows = rows_of(frame)
    for columns in sets:
        name = "*".join(frame.columns[c] for c in columns)
        expected = ordered(rows, columns, y, w, range(len(y)), 0.25, 1.5)
        means, shares = of_all(rows, columns, y, w, rows[::-1], 0.25, 1.5)
        assert np.array_equal(found[:, names.index(f"{name}__mean")], expected), name
        assert np.array_equal(new[:, names.index(f"{name}__mean")], means), name
        assert np.array_equal(new[:, names.index(f"{name}__frequency")], shares), name
        assert np.array_equal(found[::-1, names.index(f"{name}__frequency")], shares), name
    assert np.array_equal(found[:, 6], frame["number"].to_numpy(np.float32))
    assert found.shape == (400, 1 + 2 * len(sets)) and found.dtype == np.float32


@pytest.mark.parametrize("rows", [2, 7, 100, 1000])
def test_an_order_has_every_number_of_rows_before_once(rows: int) -> None:
    """All targets are 0 and the prior is 1, so that the statistic is 1 / (n + 1) of n rows before."""
    encoder = Encoder(prior=1, target="numbers", statistic="mean", random_state=11)
    blocks = encoder.expand(np.zeros((rows, 1)), np.zeros(rows), permutations=3)[0].reshape(3, rows)
    for block in blocks:
        assert sorted(np.rint(1 / block - 1).astype(int)) == list(range(rows))
    assert rows < 100 or len({tuple(block) for block in blocks}) == 3


def test_the_result_is_a_function_of_data_and_parameters() -> None:
    frame, y, weights = make_table(5000)
    rng = np.random.default_rng(0)
    y = y + rng.normal(size=len(y))
    first = Encoder(ENCODED, 3, n_jobs=1).fit_transform(frame, y, weights)
    for threads in (2, 3, 7, None):
        assert np.array_equal(first, Encoder(ENCODED, 3, n_jobs=threads).fit_transform(frame, y, weights), equal_nan=True)
    other = Encoder(ENCODED, 3, random_state=1).fit_transform(frame, y, weights)
    names = Encoder(ENCODED, 3).fit(frame, y).get_feature_names_out()
    differ = {name for at, name in enumerate(names) if not np.array_equal(first[:, at], other[:, at])}
    assert differ == {name for name in names if name.endswith("__mean")}


@pytest.mark.parametrize("backend", ["host", BACKEND])
def test_backends_agree(backend: str) -> None:
    frame, y, weights = make_table(3000)
    found = Encoder(ENCODED, 2, gpu_backend=backend).fit_transform(frame, y, weights)
    assert np.array_equal(found, Encoder(ENCODED, 2).fit_transform(frame, y, weights))


def test_binary_classes_and_many_classes() -> None:
    frame, y, _ = make_table()
    names = np.array(["no", "yes"])[(y > 2).astype(int)]
    encoder = Encoder(ENCODED, order="given", statistic="mean").fit(frame, names)
    assert list(encoder.classes_) == ["no", "yes"] and encoder.target_type_ == "classes"
    share = (names == "yes").mean()
    means, _ = of_all(rows_of(frame), (0,), (y > 2) * 1.0, np.ones(400), rows_of(frame), share, 1)
    assert np.array_equal(encoder.transform(frame)[:, 0], means)

    three = np.where(y < 0, 3, np.where(y < 5, 1, 2))
    encoder = Encoder(["text"], order="given", statistic="mean", prior=(0.5, 0.25)).fit(frame[["text"]], three)
    assert list(encoder.get_feature_names_out()) == ["text__mean_2", "text__mean_3"]
    found = encoder.fit_transform(frame[["text"]], three)
    for at, (label, prior) in enumerate([(2, 0.5), (3, 0.25)]):
        expected = ordered(rows_of(frame), (0,), (three == label) * 1.0, np.ones(400), range(400), prior, 1)
        assert np.array_equal(found[:, at], expected)


@pytest.mark.parametrize("y, kind", [
    ([True, False, True], "classes"), (["x", "y", "x"], "classes"), ([0.5, 1.5, 0.5], "classes"), ([1, 2, 3], "classes"),
    ([1.0, 2.0, 3.0], "classes"), ([1.5, 2.0, 3.0], "numbers"), (list(range(21)), "numbers"),
])  # fmt: skip
def test_kinds_of_targets(y: Any, kind: str) -> None:
    x = np.arange(len(y))[:, None] // 2
    assert Encoder().fit(x, y).target_type_ == kind
    assert Encoder().fit(x, pd.Series(y)).target_type_ == kind


def test_borders_are_shares_above() -> None:
    frame, y, weights = make_table()
    encoder = Encoder(["half"], statistic=["mean", "borders", "frequency"], borders=[0, 5.5], order="given")
    found = encoder.fit_transform(frame[["half"]], y, weights)
    assert list(encoder.get_feature_names_out()) == ["half__mean", "half__above_0", "half__above_5.5", "half__frequency"]
    rows = rows_of(frame[["half"]])
    for at, border in ((1, 0), (2, 5.5)):
        prior = weights[y > border].sum() / weights.sum()
        assert np.array_equal(found[:, at], ordered(rows, (0,), (y > border) * 1.0, weights, range(400), prior, 1))
    encoder = Encoder(["half"], statistic="borders", borders=3, target="numbers").fit(frame[["half"]], y)
    shares = [(y > border).mean() for border in encoder.borders_]
    assert len(shares) == 3 and np.all(np.abs(np.array(shares) - [0.75, 0.5, 0.25]) < 0.05)  # targets repeat


@pytest.mark.filterwarnings("ignore:column")
def test_no_two_combinations_share_a_code() -> None:
    """Keys of a combination are products of more than 32 bits: i 2^17 + 2^17, which would repeat every 2^15 rows."""
    rows = 2**17 + 1
    x = np.stack([np.arange(rows), np.arange(rows)[::-1]], axis=1)
    encoder = Encoder(combinations=2, statistic="frequency")
    assert np.all(encoder.fit_transform(x, np.arange(rows) % 2)[:, 2] == np.float32(1 / rows))
    assert np.all(encoder.transform(x[:1000])[:, 2] == np.float32(1 / rows))
    assert np.all(encoder.transform(x[:1000, [1, 0]])[:, 2] == np.float32(1 / rows))  # the same pairs, the other way
    assert np.all(encoder.transform(x[:1000, [0, 0]])[:, 2] == 0)


def test_codes_are_kept_in_ascending_order() -> None:
    x = np.array([[5.0], [2.0], [np.nan], [9.0], [2.0]])
    encoder = Encoder(keep_codes=True, statistic="frequency")
    assert encoder.fit_transform(x, [0, 1, 0, 1, 0])[:, 0].tolist() == [1, 0, 3, 2, 0]
    assert np.array_equal(encoder.transform([[9.0], [4.0]])[:, 0], [2, np.nan], equal_nan=True)
    assert list(encoder.get_feature_names_out()) == ["x0__code", "x0__frequency"]


def test_what_did_not_occur_gets_the_prior() -> None:
    x, y = np.array([["a", "u"], ["b", "u"], ["a", "v"]]), [1.0, 2.5, 4.0]
    encoder = Encoder(combinations=2).fit(x, y)
    assert encoder.transform([["c", "u"]])[0, [0, 1, 4, 5]].tolist() == [2.5, 0, 2.5, 0]
    assert encoder.transform([["b", "v"]])[0, 4:].tolist() == [2.5, 0]  # both occurred, but not together
    assert encoder.transform([["a", None]])[0, 2:].tolist() == [2.5, 0, 2.5, 0]
    assert encoder.transform([["a", "v"]])[0, 4:].tolist() == [np.float32(6.5 / 2), np.float32(1 / 3)]


def test_expand_stacks_orders() -> None:
    frame, y, weights = make_table()
    encoder = Encoder(ENCODED, 2, random_state=5)
    data, labels, w = encoder.expand(frame, y, weights, permutations=3)
    assert data.shape == (1200, 13) and np.array_equal(labels, np.tile(y, 3))
    assert w.dtype == np.float32 and np.allclose(w, np.tile(weights / 3, 3), rtol=2.0**-23)
    assert np.array_equal(data[:400], Encoder(ENCODED, 2, random_state=5).fit_transform(frame, y, weights))
    assert not np.array_equal(data[:400, 0], data[400:800, 0])
    assert np.array_equal(data[:400, 1], data[400:800, 1])
    assert np.array_equal(encoder.transform(frame), Encoder(ENCODED, 2).fit(frame, y, weights).transform(frame))
    assert Encoder().expand(np.zeros((4, 1)), [0, 1, 0, 1], permutations=2)[2].tolist() == [0.5] * 8


def as_polars(frame: pd.DataFrame) -> Any:
    polars = pytest.importorskip("polars")
    columns = {name: [None if value != value else value for value in frame[name].tolist()] for name in frame}
    return polars.DataFrame(columns).with_columns(polars.col("text").cast(polars.Categorical))


INPUTS: Dict[str, Callable[[pd.DataFrame], Any]] = {
    "categories": lambda frame: frame.astype({"text": "category", "whole": "category"}),
    "strings": lambda frame: frame.astype({"text": "string", "whole": "Int64"}),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "lists": lambda frame: frame.to_numpy(dtype=object).tolist(),
    "polars": as_polars,
    "polars, text": lambda frame: as_polars(frame).with_columns(pytest.importorskip("polars").col("text").cast(str)),
    "pyarrow": lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(frame),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_inputs_give_the_same(kind: str) -> None:
    frame, y, weights = make_table()
    expected = Encoder([0, 1, 2], 2).fit_transform(frame, y, weights)
    data = INPUTS[kind](frame)
    encoder = Encoder([0, 1, 2], 2)
    assert np.array_equal(encoder.fit_transform(data, y, weights), expected)
    assert np.array_equal(encoder.transform(data), Encoder([0, 1, 2], 2).fit(frame, y, weights).transform(frame))


def test_sparse_codes_are_numbers_and_missing_ones() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (200, 3)).astype(np.float64)
    y = rng.integers(0, 2, 200)
    expected = Encoder(combinations=2).fit_transform(np.where(codes == 0, np.nan, codes), y)
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix):
        assert np.array_equal(Encoder(combinations=2).fit_transform(make(codes), y), expected)


def test_numbers_are_categories_by_value() -> None:
    y = [0, 1, 0, 1]
    encoder = Encoder(statistic="frequency").fit(np.array([[1], [1], [-2], [2**62]]), y)
    assert encoder.transform([[1.0], [1.5], [-2.0], [2.0**62], [np.inf], [np.nan]])[:, 0].tolist() == [
        0.5, 0, 0.25, 0.25, 0, 0,
    ]  # fmt: skip
    encoder = Encoder(statistic="frequency").fit(np.array([[0.0], [-0.0], [0.5], [np.inf]]), y)
    assert encoder.transform([[0.0], [0.5], [-np.inf], [np.inf]])[:, 0].tolist() == [0.5, 0.25, 0, 0.25]


def test_new_numbers_beyond_all_categories_are_unknown() -> None:
    encoder = Encoder(statistic="frequency").fit(np.array([[1], [1], [2], [3]]), [0, 1, 0, 1])
    for largest in (np.array([[2**64 - 1], [1]], np.uint64), np.array([[2**63 - 1], [1]]), [[2.0**63], [1]]):
        assert encoder.transform(largest)[:, 0].tolist() == [0, 0.5]


def test_classes_may_be_any_numbers_of_64_bits() -> None:
    for y in (np.array([2**64 - 1, 0] * 2, np.uint64), np.array([-(2**63), 2**63 - 1] * 2), np.array([1e30, 2] * 2)):
        encoder = Encoder(order="given").fit(np.array([[1], [2], [1], [2]]), y)
        assert encoder.target_type_ == "classes" and encoder.classes_.tolist() == sorted(set(y.tolist()))
        first_is_second = float(y[0] > y[1])
        assert encoder.transform([[1], [2]])[:, 0].tolist() == [
            np.float32((2 * share + 0.5) / 3) for share in (first_is_second, 1 - first_is_second)
        ]


def large_numbers(make: str) -> Any:
    """[2^62 + 1, missing, 2^62, 2^62 + 1], which are no doubles."""
    values = [2**62 + 1, None, 2**62, 2**62 + 1]
    if make == "objects":
        return np.array(values, object)[:, None]
    if make == "pandas":
        return pd.DataFrame({"a": pd.array(values, "Int64")})
    if make == "unsigned":
        return pd.DataFrame({"a": pd.array(values, "UInt64")})
    package = pytest.importorskip(make)
    return package.DataFrame({"a": values}) if make == "polars" else package.table({"a": values})


@pytest.mark.parametrize("make", ["objects", "pandas", "unsigned", "polars", "pyarrow"])
def test_large_whole_numbers_are_exact_beside_missing_ones(make: str, tmp_path: Any) -> None:
    x = large_numbers(make)
    encoder = Encoder("all", statistic="frequency", keep_codes=True)
    expected = [[1, 0.5], [2, 0.25], [0, 0.25], [1, 0.5]]
    assert encoder.fit_transform(x, Y).tolist() == expected
    assert encoder.transform(x).tolist() == expected
    encoder.save(tmp_path / "e.json")
    assert Encoder.load(tmp_path / "e.json").transform(x).tolist() == expected
    numbers = Encoder("all", statistic="frequency").fit(np.array([[0.5], [2.0**62], [np.nan], [np.nan]]), Y)
    assert numbers.transform(x).tolist() == [[0.25], [0.5], [0.25], [0.25]]  # as doubles, among doubles


def test_whole_numbers_are_passed_on_beside_missing_ones() -> None:
    frame = pd.DataFrame({"text": list("abab"), "number": pd.array([1, None, 2, 3], "Int64")})
    assert np.array_equal(Encoder().fit_transform(frame, Y)[:, 2], [1, np.nan, 2, 3], equal_nan=True)
    unsigned = frame.assign(number=pd.array(np.array([2**64 - 1, 1, 1, 1], np.uint64), "UInt64"))
    assert Encoder().fit_transform(unsigned, Y)[0, 2] == np.float32(2**64)
    sparse = frame.assign(number=pd.arrays.SparseArray([1, 0, 2, 3]))
    assert Encoder().fit_transform(sparse, Y)[:, 2].tolist() == [1, 0, 2, 3]


def test_values_of_lists_keep_their_types() -> None:
    """numpy would make text of a list of text and numbers, and "1" of one row is not "1.0" of another."""
    encoder = Encoder(statistic="frequency").fit([["a", 1], ["b", 2], ["a", 1], ["a", 3]], [0, 1, 0, 1])
    assert encoder.transform([["a", 1.0], ["b", None]]).tolist() == [[0.75, 0.5], [0.25, 0]]


def test_masked_values_are_missing() -> None:
    x = np.array([[1], [2], [1], [2]])
    masked = np.ma.masked_array(x, [[0], [1], [0], [0]])
    expected = Encoder().fit_transform(np.where(masked.mask, np.nan, x), Y)
    assert np.array_equal(Encoder().fit_transform(masked, Y), expected)


@pytest.mark.parametrize("dtype", [">i2", ">i8", ">u4", ">f2", ">f4", ">f8"])
def test_bytes_in_the_other_order_are_the_same_numbers(dtype: str) -> None:
    x = np.array([[1, 2], [2, 2], [1, 3], [2, 3]])
    expected = Encoder().fit_transform(x, Y)
    assert np.array_equal(Encoder().fit_transform(x.astype(dtype), np.array(Y, ">f8")), expected)
    sparse = scipy.sparse.csr_matrix(x)
    sparse.data = sparse.data.astype(dtype)
    assert np.array_equal(Encoder().fit_transform(sparse, Y), expected)


def test_rows_of_a_list_may_be_masked() -> None:
    x = np.array([[1], [2], [1], [2]])
    masked = np.ma.masked_array(x, [[0], [1], [0], [0]])
    assert np.array_equal(Encoder().fit_transform(list(masked), Y), Encoder().fit_transform(masked, Y))


def test_whole_numbers_of_a_sparse_matrix_are_exact() -> None:
    """As doubles 2^60 and 2^60 + 1 would be one category. A value that is not stored is missing."""
    x = 2**60 + np.array([[0, 1], [1, 0], [0, 1], [1, 1]])
    for sparse in (scipy.sparse.csr_matrix(x), scipy.sparse.csc_matrix(x)):
        assert np.array_equal(Encoder().fit_transform(sparse, Y), Encoder().fit_transform(x, Y))
    sparse = scipy.sparse.csr_matrix(np.array([[5], [0], [5], [2**60]]))
    expected = Encoder().fit_transform(np.ma.masked_equal([[5], [0], [5], [2**60]], 0), Y)
    assert np.array_equal(Encoder().fit_transform(sparse, Y), expected)
    sparse.data = np.ma.masked_array(sparse.data, [0, 1, 0])
    with pytest.raises(TypeError, match="masked"):
        Encoder().fit_transform(sparse, Y)


def test_intervals_and_dates_are_categories_of_text() -> None:
    numbers = np.arange(12) % 6 + 0.5
    y = np.arange(12) % 2
    for column in (pd.cut(numbers, [0, 2, 4, 6]), pd.Categorical(pd.to_datetime(numbers // 2, unit="D"))):
        encoder = Encoder().fit(pd.DataFrame({"a": column}), y)
        expected = Encoder().fit(np.floor(numbers / 2)[:, None], y).transform(np.floor(numbers / 2)[:, None])
        assert np.array_equal(encoder.transform(pd.DataFrame({"a": column})), expected)


def test_auto_takes_text_and_categories_of_a_frame() -> None:
    frame, y, _ = make_table()
    frame["whole"] = frame["whole"].astype("category")
    encoder = Encoder().fit(frame, y)
    assert list(encoder.get_feature_names_out()) == [
        "text__mean", "text__frequency", "whole__mean", "whole__frequency", "half", "number",
    ]  # fmt: skip
    assert Encoder("all").fit(frame.iloc[:, :3], y).transform(frame.iloc[:, :3]).shape == (400, 6)


def planted(rows: int = 4000) -> Tuple[np.ndarray, np.ndarray]:
    """The target depends on columns 1 and 3 together, and on neither alone; 0 and 2 are noise."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 12, (rows, 4))
    effect = rng.integers(0, 2, (12, 12))
    return x, np.where(rng.random(rows) < 0.1, rng.integers(0, 2, rows), effect[x[:, 1], x[:, 3]])


def test_the_search_finds_a_planted_combination() -> None:
    x, y = planted()
    encoder = Encoder(combinations="auto", most_combinations=1).fit(x, y)
    assert encoder.combinations_ == [(1, 3)]
    found = Encoder(combinations="auto").fit(x, y).combinations_
    assert (1, 3) in found and len(found) <= 32
    assert Encoder(combinations="auto", n_jobs=1).fit(x, y).combinations_ == found
    frozen = Encoder(combinations=encoder.combinations_, keep_codes=True).fit(x, y)
    names = list(frozen.get_feature_names_out())
    chosen = [names.index(name) for name in encoder.get_feature_names_out()]
    assert np.array_equal(frozen.transform(x)[:, chosen], encoder.transform(x))


def few_and_many(rows: int = 6000) -> Tuple[pd.DataFrame, np.ndarray]:
    """A number and a column of six levels decide; the levels of another column have about four rows each, but for one."""
    rng = np.random.default_rng(5)
    level, number = rng.integers(0, 6, rows), rng.normal(size=rows)
    many = np.where(rng.random(rows) < 0.3, 0, rng.integers(1, rows // 4, rows))
    margin = 2 * number + np.array([-2.0, 0.4, 0.5, -0.3, 0.6, 1.5])[level]
    frame = pd.DataFrame({"few": pd.Categorical(level), "many": pd.Categorical(many), "number": number})
    return frame, (rng.random(rows) < 1 / (1 + np.exp(-margin))).astype(int)


def test_auto_gives_one_statistic_to_categories_of_many_rows() -> None:
    frame, y = few_and_many()
    encoder = Encoder(combinations="auto")
    made = encoder.fit_transform(frame, y)
    assert encoder.settled_rows_ in (1000, 100, 10)
    of_all_rows, of_earlier_rows = encoder.transform(frame), Encoder().fit_transform(frame, y)
    for column, place in (("few", 0), ("many", 2)):
        counts = frame[column].map(frame[column].value_counts()).to_numpy(int)
        settled = counts >= encoder.settled_rows_
        assert settled.any()
        of_column = slice(place, place + 2)
        expected = np.where(settled[:, None], of_all_rows[:, of_column], of_earlier_rows[:, of_column])
        assert np.array_equal(made[:, of_column], expected)
    assert len(np.unique(made[:, 0])) == 6 and len(np.unique(of_earlier_rows[:, 0])) > 1000
    stacked = encoder.expand(frame, y, permutations=2)[0]
    assert np.array_equal(stacked[: len(y)], made) and len(np.unique(stacked[:, 0])) == 6
    assert np.array_equal(Encoder(combinations="auto", n_jobs=1).fit_transform(frame, y), made)


def test_auto_lets_no_later_row_count_where_rows_come_in_time() -> None:
    frame, y = few_and_many(2000)
    encoder = Encoder(combinations="auto", order="given")
    made = encoder.fit_transform(frame, y)
    assert encoder.settled_rows_ is None
    assert np.array_equal(made[:, :5], Encoder(order="given").fit_transform(frame, y))  # combinations are last


def test_auto_settles_unless_earlier_rows_are_better(monkeypatch: Any) -> None:
    """At first sight the levels of 100 rows of these data are better with earlier rows, within the noise."""
    from xgboost_gpu import _encode_search

    rng = np.random.default_rng(0)
    level, number = rng.integers(0, 6, 600), rng.normal(size=600)
    margin = 2 * number + np.array([-2.0, 0.4, 0.5, -0.3, 0.6, 1.5])[level]
    frame = pd.DataFrame({"few": pd.Categorical(level), "number": number})
    y = (rng.random(600) < 1 / (1 + np.exp(-margin))).astype(int)
    assert Encoder(combinations="auto").fit(frame, y).settled_rows_ == 10  # no level has 100 rows in the search
    monkeypatch.setattr(_encode_search, "LEAST_GAIN", 0.0)
    assert Encoder(combinations="auto").fit(frame, y).settled_rows_ is None


def test_auto_settles_a_column_on_its_own() -> None:
    frame, y = few_and_many()
    encoder = Encoder(combinations="auto")
    made = encoder.fit_transform(frame[["few", "number"]], y)
    assert encoder.combinations_ == [] and len(np.unique(made[:, 0])) == 6


def scale_and_names(rows: int = 6000) -> Tuple[pd.DataFrame, np.ndarray]:
    """Neighbours among the 1,500 levels of "scale" are alike, and its levels have four rows each; those of "name" are
    unlike, and have 100. "number" is noise.
    """
    rng = np.random.default_rng(2)
    scale, name = rng.integers(0, 1500, rows), rng.integers(0, 60, rows)
    margin = 3 * np.sin(scale / 125) + 1.5 * rng.normal(size=60)[name]
    frame = pd.DataFrame({"scale": pd.Categorical(scale), "name": pd.Categorical(name), "number": rng.normal(size=rows)})
    return frame, (rng.random(rows) < 1 / (1 + np.exp(-margin))).astype(int)


SCALE_AND_NAMES = ["scale__code", "name__mean", "name__frequency", "number"]


def test_auto_chooses_for_each_column_whether_it_is_encoded(tmp_path: Any) -> None:
    frame, y = scale_and_names()
    encoder = Encoder(combinations="auto")
    made = encoder.fit_transform(frame, y)
    assert encoder.plain_columns_ == ["scale"] and encoder.encoded_columns_ == ["name"] and encoder.combinations_ == []
    assert list(encoder.get_feature_names_out()) == SCALE_AND_NAMES and made.shape == (6000, 4)
    assert np.array_equal(made[:, 0], np.unique(frame["scale"].to_numpy(int), return_inverse=True)[1])
    new = frame.assign(scale=pd.Categorical([-1] * 6000))
    expected = encoder.transform(frame)
    expected[:, 0] = np.nan
    assert np.array_equal(encoder.transform(new), expected, equal_nan=True)

    other = Encoder(combinations="auto", n_jobs=1)
    assert np.array_equal(other.fit_transform(frame, y), made) and other.plain_columns_ == ["scale"]
    stacked = other.expand(frame, y, permutations=2)[0]
    assert np.array_equal(stacked[:6000], made) and np.array_equal(stacked[6000:, 0], made[:, 0])
    as_frame = clone(encoder).set_output(transform="pandas").fit_transform(frame, y)
    assert list(as_frame.columns) == SCALE_AND_NAMES and np.array_equal(as_frame.to_numpy(), made)
    of_array = Encoder([0, 1], "auto").fit(frame.to_numpy(float), y)
    assert of_array.plain_columns_ == [0] and of_array.encoded_columns_ == [1]
    assert np.array_equal(of_array.transform(frame.to_numpy(float)), encoder.transform(frame))

    encoder.save(tmp_path / "e.json")
    again = Encoder.load(tmp_path / "e.json")
    assert again.plain_columns_ == ["scale"] and again.encoded_columns_ == ["name"]
    assert np.array_equal(again.transform(frame), encoder.transform(frame))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "e.json").read_bytes()


@pytest.mark.parametrize("make", ["polars", "pyarrow"])
def test_other_frames_are_left_plain_likewise(make: str) -> None:
    frame, y = scale_and_names()
    text = frame.astype({"scale": int, "name": str})
    package = pytest.importorskip(make)
    data = package.DataFrame(text.to_dict("list")) if make == "polars" else package.Table.from_pandas(text)
    encoder = Encoder(["scale", "name"], "auto")
    made = encoder.fit_transform(data, y)
    assert encoder.plain_columns_ == ["scale"] and list(encoder.get_feature_names_out()) == SCALE_AND_NAMES
    assert np.array_equal(made[:, 0], np.unique(text["scale"], return_inverse=True)[1])
    assert np.array_equal(encoder.transform(data)[:, 0], made[:, 0])


def test_codes_that_are_kept_are_no_choice_of_auto() -> None:
    frame, y = scale_and_names()
    encoder = Encoder(combinations="auto", keep_codes=True).fit(frame, y)
    assert encoder.plain_columns_ == ["scale", "name"] and "name" in encoder.encoded_columns_


def test_only_auto_chooses_plain_columns() -> None:
    frame, y = scale_and_names()
    for combinations in (1, 2, [["scale", "name"]]):
        encoder = Encoder(combinations=combinations).fit(frame, y)
        assert encoder.plain_columns_ == [] and encoder.encoded_columns_ == ["scale", "name"]
        assert Encoder(combinations=combinations, keep_codes=True).fit(frame, y).plain_columns_ == ["scale", "name"]


def test_files_without_plain_columns_load(tmp_path: Any) -> None:
    """Files of the version before do not have the key."""
    for keep_codes in (False, True):
        encoder = Encoder(combinations=2, keep_codes=keep_codes).fit(X, Y)
        encoder.save(tmp_path / "e.json")
        data = json.loads((tmp_path / "e.json").read_text())
        assert data.pop("plain") == ([0, 1] if keep_codes else [])
        (tmp_path / "e.json").write_text(json.dumps(data))
        again = Encoder.load(tmp_path / "e.json")
        assert again.plain_columns_ == encoder.plain_columns_
        assert np.array_equal(again.transform(X), encoder.transform(X))


@pytest.mark.parametrize("change, message", [
    (lambda d: d.update(plain=None), "has 'plain': 'null'; allowed: a list of"),
    (lambda d: d.update(plain=[3]), "has 'plain': '[3]'; allowed: a list of"),
    (lambda d: d.update(plain=[2]), "has 'plain': '[2]'; allowed: encoded columns, ascending"),
    (lambda d: d.update(plain=[1, 0]), "has 'plain': '[1, 0]'; allowed: encoded columns, ascending"),
    (lambda d: d.update(plain=[]), "has no set for the column at place 0; allowed: one for each column"),
    (lambda d: d["parameters"].update(keep_codes=True), "has 'plain': '[0]'; allowed: [0, 1] with keep_codes=True"),
    (lambda d: d["parameters"].update(combinations=1), "has 'plain': '[0]'; allowed: [] with keep_codes=False"),
    (lambda d: (d.update(plain=[]), d["parameters"].update(combinations=1)), "has no set for the column at place 0"),
])  # fmt: skip
def test_broken_files_of_plain_columns_are_refused(change: Callable, message: str, tmp_path: Any) -> None:
    frame, y = scale_and_names()
    Encoder(combinations="auto").fit(frame, y).save(tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text())
    assert data["plain"] == [0]
    change(data)
    (tmp_path / "e.json").write_text(json.dumps(data))
    with pytest.raises(ValueError) as error:
        Encoder.load(tmp_path / "e.json")
    assert message in str(error.value) and "e.json" in str(error.value)


def test_the_search_finds_nothing_in_noise() -> None:
    x, y = planted()
    encoder = Encoder(combinations="auto").fit(x, np.random.default_rng(3).permutation(y))
    assert len(encoder.combinations_) <= 1  # one in six trials may look better by more than its standard error


def test_the_search_serves_numbers_classes_weights_and_other_columns() -> None:
    x, y = planted()
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(x, columns=list("abcd")).assign(number=rng.normal(size=len(y)))
    for target in (y * 10.0 + rng.normal(size=len(y)), y + 2 * (x[:, 0] > 5)):
        encoder = Encoder(list("abcd"), "auto").fit(frame, target, rng.integers(1, 3, len(y)))
        assert ("b", "d") in encoder.combinations_


def test_the_search_needs_weights_in_both_of_its_parts() -> None:
    from xgboost_gpu import _encode_search

    x, y = planted()
    for part in _encode_search._choose_rows(len(y), False, 0):
        weights = np.ones(len(y))
        weights[part] = 0.0
        encoder = Encoder(combinations="auto").fit(x, y, weights)
        assert encoder.combinations_ == [] and encoder.settled_rows_ is None


def test_pipelines_clones_pickles_and_frames() -> None:
    frame, y, weights = make_table()
    labels = (y > 2).astype(int)
    model = make_pipeline(Encoder(ENCODED, 2), xgb.XGBClassifier(n_estimators=3, **params()))
    model.fit(frame, labels, orderedtargetencoder__sample_weight=weights)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.predict_proba(frame), again.predict_proba(frame))

    encoder = Encoder(ENCODED, 2, prior_weight=2)
    assert clone(encoder).get_params() == encoder.get_params()
    made = encoder.set_output(transform="pandas").fit_transform(frame, y)
    assert list(made.columns) == list(encoder.get_feature_names_out()) and len(made) == 400
    assert np.array_equal(made.to_numpy(), Encoder(ENCODED, 2, prior_weight=2).fit_transform(frame, y))
    assert list(encoder.get_feature_names_out(frame.columns)) == list(made.columns)
    assert encoder.n_features_in_ == 4 and list(encoder.feature_names_in_) == list(frame.columns)


def test_tags_say_that_types_of_columns_change() -> None:
    encoder = Encoder()
    tags = encoder._get_tags() if hasattr(encoder, "_get_tags") else vars(encoder.__sklearn_tags__().transformer_tags)
    assert tags["preserves_dtype"] == []


def test_files_bring_the_encoder_back(tmp_path: Any) -> None:
    frame, y, weights = make_table()
    cases = [
        (Encoder(ENCODED, 3, keep_codes=True), frame, y),
        (Encoder([0, 2], statistic=("borders", "mean"), prior=1), frame.to_numpy(dtype=object), y),
        (Encoder(["text"], [], statistic="frequency"), frame[["text"]], np.where(y > 0, "up", "down")),
        (Encoder([0, 1, 2], [[0, 1, 2]]), frame, np.where(y > 3, 2, np.where(y > 0, 1, 0))),
    ]
    for number, (encoder, data, target) in enumerate(cases):
        encoder.fit(data, target, weights)
        encoder.save(tmp_path / f"{number}.json")
        again = Encoder.load(tmp_path / f"{number}.json")
        assert np.array_equal(again.transform(data), encoder.transform(data), equal_nan=True)
        assert list(again.get_feature_names_out()) == list(encoder.get_feature_names_out())
        assert again.combinations_ == encoder.combinations_ and again.get_params()["order"] == "random"
        assert again.get_params()["statistic"] == encoder.statistic or encoder.statistic == ("borders", "mean")
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / f"{number}.json").read_bytes()


BROKEN: Dict[str, Tuple[Callable[[Dict[str, Any]], Any], str]] = {
    "format": (lambda d: d.update(format="model"), "has 'format': '\"model\"'; allowed: xgboost_gpu.OrderedTargetEncoder"),
    "version": (lambda d: d.update(version=2), "has 'version': '2'; allowed: 1"),
    "parameter": (lambda d: d["parameters"].update(order="up"), "order is 'up'; allowed: random, given"),
    "parameter more": (lambda d: d["parameters"].update(x=1), "lacks or has the parameter 'x'"),
    "names": (lambda d: d.update(names=["a", "a", "b", "c"]), "allowed: null, or 4 different texts"),
    "classes": (lambda d: d.update(classes=[1, 2]), "has 'classes': '[1, 2]'"),
    "unit": (lambda d: d["units"].update(mean=0.3), "allowed: powers of two for weight, mean"),
    "prior": (lambda d: d["priors"].update(mean=[1, 2]), "allowed: lists of numbers for mean"),
    "total": (lambda d: d.update(total_weight=0), "has 'total_weight': '0'"),
    "place": (lambda d: d["columns"][1].update(place=0), "columns[1], has 'place': '0'; allowed: 1 to 3"),
    "kind": (lambda d: d["columns"][1].update(kind="date"), "has 'kind': '\"date\"'"),
    "order": (lambda d: d["columns"][1]["categories"].reverse(), "are not all whole numbers"),
    "ascend": (lambda d: d["columns"][1].update(categories=[2, 1]), "do not ascend"),
    "keys": (lambda d: d["keys"][0]["keys"].reverse(), "allowed: one or more, ascending"),
    "key": (lambda d: d["keys"][0].update(keys=[10**9]), "has 'keys': '[1000000000]'"),
    "set twice": (lambda d: d["sets"].append(d["sets"][0]), "allowed: a set once, which has keys"),
    "set": (lambda d: d["sets"].pop(0), "has no set for the column at place 0"),
    "sum": (lambda d: d["sets"][0]["mean"][0].pop(), "has 'mean'"),
    "sum of text": (lambda d: d["sets"][0]["mean"][0].__setitem__(0, "1"), "has 'mean'"),
    "weight": (lambda d: d["sets"][0]["weights"].__setitem__(0, -1), "has 'weights'"),
    "kind of kinds": (lambda d: d["columns"][1].update(kind=[]), "has 'kind': '[]'"),
    "large prior": (lambda d: d["priors"].update(mean=[10**400]), "allowed: lists of numbers for mean"),
    "large unit": (lambda d: d["units"].update(mean=3 * 2**64), "allowed: powers of two for weight, mean"),
    "no number": (lambda d: d["parameters"].update(columns=[np.nan]), "NaN is no number of JSON"),
    "weights": (lambda d: d["sets"][0]["weights"].__setitem__(0, 999), "numbers whose sum is the total weight, 400"),
    "sums": (lambda d: d["sets"][1]["mean"][0].__setitem__(0, 0), "numbers whose sum is that of the other sets"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_refused(tmp_path: Any, what: str) -> None:
    frame, y, _ = make_table()
    Encoder(ENCODED, 2).fit(frame, y).save(tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text())
    broken = copy.deepcopy(data)
    BROKEN[what][0](broken)
    assert broken != data
    (tmp_path / "e.json").write_text(json.dumps(broken))
    with pytest.raises(ValueError) as error:
        Encoder.load(tmp_path / "e.json")
    assert BROKEN[what][1] in str(error.value) and "e.json" in str(error.value)


def test_what_is_no_file_or_no_json_is_refused(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match="is not a file"):
        Encoder.load(tmp_path / "none.json")
    for text in ("{", "[]", "", "[" * 100000):
        (tmp_path / "e.json").write_text(text)
        with pytest.raises(ValueError, match="allowed: what OrderedTargetEncoder.save writes"):
            Encoder.load(tmp_path / "e.json")


X = np.array([[1, 2], [1, 3], [2, 2], [2, 3]])
Y = [0, 1, 1, 0]


@pytest.mark.parametrize("parameters, message", [
    (dict(columns="some"), "columns is 'some'; allowed: auto, all, a list of names or places"),
    (dict(columns=[2]), "columns has '2'; allowed: places from 0 to 1"),
    (dict(columns=[0, 0]), "columns is '[0, 0]'; allowed: each column once"),
    (dict(combinations=5), "combinations is '5'; allowed: 1 to 4, auto, a list of lists of columns"),
    (dict(combinations="pairs"), "combinations is 'pairs'; allowed"),
    (dict(combinations=[[0]]), "combinations has '[0]'; allowed: lists of 2 to 4 columns that are encoded"),
    (dict(columns=[0], combinations=[[0, 1]]), "combinations has '[0, 1]'; allowed"),
    (dict(statistic="median"), "statistic is 'median'; allowed: one or several of mean, frequency, borders"),
    (dict(statistic="borders"), "statistic has 'borders' and y has classes"),
    (dict(statistic="borders", target="numbers", borders=[np.inf]), "borders is 'inf'; allowed: finite numbers"),
    (dict(statistic="borders", target="numbers", borders=0), "borders is '0'; allowed: 1 to 1000, or a list of numbers"),
    (dict(target="class"), "target is 'class'; allowed: auto, classes, numbers"),
    (dict(prior=[1, 2]), "prior has 2 numbers; allowed: one, or 1"),
    (dict(prior=np.nan), "prior is 'nan'; allowed: finite numbers"),
    (dict(prior_weight=0), "prior_weight is '0'; allowed: numbers above 0"),
    (dict(keep_codes=1), "keep_codes is '1'; allowed: True, False"),
    (dict(order="time"), "order is 'time'; allowed: random, given"),
    (dict(random_state=-1), "random_state is '-1'; allowed: 0 to 2^64 - 1"),
    (dict(random_state=None), "random_state is 'None'; allowed"),
    (dict(most_combinations=0), "most_combinations is '0'; allowed: 1 or more"),
    (dict(n_jobs=0), "n_jobs is '0'; allowed: None, -1, 1 or more"),
    (dict(gpu_backend="gpu"), "gpu_backend is 'gpu'; allowed: host, cuda"),
    (dict(columns=0), "columns is '0'; allowed: auto, all, a list of names or places"),
    (dict(columns=[]), "columns is '[]'; allowed: auto, all"),
    (dict(combinations=np.array([[0, 0]])), "combinations is '[0, 0]'; allowed: each column once"),
    (dict(statistic=[["mean"]]), "statistic is '[['mean']]'; allowed"),
    (dict(prior_weight=[1]), "prior_weight is '[1]'; allowed: finite numbers"),
    (dict(order=np.arange(4)), "order is '[0 1 2 3]'; allowed: random, given"),
])  # fmt: skip
def test_bad_parameters_are_named(parameters: Dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        Encoder(**parameters).fit(X, Y)
    assert message in str(error.value)


@pytest.mark.parametrize("x, y, weights, message", [
    (X, [0, 1, 1], None, "y has the shape (3,); allowed: (4,), a value for each row of X"),
    (X, None, None, "y is None"),
    (X, [1, 1, 1, 1], None, "y has 1 class; allowed: two or more"),
    (X, ["a"] * 4, None, "y has 1 class; allowed: two or more"),
    (X, [0, 1, np.nan, 1], None, "y has nan in row 2; allowed: finite numbers, or classes"),
    (X, ["a", None, "b", "a"], None, "y has None in row 1"),
    (X, pd.Series([0, None, 1, 1], dtype="Int64"), None, "y has <NA> in row 1"),
    (X, np.array([0, 1, np.inf, 1], object), None, "y has inf in row 2"),
    (X, np.ma.masked_array(Y, [0, 0, 0, 1]), None, "y has None in row 3"),
    (X, [0.5, 1, 2, 1e39], None, "y has 1e+39 in row 3; allowed: finite numbers, or classes; numbers up to 3.4e+38"),
    (X, np.array(["a", "b", "a", "b"], "S"), None, "y is of type |S1; allowed: numbers, or classes"),
    (X, np.array(Y, "M8[s]"), None, "y is of type datetime64[s]; allowed: numbers, or classes"),
    (X, Y, [1, 1, np.nan, 1], "sample_weight has nan in row 2; allowed: finite numbers from 0 on"),
    (X, Y, [1, -1, 1, 1], "sample_weight has -1.0 in row 1"),
    (X, Y, pd.Series([1, None, 1, 1], dtype="Int64"), "sample_weight has nan in row 1"),
    (X, Y, [1, 1, 1, 1e39], "sample_weight has 1e+39 in row 3; allowed: finite numbers from 0 on, up to 3.4e+38"),
    (X, Y, [1, 1], "sample_weight is no vector of 4 numbers"),
    (X, Y, [0, 0, 0, 0], "sample_weight has no number above 0"),
    (X[:, 0], Y, None, "X has 1 dimensions; allowed: 2"),
    ([[1], [1, 2], [1], [1]], Y, None, "X is no array"),
    (np.array([[datetime.date(2020, 1, 1)]] * 4, object), Y, None, "X has '2020-01-01', of type date, in column 'x0'"),
    (X[:0], [], None, "X has 0 rows and 2 columns"),
    (X.astype("M8[s]"), Y, None, "X has a column 'x0' of type datetime64[s]; allowed: numbers"),
    (np.array([["a"], [1], ["b"], ["a"]], object), Y, None, "X has '1', of type int, in column 'x0'; allowed"),
    (np.array([[[1]], [2], [3], [4]], object)[:, :1], Y, None, "X has values in column 'x0' that are no category"),
    (pd.DataFrame(X, columns=["a", "a"]), Y, None, "X has two columns 'a'"),
    (pd.DataFrame(X), Y, None, "columns is 'auto', and no column of X is of text or categories"),
    (np.array([[2**63], [1], [1], [2]], np.uint64), Y, None, "X has a category 9223372036854775808 in column 'x0'"),
])  # fmt: skip
def test_bad_data_are_named(x: Any, y: Any, weights: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        Encoder().fit(x, y, weights)
    assert message in str(error.value)


def test_text_that_is_not_encoded_is_refused() -> None:
    frame, y, _ = make_table()
    for fit in (Encoder(["half"]).fit, Encoder(["half"]).fit_transform):
        with pytest.raises(TypeError, match="X has text in column 'text', which is not encoded"):
            fit(frame, y)


def test_new_rows_must_be_like_the_training_rows() -> None:
    frame, y, _ = make_table()
    encoder = Encoder(ENCODED)
    with pytest.raises(NotFittedError, match="call fit, fit_transform or expand first"):
        encoder.transform(frame)
    with pytest.raises(NotFittedError):
        encoder.save("x.json")
    encoder.fit(frame, y)
    with pytest.raises(ValueError, match="X has 3 columns; allowed: the 4 of the training rows"):
        encoder.transform(frame.iloc[:, :3])
    with pytest.raises(ValueError, match="X has the column 'whole' at place 0; allowed: 'text', as in the training rows"):
        encoder.transform(frame[["whole", "text", "half", "number"]])
    with pytest.raises(TypeError, match="X has numbers in column 'text'; allowed: text, as in the training rows"):
        encoder.transform(frame.assign(text=1.0))
    with pytest.raises(TypeError, match="X has text in column 'half'; allowed: numbers"):
        encoder.transform(frame.assign(half="a"))
    with pytest.raises(ValueError, match="input_features has 1 names"):
        encoder.get_feature_names_out(["a"])
    assert np.array_equal(encoder.transform(frame.assign(text=None)), encoder.transform(frame.assign(text=np.nan)))


def test_unique_values_are_warned_of_in_the_users_line() -> None:
    x = np.arange(4)[:, None]
    for call in (
        lambda: Encoder().fit(x, Y),
        lambda: Encoder().fit_transform(x, Y),
        lambda: Encoder().expand(x, Y),
        lambda: make_pipeline(Encoder()).fit_transform(x, Y),
    ):
        with pytest.warns(UserWarning, match="column 'x0' has another category in each of the 4 rows") as found:
            call()
        assert [warning.filename for warning in found] == [__file__]


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint8])
def test_classes_made_of_numbers_are_told(kind: type) -> None:
    x, y = np.arange(45)[:, None] // 3, (np.arange(45) // 3).astype(kind)
    with pytest.warns(UserWarning, match="y has 15 distinct whole numbers, which count as classes: .* 14 columns"):
        Encoder().fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Encoder(target="numbers").fit(x, y).target_type_ == "numbers"
        assert Encoder(target="classes").fit(x, y).target_type_ == "classes"
        Encoder().fit(x, y > 7)
        Encoder().fit(x, (y > 7).astype(kind))
        Encoder().fit(x, y.astype(str))


def test_dates_are_named_with_a_way_out() -> None:
    days = pd.to_datetime(np.arange(4), unit="D")
    for frame in (pd.DataFrame({"d": days}), pd.DataFrame({"d": days - days[0]})):
        for columns in (["d"], "all"):
            with pytest.raises(TypeError, match=r"column 'd' of type .*; of a date give the number of days, or its text"):
                Encoder(columns).fit(frame, Y)
    of_objects = pd.DataFrame({"d": [day.date() for day in days]})
    with pytest.raises(TypeError, match=r"of type date, in column 'd'; allowed: .*; of a date give the number of days"):
        Encoder(["d"]).fit(of_objects, Y)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"d": pyarrow.array(of_objects["d"]), "t": ["a", "b", "a", "b"]})
    with pytest.raises(TypeError, match="X has .*date.* column 'd'"):
        Encoder(["t"]).fit(table, Y)


def test_early_stopping_as_the_page_shows_it() -> None:
    frame, y, _ = make_table(1200)
    train, held_out = frame.iloc[:900], frame.iloc[900:]
    labels = (y > 2).astype(int)
    encoder = Encoder(ENCODED)
    model = xgb.XGBClassifier(tree_method="gpu_hist", gpu_backend="host", n_estimators=200, early_stopping_rounds=5)
    model.fit(
        encoder.fit_transform(train, labels[:900]), labels[:900],
        eval_set=[(encoder.transform(held_out), labels[900:])], verbose=False,
    )  # fmt: skip
    assert model.best_iteration < 199
    assert model.predict_proba(encoder.transform(held_out)).shape == (300, 2)


def test_more_combinations_than_memory_are_refused() -> None:
    with pytest.raises(MemoryError, match=r"combinations is '4': 66,018,450 sets of columns.* bytes; free are"):
        Encoder(combinations=4).fit(np.zeros((2000, 200)), np.arange(2000) % 2)


def test_a_fit_that_fails_leaves_the_encoder_as_it_was() -> None:
    encoder = Encoder(combinations=2).fit(X, Y)
    before = encoder.transform(X)
    with pytest.raises(ValueError, match="y has 1 class"):
        encoder.fit(X[:, :1], [1, 1, 1, 1])
    with pytest.raises(TypeError, match="which is not encoded"):
        encoder.set_params(columns=[0], combinations=1).fit_transform(np.array([["a", "b"]] * 4), Y)
    assert np.array_equal(encoder.set_params(columns="auto").transform(X), before)


def test_parameters_set_after_fit_change_nothing_until_the_next() -> None:
    encoder = Encoder(statistic=("mean", "frequency")).fit(X, Y)
    before = encoder.transform(X)
    encoder.set_params(statistic="mean", prior_weight=9.0, keep_codes=True)
    assert np.array_equal(encoder.transform(X), before) and len(encoder.get_feature_names_out()) == before.shape[1]
    assert encoder.fit(X, Y).transform(X).shape == (4, 4)


def test_parameters_may_be_arrays(tmp_path: Any) -> None:
    y = np.array([0.5, 1.5, 3.0, 4.0])
    lists = dict(columns=[0, 1], combinations=[[0, 1]], statistic=["mean", "borders"], borders=[1.0, 2.0], prior=[0.25])
    expected = Encoder(**lists).fit_transform(X, y)
    arrays = Encoder(**{name: np.array(value) for name, value in lists.items()})
    assert np.array_equal(arrays.fit_transform(X, y), expected)
    assert np.array_equal(Encoder(**{**lists, "columns": range(2)}).fit_transform(X, y), expected)
    for encoder in (arrays, Encoder(columns=range(2)).fit(X, y)):
        encoder.save(tmp_path / "e.json")
        assert Encoder.load(tmp_path / "e.json").columns == [0, 1]


def test_names_of_near_borders_differ() -> None:
    y = np.array([1000000.0, 1000001.0, 1000002.5, 1000003.0])
    encoder = Encoder(["a"], statistic="borders", borders=2).fit(pd.DataFrame({"a": [1, 1, 2, 2]}), y)
    assert list(encoder.get_feature_names_out()) == [f"a__above_{border}" for border in encoder.borders_]
    assert len(set(encoder.get_feature_names_out())) == 2


def test_the_missing_gpu_is_named() -> None:
    if "cuda" in xgboost_gpu.build_info()["backends"]:
        pytest.skip("there is a GPU")
    message = "gpu_backend is 'cuda', which is not possible here: .*; possible: host"
    with pytest.raises(xgb.core.XGBoostError, match=message):
        Encoder(gpu_backend="cuda").fit(X, Y)


def test_infinite_numbers_are_categories_in_files_too(tmp_path: Any) -> None:
    x = np.array([[np.inf], [-np.inf], [0.5], [np.inf]])
    encoder = Encoder().fit(x, Y)
    encoder.save(tmp_path / "e.json")
    assert np.array_equal(Encoder.load(tmp_path / "e.json").transform(x), encoder.transform(x))


def test_many_columns_are_searched_by_what_is_used_together() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, (6000, 14))
    y = (x[:, 11] % 2) ^ (x[:, 5] > 3) ^ (rng.random(6000) < 0.1)
    found = Encoder(combinations="auto", most_combinations=2).fit(x, y).combinations_
    assert any({5, 11} <= set(columns) for columns in found)


def test_orders_of_given_rows_are_one() -> None:
    with pytest.raises(ValueError, match="permutations is 2 and order is 'given'; allowed: 1, or order='random'"):
        Encoder(order="given").expand(X, Y, permutations=2)
    with pytest.raises(ValueError, match="permutations is '0'; allowed: 1 or more"):
        Encoder().expand(X, Y, permutations=0)
