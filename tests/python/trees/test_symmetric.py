"""grow_policy=symmetric: all nodes of a level have one split, and everything of XGBoost works on the models."""

import json
import pickle
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import (
    BACKEND,
    METHOD,
    SERIES,
    assert_adds_up,
    assert_same_trees,
    binary_labels,
    config_of,
    fresh,
    make_data,
    only_ours,
    other_method,
    params,
    raw,
    run_python,
    train,
    train_stock,
    tree_settings,
    trees_of,
)

pytestmark = only_ours

X, Y = make_data(1500, 6, seed=8, missing=0.1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.33, 0.66])).astype(np.float32)
ROUNDS = 5

# Predictions of stock code.
OF_STOCK = {"predictor": "cpu_predictor"} if SERIES < 200 else {"tree_method": "hist"}


def symmetric(**others: Any) -> Dict[str, Any]:
    return dict(grow_policy="symmetric", **others)


def matrix(y: np.ndarray = Y, **others: Any) -> xgb.DMatrix:
    return xgb.DMatrix(X, y, **others)


def assert_symmetric(booster: xgb.Booster) -> None:
    """Asserts that each level has one split, and that a leaf above the last level has no hessian."""
    for tree in trees_of(booster):
        depth = tree.depth
        for level in range(depth.max()):
            splits = tree.splits[depth[tree.splits] == level]
            for what in (tree.feature, tree.threshold, tree.default_left, tree.categories):
                assert len(set(what[splits])) == 1
        for leaf in tree.leaves:
            assert depth[leaf] == depth.max() or tree.hess[leaf] == 0


@pytest.mark.parametrize("depth", [1, 3, 6, 16])
def test_every_level_has_one_split(depth: int) -> None:
    booster = train(matrix(), ROUNDS, **symmetric(max_depth=depth))
    assert_symmetric(booster)
    deepest = max(tree.depth.max() for tree in trees_of(booster))
    assert deepest == depth or deepest > 8


def test_leaves_limit_the_depth() -> None:
    booster = train(matrix(), ROUNDS, **symmetric(max_depth=9, max_leaves=16))
    assert max(tree.depth.max() for tree in trees_of(booster)) == 4
    assert_same_trees(booster, train(matrix(), ROUNDS, **symmetric(max_depth=4)))
    assert_same_trees(booster, train(matrix(), ROUNDS, **symmetric(max_depth=0, max_leaves=16)))


SETTINGS = {
    "plain": (Y, {}),
    "logistic": (binary_labels(Y), dict(objective="binary:logistic")),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=3, max_depth=4)),
    "forest": (Y, dict(num_parallel_tree=3, subsample=0.6, colsample_bynode=0.6)),
    "dart": (Y, dict(booster="dart", rate_drop=0.4, seed=3)),
    "light": (Y, dict(min_child_weight=60)),
    "cut": (Y, dict(gamma=0.3)),
    "monotone": (Y, dict(monotone_constraints="(1,-1,0,0,1,0)")),
    "interactions": (Y, dict(interaction_constraints="[[0,1],[1,2,3]]")),
    "absolute error": (Y, dict(objective="reg:absoluteerror")),
    "goss": (Y, dict(sampling_method="goss")),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_stock_code_reads_predicts_explains_and_continues_the_model(case: str) -> None:
    y, how = SETTINGS[case]
    data = matrix(y)
    booster = train(data, ROUNDS, **symmetric(**how))
    if "num_parallel_tree" not in how and "absolute" not in case:
        assert_symmetric(booster)
    stock = fresh(booster, **OF_STOCK)
    assert np.array_equal(stock.predict(matrix(y)), booster.predict(matrix(y)))
    assert np.array_equal(stock.predict(matrix(y), pred_leaf=True), booster.predict(matrix(y), pred_leaf=True))
    if "num_class" not in how and how.get("booster") != "dart":
        margins = stock.predict(matrix(y), output_margin=True)
        assert np.abs(stock.predict(matrix(y), pred_contribs=True).sum(axis=1) - margins).max() < 1e-3
        if how.get("objective", "reg:squarederror") == "reg:squarederror":
            assert_adds_up(booster, booster.predict(matrix(y), pred_contribs=True), margins)
    booster_type = {"booster": how["booster"]} if "booster" in how else {}
    objective = {name: how[name] for name in ("objective", "num_class") if name in how}
    go_on = xgb.train({"tree_method": "hist", **booster_type, **objective}, data, 2, xgb_model=fresh(booster))
    assert go_on.num_boosted_rounds() == ROUNDS + 2
    again = xgb.train(params(**symmetric(**how)), data, 2, xgb_model=fresh(go_on))
    assert again.num_boosted_rounds() == ROUNDS + 4
    assert len(booster.get_dump(with_stats=True)) == len(trees_of(booster))


def test_training_margins_are_those_of_the_model() -> None:
    data, scores = matrix(), {}
    booster = xgb.train(
        params(**symmetric(max_depth=7, subsample=0.5, gamma=0.05)), data, 10, [(data, "train")], evals_result=scores,
        verbose_eval=False,
    )  # fmt: skip
    found = booster.predict(matrix())
    assert scores["train"]["rmse"][-1] == pytest.approx(float(np.sqrt(np.mean((found - Y) ** 2))), rel=1e-5)


def test_it_learns_what_other_trees_learn() -> None:
    data, x, y = matrix(), *make_data(1500, 6, seed=9, missing=0.1)
    errors = {}
    for policy in ("depthwise", "symmetric"):
        booster = train(data, 60, grow_policy=policy, max_depth=5, eta=0.2)
        errors[policy] = np.mean((booster.predict(xgb.DMatrix(x)) - y) ** 2)
    assert errors["symmetric"] < 1.1 * errors["depthwise"] < 0.5 * np.var(y)


def test_configurations_say_depthwise_to_stock_and_symmetric_to_us() -> None:
    booster = train(matrix(), 3, **symmetric(max_depth=4))
    saved = booster.save_config()
    assert tree_settings(booster)["grow_policy"] == "depthwise"
    for copy in (pickle.loads(pickle.dumps(booster)), booster.copy()):
        assert copy.save_config() == saved
        copy.update(matrix(), 3)
        assert_symmetric(copy)
    loaded = fresh(booster)
    loaded.load_config(saved)
    loaded.update(matrix(), 3)
    booster.update(matrix(), 3)
    assert_same_trees(loaded, booster)


def test_the_policy_may_change_between_rounds() -> None:
    data = matrix()
    booster = train(data, 2, **symmetric(max_depth=4))
    booster.set_param({"grow_policy": "depthwise"})
    booster.update(data, 2)
    assert "symmetric" not in json.dumps(config_of(booster))
    booster.set_param({"grow_policy": "symmetric"})
    booster.update(data, 3)
    assert_same_trees(booster[:2], train(matrix(), 2, **symmetric(max_depth=4)))
    booster.set_param({"tree_method": "hist", "grow_policy": "depthwise", **other_method()})
    booster.update(data, 4)
    assert booster.num_boosted_rounds() == 5


# What is set, and trains a round; what is set then.
WRONG = {
    "the method": ({}, [{"tree_method": "hist"}]),
    "the policy": ({"grow_policy": "depthwise", "tree_method": "approx"}, [{"grow_policy": "symmetric"}]),
    "both": ({}, [{"tree_method": "exact", "grow_policy": "symmetric"}]),
    "one after the other": ({}, [{"tree_method": "auto"}, {"grow_policy": "symmetric"}]),
    "the updater": ({}, [{"updater": "grow_histmaker"}]),
}


@pytest.mark.parametrize("updater", ["refresh", "prune"])
@pytest.mark.parametrize("chosen", [dict(tree_method="gpu_hist"), dict(updater="grow_gpu_hist")])
def test_updates_that_grow_nothing_keep_symmetric_models(chosen: Dict[str, Any], updater: str) -> None:
    x, y = make_data(300, 4, seed=3)
    data = xgb.DMatrix(x, y)
    booster = xgb.train(dict(grow_policy="symmetric", max_depth=4, **chosen), data, 3)
    updated = xgb.train(dict(process_type="update", updater=updater), data, 3, xgb_model=booster)
    assert updated.num_boosted_rounds() == 3
    with_method = dict(process_type="update", updater=updater, tree_method="hist")
    assert xgb.train(with_method, data, 3, xgb_model=booster).num_boosted_rounds() == 3


@pytest.mark.parametrize("right", ["depthwise", "lossguide", METHOD])
@pytest.mark.parametrize("wrong", WRONG)
def test_stock_methods_with_symmetric_trees_are_an_error_that_ends(wrong: str, right: str) -> None:
    data = matrix()
    booster = train(data, 2, **symmetric(max_depth=4))
    before, then = WRONG[wrong]
    booster.set_param({**before, **other_method()})
    booster.update(data, 2)
    expected = booster.predict(data)
    for one in then:
        booster.set_param(one)
    message = f"^Parameter grow_policy is 'symmetric' and {'updater' if 'updater' in then[0] else 'tree_method'} is '"
    for work in (lambda: booster.update(data, 3), lambda: booster.predict(data)):
        with pytest.raises(xgb.core.XGBoostError, match=message + ".*allowed: .*tree_method=gpu_hist.*depthwise"):
            work()
    is_ours = right == METHOD
    booster.set_param({"tree_method": METHOD, "updater": "grow_gpu_hist"} if is_ours else {"grow_policy": right})
    assert np.array_equal(booster.predict(data), expected)
    booster.update(data, 3)
    assert booster.num_boosted_rounds() == 4
    if is_ours:
        assert_symmetric(booster[3:])


def test_an_estimator_keeps_the_policy() -> None:
    model = xgb.XGBRegressor(n_estimators=4, **params(**symmetric(max_depth=4))).fit(X, Y)
    assert_symmetric(model.get_booster())
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_categories_have_one_set_a_level() -> None:
    rng = np.random.default_rng(1)
    x = X.copy()
    x[:, 0] = rng.integers(0, 25, len(x))
    x[:, 1] = rng.integers(0, 3, len(x))
    y = Y + np.isin(x[:, 0], (1, 5, 7, 20)) + (x[:, 1] == 1)
    data = xgb.DMatrix(x, y, feature_types=["c", "c", "q", "q", "q", "q"], enable_categorical=True)
    booster = train(data, ROUNDS, **symmetric(max_depth=5))
    assert sum(tree.categories[tree.splits].astype(bool).sum() for tree in trees_of(booster)) > 5
    for tree in trees_of(booster):  # thresholds of splits by categories are NaN
        tree.threshold = np.where(np.isnan(tree.threshold), 0, tree.threshold)
        for level in range(tree.depth.max()):
            of_level = tree.splits[tree.depth[tree.splits] == level]
            assert len({(tree.feature[n], tree.threshold[n], tree.categories[n]) for n in of_level}) == 1
    assert np.array_equal(fresh(booster).predict(data), booster.predict(data))
    assert np.corrcoef(booster.predict(data), y)[0, 1] > 0.6


def test_categories_lighter_than_min_child_weight_are_sorted_too() -> None:
    x = np.repeat(np.arange(6.0), 10)[:, None]
    data = xgb.DMatrix(x, x[:, 0] % 2, feature_types=["c"], enable_categorical=True)
    how = symmetric(max_depth=1, min_child_weight=15, reg_alpha=8, max_delta_step=0.01, max_cat_to_onehot=1)
    predicted = train(data, 1, **how).predict(data)
    assert np.array_equal(predicted == predicted[0], x[:, 0] % 2 == 0) and len(set(predicted)) == 2


def test_gains_may_be_negative_and_stock_prunes_such_splits() -> None:
    booster = train(matrix(), 20, **symmetric(max_depth=5, min_child_weight=30))

    def ends(tree: Any) -> np.ndarray:
        return np.array([n for n in tree.splits if tree.left[tree.left[n]] == -1 and tree.left[tree.right[n]] == -1])

    weak = [tree.gain[ends(tree)].min() < 0 for tree in trees_of(booster)]
    assert any(weak)
    how = {"process_type": "update", "updater": "prune", "gamma": 0}
    pruned = trees_of(xgb.train(how, matrix(), 20, xgb_model=fresh(booster)))
    fewer = [len(after.top_down()) < tree.nodes for after, tree in zip(pruned, trees_of(booster))]
    assert fewer == weak


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(max_depth=17), "max_depth is 17, but grow_policy is 'symmetric'.*1 to 16"),
        (dict(max_depth=0), "max_depth is 0.*'symmetric'.*max_leaves"),
        (dict(max_leaves=12), "max_leaves is 12, but grow_policy is 'symmetric'.*power of 2"),
        (dict(tree_method="gpu_exact"), r"grow_policy is 'symmetric'.*allowed: depthwise \(with gpu_exact\)"),
    ],
)
def test_what_symmetric_trees_do_not_take(wrong: Dict[str, Any], message: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=message):
        xgb.train({**params(**symmetric()), **wrong}, matrix(), 1)


@pytest.mark.parametrize("case", ["plain", "classes", "forest", "dart", "light"])
def test_large_predictions_have_the_bits_of_stock(case: str) -> None:
    y, how = SETTINGS[case]
    booster = train(matrix(y), ROUNDS, nthread=1, **symmetric(**how))
    # With a device, more than it is worth the way for.
    x, _ = make_data(135_000 if BACKEND == "cuda" else 20_000, 6, seed=11, missing=0.2)
    rows = xgb.DMatrix(x, base_margin=np.linspace(-1, 1, len(x) * how.get("num_class", 1)))
    stock = fresh(booster, **OF_STOCK)
    loaded = fresh(booster, nthread=1, **params())
    for one in (booster, loaded):
        for margins in (False, True):
            assert np.array_equal(one.predict(rows, output_margin=margins), stock.predict(rows, output_margin=margins))
        assert np.array_equal(one.predict(xgb.DMatrix(x)), stock.predict(xgb.DMatrix(x)))
        assert np.array_equal(one.inplace_predict(x), stock.inplace_predict(x))
        part = dict(iteration_range=(1, 3))
        if how.get("booster") != "dart":
            assert np.array_equal(one.predict(xgb.DMatrix(x), **part), stock.predict(xgb.DMatrix(x), **part))
        data = xgb.DMatrix(x)
        assert np.array_equal(one.predict(data), one.predict(data))  # the second time from XGBoost's cache
    booster.update(matrix(y), ROUNDS)
    assert np.array_equal(booster.predict(rows), fresh(booster).predict(rows))


def test_large_predictions_by_categories_have_the_bits_of_stock() -> None:
    rng = np.random.default_rng(2)
    rows = 135_000 if BACKEND == "cuda" else 20_000
    x = np.where(rng.random((rows, 4)) < 0.1, np.nan, rng.integers(0, 50, (rows, 4))).astype(np.float32)
    y = np.isin(x[:, 0], range(0, 50, 3)) + (x[:, 1] == 7) + x[:, 2] % 5
    how = dict(feature_types=["c", "c", "c", "q"], enable_categorical=True)
    booster = train(xgb.DMatrix(x[:3000], np.nan_to_num(y[:3000]), **how), ROUNDS, nthread=1, **symmetric())
    assert sum(tree.categories[tree.splits].astype(bool).sum() for tree in trees_of(booster)) > 5
    x[0] = x[1] = 49.5, -1, 2.0**24, 3e9  # between two categories, and none
    data = xgb.DMatrix(x, **how)
    expected = fresh(booster, **OF_STOCK).predict(data)
    for one in (booster, fresh(booster, nthread=1, **params())):
        assert np.array_equal(one.predict(xgb.DMatrix(x, **how)), expected)


def test_stock_code_predicts_where_memory_is_short(tmp_path: Path) -> None:
    code = """
import json, resource, sys, numpy as np, xgboost as xgb
sys.path.append(sys.argv[3])
import xgboost_gpu
file, how = sys.argv[1], json.loads(sys.argv[2])
x = np.random.default_rng(0).normal(size=(20_000, 6)).astype("f")
expected = xgb.Booster({"nthread": 1}, model_file=file).inplace_predict(x)
booster = xgb.Booster(how, model_file=file)
booster.inplace_predict(x[:10])
unlimited = resource.getrlimit(resource.RLIMIT_AS)
for extra in (4 << 20, 4 << 20, None):  # leaves of full trees take 25 MB
    used = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, unlimited[1]) if extra else unlimited)
    assert np.array_equal(booster.inplace_predict(x), expected)
"""
    how = params(**symmetric(max_depth=16, min_child_weight=0, eta=0.05, nthread=1))
    train(matrix(), 100, **how).save_model(tmp_path / "model.ubj")
    how["gpu_backend"] = "host"
    package = str(Path(__file__).parents[3] / "python")
    run_python(code, str(tmp_path / "model.ubj"), json.dumps(how), package, MALLOC_ARENA_MAX="1")


def test_refreshed_leaves_are_stocks() -> None:
    booster = train(matrix(), 3, **symmetric(max_depth=4))
    refreshed = xgb.train(
        {"process_type": "update", "updater": "refresh", "refresh_leaf": True}, matrix(), 3, xgb_model=fresh(booster)
    )
    assert [t.nodes for t in trees_of(refreshed)] == [t.nodes for t in trees_of(booster)]


def test_the_quality_beside_stock() -> None:
    y = binary_labels(Y)
    x, held = make_data(3000, 6, seed=10, missing=0.1)
    held = binary_labels(held)
    errors = {}
    for name, booster in {
        "ours": train(matrix(y), 40, **symmetric(objective="binary:logistic", max_depth=5, eta=0.15)),
        "stock": train_stock(matrix(y), 40, objective="binary:logistic", max_depth=5, eta=0.15),
    }.items():
        errors[name] = np.mean((booster.predict(xgb.DMatrix(x)) > 0.5) != held)
    assert errors["ours"] < errors["stock"] + 0.02


def test_models_are_the_same_bytes_whatever_holds_the_rows() -> None:
    how = symmetric(max_depth=6, max_bin=64)
    quantised = train(xgb.QuantileDMatrix(X, Y, max_bin=64), ROUNDS, **how)
    assert_same_trees(quantised, train(matrix(), ROUNDS, **how))
    assert raw(train(matrix(), ROUNDS, nthread=1, **how)) == raw(train(matrix(), ROUNDS, nthread=3, **how))
    assert BACKEND in ("host", "cuda", "auto")
