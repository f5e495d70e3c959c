"""Predictions and explanations of models that split by categories: stock XGBoost's for the same model, whoever trained it.

Rows have categories that no split lists, numbers that are no category, numbers between two, and missing values.
"""

import json
import pickle
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import BACKEND, OURS, SERIES, fresh, only_ours, params, raw, stock_params

ROUNDS = 70
# As in test_large_predictions.py: more than a device is worth the way for.
ROWS = 2**18 + 5 if BACKEND == "cuda" else 1005
LEVELS = [3, 40, 1200]
TYPES = ["c"] * len(LEVELS) + ["float"] * 2
STRANGE = np.array([-1, -0.5, 0.75, 5000, 16777215, 16777216, 3e9, 1e20], dtype=np.float32)


def table(rows: int, seed: int, strange: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n, rows).astype(np.float32) for n in LEVELS]
    columns += [rng.normal(size=rows).astype(np.float32) for _ in range(2)]
    x = np.stack(columns, axis=1)
    odd = rng.random((rows, len(LEVELS))) < strange
    x[:, : len(LEVELS)][odd] = rng.choice(STRANGE, odd.sum())
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


def label_of(x: np.ndarray, seed: int = 0) -> np.ndarray:
    """To which each category adds its own number."""
    rng = np.random.default_rng(seed)
    known = np.nan_to_num(x)
    label = np.sin(known[:, 3]) + 0.1 * rng.normal(size=len(x))
    for f, n in enumerate(LEVELS):
        label += rng.normal(size=n)[known[:, f].astype(int)]
    return label.astype(np.float32)


def matrix(x: Any, label: Any = None, **others: Any) -> xgb.DMatrix:
    return xgb.DMatrix(x, label, feature_types=TYPES, enable_categorical=True, **others)


X_TRAIN = table(2500, 0)
Y = label_of(X_TRAIN)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)
X = table(ROWS, 1, strange=0.1)
FEW = X[:600]

CASES: Dict[str, Any] = {
    "sorted": (Y, {}),
    "one by one": (Y, dict(max_cat_to_onehot=5000)),
    "logistic": ((Y > 0).astype(np.float32), dict(objective="binary:logistic", base_score=0.2)),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=3, max_depth=3)),
    "forest": (Y, dict(num_parallel_tree=2, subsample=0.7)),
    "lossguide": (Y, dict(grow_policy="lossguide", max_depth=0, max_leaves=30)),
    "dart": (Y, dict(booster="dart", rate_drop=0.2)),
    "dart of classes": (CLASSES, dict(booster="dart", rate_drop=0.1, objective="multi:softprob", num_class=3, max_depth=2)),
}
_MODELS: Dict[Tuple[str, bool], xgb.Booster] = {}


def model(case: str, stock: bool = False) -> xgb.Booster:
    """Trained by the library, or by stock XGBoost and loaded by a booster of the library."""
    if (case, stock) not in _MODELS:
        label, settings = CASES[case]
        settings = {"max_depth": 4, **settings}
        data = matrix(X_TRAIN, label)
        if stock:
            trained = xgb.train(stock_params(nthread=1, **settings), data, ROUNDS)
            _MODELS[case, stock] = fresh(trained, **params())
        else:
            _MODELS[case, stock] = xgb.train(params(**settings), data, ROUNDS)
    return _MODELS[case, stock]


def assert_same_bits(ours: np.ndarray, stock: np.ndarray) -> None:
    assert ours.shape == stock.shape
    assert ours.dtype == stock.dtype == np.float32
    assert np.array_equal(ours.view(np.uint32), stock.view(np.uint32))


def assert_as_stock(booster: xgb.Booster, make: Callable[[], xgb.DMatrix] = lambda: matrix(X), **how: Any) -> None:
    """Each with a matrix of its own: margins that one has cached must not serve the other."""
    assert_same_bits(booster.predict(make(), **how), fresh(booster).predict(make(), **how))


@pytest.mark.parametrize("stock", [False, True], ids=["ours", "stock"])
@pytest.mark.parametrize("case", CASES)
def test_margins_and_leaves(case: str, stock: bool) -> None:
    booster = model(case, stock)
    assert any(tree["categories"] for tree in trees(booster))
    assert_as_stock(booster, output_margin=True)
    assert_as_stock(booster, pred_leaf=True)


def trees(booster: xgb.Booster) -> List[Dict[str, Any]]:
    gbm = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    return (gbm["gbtree"] if "gbtree" in gbm else gbm)["model"]["trees"]


@pytest.mark.parametrize("case", ["sorted", "one by one", "dart"])
def test_of_some_rounds_and_on_margins_of_the_user(case: str) -> None:
    margin = np.sin(np.arange(ROWS, dtype=np.float32))
    for rounds in ((0, ROUNDS - 4), (3, ROUNDS - 1), (5, 6)):
        assert_as_stock(model(case), lambda: matrix(X, base_margin=margin), iteration_range=rounds)
    assert_as_stock(model(case), pred_leaf=True, iteration_range=(0, ROUNDS - 3))


def test_sparse_rows() -> None:
    rows, columns = np.nonzero(~np.isnan(X) & (np.random.default_rng(3).random(X.shape) < 0.4))
    csr = sp.csr_matrix((X[rows, columns], (rows, columns)), shape=X.shape)
    assert_as_stock(model("sorted"), lambda: matrix(csr))
    assert_as_stock(model("sorted"), lambda: matrix(csr), pred_leaf=True)
    ours, stock = (b.inplace_predict(csr) for b in (model("sorted"), fresh(model("sorted"))))
    assert_same_bits(ours, stock)


@pytest.mark.parametrize("case", CASES)
def test_in_place(case: str) -> None:
    for how in ({}, dict(iteration_range=(2, ROUNDS)), dict(predict_type="margin")):
        assert_same_bits(model(case).inplace_predict(X, **how), fresh(model(case)).inplace_predict(X, **how))


def test_frames() -> None:
    columns = {f"c{i}": pd.Categorical(np.where(X[:, i] < n, X[:, i], np.nan), range(n)) for i, n in enumerate(LEVELS)}
    frame = pd.DataFrame({**columns, "a": X[:, 3], "b": X[:, 4]})
    train = frame[: min(ROWS, 2000)]
    booster = xgb.train(params(max_depth=4), xgb.DMatrix(train, Y[: len(train)], enable_categorical=True), ROUNDS)
    assert_as_stock(booster, lambda: xgb.DMatrix(frame, enable_categorical=True))
    assert_same_bits(booster.inplace_predict(frame), fresh(booster).inplace_predict(frame))


@pytest.mark.parametrize("form", ["json", "ubj", "pickle"])
def test_models_of_stock_from_files(form: str, tmp_path: Path) -> None:
    trained = xgb.train(stock_params(nthread=1, max_depth=4), matrix(X_TRAIN, Y), ROUNDS)
    if form == "pickle":
        booster = pickle.loads(pickle.dumps(trained))
    else:
        trained.save_model(tmp_path / f"model.{form}")
        booster = xgb.Booster(model_file=tmp_path / f"model.{form}")
    booster.set_param(params())
    assert_same_bits(booster.predict(matrix(X)), trained.predict(matrix(X)))
    assert_close(booster.predict(matrix(FEW), pred_contribs=True), trained.predict(matrix(FEW), pred_contribs=True))


# What stock rounds: for each tree float32 sums over its paths, of magnitudes up to the tree's largest leaf, at most 30
# paths here and 210 trees: 210 · 30 · 2^-24 of the largest |contribution|, and the same for ours. Of interactions, with
# and without each of five columns: 2 + 5 times that.
TOLERANCE = 2 * 210 * 30 * 2.0**-24
INTERACTION_TOLERANCE = 7 * TOLERANCE


def assert_close(ours: np.ndarray, stock: np.ndarray, tolerance: float = TOLERANCE) -> None:
    assert ours.shape == stock.shape
    assert np.abs(ours - stock).max() <= tolerance * max(1.0, np.abs(stock).max())


@pytest.mark.parametrize("stock", [False, True], ids=["ours", "stock"])
@pytest.mark.parametrize("case", CASES)
def test_explanations(case: str, stock: bool) -> None:
    booster = model(case, stock)
    margins = booster.predict(matrix(FEW), output_margin=True)
    for how in (dict(), dict(approx_contribs=True)):
        ours = booster.predict(matrix(FEW), pred_contribs=True, **how)
        assert_close(ours, fresh(booster).predict(matrix(FEW), pred_contribs=True, **how))
        assert_close(ours.sum(axis=-1, dtype=np.float64).reshape(margins.shape), margins)
    interactions = booster.predict(matrix(FEW), pred_interactions=True)
    stocks = fresh(booster).predict(matrix(FEW), pred_interactions=True)
    assert_close(interactions, stocks, INTERACTION_TOLERANCE)
    if OURS:  # doubles, rounded once, and symmetric: stock code did not make them (its own are symmetric since 3.3)
        assert np.array_equal(interactions, np.swapaxes(interactions, -1, -2))
        assert not np.array_equal(interactions, stocks)


@only_ours
@pytest.mark.parametrize("case", ["sorted", "one by one", "classes", "dart"])
def test_explanations_of_many_rows_are_the_hosts(case: str) -> None:
    """Rows, rounds and columns are more than a device is worth the way for."""
    x = X[: 2**22 // ROUNDS // len(TYPES) + 4000] if BACKEND == "cuda" else FEW
    for how in (dict(pred_contribs=True), dict(pred_contribs=True, approx_contribs=True), dict(pred_interactions=True)):
        of_host = fresh(model(case), **params(gpu_backend="host")).predict(matrix(x), **how)
        assert_same_bits(model(case).predict(matrix(x), **how), of_host)


def test_explanations_of_the_first_rounds_on_margins_of_the_user() -> None:
    margin = np.sin(np.arange(len(FEW), dtype=np.float32))
    for how in (dict(pred_contribs=True), dict(pred_contribs=True, approx_contribs=True), dict(pred_interactions=True)):
        ours, stock = (
            booster.predict(matrix(FEW, base_margin=margin), iteration_range=(0, 7), **how)
            for booster in (model("sorted"), fresh(model("sorted")))
        )
        assert_close(ours, stock, INTERACTION_TOLERANCE)


def evaluated(trace: Path, case: str = "sorted", rounds: int = 8, **others: Any) -> Tuple[xgb.Booster, Dict, xgb.DMatrix]:
    label, settings = CASES[case]
    other = matrix(X_TRAIN[:1500], label[:1500])
    seen: Dict[str, Any] = {}
    booster = xgb.train(
        params(**{"max_depth": 4, **({"gpu_trace": str(trace)} if OURS else {}), **settings}),
        matrix(X_TRAIN[1000:], label[1000:]),
        rounds,
        evals=[(other, "other"), (matrix(FEW, label[: len(FEW)]), "few")],
        evals_result=seen,
        verbose_eval=False,
        **others,
    )
    return booster, seen, other


def stages(trace: Path) -> List[str]:
    events = json.loads(trace.read_text(encoding="utf-8"))
    return [event["name"] for event in events if event["ph"] == "X" and event["pid"] == 1]


@pytest.mark.parametrize("case", ["sorted", "one by one", "classes", "forest"])
def test_evaluation_sets_follow_the_training(case: str, tmp_path: Path) -> None:
    rounds = 8
    booster, seen, other = evaluated(tmp_path / "trace.json", case, rounds)
    # On a device the larger set goes there with its margins when it is evaluated first; then each round adds its trees.
    if OURS:
        assert stages(tmp_path / "trace.json").count("evaluation") == (rounds - 1 if BACKEND == "cuda" else 0)
    again = fresh(booster)
    assert_same_bits(booster.predict(other), again.predict(matrix(X_TRAIN[:1500])))
    for name, data in (("other", other), ("few", matrix(FEW, CASES[case][0][: len(FEW)]))):
        ((metric, values),) = seen[name].items()
        now = float(again.eval(data, name).split(f"{name}-{metric}:")[1])
        assert values[-1] == pytest.approx(now, rel=1e-6)  # of the same floats; summed in another order
        assert values[-1] < values[0] or name == "few"


def test_quantile_matrices(tmp_path: Path) -> None:
    """Evaluated by their values: of a category its number."""
    def binned(x: np.ndarray, label: Any = None, **others: Any) -> xgb.DMatrix:
        return xgb.QuantileDMatrix(x, label, feature_types=TYPES, enable_categorical=True, **others)

    train = binned(X_TRAIN, Y)
    other = binned(X_TRAIN[:1500], Y[:1500], ref=train)
    seen: Dict[str, Any] = {}
    booster = xgb.train(
        params(max_depth=4, **({"gpu_trace": str(tmp_path / "trace.json")} if OURS else {})),
        train,
        5,
        evals=[(other, "v")],
        evals_result=seen,
        verbose_eval=False,
    )
    if OURS:
        assert stages(tmp_path / "trace.json").count("evaluation") == (4 if BACKEND == "cuda" else 0)
    stock = fresh(booster).predict(matrix(X_TRAIN[:1500]))
    assert_same_bits(booster.predict(other), stock)
    if SERIES < 200 or not OURS:  # stock code reads bins, and newer series cut them elsewhere than the library
        assert_same_bits(fresh(booster).predict(binned(X_TRAIN[:1500], ref=train)), stock)
    errors = stock.astype(float) - Y[:1500]
    assert seen["v"]["rmse"][-1] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)


def test_metrics_of_the_user_see_the_margins(tmp_path: Path) -> None:
    history: List[np.ndarray] = []

    def error(predictions: np.ndarray, data: xgb.DMatrix) -> Tuple[str, float]:
        if len(predictions) == 1500:
            history.append(predictions.copy())
        return "own", float(np.mean(np.abs(predictions - data.get_label())))

    booster, seen, _ = evaluated(tmp_path / "trace.json", rounds=4, custom_metric=error)
    assert len(history) == 4
    for i, predictions in enumerate(history):
        expected = fresh(booster).predict(matrix(X_TRAIN[:1500]), iteration_range=(0, i + 1))
        assert_same_bits(predictions, expected)
        assert abs(seen["other"]["own"][i] - np.mean(np.abs(expected - Y[:1500]))) < 1e-6  # printed with six digits


def test_early_stopping_and_going_on(tmp_path: Path) -> None:
    noise = np.random.default_rng(2).normal(size=len(Y)).astype(np.float32)
    train, other = matrix(X_TRAIN[:1300], Y[:1300] + 2 * noise[:1300]), matrix(X_TRAIN[1300:], Y[1300:])
    settings = params(eta=0.9, max_depth=6)
    seen: Dict[str, Any] = {}
    booster = xgb.train(
        settings, train, 60, evals=[(other, "v")], early_stopping_rounds=3, evals_result=seen, verbose_eval=False
    )
    assert booster.best_iteration == int(np.argmin(seen["v"]["rmse"])) < 56
    assert_same_bits(booster.predict(other), fresh(booster).predict(matrix(X_TRAIN[1300:])))
    more = xgb.train(settings, train, 3, evals=[(other, "v")], xgb_model=booster, verbose_eval=False)
    assert_same_bits(more.predict(other), fresh(more).predict(matrix(X_TRAIN[1300:])))


@only_ours  # stock crashes
def test_types_may_change_between_evaluations() -> None:
    """A model of numbers, then trees of categories: evaluated by the same matrix."""
    numbers, other = xgb.DMatrix(X_TRAIN, Y), xgb.DMatrix(X_TRAIN[:1500], Y[:1500])
    booster = xgb.train(params(), numbers, 2, evals=[(other, "v")], verbose_eval=False)
    for data in (numbers, other):
        data.set_info(feature_types=TYPES)
    booster.feature_types = TYPES
    after = xgb.train(params(), numbers, 3, evals=[(other, "v")], xgb_model=booster, verbose_eval=False)
    assert [bool(tree["categories"]) for tree in trees(after)] == [False] * 2 + [True] * 3
    assert_same_bits(after.predict(other), fresh(after).predict(matrix(X_TRAIN[:1500])))
    assert raw(booster) != raw(after)
