"""Trees whose leaves are vectors (multi_strategy=multi_output_tree): their numbers, their models, what refuses them."""

import json
import pickle
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pytest
import xgboost as xgb
from support import (
    BACKEND,
    LIBRARY,
    MODEL_FORMS,
    OURS,
    SERIES,
    Batches,
    Tree,
    few_values,
    fresh,
    only_before,
    only_ours,
    only_since,
    params,
    raw,
    run_python,
    stock_params,
)

VECTORS = {"multi_strategy": "multi_output_tree"}
since_302 = only_since(302, "gpu_hist has no trees of vectors there")
since_304 = only_since(304, "stock trees of vectors have other meanings, or less, there")


def make_targets(rows: int = 2000, missing: float = 0.1, seed: int = 0) -> Tuple[np.ndarray, np.ndarray]:
    """Features of at most 256 values, so that stock has the same cuts, and three targets that share features."""
    rng = np.random.default_rng(seed)
    x = few_values(rng.normal(size=(rows, 6)).astype(np.float32), 64)
    y = np.stack([2 * x[:, 0] + x[:, 1], x[:, 1] * (x[:, 2] > 0), x[:, 3] ** 2], 1) + 0.1 * rng.normal(size=(rows, 3))
    x[rng.random(size=x.shape) < missing] = np.nan
    return x, y.astype(np.float32)


X, Y = make_targets()
CLASSES = np.argmax(Y + np.array([0.0, 1.0, -0.5]), axis=1)
DATA = xgb.DMatrix(X, Y)


def train(rounds: int = 4, data: xgb.DMatrix = DATA, **others: Any) -> xgb.Booster:
    return xgb.train(params(**{**VECTORS, **others}), data, rounds)


def trees_of(booster: xgb.Booster) -> List[Dict[str, Any]]:
    return json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]


def shapes_of(booster: xgb.Booster) -> List[Tree]:
    """The trees without their vectors."""
    return [Tree.of({**tree, "tree_param": {}}) for tree in trees_of(booster)]


def tree_of_gradients(grad: Any, hess: Any, x: Any, **others: Any) -> Dict[str, Any]:
    """The tree of one round on gradients of two outputs."""
    data = xgb.DMatrix(np.array(x, dtype=np.float32).reshape(-1, 1), np.zeros((len(x), 2)))
    settings = {"num_target": 2, "base_score": 0.0, "eta": 1, "max_depth": 1, "min_child_weight": 0, **VECTORS, **others}
    booster = xgb.Booster(params(objective="reg:squarederror", **settings), [data])
    booster.boost(data, 0, grad=np.array(grad, dtype=np.float32), hess=np.array(hess, dtype=np.float32))
    return trees_of(booster)[0]


GRAD = [[1, 2], [1, -3], [-1, 0.5], [-4, 1]]
HESS = [[1, 0.1], [1, 0.2], [1, 0.3], [1, 0.4]]

# The gain of the split and the weights of root, left and right leaf, as stock 3.4.1 has them. Sums of hessians: 2 and .3 to
# the left, 2 and .7 to the right.
NUMBERS: List[Tuple[Dict[str, Any], float, List[float]]] = [
    ({}, 9.834427, [0.6, -0.25, -0.6666667, 0.7692308, 1.6666666, -0.88235295]),
    ({"eta": 0.3}, 9.834427, [0.6, -0.25, -0.2, 0.23076923, 0.5, -0.2647059]),
    ({"reg_alpha": 0.5}, 7.030543, [0.5, 0, -0.5, 0.3846154, 1.5, -0.58823526]),
    ({"max_delta_step": 0.4}, 4.435, [0.4, -0.25, -0.4, 0.4, 0.4, -0.4]),
    ({"reg_alpha": 0.5, "max_delta_step": 0.4}, 3.3603077, [0.4, 0, -0.4, 0.3846154, 0.4, -0.4]),
    ({"min_child_weight": 1.1}, 9.834427, [0.6, -0.25, -0.6666667, 0.7692308, 1.6666666, -0.88235295]),
    ({"min_child_weight": 1.2}, 0, [0.6, -0.25]),
    ({"gamma": 9.8}, 9.834427, [0.6, -0.25, -0.6666667, 0.7692308, 1.6666666, -0.88235295]),
    ({"gamma": 9.9}, 0, [0.6, -0.25]),
    ({"monotone_constraints": "(1)"}, 7.825, [0.6, -0.25, -0.6666667, -0.16666667, 1.6666666, -0.16666667]),
    ({"monotone_constraints": "(-1)"}, 1.66776, [0.6, -0.25, 0.5, 0.7692308, 0.5, -0.88235295]),
]


@since_302
@pytest.mark.skipif(not OURS and SERIES < 304, reason="stock of this series has other numbers")
@pytest.mark.parametrize("settings, gain, weights", NUMBERS)
def test_a_tree_has_these_numbers(settings: Dict[str, Any], gain: float, weights: List[float]) -> None:
    tree = tree_of_gradients(GRAD, HESS, [0, 0, 1, 1], **settings)
    np.testing.assert_allclose(tree["base_weights"], weights, rtol=2e-6, atol=1e-7)
    assert tree["loss_changes"][0] == pytest.approx(gain, rel=2e-6)
    covers = [5.0, 2.3, 2.7] if gain else [5.0]
    np.testing.assert_allclose(tree["sum_hessian"], covers, rtol=1e-6)
    if gain:
        assert tree["leaf_weights"] == tree["base_weights"][2:]


def categories() -> xgb.DMatrix:
    """Column 2 has 20 categories, which the targets know, and column 5 has 3."""
    x = X.copy()
    x[:, 2] = np.arange(len(x)) * 7 % 20
    x[:, 5] = np.arange(len(x)) % 3
    y = Y + np.stack([np.sin(x[:, 2]), np.cos(x[:, 2]), x[:, 5]], 1)
    x[::17, 2] = np.nan
    return xgb.DMatrix(x, y, feature_types=["q", "q", "c", "q", "q", "c"], enable_categorical=True)


LIKE_STOCK: Dict[str, Dict[str, Any]] = {
    "defaults": {},
    "depth": {"max_depth": 3, "reg_lambda": 3.0},
    "alpha": {"reg_alpha": 5.0},
    "gamma": {"gamma": 20.0},
    "lossguide": {"grow_policy": "lossguide", "max_leaves": 11, "max_depth": 0},
    "leaves": {"max_leaves": 11},
}
LIKE_STOCK_304: Dict[str, Dict[str, Any]] = {
    "weight": {"min_child_weight": 60},
    "step": {"max_delta_step": 0.1, "reg_alpha": 2.0},
    "monotone": {"monotone_constraints": "(1,1,0,0,-1,1)"},
    "interactions": {"interaction_constraints": "[[0,1],[1,2,3]]"},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "categories": {"max_cat_to_onehot": 4},
    "categories one by one": {"max_cat_to_onehot": 100},
    "few categories on a side": {"max_cat_threshold": 4},
}


@since_302
@pytest.mark.parametrize("name", [*LIKE_STOCK, *(LIKE_STOCK_304 if SERIES >= 304 else ())])
def test_a_model_is_that_of_stock_hist(name: str) -> None:
    """In the first rounds sums of floats and of integers lead to the same splits."""
    settings = {**LIKE_STOCK, **LIKE_STOCK_304}[name]
    if SERIES < 304:
        settings = {"min_child_weight": 0, **settings}
    data = xgb.DMatrix(X, CLASSES) if "num_class" in settings else categories() if "categories" in name else DATA
    ours = train(2, data, **settings)
    stock = xgb.train(stock_params(**VECTORS, **settings), data, 2)
    for a, b in zip(trees_of(ours), trees_of(stock)):
        assert bool(a["categories"]) == ("categories" in name)
        assert len(a["parents"]) > 8
        same = "parents left_children right_children split_indices default_left categories split_type"
        for field in same.split():
            assert a[field] == b[field], field
        np.testing.assert_allclose(a["sum_hessian"], b["sum_hessian"], rtol=1e-5)
        np.testing.assert_allclose(a["leaf_weights"], b["leaf_weights"], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(a["base_weights"], b["base_weights"], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(a["loss_changes"], b["loss_changes"], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(ours.predict(data), stock.predict(data), rtol=1e-4, atol=1e-5)


@since_302
@pytest.mark.parametrize("objective", ["reg:squarederror", "multi:softprob", "binary:logistic"])
def test_a_model_is_as_good_as_that_of_stock_hist(objective: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(9000, 8)).astype(np.float32)
    scores = np.stack([x[:, 0] + x[:, 1] * x[:, 2], np.sin(2 * x[:, 3]), np.abs(x[:, 4]) - x[:, 0]], 1)
    y: np.ndarray = scores + 0.5 * rng.normal(size=scores.shape)
    how: Dict[str, Any] = {"objective": objective, **VECTORS}
    if objective == "multi:softprob":
        y, how["num_class"] = np.argmax(y, axis=1), 3
    elif objective == "binary:logistic":
        y = (y > 0).astype(np.float32)
    data, test = xgb.DMatrix(x[:6000], y[:6000]), xgb.DMatrix(x[6000:], y[6000:])

    def loss(method: Dict[str, Any]) -> float:
        result: Dict[str, Any] = {}
        xgb.train({**method, **how}, data, 30, evals=[(test, "test")], evals_result=result, verbose_eval=False)
        return next(iter(result["test"].values()))[-1]

    # Cuts differ, and so do all splits after some rounds. Losses of stock with max_bin from 200 to 256 lie within 2 %.
    assert loss(params()) == pytest.approx(loss(stock_params()), rel=0.03)


@since_302
@pytest.mark.parametrize("form", MODEL_FORMS)
def test_a_saved_model_is_the_model(form: str) -> None:
    booster = train(subsample=0.7)
    loaded = xgb.Booster(model_file=booster.save_raw(form))
    assert booster.predict(DATA).shape == Y.shape
    np.testing.assert_array_equal(loaded.predict(DATA), booster.predict(DATA))
    np.testing.assert_array_equal(loaded.inplace_predict(X), booster.inplace_predict(X))
    assert raw(loaded) == raw(booster)


@since_302
def test_pickles_copies_and_slices_are_the_model() -> None:
    booster = train()
    predictions = booster.predict(DATA)
    for other in (pickle.loads(pickle.dumps(booster)), booster.copy()):
        np.testing.assert_array_equal(other.predict(DATA), predictions)
        other.update(DATA, 4)
        assert raw(other) == raw(train(5))
    np.testing.assert_array_equal(booster[:2].predict(DATA), train(2).predict(DATA))


@since_302
def test_stock_xgboost_alone_reads_the_model(tmp_path: Any) -> None:
    booster = train()
    booster.save_model(tmp_path / "model.ubj")
    np.save(tmp_path / "x.npy", X)
    code = (
        "import sys, numpy as np, xgboost as xgb\n"
        "booster = xgb.Booster(model_file=sys.argv[1] + '/model.ubj')\n"
        "data = xgb.DMatrix(np.load(sys.argv[1] + '/x.npy'))\n"
        "print(booster.predict(data).tobytes().hex())\n"
        "print(bytes(booster.save_raw('ubj')).hex())\n"
    )
    predictions, model = run_python(code, str(tmp_path)).stdout.split()[-2:]
    assert predictions == booster.predict(DATA).tobytes().hex()
    assert model == raw(booster).hex()


@since_302
def test_a_training_that_goes_on_is_one_training() -> None:
    once = train(6)
    half = train(3)
    assert raw(xgb.train(params(**VECTORS), DATA, 3, xgb_model=half)) == raw(once)
    reloaded = xgb.train(params(**VECTORS), xgb.DMatrix(X, Y), 3, xgb_model=bytearray(half.save_raw("ubj")))
    np.testing.assert_array_equal(reloaded.predict(DATA), once.predict(DATA))


@since_302
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"subsample": 0.5, "colsample_bynode": 0.6, "seed": 3},
        {"num_parallel_tree": 3, "subsample": 0.6},
        pytest.param({"grow_policy": "symmetric", "gamma": 25.0, "max_depth": 8, "subsample": 0.6}, marks=only_ours),
    ],
    ids=["plain", "samples", "forest", "symmetric"],
)
def test_margins_that_are_kept_are_those_of_the_model(settings: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, Y, weight=np.linspace(0.5, 2, len(X)), base_margin=0.1 * Y)
    booster = train(4, data, **settings)
    expected = fresh(booster).predict(xgb.DMatrix(X, base_margin=0.1 * Y))
    np.testing.assert_allclose(booster.predict(data), expected, rtol=1e-5, atol=1e-5)
    assert len(trees_of(booster)) == 4 * settings.get("num_parallel_tree", 1)
    assert raw(train(4, data, nthread=1, **settings)) == raw(train(4, data, nthread=3, **settings))


@since_302
def test_evaluation_and_early_stopping() -> None:
    test = xgb.DMatrix(*make_targets(500, seed=9))
    result: Dict[str, Any] = {}
    booster = xgb.train(
        params(**VECTORS, eta=1.0, max_depth=8),
        DATA,
        40,
        evals=[(DATA, "train"), (test, "test")],
        evals_result=result,
        early_stopping_rounds=2,
        verbose_eval=False,
    )
    assert len(result["test"]["rmse"]) == booster.best_iteration + 3 < 40
    for data, name in ((DATA, "train"), (test, "test")):
        error = booster.predict(data) - data.get_label().reshape(-1, 3)
        assert result[name]["rmse"][-1] == pytest.approx(float(np.sqrt(np.mean(error**2))), rel=1e-5)


@since_302
def test_estimators() -> None:
    how = params(**VECTORS, n_estimators=5, max_depth=4)
    regressor = xgb.XGBRegressor(**how).fit(X, Y)
    np.testing.assert_array_equal(regressor.predict(X), train(5, max_depth=4).predict(DATA))
    assert len(trees_of(regressor.get_booster())) == 5
    classifier = xgb.XGBClassifier(**how, objective="multi:softprob").fit(X, CLASSES)
    assert len(trees_of(classifier.get_booster())) == 5
    assert np.mean(classifier.predict(X) == CLASSES) > 0.8
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))


@since_302
@pytest.mark.parametrize("kind", ["array", "batches"])
def test_a_matrix_of_bins_is_predicted_by_its_values(kind: str) -> None:
    x = np.random.default_rng(5).normal(size=(1500, 4)).astype(np.float32)  # more values than bins
    y = np.stack([x[:, 0] ** 2, x[:, 1] * x[:, 2]], 1)
    data = xgb.DMatrix(x, y)
    binned = xgb.QuantileDMatrix(x, y) if kind == "array" else xgb.QuantileDMatrix(Batches(x, y, [500, 1500]))
    booster = train(4, binned)
    assert kind != "array" or raw(booster) == raw(train(4, data))
    for of in (booster, fresh(booster, **params(**VECTORS))):
        np.testing.assert_array_equal(of.predict(binned), of.predict(data))
    result: Dict[str, Any] = {}
    how = params(**VECTORS)
    evals = [(binned, "bins"), (data, "values")]
    on = xgb.train(how, binned, 2, evals=evals, xgb_model=bytearray(raw(booster)), evals_result=result, verbose_eval=False)
    np.testing.assert_array_equal(on.predict(binned), on.predict(data))
    np.testing.assert_allclose(result["bins"]["rmse"], result["values"]["rmse"], rtol=1e-6)


@only_ours
@since_302
@pytest.mark.skipif(BACKEND != "cuda", reason="without a GPU there is nothing to say")
@pytest.mark.parametrize(
    "more, why",
    [
        ({}, ""),
        ({"objective": "binary:logistic", "subsample": 0.7, "colsample_bynode": 0.5}, ""),
        ({"grow_policy": "lossguide", "max_leaves": 9, "num_parallel_tree": 2}, ""),
        pytest.param({"booster": "dart", "rate_drop": 0.5}, "where trees are dropped (dart)", marks=since_304),
        ({"gpu_memory_limit": "1GiB"}, "with gpu_memory_limit"),
        pytest.param({"kind": "c"}, "", marks=since_304),
        pytest.param({"kind": "c", "max_cat_to_onehot": 30, "subsample": 0.7}, "", marks=since_304),
        pytest.param({"kind": "c", "max_cat_threshold": 5, "grow_policy": "lossguide"}, "", marks=since_304),
        pytest.param({"kind": "c", "grow_policy": "symmetric", "min_child_weight": 40}, "", marks=since_304),
        ({"grow_policy": "symmetric", "subsample": 0.7, "gamma": 3}, ""),
    ],
    ids=str,
)
def test_a_gpu_gives_the_model_of_the_cpu_and_a_line_says_where_it_grows_none(more: Dict[str, Any], why: str) -> None:
    """With evaluations of the training's rows and of others."""
    code = (
        "import numpy as np, xgboost as xgb\n"
        f"more, found = {more!r}, []\n"
        "kind = more.pop('kind', 'q')\n"
        "x = np.arange(8000, dtype=np.float32).reshape(2000, 4) % 23\n"
        "y = (x[:, :2] > 11).astype(np.float32) + (x[:, 2:] > 5) * (x[:, 1:3] > 7)\n"
        "if 'objective' in more: y = np.minimum(y, 1)\n"
        "how = {'tree_method': 'gpu_hist', 'multi_strategy': 'multi_output_tree', 'verbosity': 2, **more}\n"
        "for backend in ('cuda', 'host'):\n"
        "    make = lambda rows: xgb.DMatrix(x[rows], y[rows], feature_types=[kind] * 4, enable_categorical=True)\n"
        "    data, other, result = make(slice(0, 1500)), make(slice(1500, 2000)), {}\n"
        "    booster = xgb.train({**how, 'gpu_backend': backend}, data, 4, [(data, 'a'), (other, 'b')],\n"
        "                        evals_result=result, verbose_eval=False)\n"
        "    found.append((bytes(booster.save_raw('ubj')), booster.predict(other).tobytes(), str(result)))\n"
        "print([a == b for a, b in zip(*found)])\n"
    )
    run = run_python(code, library=LIBRARY)
    assert run.stdout.splitlines()[-1] == "[True, True, True]"
    lines = run.stdout + run.stderr
    assert lines.count("trees of vectors grow on the CPU") == (1 if why else 0)
    assert why in lines


SYMMETRIC: Dict[str, Dict[str, Any]] = {
    "plain": {"max_depth": 5},
    "light": {"min_child_weight": 150, "max_depth": 4},
    "leaves": {"max_depth": 0, "max_leaves": 16},
    "monotone": {"monotone_constraints": "(1,-1,0,0,1,0)", "reg_alpha": 1.0},
    "interactions": {"interaction_constraints": "[[0,1],[1,2,3]]", "colsample_bynode": 0.8},
    "classes": {"objective": "multi:softprob", "num_class": 3},
    "forest": {"num_parallel_tree": 3, "subsample": 0.6},
}
if SERIES >= 304:
    SYMMETRIC.update({"categories": {"max_cat_to_onehot": 4}, "dart": {"booster": "dart", "rate_drop": 0.5, "seed": 4}})


@only_ours
@since_302
@pytest.mark.parametrize("case", SYMMETRIC)
def test_symmetric_trees_have_one_split_a_level(case: str) -> None:
    settings = SYMMETRIC[case]
    data = xgb.DMatrix(X, CLASSES) if case == "classes" else categories() if case == "categories" else DATA
    booster = train(4, data, grow_policy="symmetric", **settings)
    for tree in shapes_of(booster):
        for level in range(tree.depth.max()):
            splits = tree.splits[tree.depth[tree.splits] == level]
            for what in (tree.feature, np.nan_to_num(tree.threshold), tree.default_left, tree.categories):
                assert len(set(what[splits])) == 1
        assert tree.depth.max() > 1
        assert all(tree.depth[leaf] == tree.depth.max() or tree.hess[leaf] == 0 for leaf in tree.leaves)
    stock = fresh(booster, tree_method="hist")
    np.testing.assert_array_equal(stock.predict(data), booster.predict(data))
    more = {"objective": settings["objective"], "num_class": 3} if case == "classes" else {}
    if case not in ("dart", "forest"):
        on = xgb.train({**VECTORS, **more, "tree_method": "hist"}, data, 2, xgb_model=fresh(booster))
        assert on.num_boosted_rounds() == 6


@only_ours
@since_302
def test_symmetric_trees_learn_what_others_learn() -> None:
    x, y = make_targets(seed=3)
    errors = {}
    for policy in ("depthwise", "symmetric"):
        booster = train(60, grow_policy=policy, max_depth=5, eta=0.2)
        errors[policy] = np.mean((booster.predict(xgb.DMatrix(x)) - y) ** 2)
    assert errors["symmetric"] < 1.1 * errors["depthwise"] < 0.5 * np.var(y)


@only_ours
@since_302
def test_the_policy_is_kept_in_configurations_and_may_change() -> None:
    booster = train(2, grow_policy="symmetric", max_depth=4)
    copy = pickle.loads(pickle.dumps(booster))
    for each in (booster, copy):
        each.update(DATA, 2)
    assert raw(copy) == raw(booster) == raw(train(3, grow_policy="symmetric", max_depth=4))
    booster.set_param({"grow_policy": "depthwise"})
    booster.update(DATA, 3)
    booster.set_param({"grow_policy": "symmetric"})
    booster.update(DATA, 4)
    margins = fresh(booster).predict(DATA, output_margin=True)
    np.testing.assert_allclose(booster.predict(DATA, output_margin=True), margins, rtol=1e-5, atol=1e-5)
    assert raw(booster[:3]) == raw(copy)


@since_302
def test_objectives_of_the_user() -> None:
    def squared(predt: np.ndarray, data: xgb.DMatrix) -> Tuple[np.ndarray, np.ndarray]:
        return predt - data.get_label().reshape(predt.shape), np.ones_like(predt)

    how = params(**VECTORS, num_target=3, base_score=0.5)
    mine = xgb.train(how, DATA, 3, obj=squared)
    np.testing.assert_allclose(mine.predict(DATA), train(3, base_score=0.5).predict(DATA), rtol=1e-5, atol=1e-6)


@since_302
def test_with_one_output_trees_are_ordinary() -> None:
    data = xgb.DMatrix(X, Y[:, 0])
    assert trees_of(train(3, data)) == trees_of(xgb.train(params(), data, 3))


@since_304
def test_what_stock_makes_of_a_model() -> None:
    booster = train(2, max_depth=2)
    margins = booster.predict(DATA, output_margin=True)
    contributions = booster.predict(DATA, pred_contribs=True)
    assert contributions.shape == (len(X), 3, X.shape[1] + 1)
    np.testing.assert_allclose(contributions.sum(axis=2), margins, rtol=1e-3, atol=1e-3)
    assert all("leaf=[" in dump and "cover=" in dump for dump in booster.get_dump(with_stats=True))
    assert booster.predict(DATA, pred_leaf=True).shape == (len(X), 2)
    assert set(booster.get_score(importance_type="total_gain")) <= {f"f{i}" for i in range(6)}


@since_304
@pytest.mark.parametrize("form", MODEL_FORMS)
def test_splits_by_categories_are_saved(form: str) -> None:
    data = categories()
    booster = train(3, data)
    loaded = xgb.Booster(model_file=booster.save_raw(form))
    np.testing.assert_array_equal(loaded.predict(data), booster.predict(data))
    assert raw(loaded) == raw(booster)


@since_304
def test_trees_are_dropped() -> None:
    booster = train(6, booster="dart", rate_drop=0.5, seed=4)
    np.testing.assert_allclose(booster.predict(DATA), fresh(booster).predict(DATA), rtol=1e-5, atol=1e-5)
    assert np.mean((booster.predict(DATA) - Y) ** 2) < np.mean((Y - Y.mean(axis=0)) ** 2)


REFUSED: List[Tuple[Dict[str, Any], Callable[[], xgb.DMatrix], str]] = [
    ({"tree_method": "gpu_exact"}, lambda: DATA, "gpu_exact does not have"),
    ({"sampling_method": "goss"}, lambda: DATA, "sampling_method is 'goss'.*uniform"),
    ({"sampling_method": "gradient_based", "subsample": 0.5}, lambda: DATA, "sampling_method is 'gradient_based'.*uniform"),
]
if SERIES < 303:
    REFUSED.append(({"booster": "dart"}, lambda: DATA, "dart support for multi-target tree"))
if SERIES < 304:
    REFUSED.append(({}, categories, "feature 2 is categorical.*XGBoost 3.4"))
    REFUSED.append(({"objective": "reg:absoluteerror"}, lambda: DATA, "sets leaves after growth.*3.4"))


@only_ours
@since_302
@pytest.mark.parametrize("settings, data, words", REFUSED)
def test_what_such_trees_do_not_have_is_refused(
    settings: Dict[str, Any], data: Callable[[], xgb.DMatrix], words: str
) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        train(1, data(), **settings)


@only_ours
@since_304
def test_gradients_of_leaves_alone_are_refused() -> None:
    from xgboost.objective import TreeObjective

    class Reduced(TreeObjective):
        def __call__(self, iteration: int, y_pred: Any, dtrain: xgb.DMatrix) -> Tuple[Any, Any]:
            return y_pred - dtrain.get_label().reshape(y_pred.shape), np.ones_like(y_pred)

        def split_grad(self, iteration: int, grad: Any, hess: Any) -> Tuple[Any, Any]:
            return grad[:, :1].copy(), hess[:, :1].copy()

    with pytest.raises(xgb.core.XGBoostError, match="split_grad.*tree_method=hist"):
        xgb.train(params(**VECTORS, num_target=3, base_score=0.5), DATA, 1, obj=Reduced())


@only_ours
@only_since(300, "multi_strategy has no effect")
@only_before(302, "such trees grow")
def test_an_older_series_refuses_them() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="multi_strategy is 'multi_output_tree'.*XGBoost 3.2 or newer"):
        train(1)


@only_ours
@since_302
def test_other_trees_do_not_go_on_from_them() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="has trees of vectors.*multi_strategy=multi_output_tree"):
        xgb.train(params(), DATA, 1, xgb_model=bytearray(raw(train(1))))
