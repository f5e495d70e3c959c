"""Arrays on a GPU give the models of the same values on the host. Needs CuPy, which is no package of Debian 12, and a GPU."""

import ctypes
import gc
import json
import os
import subprocess
import sys
from typing import Any, List

import numpy as np
import pytest
import xgboost as xgb
import xgboost_gpu
from support import BACKEND, assert_same_trees, make_data, params, train
from xgboost_gpu._device_arrays import interface_of_capsule, is_device_array

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
X, Y = make_data(900, 7, missing=0.1)
WEIGHTS = np.random.default_rng(1).integers(1, 5, size=900).astype(np.float32)


def matrix_of(interface: Any, function: str = "XGDMatrixCreateFromCudaArrayInterface") -> None:
    handle = ctypes.c_void_p()
    config = json.dumps({"missing": float("nan"), "nthread": 1}).encode()
    library = xgb.core._LIB
    xgb.core._check_call(getattr(library, function)(json.dumps(interface).encode(), config, ctypes.byref(handle)))


def interface_of(array: np.ndarray, **members: Any) -> dict:
    return {**array.__array_interface__, "version": 3, **members}


@pytest.mark.parametrize("members, text", [
    ({"typestr": "<c8"}, "values of the type '<c8'; allowed: bool, integers of 1 to 8 bytes"),
    ({"shape": [900]}, "strides of other dimensions|no CUDA|no memory of a CUDA device"),
    ({"shape": [2, 3, 4]}, "not one or two dimensions"),
    ({"shape": [0, 7]}, "no values"),
    ({"strides": [4]}, "strides of other dimensions"),
    ({"data": []}, "no address"),
    ({"data": None}, "no member data"),
    ({"data": [0, True]}, "the address 0"),
    ({"mask": {"shape": [5], "typestr": "<t1", "data": [16, True]}}, "The mask .* 900 rows .* 5 values; allowed: one bit"),
])
def test_interfaces_that_are_none(members: dict, text: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=text):
        matrix_of(interface_of(X, **members))


def test_columns_of_different_lengths() -> None:
    columns = [interface_of(X[:, 0].copy()), interface_of(X[:10, 0].copy())]
    with pytest.raises(xgb.core.XGBoostError, match="Column 1 of a table on a GPU has 10 rows; column 0 has 900"):
        matrix_of(columns, "XGDMatrixCreateFromCudaColumnar")
    with pytest.raises(xgb.core.XGBoostError, match="has no columns; allowed: 1 or more"):
        matrix_of([], "XGDMatrixCreateFromCudaColumnar")


def test_an_address_of_the_host_is_no_array_on_a_gpu() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="no memory of a CUDA device|no CUDA backend"):
        matrix_of(interface_of(X))


@pytest.fixture(name="cupy")
def only_with_cupy() -> Any:
    if BACKEND != "cuda":
        pytest.skip("these tests are for a device")
    return pytest.importorskip("cupy", reason="CuPy is not installed")


def forms(cp: Any) -> dict:
    on_device = cp.asarray(X)
    return {
        "rows": on_device,
        "columns": cp.asfortranarray(on_device),
        "float64": on_device.astype(cp.float64),
        "strided": cp.repeat(cp.repeat(on_device, 2, axis=0), 3, axis=1)[::2, ::3],
        "backwards": on_device[::-1, ::-1][::-1, ::-1],
    }


@pytest.mark.parametrize("form", ["rows", "columns", "float64", "strided", "backwards"])
def test_models_of_arrays_on_a_device(cupy: Any, form: str) -> None:
    data = xgb.DMatrix(forms(cupy)[form], cupy.asarray(Y), weight=cupy.asarray(WEIGHTS))
    expected = xgb.DMatrix(X, Y, weight=WEIGHTS)
    assert (data.num_row(), data.num_col(), data.num_nonmissing()) == (900, 7, expected.num_nonmissing())
    assert np.array_equal(data.get_label(), Y) and np.array_equal(data.get_weight(), WEIGHTS)
    booster = train(data, 5)
    assert_same_trees(booster, train(expected, 5))
    assert np.array_equal(booster.predict(data), booster.predict(expected))
    assert_same_trees(train(data, 3, gpu_backend="host"), train(expected, 3, gpu_backend="host"))
    assert (data.get_data() != expected.get_data()).nnz == 0


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bool"])
def test_types_and_marks(cupy: Any, kind: str) -> None:
    values = (np.arange(900 * 5).reshape(900, 5) * 7 % 13).astype(kind)
    expected = xgb.DMatrix(values, Y, missing=3)
    assert_same_trees(train(xgb.DMatrix(cupy.asarray(values), Y, missing=3), 3), train(expected, 3))


def test_predictions_come_back_to_the_device(cupy: Any) -> None:
    booster = train(xgb.DMatrix(X, Y), 5)
    got = booster.inplace_predict(cupy.asarray(X))
    assert isinstance(got, cupy.ndarray)
    assert np.array_equal(got.get(), booster.predict(xgb.DMatrix(X)))
    margins = booster.inplace_predict(cupy.asfortranarray(cupy.asarray(X)), predict_type="margin")
    assert np.array_equal(margins.get(), booster.predict(xgb.DMatrix(X), output_margin=True))


class Parts(xgb.DataIter):
    """Three batches of 300 rows, as `where` makes them."""

    def __init__(self, where: Any, fails_at: int = -1) -> None:
        self.where, self.fails_at, self.at = where, fails_at, 0
        super().__init__()

    def next(self, input_data: Any) -> int:
        if self.at == self.fails_at:
            raise ValueError("a batch is damaged")
        if self.at == 3:
            return 0
        part = slice(self.at * 300, self.at * 300 + 300)
        input_data(data=self.where(X[part]), label=self.where(Y[part]), weight=self.where(WEIGHTS[part]))
        self.at += 1
        return 1

    def reset(self) -> None:
        self.at = 0


def test_a_quantile_matrix_of_an_array_on_a_device(cupy: Any) -> None:
    on_device = cupy.asarray(X)
    expected = train(xgb.QuantileDMatrix(X, Y), 4)
    data = xgb.QuantileDMatrix(on_device, cupy.asarray(Y))
    assert_same_trees(train(data, 4), expected)
    assert np.array_equal(expected.predict(data), expected.predict(xgb.DMatrix(X)))
    with_ref = xgb.QuantileDMatrix(on_device[:100], cupy.asarray(Y[:100]), ref=data)
    assert np.array_equal(expected.predict(with_ref), expected.predict(xgb.DMatrix(X[:100])))


def test_a_quantile_matrix_of_batches_on_a_device_has_exact_cuts(cupy: Any) -> None:
    expected = xgb.DMatrix(X, Y, weight=WEIGHTS)
    data = xgb.QuantileDMatrix(Parts(cupy.asarray))
    assert (data.num_row(), data.num_col(), data.num_nonmissing()) == (900, 7, expected.num_nonmissing())
    assert np.array_equal(data.get_label(), Y) and np.array_equal(data.get_weight(), WEIGHTS)
    assert_same_trees(train(data, 4), train(expected, 4))
    assert_same_trees(train(data, 4, gpu_backend="host"), train(expected, 4, gpu_backend="host"))


def test_a_quantile_matrix_of_batches_on_a_device_holds_bins_only(cupy: Any) -> None:
    def bytes_of_arrays(data: xgb.DMatrix) -> int:
        booster = xgb.Booster(params(), [data])
        booster.update(data, 0)
        return xgboost_gpu.memory_report()[-1]["array_bytes"]

    before = bytes_of_arrays(xgb.DMatrix(X, Y))
    data = xgb.QuantileDMatrix(Parts(cupy.asarray))
    assert bytes_of_arrays(data) == before
    # What is predicted from bins is what is predicted from values, by trees that have these cuts, on either backend.
    booster = train(data, 4)
    assert np.array_equal(booster.predict(data), booster.predict(xgb.DMatrix(X)))
    with_categories = np.floor(np.abs(np.nan_to_num(X) * 3))
    types = ["c", "q", "c", "q", "q", "q", "q"]
    kept = xgb.QuantileDMatrix(cupy.asarray(with_categories), cupy.asarray(Y), feature_types=types)
    assert_same_trees(train(kept, 4), train(xgb.DMatrix(with_categories, Y, feature_types=types), 4))


@pytest.mark.skipif(xgb.build_info()["USE_CUDA"], reason="XGBoost with CUDA has a sketch of its own there")
def test_stock_methods_bin_batches_on_a_device(cupy: Any) -> None:
    expected = xgb.train({"tree_method": "hist"}, xgb.QuantileDMatrix(X, Y, weight=WEIGHTS), 4)
    data = xgb.QuantileDMatrix(Parts(cupy.asarray))
    assert_same_trees(xgb.train({"tree_method": "hist"}, data, 4), expected)


def test_batches_of_both_kinds_are_for_stock(cupy: Any) -> None:
    places = [cupy.asarray] * 3 + [np.asarray] * 6  # data, label and weight of each batch
    mixed = Parts(lambda part: places[mixed.at * 3](part))
    assert_same_trees(train(xgb.QuantileDMatrix(mixed), 4), train(xgb.QuantileDMatrix(Parts(np.asarray)), 4))


@pytest.mark.parametrize("fails_at", [0, 1, 2, 3])
def test_an_iterator_on_a_device_that_fails(cupy: Any, fails_at: int) -> None:
    with pytest.raises(ValueError, match="a batch is damaged"):
        xgb.QuantileDMatrix(Parts(cupy.asarray, fails_at))


def test_external_memory_of_batches_on_a_device(cupy: Any, tmp_path: Any) -> None:
    def paged(where: Any) -> xgb.DMatrix:
        batches = Parts(where)
        batches.cache_prefix = str(tmp_path / where.__module__)
        return xgb.DMatrix(batches)

    assert_same_trees(train(paged(cupy.asarray), 4), train(paged(np.asarray), 4))


def test_memory_of_arrays_is_told(cupy: Any) -> None:
    def bytes_of_arrays(booster: xgb.Booster, data: xgb.DMatrix) -> int:
        booster.update(data, 0)
        return xgboost_gpu.memory_report()[-1]["array_bytes"]

    expected = xgb.DMatrix(X, Y)
    before = bytes_of_arrays(xgb.Booster(params(), [expected]), expected)
    data = xgb.DMatrix(cupy.asarray(X), Y)
    assert bytes_of_arrays(xgb.Booster(params(), [data]), data) == before + X.nbytes


FULL_DEVICE = """
import cupy, numpy as np, sys, xgboost as xgb, xgboost_gpu
x = cupy.arange(8_000_000, dtype=cupy.float32).reshape(-1, 20) % 977
y = (x[:, 0] > 400).astype(cupy.float32)
small = xgb.DMatrix(x[:1000], y[:1000])
xgb.train({"tree_method": "gpu_hist", "gpu_backend": "cuda"}, small, 1)  # contexts and kernels are there
free = cupy.cuda.runtime.memGetInfo()[0]
taken = cupy.cuda.runtime.malloc(free - (24 << 20))
with xgb.config_context(verbosity=2):
    data = (xgb.DMatrix if sys.argv[1] == "DMatrix" else xgb.QuantileDMatrix)(x, y)
cupy.cuda.runtime.free(taken)
booster = xgb.train({"tree_method": "gpu_hist", "gpu_backend": "cuda"}, data, 3)
expected = xgb.train({"tree_method": "gpu_hist", "gpu_backend": "cuda"}, xgb.DMatrix(x.get(), y.get()), 3)
assert booster.save_raw("json") == expected.save_raw("json")
print("same model")
"""


def test_arrays_on_another_device_than_the_one_that_trains(cupy: Any) -> None:
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one device")
    with cupy.cuda.Device(1):
        x, y, weights = cupy.asarray(X), cupy.asarray(Y), cupy.asarray(WEIGHTS)
        strided = cupy.repeat(x, 2, axis=1)[:, ::2]
    expected = train(xgb.DMatrix(X, Y, weight=WEIGHTS), 4)
    for rows in (x, strided):
        for make in (xgb.DMatrix, xgb.QuantileDMatrix):
            data = make(rows, y, weight=weights)
            for device in (0, 1):
                assert_same_trees(train(data, 4, gpu_id=device), expected)
        got = expected.inplace_predict(rows)
        assert np.array_equal(got.get(), expected.predict(xgb.DMatrix(X)))
    with cupy.cuda.Device(1):
        many = cupy.asarray(np.tile(X, (300, 1)))
    assert np.array_equal(expected.inplace_predict(many).get(), np.tile(expected.predict(xgb.DMatrix(X)), 300))
    with pytest.raises(xgb.core.XGBoostError, match="memory of device 0; allowed: memory of one device, here of device 1"):
        matrix_of([dict(rows[:, 0].__cuda_array_interface__), dict(cupy.asarray(X[:, 1]).__cuda_array_interface__)],
                  "XGDMatrixCreateFromCudaColumnar")


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
def test_a_device_without_room_for_the_copy(cupy: Any, kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DEVICE, kind], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0 and "same model" in done.stdout, done.stdout + done.stderr


# Batches of 64 MB of floats, made from seeds, where less than four times that is free: they are streamed.
STREAMED = """
import sys
import cupy, numpy as np, xgboost as xgb, xgboost_gpu  # noqa: F401
ROWS, COLUMNS, BATCHES = 20_000, 40, 20
settings = {"tree_method": "gpu_hist", "gpu_backend": "cuda", "max_depth": 5}

def batch(number, rows=ROWS):
    x = cupy.random.RandomState(number).standard_normal((rows, COLUMNS), dtype=cupy.float32)
    x[::7, 3] = cupy.nan
    x[:, 5] = cupy.floor(cupy.abs(x[:, 5]) * 4)
    return x, x[:, 0] * x[:, 1] + x[:, 2], 1 + cupy.arange(rows) % 3

class Parts(xgb.DataIter):
    def __init__(self, change=None):
        self.at, self.asked, self.passes, self.change = 0, 0, 0, change
        super().__init__()
    def next(self, input_data):
        self.asked += 1
        if self.at == BATCHES:
            return 0
        x, y, weight = batch(self.at)
        if self.change is not None and self.at == 7:
            x, y, weight = self.change(self.passes, x, y, weight)
        input_data(data=x, label=y, weight=weight, feature_types=TYPES)
        self.at += 1
        return 1
    def reset(self):
        self.at, self.passes = 0, self.passes + 1

def fails(passes, x, y, weight):
    if passes >= 3:
        raise ValueError("a batch is damaged")
    return x, y, weight

TYPES = ["c" if f == 5 else "q" for f in range(COLUMNS)]
x, y, weight = (cupy.concatenate(part).get() for part in zip(*map(batch, range(BATCHES))))
whole = xgb.DMatrix(x, y, weight=weight, feature_types=TYPES)
expected = xgb.train(settings, whole, 4)
predictions = expected.predict(whole)
del whole
small = xgb.QuantileDMatrix(*batch(0, 2000)[:2], weight=batch(0, 2000)[2])
xgb.train({**settings, "gpu_memory_limit": "60MiB"}, small, 1)  # contexts and kernels are there
del small
free = cupy.cuda.runtime.memGetInfo()[0]
taken = cupy.cuda.runtime.malloc(free - int(sys.argv[1]))
parts = Parts()
data = xgb.QuantileDMatrix(parts)
assert (data.num_row(), data.num_col()) == x.shape and data.num_nonmissing() == np.isfinite(x).sum()
assert np.array_equal(data.get_label(), y) and np.array_equal(data.get_weight(), weight)
assert parts.asked > 3 * (BATCHES + 1), parts.asked
try:
    xgb.QuantileDMatrix(Parts(fails))
except ValueError as raised:
    assert "a batch is damaged" in str(raised), raised
else:
    raise AssertionError("a batch is damaged")
valid = xgb.QuantileDMatrix(Parts(), ref=data)
cupy.cuda.runtime.free(taken)
history = {}
booster = xgb.train(settings, data, 4, evals=[(valid, "v")], evals_result=history, verbose_eval=False)
assert booster.save_raw("json") == expected.save_raw("json")
assert np.array_equal(booster.predict(data), predictions) and np.array_equal(booster.predict(valid), predictions)
assert abs(history["v"]["rmse"][-1] - np.sqrt(np.average((predictions - y) ** 2, weights=weight))) < 1e-5
print("same model")
"""


def test_batches_that_do_not_fit_the_device(cupy: Any) -> None:
    arguments = [sys.executable, "-c", STREAMED, str(240 << 20)]
    done = subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0 and "same model" in done.stdout, done.stdout + done.stderr


def test_bins_of_batches_are_moved_to_pages_if_a_limit_asks_for_it(cupy: Any) -> None:
    """In core, no training takes less than 64 MiB."""
    expected = train(xgb.DMatrix(X, Y, weight=WEIGHTS), 4)
    data = xgb.QuantileDMatrix(Parts(cupy.asarray))

    def pages_of(**limits: Any) -> int:
        seen: List[int] = []

        class Counts(xgb.callback.TrainingCallback):
            """Notes the pages of the training while it is there."""

            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                pages = xgboost_gpu.memory_report()[-1]["pages"]
                seen.append(0 if pages is None else pages["count"])
                return False

        booster = xgb.train(params(**limits), data, 4, callbacks=[Counts()])
        assert_same_trees(booster, expected)
        assert np.array_equal(booster.predict(data), expected.predict(xgb.DMatrix(X)))
        return seen[-1]

    assert pages_of() == 0
    assert pages_of(gpu_memory_limit="1GiB") == 0
    assert pages_of(gpu_memory_limit="60MiB") >= 1
    assert pages_of() >= 1  # they never go back
    assert pages_of(gpu_memory_limit="50MiB") >= 1


class OnlyByDlpack:
    """What hands itself over by DLPack alone."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape = array, array.shape

    def __dlpack__(self, stream: Any = None) -> Any:
        return self._array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "uint8"])
def test_arrays_by_dlpack(cupy: Any, kind: str) -> None:
    x = np.nan_to_num(X * 10).astype(kind)
    expected = train(xgb.DMatrix(x, Y, weight=WEIGHTS), 4)
    rows = OnlyByDlpack(cupy.asfortranarray(cupy.asarray(x)))
    data = xgb.DMatrix(rows, OnlyByDlpack(cupy.asarray(Y)), weight=OnlyByDlpack(cupy.asarray(WEIGHTS)))
    assert_same_trees(train(data, 4), expected)
    quantile = xgb.QuantileDMatrix(rows, OnlyByDlpack(cupy.asarray(Y)), weight=OnlyByDlpack(cupy.asarray(WEIGHTS)))
    assert_same_trees(train(quantile, 4), expected)
    assert np.array_equal(expected.inplace_predict(rows).get(), expected.predict(xgb.DMatrix(x)))


@pytest.mark.parametrize("settings", [params(), params(booster="dart"), {"tree_method": "hist"}])
@pytest.mark.parametrize("rows", [5, 200_000])
def test_predictions_in_place_of_few_and_many_rows(cupy: Any, settings: dict, rows: int) -> None:
    """Few are predicted on the host, many on the device."""
    x = np.nan_to_num(np.tile(X, (rows // 900 + 1, 1))[:rows], nan=-1.0)
    booster = xgb.train(settings, xgb.DMatrix(X, Y), 30)
    expected = booster.inplace_predict(x, missing=-1.0)
    for _ in range(3):  # the device has the model once it has turned enough rows away
        assert np.array_equal(booster.inplace_predict(cupy.asarray(x), missing=-1.0).get(), expected)


LATE = """
import cupy, numpy as np, xgboost as xgb
x = np.arange(4000, dtype=np.float32).reshape(-1, 4) % 37
booster = xgb.train({"tree_method": "hist"}, xgb.DMatrix(x, x[:, 0] > 9), 5)
import xgboost_gpu
assert np.array_equal(booster.inplace_predict(cupy.asarray(x)).get(), booster.inplace_predict(x))
"""


def test_a_booster_that_is_older_than_the_library_predicts_in_place(cupy: Any) -> None:
    """It does not ask the library for the values where they are."""
    subprocess.run([sys.executable, "-c", LATE], check=True, env=ENVIRONMENT)


def test_nothing_stays_on_the_device(cupy: Any) -> None:
    x, y = cupy.asarray(np.tile(X, (100, 1))), cupy.asarray(np.tile(Y, 100))  # 2.5 MB

    def use() -> int:
        for make in (xgb.DMatrix, xgb.QuantileDMatrix):
            booster = train(make(x, y), 2)
            booster.inplace_predict(x)
            del booster
        gc.collect()
        cupy.get_default_memory_pool().free_all_blocks()
        return cupy.cuda.runtime.memGetInfo()[0]

    use()
    before = use()
    for _ in range(10):
        after = use()
    assert before - after < x.nbytes


def test_infinite_values_are_predicted_in_place(cupy: Any) -> None:
    booster = train(xgb.DMatrix(X, Y), 30)
    x = np.tile(np.where(np.isnan(X), np.inf, X), (300, 1))
    assert np.array_equal(booster.inplace_predict(cupy.asarray(x)).get(), booster.inplace_predict(x))


def test_columns_with_masks(cupy: Any) -> None:
    """A stand-in for cuDF: one interface for each column, nulls in a bitmap."""
    columns, kept = [], []
    for column in X.T:
        bits = np.packbits(~np.isnan(column), bitorder="little")
        values, mask = cupy.asarray(np.nan_to_num(column, nan=5.0)), cupy.asarray(bits)
        kept += [values, mask]
        interface = dict(values.__cuda_array_interface__)
        interface["mask"] = {**mask.__cuda_array_interface__, "shape": (len(column),), "typestr": "<t1"}
        columns.append(interface)
    handle = ctypes.c_void_p()
    config = json.dumps({"missing": float("nan"), "nthread": 1}).encode()
    xgb.core._check_call(
        xgb.core._LIB.XGDMatrixCreateFromCudaColumnar(json.dumps(columns).encode(), config, ctypes.byref(handle)))
    data = xgb.DMatrix(X, Y)
    xgb.core._check_call(xgb.core._LIB.XGDMatrixFree(data.handle))
    data.handle = handle
    data.set_label(Y)
    assert_same_trees(train(data, 4), train(xgb.DMatrix(X, Y), 4))


def test_an_array_that_is_freed_or_changed_afterwards(cupy: Any) -> None:
    on_device = cupy.asarray(X)
    data = xgb.DMatrix(on_device, Y)
    on_device[:] = 0
    del on_device
    cupy.get_default_memory_pool().free_all_blocks()
    assert_same_trees(train(data, 4), train(xgb.DMatrix(X, Y), 4))


@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_arrays_of_other_packages(cupy: Any, package: str) -> None:
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    make = (lambda x: module.tensor(x, device="cuda")) if package == "torch" else module.asarray
    data = xgb.DMatrix(make(X), label=make(Y), weight=make(WEIGHTS))
    expected = train(xgb.DMatrix(X, Y, weight=WEIGHTS), 4)
    assert_same_trees(train(data, 4), expected)
    assert np.array_equal(expected.inplace_predict(make(X)).get(), expected.predict(xgb.DMatrix(X)))
    quantile = xgb.QuantileDMatrix(make(X), make(Y), weight=make(WEIGHTS))
    assert quantile.num_nonmissing() == data.num_nonmissing()
    assert_same_trees(train(quantile, 4), expected)


class StandIn:
    """What has only the interface, of memory of the host: the library must refuse the address, by whatever way it comes."""

    def __init__(self, array: np.ndarray) -> None:
        self.shape, self.__cuda_array_interface__ = array.shape, interface_of(array)


class StandInByDlpack(OnlyByDlpack):
    """The same by DLPack: it says that its memory is a device's."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self._array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return (2, 0)


@pytest.mark.parametrize("kind", [StandIn, StandInByDlpack])
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_an_array_of_an_unknown_package_reaches_the_library(matrix: Any, kind: Any) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="no memory of a CUDA device|no CUDA backend"):
        matrix(kind(X))


def test_batches_of_an_unknown_package_reach_the_library() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="no memory of a CUDA device|no CUDA backend"):
        xgb.QuantileDMatrix(Parts(lambda part: StandInByDlpack(part) if part.ndim == 2 else part))


def test_an_array_that_leaves_its_memory(cupy: Any) -> None:
    values = cupy.asarray(X)
    interface = dict(values.__cuda_array_interface__)
    interface["strides"] = (1 << 40, 4)
    with pytest.raises(xgb.core.XGBoostError, match="leave the memory of device"):
        matrix_of(interface)


def test_infinite_values_on_a_device(cupy: Any) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="Input data contains `inf` or `nan`"):
        xgb.DMatrix(cupy.asarray(np.where(np.isnan(X), np.inf, X)))


@pytest.mark.parametrize("array", [X, X[::2, ::-1], X.astype(np.float64).T, np.arange(12, dtype=np.int16), X[:0]])
def test_what_a_capsule_describes(array: np.ndarray) -> None:
    capsule = array.__dlpack__()
    told = interface_of_capsule(capsule)
    expected = array.__array_interface__
    assert told["shape"] == expected["shape"] and told["typestr"] == expected["typestr"]
    if array.size != 0:
        assert told["data"][0] == expected["data"][0]
        assert told["strides"] in (None, array.strides)
        assert told["strides"] is not None or array.flags.c_contiguous


def test_types_that_dlpack_knows_and_we_do_not() -> None:
    with pytest.raises(TypeError, match=r"DLPack's type \(5, 64, 1\); allowed: integers, floats and bool"):
        interface_of_capsule(np.ones((2, 2), np.complex64).__dlpack__())


def test_arrays_of_the_host_are_no_arrays_on_a_device() -> None:
    assert not is_device_array(X)
