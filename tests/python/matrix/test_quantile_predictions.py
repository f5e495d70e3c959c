"""Predictions from, and evaluation sets that are, a QuantileDMatrix: bit for bit what stock XGBoost makes of the values,
if the matrix is of one array, and of its bins, if it came in batches.

A stock booster with the same model (`fresh`) predicts from a DMatrix of the values, or from the bins itself, value by
value; it is what all is compared with. Metrics of stock are of the same predictions: what rounding leaves between them
and ours is said where they meet.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import (
    BACKEND,
    OURS,
    SERIES,
    Batches,
    binary_labels,
    few_values,
    fresh,
    make_data,
    only_ours,
    params,
    stock_params,
)

ROUNDS = 70
# Rows times rounds are more than the work from which any process uses a device, about 2^24, and there are more than
# four rounds a column. On the host few rows show the same, as long as no set is too small to be kept on a device.
ROWS = 2**18 + 5 if BACKEND == "cuda" else 1505
X_TRAIN, Y = make_data(1200, 5, missing=0.1)
X_TRAIN = few_values(X_TRAIN)  # of which stock's bins are exact: it predicts from them what ours predicts from the values
X = few_values(make_data(ROWS, 5, seed=1, missing=0.1)[0])
COMPLETE = few_values(make_data(ROWS, 5, seed=2)[0])
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)
V, VY = make_data(1500, 5, seed=3, missing=0.1)
V = few_values(V)
LABEL, VLABEL = binary_labels(Y), binary_labels(VY)
VCLASSES = np.digitize(VY, np.quantile(Y, [0.3, 0.6])).astype(np.float32)

CASES: Dict[str, Any] = {
    "regression": (Y, {}),
    "logistic": (binary_labels(Y), dict(objective="binary:logistic", base_score=0.2)),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=3, max_depth=2)),
    "forest": (Y, dict(num_parallel_tree=2, subsample=0.7)),
    "dart": (Y, dict(booster="dart", rate_drop=0.2)),
}
_MODELS: Dict[str, xgb.Booster] = {}


def reference() -> xgb.QuantileDMatrix:
    return xgb.QuantileDMatrix(X_TRAIN, Y)


def model(case: str) -> xgb.Booster:
    if case not in _MODELS:
        label, settings = CASES[case]
        matrix = xgb.QuantileDMatrix(X_TRAIN, label)
        _MODELS[case] = xgb.train({**params(max_depth=4), **settings}, matrix, ROUNDS)
    return _MODELS[case]


def sparse(rows: int) -> sp.csr_matrix:
    """With columns of both kinds that stock has: mostly there, and mostly missing."""
    values = sp.random(rows, 5, density=0.3, format="csc", dtype=np.float32, random_state=4).tolil()
    values[:, 2] = np.cos(np.arange(rows, dtype=np.float32)).reshape(-1, 1) + 2
    return values.tocsr()


Make = Callable[[], xgb.DMatrix]
Pair = Tuple[Make, Make]  # what is predicted from, and what stock predicts the same from


def of_array(x: Any, ref: Optional[Make] = None, **how: Any) -> Pair:
    """Its values are at hand, for our methods."""
    info = {name: how[name] for name in how if name == "base_margin"}

    def make() -> xgb.DMatrix:
        return xgb.QuantileDMatrix(x, ref=ref() if ref else None, **how)

    return make, (lambda: xgb.DMatrix(x, **info)) if OURS else make


def of_batches(x: Any, ref: Optional[Make] = None, **how: Any) -> Pair:
    """It is a matrix of stock's, with nothing but bins."""
    ends = [x.shape[0] // 3, x.shape[0] // 3 + 1]

    def make() -> xgb.DMatrix:
        return xgb.QuantileDMatrix(Batches(x, None, ends), ref=ref() if ref else None, **how)

    return make, make


OF_ALL: Dict[str, Tuple[Any, Dict[str, Any]]] = {
    "with ref": (X, dict(ref=reference)),
    "own cuts": (X, dict(max_bin=16)),
    "complete": (COMPLETE, dict(ref=reference)),
    "complete, own cuts": (COMPLETE, dict(max_bin=7)),
    # Stock looks through a whole column for each value of a sparse one: few rows.
    "sparse": (sparse(2000), dict(max_bin=32)),
    "nothing but missing": (np.full((1100, 5), np.nan), dict(ref=reference)),
    # More bins than a byte has numbers for.
    "many bins": (X, dict(max_bin=1000)),
}
MATRICES: Dict[str, Pair] = {
    **{name: of_array(x, **how) for name, (x, how) in OF_ALL.items()},
    "one row": of_array(X[:1], ref=reference),
    **{f"{name}, batches": of_batches(x, **how) for name, (x, how) in OF_ALL.items()},
}


def assert_same_bits(ours: np.ndarray, stock: np.ndarray) -> None:
    assert ours.shape == stock.shape
    assert ours.dtype == stock.dtype == np.float32
    assert np.array_equal(ours.view(np.uint32), stock.view(np.uint32))


def assert_as_stock(booster: xgb.Booster, matrices: Pair, **how: Any) -> None:
    """Each with a matrix of its own: margins that one has cached must not serve the other."""
    ours, stock = matrices
    assert_same_bits(booster.predict(ours(), **how), fresh(booster).predict(stock(), **how))


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("case", CASES)
def test_margins(case: str, matrix: str) -> None:
    assert_as_stock(model(case), MATRICES[matrix], output_margin=True)


@pytest.mark.parametrize("case", ["regression", "dart"])
def test_margins_of_some_rounds(case: str) -> None:
    for rounds in ((0, ROUNDS - 4), (3, ROUNDS - 1), (5, 6)):
        assert_as_stock(model(case), MATRICES["with ref"], iteration_range=rounds)


def test_margins_on_those_of_the_user() -> None:
    for case, outputs in (("regression", 1), ("classes", 3)):
        margin = np.sin(np.arange(ROWS * outputs, dtype=np.float32)).reshape(ROWS, outputs)
        assert_as_stock(model(case), of_array(X, base_margin=margin), output_margin=True)


def test_base_margins_that_change() -> None:
    """Of a matrix whose values were kept while it was evaluated."""
    matrix, booster = xgb.QuantileDMatrix(V, VY), model("regression").copy()
    booster.update(reference(), ROUNDS)
    booster.eval(matrix)
    margin = np.sin(np.arange(len(V), dtype=np.float32))
    matrix.set_base_margin(margin)
    for rounds in ((2, 5), (1, ROUNDS)):  # not from the first: what XGBoost has cached does not count
        expected = fresh(booster).predict(of_array(V, base_margin=margin)[1](), iteration_range=rounds)
        assert_same_bits(booster.predict(matrix, iteration_range=rounds), expected)


def test_a_model_from_elsewhere_and_other_cuts() -> None:
    trained = xgb.train(stock_params(max_depth=5), xgb.DMatrix(X_TRAIN, Y), ROUNDS)
    booster = fresh(trained, **params())
    for ours, stock in MATRICES.values():
        assert_same_bits(booster.predict(ours()), trained.predict(stock()))


def test_a_model_without_trees() -> None:
    train = reference()
    assert_as_stock(xgb.train(params(), train, 0), MATRICES["with ref"])


def test_a_matrix_may_be_asked_again() -> None:
    for case in ("regression", "dart"):
        data = MATRICES["with ref"][0]()
        seen = [model(case).predict(data, iteration_range=(0, end)) for end in (ROUNDS, ROUNDS - 5, ROUNDS)]
        assert_same_bits(seen[0], seen[2])
        assert_same_bits(seen[1], fresh(model(case)).predict(MATRICES["with ref"][1](), iteration_range=(0, ROUNDS - 5)))


def shuffled_columns(values: sp.csr_matrix) -> sp.csr_matrix:
    """The same rows, each stored from its last column to its first."""
    order = np.concatenate([np.arange(b, a, -1) - 1 for a, b in zip(values.indptr[:-1], values.indptr[1:])])
    return sp.csr_matrix((values.data[order], values.indices[order], values.indptr), shape=values.shape)


@pytest.mark.parametrize("kind", [of_array, of_batches])
def test_rows_whose_columns_are_in_no_order(kind: Callable[..., Pair]) -> None:
    """XGBoost does not give away which columns their bins are of: stock code predicts."""
    rows = sparse(1500)
    booster = model("regression").copy()
    shuffled, ordered = kind(shuffled_columns(rows)), kind(rows)
    assert_as_stock(booster, shuffled)
    assert_same_bits(booster.predict(shuffled[0]()), booster.predict(ordered[0]()))
    train, other = reference(), shuffled[0]()
    other.set_label(np.ones(1500))
    for number in range(2):
        booster.update(train, ROUNDS + number)
        booster.eval(other)
        assert_same_bits(booster.predict(other), fresh(booster).predict(shuffled[1]()))


@only_ours
def test_more_bins_than_the_matrix_was_made_for() -> None:
    """With missing values stock keeps bins in bytes if max_bin is not given again, whatever `ref` has, and predicts
    from what is left of their numbers. Ours are predictions from the values that the matrix has."""
    train = xgb.QuantileDMatrix(X_TRAIN, Y, max_bin=1000)
    booster = xgb.train(params(max_bin=1000), train, 5)
    bins = {} if SERIES < 200 else {"max_bin": 1000}  # newer series refuse another number than that of `ref`
    matrix = xgb.QuantileDMatrix(V, ref=train, **bins)
    assert_same_bits(booster.predict(matrix), fresh(booster).predict(xgb.DMatrix(V)))


@pytest.mark.parametrize(
    "how",
    [
        {"pred_leaf": True},
        {"pred_contribs": True},
        {"pred_contribs": True, "approx_contribs": True},
        {"pred_interactions": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("case", ["regression", "dart"])
@only_ours
def test_what_stock_does_not_have_for_bins(case: str, how: Dict[str, bool]) -> None:
    make, dmatrix = MATRICES["with ref"]
    for booster in (model(case), fresh(model(case))):
        assert_same_bits(booster.predict(make(), **how), booster.predict(dmatrix(), **how))


EVALUATED: Dict[str, Tuple[np.ndarray, np.ndarray, Dict[str, Any]]] = {
    "rmse": (Y, VY, dict(eval_metric="rmse")),
    "logloss": (LABEL, VLABEL, dict(objective="binary:logistic", eval_metric=["logloss", "error"])),
    "auc": (LABEL, VLABEL, dict(objective="binary:logistic", eval_metric="auc")),
    "classes": (CLASSES, VCLASSES, dict(objective="multi:softprob", num_class=3, eval_metric=["mlogloss", "merror"])),
    "median": (Y, VY, dict(objective="reg:absoluteerror", eval_metric="mae")),
    "forest": (Y, VY, dict(num_parallel_tree=2, subsample=0.7, eval_metric="rmse")),
    "dart": (Y, VY, dict(booster="dart", rate_drop=0.4, eval_metric="rmse")),
}


def stock_history(booster: xgb.Booster, matrix: xgb.DMatrix, settings: Dict[str, Any], first: int = 0) -> np.ndarray:
    """[rounds, metrics] of stock code with the first rounds of the model. (Of a dart only its last is to be had.)"""
    rounds = booster.num_boosted_rounds()
    found = []
    for end in range(first + 1, rounds + 1):
        part = fresh(booster if end == rounds else booster[:end])
        metrics = settings["eval_metric"]
        part.set_param([("eval_metric", metric) for metric in ([metrics] if isinstance(metrics, str) else metrics)])
        found.append([float(value.split(":")[1]) for value in part.eval(matrix).split("\t")[1:]])
    return np.array(found)


def assert_metrics(seen: Dict[str, List[float]], stock: np.ndarray, margins: np.ndarray) -> None:
    """Of the same margins. A row's term is rounded to float; logarithms and exponentials of floats may differ by an
    ulp, 2^-23: relative 2^-22 of what has one of them. A probability that differs by as much makes log(1 - p) differ by
    p / (1 - p) = exp(margin) of it. All else differs less: by the order of sums in double, auc by weights of 2^-45."""
    ours = np.array(list(seen.values())).T[-len(stock) :]
    np.testing.assert_allclose(ours, stock, rtol=2.0**-22, atol=2.0**-22 * np.exp(np.abs(margins).max()))


# Since 2.0 the Python package refuses to evaluate bins of other cuts.
CUTS = ["ref", "own cuts"] if SERIES < 200 else ["ref"]


@pytest.mark.parametrize("kind", [*CUTS, *(f"{cuts}, batches" for cuts in CUTS)])
@pytest.mark.parametrize("case", EVALUATED)
def test_evaluation_sets(case: str, kind: str) -> None:
    label, vlabel, settings = EVALUATED[case]
    train = xgb.QuantileDMatrix(X_TRAIN, label)

    def evaluated() -> xgb.DMatrix:
        data: Any = dict(data=Batches(V, vlabel, [400])) if "batches" in kind else dict(data=V, label=vlabel)
        return xgb.QuantileDMatrix(ref=train if "ref" in kind else None, **data)

    def other() -> xgb.DMatrix:
        """What stock predicts the same from."""
        return xgb.DMatrix(V, vlabel) if OURS and "batches" not in kind else evaluated()

    history: Dict[str, Any] = {}
    seen: List[np.ndarray] = []

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
            seen.append(model.predict(valid, output_margin=True).copy())
            return False

    valid = evaluated()
    booster = xgb.train(
        {**params(max_depth=4), **settings},
        train,
        6,
        evals=[(valid, "v")],
        evals_result=history,
        verbose_eval=False,
        callbacks=[Look()] if case in ("logloss", "classes", "dart") else None,
    )
    stock = stock_history(booster, other(), settings, first=5 if case == "dart" else 0)
    margins = booster.predict(valid, output_margin=True)
    assert_metrics(history["v"], stock, margins)
    assert_same_bits(margins, fresh(booster).predict(other(), output_margin=True))
    for rounds, found in enumerate(seen, 1):
        if case != "dart":  # whose old trees have other weights by now
            part = fresh(booster if rounds == 6 else booster[:rounds])
            assert_same_bits(found, part.predict(other(), output_margin=True))
    if seen:
        assert_same_bits(seen[-1], fresh(booster).predict(other(), output_margin=True))


def test_early_stopping_and_going_on() -> None:
    noise = np.random.default_rng(1).random(len(Y)) < 0.3
    label = np.where(noise, 1 - binary_labels(Y), binary_labels(Y))
    train = xgb.QuantileDMatrix(X_TRAIN, label)
    valid = xgb.QuantileDMatrix(V, binary_labels(VY), ref=train)
    settings = dict(objective="binary:logistic", eval_metric="logloss", eta=1.0, max_depth=4)
    history: Dict[str, Any] = {}
    how: Dict[str, Any] = dict(evals=[(train, "t"), (valid, "v")], evals_result=history, verbose_eval=False)
    booster = xgb.train(params(**settings), train, 60, early_stopping_rounds=3, **how)
    losses = history["v"]["logloss"]
    assert len(losses) < 60 and booster.best_iteration == int(np.argmin(losses)) == len(losses) - 4
    margins = booster.predict(valid, output_margin=True)
    assert_metrics(history["v"], stock_history(booster, valid, settings), margins)

    data = xgb.QuantileDMatrix(X_TRAIN, label)
    other = xgb.QuantileDMatrix(V, binary_labels(VY), ref=data)
    longer = xgb.train(params(**settings), data, 3, xgb_model=booster, **{**how, "evals": [(other, "v")]})
    assert longer.num_boosted_rounds() == booster.num_boosted_rounds() + 3
    margins = longer.predict(other, output_margin=True)
    assert_same_bits(margins, fresh(longer).predict(xgb.QuantileDMatrix(V, ref=data), output_margin=True))
    first = booster.num_boosted_rounds()
    assert_metrics(history["v"], stock_history(longer, other, settings, first), margins)


def test_labels_of_an_evaluation_set_may_change() -> None:
    train, valid = reference(), xgb.QuantileDMatrix(V, VY, ref=reference())
    booster = xgb.Booster(params(eval_metric="rmse"), [train])
    for number in range(4):
        valid.set_label(VY + number)
        booster.update(train, number)
        stock = stock_history(booster, xgb.QuantileDMatrix(V, VY + number, ref=train), dict(eval_metric="rmse"), number)
        ours = float(booster.eval(valid).split(":")[1])
        assert ours == pytest.approx(stock[0, 0], rel=2.0**-22)


def test_two_boosters_and_sets_that_die() -> None:
    train = reference()
    boosters = [xgb.Booster(params(max_depth=depth), [train]) for depth in (2, 4)]
    for number in range(6):
        for booster in boosters:
            valid = xgb.QuantileDMatrix(V, VY, ref=train)  # now and then where the last one was
            booster.update(train, number)
            booster.eval(valid)
            assert_same_bits(booster.predict(valid), fresh(booster).predict(xgb.QuantileDMatrix(V, ref=train)))


@pytest.mark.parametrize("look", ["predict", "eval", "update"])
def test_margins_of_bins_go_with_the_stock_method_that_made_them(look: str) -> None:
    """The rows lie in other bins than the threshold between 2 and 3 says."""
    x = np.tile(np.arange(8, dtype=np.float32), 20)[:, np.newaxis]
    rows = np.array([[3], [5]], np.float32)
    trained, other = xgb.DMatrix(x, x[:, 0] > 2.5), xgb.QuantileDMatrix(rows, [1, 1])
    booster = xgb.Booster(params(max_depth=1, base_score=0.5, eta=0.5), [trained, other])
    booster.update(trained, 0)
    booster.predict(other)
    booster.update(trained, 1)
    booster.set_param(stock_params())
    {"predict": booster.predict, "eval": booster.eval, "update": lambda data: booster.update(data, 2)}[look](other)
    booster.set_param(params())
    assert np.array_equal(booster.predict(other), booster.predict(xgb.DMatrix(rows)))


def test_dart_trains_on_bins() -> None:
    """Every round asks for margins of the training rows without the trees that are dropped."""
    settings = params(booster="dart", rate_drop=0.4, max_depth=3, seed=3)
    binned, whole = (xgb.train(settings, matrix(X_TRAIN, Y), 8) for matrix in (xgb.QuantileDMatrix, xgb.DMatrix))
    assert_same_bits(binned.predict(xgb.DMatrix(X_TRAIN)), whole.predict(xgb.DMatrix(X_TRAIN)))


def test_threads_share_a_booster() -> None:
    booster = model("regression")
    expected = fresh(booster).predict(MATRICES["with ref"][1]())
    shared = MATRICES["with ref"][0]()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: booster.predict(shared if i % 2 else MATRICES["with ref"][0]()), range(12)))
    for one in found:
        assert_same_bits(one, expected)


@pytest.mark.parametrize("grow_policy", ["depthwise", "lossguide", "symmetric"])
def test_a_threshold_below_all_values(grow_policy: str) -> None:
    """Missing values go left and all others right. A matrix of batches holds bins alone, and XGBoost 3.3 and newer show
    the first one, which begins at minus infinity, by the number below its upper end."""
    x = np.tile(np.array([0, 1, 2, 3, np.nan], np.float32), 40).reshape(-1, 1)
    y = np.where(np.isnan(x[:, 0]), -5, 1).astype(np.float32)
    data = xgb.QuantileDMatrix(Batches(x, y, [100]))
    ours = params(grow_policy=grow_policy, monotone_constraints="(1)", max_depth=2, eta=1, base_score=0.5, reg_lambda=0)
    booster = xgb.train(ours, data, 1)
    assert booster.trees_to_dataframe()["Missing"][0] == booster.trees_to_dataframe()["Yes"][0]
    for rows in (xgb.DMatrix(x), data):
        assert booster.predict(rows).tolist() == y.tolist()
