"""The intercept, which XGBoost estimates from the labels since 2.0: stock's, given or not, in every prediction."""

from typing import Any, Dict, Tuple

import numpy as np
import pytest
import xgboost as xgb
from support import (
    SERIES,
    assert_same_trees,
    base_scores,
    config_of,
    fresh,
    make_data,
    only_ours,
    only_since,
    params,
    stock_params,
)

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


@only_since(301, "classes have no estimate")
def test_it_is_one_for_any_number_of_threads() -> None:
    """XGBoost adds up a sum for each thread, in float for classes: stock's last bits depend on the number."""
    models = [[], []]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = xgb.DMatrix(rng.normal(size=(20, 2)), rng.integers(0, 10, 20))
        for kind, of in enumerate((params, stock_params)):
            made = [xgb.train(of(objective="multi:softprob", num_class=10, nthread=n), data, 1) for n in (1, 2, 3, 4)]
            models[kind].append(len({base_scores(booster).tobytes() for booster in made}))
    assert models[0] == [1] * 40
    assert max(models[1]) > 1  # or the data show nothing


TIMES = (np.round(POSITIVE * 4 + 1) * np.where(np.arange(len(Y)) % 3 == 0, -1, 1)).astype(np.float32)
#: What has an estimate of its own kind: several outputs, a class without rows, labels with a sign or bounds.
KINDS: Dict[str, Tuple[np.ndarray, Dict[str, Any]]] = {
    "two targets": (np.stack([Y + 3, Y * Y], axis=1), dict(objective="reg:squarederror")),
    "two labels": (np.stack([Y > 0.8, Y < 0], axis=1).astype(np.float32), dict(objective="binary:logistic")),
    "a class without rows": (CLASSES, dict(objective="multi:softmax", num_class=5)),
    "logits": ((Y > 0.8).astype(np.float32), dict(objective="binary:logitraw", scale_pos_weight=3)),
    "heavy ones": ((Y > 0.8).astype(np.float32), dict(objective="binary:logistic", scale_pos_weight=3)),
    "one label": (np.ones(len(Y), np.float32), dict(objective="binary:logistic")),
    "hazards": (TIMES, dict(objective="survival:cox")),
    "given": (Y, dict(objective="reg:squarederror", base_score=0.3)),
    "no estimate": (Y, dict(objective="reg:squarederror", boost_from_average=0, base_score=0.3)),
    "forest": (POSITIVE, dict(objective="reg:gamma", num_parallel_tree=3)),
    "dropout": (POSITIVE, dict(objective="reg:tweedie", booster="dart", rate_drop=0.5)),
}
if SERIES == 300:
    del KINDS["one label"]  # XGBoost 3.0 refuses its own estimate of 1
if SERIES >= 300:
    KINDS["two medians"] = (np.stack([Y, Y * Y], axis=1), dict(objective="reg:absoluteerror"))
    KINDS["quantiles"] = (Y, dict(objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]))
if SERIES >= 303:
    KINDS["expectiles"] = (Y, dict(objective="reg:expectileerror", expectile_alpha=[0.2, 0.7]))
OUTPUTS = {"a class without rows": 5, "quantiles": 3, "expectiles": 2}


def own_objective(margins: np.ndarray, data: xgb.DMatrix) -> Tuple[np.ndarray, np.ndarray]:
    return np.asarray(margins) - 1, np.ones_like(margins)


@pytest.mark.parametrize("how", ["plain", "weights", "margins", "bins", "no rounds", "goes on", "own objective"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_stocks_for_every_kind(kind: str, how: str) -> None:
    label, settings = KINDS[kind]
    if how == "own objective" and SERIES < 200 and (kind in OUTPUTS or label.ndim > 1):
        pytest.skip("XGBoost 1.7 takes gradients of several outputs as one list")
    outputs = OUTPUTS.get(kind, 1 if label.ndim == 1 else label.shape[1])
    make = xgb.QuantileDMatrix if how == "bins" else xgb.DMatrix
    data = make(X, label, weight=np.arange(len(Y)) % 5 if how == "weights" else None)
    if how == "margins":
        data.set_base_margin(np.tile(np.linspace(0, 1, len(Y), dtype=np.float32)[:, None], (1, outputs)))
    boosters = []
    for of in (params, stock_params):
        rest = dict(obj=own_objective) if how == "own objective" else {}
        boosters.append(xgb.train(of(nthread=1, **settings), data, 0 if how == "no rounds" else 2, **rest))
        if how == "goes on":
            other = xgb.DMatrix(X, label[::-1])
            boosters[-1] = xgb.train(of(nthread=1, **settings), other, 1, xgb_model=boosters[-1])
    ours, stock = boosters
    assert base_scores(ours).tobytes() == base_scores(stock).tobytes()
    assert config_of(ours)["learner_model_param"] == config_of(stock)["learner_model_param"]
    if how == "no rounds":
        rows = xgb.DMatrix(X)
        assert np.array_equal(ours.predict(rows), stock.predict(rows))


MANY = 100_003  # from 100,000 rows on labels are sorted before stock's estimate
ROUNDED = np.round(np.random.default_rng(8).standard_normal((MANY, 3)) * 1000) / 3


@pytest.mark.parametrize("how", ["plain", "ties", "weights", "margins"])
@pytest.mark.parametrize("kind", [name for name in ("two medians", "quantiles") if name in KINDS] + ["a median"])
def test_it_is_stocks_for_quantiles_of_many_labels(kind: str, how: str) -> None:
    settings = KINDS[kind][1] if kind in KINDS else dict(objective="reg:absoluteerror")
    label = ROUNDED[:, : 2 if kind == "two medians" else 1].astype(np.float32)
    if how == "ties":
        label = np.where(np.abs(label) < 300, np.copysign(0, label), label)
    weight = np.where(label[:, 0] > 0, 3, 1) if how == "weights" else None
    data = xgb.DMatrix(np.zeros((MANY, 1), np.float32), label, weight=weight)
    if how == "margins":
        data.set_base_margin(np.tile(np.linspace(0, 1, MANY)[:, None], (1, OUTPUTS.get(kind, label.shape[1]))))
    ours, stock = (xgb.train(of(nthread=1, max_depth=1, **settings), data, 1) for of in (params, stock_params))
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


@only_ours  # stock predicts NaN
@only_since(300, "nothing is estimated")
def test_an_estimate_without_a_logarithm_is_refused() -> None:
    data = xgb.DMatrix(X, np.zeros(len(Y)))
    with pytest.raises(xgb.core.XGBoostError, match="is not set, and its estimate.* is 0 or less; allowed: larger"):
        xgb.train(params(objective="reg:tweedie"), data, 1)
    xgb.train(params(objective="reg:tweedie", base_score=0.1), data, 1)
