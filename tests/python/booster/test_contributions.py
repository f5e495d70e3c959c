"""Contributions of features, which the library computes, beside stock XGBoost's for the same model."""

import json
from typing import Any, Dict

import numpy as np
import pytest
import xgboost as xgb
from support import (
    LIBRARY,
    OURS,
    SERIES,
    Tree,
    base_scores,
    fresh,
    make_data,
    only_before,
    only_ours,
    only_since,
    params,
    run_python,
    trees_of,
)

X, Y = make_data(600, 7, missing=0.1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)

CASES: Dict[str, Any] = {
    "regression": (Y, {}),
    "logistic": ((Y > 0).astype(np.float32), dict(objective="binary:logistic", base_score=0.2)),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=3)),
    "forest": (Y, dict(num_parallel_tree=3, subsample=0.7)),
    "lossguide": (Y, dict(grow_policy="lossguide", max_depth=0, max_leaves=40)),
    "stumps": (Y, dict(max_depth=1)),
    "no split": (Y, dict(gamma=1e9)),
    "dart": (Y, dict(booster="dart", rate_drop=0.3)),
}

if SERIES >= 303:
    CASES["vectors"] = (np.column_stack([Y, CLASSES, np.sin(Y)]), dict(multi_strategy="multi_output_tree"))


def booster_for(case: str, base_margin: Any = None):
    label, settings = CASES[case]
    data = xgb.DMatrix(X, label, base_margin=base_margin)
    return xgb.train({**params(max_depth=5), **settings}, data, 8), data


# What stock rounds: for each tree float32 sums over its paths, of magnitudes up to the tree's largest leaf, at most 64
# paths here and 24 trees: 24 · 64 · 2^-24 of the largest |contribution|, and the same for ours.
TOLERANCE = 2 * 24 * 64 * 2.0**-24


def assert_close(ours: np.ndarray, stock: np.ndarray, tolerance: float = TOLERANCE) -> None:
    assert ours.shape == stock.shape
    assert np.abs(ours - stock).max() <= tolerance * max(1.0, np.abs(stock).max())


@pytest.mark.parametrize("approximate", [False, True], ids=["exact", "approximate"])
@pytest.mark.parametrize("case", CASES)
def test_as_stock(case: str, approximate: bool) -> None:
    booster, data = booster_for(case)
    if case == "vectors" and approximate:
        with pytest.raises(xgb.core.XGBoostError, match="Approximate predict contribution|not yet implemented"):
            booster.predict(data, pred_contribs=True, approx_contribs=True)
        return
    ours = booster.predict(data, pred_contribs=True, approx_contribs=approximate)
    stock = fresh(booster).predict(xgb.DMatrix(X), pred_contribs=True, approx_contribs=approximate)
    assert_close(ours, stock)


@pytest.mark.parametrize("case", CASES)
def test_they_add_up_to_the_margin(case: str) -> None:
    booster, data = booster_for(case)
    margins = booster.predict(data, output_margin=True)
    sums = booster.predict(data, pred_contribs=True).sum(axis=-1, dtype=np.float64)
    assert np.abs(sums.reshape(margins.shape) - margins).max() <= TOLERANCE * max(1.0, np.abs(margins).max())


def test_margins_of_the_user_are_in_the_last_column() -> None:
    margin = np.sin(np.arange(len(X), dtype=np.float32))
    booster, data = booster_for("regression", base_margin=margin)
    ours = booster.predict(data, pred_contribs=True)
    assert_close(ours, fresh(booster).predict(xgb.DMatrix(X, base_margin=margin), pred_contribs=True))


def test_of_the_first_rounds() -> None:
    booster, data = booster_for("regression")
    for end in (1, 5, 8):
        ours = booster.predict(data, pred_contribs=True, iteration_range=(0, end))
        stock = fresh(booster).predict(xgb.DMatrix(X), pred_contribs=True, iteration_range=(0, end))
        assert_close(ours, stock)
    with pytest.raises(xgb.core.XGBoostError, match="supports only iteration end"):
        booster.predict(data, pred_contribs=True, iteration_range=(2, 5))


#: XGBoost 3.4 has words of its own.
MORE_COLUMNS = "The data have 8 columns, and the model has 7; allowed for|Number of columns does not match"


@only_ours
@pytest.mark.parametrize("kind", ["pred_contribs", "pred_interactions"] + ["pred_leaf"] * (SERIES >= 200))
def test_of_more_columns_than_the_model_has(kind: str) -> None:
    booster, _ = booster_for("regression")
    wide = xgb.DMatrix(np.ones((0, X.shape[1] + 1)))
    with pytest.raises(xgb.core.XGBoostError, match=MORE_COLUMNS):
        booster.predict(wide, validate_features=False, **{kind: True})


@only_ours
@pytest.mark.parametrize("kind", ["pred_contribs", "pred_interactions"])
def test_of_more_rounds_than_there_are(kind: str) -> None:
    """As SHAP asks: for as many rounds as there are trees. Bits tell that it is not stock code that answers."""
    data = xgb.DMatrix(X, np.arange(len(X)) % 3)
    booster = xgb.train(params(objective="multi:softprob", num_class=3, max_depth=3), data, 4)
    asked = booster.predict(data, **{kind: True}, iteration_range=(0, 12))
    assert np.array_equal(asked, booster.predict(data, **{kind: True}))


def test_they_follow_the_model() -> None:
    booster, data = booster_for("regression")
    before = booster.predict(data, pred_contribs=True)
    booster.update(data, 8)
    after = booster.predict(data, pred_contribs=True)
    assert not np.array_equal(before, after)
    assert_close(after, fresh(booster).predict(xgb.DMatrix(X), pred_contribs=True))
    other, _ = booster_for("stumps")
    booster.load_model(bytearray(other.save_raw("ubj")))
    assert_close(booster.predict(data, pred_contribs=True), other.predict(data, pred_contribs=True))


def test_any_number_of_threads_gives_the_same() -> None:
    booster, data = booster_for("classes")
    seen = []
    for threads in (1, 3):
        booster.set_param({"nthread": threads})
        seen.append(booster.predict(data, pred_contribs=True))
    assert np.array_equal(seen[0], seen[1])


# What stock rounds: for each column contributions with it and without it, as above, and their differences; on the
# diagonal the sum of a line more. At most 7 columns here: 2 + 7 times what contributions lose.
INTERACTION_TOLERANCE = 9 * TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_interactions_as_stock(case: str) -> None:
    booster, data = booster_for(case)
    ours = booster.predict(data, pred_interactions=True)
    stock = fresh(booster).predict(xgb.DMatrix(X), pred_interactions=True)
    assert_close(ours, stock, INTERACTION_TOLERANCE)
    if OURS:
        assert np.array_equal(ours, np.swapaxes(ours, -1, -2))


def test_interactions_of_the_first_rounds_on_margins_of_the_user() -> None:
    margin = np.sin(np.arange(len(X), dtype=np.float32))
    booster, data = booster_for("regression", base_margin=margin)
    limit = [dict(ntree_limit=5)] if SERIES < 200 else []
    for how in [dict(iteration_range=(0, 3)), dict(iteration_range=(0, 8), strict_shape=True), *limit]:
        ours = booster.predict(data, pred_interactions=True, **how)
        stock = fresh(booster).predict(xgb.DMatrix(X, base_margin=margin), pred_interactions=True, **how)
        assert_close(ours, stock, INTERACTION_TOLERANCE)
    with pytest.raises(xgb.core.XGBoostError, match="supports only iteration end"):
        booster.predict(data, pred_interactions=True, iteration_range=(2, 5))


@only_ours
@only_before(200, "there are no other predictors")
@pytest.mark.parametrize("kind", ["pred_contribs", "pred_interactions"])
def test_a_stock_booster_that_is_told_gpu_predictor_has_ours(kind: str) -> None:
    booster, data = booster_for("classes")
    expected = booster.predict(data, **{kind: True})
    loaded = fresh(booster)
    assert not np.array_equal(loaded.predict(data, **{kind: True}), expected)  # stock's are rounded otherwise
    loaded.set_param({"predictor": "gpu_predictor"})
    assert np.array_equal(loaded.predict(data, **{kind: True}), expected)
    loaded.set_param({"predictor": "cpu_predictor"})
    assert not np.array_equal(loaded.predict(data, **{kind: True}), expected)


def mean_with_halves(tree: Tree) -> float:
    """The mean of the leaves by the shares of the cover; below a node without cover each child has half."""
    means = tree.threshold.astype(np.float64)
    for node in reversed(tree.top_down()):
        children = [tree.left[node], tree.right[node]]
        if children[0] != -1:
            cover = tree.hess[node]
            shares = tree.hess[children].astype(np.float64) / cover if cover > 0 else np.full(2, 0.5)
            means[node] = shares @ means[children]
    return means[0]


@only_ours
def test_below_nodes_that_a_refresh_has_emptied_each_child_has_half() -> None:
    """Stock divides 0 by 0 there: it ends in an error about its paths, or in NaN."""
    booster, data = booster_for("regression")
    settings = {**params(), "process_type": "update", "updater": "refresh", "refresh_leaf": 0}
    emptied = xgb.train(settings, xgb.DMatrix(np.abs(X), Y), 8, xgb_model=booster)
    trees = trees_of(emptied)
    assert any((tree.hess[tree.splits] == 0).any() for tree in trees)
    contributions = emptied.predict(data, pred_contribs=True).astype(np.float64)
    largest = max(1.0, np.abs(contributions).max())
    assert np.abs(contributions.sum(axis=1) - emptied.predict(data)).max() <= TOLERANCE * largest
    means = base_scores(emptied)[0] + sum(map(mean_with_halves, trees))
    assert np.abs(contributions[:, -1] - means).max() <= TOLERANCE * largest
    interactions = emptied.predict(data, pred_interactions=True).astype(np.float64)
    assert np.abs(interactions.sum(axis=2) - contributions).max() <= INTERACTION_TOLERANCE * largest


@only_since(303, "it explains no trees of vectors")
def test_vectors_that_no_leaf_has_change_nothing() -> None:
    booster, data = booster_for("vectors")
    saved = json.loads(booster.save_raw("json"))
    for tree in saved["learner"]["gradient_booster"]["model"]["trees"]:
        tree["leaf_weights"] += [7.0, 8.0, 9.0] * len(tree["left_children"])
    loaded = xgb.Booster(params(), model_file=bytearray(json.dumps(saved).encode()))
    assert np.array_equal(loaded.predict(data, pred_contribs=True), booster.predict(data, pred_contribs=True))


def test_lines_of_interactions_sum_to_contributions() -> None:
    booster, data = booster_for("classes")
    interactions = booster.predict(data, pred_interactions=True)
    contributions = booster.predict(data, pred_contribs=True)
    # Each is a double, rounded once: eight on a line, and the contribution. The last has the base score added.
    largest = max(np.abs(interactions).max(), np.abs(contributions).max())
    assert np.abs(interactions.sum(axis=-1, dtype=np.float64) - contributions).max() <= 10 * 2.0**-24 * largest


def test_few_rows_and_approximate_interactions_are_stocks() -> None:
    booster, _ = booster_for("regression")
    for rows, approximate in ((2, False), (600, True)):
        how = dict(pred_interactions=True, approx_contribs=approximate)
        ours = booster.predict(xgb.DMatrix(X[:rows]), **how)
        assert np.array_equal(ours, fresh(booster).predict(xgb.DMatrix(X[:rows]), **how))


RANGES = {
    "boosters": {"gbtree": {}, "dart": dict(booster="dart", rate_drop=0.3)},
    "models": {
        "one": (Y, {}),
        "forest": (Y, dict(num_parallel_tree=2, subsample=0.7)),
        "classes": (CLASSES, dict(objective="multi:softprob", num_class=3)),
    },
    "kinds": {
        "leaves": dict(pred_leaf=True),
        "contributions": dict(pred_contribs=True),
        "approximate": dict(pred_contribs=True, approx_contribs=True),
        "interactions": dict(pred_interactions=True),
        "approximate interactions": dict(pred_interactions=True, approx_contribs=True),
    },
}


def ranged_model(booster: str, model: str) -> xgb.Booster:
    label, settings = RANGES["models"][model]
    return xgb.train(params(max_depth=3, **settings, **RANGES["boosters"][booster]), xgb.DMatrix(X, label), 9)


@only_ours
@pytest.mark.parametrize("rows", [3, 600], ids=["few rows", "many rows"])
@pytest.mark.parametrize("kind", RANGES["kinds"])
@pytest.mark.parametrize("model", RANGES["models"])
@pytest.mark.parametrize("booster", RANGES["boosters"])
def test_rounds_that_do_not_begin_with_the_first(booster: str, model: str, kind: str, rows: int) -> None:
    trained, asked, data = ranged_model(booster, model), RANGES["kinds"][kind], xgb.DMatrix(X[:rows])
    for begin, end in ((4, 7), (2, 0), (9, 9)):
        words = f"begins at {begin}; for {'contributions' if kind == 'approximate' else kind.split()[-1]}"
        with pytest.raises(xgb.core.XGBoostError, match="iteration_range " + words):
            trained.predict(data, iteration_range=(begin, end), **asked)
    refused = {(0, -1): "ends at -1; allowed: at most 9", (5, 2): "begins at 5 and ends at 2"}
    if kind == "leaves":
        refused[(0, 12)] = "ends at 12; allowed: at most 9"
    for (begin, end), words in refused.items():
        with pytest.raises(xgb.core.XGBoostError, match="iteration_range " + words):
            trained.predict(data, iteration_range=(begin, end), **asked)
    # What the message names instead.
    sliced = trained[4:7].predict(data, strict_shape=True, **asked)
    first, whole = (trained.predict(data, iteration_range=(0, end), strict_shape=True, **asked) for end in (5, 0))
    if kind == "leaves":
        assert sliced.shape[1] == 3 and np.array_equal(first, whole[:, :5])
        assert np.array_equal(sliced, whole[:, 4:7])
        return
    for parts, rounds in ((sliced, (4, 7)), (first, (0, 5)), (whole, (0, 9))):
        margins = trained.predict(data, iteration_range=rounds, output_margin=True).reshape(rows, -1)
        assert_close(parts.reshape(*margins.shape, -1).sum(axis=2), margins)


@only_ours
@pytest.mark.parametrize("model", RANGES["models"])
@pytest.mark.parametrize("booster", RANGES["boosters"])
def test_margins_of_any_rounds(booster: str, model: str) -> None:
    trained, data = ranged_model(booster, model), xgb.DMatrix(X)
    ways = (
        lambda who, rounds: who.predict(data, iteration_range=rounds, output_margin=True),
        lambda who, rounds: who.inplace_predict(X, iteration_range=rounds, predict_type="margin"),
    )
    for predict in ways:
        for begin, end in ((4, 7), (2, 9), (8, 9), (0, 3)):
            assert_close(predict(trained, (begin, end)), predict(trained[begin:end], (0, 0)))
        for rounds, words in (
            ((0, 12), "ends at 12; allowed: at most 9"),
            ((11, 12), "ends at 12"),
            ((0, -1), "ends at -1"),
            ((5, 2), "begins at 5 and ends at 2; allowed: 0 <= begin <= end <= 9"),
            ((-2, 3), "begins at -2"),
            ((11, 0), "begins at 11"),
        ):
            with pytest.raises(xgb.core.XGBoostError, match="iteration_range " + words):
                predict(trained, rounds)


def test_stock_methods_keep_their_results_for_any_rounds() -> None:
    code = """
import numpy as np, xgboost as xgb
xgb.set_config(verbosity=0)  # since 3.3 a line with the time says that darts are deprecated
x = np.random.default_rng(0).normal(size=(40, 3)); data = xgb.DMatrix(x, x[:, 0])
booster = xgb.train(dict(tree_method="hist", booster="dart", rate_drop=0.3, max_depth=2), data, 6)
for how in (dict(pred_contribs=True, iteration_range=(2, 4)), dict(pred_leaf=True, iteration_range=(0, 20))):
    try:
        print(booster.predict(data, **how).tobytes().hex())
    except xgb.core.XGBoostError as error:  # since 2.0
        print(str(error).splitlines()[0].split("] ", 1)[1])
"""
    alone, beside = (run_python(code, library=library).stdout for library in (None, LIBRARY or None))
    assert alone == beside and len(alone) > (1000 if SERIES < 200 else 100)
