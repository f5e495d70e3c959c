"""Data that do not lie in one DMatrix: external memory, data iterators and QuantileDMatrix."""

import os
from typing import Callable, Optional

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from support import (
    OURS,
    SERIES,
    Batches,
    assert_same_trees,
    fresh,
    make_data,
    only_before,
    only_ours,
    ours_since,
    params,
    raw,
    sampled,
    train,
    train_stock,
    trees_of,
)

X, Y = make_data(900, 6, missing=0.2)
WEIGHTS = np.random.default_rng(1).integers(1, 4, size=900).astype(np.float32)


def paged(tmp_path, x: np.ndarray = X, y: np.ndarray = Y, weights: np.ndarray = None) -> xgb.DMatrix:
    return xgb.DMatrix(Batches(x, y, [1, 200, 500, 501], str(tmp_path / "cache"), weights))


def assert_equal_if_ours(one: xgb.Booster, other: xgb.Booster, x=X) -> None:
    """Ours have the same bits, since quantiles are exact and sums are integers. Stock sketches each batch by itself."""
    if OURS:
        assert_same_trees(one, other)
    else:
        assert np.abs(one.predict(xgb.DMatrix(x)) - other.predict(xgb.DMatrix(x))).mean() < 0.05


def assert_same_splits(ours: xgb.Booster, stock: xgb.Booster) -> None:
    """Asserts the same features and thresholds. A test below is about splits between present and missing values."""
    assert len(trees_of(ours)) == len(trees_of(stock))
    for a, b in zip(trees_of(ours), trees_of(stock)):
        assert np.array_equal(a.feature, b.feature) and np.array_equal(a.hess, b.hess)
        assert np.array_equal(a.categories, b.categories)
        numbers = [node for node in a.splits if a.categories[node] is None]
        assert np.all((a.threshold == b.threshold)[numbers] | (a.threshold == np.finfo(np.float32).max)[numbers])


@pytest.mark.parametrize(
    "settings",
    [
        dict(max_depth=5),
        dict(grow_policy="lossguide", max_leaves=12, max_depth=0),
        dict(**sampled(subsample=0.5, colsample_bytree=0.5), max_depth=4),
        dict(max_bin=16, num_parallel_tree=2),
        dict(monotone_constraints="(1,0,-1)", interaction_constraints="[[0, 1], [1, 2, 3, 4]]"),
        dict(**sampled(sampling_method="gradient_based", subsample=0.3)),
        dict(**sampled(sampling_method="goss")),
    ],
    ids=["plain", "lossguide", "sampled", "forest", "constraints", "gradient_based", "goss"],
)
def test_pages_give_the_model_of_one_matrix(tmp_path, settings: dict) -> None:
    pages = paged(tmp_path)
    booster = train(pages, 4, **settings)
    assert_equal_if_ours(booster, train(xgb.DMatrix(X, Y), 4, **settings))
    assert np.array_equal(booster.predict(pages), fresh(booster).predict(xgb.DMatrix(X)))


@only_ours
def test_where_pages_end_means_nothing(tmp_path) -> None:
    how = dict(subsample=0.5, colsample_bynode=0.7, max_bin=32)
    cuts = [[], [450], [1, 200, 500, 501], list(range(30, 900, 30))]
    matrices = [
        xgb.DMatrix(Batches(X, Y, ends, str(tmp_path / f"cache{number}"), WEIGHTS)) for number, ends in enumerate(cuts)
    ]
    models = {raw(train(pages, 4, **how)) for pages in matrices}
    assert models == {raw(train(xgb.DMatrix(X, Y, weight=WEIGHTS), 4, **how))}


@only_ours
def test_the_order_of_pages_means_nothing_to_trees(tmp_path) -> None:
    """The order of rows does not matter without sampling, which goes by the number of a row."""
    order = np.concatenate([np.arange(first, first + 100) for first in range(800, -1, -100)])
    ends = list(range(100, 900, 100))
    one = xgb.DMatrix(Batches(X, Y, ends, str(tmp_path / "one"), WEIGHTS))
    other = xgb.DMatrix(Batches(X[order], Y[order], ends, str(tmp_path / "other"), WEIGHTS[order]))
    assert_same_trees(train(one, 5, max_bin=32), train(other, 5, max_bin=32))


class Frames(xgb.core.DataIter):
    """Hands over a data frame's rows in batches of 250, with labels and groups."""

    def __init__(self, frame: pd.DataFrame, y: np.ndarray, cache: Optional[str] = None, **fields: np.ndarray) -> None:
        self.frame, self.y, self.fields, self.at = frame, y, fields, 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data: Callable) -> int:
        if self.at >= len(self.y):
            return 0
        rows = slice(self.at, self.at + 250)
        fields = {name: values[rows] for name, values in self.fields.items()}
        input_data(data=self.frame.iloc[rows], label=self.y[rows], **fields)
        self.at += 250
        return 1

    def reset(self) -> None:
        self.at = 0


def frame_of_categories() -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for name, levels in (("a", 3), ("b", 40)):
        codes = pd.qcut(frame[name], levels, labels=False)
        frame[name] = pd.Categorical(codes.map("town {:g}".format, na_action="ignore"))
    return frame


@only_ours  # stock's leaves are wrong by a factor of a hundred where categories come in pages
@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["pages", "QuantileDMatrix"])
def test_categories_in_batches(tmp_path, kind) -> None:
    frame = frame_of_categories()
    both = dict(monotone_constraints=(0, 0, 1), interaction_constraints=[["a", "b"], ["b", "c", "d"]])
    whole = xgb.DMatrix(frame, Y, enable_categorical=True)
    cache = str(tmp_path / "cache") if kind is xgb.DMatrix else None
    parts = kind(Frames(frame, Y, cache), enable_categorical=True)
    assert parts.feature_types == whole.feature_types
    booster = train(parts, 4, **both)
    assert any(one is not None for tree in trees_of(booster) for one in tree.categories)
    if kind is xgb.DMatrix:
        assert_same_trees(booster, train(whole, 4, **both))
    else:  # stock makes the bins of numbers batch by batch, at other places: its trees on the same bins
        assert_same_splits(booster[:1], train_stock(parts, 1, **both))
    assert np.array_equal(booster.predict(parts), fresh(booster).predict(xgb.DMatrix(frame, enable_categorical=True)))


def test_groups_in_batches(tmp_path) -> None:
    """In stock's DMatrix a group ends with its batch, even if the next batch goes on with it."""
    frame, relevance = pd.DataFrame(X), np.digitize(Y, [-0.5, 0.5]).astype(np.float32)
    groups = np.repeat(np.arange(30), 30)
    pages = xgb.DMatrix(Frames(frame, relevance, str(tmp_path / "cache"), qid=groups))
    how = dict(objective="rank:ndcg", eval_metric="ndcg", nthread=1)
    booster = train(pages, 4, **how)
    sizes = np.diff(pages.get_uint_info("group_ptr"))
    assert len(sizes) == 32 and sizes.sum() == 900
    assert_equal_if_ours(booster, train(xgb.DMatrix(frame, relevance, group=sizes), 4, **how), frame)


def test_pages_with_weights(tmp_path) -> None:
    booster = train(paged(tmp_path, weights=WEIGHTS), 4, max_depth=4)
    assert_equal_if_ours(booster, train(xgb.DMatrix(X, Y, weight=WEIGHTS), 4, max_depth=4))
    assert trees_of(booster)[0].hess[0] == WEIGHTS.sum()


@only_before(300, "text files have no cache")
def test_text_file_with_a_cache(tmp_path) -> None:
    path = str(tmp_path / "train.txt")
    dump_svmlight_file(np.nan_to_num(X), Y, path)
    cached = xgb.DMatrix(f"{path}?format=libsvm#{tmp_path / 'cache'}")
    booster = train(cached, 4, max_depth=4)
    assert any(name.startswith("cache") for name in os.listdir(tmp_path))
    assert_equal_if_ours(booster, train(xgb.DMatrix(path + "?format=libsvm"), 4, max_depth=4))
    assert np.array_equal(booster.predict(cached), fresh(booster).predict(xgb.DMatrix(path + "?format=libsvm")))


def test_paged_classes_and_custom_objective(tmp_path) -> None:
    classes = np.digitize(Y, [-0.5, 0.5]).astype(np.float32)
    settings = dict(objective="multi:softprob", num_class=3, max_depth=3)
    booster = train(paged(tmp_path, y=classes), 3, **settings)
    assert_equal_if_ours(booster, train(xgb.DMatrix(X, classes), 3, **settings))


def test_a_paged_booster_is_copied_and_continued(tmp_path) -> None:
    pages = paged(tmp_path)
    whole = train(pages, 5, max_depth=3)
    half = train(pages, 2, max_depth=3)
    assert_same_trees(xgb.train(params(max_depth=3), pages, 3, xgb_model=half.copy()), whole)


@pytest.mark.parametrize("bins", [256, 16])
def test_quantile_matrix_gives_stocks_trees(bins: int) -> None:
    # The bins of batches are stock's own, and sums of gradients are exact or nearly so on both sides: the first tree has the
    # same splits. Later rounds follow rounded predictions; see test_equals_stock.py for what that allows.
    matrix = xgb.QuantileDMatrix(Batches(X, Y, [400]), max_bin=bins)
    ours, stock = train(matrix, 1, max_bin=bins, max_depth=4), train_stock(matrix, 1, max_bin=bins, max_depth=4)
    assert_same_splits(ours, stock)


@pytest.mark.parametrize(
    "settings",
    [
        dict(max_depth=5),
        dict(grow_policy="lossguide", max_leaves=12, max_depth=0),
        dict(**sampled(subsample=0.5, colsample_bynode=0.5), max_depth=4),
        dict(num_parallel_tree=2),
    ],
    ids=["plain", "lossguide", "sampled", "forest"],
)
def test_quantile_matrix_gives_the_trees_of_a_dmatrix(settings: dict) -> None:
    quantile = train(xgb.QuantileDMatrix(X, Y), 4, **settings)
    whole = train(xgb.DMatrix(X, Y), 4, **settings)
    assert_same_trees(quantile, whole)


def test_quantile_matrix_with_weights_and_classes() -> None:
    classes = np.digitize(Y, [-0.5, 0.5]).astype(np.float32)
    settings = dict(objective="multi:softprob", num_class=3, max_depth=3)
    quantile = xgb.QuantileDMatrix(X, classes, weight=WEIGHTS)
    booster = train(quantile, 3, **settings)
    assert_same_trees(booster, train(xgb.DMatrix(X, classes, weight=WEIGHTS), 3, **settings))
    assert np.array_equal(booster.predict(quantile), booster.predict(xgb.DMatrix(X)))


def test_present_or_missing_on_a_quantile_matrix() -> None:
    """The matrix lacks the upper end of its last bin, and so does a split between present and missing values."""
    rng = np.random.default_rng(6)
    x = np.where(rng.random((500, 10)) < 0.3, np.float32(1), np.float32(np.nan))
    y = np.nansum(x[:, :4] * [1, 2, 3, 4], axis=1)
    quantile, whole = train(xgb.QuantileDMatrix(x, y), 5), train(xgb.DMatrix(x, y), 5)
    assert np.array_equal(quantile.predict(xgb.DMatrix(x)), whole.predict(xgb.DMatrix(x)))
    for a, b in zip(trees_of(quantile), trees_of(whole)):
        assert np.array_equal(a.feature, b.feature) and np.array_equal(a.default_left, b.default_left)


def test_quantile_matrix_from_batches() -> None:
    parts = xgb.QuantileDMatrix(Batches(X, Y, [300, 650]))
    booster = train(parts, 4, max_depth=4)
    assert_same_trees(booster, train(parts, 4, max_depth=4))
    assert_same_splits(booster[:1], train_stock(parts, 4, max_depth=4)[:1])


def test_sparse_rows_in_any_order() -> None:
    """scikit-learn's vectorizers make such rows. XGBoost cannot find the columns of their bins in a QuantileDMatrix."""
    rng = np.random.default_rng(8)
    rows = sparse.random(400, 30, density=0.2, format="csr", random_state=4, dtype=np.float32)
    y = np.asarray(rows.sum(axis=1)).ravel() + rng.random(400)
    shuffled = rows[:, rng.permutation(30)]
    ordered = shuffled.sorted_indices()
    assert not shuffled.has_sorted_indices
    whole = train(xgb.QuantileDMatrix(ordered, y), 4, max_depth=4)
    parts = [150, 151, 300]
    in_parts = train(xgb.QuantileDMatrix(Batches(ordered, y, parts)), 4, max_depth=4)
    for matrix, expected in (
        (xgb.QuantileDMatrix(shuffled, y), whole),
        (xgb.QuantileDMatrix(shuffled, y, ref=xgb.QuantileDMatrix(ordered, y)), whole),
        (xgb.QuantileDMatrix(Batches(shuffled, y, parts)), in_parts),
        (xgb.QuantileDMatrix(shuffled.astype(np.float64), y), whole),
    ):
        booster = train(matrix, 4, max_depth=4)
        assert_equal_if_ours(booster, expected, ordered)
        if OURS:  # without us XGBoost reads wrong columns here
            assert np.array_equal(booster.predict(matrix), expected.predict(xgb.DMatrix(ordered)))
    estimator = xgb.XGBRegressor(n_estimators=4, **params(max_depth=4)).fit(shuffled, y)
    assert_equal_if_ours(estimator.get_booster(), whole, ordered)


def test_a_validation_matrix_with_reference_bins() -> None:
    history: dict = {}
    matrix = xgb.QuantileDMatrix(X[:600], Y[:600])
    valid = xgb.QuantileDMatrix(X[600:], Y[600:], ref=matrix)
    booster = xgb.train(params(), matrix, 8, evals=[(valid, "v")], evals_result=history, verbose_eval=False)
    assert np.array_equal(booster.predict(valid), fresh(booster).predict(xgb.DMatrix(X[600:])))
    error = np.sqrt(np.mean((booster.predict(valid) - Y[600:]) ** 2.0))
    assert history["v"]["rmse"][-1] == pytest.approx(error, rel=1e-5)


@ours_since(200, "max_bin of a matrix with reference bins is the reference's")
def test_weights_of_groups_of_a_matrix_with_reference_bins() -> None:
    """Where there are no quantiles to find, XGBoost needs neither a weight for every row nor max_bin."""
    label, groups, weights = (Y > 0).astype(np.float32), [300] * 3, np.array([1.0, 2.0, 3.0])
    first = xgb.QuantileDMatrix(X, label, group=groups, weight=weights)
    second = xgb.QuantileDMatrix(X, label, weight=weights, ref=first, max_bin=0)
    second.set_group(groups)
    settings = dict(objective="rank:pairwise", max_depth=3, max_bin=256)
    assert raw(train(first, 3, **settings)) == raw(train(second, 3, **settings))
    if OURS:  # stock XGBoost ends the process
        with pytest.raises(xgb.core.XGBoostError, match="900 rows and 3 sample weights; allowed: one weight for each row"):
            xgb.QuantileDMatrix(X, label, weight=weights)


def test_training_goes_on_with_a_matrix_of_reference_bins() -> None:
    matrix = xgb.QuantileDMatrix(X[:600], Y[:600])
    more = xgb.QuantileDMatrix(X[600:], Y[600:], ref=matrix)
    booster = train(matrix, 3, max_depth=3)
    booster.update(more, 3)
    assert trees_of(booster)[3].hess[0] == 300
    assert np.array_equal(booster.predict(more), fresh(booster).predict(xgb.DMatrix(X[600:])))


@only_ours
def test_quantile_matrix_with_another_number_of_bins_is_an_error_or_obeys_the_matrix() -> None:
    # The matrix has 16 bins. A training that is asked for 256 must not pretend to have them.
    matrix = xgb.QuantileDMatrix(X, Y, max_bin=16)
    try:
        booster = train(matrix, 3, max_bin=256)
    except xgb.core.XGBoostError as error:
        assert "max_bin" in str(error)
        return
    for feature in range(6):
        used = {float(t.threshold[n]) for t in trees_of(booster) for n in t.splits if t.feature[n] == feature}
        assert len(used) <= 16


@only_ours
@pytest.mark.parametrize("bins", [-(2**31), -1, 0, 2**31])
def test_a_number_of_bins_that_cannot_be(bins: int) -> None:
    words = f"Parameter max_bin is {bins}; allowed: 2 or more, for gpu_hist up to 65535"
    with pytest.raises(xgb.core.XGBoostError, match=words):
        xgb.QuantileDMatrix(X, Y, max_bin=bins)
    if SERIES >= 301:  # estimators make a DMatrix for what stock code calls gpu_hist
        words = f"value {bins} for Parameter max_bin exceed bound .2,65535.|max_bin expect int but value='{bins}'"
    with pytest.raises(xgb.core.XGBoostError, match=words):
        xgb.XGBRegressor(**params(max_bin=bins), n_estimators=1).fit(X, Y)


def test_quantile_matrix_cannot_serve_exact_in_stock() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="QuantileDMatrix"):
        xgb.train({"tree_method": "exact"}, xgb.QuantileDMatrix(X, Y), 1)


def test_sparse_batches(tmp_path) -> None:
    import scipy.sparse as sp

    rng = np.random.default_rng(3)
    matrix = sp.random(800, 60, density=0.05, random_state=1, format="csr", dtype=np.float32)
    label = rng.normal(size=800).astype(np.float32) + 3 * matrix[:, 0].toarray().ravel()
    pages = xgb.DMatrix(Batches(matrix, label, [100, 700], str(tmp_path / "cache")))
    assert_same_trees(train(pages, 3, max_depth=4), train(xgb.DMatrix(matrix, label), 3, max_depth=4))
    assert_same_trees(train(xgb.QuantileDMatrix(matrix, label), 3), train(xgb.DMatrix(matrix, label), 3))


# Stock checks a DMatrix for infinities, and a QuantileDMatrix since 2.0.
REFUSED_SINCE_20 = "Input data contains `inf`"


@only_ours
def test_an_infinity_with_a_bin_of_its_own() -> None:
    few = np.round(X)
    booster = train(xgb.DMatrix(few, Y), 2)
    before = raw(booster)
    few[17, 2] = np.inf
    words = "row 17.*feature 2.*inf" if SERIES < 200 else REFUSED_SINCE_20
    with pytest.raises(xgb.core.XGBoostError, match=words):
        booster.update(xgb.QuantileDMatrix(few, Y), 2)
    assert raw(booster) == before


@only_ours
@pytest.mark.parametrize("value", [np.inf, -np.inf], ids=str)
def test_an_infinity_in_a_bin_with_others(value: float) -> None:
    many = np.arange(300, dtype=np.float32)[:, None]
    many[[7, 250]] = value
    if SERIES >= 200:
        with pytest.raises(xgb.core.XGBoostError, match=REFUSED_SINCE_20):
            xgb.QuantileDMatrix(many, np.arange(300) / 300, max_bin=16)
        return
    matrix = xgb.QuantileDMatrix(many, np.arange(300) / 300, max_bin=16)
    (ours,), (stock,) = trees_of(train(matrix, 1, max_bin=16)), trees_of(train_stock(matrix, 1, max_bin=16))
    assert len(ours.splits) > 0 and np.array_equal(ours.splits, stock.splits)
    assert np.array_equal(ours.threshold[ours.splits], stock.threshold[stock.splits])
    assert np.isfinite(ours.threshold).all()
