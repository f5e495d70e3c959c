"""Every kind of matrix that a stock XGBoost offers, and telling one matrix from another."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import xgboost as xgb

from helpers import booster, make_regression, trees

HOST = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 3}


class Batches(xgb.DataIter):
    """Hands over a matrix in `count` pieces."""

    def __init__(self, values, label, count, cache=None, **info):
        self.pieces = list(zip(np.array_split(values, count), np.array_split(label, count)))
        self.info = {name: np.array_split(value, count) for name, value in info.items()}
        self.next_piece = 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data):
        if self.next_piece == len(self.pieces):
            return 0
        values, label = self.pieces[self.next_piece]
        info = {name: parts[self.next_piece] for name, parts in self.info.items()}
        input_data(data=values, label=label, **info)
        self.next_piece += 1
        return 1

    def reset(self):
        self.next_piece = 0


def test_forms_of_one_matrix_give_one_model(regression, tmp_path):
    values, label = regression
    rows = [" ".join(f"{j}:{v!r}" for j, v in enumerate(map(float, row)) if v == v) for row in values]
    text = "\n".join(f"{float(y)!r} {row}" for y, row in zip(label, rows))
    (tmp_path / "data.libsvm").write_text(text + "\n")
    sparse = scipy.sparse.csr_matrix(np.nan_to_num(values))  # no value is 0, so only what is missing is left out
    forms = {
        "dense": xgb.DMatrix(values, label),
        "float64": xgb.DMatrix(values.astype(np.float64), label),
        "csr": xgb.DMatrix(sparse, label),
        "csc": xgb.DMatrix(sparse.tocsc(), label),
        "libsvm": xgb.DMatrix(f"{tmp_path}/data.libsvm?indexing_mode=0"),
        "external memory": xgb.DMatrix(Batches(values, label, 7, cache=str(tmp_path / "cache"))),
        "external memory, one page": xgb.DMatrix(Batches(values, label, 1, cache=str(tmp_path / "cache1"))),
    }
    models = {name: trees(booster({**HOST, "subsample": 0.8}, matrix, 4)) for name, matrix in forms.items()}
    for name, model in models.items():
        assert model == models["dense"], name


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("bins", [256, 16])
def test_quantile_matrix(regression, pieces, bins):
    values, label = regression
    quantile = xgb.QuantileDMatrix(Batches(values, label, pieces), max_bin=bins)
    params = {**HOST, "max_bin": bins, "subsample": 0.8}
    model = booster(params, quantile, 4)
    np.testing.assert_array_equal(model.predict(quantile), model.copy().predict(quantile))
    # Rows fall where their bins fall, in the binned and in the raw matrix alike.
    np.testing.assert_array_equal(model.predict(quantile), model.predict(xgb.DMatrix(values)))
    if bins == 256:  # fewer distinct values than bins in each column would give the same cuts
        error = ((model.predict(quantile) - label) ** 2).mean()
        raw_error = ((booster(params, xgb.DMatrix(values, label), 4).predict(quantile) - label) ** 2).mean()
        assert error < label.var()
        assert raw_error < label.var()


def test_quantile_matrix_of_batches_has_stocks_thresholds(regression):
    """What splits it are the cuts that it was made with, which are those of stock `hist`."""
    values, label = regression
    quantile = xgb.QuantileDMatrix(Batches(values, label, 2), max_bin=16)
    model = booster({**HOST, "max_bin": 16}, quantile, 6)
    cuts = {(j, v) for j, column in enumerate(quantile.get_data().T) for v in column.data.tolist()}
    used = {
        (feature, np.float32(threshold).item())
        for tree in trees(model)["model"]["trees"]
        for feature, threshold, left in zip(tree["split_indices"], tree["split_conditions"], tree["left_children"])
        if left != -1
    }
    assert len(used) > 5
    assert used <= cuts


def test_scikit_learn(regression):
    sklearn = pytest.importorskip("sklearn.base")
    values, label = regression
    model = xgb.XGBRegressor(**HOST, n_estimators=5).fit(values, label)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(values), model.predict(values))
    same = sklearn.clone(model).fit(values, label)
    np.testing.assert_array_equal(same.predict(values), model.predict(values))
    classes = np.digitize(label, [0, 2])
    classifier = xgb.XGBClassifier(**HOST, n_estimators=10).fit(values, classes)
    assert classifier.score(values, classes) > 0.8
    forest = xgb.XGBRFRegressor(**HOST, n_estimators=8).fit(values, label)
    assert forest.get_booster().num_boosted_rounds() == 1


def test_weights_move_the_cuts(regression):
    """Weights are used for quantiles as in `hist`: rows of weight 0 have no say in where cuts are."""
    values = np.concatenate([np.linspace(0, 1, 100), np.linspace(10, 11, 100)])[:, None].astype(np.float32)
    label = np.arange(200.0)
    weight = np.repeat([1.0, 1e-3], 100)
    params = {**HOST, "max_bin": 8, "max_depth": 6, "min_child_weight": 0, "lambda": 0}
    inside = {}
    for name, w in {"weighted": weight, "plain": None}.items():
        frame = booster(params, xgb.DMatrix(values, label, weight=w), 1).trees_to_dataframe()
        splits = frame["Split"].dropna().to_numpy()
        inside[name] = ((splits > 0) & (splits < 1)).sum()
    assert inside["weighted"] > inside["plain"]


def test_a_weight_per_group_is_the_weight_of_its_rows(regression):
    values, label = regression
    groups = [40, 1, 159, 100]
    weight = np.array([0.5, 2.0, 1.0, 3.0], dtype=np.float32)
    by_group = xgb.DMatrix(values, label)
    by_group.set_group(groups)
    by_group.set_weight(weight)
    by_row = xgb.DMatrix(values, label, weight=np.repeat(weight, groups))
    gradient = np.random.default_rng(0).normal(size=len(label))
    hessian = np.ones_like(gradient)
    models = []
    for matrix in (by_group, by_row):
        models.append(xgb.Booster({**HOST, "max_bin": 8}, [matrix]))
        models[-1].boost(matrix, gradient, hessian)  # gradients given, so weights matter for the cuts alone
    assert trees(models[0]) == trees(models[1])


def test_feature_weights(regression):
    values, label = regression
    matrix = xgb.DMatrix(values, label)
    matrix.set_info(feature_weights=[0, 0, 1, 1, 0])
    model = booster({**HOST, "colsample_bynode": 0.4}, matrix, 5)
    assert set(model.get_score()) == {"f2", "f3"}


@pytest.mark.parametrize("wrong, message", [
    (dict(feature_weights=[1.0, 2.0]), "feature_weights has 2 values; allowed: one for each of 5 columns"),
])  # fmt: skip
def test_what_a_matrix_must_not_have(regression, wrong, message):
    values, label = regression
    matrix = xgb.DMatrix(values, label)
    matrix.set_info(**wrong)
    with pytest.raises(xgb.core.XGBoostError, match=message):
        xgb.train(HOST, matrix, 1)


def test_no_rows():
    empty = xgb.DMatrix(np.zeros((0, 3)), np.zeros(0))
    assert xgb.train(HOST, empty, 1).get_dump() == ["0:leaf=0\n"]


def test_infinite_values_are_refused(regression):
    values, label = regression
    values[17, 2] = np.inf
    with pytest.raises((xgb.core.XGBoostError, ValueError), match="inf"):
        booster(HOST, xgb.DMatrix(values, label, missing=-1.0), 1)


def test_a_new_matrix_at_an_old_address():
    """Matrices of one shape are made and freed so that memory is used again; each has to be seen for what it is."""
    live = xgb.Booster({**HOST, "num_feature": 5})
    reference = None
    for i in range(12):
        values, label = make_regression(rows=64, seed=i % 3)
        matrix = xgb.DMatrix(values, label)
        live.update(matrix, i)
        # The same round by a booster that never saw another matrix.
        fresh = xgb.Booster({**HOST, "num_feature": 5}, model_file=reference)
        fresh.update(matrix, i)
        assert trees(live) == trees(fresh)
        reference = live.save_raw("json")
        del matrix, fresh
        gc.collect()


def test_new_matrices_with_given_gradients():
    """As above by boost(), where nothing but the round itself tells us of the matrix."""
    live = xgb.Booster({**HOST, "num_feature": 5})
    pieces = None
    for i in range(8):
        values, label = make_regression(rows=64, seed=i % 2)
        matrix = xgb.DMatrix(values)
        gradient, hessian = label, np.ones_like(label)
        live.boost(matrix, gradient, hessian)
        fresh = xgb.Booster({**HOST, "num_feature": 5}, model_file=pieces)
        fresh.boost(matrix, gradient, hessian)
        assert trees(live) == trees(fresh)
        pieces = live.save_raw("json")
        del matrix, fresh
        gc.collect()


def test_alternating_matrices_and_bins():
    matrices = [xgb.DMatrix(*make_regression(seed=s)) for s in range(3)]
    live = xgb.Booster(HOST, matrices)
    pieces = None
    for i, (which, bins) in enumerate([(0, 256), (1, 256), (0, 256), (1, 16), (0, 16), (2, 256), (0, 256)]):
        live.set_param({"max_bin": bins})
        live.update(matrices[which], i)
        fresh = xgb.Booster({**HOST, "max_bin": bins}, [matrices[which]], model_file=pieces)
        fresh.update(matrices[which], i)
        assert trees(live) == trees(fresh)
        pieces = live.save_raw("json")


def test_two_boosters_on_one_matrix(regression):
    matrix = xgb.DMatrix(*regression)
    alone = {bins: trees(booster({**HOST, "max_bin": bins}, matrix, 4)) for bins in (256, 8)}
    pair = {bins: xgb.Booster({**HOST, "max_bin": bins}, [matrix]) for bins in (256, 8)}
    for i in range(4):
        for b in pair.values():
            b.update(matrix, i)
    assert {bins: trees(b) for bins, b in pair.items()} == alone


def test_weights_that_change_move_the_cuts(regression):
    values, label = regression
    matrix = xgb.DMatrix(values, label)
    params = {**HOST, "max_bin": 8}
    live = booster(params, matrix, 2)
    matrix.set_weight(np.linspace(0, 5, len(label)))
    live.update(matrix, 2)
    fresh = xgb.DMatrix(values, label, weight=np.linspace(0, 5, len(label)))
    assert trees(live) == trees(xgb.train(params, fresh, 1, xgb_model=booster(params, xgb.DMatrix(values, label), 2)))


def test_memory_of_dead_matrices_is_freed():
    """Matrices of 5 MB in bins alone, one after the other: memory must not grow by what each left behind."""
    program = """
import ctypes, gc, os
ctypes.CDLL(os.environ["XGBGPU_LIBRARY"])
import numpy as np, xgboost as xgb
live = xgb.Booster({"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 1, "num_feature": 50})
rng = np.random.default_rng(0)
for i in range(16):
    values = rng.integers(0, 200, size=(100_000, 50)).astype(np.float32)
    matrix = xgb.DMatrix(values, values[:, 0])
    live.update(matrix, i)
    del matrix, values
    gc.collect()
    print(int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""
    # Large blocks go back to the system when they are freed: glibc else keeps 40 MB of them from some round on.
    settings = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=settings)
    sizes = [int(line) for line in done.stdout.split()]
    assert len(sizes) == 16
    # What one round needs is in sizes[3] already; one of the twelve matrices since then would be 5 MB of bins.
    assert sizes[-1] - sizes[3] < 5e6


def ranked(groups, weights, rows=400):
    random = np.random.default_rng(5)
    matrix = xgb.DMatrix(random.normal(size=(rows, 4)), random.normal(size=rows))
    matrix.set_group(groups)
    matrix.set_weight(weights)
    return matrix


@pytest.mark.parametrize("groups", [[100], [600], [100, 200], [200, 400]], ids=str)
def test_group_sizes_that_do_not_cover_the_rows(groups):
    matrix = ranked(groups, np.ones(len(groups)))
    model = xgb.Booster(HOST, [matrix])
    with pytest.raises(xgb.core.XGBoostError, match=rf"groups have {sum(groups)} rows together, but the matrix has 400; allowed: groups"):
        model.boost(matrix, np.ones(400), np.ones(400))


def test_groups_changed_on_a_living_matrix():
    gradients = np.random.default_rng(6).normal(size=400), np.ones(400)
    params = {**HOST, "max_bin": 8}

    def grown_on(matrix):
        model = xgb.Booster(params, [matrix])
        model.boost(matrix, *gradients)
        return trees(model)

    matrix = ranked([200, 200], [1.0, 50.0])
    before = grown_on(matrix)
    matrix.set_group([20, 380])
    after = grown_on(matrix)
    assert after == grown_on(ranked([20, 380], [1.0, 50.0]))
    assert after != before
