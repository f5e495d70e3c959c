"""Predictions that are large enough for a device are stock XGBoost's, bit for bit, however they are asked for."""

from pathlib import Path
from typing import Any, Callable, Dict, Optional

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import BACKEND, SERIES, fresh, make_data, only_before, only_ours, only_since, ours_since, params

ROUNDS = 70
# Rows times rounds are more than the work from which any process uses a device, about 2^24, also with five rounds less.
# Without a device stock code predicts. Few rows show as well that everything is passed on as it came.
ROWS = 2**18 + 5 if BACKEND == "cuda" else 1005
X_TRAIN, Y = make_data(800, 5, missing=0.1)
X = make_data(ROWS, 5, seed=1, missing=0.1)[0]
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)

CASES: Dict[str, Any] = {
    "regression": (Y, {}),
    "logistic": ((Y > 0).astype(np.float32), dict(objective="binary:logistic", base_score=0.2)),
    "classes": (CLASSES, dict(objective="multi:softprob", num_class=3, max_depth=2)),
    "forest": (Y, dict(num_parallel_tree=2, subsample=0.7)),
    "dart": (Y, dict(booster="dart", rate_drop=0.2)),
    "dart of classes": (CLASSES, dict(booster="dart", rate_drop=0.1, objective="multi:softprob", num_class=3, max_depth=2)),
}
if SERIES >= 302:
    VECTORS = np.column_stack([Y, CLASSES, np.sin(Y)])
    CASES["vectors"] = (VECTORS, dict(multi_strategy="multi_output_tree", max_depth=3))
    CASES["symmetric vectors"] = (VECTORS, dict(multi_strategy="multi_output_tree", grow_policy="symmetric"))
if SERIES >= 304:
    CASES["dart of vectors"] = (VECTORS, dict(booster="dart", rate_drop=0.1, multi_strategy="multi_output_tree", max_depth=3))
_MODELS: Dict[str, xgb.Booster] = {}


def model(case: str) -> xgb.Booster:
    if case not in _MODELS:
        label, settings = CASES[case]
        _MODELS[case] = xgb.train({**params(max_depth=4), **settings}, xgb.DMatrix(X_TRAIN, label), ROUNDS)
    return _MODELS[case]


def assert_same_bits(ours: np.ndarray, stock: np.ndarray) -> None:
    assert ours.shape == stock.shape
    assert ours.dtype == stock.dtype == np.float32
    assert np.array_equal(ours.view(np.uint32), stock.view(np.uint32))


def assert_as_stock(case: str, matrix: Callable[[], xgb.DMatrix] = lambda: xgb.DMatrix(X), **how: Any) -> None:
    """Each with a matrix of its own: margins that one has cached must not serve the other."""
    booster = model(case)
    assert_same_bits(booster.predict(matrix(), **how), fresh(booster).predict(matrix(), **how))


@pytest.mark.parametrize("case", CASES)
def test_margins(case: str) -> None:
    assert_as_stock(case, output_margin=True)


@pytest.mark.parametrize("case", [case for case in ("regression", "dart", "vectors") if case in CASES])
@pytest.mark.parametrize("rounds", [(0, ROUNDS - 4), (3, ROUNDS - 1), (5, 6)])
def test_margins_of_some_rounds(case: str, rounds: Any) -> None:
    assert_as_stock(case, iteration_range=rounds, output_margin=True)


@pytest.mark.parametrize("case", ["regression", "dart", "dart of classes"])
def test_margins_on_those_of_the_user(case: str) -> None:
    outputs = 3 if "classes" in case else 1
    margin = np.sin(np.arange(ROWS * outputs, dtype=np.float32)).reshape(ROWS, outputs)
    assert_as_stock(case, lambda: xgb.DMatrix(X, base_margin=margin), output_margin=True)


def test_a_matrix_may_be_asked_again() -> None:
    for case in ("regression", "dart"):
        data = xgb.DMatrix(X)
        seen = [model(case).predict(data, iteration_range=(0, end)) for end in (ROUNDS, ROUNDS - 5, ROUNDS)]
        assert_same_bits(seen[0], seen[2])
        assert_same_bits(seen[1], fresh(model(case)).predict(xgb.DMatrix(X), iteration_range=(0, ROUNDS - 5)))


def test_a_dart_predicts_while_it_is_trained() -> None:
    """Weights of old trees change in every round."""
    train, data = xgb.DMatrix(X_TRAIN, Y), xgb.DMatrix(X)
    booster = model("dart").copy()
    for i in range(2):
        booster.update(train, ROUNDS + i)
        assert_same_bits(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))


@pytest.mark.parametrize("case", CASES)
def test_leaves(case: str) -> None:
    assert_as_stock(case, pred_leaf=True)


@pytest.mark.parametrize("strict", [False, True])
def test_leaves_of_the_first_rounds(strict: bool) -> None:
    for case in ("regression", "classes", "forest"):
        assert_as_stock(case, pred_leaf=True, iteration_range=(0, ROUNDS - 3), strict_shape=strict)
    with pytest.raises(xgb.core.XGBoostError, match="supports only iteration end"):
        model("regression").predict(xgb.DMatrix(X), pred_leaf=True, iteration_range=(2, ROUNDS))


@only_before(200, "ntree_limit is gone")
def test_ntree_limit() -> None:
    assert_as_stock("forest", ntree_limit=2 * (ROUNDS - 2))
    assert_as_stock("forest", ntree_limit=2 * (ROUNDS - 2), pred_leaf=True)


def test_sparse_rows() -> None:
    values = sp.random(ROWS, 5, density=0.3, format="csr", dtype=np.float32, random_state=2)
    for how in (dict(), dict(pred_leaf=True)):
        assert_as_stock("regression", lambda: xgb.DMatrix(values), **how)


def assert_in_place_as_stock(case: str, data: Any, **how: Any) -> None:
    booster = model(case)
    assert_same_bits(booster.inplace_predict(data, **how), fresh(booster).inplace_predict(data, **how))


@pytest.mark.parametrize("case", CASES)
def test_in_place(case: str) -> None:
    assert_in_place_as_stock(case, X)


IN_PLACE: Dict[str, Callable[[], Any]] = {
    "double": lambda: X.astype(np.float64) + 1e-9,
    "half": lambda: X.astype(np.float16),
    "byte": lambda: np.nan_to_num(X * 9).astype(np.int8),
    "unsigned": lambda: np.nan_to_num(np.abs(X) * 9).astype(np.uint32),
    "long": lambda: np.nan_to_num(X * 9).astype(np.int64) + 2**40,
    "bool": lambda: X > 0,
    "by columns": lambda: np.asfortranarray(X),
    "infinite": lambda: np.where(np.isnan(X), np.float32(np.inf), X),
    "frame": lambda: pd.DataFrame(X),
    "CSR": lambda: sp.random(ROWS, 5, density=0.4, format="csr", dtype=np.float32, random_state=3),
    "CSR of doubles": lambda: sp.random(ROWS, 5, density=0.4, format="csr", dtype=np.float64, random_state=3),
    "CSR of nothing": lambda: sp.csr_matrix((ROWS, 5), dtype=np.float32),
}


@pytest.mark.parametrize("kind", IN_PLACE)
def test_in_place_of_every_kind(kind: str) -> None:
    assert_in_place_as_stock("regression", IN_PLACE[kind]())


def test_in_place_csr_with_long_indices() -> None:
    data = IN_PLACE["CSR"]()
    data.indices, data.indptr = data.indices.astype(np.int64), data.indptr.astype(np.int64)
    assert_in_place_as_stock("regression", data)


@pytest.mark.parametrize("how", [dict(predict_type="margin"), dict(strict_shape=True), dict(iteration_range=(2, ROUNDS))])
def test_in_place_in_other_ways(how: Dict[str, Any]) -> None:
    for case in ("logistic", "classes", "dart"):
        assert_in_place_as_stock(case, X, **how)


def test_in_place_with_a_mark_for_missing_values() -> None:
    marked = np.where(np.isnan(X), np.float32(-999), X)
    assert_in_place_as_stock("regression", marked, missing=-999)
    assert_same_bits(model("regression").inplace_predict(marked, missing=-999), model("regression").inplace_predict(X))
    sparse = IN_PLACE["CSR"]()
    sparse.data[::3] = 7
    assert_in_place_as_stock("regression", sparse, missing=7)


def test_in_place_on_margins_of_the_user() -> None:
    margin = np.cos(np.arange(ROWS, dtype=np.float32))
    for case in ("regression", "dart"):
        assert_in_place_as_stock(case, X, base_margin=margin)


def test_in_place_says_what_stock_says() -> None:
    with pytest.raises(ValueError, match="Feature shape mismatch, expected: 5, got 4"):
        model("regression").inplace_predict(X[:, :4])
    with pytest.raises(xgb.core.XGBoostError, match="Number of columns in data must equal"):
        model("regression").inplace_predict(np.ascontiguousarray(X[:, :4]), validate_features=False)


def test_estimators() -> None:
    estimator = xgb.XGBRegressor(n_estimators=ROUNDS, **params(max_depth=4)).fit(X_TRAIN, Y)
    stock = fresh(estimator.get_booster())
    assert_same_bits(estimator.predict(X), stock.inplace_predict(X))
    assert_same_bits(estimator.apply(X), stock.predict(xgb.DMatrix(X), pred_leaf=True))


#: Rows without missing values, and the same without their last two columns.
COMPLETE = make_data(ROWS, 5, seed=2)[0]
NARROW = np.ascontiguousarray(COMPLETE[:, :3])
since_302 = ours_since(302, "it sends rows right at a split by a column that they do not have")


def without_columns() -> np.ndarray:
    x = COMPLETE.copy()
    x[:, 3:] = np.nan
    return x


class _Batches(xgb.DataIter):
    """Two batches of NARROW."""

    def __init__(self, cache: Optional[str]) -> None:
        self.next_batch = 0
        super().__init__(cache_prefix=cache)

    def next(self, input_data: Callable) -> int:
        if self.next_batch == 2:
            return 0
        input_data(data=np.array_split(NARROW, 2)[self.next_batch])
        self.next_batch += 1
        return 1

    def reset(self) -> None:
        self.next_batch = 0


NARROW_MATRICES: Dict[str, Callable[[str], xgb.DMatrix]] = {
    "array": lambda _: xgb.DMatrix(NARROW),
    "csr": lambda _: xgb.DMatrix(sp.csr_matrix(NARROW)),
    "quantised": lambda _: xgb.QuantileDMatrix(NARROW),
    "pages": lambda folder: xgb.DMatrix(_Batches(folder + "/cache")),
}


@since_302
@pytest.mark.parametrize("matrix", NARROW_MATRICES)
@pytest.mark.parametrize("case", CASES)
def test_columns_that_are_not_there_are_missing(case: str, matrix: str, tmp_path: Path) -> None:
    assert np.all(NARROW != 0)
    booster = model(case)
    data = NARROW_MATRICES[matrix](str(tmp_path))
    for how in (dict(output_margin=True), dict(iteration_range=(3, ROUNDS - 1))):
        assert_same_bits(booster.predict(data, **how), booster.predict(xgb.DMatrix(without_columns()), **how))
    assert (data.num_col(), data.num_row()) == (3, ROWS)


@since_302
def test_an_evaluation_set_and_its_margins_may_have_fewer_columns() -> None:
    rows = np.arange(ROWS, dtype=np.float32)
    found: Dict[str, Any] = {}
    sets = {}
    for many in (20, ROWS):
        for name, x in (("narrow", NARROW), ("missing", without_columns())):
            sets[f"{name}_{many}"] = xgb.DMatrix(x[:many], rows[:many], weight=rows[:many] + 1, base_margin=rows[:many] % 7)
    evals = [(data, name) for name, data in sets.items()]
    xgb.train(params(max_depth=4), xgb.DMatrix(X_TRAIN, Y), 3, evals=evals, evals_result=found, verbose_eval=False)
    for many in (20, ROWS):
        assert found[f"narrow_{many}"] == found[f"missing_{many}"]


@only_since(302, "an older XGBoost reads bins of fewer columns rightly")
@only_ours
def test_bins_of_fewer_columns_are_refused() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="The data have 3 columns, and the model has 5; allowed: as many"):
        model("regression").predict(xgb.QuantileDMatrix(_Batches(None)))
