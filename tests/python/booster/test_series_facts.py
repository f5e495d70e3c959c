"""What newer series of XGBoost do in another way than 1.7, with boosters of ours: docs/migrating.md has the table."""

import json
from typing import Any, Dict

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from support import SERIES, only_ours, params, trees_of

ROWS = 200
RNG = np.random.default_rng(5)
X = RNG.integers(0, 6, size=(ROWS, 3)).astype(np.float32)
Y = (X[:, 0] + RNG.normal(size=ROWS) > 2.5).astype(np.float32)


def learner_of(booster: xgb.Booster) -> Dict[str, Any]:
    """The saved model."""
    return json.loads(bytes(booster.save_raw("json")))["learner"]


@pytest.mark.parametrize("given", [False, True], ids=["estimated", "given"])
def test_a_model_without_rounds(given: bool) -> None:
    data = xgb.DMatrix(X, label=Y)
    of_score = {"base_score": 0.3} if given else {}
    booster = xgb.train(params(objective="binary:logistic", **of_score), data, 0)
    without_rounds = 1 / (1 + np.exp(-0.5)) if SERIES >= 301 else 0.5
    # float rounds the margin, e^x and the quotient
    np.testing.assert_allclose(booster.predict(data), 0.3 if given else without_rounds, rtol=2.0**-21)


@only_ours
@pytest.mark.parametrize("end", [-1, -2])
@pytest.mark.parametrize("in_place", [False, True])
def test_a_range_that_ends_below_zero_is_refused(in_place: bool, end: int) -> None:
    data = xgb.DMatrix(X, label=Y)
    booster = xgb.train(params(objective="binary:logistic"), data, 3)
    with pytest.raises(xgb.core.XGBoostError, match=f"iteration_range ends at {end}; allowed: at most 3"):
        if in_place:
            booster.inplace_predict(X, iteration_range=(0, end))
        else:
            booster.predict(data, iteration_range=(0, end))


def test_categories_that_are_only_declared() -> None:
    def frame(values: Any, categories: Any) -> pd.DataFrame:
        return pd.DataFrame({"c": pd.Categorical(values, categories=categories), "x": X[: len(values), 1]})

    values = np.array(list("abc"))[X[:, 0].astype(int) % 3]
    train = xgb.DMatrix(frame(values, list("abcd")), label=Y, enable_categorical=True)  # no row has d
    booster = xgb.train(params(base_score=0.5, max_cat_to_onehot=1), train, 3)
    expected = booster.predict(train)
    assert np.ptp(expected) > 0
    more = xgb.DMatrix(frame(values, list("abcde")), label=Y, enable_categorical=True)  # no row has e
    if SERIES >= 301:
        with pytest.raises(xgb.core.XGBoostError, match="Found a category not in the training set .* [`']e[`']"):
            booster.predict(more)
    else:
        np.testing.assert_array_equal(booster.predict(more), expected)
    fewer = xgb.DMatrix(frame(values, list("abc")), label=Y, enable_categorical=True)
    np.testing.assert_array_equal(booster.predict(fewer), expected)


@pytest.mark.skipif(SERIES < 200, reason="XGBoost 1.7 has no get_quantile_cut")
def test_the_first_cut_is_below_all_values() -> None:
    ends, cuts = xgb.QuantileDMatrix(X, label=Y, max_bin=4).get_quantile_cut()
    assert len(ends) == X.shape[1] + 1
    firsts = cuts[ends[:-1].astype(int)]
    assert (firsts < X.min(axis=0)).all()
    assert np.isneginf(firsts).all() == (SERIES >= 303)


def test_the_intercept_does_not_know_base_margins() -> None:
    label = 10 * X[:, 0] + 100
    booster = xgb.train(params(), xgb.DMatrix(X, label=label, base_margin=label), 2)  # nothing is left to learn
    np.testing.assert_array_equal(booster.predict(xgb.DMatrix(X, base_margin=label)), label)
    # XGBoost sums 200 labels in float or double, and divides. The sum of magnitudes is the sum.
    intercept = label.mean() if SERIES >= 200 else 0.5
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(X)), intercept, rtol=ROWS * 2.0**-24)


def test_the_name_of_a_dart() -> None:
    data = xgb.DMatrix(X, label=Y)
    how = dict(objective="binary:logistic", base_score=0.5, rate_drop=0.5, one_drop=1)
    dart = xgb.train(params(booster="dart", **how), data, 4)
    gbm = learner_of(dart)["gradient_booster"]
    assert gbm["name"] == ("gbtree" if SERIES >= 303 else "dart")
    weights = gbm["weight_drop"] if "weight_drop" in gbm else gbm["model"]["weight_drop"]
    assert len(weights) == 4 and min(weights) < 1


@pytest.mark.filterwarnings("ignore:.*Parameters")  # XGBoost says that they are not used
def test_dropout_needs_no_dart_since_33() -> None:
    data = xgb.DMatrix(X, label=Y)
    how = dict(objective="binary:logistic", base_score=0.5)
    plain, dropping = (
        xgb.train(params(**how, **drop), data, 4).predict(data) for drop in ({}, {"rate_drop": 0.5, "one_drop": 1})
    )
    assert np.array_equal(plain, dropping) == (SERIES < 303)


def leaf_of_absolute_error(label: np.ndarray, rows: np.ndarray, eta: float) -> float:
    """The leaf of `rows`, for margins of 0."""
    if SERIES < 304:
        return float(np.median(label[rows])) * (1 if SERIES < 200 else eta)
    scale = np.sqrt(np.abs(label)).mean() ** 2
    curvature = scale / np.hypot(scale, label)
    return eta * (label * curvature)[rows].sum() / (curvature[rows].sum() + 1)


def test_leaves_of_absolute_error() -> None:
    label = (np.where(X[:, 0] < 3, -2, 5) + RNG.normal(size=ROWS)).astype(np.float32)
    eta = 0.5
    booster = xgb.train(
        params(objective="reg:absoluteerror", base_score=0, max_depth=1, eta=eta), xgb.DMatrix(X, label=label), 1
    )
    tree = trees_of(booster)[0]
    assert tree.nodes == 3 and tree.feature[0] == 0
    left = X[:, 0] < tree.threshold[0]
    for node, rows in ((tree.left[0], left), (tree.right[0], ~left)):
        # sums of 200 floats; gradients are rounded to float
        expected = leaf_of_absolute_error(label.astype(np.float64), rows, eta)
        assert tree.threshold[node] == pytest.approx(expected, rel=ROWS * 2.0**-24)


@pytest.mark.parametrize("method, stocks", [("gpu_hist", "hist"), ("gpu_exact", "exact")])
@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_delta_step": 0.3},
        {"monotone_constraints": "(0,0,0)"},
        {"monotone_constraints": "(1,0,-1)"},
        {"min_child_weight": 1000.0},
    ],
    ids=str,
)
def test_regularised_gains_are_those_of_the_series(limits: Dict[str, Any], method: str, stocks: str) -> None:
    """3.4 counts the L1 penalty of weights that limits choose, and a root below min_child_weight has a weight."""
    y = X[:, 0] + np.sin(X[:, 1])
    data = xgb.DMatrix(X, label=y)
    words = {"max_depth": 3, "base_score": 1.0, "reg_alpha": 8.0, "max_bin": 16, **limits}
    ours = xgb.train(params(tree_method=method, **words), data, 1).trees_to_dataframe()
    stock = xgb.train({"tree_method": stocks, **words}, data, 1).trees_to_dataframe()
    for column in ("Feature", "Yes", "No"):
        assert ours[column].equals(stock[column]), column
    # Stock adds gradients in float and double, ours in integers of 2^-14 or less of the largest.
    np.testing.assert_allclose(ours["Gain"].astype(float), stock["Gain"].astype(float), rtol=1e-3)
