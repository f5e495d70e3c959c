"""As accurate as stock hist on real data, not worse and not suspiciously better.

The tolerance comes from stock itself. Both methods are trained on the same bootstrap samples of the training data and
evaluated on the same held-out data. Stock's results spread over the samples; the mean of ours must lie within three
standard errors of the mean of stock's: a difference that another draw of the training data could have made.
"""

import os
from dataclasses import dataclass
from typing import Callable, Dict

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn import datasets
from sklearn.model_selection import train_test_split
from support import boost, data_folder, make_data, params, stock_params, train, train_stock

SAMPLES = 6


@dataclass
class Task:
    """Held-out data, and a matrix for any choice of training units (rows, or groups of rows)."""

    units: int
    matrix: Callable[[np.ndarray], xgb.DMatrix]
    test: xgb.DMatrix


def rows_task(x: np.ndarray, y: np.ndarray, **fields: np.ndarray) -> Task:
    indices = np.arange(len(x))
    train_rows, test_rows = train_test_split(indices, test_size=0.3, random_state=0)

    def of(rows: np.ndarray) -> xgb.DMatrix:
        data = xgb.DMatrix(x[rows])
        data.set_info(**{name: values[rows] for name, values in {"label": y, **fields}.items() if values is not None})
        return data

    return Task(len(train_rows), lambda chosen: of(train_rows[chosen]), of(test_rows))


def from_sklearn(name: str, change: Callable = lambda y: y) -> Task:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return rows_task(x, change(y))


def agaricus() -> Task:
    folder = data_folder()
    data, test = (
        xgb.DMatrix(os.path.join(folder, f"agaricus.txt.{part}") + "?format=libsvm") for part in ("train", "test")
    )
    return Task(data.num_row(), lambda rows: data.slice(rows.astype(np.int32)), test)


def binary() -> Task:
    def load(part: str):
        table = np.loadtxt(os.path.join(data_folder(), f"binary.{part}"), dtype=np.float32)
        return (
            table[:, 1:],
            table[:, 0],
            np.loadtxt(os.path.join(data_folder(), f"binary.{part}.weight"), dtype=np.float32),
        )

    x, y, w = load("train")
    test_x, test_y, test_w = load("test")
    return Task(
        len(x), lambda rows: xgb.DMatrix(x[rows], y[rows], weight=w[rows]), xgb.DMatrix(test_x, test_y, weight=test_w)
    )


def rank() -> Task:
    def load(part: str):
        path = os.path.join(data_folder(), f"rank.{part}")
        whole = xgb.DMatrix(path + "?format=libsvm")
        return whole.get_data(), whole.get_label(), np.loadtxt(path + ".query", dtype=int)

    def of(x, y, sizes: np.ndarray, groups: np.ndarray) -> xgb.DMatrix:
        begins = np.cumsum(sizes) - sizes
        rows = np.concatenate([np.arange(begins[g], begins[g] + sizes[g]) for g in groups])
        data = xgb.DMatrix(x[rows], y[rows])
        data.set_group(sizes[groups])
        return data

    x, y, sizes = load("train")
    test_x, test_y, test_sizes = load("test")
    width = min(x.shape[1], test_x.shape[1])
    test = of(test_x[:, :width], test_y, test_sizes, np.arange(len(test_sizes)))
    return Task(len(sizes), lambda groups: of(x[:, :width], y, sizes, groups), test)


def veterans(kind: str) -> Task:
    table = pd.read_csv(os.path.join(data_folder(), "veterans_lung_cancer.csv"))
    low = table["Survival_label_lower_bound"].to_numpy(np.float32)
    high = table["Survival_label_upper_bound"].to_numpy(np.float32)
    x = table.drop(columns=[name for name in table if name.startswith("Survival_label")]).to_numpy(np.float32)
    if kind == "cox":
        return rows_task(x, np.where(np.isfinite(high), low, -low))
    return rows_task(x, None, label_lower_bound=low, label_upper_bound=high)


def own(change: Callable = lambda y: y, **how) -> Task:
    x, y = make_data(6000, 8, seed=21, **how)
    return rows_task(x, change(y))


def many(label: Callable, weight: Callable = lambda x: None) -> Task:
    """So many rows that gradients may be narrow integers (docs/determinism.md)."""
    x, y = make_data(100_000, 8, seed=22)
    return rows_task(x, label(y), weight=weight(x))


def rare(y: np.ndarray) -> np.ndarray:
    return (y > np.quantile(y, 0.998)).astype(np.float32)


TASKS: Dict[str, tuple] = {
    "diabetes": (lambda: from_sklearn("diabetes"), "rmse", dict(eta=0.1)),
    "diabetes absolute": (lambda: from_sklearn("diabetes"), "mae", dict(eta=0.1, objective="reg:absoluteerror")),
    "diabetes gamma": (lambda: from_sklearn("diabetes"), "gamma-nloglik", dict(eta=0.1, objective="reg:gamma")),
    "diabetes tweedie": (
        lambda: from_sklearn("diabetes"),
        "tweedie-nloglik@1.5",
        dict(eta=0.1, objective="reg:tweedie"),
    ),
    "diabetes poisson": (lambda: from_sklearn("diabetes"), "poisson-nloglik", dict(objective="count:poisson")),
    "linnerud": (lambda: from_sklearn("linnerud"), "rmse", dict(eta=0.1, min_child_weight=2)),
    "breast cancer": (lambda: from_sklearn("breast_cancer"), "logloss", dict(eta=0.1, objective="binary:logistic")),
    "iris": (lambda: from_sklearn("iris"), "mlogloss", dict(eta=0.1, objective="multi:softprob", num_class=3)),
    "wine": (lambda: from_sklearn("wine"), "mlogloss", dict(eta=0.1, objective="multi:softprob", num_class=3)),
    "digits": (lambda: from_sklearn("digits"), "mlogloss", dict(objective="multi:softprob", num_class=10, max_depth=4)),
    "agaricus": (agaricus, "logloss", dict(objective="binary:logistic", max_depth=3)),
    "binary auc": (binary, "auc", dict(objective="binary:logistic")),
    "binary loss": (binary, "logloss", dict(objective="binary:logistic", eta=0.1)),
    "binary lossguide": (
        binary,
        "logloss",
        dict(objective="binary:logistic", grow_policy="lossguide", max_leaves=31, max_depth=0),
    ),
    "binary sampled": (
        binary,
        "logloss",
        dict(objective="binary:logistic", eta=0.1, subsample=0.5, colsample_bytree=0.5, colsample_bynode=0.7),
    ),
    "binary few bins": (binary, "logloss", dict(objective="binary:logistic", eta=0.1, max_bin=16)),
    "binary dart": (binary, "logloss", dict(objective="binary:logistic", booster="dart", rate_drop=0.1, eta=0.2)),
    "rank ndcg": (rank, "ndcg@10", dict(objective="rank:ndcg")),
    "rank pairwise": (rank, "ndcg@10", dict(objective="rank:pairwise", eta=0.1)),
    "survival aft": (lambda: veterans("aft"), "aft-nloglik", dict(objective="survival:aft", eta=0.1)),
    "survival cox": (lambda: veterans("cox"), "cox-nloglik", dict(objective="survival:cox", eta=0.1)),
    "own": (own, "rmse", {}),
    "own missing": (lambda: own(missing=0.5), "rmse", {}),
    "own money": (lambda: own(lambda y: np.exp(4 * y)), "mae", dict(eta=0.1)),
    "rare labels": (lambda: many(rare), "logloss", dict(objective="binary:logistic", eta=0.1)),
    "large weights": (
        lambda: many(lambda y: (y > 0).astype(np.float32), lambda x: np.exp(2 * x[:, 4])),
        "logloss",
        dict(objective="binary:logistic", eta=0.1),
    ),
    "own forest": (own, "rmse", dict(num_parallel_tree=5, subsample=0.6, colsample_bynode=0.6)),
}
ROUNDS = {"rank ndcg": 10, "rank pairwise": 10, "binary lossguide": 10, "digits": 8, "own forest": 6, "binary dart": 15}


def result(settings: dict, data: xgb.DMatrix, test: xgb.DMatrix, rounds: int, metric: str) -> float:
    history: dict = {}
    xgb.train(
        {**settings, "eval_metric": metric},
        data,
        rounds,
        evals=[(test, "test")],
        evals_result=history,
        verbose_eval=False,
    )
    return history["test"][metric][-1]


@pytest.mark.parametrize("name", TASKS)
def test_as_accurate_as_stock(name: str) -> None:
    load, metric, settings = TASKS[name]
    task, rounds = load(), ROUNDS.get(name, 20)
    ours, stock = [], []
    for sample in range(SAMPLES):
        chosen = np.random.default_rng(sample).integers(0, task.units, size=task.units)
        data = task.matrix(np.sort(chosen))
        ours.append(result(params(seed=sample, **settings), data, task.test, rounds, metric))
        stock.append(result(stock_params(seed=sample, **settings), data, task.test, rounds, metric))
    tolerance = 3 * np.std(stock, ddof=1) / np.sqrt(SAMPLES)
    difference = np.mean(ours) - np.mean(stock)
    assert (
        abs(difference) <= tolerance
    ), f"{metric}: ours {np.mean(ours)}, stock {np.mean(stock)}, tolerance {tolerance}"


def log_errors(booster: xgb.Booster, x: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.log(np.abs(booster.predict(xgb.DMatrix(x)) - y) + 1e-6)))


@pytest.mark.parametrize("rows", [5_000, 300_000])
@pytest.mark.parametrize("outliers", [1, 3])
def test_one_gradient_a_million_times_the_rest(rows: int, outliers: int) -> None:
    """Where all rows share one scale, a giant must not drown the rest: they are predicted as well as by stock.

    Gradients of 1 beside one of 10^6 need 20 bits more. Stock's spread over other draws of the data is the tolerance.
    """
    ours, stock = [], []
    for seed in range(3 if rows > 10_000 else 8):
        x, y = make_data(rows, 4, seed=seed)
        giants = np.random.default_rng(seed).choice(rows, outliers, replace=False)
        label = y.copy()
        label[giants] = 1e6
        data, rest = xgb.DMatrix(x, label), np.setdiff1d(np.arange(rows), giants)[:20_000]
        how = dict(max_depth=8, eta=0.5, objective="reg:squarederror")
        ours.append(log_errors(train(data, 10, **how), x[rest], y[rest]))
        stock.append(log_errors(train_stock(data, 10, **how), x[rest], y[rest]))
    tolerance = 3 * np.std(stock, ddof=1) / np.sqrt(len(stock))
    assert abs(np.mean(ours) - np.mean(stock)) <= tolerance, f"ours {ours}, stock {stock}, tolerance {tolerance}"


def test_sums_of_many_small_gradients_beside_a_giant_are_right() -> None:
    # 300,000 rows of gradient 1 or -1 by a feature, one row of 10^6 apart: leaves of the others must be ±1 exactly,
    # up to float32 (weights of a leaf: sum / count, both exact integers here).
    rows = 300_000
    x = np.zeros((rows, 2), dtype=np.float32)
    x[:, 0] = np.arange(rows) % 2
    x[0, 1] = 1
    g = np.where(x[:, 0] > 0, 1, -1).astype(np.float32)
    g[0] = -1e6
    data = xgb.DMatrix(x, np.zeros(rows))
    booster = xgb.Booster(params(eta=1.0, reg_lambda=0.0, max_depth=2, base_score=0.0), [data])
    boost(booster, data, g, np.ones(rows))
    found = booster.predict(xgb.DMatrix(np.array([[0, 0], [1, 0], [0, 1]])))
    assert found.tolist() == [1, -1, 1e6]
