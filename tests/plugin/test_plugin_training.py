"""A boosting round: predictions that stock code sees, gradients that are refused, forests, classes, objectives."""

import numpy as np
import pytest
import xgboost as xgb

from helpers import booster, make_regression, trees

HOST = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 3}


@pytest.fixture
def data(regression):
    return xgb.DMatrix(*regression)


def recomputed(model, matrix):
    """Margins from the trees alone: a copy has no cached predictions."""
    return model.copy().predict(matrix, output_margin=True)


OBJECTIVES = {
    "squared": {},
    "forest": {"num_parallel_tree": 4, "subsample": 0.6, "colsample_bynode": 0.5},
    "logistic": {"objective": "binary:logistic"},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "forest of classes": {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2, "subsample": 0.7},
    "absolute": {"objective": "reg:absoluteerror"},
    "absolute, sampled": {"objective": "reg:absoluteerror", "subsample": 0.5},
    "poisson": {"objective": "count:poisson"},
    "ranking": {"objective": "rank:pairwise"},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "dart of classes": {"booster": "dart", "rate_drop": 0.5, "objective": "multi:softprob", "num_class": 3},
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_cached_predictions_are_those_of_the_trees(regression, name):
    params = {**HOST, **OBJECTIVES[name], "seed": 1}
    values, label = regression
    if name not in ("squared", "forest", "absolute", "absolute, sampled", "dart"):
        label = np.digitize(label, np.quantile(label, [0.4, 0.7])).astype(np.float32)
        label = np.minimum(label, 1) if name == "logistic" else label
    matrix = xgb.DMatrix(values, label, group=[100, 150, 50] if name == "ranking" else None)
    model = xgb.Booster(params, [matrix])
    for i in range(4):
        model.update(matrix, i)
        # Leaves are added to the cache tree by tree in single precision, and so does the predictor: equal bits. With
        # the exception of several trees a round, where both come from the predictor.
        np.testing.assert_array_equal(model.predict(matrix, output_margin=True), recomputed(model, matrix))
    classes = params.get("num_class", 1)
    assert len(model.get_dump()) == 4 * classes * params.get("num_parallel_tree", 1)


def test_absolute_error_learns_as_in_hist(regression):
    """Leaves become medians, for which XGBoost asks our updater which rows are in which leaf."""
    matrix = xgb.DMatrix(*regression)
    error = {}
    for method in ("hist", "gpu_hist"):
        result = {}
        params = {**HOST, "tree_method": method, "objective": "reg:absoluteerror"}
        xgb.train(params, matrix, 20, evals=[(matrix, "train")], evals_result=result, verbose_eval=False)
        error[method] = result["train"]["mae"]
    assert error["gpu_hist"][-1] < 0.5 * error["gpu_hist"][0]
    # The first tree has the same gradients and, with fewer distinct values than bins, the same candidates to split at.
    assert error["gpu_hist"][0] == pytest.approx(error["hist"][0], rel=1e-5)


def test_forest_shares_the_learning_rate(data):
    one, four = (booster({**HOST, "num_parallel_tree": n}, data, 1) for n in (1, 4))
    # Without sampling all four are the same tree, each with a quarter of the weight.
    np.testing.assert_allclose(four.predict(data), one.predict(data), rtol=1e-6)


def test_trees_of_a_forest_and_classes_are_sampled_differently(regression):
    values, label = regression
    matrix = xgb.DMatrix(values, label > np.median(label))
    params = {**HOST, "num_parallel_tree": 3, "subsample": 0.5, "objective": "multi:softprob", "num_class": 2}
    dumps = booster(params, matrix, 2).get_dump(with_stats=True)
    assert len(set(dumps)) == len(dumps) == 12


@pytest.mark.parametrize("per_iteration", [False, True])
def test_seed_decides(data, per_iteration):
    params = {**HOST, "subsample": 0.5, "colsample_bytree": 0.6, "seed_per_iteration": per_iteration}
    first, again, other = (trees(xgb.train({**params, "seed": s}, data, 3)) for s in (1, 1, 2))
    assert first == again != other


def squared_error(margins, matrix):
    return margins - matrix.get_label(), np.ones_like(margins)


def test_custom_objective_is_the_built_in_one(data):
    custom = xgb.train(HOST, data, 5, obj=squared_error)
    assert trees(custom)["model"]["trees"] == trees(xgb.train(HOST, data, 5))["model"]["trees"]


@pytest.mark.parametrize("order", ["boost", "predict part, boost", "predict, boost"])
def test_boosting_on_gradients_without_up_to_date_predictions(data, order):
    """Predictions cached from fewer trees than the model has must not be taken for current ones."""
    model = xgb.Booster(HOST, [data])
    rng = np.random.default_rng(0)
    for _ in range(4):
        if order == "predict part, boost" and model.num_boosted_rounds() > 1:
            model.predict(data, iteration_range=(0, 1))
        if order == "predict, boost":
            model.predict(data)
        gradient = rng.normal(size=data.num_row())
        model.boost(data, gradient, np.ones_like(gradient))
    np.testing.assert_array_equal(model.predict(data, output_margin=True), recomputed(model, data))


def test_custom_metric_sees_the_truth(data):
    seen = []

    def metric(margins, matrix):
        seen.append(margins.copy())
        return "mean", float(margins.mean())

    model = xgb.train(HOST, data, 3, evals=[(data, "train")], custom_metric=metric, verbose_eval=False)
    for rounds, margins in enumerate(seen, start=1):
        np.testing.assert_array_equal(margins, model.predict(data, iteration_range=(0, rounds)))
    assert len(seen) == 3


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["gradient", "hessian"])
@pytest.mark.parametrize("classes", [1, 3])
def test_gradients_that_are_not_finite(regression, wrong, part, classes):
    values, label = regression
    matrix = xgb.DMatrix(values, label)
    params = {**HOST, "objective": "multi:softprob", "num_class": 3} if classes == 3 else HOST

    def gradients(bad_row):
        rng = np.random.default_rng(0)
        gradient = rng.normal(size=(len(label), classes)).astype(np.float32)
        hessian = np.ones_like(gradient)
        if bad_row is not None:  # in the last class, after those before it have their trees
            (gradient if part == "gradient" else hessian)[bad_row, classes - 1] = wrong
        return gradient.ravel(), hessian.ravel()

    model, undisturbed = (xgb.Booster(params, [matrix]) for _ in range(2))
    for b in (model, undisturbed):
        b.boost(matrix, *gradients(None))
    margins = model.predict(matrix, output_margin=True)
    with pytest.raises(xgb.core.XGBoostError, match=rf"(?s)row 137\b.*{str(wrong)}"):
        model.boost(matrix, *gradients(137))
    assert trees(model) == trees(undisturbed)
    np.testing.assert_array_equal(model.predict(matrix, output_margin=True), margins)
    for b in (model, undisturbed):
        b.boost(matrix, *gradients(None))
    assert trees(model) == trees(undisturbed)
    np.testing.assert_array_equal(model.predict(matrix, output_margin=True), recomputed(model, matrix))


def test_a_round_that_fails_leaves_true_predictions(regression, monkeypatch):
    """An error in the middle of a round: the wrong size is found before, the wrong number of columns by stock code."""
    values, label = regression
    matrix = xgb.DMatrix(values, label)
    model = booster(HOST, matrix, 2)
    margins = model.predict(matrix)
    narrow = xgb.DMatrix(values[:, :2], label)
    with pytest.raises(xgb.core.XGBoostError, match="Number of columns"):
        model.boost(narrow, label, np.ones_like(label))
    with pytest.raises(xgb.core.XGBoostError, match="size"):
        model.boost(matrix, label[:-1], np.ones_like(label[:-1]))
    np.testing.assert_array_equal(model.predict(matrix), margins)
    model.update(matrix, 2)
    assert trees(model) == trees(booster(HOST, matrix, 3))
    np.testing.assert_array_equal(model.predict(matrix, output_margin=True), recomputed(model, matrix))


def test_early_stopping(data):
    values, label = make_regression(seed=9)
    held_out = xgb.DMatrix(values, label)
    model = xgb.train({**HOST, "eta": 1.0}, data, 200, evals=[(held_out, "test")], early_stopping_rounds=3,
                      verbose_eval=False)  # fmt: skip
    assert model.best_iteration + 4 == model.num_boosted_rounds() < 200


def test_statistics_of_the_trees_add_up(data):
    model = booster({**HOST, "max_depth": 4}, data, 1)
    frame = model.trees_to_dataframe().set_index("ID")
    inner = frame[frame["Feature"] != "Leaf"]
    assert frame.loc["0-0", "Cover"] == data.num_row()
    for _, node in inner.iterrows():
        children = frame.loc[node["Yes"], "Cover"] + frame.loc[node["No"], "Cover"]
        assert children == node["Cover"]  # whole numbers far below 2**24
        assert node["Gain"] > 0
