"""Stock trees of several outputs, whose leaves are vectors, with the library loaded: what XGBoost makes of them alone."""

import hashlib
import json
import pickle
from typing import Any, Callable, Dict

import numpy as np
import pytest
import xgboost as xgb
from support import LIBRARY, only_before, only_ours, only_since, params, run_python

pytestmark = [only_ours, only_since(200, "there are no such trees")]

# What is done with a model, in the process with the library and in one without. 200,000 rows are enough for a device.
USES = """
import hashlib, json, pickle
import numpy as np
import xgboost as xgb

HOW = {"tree_method": "hist", "multi_strategy": "multi_output_tree", "nthread": 1, "max_depth": 4}

def loaded(booster, form):
    new = xgb.Booster()
    new.load_model(bytearray(booster.save_raw(form)))
    return new

def uses():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5)).astype("f")
    y = np.column_stack([x[:, 0], x[:, 1] ** 2]).astype("f")
    data = xgb.DMatrix(x, y)
    history = {}
    booster = xgb.train(HOW, data, 3, evals=[(data, "train")], evals_result=history, verbose_eval=False)
    many = xgb.DMatrix(np.tile(x, (500, 1)))
    ways = {
        "predictions": lambda: booster.predict(data),
        "many predictions": lambda: booster.predict(many),
        "leaves": lambda: booster.predict(data, pred_leaf=True),
        "contributions": lambda: booster.predict(data, pred_contribs=True),
        "predictions in place": lambda: booster.inplace_predict(x),
        "JSON": lambda: loaded(booster, "json").predict(data),
        "UBJSON": lambda: loaded(booster, "ubj").predict(data),
        "pickle": lambda: pickle.loads(pickle.dumps(booster)).predict(data),
        "copy": lambda: booster.copy().predict(data),
        "slice": lambda: booster[:2].predict(data),
        "continued": lambda: xgb.train(HOW, data, 2, xgb_model=booster).predict(data),
        "QuantileDMatrix": lambda: xgb.train(HOW, xgb.QuantileDMatrix(x, y), 2).predict(data),
        "estimator": lambda: xgb.XGBRegressor(n_estimators=3, **HOW).fit(x, y).predict(x),
        "classes": lambda: xgb.train(
            {**HOW, "objective": "multi:softprob", "num_class": 3}, xgb.DMatrix(x, np.arange(400) % 3), 2).predict(data),
    }
    result = {"history": history}
    for name, way in ways.items():
        try:
            result[name] = hashlib.sha256(np.ascontiguousarray(way()).tobytes()).hexdigest()
        except Exception as error:
            result[name] = str(error).split("Stack trace")[0].split("] ", 1)[-1]
    return result
"""


@pytest.fixture(name="here", scope="module")
def with_the_library() -> Dict[str, Any]:
    scope: Dict[str, Any] = {}
    exec(USES, scope)
    return scope


def test_stock_methods_do_what_they_did(here: Dict[str, Any]) -> None:
    alone = json.loads(run_python(USES + "print(json.dumps(uses()))").stdout.splitlines()[-1])
    assert here["uses"]() == alone
    assert len(alone["predictions"]) == len(hashlib.sha256().hexdigest())


def model(here: Dict[str, Any]) -> xgb.Booster:
    x = np.arange(200, dtype=np.float32).reshape(50, 4) % 23
    return xgb.train(here["HOW"], xgb.DMatrix(x, x[:, :2]), 2)


X = np.arange(200, dtype=np.float32).reshape(50, 4) % 23
READS: Dict[str, Callable[[xgb.Booster], np.ndarray]] = {
    "margins": lambda booster: booster.predict(xgb.DMatrix(X)),
    "leaves": lambda booster: booster.predict(xgb.DMatrix(X), pred_leaf=True),
    "in place": lambda booster: booster.inplace_predict(X),
}


@pytest.mark.parametrize("what", READS)
def test_our_methods_read_such_a_model(here: Dict[str, Any], what: str) -> None:
    stock = model(here)
    ours = xgb.Booster(params())
    ours.load_model(bytearray(stock.save_raw("ubj")))
    ours.set_param(params())
    assert np.array_equal(READS[what](ours), READS[what](stock))


@only_before(302, "gpu_hist grows such trees")
def test_our_methods_do_not_grow_such_trees(here: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, X[:, :2])
    for how in (dict(), dict(xgb_model=model(here))):
        with pytest.raises(xgb.core.XGBoostError, match="multi_strategy is 'multi_output_tree'"):
            xgb.train(params(multi_strategy="multi_output_tree"), data, 1, **how)
    with pytest.raises(xgb.core.XGBoostError, match="multi_strategy is 'multi_output_tree'|one_output_per_tree"):
        xgb.train(params(), data, 1, xgb_model=model(here))


@only_since(302, "gpu_hist has no such trees there")
def test_our_methods_go_on_from_such_a_model(here: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, X[:, :2])
    stock = model(here)
    booster = xgb.train(params(multi_strategy="multi_output_tree"), data, 3, xgb_model=stock)
    assert booster.num_boosted_rounds() == 5
    assert np.array_equal(booster[:2].predict(data), stock.predict(data))
    before, after = (np.mean((b.predict(data) - X[:, :2]) ** 2) for b in (stock, booster))
    assert after < before


def test_a_pickle_of_another_process(here: Dict[str, Any], tmp_path: Any) -> None:
    file = tmp_path / "model"
    file.write_bytes(pickle.dumps(model(here)))
    code = "import pickle, sys, numpy as np, xgboost as xgb\n" + (
        "x = np.arange(200, dtype=np.float32).reshape(50, 4) % 23\n"
        "print(pickle.load(open(sys.argv[1], 'rb')).predict(xgb.DMatrix(x)).tobytes().hex())"
    )
    expected = model(here).predict(xgb.DMatrix(X)).tobytes().hex()
    assert run_python(code, str(file), library=LIBRARY).stdout.split()[-1] == expected
