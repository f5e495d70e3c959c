"""reg:absoluteerror: stock's leaves, to the bit, and nothing left behind on the way. Before 3.4 they are medians.

Leaves are checked against NumPy, row by row, and against stock hist, started from the same model so that both get the
same gradients.
"""

import numpy as np
import pytest
import xgboost as xgb
from support import (
    LIBRARY,
    SERIES,
    TREES_WITH_LEAVES_TO_SET,
    Batches,
    assert_same_trees,
    boost,
    fresh,
    make_data,
    only_before,
    only_ours,
    only_since,
    params,
    raw,
    run_python,
    sampled,
    stock_params,
    train,
    trees_of,
)

X, Y = make_data(2000, 6, seed=11, missing=0.1)
#: Each value has a bin of its own: between others stock code cuts elsewhere since 3.3.
GRID = np.clip(np.round(8 * X), -24, 24) + np.float32(0.25)  # no value is 0, which has two signs
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
SETTINGS = TREES_WITH_LEAVES_TO_SET


def median(residuals: np.ndarray, weights: np.ndarray) -> np.float32:
    """By XGBoost's rule for weighted rows: sums of weights in float32, one after the other."""
    order = np.argsort(residuals, kind="stable")
    sums = np.cumsum(weights[order], dtype=np.float32)  # NumPy adds up one by one, too
    return residuals[order][np.searchsorted(sums, np.float32(sums[-1] * 0.5))]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("case", DATA)
def test_trees_are_stocks(case: str, settings: str) -> None:
    data, model = xgb.DMatrix(GRID, **DATA[case]), None
    how = dict(objective=OBJECTIVE, **SETTINGS[settings])
    same = 0
    for _ in range(3):
        ours, stock = (xgb.train(f(**how), data, 1, xgb_model=model) for f in (params, stock_params))
        a, b = trees_of(ours)[-1], trees_of(stock)[-1]
        model = stock
        # Where a sum is rounded another way, another split may be the best: then leaves have other rows. Sums of signs
        # are exact, sums of weights and of 3.4's smooth gradients are not.
        if not (np.array_equal(a.left, b.left) and np.array_equal(a.feature, b.feature)):
            continue
        if np.array_equal(a.threshold[a.splits], b.threshold[b.splits]):
            assert a.threshold.tobytes() == b.threshold.tobytes()
            same += 1
    assert same >= (3 if "weight" not in DATA[case] and SERIES < 303 else 1)


#: What a leaf is of its median: since 2.0 the learning rate counts.
RATE = np.float32(0.1 if SERIES >= 200 else 1)

has_medians = only_before(304, "leaves are sums of a smooth loss, and no medians")
ours_are_medians = only_before(200, "stock code sets the leaves, by its own rules")


@has_medians
@pytest.mark.parametrize("sample", [1.0, 0.5])
def test_leaves_are_medians_of_their_rows(sample: float) -> None:
    margin = np.linspace(-1, 1, len(X)).astype(np.float32)
    data = xgb.DMatrix(X, Y, weight=WEIGHT, base_margin=margin)
    booster = xgb.Booster(params(objective=OBJECTIVE, max_depth=4, subsample=sample, eta=0.1), [data])
    for number in range(4):
        booster.update(data, number)
        leaf_of = booster.predict(data, pred_leaf=True).reshape(len(X), -1)[:, -1]
        residual = Y - margin  # before the round
        tree = trees_of(booster)[-1]
        for leaf in tree.leaves:
            rows = (leaf_of == leaf) & (WEIGHT > 0)
            if sample == 1.0:
                assert tree.threshold[leaf] == RATE * median(residual[rows], WEIGHT[rows])
            else:  # which rows of the leaf were in the sample is not known here
                assert tree.threshold[leaf] in RATE * residual[rows]
        margin = booster.predict(data, output_margin=True)


@pytest.mark.parametrize(
    "settings", [dict(max_depth=4), dict(max_depth=4, **sampled(subsample=0.7))], ids=str
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
    data, valid = xgb.DMatrix(GRID, Y), xgb.DMatrix(V, VY)
    histories = []
    for how in (params, stock_params):
        history: dict = {}
        evals = [(data, "t"), (valid, "v")]
        xgb.train(how(objective=OBJECTIVE), data, 2, evals=evals, evals_result=history, verbose_eval=False)
        histories.append(history)
    for name in ("t", "v"):
        # Stock adds differences up in float64 as we do, in another order: what is left is the printing.
        assert histories[0][name]["mae"] == pytest.approx(histories[1][name]["mae"], rel=1e-6)


@has_medians
def test_own_gradients_with_this_objective_set_leaves_too() -> None:
    """XGBoost sets leaves after any gradients. Rows without hessian are outside the sample, and the margins are current."""
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(objective=OBJECTIVE, max_depth=3, eta=0.1), [data])
    hessian = (np.arange(len(X)) % 3 != 0).astype(np.float32)
    for looks in (True, True, False, False):  # a caller need not have asked for the margins
        before = (booster if looks else fresh(booster)).predict(xgb.DMatrix(X), output_margin=True)
        if looks:
            booster.predict(data)
        boost(booster, data, np.sign(before - Y) * hessian, hessian)
        tree = trees_of(booster)[-1]
        leaf_of = booster.predict(xgb.DMatrix(X), pred_leaf=True).reshape(len(X), -1)[:, -1]
        for leaf in tree.leaves:
            residual = (Y - before)[(leaf_of == leaf) & (hessian > 0)]
            # The mean of the middle two, rounded once: at most one unit of 2^-24 from NumPy's, then by the rate.
            assert tree.threshold[leaf] == pytest.approx(RATE * np.median(residual), rel=2**-22, abs=1e-7)
        booster.update(data, booster.num_boosted_rounds())
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))


@only_ours
@pytest.mark.parametrize(
    "parts, words",
    [
        pytest.param(
            dict(label=np.stack([Y, Y], axis=1)),
            "multioutput is not supported",
            marks=only_before(200, "the objective takes several targets"),
            id="targets",
        ),
        pytest.param(dict(), "label", id="no labels"),
    ],
)
def test_what_it_cannot_do(parts: dict, words: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        train(xgb.DMatrix(X, **parts), 1, objective=OBJECTIVE)


# Stock says that the objective does not support external memory.


@only_ours
@pytest.mark.parametrize("own", [False, True], ids=["gradients", "own gradients"])
@pytest.mark.parametrize("weight", [np.ones(len(X)), WEIGHT], ids=["plain", "weighted"])
def test_pages(tmp_path, weight: np.ndarray, own: bool) -> None:
    models = []
    for data in (xgb.DMatrix(X, Y, weight=weight), xgb.DMatrix(Batches(X, Y, [700], str(tmp_path / "cache"), weight))):
        booster = xgb.Booster(params(objective=OBJECTIVE), [data])
        for i in range(4):
            if own:
                boost(booster, data, np.sign(booster.predict(data) - Y), weight)
            else:
                booster.update(data, i)
        models.append(booster)
    assert raw(models[0]) == raw(models[1])
    assert models[0].eval(data) == models[1].eval(data)


@only_ours
@has_medians
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
    with pytest.raises(xgb.core.XGBoostError, match=f"There are {words} for 2000 rows; (reg:absoluteerror|the objective), which"):
        boost(booster, data, ones, ones)


@only_ours
@pytest.mark.skipif(200 <= SERIES < 304, reason="stock code sets the leaves, and has words of its own")
def test_margins_that_are_not_numbers() -> None:
    data = xgb.DMatrix(X, Y, base_margin=np.full(len(X), np.nan))
    found = "leaf 0 is NaN; allowed: labels and base_margin that are finite"
    if SERIES >= 304:  # no median hides it in the sign of a residual
        found = r"Gradient of row 0 is \(grad nan, hess 1\); both must be finite"
    with pytest.raises(xgb.core.XGBoostError, match=found):
        train(data, 1, objective=OBJECTIVE)


@only_ours
@has_medians
@pytest.mark.parametrize("how", [dict(sampling_method="goss"), dict(sampling_method="gradient_based", subsample=0.3)])
def test_samples_by_gradient_of_weighted_rows(how: dict) -> None:
    """Medians of rows that were chosen by their weight, counted by it again, would be those of the heavy rows."""
    data = xgb.DMatrix(X, Y, weight=np.where(np.arange(len(X)) % 10 == 0, 5.0, 1.0))
    with pytest.raises(xgb.core.XGBoostError, match=f"sampling_method is '{how['sampling_method']}'.*weights: uniform"):
        train(data, 1, objective=OBJECTIVE, **how)
    train(data, 1, objective=OBJECTIVE, subsample=0.3)
    train(xgb.DMatrix(X, Y), 1, objective=OBJECTIVE, **how)


@only_ours
def test_own_gradients_right_after_a_round() -> None:
    """Medians are of the margins after all rounds, whether or not somebody has asked for these."""
    gradient, hessian = RNG.normal(size=len(X)).astype(np.float32), np.ones(len(X), dtype=np.float32)
    models = []
    for asks in (False, True):
        data = xgb.DMatrix(X, Y)
        live = xgb.Booster(params(objective=OBJECTIVE, max_depth=3), [data])
        for number in range(2):
            live.update(data, number)
            if asks:
                live.predict(data)
            boost(live, data, gradient, hessian)
        models.append(raw(live))
    assert models[0] == models[1]


FOREST = "Parameter num_parallel_tree is 3 and objective is 'reg:absoluteerror'.*allowed: num_parallel_tree=1.*gpu_exact"
DART = "Parameter booster is 'dart' and objective is 'reg:absoluteerror'.*allowed: booster=gbtree.*gpu_exact"


@only_ours
@ours_are_medians
@pytest.mark.parametrize(
    "how, words",
    [
        (dict(num_parallel_tree=3), FOREST),
        (dict(num_parallel_tree=3, subsample=0.5, eta=1, grow_policy="lossguide"), FOREST),
        (dict(booster="dart"), DART),
        (dict(booster="dart", rate_drop=0.5, num_parallel_tree=3), DART),
    ],
    ids=str,
)
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_medians_of_forests_and_darts_are_refused(how: dict, words: str, matrix) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        train(matrix(X, Y), 2, objective=OBJECTIVE, **how)


def assert_stocks(ours: xgb.Booster, stock: xgb.Booster) -> None:
    """Splits and leaves have stock's bits; gains are rounded another way since 3.4."""
    ones, others = trees_of(ours), trees_of(stock)
    assert len(ones) == len(others) and max(tree.nodes for tree in ones) > 9
    for a, b in zip(ones, others):
        assert np.array_equal(a.left, b.left) and np.array_equal(a.feature, b.feature)
        assert a.threshold.tobytes() == b.threshold.tobytes()


@only_since(304, "leaves are medians, which do not add up")
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize(
    "how", [dict(num_parallel_tree=3), dict(booster="dart"), dict(booster="dart", rate_drop=1)], ids=str
)
def test_forests_and_darts_are_stocks(how: dict, matrix) -> None:
    one, other = (xgb.train(f(objective=OBJECTIVE, **how), matrix(GRID, Y), 3) for f in (params, stock_params))
    assert_stocks(one, other)


@only_since(304, "the objective takes one target")
def test_several_targets_have_stocks_trees() -> None:
    data = xgb.DMatrix(GRID, np.stack([Y, 2 - Y], axis=1), weight=WEIGHT)
    one, other = (xgb.train(f(objective=OBJECTIVE), data, 3) for f in (params, stock_params))
    assert_stocks(one, other)


@only_ours
@ours_are_medians
def test_forests_are_refused_by_all_ways(tmp_path) -> None:
    data = xgb.DMatrix(X, Y)
    Error = xgb.core.XGBoostError
    with pytest.raises(Error, match=FOREST.replace("is 3", "is 7")):
        xgb.XGBRFRegressor(**params(objective=OBJECTIVE), n_estimators=7, learning_rate=0.1).fit(X, Y)
    with pytest.raises(Error, match=FOREST):
        xgb.XGBRegressor(**params(objective=OBJECTIVE), num_parallel_tree=3, n_estimators=2).fit(X, Y)
    # A forest of another objective or method that goes on.
    for began in (params(num_parallel_tree=3), stock_params(objective=OBJECTIVE, num_parallel_tree=3)):
        forest = xgb.train(began, data, 1)
        with pytest.raises(Error, match=FOREST):
            xgb.train(params(objective=OBJECTIVE), data, 1, xgb_model=forest)
    # Gradients of one's own do not help: the objective sets the leaves.
    booster = xgb.Booster(params(objective=OBJECTIVE, num_parallel_tree=3), [data])
    with pytest.raises(Error, match=FOREST):
        boost(booster, data, np.ones(len(X)), np.ones(len(X)))
    assert booster.num_boosted_rounds() == 0


@only_ours
@ours_are_medians
def test_a_refused_round_leaves_the_booster_as_it_was() -> None:
    data = xgb.DMatrix(X, Y)
    how = params(objective=OBJECTIVE, max_depth=3)
    forest = xgb.train(params(num_parallel_tree=3, max_depth=3), data, 2)
    live, plain = forest.copy(), forest.copy()
    live.set_param("objective", OBJECTIVE)
    with pytest.raises(xgb.core.XGBoostError, match=FOREST):
        live.update(data, 2)
    live.set_param("objective", "reg:squarederror")
    for booster in (live, plain):
        booster.update(data, 2)
    assert_same_trees(live, plain)
    live, plain = xgb.Booster({**how, "num_parallel_tree": 3}, [data]), xgb.Booster(how, [data])
    with pytest.raises(xgb.core.XGBoostError, match=FOREST):
        live.update(data, 0)
    live.set_param("num_parallel_tree", 1)  # it counts as long as there is no tree
    for number in range(3):
        for booster in (live, plain):
            booster.update(data, number)
    assert raw(live) == raw(plain)


@only_ours
def test_another_updater_after_ours_leaves_sums_as_with_stock_hist() -> None:
    """Stock takes leaves from the objective if the last updater says which leaf a row is in. prune does not."""
    x, y = make_data(800, 4, levels=20)
    data = xgb.DMatrix(x, y)
    how = dict(objective=OBJECTIVE, num_parallel_tree=2, max_depth=3)
    ours, whole, stock = (
        xgb.train(f(updater=f"{grower},prune", eta=eta, **how), data, 1).predict(data)
        for f, grower, eta in (
            (params, "grow_gpu_hist", 0.1),
            (params, "grow_gpu_hist", 1),
            (stock_params, "grow_quantile_histmaker", 0.1),
        )
    )
    assert np.abs(ours - stock).max() < 1e-6
    assert np.ptp(ours) == pytest.approx(0.1 * np.ptp(whole), rel=1e-5)  # eta counts
    assert np.ptp(ours) > 0.1


ETA = "xgboost-gpu: parameter eta (learning_rate) is {} and has no effect"


@only_ours
@only_before(200, "it has an effect")
@pytest.mark.parametrize("eta, said", [(0.25, 1), (1, 0)])
@pytest.mark.parametrize("method, speaks", [("gpu_hist", True), ("gpu_exact", False), ("hist", False)])
def test_one_line_says_that_eta_has_no_effect(method: str, speaks: bool, eta: float, said: int) -> None:
    code = f"""
import numpy as np, xgboost as xgb
x = np.random.default_rng(0).normal(size=(200, 3)); data = xgb.DMatrix(x, x[:, 0])
how = dict(tree_method={method!r}, objective={OBJECTIVE!r}, eta={eta})
for _ in range(2):
    booster = xgb.train(how, data, 3)
    xgb.XGBRegressor(n_estimators=3, tree_method={method!r}, objective={OBJECTIVE!r}, learning_rate={eta}).fit(x, x[:, 0])
xgb.train(dict(how, objective="reg:squarederror"), data, 2)
"""
    done = run_python(code, library=LIBRARY)
    assert (done.stdout + done.stderr).count(ETA.format(eta)) == said * speaks
