"""A QuantileDMatrix of one array: one model whatever held the values, and to stock code the matrix that it always was.

What stock code does with it is compared with the same in a process without the library.
"""

import ctypes
import json
import os
import re
import resource
from typing import Any, Callable, Dict, List, Set, Tuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import (
    LIBRARY,
    OURS,
    SERIES,
    Batches,
    binary_labels,
    fresh,
    make_data,
    only_before,
    params,
    raw,
    run_python,
    train,
    trees_of,
)

X, Y = make_data(3000, 6, missing=0.1)
V, VY = make_data(700, 6, seed=1, missing=0.1)
WEIGHTS = np.abs(np.sin(np.arange(len(Y)))).astype(np.float32)
SPARSE = sp.random(2000, 30, density=0.2, format="csr", random_state=3, dtype=np.float32)
SPARSE_Y = np.asarray(SPARSE[:, :4].sum(axis=1)).ravel().astype(np.float32)

pytestmark = pytest.mark.skipif(not OURS, reason="bins of stock are approximate")


def rounded(rows: sp.csr_matrix) -> sp.csr_matrix:
    return sp.csr_matrix((np.round(rows.data, 1), rows.indices, rows.indptr), shape=rows.shape)


Pair = Tuple[Callable[[], xgb.DMatrix], Callable[[], xgb.DMatrix]]


def both(x: Any, y: Any, **info: Any) -> Pair:
    return (lambda: xgb.QuantileDMatrix(x, y, **info)), (lambda: xgb.DMatrix(x, y, **info))


def integers(kind: str) -> np.ndarray:
    return np.random.default_rng(4).integers(0, 100, size=(2000, 5)).astype(kind)


FRAME = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.arange(len(X)) % 7), "c": X[:, 2].astype(np.float64)})
CODES = np.column_stack([X[:, 0], np.arange(len(X)) % 7, X[:, 2]]).astype(np.float32)
DATA: Dict[str, Pair] = {
    "float32": both(X, Y),
    "float64": both(X.astype(np.float64) + 1e-9, Y),
    "Fortran order": both(np.asfortranarray(X), Y),
    "strides": both(np.repeat(X, 2, axis=1)[:, ::2], Y),
    "weights": both(X, Y, weight=WEIGHTS),
    "uint8": both(integers("u1"), Y[:2000]),
    "int16 with a mark": both(integers("i2"), Y[:2000], missing=7),
    "int64": both(integers("i8"), Y[:2000]),
    "a mark": both(np.round(X, 1), Y, missing=0.5),
    "CSR": both(SPARSE, SPARSE_Y),
    "CSR, a mark": both(rounded(SPARSE), SPARSE_Y, missing=0.5),
    "categories": both(FRAME, Y, enable_categorical=True),
    "codes": both(CODES, Y, feature_types=["q", "c", "q"], enable_categorical=True),
    "one row": both(X[:1], Y[:1]),
    "one column": both(X[:, :1], Y),
}


#: Since 3.1 frames have names of categories, and stock code makes a QuantileDMatrix of them, which has bins alone.
HELD = [pytest.param(name, marks=only_before(301, "stock code makes the matrix") if name == "categories" else ()) for name in DATA]


@pytest.mark.parametrize("data", HELD)
def test_one_model_whatever_held_the_values(data: str) -> None:
    quantile, whole = (make() for make in DATA[data])
    binned, expected = train(quantile, 5), train(whole, 5)
    assert raw(binned) == raw(expected)
    margins = expected.predict(DATA[data][1]())
    assert np.array_equal(binned.predict(quantile), margins)  # as training kept them
    assert np.array_equal(binned.copy().predict(DATA[data][0]()), margins)
    assert quantile.num_nonmissing() == whole.num_nonmissing()
    assert (quantile.num_row(), quantile.num_col()) == (whole.num_row(), whole.num_col())
    assert quantile.feature_names == whole.feature_names and quantile.feature_types == whole.feature_types


@pytest.mark.parametrize(
    "settings",
    [
        dict(objective="multi:softprob", num_class=3),
        dict(num_parallel_tree=3, subsample=0.7),
        dict(booster="dart", rate_drop=0.3),
        dict(grow_policy="lossguide", max_leaves=9, max_depth=0),
        dict(objective="reg:absoluteerror"),
        dict(max_bin=16),
    ],
    ids=str,
)
def test_histories_are_those_of_a_dmatrix(settings: Dict[str, Any]) -> None:
    label = np.arange(len(Y)) % 3 if "num_class" in settings else Y
    valid_label = np.arange(len(VY)) % 3 if "num_class" in settings else VY
    bins = {"max_bin": settings["max_bin"]} if "max_bin" in settings else {}
    seen: List[Any] = []
    for binned in (True, False):
        data = xgb.QuantileDMatrix(X, label, **bins) if binned else xgb.DMatrix(X, label)
        valid = xgb.QuantileDMatrix(V, valid_label, ref=data, **bins) if binned else xgb.DMatrix(V, valid_label)
        history: Dict[str, Any] = {}
        how: Dict[str, Any] = dict(evals=[(data, "t"), (valid, "v")], evals_result=history, verbose_eval=False)
        booster = xgb.train(params(**settings), data, 8, **how)
        seen.append((raw(booster), history, booster.predict(valid).tolist(), booster.predict(data).tolist()))
    assert seen[0] == seen[1]


def test_an_own_objective() -> None:
    def squares(margins: np.ndarray, data: xgb.DMatrix) -> Tuple[np.ndarray, np.ndarray]:
        return margins - data.get_label(), np.ones_like(margins)

    models = [xgb.train(params(), make(), 5, obj=squares) for make in DATA["float32"]]
    assert raw(models[0]) == raw(models[1])


def test_the_array_may_change_afterwards() -> None:
    values = X.copy()
    quantile = xgb.QuantileDMatrix(values, Y)
    values[:] = 0
    assert raw(train(quantile)) == raw(train(xgb.DMatrix(X, Y)))
    assert quantile.get_data().nnz == np.isfinite(X).sum()


def test_weights_that_are_set_later_move_the_cuts() -> None:
    """As they do for a DMatrix; stock's bins stay (see below)."""
    quantile, whole = (make() for make in DATA["float32"])
    for data in (quantile, whole):
        data.set_weight(WEIGHTS)
    assert raw(train(quantile)) == raw(train(whole))


def test_estimators_are_refit_identically() -> None:
    label = binary_labels(Y).astype(int)
    for values in (X, pd.DataFrame(X), sp.csr_matrix(np.nan_to_num(X))):
        expected = train(xgb.DMatrix(values, label), 6, objective="binary:logistic")
        expected.feature_names = None
        estimator = xgb.XGBClassifier(**params(), n_estimators=6)
        for _ in range(2):
            found = estimator.fit(values, label).get_booster()
            found.feature_names = None
            assert found.get_dump(with_stats=True) == expected.get_dump(with_stats=True)
    history = xgb.XGBClassifier(**params(), n_estimators=6, eval_metric="logloss")
    history.fit(X, label, eval_set=[(X, label)], verbose=False)
    probabilities = np.clip(history.predict_proba(X)[np.arange(len(label)), label].astype(np.float64), 1e-16, 1)
    loss = history.evals_result()["validation_0"]["logloss"][-1]
    assert loss == pytest.approx(-np.log(probabilities).mean(), rel=1e-6)


# What stock code does with the matrix, with the library and without it. One thread: stock's sums depend on how many there
# are.
STOCK_USE = """
import hashlib, json, warnings
import numpy as np, scipy.sparse as sp, pandas as pd, xgboost as xgb
warnings.simplefilter("ignore")

class Parts(xgb.core.DataIter):
    def __init__(self, x, y, pieces):
        self.parts, self.at = list(zip(np.array_split(x, pieces), np.array_split(y, pieces))), 0
        super().__init__()
    def next(self, input_data):
        if self.at == len(self.parts):
            return 0
        input_data(data=self.parts[self.at][0], label=self.parts[self.at][1])
        self.at += 1
        return 1
    def reset(self):
        self.at = 0

def digest(*parts):
    return hashlib.sha256(b"|".join(bytes(part) for part in parts)).hexdigest()

def stock_use():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1500, 5)).astype("f"); y = (x[:, 0] + x[:, 1] ** 2).astype("f")
    whole = x.copy()
    x[rng.random(x.shape) < 0.1] = np.nan
    s = sp.random(1500, 20, density=0.2, format="csr", random_state=1, dtype=np.float32)
    rounded = sp.csr_matrix((np.round(s.data, 1), s.indices, s.indptr), shape=s.shape)
    frame = pd.DataFrame({"a": x[:, 0], "b": pd.Categorical(np.arange(1500) % 9)})
    weight = np.abs(np.sin(np.arange(1500.0)))
    groups = [500] * 3
    other_bins = {"max_bin": 40} if xgb.__version__ < "2" else {}  # refused since
    cases = {
        "missing": lambda: xgb.QuantileDMatrix(x, y), "dense": lambda: xgb.QuantileDMatrix(whole, y, max_bin=32),
        "float64": lambda: xgb.QuantileDMatrix(whole.astype("d"), y),
        "bytes": lambda: xgb.QuantileDMatrix((whole * 20).astype("i1"), y),
        "mark": lambda: xgb.QuantileDMatrix((whole * 20).astype("i2"), y, missing=3),
        "sparse": lambda: xgb.QuantileDMatrix(s, y),
        "sparse, mark": lambda: xgb.QuantileDMatrix(rounded, y, missing=0.5),
        "nothing stored": lambda: xgb.QuantileDMatrix(sp.csr_matrix((1500, 3), dtype="f"), y),
        "categories": lambda: xgb.QuantileDMatrix(frame, y, enable_categorical=True),
        "weights": lambda: xgb.QuantileDMatrix(whole, y, weight=weight),
        "groups": lambda: xgb.QuantileDMatrix(whole, np.digitize(y, [0, 1]), group=groups, weight=[1, 2, 3]),
        "ref": lambda: xgb.QuantileDMatrix(x[:700], y[:700], ref=xgb.QuantileDMatrix(x[700:], y[700:], **other_bins)),
        "ref of a DMatrix": lambda: xgb.QuantileDMatrix(x[:700], y[:700], ref=xgb.DMatrix(x[700:], y[700:])),
        "one batch": lambda: xgb.QuantileDMatrix(Parts(x, y, 1)),
        "batches": lambda: xgb.QuantileDMatrix(Parts(x, y, 3)),
    }
    result = {}
    for name, make in cases.items():
        data = make()
        if name == "weights":
            data.set_weight(np.ones(1500))  # the bins are those of the weights that it was made with
        seen = [data.num_row(), data.num_col(), data.num_nonmissing(), data.feature_names, data.feature_types,
                digest(data.get_label(), data.get_weight(), data.get_base_margin(), data.get_uint_info("group_ptr"))]
        settings = {"tree_method": "hist", "nthread": 1, "max_depth": 4, "max_bin": 32 if name == "dense" else 256}
        if name == "groups":
            settings["objective"] = "rank:pairwise"
        b = xgb.train(settings, data, 3)
        values = data.get_data()
        seen.append(digest(b.save_raw("json"), b.predict(data), b.predict(make())))
        seen.append(digest(values.data, values.indices, values.indptr))
        if name in ("missing", "dense", "sparse"):  # thresholds of another matrix
            all_values = xgb.DMatrix(s if name == "sparse" else whole, y)
            other = xgb.train({"tree_method": "exact", "nthread": 1}, all_values, 3)
            seen.append(digest(other.predict(data), other.predict(make())))
            settings.update(booster="dart", rate_drop=0.5)
            seen.append(digest(xgb.train(settings, data, 3).save_raw("json")))
        result[name] = seen
    return result

def errors():
    x = np.arange(40, dtype="f").reshape(20, 2)
    data, result = xgb.QuantileDMatrix(x, x[:, 0]), {}
    some = xgb.DMatrix(x, x[:, 0])
    booster = xgb.train({"tree_method": "hist", "nthread": 1}, some, 2)
    def attempt(name, what):
        try:
            what()
            result[name] = "none"
        except Exception as error:
            result[name] = str(error).split("Stack trace")[0].split(": ", 1)[-1].strip()
    attempt("slice", lambda: data.slice([1, 2]))
    attempt("save", lambda: data.save_binary("/dev/null"))
    for method in ("exact", "approx"):
        attempt(method, lambda: xgb.train({"tree_method": method, "nthread": 1}, data, 1))
    attempt("gblinear", lambda: xgb.train({"booster": "gblinear", "nthread": 1}, data, 1))
    for how in ("pred_leaf", "pred_contribs", "pred_interactions"):
        attempt(how, lambda: booster.predict(data, **{how: True}))
    attempt("columns of ref", lambda: xgb.QuantileDMatrix(x[:, :1], ref=data))
    attempt("weights of groups", lambda: xgb.QuantileDMatrix(x, x[:, 0], group=[10, 5], weight=[1, 2]))
    attempt("categories", lambda: xgb.QuantileDMatrix(-x, x[:, 0], feature_types=["c", "q"], enable_categorical=True))
    twice = sp.csr_matrix((np.ones(6, "f"), [0, 0, 0, 0, 0, 0], [0, 3, 6]), shape=(2, 1))
    attempt("twice", lambda: xgb.QuantileDMatrix(twice, [0, 1]))
    class Broken(Parts):
        def next(self, input_data):
            if self.at == 1:
                raise ValueError("the second batch")
            return super().next(input_data)
    attempt("a batch that fails", lambda: xgb.QuantileDMatrix(Broken(x, x[:, 0], 2)))
    attempt("no batch", lambda: xgb.QuantileDMatrix(Empty()))
    return result

class Empty(xgb.core.DataIter):
    def next(self, input_data): return 0
    def reset(self): pass
"""


@pytest.fixture(scope="module")
def stock_alone() -> Dict[str, Any]:
    code = STOCK_USE + "xgb.set_config(verbosity=0); print(json.dumps([stock_use(), errors()]))"
    return json.loads(run_python(code).stdout.splitlines()[-1])


def test_stock_code_sees_the_matrix_that_it_always_saw(stock_alone: Any) -> None:
    scope: Dict[str, Any] = {}
    exec(STOCK_USE, scope)
    with xgb.config_context(verbosity=0):
        found = json.loads(json.dumps(scope["stock_use"]()))
    assert found == stock_alone[0]


def test_errors_are_those_of_stock(stock_alone: Any) -> None:
    scope: Dict[str, Any] = {}
    exec(STOCK_USE, scope)
    with xgb.config_context(verbosity=0):
        found = scope["errors"]()
    for name in WITH_VALUES:  # stock has bins alone
        assert stock_alone[1].pop(name) != "none" and found.pop(name) == "none", name
    assert stock_alone[1].pop("save").startswith("binary saving") and found.pop("save") == "a DMatrix"
    assert found == stock_alone[1]


#: What stock code does not do with bins alone. It explains from bins since 3.0, and finds leaves since 3.2.
WITH_VALUES = ["slice", "gblinear"]
WITH_VALUES += ["pred_leaf"] if SERIES < 302 else []
WITH_VALUES += ["pred_contribs", "pred_interactions"] if SERIES < 300 else []
UPDATE = dict(process_type="update")
REFRESHES: Dict[str, Dict[str, Any]] = {
    "refresh": dict(updater="refresh"),
    "refresh, then prune": dict(updater="refresh,prune", gamma=2),
    "prune": dict(updater="prune", gamma=2),
    "without leaves": dict(updater="refresh", refresh_leaf=0),
    "other parameters": dict(updater="refresh", reg_lambda=20, eta=0.1),
}


@pytest.mark.parametrize("method", ["gpu_hist", "hist"])
@pytest.mark.parametrize("data", ["float32", "weights", "CSR, a mark", "int16 with a mark", "codes"])
@pytest.mark.parametrize("case", REFRESHES)
def test_trees_are_refreshed_as_from_a_dmatrix(case: str, data: str, method: str) -> None:
    quantile, whole = (make() for make in DATA[data])
    own = params() if method == "gpu_hist" else dict(tree_method="hist")
    grown = xgb.train(own, quantile, 4)  # stock's margins are of its bins, so thresholds have to be theirs
    how = {**own, **UPDATE, **REFRESHES[case]}
    for matrix in (quantile, whole):
        matrix.set_label(-2 * matrix.get_label())
    refreshed, expected = (xgb.train(how, matrix, 4, xgb_model=grown) for matrix in (quantile, whole))
    assert raw(refreshed) == raw(expected) != raw(grown)
    # Several updaters of one round, and trees that go on afterwards.
    for settings in (params(updater="grow_gpu_hist,refresh"), params(updater="grow_gpu_hist,refresh,prune")):
        assert raw(xgb.train(settings, quantile, 2)) == raw(xgb.train(settings, whole, 2))
    again = [xgb.train(params(), matrix, 2, xgb_model=refreshed) for matrix in (quantile, whole)]
    assert raw(again[0]) == raw(again[1])


@pytest.mark.parametrize("case", REFRESHES)
@pytest.mark.parametrize("method", ["gpu_hist", "hist"])
def test_estimators_refresh(method: str, case: str) -> None:
    own = params() if method == "gpu_hist" else dict(tree_method="hist")
    label = (Y > 0).astype(int)
    for kind, first, second in ((xgb.XGBRegressor, Y, -2 * Y), (xgb.XGBClassifier, label, 1 - label)):
        grown = kind(**own, n_estimators=4).fit(X, first)
        how = {**own, **UPDATE, **REFRESHES[case]}
        refreshed = kind(**how, n_estimators=4).fit(X, second, xgb_model=grown.get_booster())
        learner = {"objective": "binary:logistic"} if kind is xgb.XGBClassifier else {}
        expected = xgb.train({**how, **learner}, xgb.DMatrix(X, second), 4, xgb_model=grown.get_booster())
        assert refreshed.get_booster().get_dump(with_stats=True) == expected.get_dump(with_stats=True)


@pytest.mark.parametrize("data", ["float32", "CSR, a mark", "int16 with a mark", "weights"])
@pytest.mark.parametrize("how", [{}, dict(updater="coord_descent"), dict(feature_selector="greedy", top_k=2)], ids=str)
def test_linear_models_of_the_values(how: Dict[str, Any], data: str) -> None:
    settings = {"booster": "gblinear", "updater": "coord_descent", "nthread": 1, **how}
    quantile, whole = (make() for make in DATA[data])
    models = [xgb.train(settings, matrix, 3) for matrix in (quantile, whole)]
    assert models[0].get_dump() == models[1].get_dump()
    assert np.array_equal(models[0].predict(DATA[data][0]()), models[0].predict(DATA[data][1]()))


@pytest.mark.parametrize("data", HELD)
def test_slices_are_those_of_a_dmatrix(data: str) -> None:
    quantile, whole = (make() for make in DATA[data])
    rows = np.arange(0, whole.num_row(), 3)
    ours, expected = quantile.slice(rows), whole.slice(rows)
    assert ours.num_nonmissing() == expected.num_nonmissing() and ours.num_row() == len(rows)
    assert np.array_equal(ours.get_label(), expected.get_label())
    assert np.array_equal(ours.get_weight(), expected.get_weight())
    assert raw(train(ours, 3)) == raw(train(expected, 3))
    assert np.array_equal(ours.get_data().toarray(), expected.get_data().toarray())
    some = np.arange(len(rows))[::-2]
    assert raw(train(ours.slice(some), 2)) == raw(train(expected.slice(some), 2))


def test_slices_name_rows_that_are_not_there() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="matrix of 3000 rows names row 3000; allowed: 0 to 2999"):
        xgb.QuantileDMatrix(X, Y).slice([0, 3000])


@only_before(200, "the Python package refuses to cross-validate a QuantileDMatrix")
@pytest.mark.parametrize("method", ["gpu_hist", "hist"])
def test_cross_validation(method: str) -> None:
    how = params() if method == "gpu_hist" else dict(tree_method="hist")
    tables = [xgb.cv(how, kind(X, Y, weight=WEIGHTS), 3, nfold=3) for kind in (xgb.QuantileDMatrix, xgb.DMatrix)]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("what", [dict(pred_leaf=True), dict(pred_contribs=True), dict(pred_interactions=True)], ids=str)
def test_bins_alone_are_refused_by_name(what: Dict[str, bool]) -> None:
    infinite = np.where(X > 3, np.inf, X)  # XGBoost 1.7 makes such a matrix
    data = xgb.QuantileDMatrix(Batches(X, Y, [1000]))
    booster = train(data, 2)
    words = f"^{list(what)[0]} needs the values.*holds bins alone.*allowed: a DMatrix, or a QuantileDMatrix of one array"
    for matrix in [data] + ([xgb.QuantileDMatrix(infinite, Y)] if SERIES < 200 else []):
        with pytest.raises(xgb.core.XGBoostError, match=words):
            booster.predict(matrix, **what)
    for updater in ("refresh", "prune,refresh"):
        with pytest.raises(xgb.core.XGBoostError, match="^updater refresh needs.*holds bins alone.*allowed: a DMatrix"):
            xgb.train(params(process_type="update", updater=updater), data, 2, xgb_model=booster)
    prune = params(process_type="update", updater="prune", gamma=1)
    if SERIES < 304:
        assert xgb.train(prune, data, 2, xgb_model=booster).num_boosted_rounds() == 2
    else:
        with pytest.raises(xgb.core.XGBoostError, match="^updater prune needs.*holds bins alone.*allowed: a DMatrix"):
            xgb.train(prune, data, 2, xgb_model=booster)


QUIET_USE = """
import sys
sys.path.append({folder!r})
import xgboost_gpu
import numpy as np, xgboost as xgb
xgb.set_config(verbosity=2)
x = np.random.default_rng(0).normal(size=(500, 3)).astype("f")
data = xgb.QuantileDMatrix(x, x[:, 0], max_bin={made})
valid = xgb.QuantileDMatrix(x, x[:, 0], ref=data, max_bin={made})
settings = dict(tree_method={method!r}, max_bin={trained}, {backend})
booster = xgb.train(settings, data, 3, evals=[(valid, "v")], verbose_eval=False)
booster.predict(data), booster.predict(valid)
"""


def log_of(method: str, made: int = 256, trained: int = 256) -> List[str]:
    import xgboost_gpu

    backend = "gpu_backend='host'" if method == "gpu_hist" else ""
    folder = os.path.dirname(os.path.dirname(xgboost_gpu.__file__))
    code = QUIET_USE.format(folder=folder, method=method, made=made, trained=trained, backend=backend)
    done = run_python(code)
    return [line for line in (done.stdout + done.stderr).splitlines() if re.search("asks for|Inconsistent", line)]


def test_bins_of_stock_are_made_when_stock_code_asks() -> None:
    assert log_of("gpu_hist") == []
    asked = log_of("hist")
    assert len(asked) == 2 and all("bins are made now" in line for line in asked)


def test_another_max_bin_is_told_without_bins_of_stock() -> None:
    (line,) = log_of("gpu_hist", made=16, trained=64)
    assert "Inconsistent max_bin between Quantile DMatrix and Booster:64 vs. 16" in line


def test_the_bins_are_as_many_as_the_matrix_was_made_for() -> None:
    assert raw(train(xgb.QuantileDMatrix(X, Y, max_bin=16))) == raw(train(xgb.DMatrix(X, Y), max_bin=16))


class Counting(Batches):
    """Counts what XGBoost asks of an iterator."""

    def __init__(self, *arguments: Any) -> None:
        self.asked, self.resets = 0, 0
        super().__init__(*arguments)

    def next(self, input_data: Callable) -> int:
        self.asked += 1
        return super().next(input_data)

    def reset(self) -> None:
        self.resets += 1
        super().reset()


def test_an_iterator_of_one_batch_is_asked_for_it_twice() -> None:
    batches = Counting(X, Y, [])
    quantile = xgb.QuantileDMatrix(batches)
    assert batches.asked == 3 and batches.at == 0
    assert raw(train(quantile)) == raw(train(xgb.DMatrix(X, Y)))


class FailsAfterABatch(Batches):
    def next(self, input_data: Callable) -> int:
        if self.at == 1:
            raise ValueError("the second file is damaged")
        return super().next(input_data)


def test_an_iterator_that_fails_after_a_batch_leaves_no_matrix_behind() -> None:
    x = np.ones((200_000, 20), np.float32)  # 16 MB

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def fail() -> None:
        with pytest.raises(ValueError, match="the second file is damaged"):
            xgb.QuantileDMatrix(FailsAfterABatch(x, None, [100_000]))

    fail()
    before = resident()
    for _ in range(10):
        fail()
    assert resident() - before < x.nbytes  # ten matrices of the first batch would be 80 MB


def thresholds(booster: xgb.Booster) -> Set[Tuple[int, float]]:
    return {(int(t.feature[n]), float(t.threshold[n])) for t in trees_of(booster) for n in t.splits}


def test_a_matrix_with_ref_is_trained_with_the_cuts_of_ref() -> None:
    """The first has halves only, so that its cuts are halves."""
    first = xgb.QuantileDMatrix(np.round(X * 2) / 2, Y)
    shared = xgb.QuantileDMatrix(X, Y, ref=first)

    def between_values(booster: xgb.Booster) -> Set[Tuple[int, float]]:
        return {(f, v) for f, v in thresholds(booster) if np.nanmin(X[:, f]) < v < np.nanmax(np.round(X[:, f] * 2) / 2)}

    used = between_values(train(shared))
    assert len(used) > 5 and all(v * 2 == int(v * 2) for _, v in used)
    assert not all(v * 2 == int(v * 2) for _, v in between_values(train(xgb.QuantileDMatrix(X, Y))))
    # A third with the bins of the second has those of the first, also when stock code has made bins of its own.
    xgb.train({"tree_method": "hist"}, shared, 1)
    assert raw(train(xgb.QuantileDMatrix(X, Y, ref=shared))) == raw(train(shared))


def test_the_same_rows_with_ref_give_the_same_model() -> None:
    for x, y in ((X, Y), (SPARSE, SPARSE_Y), (FRAME, Y), (integers("u1"), Y[:2000])):
        first = xgb.QuantileDMatrix(x, y, enable_categorical=True)
        assert raw(train(xgb.QuantileDMatrix(x, y, ref=first, enable_categorical=True))) == raw(train(first))


def test_values_beyond_those_of_ref_are_predicted_as_they_were_trained() -> None:
    """Of each feature there are larger and smaller values than in ref, and missing ones."""
    rng = np.random.default_rng(4)
    first = rng.integers(20, 50, size=(300, 3)).astype(np.float32)
    x = rng.integers(0, 100, size=(600, 3)).astype(np.float32)
    x[rng.random(size=x.shape) < 0.3] = np.nan
    y = 3.0 * np.isnan(x[:, 0]) + np.nan_to_num(x[:, 1] > 60) - np.nan_to_num(x[:, 2] < 10)

    def with_ref() -> xgb.DMatrix:
        return xgb.QuantileDMatrix(x, y, ref=xgb.QuantileDMatrix(first, np.zeros(300)))

    data = with_ref()
    booster = xgb.train(params(base_score=0.5), data, 6)
    assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(x)))
    half = xgb.train(params(base_score=0.5), with_ref(), 3)
    assert raw(xgb.train(params(base_score=0.5), with_ref(), 3, xgb_model=half)) == raw(booster)


@only_before(301, "stock code makes the matrix of a frame with names of categories")
def test_values_and_categories_that_ref_has_not_seen() -> None:
    """They are on the right side of every split: rows predict as they were trained."""
    few = FRAME["b"].cat.codes < 3
    first = xgb.QuantileDMatrix(FRAME[few & (FRAME["a"] > 0)], Y[few & (FRAME["a"] > 0)], enable_categorical=True)
    shared = xgb.QuantileDMatrix(FRAME, Y, ref=first, enable_categorical=True)
    booster = train(shared)
    again = fresh(booster).predict(xgb.DMatrix(FRAME, enable_categorical=True))
    assert np.array_equal(booster.predict(shared), again)


def test_several_batches_have_the_bins_of_stock() -> None:
    quantile = xgb.QuantileDMatrix(Batches(X, Y, [1000]), max_bin=16)
    cuts = {(j, v) for j, column in enumerate(quantile.get_data().T) for v in column.data.tolist()}
    booster = train(quantile, 4, max_bin=16)
    trees = trees_of(booster)
    used = {(int(t.feature[n]), float(t.threshold[n])) for t in trees for n in t.splits}
    below_all = float(np.finfo(np.float32).max)  # between present and missing: the end of the last bin is not to be had
    assert len(used) > 5 and {(f, v) for f, v in used if v != below_all} <= cuts
    # A matrix with its bins has them, too.
    valid = xgb.QuantileDMatrix(V, VY, ref=quantile, **({} if SERIES < 200 else dict(max_bin=16)))
    assert np.array_equal(booster.predict(valid), fresh(booster).predict(xgb.DMatrix(V)))


def test_stock_methods_may_have_gone_before() -> None:
    quantile, whole = (make() for make in DATA["float32"])
    xgb.train({"tree_method": "hist"}, quantile, 2)
    assert raw(train(quantile)) == raw(train(whole))


@only_before(300, "XGBoost has the function no more")
def test_the_deprecated_function(capfd: Any) -> None:
    """XGDeviceQuantileDMatrixCreateFromCallback, as programs in C call it."""
    library = ctypes.CDLL(LIBRARY)
    iterator = Batches(X, Y, [])
    reset, following = iterator.get_callbacks(True, False)
    handle = ctypes.c_void_p()
    status = library.XGDeviceQuantileDMatrixCreateFromCallback(
        None, iterator.proxy.handle, reset, following, ctypes.c_float(np.nan), 2, 32, ctypes.byref(handle)
    )
    iterator.reraise()
    assert status == 0
    assert "is deprecated. Use `XGQuantileDMatrixCreateFromCallback` instead." in "".join(capfd.readouterr())
    quantile = xgb.QuantileDMatrix(handle)
    assert raw(train(quantile, max_bin=32)) == raw(train(xgb.DMatrix(X, Y), max_bin=32))


# Bins that are made late must not communicate: only one of two workers asks for them.
GROUP = """
import sys, json
sys.path[:0] = {folders!r}
import xgboost_gpu
import multiprocessing, numpy as np, xgboost as xgb
from xgboost import collective
from group_workers import tracker_of

x = np.random.default_rng(0).normal(size=(500, 3)).astype("f")

def work(number, settings, queue):
    before = xgb.QuantileDMatrix(x[number::2], x[number::2, 0])
    with collective.CommunicatorContext(**settings):
        values = before.get_data().shape if number == 0 else None  # bins of a matrix that was made outside
        inside = xgb.QuantileDMatrix(x[number::2], x[number::2, 0])
        booster = xgb.train({{"tree_method": "hist", "nthread": 1}}, inside, 2)
        queue.put((number, values, booster.get_dump()))

if __name__ == "__main__":
    tracker, settings = tracker_of(2)
    queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(i, settings, queue), daemon=True) for i in range(2)]
    for worker in workers:
        worker.start()
    found = sorted((queue.get(timeout=600) for _ in workers), key=lambda one: one[0])
    for worker in workers:
        worker.join()
    print(json.dumps([found[0][1], found[0][2] == found[1][2]]))
"""


def test_bins_made_late_do_not_communicate() -> None:
    import xgboost_gpu

    folders = [os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.path.dirname(xgboost_gpu.__file__))]
    done = run_python(GROUP.format(folders=folders))
    assert json.loads(done.stdout.splitlines()[-1]) == [[250, 3], True]


def test_a_long_chain_of_shared_bins_keeps_the_first_and_the_last_matrix() -> None:
    import xgboost_gpu

    script = f"""
import numpy as np, sys, xgboost as xgb
sys.path.insert(0, {os.path.dirname(os.path.dirname(xgboost_gpu.__file__))!r})
import xgboost_gpu
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
rows = np.random.default_rng(1).normal(size=(20_000, 50)).astype(np.float32)
data = xgb.QuantileDMatrix(rows)
for _ in range(5):
    data = xgb.QuantileDMatrix(rows, ref=data)
before = resident()
for _ in range(50):
    data = xgb.QuantileDMatrix(rows, ref=data)
print((resident() - before) / rows.nbytes)
data.set_label(rows[:, 0])
xgb.train({{"tree_method": "hist"}}, data, 1)
"""
    assert float(run_python(script).stdout.split()[0]) < 10, "50 matrices hold their values"
