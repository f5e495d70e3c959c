"""One model: a function of data, parameters and seed. Not of threads, runs, processes, or the order of rows."""

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import (
    BACKEND,
    LIBRARY,
    METHOD,
    OURS,
    assert_same_trees,
    make_data,
    only_ours,
    params,
    raw,
    run_python,
    train,
    trees_of,
)

X, Y = make_data(3000, 8, seed=6, missing=0.1)
CLASSES = np.digitize(Y, [-0.6, 0.0, 0.6]).astype(np.float32)
FEW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)

# Where there are more values than bins, stock's sketch depends on the order of rows; exact quantiles do not.
BINS = st.sampled_from([4, 256, 1000] if OURS else [1000])

CASES = {
    "squared error": (Y, {}),
    "sampled": (Y, dict(subsample=0.4, colsample_bytree=0.7, colsample_bylevel=0.7, colsample_bynode=0.7)),
    "lossguide": (Y, dict(grow_policy="lossguide", max_leaves=40, max_depth=0)),
    **({"symmetric": (Y, dict(grow_policy="symmetric", max_depth=7, subsample=0.7))} if OURS else {}),
    "forest": (Y, dict(num_parallel_tree=3, subsample=0.5)),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=4, max_depth=4)),
    "dart": (Y, dict(booster="dart", rate_drop=0.3, seed=5)),
    "absolute error": (Y, dict(objective="reg:absoluteerror")),
    "few bins": (Y, dict(max_bin=5, max_depth=10)),
    "constraints": (Y, dict(monotone_constraints=(1, 0, -1), interaction_constraints="[[0, 1, 2], [2, 3, 4]]")),
    "by gradients": (Y, dict(sampling_method="gradient_based", subsample=0.3)),
    "goss": (Y, dict(sampling_method="goss", colsample_bytree=0.7)),
    "many bins": (Y, dict(max_bin=4000, gamma=0.1)),
}


def without_samples(how: dict) -> dict:
    """Stock's depend on what ran before."""
    return {name: value for name, value in how.items() if not name.startswith(("subsample", "sampling", "colsample"))}


@only_ours
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("case", CASES)
def test_any_number_of_threads_gives_the_same_bytes(case: str, matrix) -> None:
    label, how = CASES[case]
    bins = {"max_bin": how["max_bin"]} if matrix is xgb.QuantileDMatrix and "max_bin" in how else {}
    models = []
    for threads in (1, 2, 3, 7):
        data = matrix(X, label, nthread=threads, **bins)
        booster = train(data, 4, nthread=threads, **how)
        models.append((raw(booster), booster.predict(data).tobytes()))
    assert len(set(models)) == 1


@only_ours
def test_threads_may_change_during_a_training() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(subsample=0.5), [data])
    for number in range(6):
        booster.set_param({"nthread": 1 + number % 3})
        booster.update(data, number)
    assert_same_trees(booster, train(xgb.DMatrix(X, Y), 6, subsample=0.5))


@pytest.mark.parametrize("case", CASES)
def test_a_second_run_gives_the_same_bytes(case: str) -> None:
    label, how = CASES[case]
    how = how if OURS else without_samples(how)
    runs = {raw(train(xgb.DMatrix(X, label), 4, **how)) for _ in range(3)}
    assert len(runs) == 1


@only_ours
def test_a_new_process_gives_the_same_bytes(tmp_path) -> None:
    np.savez(tmp_path / "data.npz", x=X, y=Y)
    code = f"""
import hashlib, sys, numpy as np, xgboost as xgb
data = np.load(sys.argv[1])
settings = {{"tree_method": {METHOD!r}, "gpu_backend": {BACKEND!r}, "subsample": 0.5, "colsample_bynode": 0.5}}
settings["nthread"] = int(sys.argv[2])
booster = xgb.train(settings, xgb.DMatrix(data["x"], data["y"]), 4)
print(hashlib.sha256(booster.save_raw("ubj")).hexdigest())
"""
    here = hashlib.sha256(raw(train(xgb.DMatrix(X, Y), 4, subsample=0.5, colsample_bynode=0.5))).hexdigest()
    for threads in ("1", "5"):
        assert run_python(code, str(tmp_path / "data.npz"), threads, library=LIBRARY).stdout.split()[-1] == here


@pytest.mark.parametrize("case", [name for name in CASES if name != "dart"])
@pytest.mark.parametrize("stop", [1, 3])
def test_save_load_and_go_on_equals_no_interruption(case: str, stop: int, tmp_path) -> None:
    # DART's own random numbers come from stock code, and start again in a new booster.
    label, how = CASES[case]
    how = how if OURS else without_samples(how)
    whole = train(xgb.DMatrix(X, label), 5, **how)
    train(xgb.DMatrix(X, label), stop, **how).save_model(str(tmp_path / "model.json"))
    rest = xgb.train(params(**how), xgb.DMatrix(X, label), 5 - stop, xgb_model=str(tmp_path / "model.json"))
    assert raw(rest) == raw(whole)


def dyadic_labels(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Multiples of 1/4: the gradients of the first round, and their sums in any order, are exact."""
    return (rng.integers(-40, 40, size=rows) / 4).astype(np.float32)


@FEW
@given(seed=st.integers(0, 2**20), rows=st.integers(1, 600), missing=st.sampled_from([0.0, 0.3]), bins=BINS)
def test_the_order_of_rows_means_nothing_to_one_tree(seed: int, rows: int, missing: float, bins: int) -> None:
    rng = np.random.default_rng(seed)
    x, _ = make_data(rows, 4, seed=seed, missing=missing)
    y, order = dyadic_labels(rng, rows), rng.permutation(rows)
    one = train(xgb.DMatrix(x, y), 1, max_bin=bins)
    assert_same_trees(one, train(xgb.DMatrix(x[order], y[order]), 1, max_bin=bins))


@only_ours
@pytest.mark.parametrize("how", [{}, dict(grow_policy="lossguide", max_leaves=20), dict(colsample_bynode=0.5)], ids=str)
def test_the_order_of_rows_means_nothing_to_a_training(how: dict) -> None:
    # A row's gradient depends on its own label and predictions; sums of gradients are integers; 3,000 rows are far
    # below where gradients are rounded by row number. So even here nothing may differ.
    order = np.random.default_rng(0).permutation(3000)
    one = train(xgb.DMatrix(X, Y), 6, **how)
    assert_same_trees(one, train(xgb.DMatrix(X[order], Y[order]), 6, **how))


@FEW
@given(seed=st.integers(0, 2**20), rows=st.integers(1, 300), missing=st.sampled_from([0.0, 0.3]))
def test_rows_given_twice_are_rows_of_weight_two(seed: int, rows: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    x, _ = make_data(rows, 4, seed=seed, missing=missing, levels=30)  # a bin for each value, with weights or without
    y = dyadic_labels(rng, rows)
    twice = rng.integers(1, 4, size=rows)
    repeated, weighted = np.repeat(np.arange(rows), twice), xgb.DMatrix(x, y, weight=twice)
    repeated_rows = xgb.DMatrix(x[repeated], y[repeated])
    assert_same_trees(train(repeated_rows, 1, base_score=0.5), train(weighted, 1, base_score=0.5))


@only_ours
def test_rows_given_twice_in_a_whole_training() -> None:
    x, y = make_data(800, 5, levels=40, missing=0.1)
    twice = np.random.default_rng(1).integers(1, 4, size=800)
    repeated = np.repeat(np.arange(800), twice)
    one = train(xgb.DMatrix(x[repeated], y[repeated]), 5)
    other = train(xgb.DMatrix(x, y, weight=twice), 5)
    # weight · gradient is rounded to float32 once, where the sum of equal gradients is exact: 2^-24 of each.
    np.testing.assert_allclose(one.predict(xgb.DMatrix(x)), other.predict(xgb.DMatrix(x)), atol=5 * 8 * 2.0**-22)
    for a, b in zip(trees_of(one), trees_of(other)):
        assert np.array_equal(a.hess, b.hess) and np.array_equal(a.feature, b.feature)


def test_weight_zero_is_a_row_that_is_not_there() -> None:
    weight = (np.arange(3000) % 3 > 0).astype(np.float32)
    there = weight > 0
    x = np.clip(np.round(X * 2), -3, 3)
    one = train(xgb.DMatrix(x, Y, weight=weight), 4)
    # Rows without weight still own the ends of bins, at most; here every value is elsewhere too.
    for column in x.T:
        assert set(column[~np.isnan(column)]) == set(column[there & ~np.isnan(column)])
    assert_same_trees(one, train(xgb.DMatrix(x[there], Y[there]), 4))


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("case", ["squared error", "lossguide", "classes", "few bins"])
def test_sparse_equals_dense_with_missing_values(kind: str, case: str) -> None:
    label, how = CASES[case]
    present = ~np.isnan(X)
    coo = sp.coo_matrix((X[present], np.nonzero(present)), shape=X.shape)
    assert_same_trees(train(xgb.DMatrix(coo.asformat(kind), label), 3, **how), train(xgb.DMatrix(X, label), 3, **how))


def test_very_sparse_equals_dense_with_missing_values() -> None:
    matrix = sp.random(2000, 50, density=0.03, random_state=3, format="csr", dtype=np.float32)
    dense = np.full(matrix.shape, np.nan, dtype=np.float32)
    dense[matrix.nonzero()] = matrix[matrix.nonzero()]
    label = np.nan_to_num(dense[:, 0]) + np.nan_to_num(dense[:, 1])
    assert_same_trees(train(xgb.DMatrix(matrix, label), 4), train(xgb.DMatrix(dense, label), 4))


def test_columns_may_change_places() -> None:
    order = np.array([3, 0, 7, 1, 6, 2, 5, 4])
    how = dict(max_depth=4, min_child_weight=50)  # with so many rows in a node no two columns split it equally well
    one, other = trees_of(train(xgb.DMatrix(X, Y), 3, **how)), trees_of(train(xgb.DMatrix(X[:, order], Y), 3, **how))
    for a, b in zip(one, other):
        splits = a.splits
        assert np.array_equal(splits, b.splits)
        assert np.array_equal(order[b.feature[splits]], a.feature[splits]), (
            order[b.feature[splits]],
            a.feature[splits],
        )
        assert np.array_equal(a.threshold, b.threshold)


@only_ours
def test_sampling_depends_on_the_round_and_not_on_what_ran_before() -> None:
    data = xgb.DMatrix(X, Y)
    expected = raw(train(data, 3, subsample=0.5, colsample_bylevel=0.5, seed=3))
    np.random.seed(1)
    train(data, 2, subsample=0.1, seed=99)
    xgb.train({"tree_method": "exact", "subsample": 0.5}, data, 2)
    assert raw(train(data, 3, subsample=0.5, colsample_bylevel=0.5, seed=3)) == expected
    trees = trees_of(train(data, 6, subsample=0.5, eta=0.0))
    assert len({tree.hess[0] for tree in trees}) > 1  # each round draws anew, though the gradients stay


@only_ours
def test_a_larger_matrix_with_rounded_gradients() -> None:
    # Above 2^16 rows gradients may be rounded by (seed, tree, row): still the same with any number of threads.
    rng = np.random.default_rng(2)
    x = rng.integers(0, 50, size=(300_000, 4)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] / 500 + rng.normal(size=300_000)).astype(np.float32)
    data = xgb.DMatrix(x, y)
    models = {raw(train(data, 2, nthread=threads, max_depth=5)) for threads in (1, 2, 5)}
    assert len(models) == 1
