"""The smallest, widest, deepest and strangest data that are still right: they train, with the right result."""

from typing import List, Optional

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import (
    SERIES,
    assert_same_trees,
    fresh,
    make_data,
    only_ours,
    only_since,
    other_method,
    params,
    train,
    train_stock,
    trees_of,
)

SMALLEST_FLOAT = np.float32(1e-45)


def test_one_row() -> None:
    data = xgb.DMatrix(np.array([[1.0, 2.0]]), np.array([4.0]))
    booster = train(data, 3, eta=1.0, reg_lambda=0.0)
    assert all(tree.nodes == 1 for tree in trees_of(booster))
    assert booster.predict(data) == 4


NO_ROWS = {
    "numbers": {},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "best first": {"grow_policy": "lossguide", "max_leaves": 4},
    "samples": {"subsample": 0.5, "colsample_bytree": 0.5},
    "medians": {"objective": "reg:absoluteerror"},
    "ranking": {"objective": "rank:pairwise"},
    "forest": {"num_parallel_tree": 3},
    "no lambda": {"lambda": 0, "min_child_weight": 0},
}
#: What stock code refuses to train on no rows, since the series.
REFUSED = {"classes": 302, "medians": 304}


@only_ours
@pytest.mark.parametrize("name", NO_ROWS)
@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_no_rows_train_as_with_stock(name: str, make) -> None:
    """Every tree is a leaf of 0. What stock code refuses is refused in the same words."""

    def train_on_nothing(settings: dict):
        data, history = make(np.empty((0, 5)), label=np.empty(0)), {}
        evals = [(data, "train")]
        booster = xgb.train(settings, data, 2, evals=evals, evals_result=history, verbose_eval=False)
        return booster.get_dump(), booster.predict(xgb.DMatrix(np.ones((2, 5)))).tolist(), history

    def refusal(settings: dict) -> str:
        with pytest.raises(xgb.core.XGBoostError, match="Check failed: ") as caught:
            train_on_nothing(settings)
        return str(caught.value).split("Check failed: ")[1].splitlines()[0]

    if SERIES >= REFUSED.get(name, SERIES + 1):
        assert refusal(params(**NO_ROWS[name])) == refusal({"tree_method": "hist", **NO_ROWS[name]})
        return
    expected = train_on_nothing({"tree_method": "hist", **NO_ROWS[name]})
    assert repr(train_on_nothing(params(**NO_ROWS[name]))) == repr(expected)  # a metric may be NaN


@only_ours  # stock ends the process
@only_since(200, "rank:map is another objective")
@pytest.mark.parametrize("unbiased", [0, 1])
def test_rank_map_of_no_rows(unbiased: int) -> None:
    data = xgb.DMatrix(np.empty((0, 5)), label=np.empty(0))
    booster = xgb.train(params(objective="rank:map", lambdarank_unbiased=unbiased), data, 2)
    assert booster.predict(xgb.DMatrix(np.ones((2, 5)))).tolist() == [0, 0]


@only_ours
@pytest.mark.parametrize("objective", ["rank:map", "rank:ndcg"])
@pytest.mark.parametrize("weights", [None, [2.0, 2.0, 2.0]], ids=["without", "weights"])
def test_a_ranking_group_without_rows_changes_nothing(objective: str, weights: Optional[List[float]]) -> None:
    x, y = make_data(400, 5)

    def model(sizes: List[int], weight: Optional[List[float]]) -> xgb.Booster:
        data = xgb.DMatrix(x, (y > 0).astype(np.float32))
        data.set_group(sizes)
        if weight is not None:
            data.set_weight(weight)
        return xgb.train(params(objective=objective, base_score=0.5, seed=3), data, 3)

    assert_same_trees(model([150, 0, 250], weights), model([150, 250], weights and weights[:2]))


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
@pytest.mark.parametrize("goes_on", [False, True])
@only_since(302, "stock code takes labels between two classes")
def test_labels_between_two_classes_are_refused_as_by_stock(objective: str, goes_on: bool) -> None:
    """Stock code checks labels where it computes gradients: also where it estimates no base score."""
    x, _ = make_data(300, 5)
    y = np.arange(300) % 5 / 2
    for settings in (params(), other_method(tree_method="hist")):
        how = {**settings, "objective": objective, "num_class": 3, "base_score": 0.5}
        before = xgb.train(how, xgb.DMatrix(x, np.floor(y)), 2) if goes_on else None
        with pytest.raises(xgb.core.XGBoostError, match="label must be discrete values in the range of"):
            xgb.train(how, xgb.DMatrix(x, y), 2, xgb_model=before)


@only_ours
@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
def test_a_model_is_continued_on_no_rows(method: str) -> None:
    x, y = make_data(100, 5)
    nothing = xgb.DMatrix(np.empty((0, 5)), label=np.empty(0))
    settings = params(tree_method=method)
    booster = xgb.train(settings, xgb.DMatrix(x, y), 3, evals=[(nothing, "nothing")], verbose_eval=False)
    longer = xgb.train(settings, nothing, 2, xgb_model=booster)
    assert len(longer.get_dump()) == 5
    assert np.array_equal(longer.predict(xgb.DMatrix(x)), booster.predict(xgb.DMatrix(x)))
    assert booster.predict(nothing).size == 0 and booster.predict(nothing, pred_leaf=True).size == 0


def test_two_rows() -> None:
    data = xgb.DMatrix(np.array([[1.0], [2.0]]), np.array([-1.0, 5.0]))
    booster = train(data, 1, eta=1.0, reg_lambda=0.0, min_child_weight=0)
    tree = trees_of(booster)[0]
    assert tree.nodes == 3 and tree.threshold[0] == 2
    assert list(booster.predict(data)) == [-1, 5]


def test_one_column() -> None:
    x, y = make_data(500, 1)
    booster = train(xgb.DMatrix(x, y), 20, max_depth=4)
    # The label is sin(2x) for negative x, and half of x more for positive, with noise of 0.1.
    assert np.sqrt(np.mean((booster.predict(xgb.DMatrix(x)) - y) ** 2)) < 0.15


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("where", ["first", "last", "both"])
def test_columns_without_values(matrix, where: str) -> None:
    x, y = make_data(300, 4)
    for column in {"first": [0], "last": [3], "both": [0, 3]}[where]:
        x[:, column] = np.nan
    booster = train(matrix(x, y), 4)
    used = set(np.concatenate([tree.feature[tree.splits] for tree in trees_of(booster)]))
    assert used and all(not np.isnan(x[:, column]).all() for column in used)
    assert np.isfinite(booster.predict(xgb.DMatrix(x))).all()


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
def test_nothing_but_missing_values(matrix) -> None:
    y = np.arange(10, dtype=np.float32)
    booster = train(matrix(np.full((10, 3), np.nan), y), 2, eta=1.0, reg_lambda=0.0)
    assert all(tree.nodes == 1 for tree in trees_of(booster))
    assert np.all(booster.predict(xgb.DMatrix(np.full((10, 3), np.nan))) == 4.5)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -7.5, 1e30, -1e30, 1e-40])
def test_constant_columns(value: float) -> None:
    x, y = make_data(300, 3)
    x[:, 1] = value
    booster = train(xgb.DMatrix(x, y), 4)
    assert 1 not in np.concatenate([tree.feature[tree.splits] for tree in trees_of(booster)])
    alone = train(xgb.DMatrix(x[:, 1:2], y), 2)
    assert all(tree.nodes == 1 for tree in trees_of(alone))


def test_a_constant_column_with_missing_values_still_splits() -> None:
    x = np.full((40, 1), 3.0, dtype=np.float32)
    x[::2] = np.nan
    y = np.where(np.isnan(x[:, 0]), 0.0, 1.0)
    booster = train(xgb.DMatrix(x, y), 1, eta=1.0, reg_lambda=0.0)
    assert np.array_equal(booster.predict(xgb.DMatrix(x)), y)


def test_all_labels_equal() -> None:
    x, _ = make_data(300, 4)
    booster = train(xgb.DMatrix(x, np.full(300, 0.5)), 3)
    assert all(tree.nodes == 1 for tree in trees_of(booster))
    assert np.all(booster.predict(xgb.DMatrix(x)) == 0.5)
    given = {"base_score": 0.5} if SERIES == 300 else {}  # XGBoost 3.0 refuses its own estimate of 0 or 1
    for label in (0.0, 1.0):
        one_class = train(xgb.DMatrix(x, np.full(300, label)), 10, objective="binary:logistic", **given)
        assert np.all(np.abs(one_class.predict(xgb.DMatrix(x)) - label) < 0.1)


def test_all_weights_zero() -> None:
    x, y = make_data(100, 3)
    booster = train(xgb.DMatrix(x, y, weight=np.zeros(100)), 3, base_score=0.5)
    assert all(tree.nodes == 1 for tree in trees_of(booster))
    assert np.all(booster.predict(xgb.DMatrix(x)) == 0.5)


@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1e10, 1e30])
def test_weights_of_any_size(scale: float) -> None:
    # With penalties off, only ratios of weights count; powers of two keep each product exact.
    x, y = make_data(200, 3, levels=20)
    factor = np.float32(2.0 ** np.round(np.log2(scale)))
    how = dict(reg_lambda=0.0, min_child_weight=0.0, max_depth=3, gamma=0.0)
    plain, scaled = (train(xgb.DMatrix(x, y, weight=np.full(200, w)), 1, **how) for w in (np.float32(1), factor))
    if scale == 1e10:
        assert np.array_equal(scaled.predict(xgb.DMatrix(x)), plain.predict(xgb.DMatrix(x)))
    else:  # gains scale with the weights: below 1e-6 there is no split, and squares of sums leave float32's range
        assert np.isfinite(scaled.predict(xgb.DMatrix(x))).all()


def test_negative_zero_is_zero() -> None:
    x = np.array([-1, -0.0, 0.0, 1] * 30, dtype=np.float32)[:, None]
    y = np.array([0, 1, 1, 2] * 30, dtype=np.float32)
    booster = train(xgb.DMatrix(x, y), 10, eta=0.5, reg_lambda=0.0)
    low, zero, other_zero, high = booster.predict(xgb.DMatrix(x[:4]))
    assert zero == other_zero
    assert low < zero < high
    assert_same_trees(booster, train(xgb.DMatrix(np.abs(x) * np.sign(x), y), 10, eta=0.5, reg_lambda=0.0))


def test_values_below_the_smallest_normal_float() -> None:
    x = (np.arange(60) % 6 * SMALLEST_FLOAT).astype(np.float32)[:, None]
    y = (np.arange(60) % 6 > 2).astype(np.float32)
    booster = train(xgb.DMatrix(x, y), 1, eta=1.0, max_depth=1, reg_lambda=0.0, base_score=0.0)
    assert_same_trees(booster, train_stock(xgb.DMatrix(x, y), 1, eta=1.0, max_depth=1, reg_lambda=0.0, base_score=0.0))


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1e20, 1e38])
def test_values_of_any_size(scale: float) -> None:
    x, y = make_data(300, 2, levels=20)
    data = xgb.DMatrix((x.astype(np.float64) / 10 * scale).astype(np.float32), y)
    booster, plain = train(data, 3), train(xgb.DMatrix(x, y), 3)
    for a, b in zip(trees_of(booster), trees_of(plain)):
        assert np.array_equal(a.feature[a.splits], b.feature[b.splits]) and np.array_equal(a.hess, b.hess)
        assert np.array_equal(a.threshold[a.leaves], b.threshold[b.leaves])


# Four values, 20 rows each, without lambda. Rounds halve what is left until no split gains more than 1e-6: with P the sum
# of what is left below it, P^2 / 15 or P^2 / 20. A value's own is the difference of two such sums, of 20 rows.
SETTLED = (np.sqrt(1e-6 * 15) + np.sqrt(1e-6 * 20)) / 20


def test_the_largest_floats() -> None:
    largest = np.finfo(np.float32).max
    x = np.array([-largest, -1, 1, largest] * 20, dtype=np.float32)[:, None]
    y = np.array([1, 2, 3, 4] * 20, dtype=np.float32)
    booster = train(xgb.DMatrix(x, y), 30, eta=0.5, reg_lambda=0.0)
    assert np.allclose(booster.predict(xgb.DMatrix(x)), y, rtol=0, atol=SETTLED)


@pytest.mark.parametrize("largest", [1.8e38, float(np.finfo(np.float32).max)])
def test_the_largest_floats_in_bins(largest: float) -> None:
    """The end that XGBoost gives the first bin is below the least value, and below all floats."""
    x = np.array([-largest, -largest / 2, 0, largest] * 20, dtype=np.float32)[:, None]
    y = np.array([1, 2, 3, 4] * 20, dtype=np.float32)
    settings = {"eta": 0.5, "reg_lambda": 0.0}
    matrix = xgb.QuantileDMatrix(x, y)
    booster = train(matrix, 30, **settings)
    assert np.allclose(booster.predict(xgb.DMatrix(x)), y, rtol=0, atol=SETTLED)
    assert np.array_equal(booster.predict(matrix), booster.predict(xgb.DMatrix(x)))
    assert_same_trees(booster, train(xgb.QuantileDMatrix(x, y, ref=matrix), 30, **settings))
    model = xgb.XGBRegressor(**params(**settings), n_estimators=30).fit(x, y)
    assert np.allclose(model.predict(x), y, rtol=0, atol=SETTLED)


def test_the_largest_float_beside_missing_values() -> None:
    """Present values go left, missing ones right: nothing but infinity is above all that is present."""
    x = np.array([np.finfo(np.float32).max, 0, np.nan] * 60, dtype=np.float32)[:, None]
    y = np.array([0, 0, 2] * 60, dtype=np.float32)
    model = xgb.XGBRegressor(**params(max_depth=1), n_estimators=40).fit(x, y, eval_set=[(x, y)], verbose=False)
    # The last gain, of 60 rows that are d away from 120, is 40 d^2, hardly less with lambda: at most 1e-6. And each round
    # leaves this part of at most 2.
    settled = np.sqrt(1e-6 / 40) * 61 / 60 + 2 * (1 - 0.3 * 60 / 61) ** 40
    assert "<inf]" in model.get_booster().get_dump()[0]
    assert np.allclose(model.predict(x), y, rtol=0, atol=settled)
    assert np.allclose(model.evals_result()["validation_0"]["rmse"][-1], 0, rtol=0, atol=settled)


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1e6, 1e15])
def test_labels_of_any_size(scale: float) -> None:
    x, y = make_data(500, 4, missing=0.1)
    label = (y * scale).astype(np.float32)
    booster = train(xgb.DMatrix(x, label), 20, base_score=0.0)
    found = booster.predict(xgb.DMatrix(x))
    if scale > 1e-3:
        assert np.sqrt(np.mean((found - label) ** 2.0)) < 0.3 * np.std(label)
    else:  # squares of gradients this small gain less than any split must
        assert np.abs(found).max() <= np.abs(label).max()


def test_rows_without_values() -> None:
    x, y = make_data(400, 4)
    x[::5] = np.nan
    booster = train(xgb.DMatrix(x, y), 4)
    assert len(set(booster.predict(xgb.DMatrix(x))[::5])) == 1
    csr = sp.csr_matrix(np.nan_to_num(x))
    assert csr.getnnz(axis=1).min() == 0
    sparse = train(xgb.DMatrix(csr, y), 4)
    assert np.isfinite(sparse.predict(xgb.DMatrix(csr))).all()


def test_a_million_columns() -> None:
    rng = np.random.default_rng(0)
    rows, columns, each = 100, 1_000_000, 2000
    indices = np.concatenate([rng.choice(columns, each, replace=False) for _ in range(rows)])
    matrix = sp.csr_matrix(
        (np.ones(rows * each, dtype=np.float32), indices, np.arange(rows + 1) * each), shape=(rows, columns)
    )
    label = (np.arange(rows) % 2).astype(np.float32)
    telling = sp.csr_matrix(
        (label[label > 0], (np.flatnonzero(label), np.full(50, 777_777))), shape=(rows, columns), dtype=np.float32
    )
    matrix = matrix + telling
    data = xgb.DMatrix(matrix, label)
    booster = train(data, 2, objective="binary:logistic", max_depth=2)
    assert trees_of(booster)[0].feature[0] == 777_777
    chance = booster.predict(data)
    assert chance[label > 0].min() > chance[label == 0].max()
    assert np.array_equal(chance, fresh(booster).predict(xgb.DMatrix(matrix)))


def test_wide_and_dense() -> None:
    x, y = make_data(200, 3000, seed=5)
    ours, stock = (method(xgb.DMatrix(x, y), 1, max_depth=3) for method in (train, train_stock))
    assert np.array_equal(trees_of(ours)[0].feature, trees_of(stock)[0].feature)
    assert np.array_equal(
        trees_of(ours)[0].threshold[trees_of(ours)[0].splits], trees_of(stock)[0].threshold[trees_of(stock)[0].splits]
    )


def test_as_many_bins_as_can_be_and_more_values() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((80_000, 2)).astype(np.float32)
    y = np.sin(30 * x[:, 0]).astype(np.float32)
    booster = train(xgb.DMatrix(x, y), 5, max_bin=65535, max_depth=8, eta=0.7)
    assert np.sqrt(np.mean((booster.predict(xgb.DMatrix(x)) - y) ** 2)) < 0.1


@pytest.mark.parametrize("bins", [2, 255, 256, 257])
def test_bins_around_the_width_of_a_byte(bins: int) -> None:
    for distinct in (bins - 1, bins, bins + 1):
        x = (np.arange(4 * distinct) % distinct).astype(np.float32)[:, None]
        x = np.vstack([x, [[np.nan]] * 5])
        y = np.sin(np.nan_to_num(x[:, 0], nan=-3.0)).astype(np.float32)
        ours, stock = (method(xgb.DMatrix(x, y), 1, max_bin=bins, max_depth=10) for method in (train, train_stock))
        assert np.array_equal(
            ours.predict(xgb.DMatrix(x), pred_leaf=True), stock.predict(xgb.DMatrix(x), pred_leaf=True)
        )


def test_as_deep_as_the_data_go() -> None:
    # One row after the other is worth more than all that are left: the tree is a chain.
    rows = 60
    x = np.arange(rows, dtype=np.float32)[:, None]
    y = 3.0 ** -np.arange(rows) * 1e12
    how = dict(grow_policy="lossguide", max_depth=0, max_leaves=0, min_child_weight=0, reg_lambda=0.0, base_score=0.0)
    tree = trees_of(train(xgb.DMatrix(x, y), 1, **how))[0]
    assert tree.depth.max() > 25
    limited = trees_of(train(xgb.DMatrix(x, y), 1, **{**how, "max_depth": 20}))[0]
    assert limited.depth.max() == 20


def test_a_leaf_for_every_row() -> None:
    x = np.arange(1000, dtype=np.float32)[:, None]
    y = np.random.default_rng(0).normal(size=1000).astype(np.float32) * 100
    how = dict(grow_policy="lossguide", max_depth=0, max_bin=2000, min_child_weight=0, eta=1.0, reg_lambda=0.0)
    booster = train(xgb.DMatrix(x, y), 1, **how)
    assert len(trees_of(booster)[0].leaves) > 990
    # Two rows stay together if to part them gains 1e-6 or less, which is half of the square of their distance. A mean
    # and its sum with the base score are rounded.
    assert np.allclose(booster.predict(xgb.DMatrix(x)), y, rtol=0, atol=np.sqrt(2e-6) / 2 + 2 * 512 * 2.0**-24)


def test_many_classes() -> None:
    rng = np.random.default_rng(3)
    label = np.arange(1200) % 150
    x = np.stack([label + 0.1 * rng.normal(size=1200), rng.normal(size=1200)], axis=1).astype(np.float32)
    booster = train(xgb.DMatrix(x, label), 2, objective="multi:softmax", num_class=150, eta=1.0)
    assert len(trees_of(booster)) == 300
    assert np.mean(booster.predict(xgb.DMatrix(x)) == label) > 0.8


def test_a_class_without_rows() -> None:
    x, y = make_data(300, 3)
    label = np.where(y > 0, 3, 0)
    booster = train(xgb.DMatrix(x, label), 5, objective="multi:softprob", num_class=5)
    chance = booster.predict(xgb.DMatrix(x))
    assert chance.shape == (300, 5)
    assert set(chance.argmax(axis=1)) == {0, 3}


def test_many_rounds_and_many_trees_a_round() -> None:
    x, y = make_data(80, 3)
    assert train(xgb.DMatrix(x, y), 500, eta=0.05, max_depth=2).num_boosted_rounds() == 500
    forest = train(xgb.DMatrix(x, y), 1, num_parallel_tree=300, max_depth=2, subsample=0.5)
    assert len(trees_of(forest)) == 300


def test_one_row_of_a_million_holds_the_signal() -> None:
    x = np.zeros((200_000, 1), dtype=np.float32)
    x[123_456] = 1
    y = np.zeros(200_000, dtype=np.float32)
    y[123_456] = 1000
    booster = train(xgb.DMatrix(x, y), 1, eta=1.0, reg_lambda=0.0, base_score=0.0)
    assert booster.predict(xgb.DMatrix(np.array([[1.0], [0.0]]))).tolist() == [1000, 0]
