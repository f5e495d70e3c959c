"""On data of up to 8 · max_bin distinct values a column, where stock sketches nothing away, a tree is stock hist's tree: features, thresholds, gains, leaves.

Each round starts both methods from the same model, so that both get the same gradients. Then differences can come from
float32 rounding only, and equal_trees.py explains each or calls it wrong.
"""

import os
from typing import Dict, Tuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from equal_trees import Comparison, compare
from sklearn import datasets
from support import FLOAT_EPS, binary_labels, data_folder, few_values, make_data, params, stock_params, trees_of


def from_sklearn(name: str) -> Tuple[np.ndarray, np.ndarray]:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return x.astype(np.float32), y.astype(np.float32)


def with_missing(x: np.ndarray, share: float = 0.2) -> np.ndarray:
    x = x.copy()
    x[np.random.default_rng(7).random(x.shape) < share] = np.nan
    return x


def agaricus() -> Tuple[np.ndarray, np.ndarray]:
    data = xgb.DMatrix(os.path.join(data_folder(), "agaricus.txt.train") + "?format=libsvm")
    matrix = data.get_data()
    x = np.full(matrix.shape, np.nan, dtype=np.float32)
    x[matrix.nonzero()] = 1
    return x, data.get_label()


def veterans() -> Tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(os.path.join(data_folder(), "veterans_lung_cancer.csv"))
    time = table["Survival_label_lower_bound"].to_numpy(np.float32)
    event = np.isfinite(table["Survival_label_upper_bound"].to_numpy())
    features = table.drop(columns=[name for name in table if name.startswith("Survival_label")])
    return features.to_numpy(np.float32), np.where(event, time, -time)


def binary_weighted() -> Dict[str, np.ndarray]:
    table = np.loadtxt(os.path.join(data_folder(), "binary.train"), dtype=np.float32)[:2000]
    weight = np.loadtxt(os.path.join(data_folder(), "binary.train.weight"), dtype=np.float32)[:2000]
    return dict(data=table[:, 1:], label=table[:, 0], weight=weight)


def pair(x: np.ndarray, y: np.ndarray, **others) -> Dict[str, np.ndarray]:
    return dict(data=x, label=y, **others)


def own(rows: int = 1500, **how) -> Dict[str, np.ndarray]:
    return pair(*make_data(rows, 6, seed=11, **how))


LOGISTIC, SOFTPROB = dict(objective="binary:logistic"), dict(objective="multi:softprob")
CASES = {
    "diabetes": (lambda: pair(*from_sklearn("diabetes")), {}),
    "diabetes deep": (lambda: pair(*from_sklearn("diabetes")), dict(max_depth=12, min_child_weight=0.5)),
    "diabetes missing": (lambda: pair(with_missing(from_sklearn("diabetes")[0]), from_sklearn("diabetes")[1]), {}),
    "diabetes gamma": (lambda: pair(*from_sklearn("diabetes")), dict(gamma=5000.0)),
    "diabetes bins": (lambda: pair(*from_sklearn("diabetes")), dict(max_bin=60)),
    "diabetes lossguide": (
        lambda: pair(*from_sklearn("diabetes")),
        dict(grow_policy="lossguide", max_leaves=21, max_depth=0),
    ),
    "diabetes leaves": (lambda: pair(*from_sklearn("diabetes")), dict(max_leaves=11, max_depth=0)),
    "cancer": (lambda: pair(*from_sklearn("breast_cancer")), LOGISTIC),
    "cancer lambda 0": (lambda: pair(*from_sklearn("breast_cancer")), dict(reg_lambda=0.0, **LOGISTIC)),
    "cancer missing": (
        lambda: pair(with_missing(from_sklearn("breast_cancer")[0], 0.5), from_sklearn("breast_cancer")[1]),
        LOGISTIC,
    ),
    "cancer pos weight": (lambda: pair(*from_sklearn("breast_cancer")), dict(scale_pos_weight=3.0, **LOGISTIC)),
    "iris": (lambda: pair(*from_sklearn("iris")), dict(num_class=3, **SOFTPROB)),
    "wine": (lambda: pair(*from_sklearn("wine")), dict(num_class=3, **SOFTPROB)),
    "digits": (lambda: pair(*from_sklearn("digits")), dict(num_class=10, max_depth=4, **SOFTPROB)),
    "linnerud": (lambda: pair(datasets.load_linnerud().data, datasets.load_linnerud().target[:, 0]), {}),
    "agaricus": (lambda: pair(*agaricus()), LOGISTIC),
    "veterans cox": (lambda: pair(*veterans()), dict(objective="survival:cox", base_score=0.5)),
    "binary weighted": (binary_weighted, LOGISTIC),
    "own": (own, {}),
    "own missing": (lambda: own(missing=0.4), {}),
    "own poisson": (
        lambda: pair(own()["data"], np.floor(np.exp(own()["label"]))),
        dict(objective="count:poisson", max_delta_step=0.0),
    ),
    "own tweedie": (lambda: pair(own()["data"], np.maximum(own()["label"], 0)), dict(objective="reg:tweedie")),
    "own logistic": (lambda: pair(own()["data"], binary_labels(own()["label"])), LOGISTIC),
    "own margins": (lambda: own() | dict(base_margin=np.linspace(-1, 1, 1500)), {}),
    "own 2048": (lambda: own(2048), dict(max_depth=8)),
}
ORDERED = ("lossguide",)
# Sums over events, in double, in another order than stock's, are rounded to float32 by either: numbers up to 1 and the
# sum of 1/1 … 1/137, times the largest power over the mean one, below 2.5 after five rounds.
COX_ERROR = 2 * 16 * FLOAT_EPS


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("case", CASES)
def test_rounds_from_the_same_model(case: str, matrix) -> None:
    load, settings = CASES[case]
    parts = load()
    x = np.asarray(parts["data"], dtype=np.float32)
    assert max(len(np.unique(column)) for column in x.T) <= 8 * settings.get("max_bin", 256)
    parts["data"] = x = few_values(x, settings.get("max_bin", 256))
    bins = {"max_bin": settings["max_bin"]} if "max_bin" in settings and matrix is xgb.QuantileDMatrix else {}
    data = matrix(**parts, **bins)
    total, model = Comparison(), None
    for number in range(5):
        ours = xgb.train(params(**settings), data, 1, xgb_model=model)
        stock = xgb.train(stock_params(**settings), data, 1, xgb_model=model)
        per_round = len(trees_of(stock)) // (number + 1)
        for a, b in zip(trees_of(ours)[-per_round:], trees_of(stock)[-per_round:]):
            found = compare(
                a,
                b,
                x,
                settings.get("reg_lambda", 1.0),
                settings.get("gamma", 0.0),
                any(word in case for word in ORDERED),
                COX_ERROR if "cox" in case else 0.0,
            )
            assert not found.wrong, f"round {number}: " + "\n".join(found.wrong)
            total.add(found)
        model = stock
    # Ties are the exception: if they were not, the comparison would have compared little.
    assert total.same > 10 * total.ties, f"{total.same} nodes alike, {total.ties} ties"


@pytest.mark.parametrize("sequence", [None, "grow_quantile_histmaker,prune"], ids=["hist", "hist and prune"])
@pytest.mark.parametrize("gamma", [0.0, 1.0, 20.0, 200.0])
def test_pruning_by_gamma_is_stocks(gamma: float, sequence: str) -> None:
    parts = own()
    parts["data"] = few_values(parts["data"])
    data = xgb.DMatrix(parts["data"], 10 * parts["label"])
    stock_settings = {"updater": sequence} if sequence else {"tree_method": "hist"}
    ours = trees_of(xgb.train(params(gamma=gamma, max_depth=7), data, 1))[0]
    stock = trees_of(xgb.train({**stock_settings, "gamma": gamma, "max_depth": 7}, data, 1))[0]
    found = compare(ours, stock, parts["data"], gamma=gamma)
    assert not found.wrong, found.wrong
    assert found.same > 10 * found.ties
    if gamma == 0:
        assert ours.nodes > 100


@pytest.mark.parametrize("settings", [{}, dict(grow_policy="lossguide", max_leaves=25, max_depth=0)], ids=str)
def test_nodes_are_numbered_as_in_stock(settings: dict) -> None:
    # Numbers of nodes are in dumps, in pred_leaf and in the saved file: depth-wise by the parent's number, loss-guided
    # in order of growth.
    data = xgb.DMatrix(few_values(own()["data"]), own()["label"])
    ours, stock = (trees_of(xgb.train(how(**settings), data, 1))[0] for how in (params, stock_params))
    assert np.array_equal(ours.left, stock.left)
    assert np.array_equal(ours.right, stock.right)


def test_the_comparison_sees_differences() -> None:
    """A tree of other parameters, or of slightly other gradients, must not pass for equal."""
    parts = own()
    parts["data"] = few_values(parts["data"])
    data = xgb.DMatrix(parts["data"], parts["label"])
    stock = trees_of(xgb.train(stock_params(), data, 1))[0]
    for changed in (
        dict(reg_lambda=1.001),
        dict(eta=0.30001),
        dict(min_child_weight=8),
        dict(max_bin=200),
        dict(max_depth=5),
    ):
        other = trees_of(xgb.train(params(**changed), data, 1))[0]
        assert compare(other, stock, parts["data"]).wrong, changed
