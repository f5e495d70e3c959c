"""The intercept, which XGBoost estimates from the labels since 2.0: stock's, given or not, and part of every prediction."""

from typing import Any, Dict, Tuple

import numpy as np
import pytest
import xgboost as xgb
from support import SERIES, assert_same_trees, base_scores, fresh, make_data, only_ours, only_since, params, stock_params

X, Y = make_data(600, 4, missing=0.1)
POSITIVE = np.exp(Y).astype(np.float32)
CLASSES = np.digitize(Y, [-0.5, 0.7]).astype(np.float32)
OBJECTIVES: Dict[str, Tuple[np.ndarray, Dict[str, Any]]] = {
    "reg:squarederror": (Y + 3, {}),
    "reg:squaredlogerror": (POSITIVE, {}),
    "reg:pseudohubererror": (Y, {}),
    "reg:absoluteerror": (Y, {}),
    "binary:logistic": ((Y > 0.8).astype(np.float32), {}),
    "binary:hinge": ((Y > 0.8).astype(np.float32), {}),
    "count:poisson": (np.floor(POSITIVE), {}),
    "reg:gamma": (POSITIVE, {}),
    "reg:tweedie": (np.floor(POSITIVE), {}),
    "multi:softprob": (CLASSES, dict(num_class=3)),
    "rank:pairwise": (CLASSES, {}),
}
#: What is estimated: in 1.7 medians alone. Ranks have no intercept.
ESTIMATED = [name for name in OBJECTIVES if name != "rank:pairwise"] if SERIES >= 300 else ["reg:absoluteerror"]
if SERIES < 301 and SERIES >= 300:
    ESTIMATED.remove("multi:softprob")


def data_of(objective: str, weighted: bool) -> xgb.DMatrix:
    groups = [200, 300, 100] if objective.startswith("rank") else None
    weight = np.arange(3 if groups else len(Y)) % 5 if weighted else None
    return xgb.DMatrix(X, OBJECTIVES[objective][0], group=groups, weight=weight)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_is_stocks(objective: str, weighted: bool) -> None:
    how = dict(objective=objective, nthread=1, **OBJECTIVES[objective][1])
    ours, stock = (xgb.train(of(**how), data_of(objective, weighted), 2) for of in (params, stock_params))
    assert base_scores(ours).tobytes() == base_scores(stock).tobytes()


@pytest.mark.parametrize("objective", ESTIMATED)
def test_it_is_estimated(objective: str) -> None:
    how = dict(objective=objective, **OBJECTIVES[objective][1])
    assert not np.any(base_scores(xgb.train(params(**how), data_of(objective, False), 1)) == 0.5)


@pytest.mark.parametrize("given", [None, 0.25])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_prediction_has_it(objective: str, given: Any) -> None:
    """Of the training, of the model alone, in place, and of the sum of contributions."""
    how = dict(objective=objective, **OBJECTIVES[objective][1])
    if given is not None:
        how["base_score"] = given
    data = data_of(objective, True)
    booster = xgb.train(params(max_depth=3, **how), data, 4)
    if given is not None:
        assert np.all(base_scores(booster) == given)
    margins = booster.predict(data, output_margin=True)
    assert np.array_equal(margins, fresh(booster).predict(xgb.DMatrix(X), output_margin=True))
    assert np.array_equal(booster.inplace_predict(X, predict_type="margin"), margins)
    sums = booster.predict(xgb.DMatrix(X), pred_contribs=True).sum(axis=-1)
    np.testing.assert_allclose(sums, margins, rtol=1e-5, atol=1e-5)  # sums of a few floats each
    alone = xgb.train(params(gamma=1e9, max_depth=1, eta=0, **how), data, 1)  # a leaf without a value
    other = alone.predict(data, output_margin=True)
    assert np.all(other == other[0]) and np.all(alone.predict(xgb.DMatrix(X[:5]), output_margin=True) == other[:5])


def test_a_training_goes_on_from_the_intercept_of_its_model() -> None:
    """Labels that are elsewhere do not move it."""
    first = xgb.train(params(max_depth=3), data_of("reg:squarederror", False), 2)
    rest = xgb.train(params(max_depth=3), xgb.DMatrix(X, Y * 100), 2, xgb_model=first)
    assert base_scores(rest).tobytes() == base_scores(first).tobytes()
    assert rest.num_boosted_rounds() == 4


@only_since(301, "base_score is one number")
@pytest.mark.parametrize("given", [[0.25, 0.5, 2], "(0.25, 0.5, 2)", "[0.25,0.5,2e0]"], ids=str)
def test_each_output_may_have_one(given: Any) -> None:
    how = dict(objective="multi:softprob", num_class=3, max_bin=1024, nthread=1)
    data = data_of("multi:softprob", False)
    ours, stock = (xgb.train(of(base_score=given, **how), data, 3) for of in (params, stock_params))
    assert base_scores(ours).tolist() == base_scores(stock).tolist() == [0.25, 0.5, 2]
    np.testing.assert_allclose(ours.predict(data), stock.predict(data), rtol=1e-5)  # gains differ by roundings
    data.set_base_margin(np.tile(np.float32([0.25, 0.5, 2]), (len(X), 1)))
    assert_same_trees(ours, xgb.train(params(**how), data, 3))


@only_ours
@only_since(301, "base_score is one number")
@pytest.mark.parametrize("given", ["[]", "()", "[1,Infinity,1]", "[1,1,-Infinity]", "[1,1e39,1]"])
def test_what_is_no_list_of_numbers_is_refused(given: str) -> None:
    settings = params(objective="multi:softprob", num_class=3, base_score=given)
    with pytest.raises(xgb.core.XGBoostError, match="base_score is .*; allowed: a finite number, or a list with"):
        xgb.train(settings, data_of("multi:softprob", False), 1)
