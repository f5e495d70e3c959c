"""A booster's predictions of its training data, after any round and in any way, are those of its saved model.

A new booster reads the saved model and predicts a new DMatrix. Predictions are compared bit for bit, since with both a
row's margin is the base score plus one float32 addition per tree, in the order of the trees.
"""

import threading
from typing import Any, Dict

import numpy as np
import pytest
import xgboost as xgb
from support import (
    assert_same_trees,
    binary_labels,
    boost,
    fresh,
    make_data,
    only_ours,
    params,
    sampled,
    train,
    trees_of,
)

X, Y = make_data(500, 5, missing=0.1)
VALID_X, VALID_Y = make_data(200, 5, seed=1, missing=0.1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.2, 0.4, 0.6, 0.8])).astype(np.float32)

CASES = {
    "squared error": (Y, {}),
    "logistic": (binary_labels(Y), dict(objective="binary:logistic")),
    "absolute error": (Y, dict(objective="reg:absoluteerror")),
    "absolute error lossguide": (Y, dict(objective="reg:absoluteerror", grow_policy="lossguide", max_leaves=7)),
    "absolute error sampled": (Y, dict(objective="reg:absoluteerror", subsample=0.5)),
    "poisson": (np.floor(np.exp(Y)), dict(objective="count:poisson")),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=5)),
    "classes hard": (CLASSES, dict(objective="multi:softmax", num_class=5)),
    "forest": (Y, dict(num_parallel_tree=4, subsample=0.7, colsample_bynode=0.6)),
    "forest of classes": (CLASSES, dict(objective="multi:softprob", num_class=5, num_parallel_tree=2)),
    "subsample": (Y, dict(subsample=0.3)),
    "columns": (Y, dict(colsample_bytree=0.5, colsample_bylevel=0.7, colsample_bynode=0.8)),
    "lossguide": (Y, dict(grow_policy="lossguide", max_depth=0, max_leaves=20)),
    "pruned": (Y, dict(gamma=3.0)),
    "stumps": (Y, dict(max_depth=1)),
    "no split": (Y, dict(gamma=1e9)),
    "dart": (Y, dict(booster="dart", rate_drop=0.4, seed=2)),
    "dart of classes": (CLASSES, dict(booster="dart", objective="multi:softprob", num_class=5, rate_drop=0.4, seed=2)),
    "dart forest": (
        Y,
        dict(booster="dart", rate_drop=0.4, num_parallel_tree=3, subsample=0.8, normalize_type="forest"),
    ),
}


def true_prediction(booster: xgb.Booster, x: np.ndarray) -> np.ndarray:
    return fresh(booster).predict(xgb.DMatrix(x))


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("case", CASES)
def test_after_each_round(case: str, matrix) -> None:
    label, settings = CASES[case]
    data, valid = matrix(X, label), xgb.DMatrix(VALID_X)
    booster = xgb.Booster(params(max_depth=4) | settings, [data, valid])
    for number in range(5):
        booster.update(data, number)
        assert np.array_equal(booster.predict(data), true_prediction(booster, X)), f"training data, round {number}"
        assert np.array_equal(booster.predict(valid), true_prediction(booster, VALID_X)), f"other data, round {number}"


@pytest.mark.parametrize("case", CASES)
def test_without_looking_between_rounds(case: str) -> None:
    label, settings = CASES[case]
    data = xgb.DMatrix(X, label)
    booster = xgb.Booster(params(max_depth=4) | settings, [data])
    for number in range(6):
        booster.update(data, number)
    assert np.array_equal(booster.predict(data), true_prediction(booster, X))


@pytest.mark.parametrize("case", [name for name in CASES if "dart" not in name and "hard" not in name])
def test_looking_changes_nothing(case: str) -> None:
    label, settings = CASES[case]
    random = {name: value for name, value in settings.items() if name.startswith(("colsample", "subsample"))}
    certain = {name: value for name, value in settings.items() if name not in random}
    settings = params(max_depth=4) | certain | sampled(**random)
    data, other = xgb.DMatrix(X, label), xgb.DMatrix(X, label)
    watched, alone = xgb.Booster(settings, [data]), xgb.Booster(settings, [other])
    for number in range(5):
        watched.predict(data)
        watched.predict(xgb.DMatrix(VALID_X))
        watched.predict(data, training=True)
        watched.predict(data, pred_leaf=True)
        if number:
            watched.predict(data, iteration_range=(0, 1))
        watched.eval(data)
        watched.save_raw()
        watched.update(data, number)
        alone.update(other, number)
    assert_same_trees(watched, alone)


def logistic(margin: np.ndarray, matrix: xgb.DMatrix):
    chance = 1 / (1 + np.exp(-margin))
    return chance - matrix.get_label(), chance * (1 - chance)


@pytest.mark.parametrize("boosting", ["gbtree", "dart"])
def test_own_objective_by_predict_and_boost(boosting: str) -> None:
    data = xgb.DMatrix(X, binary_labels(Y))
    settings = params(max_depth=4, booster=boosting, **(dict(rate_drop=0.3, seed=1) if boosting == "dart" else {}))
    booster = xgb.Booster(settings, [data])
    for number in range(8):
        margin = booster.predict(data, output_margin=True, training=boosting == "gbtree")
        if number:
            assert np.array_equal(margin, fresh(booster).predict(xgb.DMatrix(X), output_margin=True))
        boost(booster, data, *logistic(margin, data))
    chance = 1 / (1 + np.exp(-booster.predict(data, output_margin=True)))
    assert -np.log(np.where(binary_labels(Y) > 0, chance, 1 - chance)).mean() < 0.4


def test_own_objective_sees_each_round_in_train() -> None:
    data = xgb.DMatrix(X, binary_labels(Y))
    seen = []

    def watch(margin: np.ndarray, matrix: xgb.DMatrix):
        seen.append(margin.copy())
        return logistic(margin, matrix)

    booster = xgb.train(params(max_depth=3), data, 6, obj=watch)
    for number, margin in enumerate(seen):
        expected = true_prediction(booster[:number], X) if number else np.full(500, 0.5, dtype=np.float32)
        assert np.array_equal(margin, expected)


def test_own_metric_sees_each_round() -> None:
    data, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VALID_X, VALID_Y)
    seen = {"t": [], "v": []}

    def watch(prediction: np.ndarray, matrix: xgb.DMatrix):
        seen["t" if matrix is data else "v"].append(prediction.copy())
        return "mean", float(prediction.mean())

    booster = xgb.train(
        params(max_depth=3), data, 5, evals=[(data, "t"), (valid, "v")], custom_metric=watch, verbose_eval=False
    )
    for name, x in (("t", X), ("v", VALID_X)):
        for number, prediction in enumerate(seen[name]):
            assert np.array_equal(prediction, true_prediction(booster[: number + 1], x))


def test_built_in_metrics_see_each_round() -> None:
    label = binary_labels(Y)
    data, history = xgb.DMatrix(X, label), {}
    settings = params(objective="binary:logistic", eval_metric=["logloss", "error"], max_depth=3)
    booster = xgb.train(settings, data, 6, evals=[(data, "t")], evals_result=history, verbose_eval=False)
    for number in range(6):
        chance = true_prediction(booster[: number + 1], X).astype(np.float64)
        loss = -np.log(np.where(label > 0, chance, 1 - chance)).mean()
        # The metric takes logarithms in float32, and history keeps the digits that are printed.
        assert history["t"]["logloss"][number] == pytest.approx(loss, rel=1e-5)
        assert history["t"]["error"][number] == pytest.approx(np.mean((chance > 0.5) != label), abs=1e-7)


def test_gradients_of_all_sorts_in_boost() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(max_depth=3), [data])
    rng = np.random.default_rng(4)
    for scale in (1.0, 1e-6, 1e6, 1e-12, 1.0):
        boost(booster, data, scale * rng.normal(size=500), scale * rng.random(500) + 1.0)
        assert np.array_equal(booster.predict(data), true_prediction(booster, X))
    root = trees_of(booster)[0].hess[0]
    assert 500 < root < 1000


def test_margins_given_by_the_user() -> None:
    margin = np.linspace(-2, 2, 500).astype(np.float32)
    data = xgb.DMatrix(X, binary_labels(Y), base_margin=margin)
    booster = xgb.Booster(params(objective="binary:logistic", max_depth=3), [data])
    for number in range(4):
        booster.update(data, number)
        true = fresh(booster).predict(xgb.DMatrix(X, base_margin=margin))
        assert np.array_equal(booster.predict(data), true)


def test_learning_rate_changed_between_rounds_and_in_both_directions() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(max_depth=3), [data])
    for number, rate in enumerate([0.3, 1.0, 0.0, 0.5, 0.01]):
        booster.set_param({"eta": rate})
        booster.update(data, number)
        assert np.array_equal(booster.predict(data), true_prediction(booster, X))
    assert np.all(trees_of(booster)[2].threshold[trees_of(booster)[2].leaves] == 0)


def assert_goes_on_as_saved(live: xgb.Booster, settings: Dict[str, Any], *parts: tuple) -> None:
    """Asserts that predictions of these matrices (data, rows, labels), and the next rounds, are the saved model's."""
    for data, x, label in parts:
        assert np.array_equal(live.predict(data), true_prediction(live, x))
        again, number = fresh(live), live.num_boosted_rounds()
        for booster, matrix in ((live, data), (again, xgb.DMatrix(x, label))):
            booster.set_param(settings)
            booster.update(matrix, number)
        assert_same_trees(live, again)


@only_ours
@pytest.mark.parametrize("rounds", [3, 5, 8])
@pytest.mark.parametrize("case", ["squared error", "classes", "dart"])
def test_a_loaded_model_replaces_what_was_cached(case: str, rounds: int) -> None:
    """In stock this holds only if the loaded model has fewer rounds than what was cached."""
    label, settings = CASES[case]
    settings = params(max_depth=3) | settings | dict(rate_drop=0)  # a loaded dart drops other trees
    data, valid = xgb.DMatrix(X, label), xgb.DMatrix(VALID_X, label[:200])
    other = xgb.train(settings, xgb.DMatrix(X, label[::-1]), rounds)
    booster = xgb.Booster(settings, [data, valid])
    for number in range(5):
        booster.update(data, number)
    booster.predict(valid)
    booster.load_model(bytearray(other.save_raw("ubj")))
    booster.set_param(settings)  # XGBoost has forgotten the settings
    assert np.array_equal(booster.predict(data), true_prediction(other, X))
    assert_goes_on_as_saved(booster, settings, (valid, VALID_X, label[:200]), (data, X, label))


@only_ours
@pytest.mark.parametrize("change", ["model", "base_score", "base_margin"])
def test_medians_of_what_was_cached(change: str) -> None:
    """Leaves of boost() are medians, from margins that nobody has asked for since the last round."""
    settings = params(max_depth=3, objective="reg:absoluteerror", base_score=1.0)
    data, given = xgb.DMatrix(X, Y), None
    booster = xgb.Booster(settings, [data])
    for number in range(5):
        booster.update(data, number)
    booster.predict(data)
    if change == "model":
        booster.load_model(bytearray(xgb.train(settings, xgb.DMatrix(X, -Y), 5).save_raw("ubj")))
    elif change == "base_score":
        settings["base_score"] = 3.0
    else:
        given = Y / 2
        data.set_base_margin(given)
    booster.set_param(settings)
    again = fresh(booster)
    again.set_param(settings)
    for live, matrix in ((booster, data), (again, xgb.DMatrix(X, Y, base_margin=given))):
        boost(live, matrix, np.sin(np.arange(500.0)), np.ones(500))
    assert_same_trees(booster, again)


@only_ours
def test_what_another_method_began_with_meanwhile() -> None:
    data, settings = xgb.DMatrix(X, Y), params(max_depth=3, base_score=0.5)
    booster = xgb.Booster(settings, [data])
    for number in range(3):
        booster.update(data, number)
    booster.set_param(dict(tree_method="hist", gpu_backend="auto", base_score=2.5))
    booster.predict(data, iteration_range=(0, 1))
    booster.predict(data)
    booster.set_param(settings)
    assert np.array_equal(booster.predict(data), true_prediction(booster, X))


@only_ours
@pytest.mark.parametrize("updater", ["refresh", "prune"])
def test_trees_that_were_changed_replace_what_was_cached(updater: str) -> None:
    settings, update = params(max_depth=3), dict(process_type="update", updater=updater, gamma=20)
    data, other = xgb.DMatrix(X, Y), xgb.DMatrix(VALID_X, 3 * VALID_Y)
    booster = xgb.Booster(settings, [data, other])
    for number in range(4):
        booster.update(data, number)
    before = booster.predict(data)
    booster.set_param(update)
    for number in range(4):
        booster.update(other, number)
    assert not np.array_equal(booster.predict(data), before)
    settings |= dict(process_type="default", updater="grow_gpu_hist", gamma=0)
    assert_goes_on_as_saved(booster, settings, (data, X, Y), (other, VALID_X, 3 * VALID_Y))


@only_ours
@pytest.mark.parametrize("method", ["hist", "exact", "approx"])
@pytest.mark.parametrize("change", ["base_score", "objective", "base_margin"])
def test_another_beginning_than_that_of_another_method(method: str, change: str) -> None:
    parts = [(X, binary_labels(Y)), (VALID_X, binary_labels(VALID_Y))]
    data, other = (xgb.DMatrix(*part) for part in parts)
    booster = xgb.Booster(dict(tree_method=method, objective="binary:hinge", max_depth=3), [data, other])
    booster.update(data, 0)
    booster.predict(other)
    settings = params(max_depth=3, objective="binary:hinge")
    margin = VALID_Y if change == "base_margin" else None
    if change == "base_margin":
        other.set_base_margin(margin)
    elif change == "objective":
        settings["objective"] = "binary:logistic"
    else:
        settings["base_score"] = 2.0
    booster.set_param(settings)
    again = fresh(booster)
    again.set_param(settings)
    assert np.array_equal(booster.predict(other), again.predict(xgb.DMatrix(VALID_X, base_margin=margin)))
    for live, matrix in ((booster, other), (again, xgb.DMatrix(*parts[1], base_margin=margin))):
        live.update(matrix, 1)
    assert_same_trees(booster, again)


@only_ours
@pytest.mark.parametrize("rounds_before", [1, 4])
@pytest.mark.parametrize(
    "settings, change",
    [
        (dict(), dict(base_score=2.5)),
        (dict(objective="binary:hinge"), dict(objective="binary:logistic")),
        (dict(booster="dart"), dict(base_score=2.5)),
        (dict(), dict(base_margin=VALID_Y)),
        (dict(booster="dart"), dict(base_margin=VALID_Y)),
    ],
    ids=["base_score", "objective", "dart", "base_margin", "base_margin of dart"],
)
def test_another_beginning_between_rounds(settings: Dict[str, Any], change: Dict[str, Any], rounds_before: int) -> None:
    """Training goes on as if the model had been saved and loaded. Stock goes on from what it has cached."""
    parts = [(X, binary_labels(Y)), (VALID_X, binary_labels(VALID_Y))]
    data, other = (xgb.DMatrix(*part) for part in parts)
    settings = params(eval_metric="rmse", **settings)
    live = xgb.Booster(settings, [data, other])
    for number, matrix in enumerate([data, other, other, data][:rounds_before]):
        live.update(matrix, number)
    live.eval(other)
    margin = change.get("base_margin")
    change = {name: value for name, value in change.items() if name != "base_margin"}
    if margin is not None:
        other.set_base_margin(margin)
    live.set_param(change)
    asker = threading.Thread(target=lambda: [live.predict(matrix) for matrix in (data, other)])
    asker.start()  # a thread has a cache of its own
    asker.join()
    for number, second in enumerate([True, False, True, True, False, True], start=rounds_before):
        x, label = parts[second]
        again = fresh(live)
        again.set_param({**settings, **change})
        live.update(other if second else data, number)
        again.update(xgb.DMatrix(x, label, base_margin=margin if second else None), number)
        assert_same_trees(live, again)
        assert live.eval(other) == again.eval(xgb.DMatrix(*parts[True], base_margin=margin))


@only_ours
@pytest.mark.parametrize("change", ["margin", "base_score", "objective"])
def test_another_beginning_before_the_first_round(change: str) -> None:
    """A booster without rounds predicts and evaluates what a new matrix gives."""
    data, y = xgb.DMatrix(X, binary_labels(Y)), binary_labels(Y)
    booster = xgb.Booster(params(objective="binary:logistic", base_score=0.5), [data])
    before = booster.predict(data), booster.eval(data)
    margin = np.linspace(-1, 1, len(X)).astype(np.float32)
    if change == "margin":
        data.set_base_margin(margin)
    else:
        booster.set_param({"base_score": 0.9} if change == "base_score" else {"objective": "reg:squarederror"})
    other = xgb.DMatrix(X, y, base_margin=margin if change == "margin" else None)
    assert np.array_equal(booster.predict(data), booster.predict(other))
    assert booster.eval(data) == booster.eval(other)
    if change != "objective":  # 0.5 is the prediction of either, and XGBoost keeps the metric
        assert not np.array_equal(booster.predict(data), before[0]) and booster.eval(data) != before[1]


@only_ours
@pytest.mark.parametrize("grow_policy", ["depthwise", "lossguide", "symmetric"])
@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("weighted", ["half", "no value of a column"])
def test_rows_of_weight_0_lie_where_the_model_sends_them(weighted: str, kind: type, grow_policy: str) -> None:
    """Labels depend on which values are missing, and the extreme values of each column have the weight 0."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(80, 3)).astype(np.float32)
    x[rng.random(x.shape) < 0.5] = np.nan
    weight = (rng.random(80) < 0.5).astype(np.float32)
    x[weight == 0] *= 5
    y = np.isnan(x) @ np.array([3.0, 5.0, 7.0])
    if weighted != "half":
        x[weight != 0, 2] = np.nan

    def errors(margins: np.ndarray, rows: xgb.DMatrix) -> tuple:
        """Gradients of the user's own, in which weights do not count."""
        return np.ravel(margins) - y, np.ones(80)

    how = params(max_depth=3, grow_policy=grow_policy, base_score=0.5)
    data = kind(x, y, weight=weight)
    booster = xgb.train(how, data, 4, obj=errors)
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(x)))
    round_by_round = None
    for _ in range(4):
        round_by_round = xgb.train(how, kind(x, y, weight=weight), 1, obj=errors, xgb_model=round_by_round)
    assert_same_trees(booster, round_by_round)
    assert np.abs(booster.predict(data) - y).mean() < np.abs(y).mean() / 2
