"""reg:absoluteerror, whose leaves are medians: stock's medians, to the bit, and nothing left behind on the way.

Leaves are checked against NumPy, row by row, and against stock hist, started from the same model so that both get the
same gradients.
"""

import numpy as np
import pytest
import xgboost as xgb
from support import Batches, fresh, make_data, only_ours, params, raw, sampled, stock_params, train, trees_of

X, Y = make_data(2000, 6, seed=11, missing=0.1)
V, VY = make_data(1500, 6, seed=12, missing=0.1)
RNG = np.random.default_rng(3)
WEIGHT = RNG.random(len(X)).astype(np.float32)
WEIGHT[::7] = 0
OBJECTIVE = "reg:absoluteerror"

DATA = {
    "plain": dict(label=Y),
    "weighted": dict(label=Y, weight=WEIGHT),
    "ties": dict(label=np.round(2 * Y)),
    "weighted ties": dict(label=np.round(2 * Y), weight=WEIGHT),
    "margins": dict(label=Y, base_margin=np.linspace(-1, 1, len(X))),
}
SETTINGS = {
    "default": {},
    "stump": dict(max_depth=1),
    "no split": dict(gamma=1e9),
    "rows alone": dict(max_depth=12, min_child_weight=0),
    "forest": dict(num_parallel_tree=3, max_depth=4),
    "lossguide": dict(grow_policy="lossguide", max_leaves=20, max_depth=0),
    "slow": dict(eta=0.01),
}


def median(residuals: np.ndarray, weights: np.ndarray) -> np.float32:
    """By XGBoost's rule for weighted rows: sums of weights in float32, one after the other."""
    order = np.argsort(residuals, kind="stable")
    sums = np.cumsum(weights[order], dtype=np.float32)  # NumPy adds up one by one, too
    return residuals[order][np.searchsorted(sums, np.float32(sums[-1] * 0.5))]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("case", DATA)
def test_trees_are_stocks(case: str, settings: str) -> None:
    data, model = xgb.DMatrix(X, **DATA[case]), None
    how = dict(objective=OBJECTIVE, **SETTINGS[settings])
    trees = SETTINGS[settings].get("num_parallel_tree", 1)
    same = 0
    for _ in range(3):
        ours, stock = (xgb.train(f(**how), data, 1, xgb_model=model) for f in (params, stock_params))
        for a, b in zip(trees_of(ours)[-trees:], trees_of(stock)[-trees:]):
            # Where a sum of weights is rounded another way, another split may be the best: then leaves have other rows.
            if not (np.array_equal(a.left, b.left) and np.array_equal(a.feature, b.feature)):
                continue
            if np.array_equal(a.threshold[a.splits], b.threshold[b.splits]):
                assert a.threshold.tobytes() == b.threshold.tobytes()
                same += 1
        model = stock
    assert same >= (3 * trees if "weight" not in DATA[case] else trees)


@pytest.mark.parametrize("sample", [1.0, 0.5])
@pytest.mark.parametrize("trees", [1, 3])
def test_leaves_are_medians_of_their_rows(sample: float, trees: int) -> None:
    margin = np.linspace(-1, 1, len(X)).astype(np.float32)
    data = xgb.DMatrix(X, Y, weight=WEIGHT, base_margin=margin)
    booster = xgb.Booster(
        params(objective=OBJECTIVE, max_depth=4, num_parallel_tree=trees, subsample=sample, eta=0.1), [data]
    )
    for number in range(4):
        booster.update(data, number)
        leaf_of = booster.predict(data, pred_leaf=True).reshape(len(X), -1)[:, -trees:]
        residual = Y - margin  # before the round, for every tree of a forest
        for k, tree in enumerate(trees_of(booster)[-trees:]):
            for leaf in tree.leaves:
                rows = (leaf_of[:, k] == leaf) & (WEIGHT > 0)
                if sample == 1.0:
                    assert tree.threshold[leaf] == median(residual[rows], WEIGHT[rows])
                else:  # which rows of the leaf were in the sample is not known here
                    assert tree.threshold[leaf] in residual[rows]
        margin = booster.predict(data, output_margin=True)


@pytest.mark.parametrize(
    "settings", [dict(max_depth=4), dict(max_depth=4, num_parallel_tree=2, **sampled(subsample=0.7))], ids=str
)
def test_everybody_sees_the_new_leaves(settings: dict) -> None:
    train_data, valid = xgb.DMatrix(X, Y, weight=WEIGHT), xgb.DMatrix(V, VY)
    seen: dict = {}

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: dict) -> bool:
            for data, x in ((train_data, X), (valid, V)):
                assert np.array_equal(model.predict(data), fresh(model).predict(xgb.DMatrix(x)))
            return False

    for callbacks in ([Look()], []):
        history: dict = {}
        booster = xgb.train(
            params(objective=OBJECTIVE, **settings),
            train_data,
            6,
            evals=[(train_data, "t"), (valid, "v")],
            evals_result=history,
            callbacks=callbacks,
            verbose_eval=False,
        )
        for number in range(6):
            error = np.abs(fresh(booster)[: number + 1].predict(xgb.DMatrix(V)).astype(np.float64) - VY).mean()
            # A row's difference is rounded to float32 (half a unit of 2^-24), history keeps seven digits or so.
            assert history["v"]["mae"][number] == pytest.approx(error, rel=1e-5)
        if seen:
            assert seen["model"] == raw(booster) and seen["history"] == history
        seen = {"model": raw(booster), "history": history}
    assert seen["history"]["t"]["mae"][-1] < seen["history"]["t"]["mae"][0]


def test_histories_are_stocks() -> None:
    """Two rounds: by then no split has been decided by rounding, and leaves are bit-equal."""
    data, valid = xgb.DMatrix(X, Y), xgb.DMatrix(V, VY)
    histories = []
    for how in (params, stock_params):
        history: dict = {}
        evals = [(data, "t"), (valid, "v")]
        xgb.train(how(objective=OBJECTIVE), data, 2, evals=evals, evals_result=history, verbose_eval=False)
        histories.append(history)
    for name in ("t", "v"):
        # Stock adds differences up in float64 as we do, in another order: what is left is the printing.
        assert histories[0][name]["mae"] == pytest.approx(histories[1][name]["mae"], rel=1e-6)


def test_own_gradients_with_this_objective_set_leaves_too() -> None:
    """XGBoost sets leaves after any gradients. Rows without hessian are outside the sample, and the margins are current."""
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(objective=OBJECTIVE, max_depth=3), [data])
    hessian = (np.arange(len(X)) % 3 != 0).astype(np.float32)
    for looks in (True, True, False, False):  # a caller need not have asked for the margins
        before = (booster if looks else fresh(booster)).predict(xgb.DMatrix(X), output_margin=True)
        if looks:
            booster.predict(data)
        booster.boost(data, np.sign(before - Y) * hessian, hessian)
        tree = trees_of(booster)[-1]
        leaf_of = booster.predict(xgb.DMatrix(X), pred_leaf=True).reshape(len(X), -1)[:, -1]
        for leaf in tree.leaves:
            residual = (Y - before)[(leaf_of == leaf) & (hessian > 0)]
            # The mean of the middle two, rounded once: at most one unit of 2^-24 from NumPy's.
            assert tree.threshold[leaf] == pytest.approx(np.median(residual), rel=2**-23, abs=1e-7)
        booster.update(data, booster.num_boosted_rounds())
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))


@only_ours
@pytest.mark.parametrize(
    "parts, words",
    [
        (dict(label=np.stack([Y, Y], axis=1)), "multioutput is not supported"),
        (dict(), "label"),
    ],
    ids=["targets", "no labels"],
)
def test_what_it_cannot_do(parts: dict, words: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        train(xgb.DMatrix(X, **parts), 1, objective=OBJECTIVE)


# Stock says that the objective does not support external memory.


@only_ours
@pytest.mark.parametrize("own", [False, True], ids=["gradients", "own gradients"])
@pytest.mark.parametrize("how", [{}, dict(booster="dart", rate_drop=0.5), dict(num_parallel_tree=2)], ids=str)
@pytest.mark.parametrize("weight", [np.ones(len(X)), WEIGHT], ids=["plain", "weighted"])
def test_pages(tmp_path, weight: np.ndarray, how: dict, own: bool) -> None:
    models = []
    for data in (xgb.DMatrix(X, Y, weight=weight), xgb.DMatrix(Batches(X, Y, [700], str(tmp_path / "cache"), weight))):
        booster = xgb.Booster(params(objective=OBJECTIVE, **how), [data])
        for i in range(4):
            if own:
                booster.boost(data, np.sign(booster.predict(data) - Y), weight)
            else:
                booster.update(data, i)
        models.append(booster)
    assert raw(models[0]) == raw(models[1])
    assert models[0].eval(data) == models[1].eval(data)


@only_ours
@pytest.mark.parametrize(
    "parts, how, words",
    [
        (dict(), {}, "0 labels"),
        (dict(label=Y, qid=np.repeat(np.arange(10), 200), weight=np.ones(10)), {}, "10 weights"),
        (dict(label=Y), dict(num_class=2), "4000 margins"),
    ],
    ids=["no labels", "weights of groups", "classes"],
)
def test_own_gradients_with_other_numbers(parts: dict, how: dict, words: str) -> None:
    data = xgb.DMatrix(X, **parts)
    booster = xgb.Booster(params(objective=OBJECTIVE, **how), [data])
    ones = np.ones(booster.predict(data, output_margin=True).size)
    with pytest.raises(xgb.core.XGBoostError, match=f"There are {words} for 2000 rows; reg:absoluteerror"):
        booster.boost(data, ones, ones)


@only_ours
def test_margins_that_are_not_numbers() -> None:
    data = xgb.DMatrix(X, Y, base_margin=np.full(len(X), np.nan))
    with pytest.raises(xgb.core.XGBoostError, match="leaf 0 is NaN; allowed: labels and base_margin that are finite"):
        train(data, 1, objective=OBJECTIVE)


@only_ours
@pytest.mark.parametrize("how", [dict(sampling_method="goss"), dict(sampling_method="gradient_based", subsample=0.3)])
def test_samples_by_gradient_of_weighted_rows(how: dict) -> None:
    """Medians of rows that were chosen by their weight, counted by it again, would be those of the heavy rows."""
    data = xgb.DMatrix(X, Y, weight=np.where(np.arange(len(X)) % 10 == 0, 5.0, 1.0))
    with pytest.raises(xgb.core.XGBoostError, match=f"sampling_method is '{how['sampling_method']}'.*weights: uniform"):
        train(data, 1, objective=OBJECTIVE, **how)
    train(data, 1, objective=OBJECTIVE, subsample=0.3)
    train(xgb.DMatrix(X, Y), 1, objective=OBJECTIVE, **how)


@only_ours
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_own_gradients_right_after_a_round(booster: str) -> None:
    """Medians are of the margins after all rounds, whether or not somebody has asked for these."""
    gradient, hessian = RNG.normal(size=len(X)).astype(np.float32), np.ones(len(X), dtype=np.float32)
    models = []
    for asks in (False, True):
        data = xgb.DMatrix(X, Y)
        live = xgb.Booster(params(objective=OBJECTIVE, booster=booster, max_depth=3), [data])
        for number in range(2):
            live.update(data, number)
            if asks:
                live.predict(data)
            live.boost(data, gradient, hessian)
        models.append(raw(live))
    assert models[0] == models[1]
