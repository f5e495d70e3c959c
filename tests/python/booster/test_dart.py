"""Dart rounds: margins are weighed leaf columns, trees are dropped by stock code (docs/adr/0015-dart-rounds.md).

Every story is told twice: to our booster, and to one whose second updater, which prunes nothing, leaves margins and
evaluations to stock code. Models, weights of trees and predictions must be equal, bit for bit.
"""

import gc
import json
import pickle
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import (
    FLOAT_EPS,
    binary_labels,
    boost,
    dart_weights,
    fresh,
    make_data,
    only_before,
    only_ours,
    only_since,
    other_method,
    params,
    raw,
    trees_of,
)

ROWS = 3000
X, Y = make_data(ROWS, 6, seed=1, missing=0.1)
VX, VY = make_data(1500, 6, seed=2, missing=0.1)  # more than 1000 rows: on a device, where there is one
SMALL_X, SMALL_Y = make_data(200, 6, seed=3)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)
VCLASSES = np.digitize(VY, np.quantile(Y, [0.3, 0.6])).astype(np.float32)

DROPS: Dict[str, Dict[str, Any]] = {
    "nothing": dict(),
    "a tenth": dict(rate_drop=0.1),
    "half": dict(rate_drop=0.5),
    "all": dict(rate_drop=1.0),
    "one": dict(one_drop=1),
    "often none": dict(rate_drop=0.5, skip_drop=0.5),
    "by weight": dict(rate_drop=0.3, sample_type="weighted", one_drop=1),
    "as a forest": dict(rate_drop=0.3, normalize_type="forest"),
}


def settings_of(stock_margins: bool, **others: Any) -> Dict[str, Any]:
    settings = params(booster="dart", max_depth=3, seed=7) | others
    if stock_margins:
        settings["updater"] = "grow_gpu_hist,prune"
    return settings


class Told:
    """What a story shows: bits, and values of metrics, which stock code and ours sum in different orders."""

    def __init__(self) -> None:
        self.bits: List[bytes] = []
        self.metrics: List[float] = []

    def model(self, booster: xgb.Booster) -> None:
        self.bits.append(raw(booster))

    def values(self, values: np.ndarray) -> None:
        self.bits.append(values.tobytes())

    def evaluation(self, text: str) -> None:
        self.metrics += [float(part.split(":")[1]) for part in text.split("\t")[1:]]


Story = Callable[[Dict[str, Any], Told], None]


def assert_told_alike(story: Story, **settings: Any) -> None:
    told = []
    for stock_margins in (False, True):
        told.append(Told())
        story(settings_of(stock_margins, **settings), told[-1])
    ours, stocks = told
    assert len(ours.bits) == len(stocks.bits) > 0
    for number, (a, b) in enumerate(zip(ours.bits, stocks.bits)):
        assert a == b, f"entry {number}"
    # Each row's loss is rounded to float, by stock code and by ours, and the mean is printed with 6 digits.
    np.testing.assert_allclose(ours.metrics, stocks.metrics, rtol=4 * FLOAT_EPS, atol=2e-6)


def watched_training(settings: Dict[str, Any], told: Told, label: np.ndarray = Y, other_label: np.ndarray = VY) -> None:
    train, valid = xgb.DMatrix(X, label), xgb.DMatrix(VX, other_label)
    small = xgb.DMatrix(SMALL_X, other_label[:200])
    booster = xgb.Booster(settings, [train, valid, small])
    for number in range(12):
        booster.update(train, number)
        told.evaluation(booster.eval_set([(train, "t"), (valid, "v"), (small, "s")], number))
        if number % 3 == 1:
            for data in (train, valid, small):
                told.values(booster.predict(data, output_margin=True))
    told.model(booster)


@only_ours
@pytest.mark.parametrize("drop", DROPS)
def test_rounds_are_those_of_stock_margins(drop: str) -> None:
    assert_told_alike(watched_training, **DROPS[drop])


@only_ours
@pytest.mark.parametrize(
    "case",
    [
        dict(objective="binary:logistic", eval_metric=["logloss", "auc"]),
        dict(num_parallel_tree=3, subsample=0.7),
        dict(grow_policy="lossguide", max_leaves=6),
        dict(objective="count:poisson", eval_metric="poisson-nloglik"),
    ],
    ids=lambda case: ", ".join(case),
)
def test_rounds_of_other_kinds(case: Dict[str, Any]) -> None:
    label, other = (Y, VY) if "objective" not in case else (binary_labels(Y), binary_labels(VY))
    assert_told_alike(lambda settings, told: watched_training(settings, told, label, other), rate_drop=0.4, **case)


@only_ours
@pytest.mark.parametrize("trees", [1, 2])
def test_rounds_of_classes(trees: int) -> None:
    assert_told_alike(
        lambda settings, told: watched_training(settings, told, CLASSES, VCLASSES),
        rate_drop=0.3,
        objective="multi:softprob",
        num_class=3,
        num_parallel_tree=trees,
    )


@only_ours
def test_margins_are_sums_of_columns(tmp_path: Path) -> None:
    """A stage of its own. Stock code, which predicts with all trees, has none."""
    counts = []
    for stock_margins in (False, True):
        file = tmp_path / f"{stock_margins}.json"
        data = xgb.DMatrix(X, Y)
        booster = xgb.Booster(settings_of(stock_margins, rate_drop=0.5, gpu_trace=str(file)), [data])
        for number in range(4):
            booster.update(data, number)
        del booster
        gc.collect()
        counts.append(sum(event["name"] == "margins" for event in json.loads(file.read_text())))
    assert counts[0] > counts[1] > 0


@only_ours
@only_since(303, "a dart is a class of its own before")
def test_a_gbtree_that_drops_trees_for_some_rounds() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)
        booster = xgb.Booster({**settings, "booster": "gbtree"}, [train, valid])
        for number, rate in enumerate([0, 0, 0.5, 0.5, 0.5, 0, 0, 0.3, 0.3, 0]):
            booster.set_param({"rate_drop": rate})
            booster.update(train, number)
            told.evaluation(booster.eval_set([(train, "t"), (valid, "v")], number))
            told.values(booster.predict(valid, output_margin=True))
        told.model(booster)

    assert_told_alike(story)


@only_ours
@only_since(303, "a dart is a class of its own before")
def test_a_loaded_model_with_weights_that_drops_trees_later() -> None:
    """Stock code draws for trees with weights in rounds without drops, too: the later drops show it."""

    def story(settings: Dict[str, Any], told: Told) -> None:
        train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)
        first = xgb.train({**settings, "rate_drop": 0.5}, train, 4)
        booster = xgb.Booster({**settings, "booster": "gbtree"}, [train, valid])
        booster.load_model(first.save_raw("ubj"))
        for number in range(4, 10):
            booster.set_param({"rate_drop": 0.5 if number >= 7 else 0})
            booster.update(train, number)
            told.evaluation(booster.eval_set([(train, "t"), (valid, "v")], number))
            told.values(booster.predict(valid, output_margin=True))
        told.model(booster)
        told.model(booster[2:8])

    assert_told_alike(story)


@only_ours
def test_two_matrices_in_turn() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        one, other = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)
        booster = xgb.Booster(settings, [one, other])
        for number in range(9):
            booster.update((one, other)[number // 2 % 2], number)
            told.evaluation(booster.eval_set([(one, "one"), (other, "other")], number))
        told.values(booster.predict(one))
        told.model(booster)

    assert_told_alike(story, rate_drop=0.3)


@only_ours
def test_margins_of_the_user_may_change() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        train, valid = xgb.DMatrix(X, Y, base_margin=np.sin(Y)), xgb.DMatrix(VX, VY, base_margin=np.cos(VY))
        booster = xgb.Booster(settings, [train, valid])
        for number in range(8):
            if number == 3:
                valid.set_base_margin(np.zeros(len(VY), dtype=np.float32))
            if number == 5:
                train.set_base_margin(np.cos(Y))
            booster.update(train, number)
            told.evaluation(booster.eval_set([(train, "t"), (valid, "v")], number))
        told.values(booster.predict(train))
        told.model(booster)

    assert_told_alike(story, rate_drop=0.3)


@only_ours
def test_training_goes_on() -> None:
    """From a model, a pickle, a copy and a slice: of each, trees that were not grown there have no columns."""

    def story(settings: Dict[str, Any], told: Told) -> None:
        train = xgb.DMatrix(X, Y)
        first = xgb.train(settings, train, 4)
        beginnings = [
            fresh(first),
            pickle.loads(pickle.dumps(first)),
            first.copy(),
            first[:3],
            first,
        ]
        for booster in beginnings:
            booster.set_param(settings)
            for number in range(4, 8):
                booster.update(train, number)
                told.evaluation(booster.eval(train, "t", number))
            told.model(booster)
            told.values(booster.predict(train, iteration_range=(1, 3)))

    assert_told_alike(story, rate_drop=0.4)


@only_ours
def test_rounds_of_another_method_in_between() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)
        booster = xgb.Booster(settings, [train, valid])
        own = settings.get("updater", "grow_gpu_hist")
        for number in range(9):
            of_stock = number in (3, 4)
            backend = {"gpu_backend": "auto" if of_stock else settings["gpu_backend"]}
            booster.set_param({"updater": "grow_quantile_histmaker" if of_stock else own, **backend})
            booster.update(train, number)
            told.evaluation(booster.eval_set([(train, "t"), (valid, "v")], number))
        told.values(booster.predict(train))
        told.model(booster)

    assert_told_alike(story, rate_drop=0.4)


def squared(margins: np.ndarray, data: xgb.DMatrix):
    return margins - data.get_label(), np.ones_like(margins)


@only_ours
def test_objective_of_the_user() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)

        def watch(margins: np.ndarray, data: xgb.DMatrix):
            told.values(margins)
            return squared(margins, data)

        result: Dict[str, Any] = {}
        booster = xgb.train(
            settings, train, 10, obj=watch, evals=[(train, "t"), (valid, "v")], evals_result=result, verbose_eval=False
        )
        told.metrics += result["t"]["rmse"] + result["v"]["rmse"]
        told.model(booster)

    assert_told_alike(story, rate_drop=0.4)


@only_ours
def test_after_a_round_that_failed() -> None:
    def story(settings: Dict[str, Any], told: Told) -> None:
        train = xgb.DMatrix(X, Y)
        booster = xgb.Booster(settings, [train])
        for number in range(8):
            gradient, hessian = squared(booster.predict(train, output_margin=True, training=True), train)
            if number == 4:
                with pytest.raises(xgb.core.XGBoostError, match="row 0 is .grad nan"):
                    boost(booster, train, np.full_like(gradient, np.nan), hessian)
            boost(booster, train, gradient, hessian)
        told.values(booster.predict(train))
        told.model(booster)

    assert_told_alike(story, rate_drop=0.4)


def test_training_predictions_are_without_the_dropped_trees() -> None:
    """Beside a sum of our own: base, then leaf × weight of every tree that is left, each step rounded to float."""
    train = xgb.DMatrix(X, Y)
    booster = xgb.Booster(settings_of(False, rate_drop=0.4, base_score=0.5), [train])
    some_dropped = 0
    for number in range(12):
        before = np.array(dart_weights(booster) if number else [], dtype=np.float32)
        leaves = booster.predict(train, pred_leaf=True).reshape(ROWS, -1).astype(int) if number else None
        trees = trees_of(booster) if number else []
        margins = booster.predict(train, output_margin=True, training=True)
        boost(booster, train, *squared(margins, train))
        dropped = np.flatnonzero(np.array(dart_weights(booster)[:-1], dtype=np.float32) != before)
        some_dropped += len(dropped)
        expected = np.full(ROWS, 0.5, dtype=np.float32)
        for tree in range(number):
            if tree not in dropped:
                expected += trees[tree].threshold[leaves[:, tree]] * before[tree]
        np.testing.assert_array_equal(margins, expected)
    assert some_dropped > 5


@only_ours
@pytest.mark.parametrize(
    "case",
    [dict(tree_method="gpu_exact"), dict(tree_method="gpu_exact", objective="reg:absoluteerror")],
    ids=lambda case: ", ".join(case),
)
def test_margins_are_those_of_the_saved_model(case: Dict[str, Any]) -> None:
    """Without stock margins beside them: exact trees do not go with an updater after ours."""
    train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(VX, VY)
    booster = xgb.Booster(settings_of(False, rate_drop=0.4) | case, [train, valid])
    for number in range(8):
        booster.update(train, number)
        booster.eval_set([(train, "t"), (valid, "v")], number)
    for data, x in ((train, X), (valid, VX)):
        np.testing.assert_array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(x)))
    assert min(dart_weights(booster)) < 1


@only_ours
def test_binned_data() -> None:
    train = xgb.QuantileDMatrix(X, Y)
    valid = xgb.QuantileDMatrix(VX, VY, ref=train)
    booster = xgb.Booster(settings_of(False, rate_drop=0.4), [train, valid])
    for number in range(8):
        booster.update(train, number)
        booster.eval_set([(train, "t"), (valid, "v")], number)
    np.testing.assert_array_equal(booster.predict(train), fresh(booster).predict(xgb.DMatrix(X)))


def test_same_drops_as_stock() -> None:
    """Stock's hist draws random numbers for its trees, too; with all trees or one tree there is nothing to draw."""
    train = xgb.DMatrix(X, Y)
    for drop in (dict(rate_drop=1.0), dict(rate_drop=1.0, normalize_type="forest"), dict()):
        ours = xgb.train(settings_of(False, **drop), train, 8)
        stocks = xgb.train(settings_of(False, **drop) | other_method(tree_method="hist"), train, 8)
        assert dart_weights(ours) == dart_weights(stocks)


#: 3.4 counts the weights of a dart that is updated against the trees that are there again, and ends in an error.
updates_darts = only_before(304, "stock code refuses to update a dart")


@only_since(304, "stock code updates a dart")
@pytest.mark.parametrize("updater", ["refresh", "prune"])
def test_an_update_of_a_dart_is_refused_as_by_stock(updater: str) -> None:
    data = xgb.DMatrix(X, Y)
    update = dict(booster="dart", process_type="update", updater=updater)
    for method in (params(), other_method(tree_method="hist")):
        grown = xgb.train({**settings_of(False, rate_drop=0.5), **method}, data, 3)
        before = raw(grown)
        with pytest.raises(xgb.core.XGBoostError, match=r"weight_drop.size\(\) <= model.trees.size\(\)"):
            xgb.train({**method, **update}, data, 3, xgb_model=grown)
        assert raw(grown) == before


@only_ours
@updates_darts
@pytest.mark.parametrize("updater", ["refresh", "prune"])
@pytest.mark.parametrize("method", ["hist", "gpu_hist"])
def test_a_dart_that_was_updated_is_loaded(method: str, updater: str) -> None:
    """Stock code has a weight for each update beside those of the trees, and keeps them in the model."""
    data = xgb.DMatrix(X, Y)
    grown = params(booster="dart", **({} if method == "gpu_hist" else other_method(tree_method=method)))
    booster = xgb.train({**grown, "rate_drop": 0.5}, data, 3)
    update = dict(booster="dart", process_type="update", updater=updater)
    updated = xgb.train(update, data, 3, xgb_model=booster)
    assert len(dart_weights(updated)) == 6 and updated.num_boosted_rounds() == 3
    again = pickle.loads(pickle.dumps(updated))
    assert again.predict(data).tobytes() == updated.predict(data).tobytes()
    longer = xgb.train({**grown, "process_type": "default"}, data, 2, xgb_model=updated)
    assert longer.num_boosted_rounds() == 5


@only_ours
@updates_darts
@pytest.mark.parametrize("updater", ["refresh", "prune", "refresh,prune"])
@pytest.mark.parametrize(
    "drops",
    [
        dict(rate_drop=0.5),
        dict(rate_drop=0.1, one_drop=1),
        dict(rate_drop=0.5, skip_drop=0.5, normalize_type="forest"),
        dict(rate_drop=0.4, sample_type="weighted"),
        dict(rate_drop=0.5, seed_per_iteration=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("evaluates", [False, True])
def test_an_update_drops_the_trees_that_stock_drops(updater: str, drops: Dict[str, Any], evaluates: bool) -> None:
    """XGBoost's random numbers are one sequence for the process. It begins anew where a booster's seed changes."""
    grown = xgb.train(settings_of(False, rate_drop=0.5, gamma=0.1), xgb.DMatrix(X, Y), 5)
    update = dict(process_type="update", updater=updater, gamma=0.2, seed=8, **drops)
    models = []
    for method in (params(), other_method(tree_method="hist")):
        data, valid = xgb.DMatrix(X, 2 * Y), xgb.DMatrix(VX, VY)
        how = {**settings_of(False), **method, **update}
        evals = [(data, "t"), (valid, "v")] if evaluates else []
        models.append(xgb.train(how, data, 5, xgb_model=grown, evals=evals, verbose_eval=False))
    assert raw(models[0]) == raw(models[1])
    assert dart_weights(models[0])[:5] != dart_weights(grown)


def test_rounds_that_are_not_there() -> None:
    """Stock's dart reads on behind its last tree, which may end the process."""
    data = xgb.DMatrix(SMALL_X, SMALL_Y)
    booster = xgb.train(params(booster="dart", rate_drop=0.3), data, 4)
    before = booster.predict(data)
    for predict in (
        lambda rounds: booster.predict(data, iteration_range=rounds),
        lambda rounds: booster.predict(data, iteration_range=rounds, training=True),
        lambda rounds: booster.inplace_predict(SMALL_X, iteration_range=rounds),
        lambda rounds: fresh(booster).predict(data, iteration_range=rounds),
    ):
        for rounds in ((0, 5), (2, 9)):
            with pytest.raises(xgb.core.XGBoostError, match=f"iteration_range ends at {rounds[1]}; allowed: at most 4|{rounds[1]} vs. 4"):
                predict(rounds)
    assert np.array_equal(booster.predict(data, iteration_range=(0, 4)), before)
