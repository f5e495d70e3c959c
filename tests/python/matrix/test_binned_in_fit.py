"""Estimators that bin the user's array where it lies. On the host a switch of the package has them do so."""

import ctypes
import json
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import pytest
import xgboost as xgb
from support import BACKEND, PACKAGE, make_data, only_ours, params, raw, run_python

pytestmark = only_ours

X, Y = make_data(3000, 7, seed=5, missing=0.1)
TEST_X, TEST_Y = make_data(500, 7, seed=6, missing=0.1)
RELEVANCE = np.digitize(Y, np.quantile(Y, [0.5, 0.8]))
BINNED = "columns is binned where it lies"


class Fits:
    """Trains estimators. `binned`: how often an array was binned where it lies by the fit before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
        from xgboost_gpu import _fit

        self._patch, self._capfd, self._module = monkeypatch, capfd, _fit
        self.binned = 0
        monkeypatch.setattr(_fit, "BACKENDS", ("cuda", "host"))

    def fit(self, kind: Any, x: Any, y: Any, how: Optional[Dict[str, Any]] = None, **settings: Any) -> xgb.Booster:
        self._capfd.readouterr()
        try:
            estimator = kind(**{"n_estimators": 6, "max_depth": 4, "verbosity": 2, **params(), **settings})
            return estimator.fit(x, y, **(how or {})).get_booster()
        finally:
            said = self._capfd.readouterr()
            self.binned = (said.out + said.err).count(BINNED)

    def copied(self, *arguments: Any, **settings: Any) -> xgb.Booster:
        """The same with a copy of the array."""
        with self._patch.context() as patch:
            patch.setattr(self._module, "BACKENDS", ())
            booster = self.fit(*arguments, **settings)
        assert self.binned == 0
        return booster


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> Fits:
    return Fits(monkeypatch, capfd)


def weights(y: np.ndarray) -> np.ndarray:
    return np.linspace(0.5, 2, len(y)).astype(np.float32)


BYTES = (np.nan_to_num(X) * 30 + 128).astype(np.uint8)
CASES: Dict[str, Tuple[Any, Any, Any, Dict[str, Any], Dict[str, Any]]] = {
    "plain": (xgb.XGBRegressor, X, Y, {}, {}),
    "weights and margins": (xgb.XGBRegressor, X, Y, {"sample_weight": weights(Y), "base_margin": Y / 2}, {}),
    "bytes": (xgb.XGBRegressor, BYTES, Y, {}, {"max_bin": 16}),
    "int16": (xgb.XGBRegressor, BYTES.astype(np.int16) - 100, Y, {}, {}),
    "a mark": (xgb.XGBRegressor, np.nan_to_num(X, nan=-9), Y, {}, {"missing": -9}),
    "a mark of bytes": (xgb.XGBRegressor, BYTES, Y, {}, {"missing": 128}),
    "other bytes": (xgb.XGBRegressor, X.astype(">f4"), Y, {}, {}),
    "sampled": (xgb.XGBRegressor, X, Y, {}, {"subsample": 0.5, "colsample_bynode": 0.5, "max_bin": 300}),
    "two classes": (xgb.XGBClassifier, X, Y > 0, {}, {}),
    "three classes": (xgb.XGBClassifier, X, RELEVANCE, {}, {"n_estimators": 3}),
    "forest": (xgb.XGBRFRegressor, X, Y, {}, {}),
    "ranker": (xgb.XGBRanker, X, RELEVANCE, {"group": [1000, 500, 1500], "sample_weight": [1.0, 3.0, 2.0]}, {}),
    "one row": (xgb.XGBRegressor, X[:1], Y[:1], {}, {}),
    "symmetric": (xgb.XGBRegressor, X, Y, {}, {"grow_policy": "symmetric"}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_the_same(fits: Fits, case: str) -> None:
    kind, x, y, how, settings = CASES[case]
    booster = fits.fit(kind, x, y, how, **settings)
    assert fits.binned == 1
    assert raw(booster) == raw(fits.copied(kind, x, y, how, **settings))


class Changes(xgb.callback.TrainingCallback):
    """Overwrites arrays before the first round, and after each."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self._arrays = arrays

    def _change(self) -> None:
        for array in self._arrays:
            array[:] = np.random.default_rng(1).permutation(array) + 5

    def before_training(self, model: Any) -> Any:
        self._change()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._change()
        return False


def test_a_callback_may_change_the_arrays(fits: Fits) -> None:
    expected = fits.copied(xgb.XGBRegressor, X, Y)
    x, test = X.copy(), TEST_X.copy()
    model: List[xgb.XGBRegressor] = []

    def keep(**settings: Any) -> xgb.XGBRegressor:
        model.append(xgb.XGBRegressor(**settings))
        return model[-1]

    sets = {"eval_set": [(x, Y), (test, TEST_Y)], "verbose": False}
    booster = fits.fit(keep, x, Y, sets, callbacks=[Changes(x, test)])
    assert fits.binned == 1
    assert not np.array_equal(x, X, equal_nan=True)
    assert raw(booster) == raw(expected)
    fits.copied(keep, X, Y, {**sets, "eval_set": [(X, Y), (TEST_X, TEST_Y)]})
    assert model[0].evals_result() == model[1].evals_result()


def test_threads_share_an_array(fits: Fits) -> None:
    expected = [raw(fits.copied(xgb.XGBRegressor, X, Y, n_jobs=1, seed=seed, subsample=0.5)) for seed in range(8)]
    models: List[bytes] = [b""] * 8

    def fit(seed: int) -> None:
        estimator = xgb.XGBRegressor(n_estimators=6, max_depth=4, n_jobs=1, seed=seed, subsample=0.5, **params())
        models[seed] = raw(estimator.fit(X, Y).get_booster())

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert models == expected


WIDE = np.repeat(np.nan_to_num(X), 2, axis=1)
OTHERS: Dict[str, Any] = {
    "every second column": WIDE[:, ::2],
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "rows backwards": np.ascontiguousarray(X[::-1])[::-1],
    "columns of a wider array": WIDE[:, :7],
    "by columns": np.asfortranarray(X),
    "float64": X.astype(np.float64),
    "masked": np.ma.masked_invalid(X),
    "list": X.tolist(),
}


@pytest.mark.parametrize("form", OTHERS)
def test_other_arrays_are_copied(fits: Fits, form: str) -> None:
    x = OTHERS[form]
    booster = fits.fit(xgb.XGBRegressor, x, Y)
    assert fits.binned == 0
    plain = np.ascontiguousarray(np.ma.filled(np.ma.array(x, dtype=np.float32), np.nan))
    assert raw(booster) == raw(fits.fit(xgb.XGBRegressor, plain, Y))
    assert fits.binned == 1


def outcome_of(work: Callable[[], xgb.Booster]) -> Any:
    """The model, or the type and the text of the error without XGBoost's time and stack."""
    try:
        return raw(work())
    except (ValueError, xgb.core.XGBoostError) as error:
        lines = [line for line in str(error).splitlines() if not line.lstrip().startswith(("[", "Stack"))]
        return type(error), lines


@pytest.mark.parametrize(
    "x, y",
    [(X, np.where(np.arange(len(Y)) == 7, np.nan, Y)), (X, Y[:-1]), (np.where(np.isnan(X), np.inf, X), Y), (X[:, :0], Y)],
    ids=["labels that are no numbers", "too few labels", "infinite values", "no columns"],
)
def test_bad_data_have_the_same_outcome(fits: Fits, x: np.ndarray, y: np.ndarray) -> None:
    ours = outcome_of(lambda: fits.fit(xgb.XGBRegressor, x, y))
    assert ours == outcome_of(lambda: fits.copied(xgb.XGBRegressor, x, y))
    fits.fit(xgb.XGBRegressor, X, Y)
    assert fits.binned == 1


class Raises(xgb.callback.TrainingCallback):
    """Ends a training by an error."""

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        raise RuntimeError("the user's")


def test_a_callback_raises(fits: Fits, capfd: pytest.CaptureFixture) -> None:
    x = X.copy()
    with pytest.raises(RuntimeError, match="the user's"):
        fits.fit(xgb.XGBRegressor, x, Y, callbacks=[Raises()])
    assert fits.binned == 1
    with xgb.config_context(verbosity=2):  # a matrix of the user's own is a copy
        matrix = xgb.QuantileDMatrix(x, Y)
    said = capfd.readouterr()
    assert BINNED not in said.out + said.err
    x[:] = 0
    how = {"max_depth": 4, **params()}
    assert raw(xgb.train(how, matrix, 6)) == raw(xgb.train(how, xgb.QuantileDMatrix(X, Y), 6))


def test_early_stopping(fits: Fits) -> None:
    settings = {"n_estimators": 60, "eta": 0.5, "early_stopping_rounds": 3, "eval_metric": "rmse"}
    sets = {"eval_set": [(X, Y), (TEST_X, TEST_Y)], "verbose": False}
    booster = fits.fit(xgb.XGBRegressor, X, Y, sets, **settings)
    assert fits.binned == 1
    assert booster.best_iteration < 57
    assert raw(booster) == raw(fits.copied(xgb.XGBRegressor, X, Y, sets, **settings))


def test_a_booster_outlives_estimator_and_arrays(fits: Fits) -> None:
    x, y = X.copy(), Y.copy()
    booster = fits.fit(xgb.XGBRegressor, x, y)
    x[:] = y[:] = 0
    del x, y
    expected = fits.copied(xgb.XGBRegressor, X, Y)
    test = xgb.DMatrix(TEST_X)
    assert np.array_equal(booster.predict(test), expected.predict(test))
    more = [fits.fit(xgb.XGBRegressor, X, Y, {"xgb_model": model}) for model in (booster, expected)]
    assert fits.binned == 0  # trees of another model divide the rows elsewhere
    assert raw(more[0]) == raw(more[1])
    assert more[0].num_boosted_rounds() == 12


def squares(labels: np.ndarray, predictions: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    return predictions - labels, np.ones_like(labels)


def error(labels: np.ndarray, predictions: np.ndarray) -> float:
    return float(np.abs(labels - predictions).max())


COPIED: Dict[str, Dict[str, Any]] = {
    "objective of the user": {"objective": squares},
    "metric of the user": {"eval_metric": error},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "refresh": {"updater": "grow_gpu_hist,refresh"},
    "exact": {"tree_method": "gpu_exact"},
    "stock": {"tree_method": "hist"},
}


@pytest.mark.parametrize("case", COPIED)
def test_what_needs_values_gets_a_copy(fits: Fits, case: str) -> None:
    settings = COPIED[case]
    if settings.get("tree_method") == "hist":
        settings = {**settings, "gpu_backend": "auto"}
    booster = fits.fit(xgb.XGBRegressor, X, Y, **settings)
    assert fits.binned == 0
    assert booster.num_boosted_rounds() == 6


def test_a_matrix_that_somebody_keeps(fits: Fits) -> None:
    class Keeps(xgb.XGBRegressor):
        kept: List[xgb.DMatrix] = []

        def _create_dmatrix(self, *arguments: Any, **others: Any) -> xgb.DMatrix:
            self.kept.append(super()._create_dmatrix(*arguments, **others))
            return self.kept[-1]

    x = X.copy()
    booster = fits.fit(Keeps, x, Y)
    assert fits.binned == 1
    x[:] = 0
    (matrix,) = Keeps.kept
    how = {"max_depth": 4, **params()}
    assert raw(xgb.train(how, matrix, 6)) == raw(xgb.train(how, xgb.QuantileDMatrix(X, Y), 6))
    assert np.array_equal(booster.predict(matrix), booster.predict(xgb.DMatrix(X)))


@pytest.mark.skipif(BACKEND != "cuda", reason="pages of the host are not binned where the array lies")
def test_bins_in_pages(fits: Fits) -> None:
    settings = {"gpu_memory_limit": "12MB"}
    booster = fits.fit(xgb.XGBRegressor, np.tile(X, (40, 1)), np.tile(Y, 40), **settings)
    assert fits.binned == 1
    assert raw(booster) == raw(fits.copied(xgb.XGBRegressor, np.tile(X, (40, 1)), np.tile(Y, 40)))


@pytest.mark.parametrize("text", [b"", b"[]", b'{"n_gpus": 1}'])
def test_parameters_that_are_none(text: bytes) -> None:
    from xgboost_gpu import _LIBRARY

    bin_at_once = _LIBRARY.function("XGBGPUBinAtOnce")
    is_told = ctypes.c_int(7)
    assert bin_at_once(text, 1, ctypes.byref(is_told)) == -1
    said = xgb.core._LIB.XGBGetLastError
    said.restype = ctypes.c_char_p
    assert b"allowed: a JSON object of texts" in said()
    assert bin_at_once(None, 1, None) == -1
    assert b"is_told is null" in said()


MEMORY = """
import json, sys
import numpy as np, xgboost as xgb
import xgboost_gpu
xgboost_gpu._fit.BACKENDS = sys.argv[2].split()

def status(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))

def fit(rows):
    x = np.random.default_rng(1).standard_normal((rows, 40), dtype=np.float32)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    before = status("VmRSS")
    how = {"tree_method": "gpu_hist", "gpu_backend": sys.argv[1], "n_jobs": 2}
    xgb.XGBRegressor(n_estimators=2, max_depth=3, **how).fit(x, x[:, 0])
    return status("VmHWM") - before, x.nbytes

fit(1000)
print(json.dumps(fit(400_000)))
"""


def test_memory_has_no_copy() -> None:
    """Beside the array there are bins, and what finding them takes: the same with and without a copy of 64 MB."""
    path = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))
    peaks = []
    for backends in ("cuda host", ""):
        peak, array = json.loads(run_python(MEMORY, BACKEND, backends, PYTHONPATH=path).stdout.splitlines()[-1])
        peaks.append(peak)
    assert peaks[1] - peaks[0] > 0.9 * array
