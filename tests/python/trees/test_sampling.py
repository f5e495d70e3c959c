"""Rows chosen by their gradients: what users see of sampling_method=gradient_based and goss."""

from typing import Any, Dict

import numpy as np
import pytest
import xgboost as xgb

from support import boost, fresh, make_data, only_ours, params, raw, train, trees_of

pytestmark = only_ours  # a CPU build of stock XGBoost refuses both

ROWS = 3000
X, Y = make_data(ROWS, 6, seed=71)
WEIGHTS = np.exp(2 * np.random.default_rng(72).normal(size=ROWS)).astype(np.float32)
METHODS: Dict[str, Dict[str, Any]] = {
    "gradient_based": dict(sampling_method="gradient_based", subsample=0.2),
    "goss": dict(sampling_method="goss"),
    "goss with rates": dict(sampling_method="goss", top_rate=0.05, other_rate=0.15),
}
each_method = pytest.mark.parametrize("how", METHODS.values(), ids=METHODS)


def grown_on_the_same_gradients(how: Dict[str, Any], trees: int, weight=None, **others: Any):
    """One round of a forest: every tree draws rows of the same gradients."""
    data = xgb.DMatrix(X, Y, weight=weight)
    return trees_of(train(data, 1, num_parallel_tree=trees, max_depth=2, base_score=0.0, **how, **others))


@each_method
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
def test_sums_are_those_of_all_rows_on_average(how: Dict[str, Any], weighted: bool) -> None:
    count = 400
    weight = WEIGHTS if weighted else None
    roots = np.array([tree.hess[0] for tree in grown_on_the_same_gradients(how, count, weight)])
    everything = WEIGHTS.astype(np.float64).sum() if weighted else ROWS
    assert roots.std() > 0
    # The trees are independent: the mean of their sums has this standard error. Five of them: one in 1.7 million.
    assert abs(roots.mean() - everything) < 5 * roots.std() / np.sqrt(count)


@each_method
def test_leaves_are_those_of_all_rows_on_average(how: Dict[str, Any]) -> None:
    # Without penalties a stump's root weight is -sum of gradients / sum of hessians: a ratio of two unbiased sums, whose
    # own bias is of the order of the relative variance (below 1/600 here) and is given room.
    trees = grown_on_the_same_gradients(how, 400, reg_lambda=0.0)
    weights = np.array([tree.weight[0] for tree in trees])
    exact = float(Y.astype(np.float64).mean())
    assert abs(weights.mean() - exact) < 5 * weights.std() / np.sqrt(len(weights)) + np.abs(Y).mean() / 300


@each_method
def test_all_gradients_alike(how: Dict[str, Any]) -> None:
    """No row is better than another: the sample has its size, and every row counts the same."""
    data = xgb.DMatrix(X, np.ones(ROWS, dtype=np.float32))
    share = how.get("subsample", how.get("top_rate", 0.2) + how.get("other_rate", 0.1))
    trees = trees_of(train(data, 1, num_parallel_tree=50, max_depth=1, base_score=0.0, **how))
    taken = np.array([tree.hess[0] for tree in trees]) * share
    assert np.abs(taken - np.rint(taken)).max() < 0.02  # 900 rows, each 1 / share to a relative 10^-5
    assert np.all(np.abs(taken - share * ROWS) < 5 * np.sqrt(ROWS * share * (1 - share)))


def test_a_share_of_one_is_no_sample() -> None:
    data = xgb.DMatrix(X, Y, weight=WEIGHTS)
    one = train(data, 4, sampling_method="gradient_based", subsample=1.0)
    assert raw(one) == raw(train(data, 4))


@each_method
def test_tiny_data(how: Dict[str, Any]) -> None:
    for rows in (1, 2, 5):
        booster = train(xgb.DMatrix(X[:rows], Y[:rows]), 5, **how)
        assert np.isfinite(booster.predict(xgb.DMatrix(X))).all()


@each_method
def test_no_gradients(how: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(**how), [data])
    boost(booster, data, np.zeros(ROWS), np.zeros(ROWS))
    assert np.ptp(booster.predict(xgb.DMatrix(X))) == 0


@each_method
@pytest.mark.parametrize(
    "task",
    [
        dict(objective="multi:softprob", num_class=3),
        dict(grow_policy="lossguide", max_leaves=9, max_depth=0),
        dict(num_parallel_tree=3, colsample_bynode=0.5),
        dict(booster="dart", rate_drop=0.3),
        dict(objective="reg:absoluteerror"),
    ],
    ids=lambda task: " ".join(map(str, task.values())),
)
def test_one_model(how: Dict[str, Any], task: Dict[str, Any]) -> None:
    """Whatever the number of threads, and with a save and a load in between; trees of a round draw different rows."""
    label = np.digitize(Y, np.quantile(Y, [0.3, 0.7])) if "num_class" in task else Y
    data = xgb.DMatrix(X, label)
    settings = dict(how, **task, max_bin=32, seed=5)
    whole = train(data, 6, nthread=1, **settings)
    assert raw(train(xgb.DMatrix(X, label), 6, nthread=3, **settings)) == raw(whole)
    if task.get("booster") != "dart":  # stock code draws the dropped trees, from a state that is not saved
        half = fresh(train(data, 3, **settings), **params(**settings))
        rest = xgb.train(params(**settings), data, 3, xgb_model=half)
        assert trees_of(rest) and raw(rest) == raw(whole)
    if task.get("num_parallel_tree"):
        assert len({tree.hess[0] for tree in trees_of(whole)[:3]}) == 3


@each_method
def test_rates_survive_a_saved_configuration(how: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, Y)
    booster = train(data, 2, **how)
    loaded = fresh(booster)
    loaded.load_config(booster.save_config())
    for one in (booster, loaded):
        one.update(data, 2)
    assert raw(loaded) == raw(booster)


def auc(label: np.ndarray, score: np.ndarray) -> float:
    order = np.argsort(score, kind="stable")
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    positive = label == 1
    n = positive.sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(label) - n)))


def higgs_like(rows: int, seed: int):
    """28 columns, some of them without use, and a label that depends on interactions and on noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 28)).astype(np.float32)
    score = x[:, 0] * x[:, 1] + np.abs(x[:, 2]) - x[:, 3] * (x[:, 4] > 0) + 0.5 * x[:, 5] + np.sin(2 * x[:, 6])
    return x, (score + 1.5 * rng.normal(size=rows) > 0.6).astype(np.float32)


def test_accuracy_with_a_part_of_the_rows() -> None:
    x, y = higgs_like(40000, 73)
    test_x, test_y = higgs_like(40000, 74)
    data, test = xgb.DMatrix(x, y), xgb.DMatrix(test_x)
    # An intercept that is estimated, as since 2.0, changes each area by the noise of one sample of gradients: one for all.
    settings = dict(objective="binary:logistic", eta=0.1, max_depth=5, max_bin=64, base_score=0.5)
    reached = {
        name: auc(test_y, train(data, 120, **settings, **how).predict(test))
        for name, how in {
            "all": {},
            "gradient_based": dict(sampling_method="gradient_based", subsample=0.1),
            "goss": dict(sampling_method="goss"),
        }.items()
    }
    # The standard error of an area from 20,000 rows of each class is at most sqrt(a (1 - a) / 20000) = 0.003 for a = 0.8.
    # A tenth of 40,000 rows is little; the difference shrinks with the rows.
    error = 0.003
    assert reached["gradient_based"] > reached["all"] - 2 * error
    assert reached["goss"] > reached["all"] - 2 * error
