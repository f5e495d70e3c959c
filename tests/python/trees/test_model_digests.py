"""The bits of models today: whoever changes where the code is, or how fast, must leave every one of them as it is.

The digests in model_digests.json were made once. A change that is meant to change models makes them anew, says so in
CHANGELOG.md, and names the cases: XGBGPU_WRITE_DIGESTS=1 writes the file instead of comparing with it.

The bits are the same in every series of XGBoost. CHANGED names the cases whose meaning a series has changed. The file has
digests of them for that series, too.

Data come from integers alone, so that they do not depend on the version of NumPy or the processor.
"""

import hashlib
import json
import os
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import SERIES, Batches, dart_weights, model_of, name_of_series, only_ours, params

pytestmark = only_ours

FILE = os.path.join(os.path.dirname(__file__), "model_digests.json")
WRITE = os.environ.get("XGBGPU_WRITE_DIGESTS") == "1"


def mixed(seed: int, size: int) -> np.ndarray:
    """[size] random 32-bit numbers, the same everywhere: the finaliser of a counter."""
    z = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z >> np.uint64(32)).astype(np.uint32)


def grid(rows: int, columns: int, seed: int = 1, levels: int = 4096, missing: int = 0) -> np.ndarray:
    """Values in steps of 1/levels between -1 and 1, `missing` of 100 of them NaN."""
    x = (mixed(seed, rows * columns) % np.uint32(2 * levels)).astype(np.float32) / np.float32(levels) - np.float32(1)
    if missing:
        x[mixed(seed + 7, rows * columns) % np.uint32(100) < missing] = np.nan
    return x.reshape(rows, columns)


def target(x: np.ndarray, seed: int = 2) -> np.ndarray:
    """Numbers that depend on the first columns, with noise. All in sixteenths, so that sums of floats are exact."""
    first, second = np.nan_to_num(x[:, 0]), np.nan_to_num(x[:, min(1, x.shape[1] - 1)])
    noise = (mixed(seed, len(x)) % np.uint32(16)).astype(np.float32)
    return (np.floor(first * second * 64) + 8 * (first > second) + noise).astype(np.float32) / np.float32(16)


def halves(y: np.ndarray) -> np.ndarray:
    return (y > np.sort(y)[len(y) // 2]).astype(np.float32)


def quarters(y: np.ndarray) -> np.ndarray:
    return np.searchsorted(np.sort(y)[[len(y) // 4, len(y) // 2, 3 * len(y) // 4]], y).astype(np.float32)


Data = Tuple[np.ndarray, np.ndarray]


def tall() -> Data:
    """More rows than the narrow format of gradients begins with; more bins than rows that are not moved may have."""
    x = grid(90_000, 28, seed=11)
    return x, target(x)


def middle() -> Data:
    x = grid(70_000, 6, seed=12, missing=5)
    return x, target(x)


def small() -> Data:
    x = grid(3_000, 9, seed=13, missing=10)
    return x, target(x)


def few() -> Data:
    x = grid(40, 3, seed=14)
    return x, target(x)


def wide() -> Data:
    x = grid(1_500, 300, seed=15)
    return x, target(x)


def skewed() -> Data:
    """One row in 211 or so is worth a million others."""
    x, y = small()
    y[mixed(5, len(y)) % np.uint32(211) == 0] *= np.float32(2**20)
    return x, y


def sparse(x: np.ndarray, of_100: int, seed: int = 21) -> sp.csr_matrix:
    keep = mixed(seed, x.size).reshape(x.shape) % np.uint32(100) < of_100
    return sp.csr_matrix(np.where(keep, np.nan_to_num(x) + np.float32(2), np.float32(0)))


def dense(make: Callable[[], Data], **info: Any) -> xgb.DMatrix:
    x, y = make()
    return xgb.DMatrix(x, y, **info)


def labelled(make: Callable[[], Data], label: Callable[[np.ndarray], np.ndarray], **info: Any) -> xgb.DMatrix:
    x, y = make()
    return xgb.DMatrix(x, label(y), **info)


def weighted(make: Callable[[], Data]) -> xgb.DMatrix:
    x, y = make()
    return xgb.DMatrix(x, y, weight=(mixed(31, len(y)) % np.uint32(8)).astype(np.float32) / np.float32(4))


def ranked(make: Callable[[], Data]) -> xgb.DMatrix:
    x, y = make()
    rows = len(y) - len(y) % 20
    return xgb.DMatrix(x[:rows], quarters(y[:rows]), group=[5, 15] * (rows // 20))


def survival(make: Callable[[], Data]) -> xgb.DMatrix:
    x, y = make()
    low = np.abs(y) + np.float32(1)
    data = xgb.DMatrix(x)
    data.set_float_info("label_lower_bound", low)
    data.set_float_info("label_upper_bound", np.where(mixed(41, len(y)) % np.uint32(3) == 0, np.float32(np.inf), low))
    return data


def times(make: Callable[[], Data]) -> xgb.DMatrix:
    x, y = make()
    return xgb.DMatrix(x, np.where(mixed(42, len(y)) % np.uint32(3) == 0, -1, 1) * (np.abs(y) + np.float32(1)))


def categorical(make: Callable[[], Data], categories: int) -> xgb.DMatrix:
    x, y = make()
    x[:, 0] = (mixed(51, len(y)) % np.uint32(categories)).astype(np.float32)
    x[:, 2] = (mixed(52, len(y)) % np.uint32(3)).astype(np.float32)
    y = y + ((x[:, 0] * 7) % 5).astype(np.float32)
    types = ["c" if column in (0, 2) else "q" for column in range(x.shape[1])]
    return xgb.DMatrix(x, y, feature_types=types, enable_categorical=True)


def csr(make: Callable[[], Data], of_100: int) -> xgb.DMatrix:
    x, y = make()
    return xgb.DMatrix(sparse(x, of_100), y)


def quantised(make: Callable[[], Data], max_bin: int) -> xgb.QuantileDMatrix:
    x, y = make()
    return xgb.QuantileDMatrix(x, y, max_bin=max_bin)


def batches(make: Callable[[], Data]) -> xgb.QuantileDMatrix:
    x, y = make()
    return xgb.QuantileDMatrix(Batches(x, y, [7, len(y) // 2]), max_bin=64)


LOSS_GUIDED = dict(grow_policy="lossguide", max_depth=0)
CASES: Dict[str, Tuple[Callable[[], xgb.DMatrix], Dict[str, Any]]] = {
    # Trees of each way to grow, on data of each size.
    **{
        f"{data.__name__}, depth {depth}": (lambda data=data: dense(data), dict(max_depth=depth))
        for data, depth in [
            (few, 1), (few, 6), (small, 3), (small, 6), (small, 12), (small, 17), (middle, 6), (middle, 9), (tall, 1),
            (tall, 6), (tall, 8), (wide, 6), (skewed, 6), (skewed, 10),
        ]
    },
    **{
        f"{data.__name__}, {leaves} leaves{' of depth ' + str(depth) if depth else ''}": (
            lambda data=data: dense(data),
            dict(grow_policy="lossguide", max_leaves=leaves, max_depth=depth),
        )
        for data, leaves, depth in [
            (few, 3, 0), (small, 2, 0), (small, 31, 0), (small, 31, 6), (small, 20, 5), (small, 0, 5), (small, 1500, 0),
            (middle, 64, 0), (middle, 255, 8), (tall, 256, 0), (tall, 100, 7), (wide, 20, 0), (skewed, 50, 0),
        ]
    },
    "few leaves by depth": (lambda: dense(small), dict(max_leaves=13, max_depth=0)),
    "few leaves by depth, tall": (lambda: dense(tall), dict(max_leaves=37, max_depth=10)),
    "loss-guided, nodes' features": (lambda: dense(small), dict(LOSS_GUIDED, max_leaves=20, colsample_bynode=0.5)),
    "any number of leaves": (lambda: dense(small), dict(LOSS_GUIDED, gamma=1.5)),
    "losses that must fall": (lambda: dense(middle), dict(max_depth=8, gamma=40, min_child_weight=300)),
    # Symmetric trees.
    **{
        f"symmetric, {data.__name__}, depth {depth}": (
            lambda data=data: dense(data),
            dict(grow_policy="symmetric", max_depth=depth),
        )
        for data, depth in [(few, 2), (few, 6), (small, 6), (small, 13), (middle, 8), (tall, 6), (wide, 5), (skewed, 9)]
    },
    "symmetric, leaves": (lambda: dense(small), dict(grow_policy="symmetric", max_depth=0, max_leaves=32)),
    "symmetric, light": (lambda: dense(middle), dict(grow_policy="symmetric", max_depth=9, min_child_weight=300)),
    "symmetric, cut": (lambda: dense(middle), dict(grow_policy="symmetric", max_depth=9, gamma=20)),
    "symmetric, regularised": (
        lambda: dense(small),
        dict(grow_policy="symmetric", reg_alpha=1.5, reg_lambda=0.25, max_delta_step=0.5, eta=0.7),
    ),
    "symmetric, L1": (lambda: dense(small), dict(grow_policy="symmetric", reg_alpha=5, min_child_weight=30)),
    "symmetric, sparse": (lambda: csr(small, 20), dict(grow_policy="symmetric", max_depth=7)),
    "symmetric, sparse and wide": (lambda: csr(wide, 5), dict(grow_policy="symmetric")),
    "symmetric, many bins": (lambda: dense(middle), dict(grow_policy="symmetric", max_bin=1000)),
    "symmetric, few bins": (lambda: dense(middle), dict(grow_policy="symmetric", max_bin=15)),
    "symmetric, categories": (lambda: categorical(small, 30), dict(grow_policy="symmetric")),
    "symmetric, many categories": (
        lambda: categorical(middle, 300),
        dict(grow_policy="symmetric", max_cat_threshold=9, max_depth=8),
    ),
    "symmetric, one against the rest": (
        lambda: categorical(small, 4),
        dict(grow_policy="symmetric", max_cat_to_onehot=8),
    ),
    "symmetric, monotone": (
        lambda: dense(middle),
        dict(grow_policy="symmetric", monotone_constraints="(1,-1,0,0,1,0)", max_depth=7),
    ),
    "symmetric, interactions": (
        lambda: dense(small),
        dict(grow_policy="symmetric", interaction_constraints="[[0, 5, 6], [1, 2], [3, 4, 7, 8]]"),
    ),
    "symmetric, rows": (lambda: dense(middle), dict(grow_policy="symmetric", subsample=0.4)),
    "symmetric, goss": (lambda: dense(middle), dict(grow_policy="symmetric", sampling_method="goss")),
    "symmetric, columns": (
        lambda: dense(wide),
        dict(grow_policy="symmetric", colsample_bytree=0.3, colsample_bylevel=0.5, colsample_bynode=0.5),
    ),
    "symmetric, forest": (lambda: dense(middle), dict(grow_policy="symmetric", num_parallel_tree=3, subsample=0.6)),
    "symmetric, dart": (lambda: dense(middle), dict(grow_policy="symmetric", booster="dart", rate_drop=0.4)),
    "symmetric, logistic": (lambda: labelled(tall, halves), dict(grow_policy="symmetric", objective="binary:logistic")),
    "symmetric, classes": (
        lambda: labelled(middle, quarters),
        dict(grow_policy="symmetric", objective="multi:softprob", num_class=4),
    ),
    "regularised": (lambda: dense(small), dict(reg_alpha=1.5, reg_lambda=0.25, max_delta_step=0.5, eta=0.7)),
    # Data.
    "weights": (lambda: weighted(middle), dict(max_depth=7)),
    "few bins": (lambda: dense(small), dict(max_bin=3, max_depth=8)),
    "many bins": (lambda: dense(middle), dict(max_bin=1000)),
    "65,535 bins": (lambda: dense(tall), dict(max_bin=65535, max_depth=4)),
    "sparse": (lambda: csr(small, 20), dict(max_depth=7)),
    "sparse and wide": (lambda: csr(wide, 5), dict(max_depth=6)),
    "sparse, middle": (lambda: csr(middle, 30), dict(max_depth=6)),
    "sparse, loss-guided": (lambda: csr(small, 10), dict(LOSS_GUIDED, max_leaves=25)),
    "quantised": (lambda: quantised(small, 32), dict(max_bin=32)),
    "quantised, middle": (lambda: quantised(middle, 256), dict(max_depth=7)),
    "batches": (lambda: batches(small), dict(max_bin=64)),
    "categories": (lambda: categorical(small, 12), dict(max_depth=6)),
    "categories, one against the rest": (lambda: categorical(small, 4), dict(max_cat_to_onehot=8)),
    "many categories, few wanted": (lambda: categorical(middle, 300), dict(max_cat_threshold=9)),
    "categories, loss-guided": (lambda: categorical(small, 30), dict(LOSS_GUIDED, max_leaves=24)),
    # Samples and constraints.
    "rows": (lambda: dense(small), dict(subsample=0.4)),
    "rows, tall": (lambda: dense(tall), dict(subsample=0.1, max_depth=7)),
    "rows, loss-guided": (lambda: dense(middle), dict(LOSS_GUIDED, subsample=0.5, max_leaves=40)),
    "by gradients": (lambda: dense(middle), dict(subsample=0.2, sampling_method="gradient_based")),
    "by gradients, tall": (
        lambda: labelled(tall, halves),
        dict(subsample=0.1, sampling_method="gradient_based", objective="binary:logistic"),
    ),
    "goss": (lambda: dense(small), dict(sampling_method="goss")),
    "goss, tall": (
        lambda: labelled(tall, halves),
        dict(sampling_method="goss", top_rate=0.05, other_rate=0.05, objective="binary:logistic", max_depth=8),
    ),
    "columns": (lambda: dense(wide), dict(colsample_bytree=0.3, colsample_bylevel=0.5, colsample_bynode=0.5)),
    "columns, tall": (lambda: dense(tall), dict(colsample_bytree=0.6, colsample_bynode=0.5)),
    "forest": (lambda: dense(middle), dict(num_parallel_tree=4, subsample=0.6, colsample_bytree=0.7)),
    "monotone": (lambda: dense(middle), dict(monotone_constraints="(1,-1,0,0,1,0)", max_depth=7)),
    "monotone, loss-guided": (lambda: dense(small), dict(LOSS_GUIDED, max_leaves=30, monotone_constraints="(1,-1)")),
    "interactions": (lambda: dense(small), dict(interaction_constraints="[[0, 1, 2], [2, 3, 4], [5, 6, 7, 8]]")),
    # Objectives.
    "logistic": (lambda: labelled(middle, halves), dict(objective="binary:logistic", scale_pos_weight=2)),
    "classes": (lambda: labelled(middle, quarters), dict(objective="multi:softprob", num_class=4)),
    "classes, tall": (lambda: labelled(tall, quarters), dict(objective="multi:softmax", num_class=4, max_depth=4)),
    "ranking": (lambda: ranked(small), dict(objective="rank:ndcg")),
    "ranking of pairs": (lambda: ranked(middle), dict(objective="rank:pairwise")),
    "absolute error": (lambda: dense(small), dict(objective="reg:absoluteerror")),
    "absolute error from a half": (lambda: dense(small), dict(objective="reg:absoluteerror", base_score=0.5)),
    "pseudo-Huber error": (lambda: dense(small), dict(objective="reg:pseudohubererror")),
    "counts": (lambda: labelled(small, quarters), dict(objective="count:poisson")),
    "gamma": (lambda: labelled(small, lambda y: quarters(y) + np.float32(1)), dict(objective="reg:gamma")),
    "tweedie": (lambda: labelled(small, quarters), dict(objective="reg:tweedie")),
    "hinge": (lambda: labelled(small, halves), dict(objective="binary:hinge")),
    "accelerated failure times": (lambda: survival(small), dict(objective="survival:aft")),
    "hazards": (lambda: times(small), dict(objective="survival:cox")),
    # Boosters and methods.
    "dart": (lambda: dense(middle), dict(booster="dart", rate_drop=0.4, skip_drop=0.2)),
    "dart, a forest": (lambda: dense(small), dict(booster="dart", one_drop=1, num_parallel_tree=3, subsample=0.7)),
    "exact": (lambda: dense(small), dict(tree_method="gpu_exact")),
    "exact, deep": (lambda: dense(middle), dict(tree_method="gpu_exact", max_depth=10, min_child_weight=20)),
    "exact, sparse": (lambda: csr(small, 20), dict(tree_method="gpu_exact", subsample=0.6)),
    "exact, weights": (lambda: weighted(small), dict(tree_method="gpu_exact", max_depth=9, gamma=0.5)),
    "exact, skewed": (lambda: dense(skewed), dict(tree_method="gpu_exact", colsample_bynode=0.6)),
    "exact, classes": (
        lambda: labelled(small, quarters),
        dict(tree_method="gpu_exact", objective="multi:softprob", num_class=4),
    ),
}
ROUNDS = 4

#: Case → what it means otherwise, from which series on: stock code has the meaning, and the case follows it.
CHANGED: Dict[str, Dict[int, str]] = {
    "batches": {303: "stock code bins several batches of the host, and its sketch makes other cuts"},
    "absolute error": {300: "the learning rate counts", 304: "leaves are no medians"},
    "absolute error from a half": {300: "the learning rate counts", 304: "leaves are no medians"},
    "ranking": {300: "pairs and weights of LambdaRank are others"},
    "ranking of pairs": {300: "pairs and weights of LambdaRank are others"},
    "dart": {303: "stock code draws the trees to drop from random numbers of its own context"},
    "regularised": {304: "gains count the L1 penalty of weights that limits choose"},
    "symmetric, regularised": {304: "gains count the L1 penalty of weights that limits choose"},
    "dart, a forest": {304: "stock code draws the trees to drop from random numbers of its own context"},
}
#: The case whose intercept is estimated in every series. Since 2.0 those of all others would be.
ESTIMATED = ["absolute error"]


def name_in_file(case: str) -> str:
    """The case, with the series that changed it, if this one or one before has done so."""
    changes = [series for series in CHANGED.get(case, {}) if series <= SERIES]
    return f"{case}, since {name_of_series(max(changes))}" if changes else case


def digest(booster: xgb.Booster) -> str:
    """Of all that a tree is, of the order of trees, and of a dart's weights."""
    model = model_of(booster)
    told = hashlib.sha256()
    for tree in model["trees"]:
        for name in sorted(tree):
            if isinstance(tree[name], list):
                numbers = np.array(tree[name], np.float64)  # holds floats and 32-bit integers as they are
                told.update(f"{name} {len(numbers)} ".encode() + numbers.tobytes())
    told.update(json.dumps(model["tree_info"]).encode())
    told.update(json.dumps(dart_weights(booster)).encode())
    return told.hexdigest()[:32]


def known_digests() -> Dict[str, str]:
    with open(FILE) as file:
        return json.load(file)


@pytest.fixture(scope="module")
def written():
    """Digests that this run has made. They replace those of the same names in the file, if it is to be written."""
    digests: Dict[str, str] = {}
    yield digests
    if WRITE:
        kept = {name: value for name, value in known_digests().items() if name in names_in_files()}
        with open(FILE, "w") as file:
            json.dump({**kept, **digests}, file, indent=1, sort_keys=True)
            file.write("\n")


def names_in_files() -> List[str]:
    """Of all series."""
    return [*CASES, *(f"{case}, since {name_of_series(series)}" for case, of in CHANGED.items() for series in of)]


@pytest.mark.parametrize("case", CASES)
def test_models_have_the_bits_that_they_had(case: str, written: Dict[str, str]) -> None:
    make, how = CASES[case]
    data = make()
    assert data.num_row() > 0
    intercept = {} if case in ESTIMATED else {"base_score": 0.5}
    booster = xgb.train({**params(seed=3, **intercept), **how}, data, ROUNDS)
    trees = model_of(booster)["trees"]
    assert any(len(tree["left_children"]) > 1 for tree in trees), "no tree has a split: the case checks nothing"
    written[name_in_file(case)] = digest(booster)
    if not WRITE:
        assert written[name_in_file(case)] == known_digests()[name_in_file(case)]


@pytest.mark.skipif(WRITE, reason="the file is being written")
def test_every_digest_belongs_to_a_case() -> None:
    known = known_digests()
    assert sorted(known) == sorted(names_in_files())
    assert len(set(known.values())) == len(known) >= 60
