"""Margins stay where the booster trains, and whoever looks, at any time, sees the right ones.

Every scenario runs twice: through the functions that the library puts in front of XGBoost's, which let margins stay
behind, and through XGBoost's own, with which every round fills the host's vectors. Models and histories must be equal, bit
for bit. On the host backend both ways are the same; on CUDA (XGBGPU_TEST_BACKEND=cuda) they differ.
"""

import gc
import os
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from round_scenarios import (
    ALL_SEE_NEW_BASES,
    CLASSES,
    FUNCTIONS,
    GROUPS,
    LABEL,
    SCENARIOS,
    VCLASSES,
    VLABEL,
    VWEIGHT,
    VY,
    WEIGHT,
    History,
    V,
    X,
    Y,
    data,
    logistic,
    scenario,
    valid,
    xgboosts_own_functions,
)
from support import BACKEND, LIBRARY, OURS, assert_same_trees, boost, make_data, only_ours, other_method, params, raw, run_python
from xgboost.core import _LIB

CORES = len(os.sched_getaffinity(0))

# Prints how many cores are at work while rounds are on a GPU, once threads of the first rounds spin no more.
CORES_OF_ROUNDS = """
import time
import numpy as np, xgboost as xgb
train = xgb.DMatrix(np.random.default_rng(0).normal(size=(2000, 4)), np.arange(2000) % 3)
settings = {"tree_method": "gpu_hist", "gpu_backend": "cuda", "objective": "multi:softprob", "num_class": 3}
booster = xgb.Booster(settings, [train])
for i in range(55):
    if i == 5:
        time.sleep(0.1)
        cpu, wall = time.process_time(), time.perf_counter()
    booster.update(train, i)
print((time.process_time() - cpu) / (time.perf_counter() - wall))
"""


@only_ours
def test_the_library_stands_in_front() -> None:
    with xgboosts_own_functions():
        own = {name: getattr(_LIB, name) for name in FUNCTIONS}
    for name in FUNCTIONS:
        assert getattr(_LIB, name) is not own[name]


@scenario
def early_stopping(history: History) -> None:
    noise = np.random.default_rng(1).random(len(LABEL)) < 0.3
    train, other = data(np.where(noise, 1 - LABEL, LABEL)), valid()
    booster = xgb.train(
        logistic(eta=1.0, eval_metric=["auc", "logloss"]),
        train,
        60,
        evals=[(other, "valid")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    assert booster.best_iteration < 56
    history.values([booster.best_iteration, booster.best_score])
    history.truth(booster, other, V)
    history.model(booster)


@scenario
def own_objective(history: History) -> None:
    train = data()

    def loss(margins: np.ndarray, matrix: xgb.DMatrix):
        p = 1 / (1 + np.exp(-margins))
        history.values(margins)
        return p - matrix.get_label(), p * (1 - p)

    booster = xgb.train(logistic(), train, 5, obj=loss, evals=[(train, "t"), (valid(), "v")], verbose_eval=False)
    history.model(booster)


@scenario
def own_objective_and_built_in_by_turns(history: History) -> None:
    train = data()
    booster = xgb.Booster(logistic(), [train])
    for i in range(6):
        if i % 2:
            margins = booster.predict(train, output_margin=True, training=True)
            p = 1 / (1 + np.exp(-margins))
            boost(booster, train, (p - LABEL).tolist(), (p * (1 - p)).tolist())
        else:
            booster.update(train, i)
        history.values(booster.eval(train).encode())
    history.truth(booster, train, X)
    history.model(booster)


@scenario
def own_metric(history: History) -> None:
    train, other = data(), valid()

    def metric(predictions: np.ndarray, matrix: xgb.DMatrix):
        history.values(predictions)
        return "mean", float(predictions.mean())

    booster = xgb.train(
        logistic(), train, 4, evals=[(train, "t"), (other, "v")], custom_metric=metric, verbose_eval=False
    )
    history.model(booster)


@scenario
def callback_that_looks(history: History) -> None:
    train, other = data(), valid()

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
            history.truth(model, train, X)
            history.values(model.predict(other, pred_leaf=True))
            return False

    history.model(xgb.train(logistic(), train, 4, evals=[(other, "v")], callbacks=[Look()], verbose_eval=False))


@scenario
def parameters_change(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train])
    changes: List[Dict[str, Any]] = [
        {"eta": 0.1},
        {"max_depth": 2},
        {"objective": "reg:squarederror" if ALL_SEE_NEW_BASES else "reg:logistic"},
        {"objective": "binary:logistic", "scale_pos_weight": 3},
        other_method(tree_method="hist") if OURS else {},
        params(),
        {"subsample": 0.5, "seed": 3} if OURS else {},
        # without reg:absoluteerror, which sets a new base score
        {"objective": "reg:pseudohubererror" if ALL_SEE_NEW_BASES else "reg:logistic"},
        {"objective": "binary:logistic"},
    ]
    for i, change in enumerate(changes):
        booster.set_param(change)
        booster.update(train, 2 * i)
        booster.update(train, 2 * i + 1)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
    history.truth(booster, train, X)


@scenario
def small_samples(history: History) -> None:
    """With these losses the device computes gradients of sampled rows only, unless somebody needs the others."""
    for objective, label in (("binary:logistic", LABEL), ("reg:squarederror", Y)):
        train, other = data(label), valid()
        booster = xgb.Booster(params(objective=objective, max_depth=4, subsample=0.2 if OURS else 1), [train])
        changes: List[Callable[[], None]] = [
            lambda: None,
            lambda: booster.set_param({"max_depth": 2}),
            lambda: train.set_weight(WEIGHT),
            lambda: booster.set_param({"subsample": 1}),
            lambda: train.set_label(LABEL),
            lambda: booster.set_param({"subsample": 0.3 if OURS else 1, "num_parallel_tree": 3}),
            lambda: booster.set_param({"num_parallel_tree": 1, "sampling_method": "gradient_based"} if OURS else {}),
            lambda: train.set_base_margin(np.sin(Y)) if ALL_SEE_NEW_BASES else None,
            lambda: booster.set_param({"sampling_method": "uniform"}),
        ]
        for i, change in enumerate(changes):
            change()
            for k in range(3):  # the library has begun the next round before the change
                booster.update(train, 3 * i + k)
            history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
        history.values(booster.predict(train))
        history.model(booster)


@scenario
def learning_rate_by_round(history: History) -> None:
    train = data()
    schedule = xgb.callback.LearningRateScheduler(lambda i: 0.5 / (1 + i // 3))
    history.model(xgb.train(logistic(), train, 9, callbacks=[schedule]))


@scenario
def boosters_that_die_in_mid_training(history: History) -> None:
    train = data(CLASSES)
    for rounds in range(1, 6):
        booster = xgb.Booster(params(objective="multi:softprob", num_class=3, max_depth=4), [train])
        for i in range(rounds):
            booster.update(train, i)
        history.model(booster)
        del booster
        gc.collect()


@scenario
def labels_and_weights_change(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train])
    for i in range(4):  # the library has begun the next round, with the labels that there are
        booster.update(train, i)
        history.values(booster.eval(other).encode())
    train.set_label(1 - LABEL)
    other.set_label(1 - VLABEL)
    booster.update(train, 3)
    history.values(booster.eval(other).encode())
    train.set_weight(WEIGHT)
    other.set_weight(VWEIGHT)
    booster.update(train, 4)
    history.values(booster.eval(other).encode())
    train.set_info(label=LABEL)
    booster.update(train, 5)
    history.truth(booster, train, X)
    history.model(booster)


@scenario
def another_trainer_takes_over(history: History) -> None:
    cases = {"multi:softprob": dict(num_class=3), "rank:ndcg": {}, "reg:gamma": {}}
    for objective, others in cases.items():
        label = CLASSES + 1 if objective == "reg:gamma" else CLASSES
        train = data(label, group=GROUPS if objective.startswith("rank") else None)
        booster = xgb.Booster(params(objective=objective, max_depth=4, **others), [train])
        changes: List[Callable[[], Any]] = [
            lambda: booster.set_param({"max_bin": 32}),
            lambda: booster.set_param({"nthread": 3}),
            lambda: train.set_weight(WEIGHT[: len(GROUPS)] if objective.startswith("rank") else WEIGHT),
        ]
        for i, change in enumerate(changes):
            for j in range(3):
                booster.update(train, 3 * i + j)
            change()
        booster.update(train, 9)
        history.truth(booster, train, X)
        history.model(booster)


@scenario
def trees_taken_out_of_the_model(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train])
    for i in range(3):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")]).encode())
    booster.set_param({"process_type": "update"})
    booster.num_boosted_rounds()
    booster.set_param({"process_type": "default", "max_depth": 2})
    fresh_train, fresh_other = data(), valid()
    for i in range(3):
        booster.update(fresh_train, i)
        history.values(booster.eval_set([(fresh_train, "t"), (fresh_other, "v")]).encode())
    history.model(booster)


@scenario
def two_boosters_on_one_matrix(history: History) -> None:
    train, other = data(), valid()
    boosters = [xgb.Booster(logistic(max_depth=d, seed=d), [train]) for d in (2, 5)]
    for i in range(5):
        for booster in boosters:
            booster.update(train, i)
            history.values(booster.eval_set([(train, "t"), (other, "v")]).encode())
    for booster in boosters:
        history.truth(booster, train, X)
        history.model(booster)


@scenario
def one_booster_on_several_matrices(history: History) -> None:
    matrices = [data(), valid(), xgb.DMatrix(X[:2000], LABEL[:2000])]
    values = [X, V, X[:2000]]
    booster = xgb.Booster(logistic(), matrices)
    for i in range(9):
        booster.update(matrices[i % 3 if i < 6 else 0], i)
        history.values(booster.eval_set([(m, str(k)) for k, m in enumerate(matrices)]).encode())
    for matrix, x in zip(matrices, values):
        history.truth(booster, matrix, x)
    history.model(booster)


@scenario
def matrices_that_die(history: History) -> None:
    first = data()
    booster = xgb.Booster(logistic(), [first])
    for i in range(6):
        label = LABEL if i % 2 else 1 - LABEL
        train = xgb.DMatrix(X * np.float32(i + 1), label)
        other = xgb.DMatrix(V * np.float32(i + 1), VLABEL)
        booster.update(train, 2 * i)
        history.values(booster.eval(other).encode())
        booster.update(train, 2 * i + 1)
        history.values(booster.eval(other).encode())
        del train, other
        gc.collect()
    history.model(booster)


@scenario
def evaluation_sets_come_and_go(history: History) -> None:
    train = data()
    others = [xgb.DMatrix(V * np.float32(k), VLABEL) for k in range(1, 4)]
    booster = xgb.Booster(logistic(), [train])
    for i in range(8):
        booster.update(train, i)
        sets = [(o, str(k)) for k, o in enumerate(others) if (i + k) % 3]
        history.values(booster.eval_set(sets, i).encode())
    history.model(booster)


@scenario
def forests(history: History) -> None:
    train, other = data(CLASSES), valid(VCLASSES)
    booster = xgb.Booster(
        params(objective="multi:softprob", num_class=3, num_parallel_tree=3, max_depth=3, eval_metric=["merror", "auc"]),
        [train],
    )
    for i in range(4):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
    history.truth(booster, train, X)
    history.model(booster)


@scenario
def classes_by_the_dozen(history: History) -> None:
    classes = np.floor(np.argsort(np.argsort(Y)) / len(Y) * 12).astype(np.float32)
    train, other = data(classes), valid()
    booster = xgb.Booster(params(objective="multi:softmax", num_class=12, subsample=0.8, max_depth=3), [train])
    for i in range(7):
        if i == 4:
            booster.set_param("max_depth", 5)
        if i == 6:
            booster.set_param({"grow_policy": "lossguide", "max_leaves": 9})
        booster.update(train, i)
        history.values(booster.eval(train).encode())
    history.truth(booster, other, V)
    history.model(booster)


@scenario
def dart(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(booster="dart", rate_drop=0.5, seed=4), [train])
    for i in range(6):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
    history.model(booster)


@scenario
def dart_of_classes(history: History) -> None:
    train, other = data(CLASSES), valid(VCLASSES)
    settings = params(booster="dart", rate_drop=0.3, one_drop=1, objective="multi:softprob", num_class=3, max_depth=3)
    booster = xgb.Booster(dict(settings, num_parallel_tree=2, eval_metric=["mlogloss", "merror"]), [train, other])
    for i in range(6):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
        if i == 3:
            history.values(booster.predict(train, output_margin=True, training=True))
            history.truth(booster, other, V)
    history.model(booster)


@scenario
def margins_of_the_user(history: History) -> None:
    train, other = data(base_margin=np.sin(Y)), valid(base_margin=np.cos(VY))
    booster = xgb.Booster(logistic(), [train])
    for i in range(4):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
    history.values(booster.predict(train))
    history.model(booster)


@scenario
def training_continues(history: History) -> None:
    train, other = data(), valid()
    first = xgb.train(logistic(), train, 3, evals=[(other, "v")], verbose_eval=False)
    second = xgb.train(
        logistic(max_depth=2), train, 3, evals=[(train, "t"), (other, "v")], xgb_model=first, verbose_eval=False
    )
    second.load_model(bytearray(first.save_raw("ubj")))
    second.update(train, 3)
    history.model(second)
    part = second[:2]
    part.update(train, 2)
    history.truth(part, train, X)
    history.model(part)


@scenario
def leaves_of_an_old_model_are_refreshed(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train])
    for i in range(3):
        booster.update(train, i)
        history.values(booster.eval(other).encode())
    booster.set_param({"process_type": "update", "updater": "refresh", "refresh_leaf": True})
    for i in range(3):
        booster.update(other, i)
    history.values(booster.predict(xgb.DMatrix(X)))  # XGBoost may still have the old margins of `train`
    history.model(booster)


@scenario
def binned_matrices(history: History) -> None:
    train = xgb.QuantileDMatrix(X, LABEL)
    other = xgb.QuantileDMatrix(V, VLABEL, ref=train)
    booster = xgb.Booster(logistic(), [train])
    for i in range(4):
        booster.update(train, i)
        history.values(booster.eval_set([(train, "t"), (other, "v")], i).encode())
    history.model(booster)


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_ways_see_the_same(name: str) -> None:
    through_ours, through_theirs = History(), History()
    SCENARIOS[name](through_ours)
    with xgboosts_own_functions():
        SCENARIOS[name](through_theirs)
    assert len(through_ours.seen) > 0
    assert through_ours.seen == through_theirs.seen


def test_an_error_in_a_round_leaves_the_booster_as_it_was() -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train])
    for i in range(3):
        booster.update(train, i)
    before, model = booster.eval_set([(train, "t"), (other, "v")]), raw(booster)
    train.set_label(LABEL + 2)
    with pytest.raises(xgb.core.XGBoostError, match="label must be in \\[0,1\\] for logistic regression"):
        booster.update(train, 3)
    train.set_label(LABEL)
    assert raw(booster) == model
    assert booster.eval_set([(train, "t"), (other, "v")]) == before
    booster.update(train, 3)
    history = History()
    history.truth(booster, train, X)


@pytest.mark.parametrize("eta", [{}, {"eta": 0.1}], ids=str)
def test_an_error_in_a_round_of_a_forest_keeps_the_learning_rate(eta: Dict[str, float]) -> None:
    x, y = make_data(200, 3)
    data = xgb.DMatrix(x, y)
    booster = xgb.Booster(params(max_depth=2, base_score=0.5, num_parallel_tree=4, **eta), [data])
    config = booster.save_config()
    for _ in range(2):
        with pytest.raises(xgb.core.XGBoostError, match="must be finite"):
            boost(booster, data, np.full(200, np.nan), np.ones(200))
    assert booster.save_config() == config
    copy = booster.copy()
    for each in (booster, copy):
        each.update(data, 0)
    assert_same_trees(booster, copy)


def test_labels_are_checked_after_an_evaluation() -> None:
    train = data()
    booster = xgb.Booster(logistic(), [train])
    booster.update(train, 0)
    train.set_label(LABEL + 2)
    booster.eval(train)
    with pytest.raises(xgb.core.XGBoostError, match="label must be in \\[0,1\\] for logistic regression"):
        booster.update(train, 1)


def test_parameters_of_an_objective_are_checked_when_they_change() -> None:
    train = data(Y)
    booster = xgb.Booster(params(objective="reg:pseudohubererror"), [train])
    booster.update(train, 0)
    booster.set_param({"huber_slope": 0})
    with pytest.raises(xgb.core.XGBoostError, match="huber_slope is '0'|slope for pseudo huber cannot be 0"):
        booster.update(train, 1)


def test_a_booster_of_another_kind_is_not_taken_for_ours() -> None:
    """The objective and metrics of a gblinear are decorated, but the booster is not ours."""
    settings = dict(objective="multi:softprob", num_class=3, eval_metric=["mlogloss", "merror"])
    linear_data, train = xgb.DMatrix(np.nan_to_num(X[:600]), CLASSES[:600]), data(CLASSES)
    linear = xgb.train({"booster": "gblinear", "nthread": 1, **settings}, linear_data, 2)
    before = linear.eval(linear_data)
    ours = xgb.Booster(params(**settings), [train])
    ours.update(train, 0)
    ours.eval(train)
    assert linear.eval(linear_data) == before
    ours.predict(train)
    del train
    gc.collect()
    assert linear.eval(linear_data) == before


@pytest.mark.skipif(BACKEND != "cuda" or CORES < 8, reason="this test needs a GPU and eight cores")
def test_rounds_on_a_gpu_leave_cores_alone() -> None:
    """A parallel loop of XGBoost's over one row makes threads spin on all cores, where a second GPU's thread waits."""
    answer = run_python(CORES_OF_ROUNDS, library=LIBRARY, GOMP_SPINCOUNT="300000")  # libgomp's default
    # The main thread, the threads of CUDA and of one device, and one to spare.
    assert float(answer.stdout.splitlines()[-1]) < 4


@only_ours
@pytest.mark.parametrize("when", [1, 2, 3])
@pytest.mark.parametrize("evaluates", [False, True])
@pytest.mark.parametrize("first", [None, np.sin(Y)], ids=["none", "some"])
def test_a_new_base_margin_counts_when_xgboost_reads_it(when: int, evaluates: bool, first: Any) -> None:
    """XGBoost reads the base margin of a forest's matrix before its first two rounds, or when it is evaluated first."""

    def model(**others: Any) -> List[str]:
        train = data(Y, base_margin=first)
        booster = xgb.Booster(params(num_parallel_tree=2, subsample=0.5, **others), [train])
        for i in range(4):
            if i == when:
                train.set_base_margin(np.cos(Y))
            booster.update(train, i)
            if evaluates:
                booster.eval(train)
        return booster.get_dump(with_stats=True)

    assert model() == model(gpu_backend="host")
