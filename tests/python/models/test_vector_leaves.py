"""Trees of stock methods with a vector in each leaf (multi_strategy=multi_output_tree) beside the library: models are
saved, loaded, pickled and reset, and predict as without it. Damaged ones are refused by name."""

import copy
import json
import pickle
from typing import Any, Callable, Dict

import numpy as np
import pytest
import xgboost as xgb
from support import MODEL_FORMS, SERIES, only_ours, only_since

pytestmark = only_since(300, "leaves of earlier series are numbers")

ROWS, COLUMNS, TARGETS = 200, 4, 3
RNG = np.random.default_rng(11)
X = RNG.normal(size=(ROWS, COLUMNS))
Y = np.stack([X[:, 0], X[:, 1] * X[:, 2], -X[:, 3]], 1)


def one_round(strategy: str, before: Any = None) -> xgb.Booster:
    settings = {"tree_method": "hist", "max_depth": 3, "nthread": 1, "multi_strategy": strategy}
    return xgb.train(settings, xgb.DMatrix(X, Y), 1, xgb_model=before)


def vectors() -> xgb.Booster:
    return one_round("multi_output_tree", one_round("multi_output_tree"))


def mixed() -> xgb.Booster:
    """Two rounds of a tree, one of three trees, one of a tree again."""
    return one_round("multi_output_tree", one_round("one_output_per_tree", vectors()))


def single() -> xgb.Booster:
    """A tree for three outputs: there are fewer trees than outputs."""
    return one_round("multi_output_tree")


MAKERS = pytest.mark.parametrize("make", [single, vectors, mixed])


def predictions(booster: xgb.Booster) -> np.ndarray:
    return booster.predict(xgb.DMatrix(X))


@MAKERS
@pytest.mark.parametrize("form", MODEL_FORMS)
def test_a_saved_model_is_loaded_and_predicts_the_same(make: Callable[[], xgb.Booster], form: str) -> None:
    booster = make()
    loaded = xgb.Booster(model_file=booster.save_raw(form))
    assert predictions(loaded).shape == (ROWS, TARGETS)
    np.testing.assert_array_equal(predictions(loaded), predictions(booster))
    np.testing.assert_array_equal(loaded.inplace_predict(X), booster.inplace_predict(X))
    assert loaded.save_raw("json") == booster.save_raw("json")


@MAKERS
def test_copies_and_pickles_are_the_model(make: Callable[[], xgb.Booster]) -> None:
    booster = make()
    for other in (pickle.loads(pickle.dumps(booster)), copy.deepcopy(booster)):
        np.testing.assert_array_equal(predictions(other), predictions(booster))


@MAKERS
def test_a_loaded_model_with_our_method_predicts_the_same(make: Callable[[], xgb.Booster]) -> None:
    booster = make()
    loaded = xgb.Booster({"tree_method": "gpu_hist", "gpu_backend": "host"}, model_file=booster.save_raw())
    np.testing.assert_array_equal(predictions(loaded), predictions(booster))
    np.testing.assert_array_equal(loaded.inplace_predict(X), booster.inplace_predict(X))
    data = xgb.DMatrix(X)
    np.testing.assert_array_equal(loaded.predict(data, pred_leaf=True), booster.predict(data, pred_leaf=True))


def trees_of(model: Dict[str, Any]) -> Any:
    return model["learner"]["gradient_booster"]["model"]["trees"]


def shorten(name: str) -> Callable[[Dict[str, Any]], Any]:
    return lambda model: trees_of(model)[1][name].pop()


def leaves_of(numbers: str) -> Callable[[Dict[str, Any]], None]:
    return lambda model: trees_of(model)[1]["tree_param"].update(size_leaf_vector=numbers)


def leaf_number(number: int) -> Callable[[Dict[str, Any]], None]:
    """Gives the last node of the second tree, which is a leaf, another place in leaf_weights."""
    return lambda model: trees_of(model)[1]["right_children"].__setitem__(-1, number)


def targets(number: str) -> Callable[[Dict[str, Any]], None]:
    return lambda model: model["learner"]["learner_model_param"].update(num_target=number, base_score="5E-1")


DAMAGE = [
    (shorten("base_weights"), "ree 1 has .* values in base_weights"),
    (leaves_of("2"), "ree 1 has .*size_leaf_vector"),
    (leaves_of("2000000000"), "ree 1 has .*size_leaf_vector"),
    (targets("2"), "ree .* has leaves of 3 numbers .*allowed: 2"),
]
OF_NODES = ("loss_changes", "sum_hessian")
OF_LEAVES = [(shorten(name), f"ree 1 has .* values in {name}") for name in ("leaf_weights", *OF_NODES)]
OF_LEAVES += [(lambda model: trees_of(model)[1].pop("leaf_weights"), "ree 1 has no leaf_weights")]
OF_LEAVES += [(leaf_number(n), f"Leaf .* of tree 1 has the number {n}") for n in (-1, 8, 2_000_000_000)]


@only_ours
@pytest.mark.parametrize("damage, names", DAMAGE + (OF_LEAVES if SERIES >= 302 else []))
def test_a_damaged_model_is_an_error_that_names_it(damage: Callable[[Dict[str, Any]], Any], names: str) -> None:
    model = json.loads(vectors().save_raw("json"))
    damage(model)
    with pytest.raises(xgb.core.XGBoostError, match=names):
        predictions(xgb.Booster(model_file=bytearray(json.dumps(model).encode())))
