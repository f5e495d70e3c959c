"""tree_method=gpu_exact gives the trees of stock `exact`, node by node, and works in all ways.

Each round starts both methods from the same model, so that both get the same gradients (to the rounding that
compare() is told). Then every difference is a tie, or wrong.
"""

import os
import pickle

import numpy as np
import pytest
import scipy.sparse
import xgboost as xgb
from equal_trees import Comparison, compare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import Rules, check_tree, route
from sklearn import datasets
from support import (
    BACKEND,
    FLOAT_EPS,
    Batches,
    assert_same_trees,
    binary_labels,
    boost,
    data_folder,
    fresh,
    make_data,
    of_unchanged_gains,
    only_ours,
    params,
    raw,
    train,
    trees_of,
)

pytestmark = only_ours
Error = xgb.core.XGBoostError
LOGISTIC, SOFTPROB = dict(objective="binary:logistic"), dict(objective="multi:softprob")


def exact(**others):
    return {"tree_method": "gpu_exact", "gpu_backend": BACKEND, **others}


def stock(**others):
    return {"tree_method": "exact", **others}


def from_sklearn(name: str, missing: float = 0.0):
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x = x.astype(np.float32)
    x[np.random.default_rng(7).random(x.shape) < missing] = np.nan
    return x, y


def agaricus():
    data = xgb.DMatrix(os.path.join(data_folder(), "agaricus.txt.train") + "?format=libsvm")
    matrix = data.get_data()
    x = np.full(matrix.shape, np.nan, dtype=np.float32)
    x[matrix.nonzero()] = 1
    return x, data.get_label()


def binary():
    table = np.loadtxt(os.path.join(data_folder(), "binary.train"), dtype=np.float32)
    return table[:, 1:], table[:, 0]


CASES = {
    "diabetes": (lambda: from_sklearn("diabetes"), {}),
    "diabetes missing": (lambda: from_sklearn("diabetes", 0.3), {}),
    "diabetes deep": (lambda: from_sklearn("diabetes", 0.1), dict(max_depth=14, min_child_weight=0.5)),
    "diabetes gamma": (lambda: from_sklearn("diabetes"), dict(gamma=20000.0)),
    "diabetes alpha": (lambda: from_sklearn("diabetes"), dict(reg_alpha=50.0)),
    "cancer": (lambda: from_sklearn("breast_cancer"), LOGISTIC),
    "cancer missing": (lambda: from_sklearn("breast_cancer", 0.5), LOGISTIC),
    "cancer gamma": (lambda: from_sklearn("breast_cancer", 0.2), dict(gamma=2.0, **LOGISTIC)),
    "cancer pos weight": (lambda: from_sklearn("breast_cancer"), dict(scale_pos_weight=3.0, **LOGISTIC)),
    "iris": (lambda: from_sklearn("iris"), dict(num_class=3, **SOFTPROB)),
    "wine": (lambda: from_sklearn("wine", 0.2), dict(num_class=3, **SOFTPROB)),
    "digits": (lambda: from_sklearn("digits"), dict(num_class=10, **SOFTPROB)),
    "agaricus": (agaricus, LOGISTIC),
    "binary": (binary, LOGISTIC),
    "own": (lambda: make_data(4000, 6, seed=3, missing=0.2), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_nodes_are_those_of_stock_exact(case: str) -> None:
    load, how = CASES[case]
    x, y = load()
    data, total, model = xgb.DMatrix(x, y), Comparison(), None
    for number in range(10):
        ours = xgb.train(exact(**how), data, 1, xgb_model=model)
        theirs = xgb.train(stock(**how), data, 1, xgb_model=model)
        per_round = len(trees_of(theirs)) // (number + 1)
        for a, b in zip(trees_of(ours)[-per_round:], trees_of(theirs)[-per_round:]):
            weight = how.get("scale_pos_weight", 1.0)
            found = compare(a, b, x, gamma=how.get("gamma", 0.0), gradient_error=8 * FLOAT_EPS * weight)
            assert not found.wrong, f"round {number}: " + "\n".join(found.wrong)
            total.add(found)
            if not found.ties and a.nodes == b.nodes and not how.get("gamma"):
                assert np.array_equal(a.default_left, b.default_left)
        model = theirs
    print(f"{case}: {total.same} nodes alike, {total.ties} ties")
    assert total.same >= 99 * total.ties


QUICK = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@QUICK
@given(
    seed=st.integers(0, 2**20),
    rows=st.integers(2, 120),
    columns=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    levels=st.sampled_from([0, 2, 5, 12]),
    rules=st.builds(
        Rules,
        eta=st.sampled_from([0.3, 1.0]),
        reg_lambda=st.sampled_from([0.0, 0.5, 10.0]),
        reg_alpha=st.sampled_from([0.0, 0.25]),
        min_child_weight=st.sampled_from([0.0625, 1.0, 5.0]),
        max_depth=st.integers(1, 6),
    ),
)
def test_any_tree(seed: int, rows: int, columns: int, missing: float, levels: int, rules: Rules) -> None:
    rng = np.random.default_rng(seed)
    x, _ = make_data(rows, columns, seed=seed, missing=missing, levels=levels)
    g = (rng.integers(-200, 200, size=rows) / 64).astype(np.float32)  # sums of these are exact in any order
    h = (rng.integers(4, 128, size=rows) / 64).astype(np.float32)
    data = xgb.DMatrix(x, np.zeros(rows))
    booster = xgb.Booster(exact(**vars(rules)), [data])
    boost(booster, data, g, h)
    check_tree(trees_of(booster)[0], x, g, h, rules)


def test_monotone_constraints_hold_and_are_stocks() -> None:
    x, y = make_data(1500, 4, seed=8, missing=0.1)
    data = xgb.DMatrix(x, y)
    how = dict(monotone_constraints="(1,-1,0,0)", max_depth=9)
    ours, theirs = (xgb.train(method(**how), data, 1) for method in (exact, stock))
    assert np.array_equal(trees_of(ours)[0].feature, trees_of(theirs)[0].feature)
    assert np.array_equal(trees_of(ours)[0].left, trees_of(theirs)[0].left)
    booster = xgb.train(exact(**how, subsample=0.8), data, 20)
    for feature, sign in ((0, 1), (1, -1)):
        probe = np.repeat(x[:50], 40, axis=0)
        probe[:, feature] = np.tile(np.linspace(-3, 3, 40), 50)
        predicted = booster.predict(xgb.DMatrix(probe)).reshape(50, 40)
        assert np.all(sign * np.diff(predicted, axis=1) >= 0)


def test_interaction_constraints_hold() -> None:
    x, y = make_data(1500, 4, seed=8)
    booster = xgb.train(exact(interaction_constraints="[[0, 1], [2, 3]]", max_depth=8), xgb.DMatrix(x, y), 5)
    for tree in trees_of(booster):
        above = [set()] * tree.nodes
        for node in tree.top_down():
            if tree.left[node] == -1:
                assert above[node] <= {0, 1} or above[node] <= {2, 3}
                continue
            above[tree.left[node]] = above[tree.right[node]] = above[node] | {int(tree.feature[node])}


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_hist_with_a_bin_for_every_value_gains_the_same(missing: float) -> None:
    x, y = make_data(800, 5, seed=5, missing=missing)
    data = xgb.DMatrix(x, y)
    by_value = trees_of(xgb.train(exact(max_depth=7), data, 1))[0]
    by_bin = trees_of(train(data, 1, max_depth=7, max_bin=1024))[0]
    assert np.array_equal(by_value.left, by_bin.left)
    assert np.array_equal(by_value.feature, by_bin.feature)
    assert np.array_equal(by_value.gain, by_bin.gain)
    assert np.array_equal(by_value.weight, by_bin.weight)
    # Thresholds differ, since one is a middle and the other the upper end of a bin. Rows go the same ways.
    for one, other in zip(route(by_value, x), route(by_bin, x)):
        assert np.array_equal(one, other)


def test_thresholds_lie_in_the_middle() -> None:
    x = np.array([[1.0], [2.0], [4.0], [8.0]], dtype=np.float32)
    tree = trees_of(xgb.train(exact(max_depth=1, min_child_weight=0, eta=1.0), xgb.DMatrix(x, [0, 0, 1, 1]), 1))[0]
    assert tree.threshold[0] == 3.0


@pytest.mark.parametrize("missing, threshold", [(False, 3.5), (True, 1.5)], ids=["dense", "missing"])
def test_of_equal_gains_the_one_that_stock_meets_first_wins(missing: bool, threshold: float) -> None:
    """Splits at 1.5 and at 3.5 gain exactly the same. A column that no row misses is scanned from above only."""
    values, labels = [1.0, 2.0, 3.0, 4.0] * 4, [0.0, 1.0, 1.0, 0.0] * 4
    x = np.array(values + [np.nan] * (2 if missing else 0), dtype=np.float32)[:, None]
    data = xgb.DMatrix(x, labels + [0.5] * (2 if missing else 0))  # gradients are 0 where the value is missing
    how = dict(max_depth=1, min_child_weight=0, base_score=0.5)
    trees = [trees_of(xgb.train(method(**how), data, 1))[0] for method in (exact, stock)]
    assert [float(tree.threshold[0]) for tree in trees] == [threshold, threshold]


def test_neighbouring_floats_are_told_apart() -> None:
    low = np.float32(1.0)
    for _ in range(20):
        high = np.nextafter(low, np.float32(2.0))
        x = np.array([[low], [high]] * 4, dtype=np.float32)
        y = np.array([0, 1] * 4)
        booster = xgb.train(exact(max_depth=1, min_child_weight=0, eta=1.0, reg_lambda=0), xgb.DMatrix(x, y), 1)
        assert booster.predict(xgb.DMatrix(x)).tolist() == y.tolist()
        low = high


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0, 1.0, -1.0],
        [1e-45, 2e-45, 3e-45, 1e-38],
        [-3e38, 3e38, 1.0, 2.0],
        [5.0] * 4,
        [np.nan] * 4,
        [np.nan, 2.0, 2.0, 2.0],
    ],
    ids=str,
)
def test_values_of_all_kinds_as_stock(values: list) -> None:
    x = np.tile(np.array(values, dtype=np.float32), 8)[:, None]
    y = np.tile(np.array([0.0, 1.0, 3.0, 7.0]), 8)
    data = xgb.DMatrix(x, y, missing=np.nan)
    ours, theirs = (trees_of(xgb.train(how(max_depth=3), data, 1))[0] for how in (exact, stock))
    found = compare(ours, theirs, x)
    assert not found.wrong and not found.ties, found


def test_one_row() -> None:
    booster = xgb.train(exact(), xgb.DMatrix(np.ones((1, 3)), [2.0]), 2)
    assert [tree.nodes for tree in trees_of(booster)] == [1, 1]


def test_any_number_of_threads_gives_the_same_model() -> None:
    x, y = make_data(3000, 9, missing=0.3)
    how = dict(max_depth=8, subsample=0.7, colsample_bynode=0.5, colsample_bytree=0.8)
    models = {raw(xgb.train(exact(nthread=n, **how), xgb.DMatrix(x, y), 4)) for n in (1, 2, 5)}
    assert len(models) == 1


@pytest.mark.parametrize(
    "how",
    [
        dict(subsample=0.5),
        dict(colsample_bytree=0.5, colsample_bylevel=0.7, colsample_bynode=0.7),
        dict(num_parallel_tree=3, subsample=0.6),
        dict(booster="dart", rate_drop=0.3),
        dict(objective="multi:softprob", num_class=3),
        dict(objective="reg:absoluteerror"),
        dict(objective="count:poisson"),
        dict(gamma=0.5, max_depth=9),
        dict(max_depth=24, min_child_weight=0),
    ],
    ids=str,
)
def test_what_was_trained_is_what_is_predicted(how: dict) -> None:
    x, y = make_data(2000, 6, missing=0.2, seed=9)
    label = np.floor(np.clip(y + 1, 0, 2)) if "num_class" in how or "poisson" in how.get("objective", "") else y
    data, history = xgb.DMatrix(x, label), {}
    booster = xgb.train(
        exact(**how), data, 6, evals=[(data, "train")], evals_result=history, verbose_eval=False
    )
    losses = list(history["train"].values())[0]
    assert losses[-1] < losses[0]
    again = fresh(booster)
    assert np.array_equal(booster.predict(data), again.predict(xgb.DMatrix(x)))
    metric = list(history["train"])[0]
    told = again.eval(data).split(f"{metric}:")[1] if "dart" not in str(how) else None
    if told is not None:
        assert float(told) == pytest.approx(losses[-1], rel=1e-5)  # printed with six digits


def test_rows_of_negative_hessians_count_as_with_hist_and_unlike_stock_exact() -> None:
    x = np.arange(40, dtype=np.float32)[:, None]
    grad, hess = np.where(x[:, 0] < 20, 1.0, -1.0), np.ones(40)
    hess[::10] = -0.5
    cover = {}
    for settings in (exact(), params(), {"tree_method": "hist"}, stock()):
        booster = xgb.Booster({**settings, "max_depth": 1}, [data := xgb.DMatrix(x, grad)])
        boost(booster, data, grad.tolist(), hess.tolist())
        cover[settings["tree_method"]] = float(trees_of(booster)[0].hess[0])
    assert cover == {"gpu_exact": 34.0, "gpu_hist": 34.0, "hist": 34.0, "exact": 36.0}


def test_sparse_matrices_and_early_stopping() -> None:
    rng = np.random.default_rng(0)
    x = scipy.sparse.random(3000, 40, density=0.1, random_state=0, format="csr", dtype=np.float32)
    y = binary_labels(np.asarray(x[:, :5].sum(axis=1)).ravel() + 0.1 * rng.normal(size=3000))
    data, test = xgb.DMatrix(x[:2000], y[:2000]), xgb.DMatrix(x[2000:], y[2000:])
    booster = xgb.train(
        exact(**LOGISTIC, eta=1.0), data, 200, evals=[(test, "test")], early_stopping_rounds=3, verbose_eval=False
    )
    assert booster.best_iteration < 190
    theirs = xgb.train(
        stock(**LOGISTIC, eta=1.0), data, 200, evals=[(test, "test")], early_stopping_rounds=3, verbose_eval=False
    )
    assert booster.best_iteration == theirs.best_iteration


ABSOLUTE = dict(objective="reg:absoluteerror")


@pytest.mark.parametrize(
    "how",
    [
        dict(),
        dict(eta=0.01),
        dict(eta=1, reg_alpha=2, max_delta_step=0.7),
        dict(num_parallel_tree=3),
        dict(booster="dart", rate_drop=1.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("extra", ["plain", "weights", "margins"])
def test_leaves_of_absolute_error_are_stock_exacts(how: dict, extra: str) -> None:
    """Sums of gradients of -1, 0 and 1 are exact, and so are those of weights that are multiples of 1/8."""
    x, y = make_data(600, 4, missing=0.2)
    how = of_unchanged_gains(**how)
    parts = dict(weights=dict(weight=np.arange(600) % 5 / 8), margins=dict(base_margin=np.cos(np.arange(600.0))))
    data, model = xgb.DMatrix(x, y, **parts.get(extra, {})), None
    for _ in range(5):
        ours, theirs = (xgb.train(to(max_depth=4, **ABSOLUTE, **how), data, 1, xgb_model=model) for to in (exact, stock))
        found = compare_trees(ours, theirs, x)
        assert not found.wrong and found.same > 20 * found.ties, found
        model = theirs
    first, second = (xgb.train(to(max_depth=4, **ABSOLUTE, **how), data, 1) for to in (exact, stock))
    # One rounding in a leaf's quotient, one in its product with eta, one in the sum with the base score.
    assert np.allclose(first.predict(data), second.predict(data), rtol=4 * FLOAT_EPS, atol=4 * FLOAT_EPS)


def compare_trees(ours: xgb.Booster, theirs: xgb.Booster, x: np.ndarray) -> Comparison:
    total = Comparison()
    for a, b in zip(trees_of(ours), trees_of(theirs)):
        total.add(compare(a, b, x, gradient_error=0.0))
    return total


def test_forests_of_absolute_error_stay_within_the_labels() -> None:
    x, y = make_data(900, 4)
    data = xgb.DMatrix(x, y)
    forest = dict(**ABSOLUTE, num_parallel_tree=3, subsample=0.5)
    errors = [np.abs(xgb.train(to(**forest), data, 30).predict(data) - y).mean() for to in (exact, stock)]
    # Samples differ. Both are near the spread of noise, 0.08, and medians that add up would be off by thousands.
    assert max(errors) < 0.3 * np.abs(y - np.median(y)).mean()
    random_forest = xgb.XGBRFRegressor(**exact(**ABSOLUTE), n_estimators=20, learning_rate=0.5).fit(x, y)
    other = xgb.XGBRFRegressor(**exact(**ABSOLUTE), n_estimators=20, learning_rate=1).fit(x, y)
    low, high = (np.abs(model.predict(x) - np.median(y)).max() for model in (random_forest, other))
    assert 0 < low < high < np.abs(y - np.median(y)).max()


def test_configuration_survives_and_stock_reads_it() -> None:
    x, y = make_data(500, 4)
    data = xgb.DMatrix(x, y)
    booster = xgb.train(exact(max_depth=4), data, 3)
    copy = pickle.loads(pickle.dumps(booster))
    copy.update(data, 3)
    booster.update(data, 3)
    assert raw(copy) == raw(booster)
    assert '"tree_method":"gpu_exact"' in booster.save_config()
    assert '"tree_method":"exact"' in booster.save_config()  # what a stock booster finds


def test_the_method_may_change_between_rounds() -> None:
    x, y = make_data(500, 4)
    data = xgb.DMatrix(x, y)
    booster = xgb.Booster(exact(max_depth=4), [data])
    booster.update(data, 0)
    booster.set_param({"tree_method": "gpu_hist", "max_bin": 16})
    booster.update(data, 1)
    booster.set_param({"tree_method": "gpu_exact"})
    booster.update(data, 2)
    one = xgb.train(exact(max_depth=4), data, 1)
    assert trees_of(booster)[0].same_as(trees_of(one)[0])
    assert np.array_equal(booster.predict(data), fresh(booster).predict(data))


@pytest.mark.parametrize(
    "how, words",
    [
        (dict(grow_policy="symmetric"), r"grow_policy is 'symmetric'.*allowed: depthwise \(with gpu_exact\)"),
        (dict(grow_policy="sideways"), r"grow_policy is 'sideways'; allowed: depthwise \(with gpu_exact\)"),
        (dict(sampling_method="dice"), r"sampling_method is 'dice'; allowed: uniform \(with gpu_exact\)"),
        (dict(grow_policy="lossguide"), "grow_policy is 'lossguide'.*allowed with gpu_exact: depthwise"),
        (dict(max_leaves=8), "max_leaves is 8.*allowed with gpu_exact: 0"),
        (dict(max_depth=0), "max_depth is 0.*allowed with gpu_exact: 1 or more"),
        (dict(sampling_method="gradient_based", subsample=0.5), "sampling_method is 'gradient_based'.*allowed with gpu_exact: uniform"),
        (dict(sampling_method="goss"), "sampling_method is 'goss'.*allowed with gpu_exact: uniform"),
    ],
    ids=str,
)
def test_what_exact_trees_do_not_have(how: dict, words: str) -> None:
    with pytest.raises(Error, match=words):
        xgb.train(exact(**how), xgb.DMatrix(*make_data(50, 3)), 1)


def test_bins_of_other_trees_do_not_pass_for_sorted_columns() -> None:
    x, y = make_data(100, 3)
    data = xgb.QuantileDMatrix(x, y)
    booster = xgb.train({**exact(), "tree_method": "gpu_hist"}, data, 1)
    words = "gpu_exact.*QuantileDMatrix.*allowed with gpu_exact: DMatrix"
    with pytest.raises(Error, match=words):
        xgb.train(exact(), data, 1)
    booster.set_param({"tree_method": "gpu_exact"})
    for _ in range(2):
        with pytest.raises(Error, match=words):
            booster.update(data, 1)
    booster.set_param({"tree_method": "gpu_hist"})
    booster.update(data, 1)
    assert_same_trees(booster, xgb.train({**exact(), "tree_method": "gpu_hist"}, data, 2))


def test_data_that_cannot_be_sorted(tmp_path) -> None:
    x, y = make_data(100, 3)
    with pytest.raises(Error, match="gpu_exact.*QuantileDMatrix.*allowed with gpu_exact: DMatrix"):
        xgb.train(exact(), xgb.QuantileDMatrix(x, y), 1)

    types = ["c", "q", "q"]
    with pytest.raises(Error, match="gpu_exact.*categorical.*allowed with gpu_exact: numerical"):
        xgb.train(exact(), xgb.DMatrix(np.abs(np.round(x)), y, feature_types=types, enable_categorical=True), 1)

    with pytest.raises(Error, match="gpu_exact.*external memory.*allowed with gpu_exact"):
        xgb.train(exact(), xgb.DMatrix(Batches(x, y, [50], str(tmp_path / "cache"))), 1)
