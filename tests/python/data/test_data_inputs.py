"""Every way in which data reaches a training: the same numbers must give the same trees, whatever holds them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost as xgb
from sklearn.datasets import dump_svmlight_file
from support import (
    OURS,
    assert_same_trees,
    binary_labels,
    few_values,
    fresh,
    make_data,
    only_ours,
    params,
    sampled,
    train,
    train_stock,
    trees_of,
)

X, Y = make_data(700, 5, missing=0.15)
FULL, _ = make_data(700, 5)
WEIGHTS = np.random.default_rng(1).integers(1, 5, size=700).astype(np.float32)


def stored(matrix: np.ndarray, kind: str):
    """CSR or CSC whose stored values are those of `matrix` that are not NaN."""
    rows, columns = np.nonzero(~np.isnan(matrix))
    coo = sp.coo_matrix((matrix[rows, columns], (rows, columns)), shape=matrix.shape)
    return coo.asformat(kind)


@pytest.mark.parametrize(
    "form", ["float64", "fortran", "strided", "list", "frame", "csr", "csc", "csr unsorted", "series of blocks"]
)
def test_containers_of_the_same_numbers(form: str) -> None:
    expected = train(xgb.DMatrix(X, Y), 4)
    if form == "float64":
        matrix = X.astype(np.float64)
    elif form == "fortran":
        matrix = np.asfortranarray(X)
    elif form == "strided":
        matrix = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    elif form == "list":
        matrix = X.tolist()
    elif form == "frame":
        matrix = pd.DataFrame(X, columns=[f"f{c}" for c in range(5)])
    elif form == "series of blocks":
        matrix = pd.DataFrame({f"f{c}": X[:, c].astype(np.float64 if c % 2 else np.float32) for c in range(5)})
    else:
        matrix = stored(X, form[:3])
        if form == "csr unsorted":
            for row in range(matrix.shape[0]):
                part = slice(matrix.indptr[row], matrix.indptr[row + 1])
                matrix.indices[part], matrix.data[part] = (
                    matrix.indices[part][::-1].copy(),
                    matrix.data[part][::-1].copy(),
                )
            matrix.has_sorted_indices = False
    assert_same_trees(train(xgb.DMatrix(matrix, Y), 4), expected)


@only_ours
@pytest.mark.parametrize("column, unsorted", [(7, False), (-1, False), (7, True)])
def test_columns_of_a_csr_matrix_that_are_not_there(column: int, unsorted: bool) -> None:
    """At which stock XGBoost ends the process, for bins."""
    matrix = sp.csr_matrix((np.ones(4, np.float32), [1, 0, 0, 1] if unsorted else [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    matrix.indices[3] = column
    with pytest.raises(xgb.core.XGBoostError, match=f"Value 3 of a CSR matrix has the column {column}; allowed: 0 to 1"):
        xgb.QuantileDMatrix(matrix, [0, 1])
    matrix.indices[3] = 1
    for row, end in [(0, 5), (0, -1), (1, 1), (1, 5)]:
        matrix.indptr[:] = [0, 2, 4]
        matrix.indptr[row + 1] = end
        with pytest.raises(xgb.core.XGBoostError, match=f"Row {row} of a CSR matrix ends at value {end} \\(indptr\\); allowed: ends that never decrease"):
            xgb.QuantileDMatrix(matrix, [0, 1])
    assert xgb.QuantileDMatrix(sp.csr_matrix(X), Y).num_row() == len(X)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, bool, np.float16])
def test_types_of_numbers(dtype) -> None:
    small = (np.round(FULL * 3) > 0) if dtype is bool else np.round(np.abs(FULL) * 3)
    assert_same_trees(train(xgb.DMatrix(small.astype(dtype), Y), 3), train(xgb.DMatrix(small.astype(np.float32), Y), 3))


@pytest.mark.parametrize("marker", [-999.0, 0.0, np.nan])
def test_the_marker_of_missing_values(marker: float) -> None:
    matrix = np.where(np.isnan(X), np.float32(marker), X)
    assert_same_trees(train(xgb.DMatrix(matrix, Y, missing=marker), 4), train(xgb.DMatrix(X, Y), 4))


def test_libsvm_text(tmp_path) -> None:
    path = str(tmp_path / "train.txt")
    dump_svmlight_file(np.nan_to_num(X, nan=0.0), Y, path)  # zeros are not written: they are missing
    expected = train(xgb.DMatrix(np.where(np.isnan(X), 0, X), Y, missing=0.0), 4, max_depth=4)
    found = train(xgb.DMatrix(path + "?format=libsvm"), 4, max_depth=4)
    # The file's decimals read back to the float they came from, or to its neighbour.
    for ours, theirs in zip(trees_of(found), trees_of(expected)):
        assert np.array_equal(ours.feature, theirs.feature)
        # Cuts are such numbers; of leaves, each gradient of 4 rounds differs by as much of numbers up to 8.
        np.testing.assert_allclose(ours.threshold, theirs.threshold, rtol=2.0**-23, atol=4 * 8 * 2.0**-24)


def test_stored_zeros_are_values_and_absent_ones_are_not() -> None:
    column = np.array([0, 0, 0, 1, 1, 1] * 20, dtype=np.float32)[:, None]
    label = np.array([5, 5, 5, 1, 1, 1] * 20, dtype=np.float32)
    dense = train(xgb.DMatrix(column, label), 1, max_depth=1)
    explicit = sp.csr_matrix((column.ravel(), np.zeros(120, dtype=int), np.arange(121)), shape=(120, 1))
    assert_same_trees(train(xgb.DMatrix(explicit, label), 1, max_depth=1), dense)
    sparse = train(xgb.DMatrix(sp.csr_matrix(column), label), 1, max_depth=1)
    assert np.array_equal(sparse.predict(xgb.DMatrix(sp.csr_matrix(column))), dense.predict(xgb.DMatrix(column)))
    # In the sparse matrix the split is between present and missing: a dense zero is present.
    zero = sparse.predict(xgb.DMatrix(np.zeros((1, 1)), missing=np.nan))
    assert zero == sparse.predict(xgb.DMatrix(np.ones((1, 1))))


def test_weights_count_as_stocks_do() -> None:
    x = few_values(X)
    data = xgb.DMatrix(x, Y, weight=WEIGHTS)
    ours, stock = trees_of(train(data, 1, max_depth=4))[0], trees_of(train_stock(data, 1, max_depth=4))[0]
    assert np.array_equal(ours.hess, stock.hess)
    assert ours.hess[0] == WEIGHTS.sum()
    plain = trees_of(train(xgb.DMatrix(x, Y), 1, max_depth=4))[0]
    assert not plain.same_as(ours)


def test_weights_given_later_and_changed_between_rounds() -> None:
    data = xgb.DMatrix(X, Y)
    live = xgb.Booster(params(max_depth=3), [data])
    live.update(data, 0)
    data.set_weight(WEIGHTS)
    live.update(data, 1)
    data.set_weight(np.ones(700))
    live.update(data, 2)
    root = [tree.hess[0] for tree in trees_of(live)]
    assert root == [700, WEIGHTS.sum(), 700]


def test_labels_changed_between_rounds() -> None:
    data = xgb.DMatrix(X, Y)
    live = train(data, 3, max_depth=3)
    data.set_label(-Y)
    live.update(data, 3)
    other = xgb.train(params(max_depth=3), xgb.DMatrix(X, -Y), 1, xgb_model=live[:3])
    assert_same_trees(live, other)


def test_base_margin_is_where_boosting_begins() -> None:
    margin = np.linspace(-1, 1, 700).astype(np.float32)
    data = xgb.DMatrix(X, Y, base_margin=margin)
    booster = train(data, 4, max_depth=3)
    # Squared error sees only the residual, if float subtraction gives it exactly: base_score 0 and labels y - margin
    # differ from it by one rounding of the label, 2^-24 of |y| + |margin| < 4. So do gradients, leaves and, in each of
    # four rounds, as many roundings of a leaf and a prediction.
    residual = train(xgb.DMatrix(X, Y - margin), 4, max_depth=3, base_score=0.0)
    added, expected = booster.predict(data) - margin, residual.predict(xgb.DMatrix(X))
    np.testing.assert_allclose(added, expected, rtol=0, atol=3 * 4 * 4 * 2.0**-24)
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X, base_margin=margin)))


def test_groups_and_query_ids_are_the_same() -> None:
    sizes = np.array([100, 250, 50, 300])
    relevance = np.digitize(Y, np.quantile(Y, [0.5, 0.8])).astype(np.float32)
    by_group, by_id = xgb.DMatrix(X, relevance), xgb.DMatrix(X, relevance, qid=np.repeat(np.arange(4), sizes))
    by_group.set_group(sizes)
    for objective in ("rank:pairwise", "rank:ndcg", "rank:map"):
        label = (relevance > 0).astype(np.float32) if objective == "rank:map" else relevance
        by_group.set_label(label)
        by_id.set_label(label)
        settings = dict(objective=objective, eval_metric="ndcg", seed=1, nthread=1)
        first = [train(matrix, 1, **settings) for matrix in (by_group, by_id)]
        assert_same_trees(*first)
    ranked = train(by_group, 20, objective="rank:pairwise", max_depth=4)
    order = np.argsort(ranked.predict(by_group)[:100])
    assert relevance[:100][order[-30:]].mean() > relevance[:100].mean() + 0.3


def test_slice_of_a_dmatrix() -> None:
    chosen = np.random.default_rng(2).permutation(700)[:300]
    whole = xgb.DMatrix(X, Y, weight=WEIGHTS)
    part, direct = whole.slice(chosen), xgb.DMatrix(X[chosen], Y[chosen], weight=WEIGHTS[chosen])
    assert_same_trees(train(part, 4), train(direct, 4))


def test_slice_of_a_dmatrix_with_categories_and_margins() -> None:
    rng = np.random.default_rng(4)
    chosen = rng.permutation(700)[:300]
    frame = pd.DataFrame({"town": pd.Categorical(rng.choice(list("abcdefgh"), 700)), "size": X[:, 0]})
    margins = rng.normal(size=700).astype(np.float32)
    whole = xgb.DMatrix(frame, Y, base_margin=margins, enable_categorical=True)
    direct = xgb.DMatrix(frame.iloc[chosen], Y[chosen], base_margin=margins[chosen], enable_categorical=True)
    part = whole.slice(chosen)
    assert part.feature_types == ["c", "float"]
    how = dict(max_depth=4, **sampled(subsample=0.7))
    assert_same_trees(train(part, 4, **how), train(direct, 4, **how))


def test_nullable_types_of_pandas() -> None:
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 30, 400).astype(float)
    numbers[rng.random(400) < 0.2] = np.nan
    truths = np.where(np.isnan(numbers), np.nan, numbers % 2)
    label = np.nan_to_num(numbers * (numbers % 3))
    frame = pd.DataFrame(
        {
            "whole": pd.array(numbers, dtype="Int64"),
            "small": pd.array(numbers, dtype="Int16"),
            "real": pd.array(numbers / 4, dtype="Float64"),
            "truth": pd.array(truths, dtype="boolean"),
        }
    )
    plain = np.stack([numbers, numbers, numbers / 4, truths], axis=1).astype(np.float32)
    expected = train(xgb.DMatrix(plain, label), 4)
    for matrix in (xgb.DMatrix, xgb.QuantileDMatrix):
        data = matrix(frame, label)
        assert np.array_equal(train(data, 4).predict(data), expected.predict(xgb.DMatrix(plain)))
    assert_same_trees(train(xgb.DMatrix(frame, label), 4), expected)


def test_one_dmatrix_trained_with_different_numbers_of_bins() -> None:
    data = xgb.DMatrix(FULL, Y)
    for bins in (256, 4, 64, 4, 256, 2):
        assert_same_trees(train(data, 2, max_bin=bins), train(xgb.DMatrix(FULL, Y), 2, max_bin=bins))


def test_two_boosters_on_one_dmatrix_in_turns() -> None:
    data = xgb.DMatrix(X, Y)
    settings = [params(max_depth=2), params(max_depth=5, max_bin=16, **sampled(subsample=0.7))]
    boosters = [xgb.Booster(each, [data]) for each in settings]
    for number in range(5):
        for booster in boosters:
            booster.update(data, number)
    for booster, each in zip(boosters, settings):
        assert_same_trees(booster, xgb.train(each, xgb.DMatrix(X, Y), 5))
        assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))


def test_one_booster_on_two_dmatrices_in_turns() -> None:
    first, second = xgb.DMatrix(X[:350], Y[:350]), xgb.DMatrix(X[350:], Y[350:])
    booster = xgb.Booster(params(max_depth=4), [first, second])
    model = None
    for number, matrix in enumerate([first, second, second, first, second]):
        booster.update(matrix, number)
        part = slice(0, 350) if matrix is first else slice(350, 700)
        model = xgb.train(params(max_depth=4), xgb.DMatrix(X[part], Y[part]), 1, xgb_model=model)
    assert_same_trees(booster, model)
    for matrix, part in ((first, X[:350]), (second, X[350:])):
        assert np.array_equal(booster.predict(matrix), fresh(booster).predict(xgb.DMatrix(part)))


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
def test_dmatrices_that_die_and_are_born_at_the_same_address(matrix) -> None:
    """A booster must know a matrix by more than its address and shape: these have both in common."""
    rng = np.random.default_rng(5)
    live = train(matrix(FULL[:64, :3], Y[:64]), 1, max_depth=3, eta=0.5)
    addresses = []
    for number in range(1, 400):
        if number >= 60 and len(set(addresses)) < len(addresses):
            break
        x, y = rng.normal(size=(64, 3)).astype(np.float32), rng.normal(size=64).astype(np.float32)
        alone = fresh(live, **params(max_depth=3, eta=0.5))
        data = matrix(x, y)
        live.update(data, number)
        addresses.append(data.handle.value)
        in_cache = live.predict(data)
        del data
        other = matrix(x, y)
        alone.update(other, number)
        assert_same_trees(live, alone)
        # Stock predicts a QuantileDMatrix from its bins, whose ends are no thresholds of trees of other matrices.
        assert np.array_equal(in_cache, fresh(live).predict(xgb.DMatrix(x) if OURS else other))
        del other, alone
    assert len(set(addresses)) < len(addresses)  # else the test has not tested what it is for


def test_a_dmatrix_may_die_before_the_booster_is_used_again() -> None:
    booster = train(xgb.DMatrix(X, Y), 1, max_depth=3)
    for number in range(1, 4):
        booster.update(xgb.DMatrix(X, Y), number)
    assert_same_trees(booster, train(xgb.DMatrix(X, Y), 4, max_depth=3))


def test_feature_types_and_integer_columns() -> None:
    frame = pd.DataFrame({"a": np.arange(100), "b": np.arange(100) % 7 > 2, "c": np.linspace(0, 1, 100)})
    data = xgb.DMatrix(frame, np.arange(100) % 7)
    assert data.feature_types == ["int", "i", "float"]
    booster = train(data, 3)
    assert_same_trees(booster, train(xgb.DMatrix(frame.to_numpy(np.float32), np.arange(100) % 7), 3))
    assert fresh(booster).feature_types == data.feature_types


def test_more_columns_than_the_model_has_splits_on() -> None:
    wide = np.hstack([FULL, np.zeros((700, 3), dtype=np.float32)])
    booster = train(xgb.DMatrix(wide, Y), 3)
    assert booster.num_features() == 8
    assert set(np.concatenate([t.feature[t.splits] for t in trees_of(booster)])) <= set(range(5))


def test_lower_and_upper_bounds_as_labels() -> None:
    low = np.exp(Y).astype(np.float32)
    high = np.where(binary_labels(Y) > 0, low, np.inf).astype(np.float32)
    data = xgb.DMatrix(X)
    data.set_float_info("label_lower_bound", low)
    data.set_float_info("label_upper_bound", high)
    history: dict = {}
    settings = params(objective="survival:aft", eval_metric="aft-nloglik", max_depth=3)
    xgb.train(settings, data, 15, evals=[(data, "t")], evals_result=history, verbose_eval=False)
    losses = history["t"]["aft-nloglik"]
    assert losses[-1] < losses[0]
    assert np.isfinite(losses).all()


def test_several_labels_a_row() -> None:
    both = np.stack([Y, np.cos(Y)], axis=1)
    data = xgb.DMatrix(X, both)
    booster = train(data, 5, max_depth=3)
    assert booster.predict(data).shape == (700, 2)
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))
    for column in range(2):
        alone = train(xgb.DMatrix(X, both[:, column]), 5, max_depth=3)
        for ours, theirs in zip(trees_of(booster)[column::2], trees_of(alone)):
            assert ours.same_as(theirs), ours.difference(theirs)
