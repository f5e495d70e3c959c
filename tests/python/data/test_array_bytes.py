"""Arrays whose bytes are not those of a plain array: of the other byte order, masked, strided, and CSC matrices.

A broken reader trains on other numbers than numpy shows, in silence. What is right is in each test the same numbers as a
plain array of float32 or float64.
"""

import ctypes
import json
import os
import subprocess
import sys
from typing import Any, Callable, Dict, List, Optional

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from support import SERIES, Batches, only_ours, params

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
SWAPPED = [">f2", ">f4", ">f8", ">f16", ">i2", ">i4", ">i8", ">u2", ">u4", ">u8"]
ROWS, COLUMNS = 120, 4
pytestmark = only_ours


def data(seed: int = 0) -> Any:
    """Whole numbers up to 50, so that every type has them, and labels of them."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 50, (ROWS, COLUMNS)).astype(np.float32)
    return x, (x[:, 0] * 2 + x[:, 1]).astype(np.float32)


def masked(x: np.ndarray, dtype: Any = None) -> np.ma.MaskedArray:
    """Every third value is masked. Behind the mask is 99, which is not among the data."""
    mask = np.arange(x.size).reshape(x.shape) % 3 == 0
    return np.ma.array(np.where(mask, 99, x).astype(dtype or x.dtype), mask=mask)


def holes(x: np.ndarray) -> np.ndarray:
    """What masked(x) means."""
    return masked(x.astype(np.float32)).filled(np.nan)


def strided(x: np.ndarray) -> np.ndarray:
    """The same numbers, with others between them."""
    room = np.full(2 * x.size, 7, x.dtype)
    room[::2] = x
    return room[::2]


def values(matrix: xgb.DMatrix) -> np.ndarray:
    """Dense values of a matrix, NaN where one is missing."""
    held = matrix.get_data()
    out = np.full(held.shape, np.nan, np.float32)
    for row in range(held.shape[0]):
        at = slice(held.indptr[row], held.indptr[row + 1])
        out[row, held.indices[at]] = held.data[at]
    return out


def trees(matrix: xgb.DMatrix, **others: Any) -> List[str]:
    return xgb.train(params(max_depth=3, **others), matrix, 4).get_dump(with_stats=True)


def with_array(csr: sp.csr_matrix, **arrays: np.ndarray) -> Any:
    """scipy makes arrays plain when a matrix is made, and not when they are set."""
    changed = csr.copy()
    for name, array in arrays.items():
        setattr(changed, name, array)
    return changed


@pytest.mark.parametrize("dtype", SWAPPED)
def test_other_byte_order_as_data(dtype: str) -> None:
    x, y = data()
    want, model = trees(xgb.DMatrix(x, y)), xgb.train(params(max_depth=3), xgb.DMatrix(x, y), 4)
    other = x.astype(dtype)
    np.testing.assert_array_equal(values(xgb.DMatrix(other)), x)
    np.testing.assert_array_equal(values(xgb.DMatrix(np.asfortranarray(other))), x)
    wide = np.zeros((2 * ROWS, 3 * COLUMNS), dtype)
    wide[::2, ::3] = other
    np.testing.assert_array_equal(values(xgb.DMatrix(wide[::2, ::3])), x)
    np.testing.assert_array_equal(values(xgb.DMatrix(wide[::2, ::3][::-1])), x[::-1])
    assert trees(xgb.QuantileDMatrix(other, y)) == want
    assert trees(xgb.QuantileDMatrix(Batches(other, y, [50]))) == trees(xgb.QuantileDMatrix(Batches(x, y, [50])))
    np.testing.assert_array_equal(model.inplace_predict(other), model.inplace_predict(x))
    np.testing.assert_array_equal(model.inplace_predict(np.asfortranarray(other)), model.inplace_predict(x))


@pytest.mark.parametrize("dtype", SWAPPED)
@pytest.mark.parametrize("field", ["label", "weight", "base_margin", "label_lower_bound", "label_upper_bound"])
def test_other_byte_order_as_floats_beside_the_data(dtype: str, field: str) -> None:
    x, y = data()
    matrix = xgb.DMatrix(x)
    matrix.set_info(**{field: y.astype(dtype)})
    np.testing.assert_array_equal(matrix.get_float_info(field), y)
    matrix.set_float_info(field, strided(y.astype(dtype)))
    np.testing.assert_array_equal(matrix.get_float_info(field), y)


def test_other_byte_order_as_groups_and_weights_of_features() -> None:
    x, y = data()
    matrix = xgb.DMatrix(x, y, group=np.array([50, 70], ">i8"))
    assert matrix.get_group().tolist() == [50, 70]
    matrix = xgb.DMatrix(x, y, qid=np.repeat([1, 2], [50, 70]).astype(">u4"))
    assert matrix.get_group().tolist() == [50, 70]
    weights = [0, 0, 0, 1]
    chosen = [
        trees(xgb.DMatrix(x, y, feature_weights=np.array(weights, dtype)), colsample_bynode=0.5)
        for dtype in ("<f4", ">f4", ">i8")
    ]
    assert chosen[0] == chosen[1] == chosen[2]
    two = np.stack([y, -y], 1)
    matrix = xgb.DMatrix(x, two.astype(">f8"), base_margin=np.asfortranarray(two.astype(">f4")))
    np.testing.assert_array_equal(matrix.get_label().reshape(-1, 2), two)
    np.testing.assert_array_equal(matrix.get_base_margin().reshape(-1, 2), two)


@pytest.mark.parametrize("how", [lambda a: a.astype(a.dtype.newbyteorder(">")), strided], ids=["swapped", "strided"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u2"])
def test_arrays_of_sparse_matrices(how: Callable, dtype: str, tmp_path: Any) -> None:
    x, y = data()
    csr = sp.csr_matrix(np.where(x > 25, x, 0).astype(dtype))
    other = with_array(csr, indptr=how(csr.indptr), indices=how(csr.indices), data=how(csr.data))
    want = values(xgb.DMatrix(csr))
    np.testing.assert_array_equal(values(xgb.DMatrix(other)), want)
    assert trees(xgb.QuantileDMatrix(other, y)) == trees(xgb.QuantileDMatrix(csr, y))
    model = xgb.train(params(max_depth=3), xgb.DMatrix(csr, y), 4)
    stock = xgb.train({"tree_method": "hist", "max_depth": 3}, xgb.DMatrix(csr, y), 4)
    for booster in (model, stock):
        np.testing.assert_array_equal(booster.inplace_predict(other), booster.inplace_predict(csr))

    class Twice(xgb.DataIter):
        """Hands the matrix over twice."""

        at = 0

        def reset(self) -> None:
            self.at = 0

        def next(self, input_data: Callable) -> int:
            self.at += 1
            if self.at < 3:
                input_data(data=self.matrix, label=y)
            return int(self.at < 3)

    found: Dict[str, Any] = {}
    for name, matrix in (("plain", csr), ("other", other)):
        batches, pages = Twice(), Twice(cache_prefix=str(tmp_path / name))
        batches.matrix = pages.matrix = matrix
        found[name] = trees(xgb.QuantileDMatrix(batches)), trees(xgb.DMatrix(pages))
    assert found["plain"] == found["other"]
    csc = csr.tocsc()
    swapped = with_array(csc, indptr=how(csc.indptr), indices=how(csc.indices), data=how(csc.data))
    np.testing.assert_array_equal(values(xgb.DMatrix(swapped)), want)
    coo = csr.tocoo()
    coo.data = how(coo.data)
    np.testing.assert_array_equal(values(xgb.DMatrix(coo)), want)


def test_long_doubles_with_strides() -> None:
    """Stock takes their strides for 16 times as long, and may crash."""
    x, y = data()
    wide = np.zeros((ROWS, 2 * COLUMNS), np.longdouble)
    wide[:, ::2] = x
    np.testing.assert_array_equal(values(xgb.DMatrix(np.asfortranarray(x.astype(np.longdouble)))), x)
    np.testing.assert_array_equal(values(xgb.DMatrix(wide[:, ::2])), x)
    np.testing.assert_array_equal(xgb.DMatrix(x, strided(y.astype(np.longdouble))).get_label(), y)


def test_csc_of_integers_of_four_bytes() -> None:
    """Stock takes their bytes for floats."""
    x, _ = data()
    for dtype in (np.int32, np.uint32):
        csc = sp.csc_matrix(x.astype(dtype))
        np.testing.assert_array_equal(values(xgb.DMatrix(csc)), values(xgb.DMatrix(csc.tocsr())))


def test_other_byte_order_in_frames_estimators_and_evaluation_sets() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = data()
    frame = pandas.DataFrame(x.astype(">f4"), columns=list("abcd"))
    np.testing.assert_array_equal(values(xgb.DMatrix(frame, pandas.Series(y.astype(">f8")))), x)
    np.testing.assert_array_equal(xgb.DMatrix(frame, pandas.DataFrame({"a": x[:, 0].astype(">f4")})).get_label(), x[:, 0])
    model = xgb.XGBRegressor(**params(n_estimators=4, max_depth=3))
    found = []
    for order in "<>":
        a, b = x.astype(order + "f8"), y.astype(order + "f4")
        fitted = model.fit(a, b, sample_weight=b, eval_set=[(a, b)], sample_weight_eval_set=[b], verbose=False)
        found.append((fitted.get_booster().get_dump(with_stats=True), fitted.evals_result(), fitted.predict(a).tolist()))
    assert found[0] == found[1]
    frames = [pandas.DataFrame(x.astype(order + "f4"), columns=list("abcd")) for order in "<>"]
    found = [model.fit(frame, y).predict(frame).tolist() for frame in frames]
    assert found[0] == found[1]


def test_gradients_of_any_array() -> None:
    x, y = data()

    def objective(how: Callable) -> Callable:
        return lambda margins, matrix: (how(margins - y), how(np.ones_like(y)))

    def dump(how: Callable) -> List[str]:
        return xgb.train(params(max_depth=3), xgb.DMatrix(x, y), 3, obj=objective(how)).get_dump(with_stats=True)

    want = dump(lambda a: a)
    assert dump(lambda a: a.astype(">f4")) == want
    assert dump(strided) == want
    whole = dump(lambda a: np.rint(a).astype(np.float32))
    assert dump(lambda a: np.rint(a).astype(np.int32)) == whole
    for dtype in (np.float32, np.float64):
        with pytest.raises(ValueError, match="masked at 0"):
            dump(lambda a: masked(a, dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", ">f2", "f2", "f16", "i1", "u1", "i4", ">i8", "u8", object])
def test_masked_entries_are_missing(dtype: Any) -> None:
    x, y = data()
    x = x.clip(0, 90)
    array, want = masked(x, dtype), holes(x)
    np.testing.assert_array_equal(values(xgb.DMatrix(array)), want)
    np.testing.assert_array_equal(values(xgb.DMatrix(array.T.copy().T)), want)
    np.testing.assert_array_equal(values(xgb.DMatrix(array, missing=3)), values(xgb.DMatrix(want, missing=3)))
    np.testing.assert_array_equal(values(xgb.DMatrix(list(array))), want)
    assert trees(xgb.QuantileDMatrix(array, y)) == trees(xgb.QuantileDMatrix(want, y))
    assert trees(xgb.QuantileDMatrix(Batches(array, y, [50]))) == trees(xgb.QuantileDMatrix(Batches(want, y, [50])))
    model = xgb.train(params(max_depth=3), xgb.DMatrix(want, y), 4)
    for missing in (np.nan, 3.0):
        predicted = model.inplace_predict(array, missing=missing)
        np.testing.assert_array_equal(predicted, model.inplace_predict(want, missing=missing))
    fitted = xgb.XGBRegressor(**params(n_estimators=4, max_depth=3)).fit(array, y)
    np.testing.assert_array_equal(fitted.predict(array), model.predict(xgb.DMatrix(want)))


class Variable:
    """An array as netCDF4 hands one over."""

    def __init__(self, array: np.ndarray) -> None:
        self.held, self.shape = array, array.shape

    def __array__(self, dtype: Any = None) -> np.ndarray:
        return self.held


def test_what_hands_over_a_masked_array() -> None:
    x, y = data()
    np.testing.assert_array_equal(values(xgb.DMatrix(Variable(masked(x)), Variable(y.astype(">f4")))), holes(x))
    assert trees(xgb.DMatrix(Variable(x.astype(">f4")), Variable(y.astype(">f4")))) == trees(xgb.DMatrix(x, y))
    with pytest.raises(ValueError, match="label is masked in row 0"):
        xgb.DMatrix(x, Variable(masked(y)))


def test_masked_values_of_sparse_matrices() -> None:
    x, _ = data()
    csr = sp.csr_matrix(x + 1)
    other = with_array(csr, data=masked(csr.data))
    want = holes(csr.data).reshape(x.shape)
    np.testing.assert_array_equal(values(xgb.DMatrix(other)), want)
    np.testing.assert_array_equal(values(xgb.DMatrix(with_array(csr.tocsc(), data=masked(csr.tocsc().data)))),
                                  holes(csr.tocsc().data).reshape(x.shape[::-1]).T)


@pytest.mark.parametrize("field", ["label", "weight", "base_margin", "label_lower_bound", "qid", "group"])
def test_masked_labels_are_refused(field: str) -> None:
    x, y = data()
    numbers = np.ma.array(np.arange(ROWS) // 10, mask=np.arange(ROWS) == 17)
    where = "group 17" if field == "group" else "row 17"
    with pytest.raises(ValueError, match=f"{field} is masked in {where}"):
        xgb.DMatrix(x, **{field: numbers})
    with pytest.raises(ValueError, match=f"{field} is masked in {where}"):
        xgb.QuantileDMatrix(x, **{field: numbers})
    with pytest.raises(ValueError, match=f"{field} is masked in {where}"):
        xgb.DMatrix(x).set_info(**{field: list(numbers)})
    whole = np.ma.array(y, mask=False)
    matrix = xgb.DMatrix(x, label=whole)
    np.testing.assert_array_equal(matrix.get_label(), y)
    with pytest.raises(ValueError, match="feature_weights is masked in feature 2"):
        xgb.DMatrix(x, feature_weights=np.ma.array(np.ones(4), mask=[0, 0, 1, 0]))
    with pytest.raises(ValueError, match="label is masked in row 17"):
        xgb.XGBRegressor(**params()).fit(x, np.ma.array(y, mask=np.arange(ROWS) == 17))


def test_types_that_are_no_numbers_are_refused() -> None:
    x, _ = data()
    for dtype in (">c8", "<c16", ">M8[s]", ">U3"):
        with pytest.raises((ValueError, TypeError)):
            xgb.DMatrix(x.astype("i8").astype(dtype))
    for dtype in (np.complex64, np.complex128):
        with pytest.raises((TypeError, xgb.core.XGBoostError), match="[Cc]omplex"):
            xgb.DMatrix(sp.csc_matrix(x.astype(dtype)))
    for dtype in ("<c8", ">c16"):
        with pytest.raises(TypeError, match=f"type {np.dtype(dtype)}"):
            xgb.DMatrix(masked(x, dtype))


@pytest.mark.parametrize("missing", [-999, -999.0, 0, 7, np.float64(7), 0.1, 16777217])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_missing_of_csc(missing: Any, dtype: Any) -> None:
    """0.1 and 16777217 are no float32: what is equal to them once both are rounded is missing, as in a CSR matrix."""
    x, y = data()
    x = x.astype(dtype)
    x[::3, 1], x[::4, 2] = missing, 7
    x[x == 8] = 0
    csr = sp.csr_matrix(np.where(x == 0, 8, x))
    csr.data[csr.data == 8] = 0  # stored
    csc = csr.tocsc()
    want = xgb.DMatrix(csr, y, missing=missing)
    np.testing.assert_array_equal(values(xgb.DMatrix(csc, missing=missing)), values(want))
    assert trees(xgb.DMatrix(csc, y, missing=missing)) == trees(want)
    assert trees(xgb.DMatrix(csc, y, missing=missing), tree_method="gpu_exact") == trees(want, tree_method="gpu_exact")
    model = xgb.XGBRegressor(**params(n_estimators=4, max_depth=3, missing=missing))
    predicted = [model.fit(of, y).predict(of).tolist() for of in (csr, csc)]
    assert predicted[0] == predicted[1]


def test_csc_without_missing_is_as_before() -> None:
    x, y = data()
    csc = sp.csc_matrix(holes(x))
    np.testing.assert_array_equal(values(xgb.DMatrix(csc)), values(xgb.DMatrix(csc.tocsr())))
    np.testing.assert_array_equal(values(xgb.DMatrix(csc, missing=3)), values(xgb.DMatrix(csc.tocsr(), missing=3)))
    booster = xgb.train(params(), xgb.DMatrix(csc, y), 1)
    with pytest.raises(TypeError, match="csc"):
        booster.inplace_predict(csc)
    if SERIES < 200:
        with pytest.raises(TypeError, match="csc"):
            xgb.QuantileDMatrix(csc)
    else:
        assert trees(xgb.QuantileDMatrix(csc, y)) == trees(xgb.DMatrix(csc, y))


SAID = """
import sys, numpy as np, scipy.sparse as sp, xgboost as xgb, xgboost_gpu
xgb.set_config(verbosity=int(sys.argv[1]))
x = np.arange(12, dtype=np.float32).reshape(6, 2)
for _ in range(3):
    xgb.DMatrix(x.astype(">f4"), x[:, 0].astype(">f8"))
    xgb.DMatrix(np.ma.array(x, mask=x > 3))
    xgb.DMatrix(sp.csc_matrix(x), missing=5)
"""


@pytest.mark.parametrize("verbosity, times", [(1, 1), (0, 0)])
def test_each_is_said_once(verbosity: int, times: int) -> None:
    command = [sys.executable, "-c", SAID, str(verbosity)]
    ran = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    said = ran.stdout + ran.stderr
    for text in ("bytes in the other order", ": masked entries of an array"):
        assert said.count(text) == times
    assert said.count("holds for a CSC matrix") == (times if SERIES < 200 else 0)  # where XGBoost itself ignores `missing`


@only_ours
def test_each_is_a_warning_for_who_records_them() -> None:
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    for _ in range(2):
        with pytest.warns(UserWarning, match="masked entries of an array"):
            xgb.DMatrix(np.ma.array(x, mask=x > 3))
        if SERIES < 200:  # where XGBoost itself ignores `missing`
            with pytest.warns(UserWarning, match="holds for a CSC matrix"):
                xgb.DMatrix(sp.csc_matrix(x), missing=5)



class Interface:
    """A call of XGBoost's C functions with texts of array interfaces."""

    def __init__(self, **others: Any) -> None:
        self.others = others

    def text(self, array: np.ndarray) -> bytes:
        return json.dumps({**array.__array_interface__, **self.others}).encode()


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">f16", ">i2", ">i8", ">u4"])
def test_c_functions(dtype: str) -> None:
    from xgboost.core import _LIB, _check_call

    x, y = data()
    text, config = Interface().text, b'{"missing": NaN, "nthread": 2}'
    other, label = x.astype(dtype), y.astype(dtype)
    matrix, sparse = (xgb.DMatrix.__new__(xgb.DMatrix) for _ in range(2))
    matrix.handle, sparse.handle = ctypes.c_void_p(), ctypes.c_void_p()
    _check_call(_LIB.XGDMatrixCreateFromDense(text(other), config, ctypes.byref(matrix.handle)))
    np.testing.assert_array_equal(values(matrix), x)
    _check_call(_LIB.XGDMatrixSetInfoFromInterface(matrix.handle, b"label", text(label)))
    np.testing.assert_array_equal(matrix.get_label(), y)
    _check_call(_LIB.XGDMatrixSetInfoFromInterface(matrix.handle, b"weight", b"[" + text(label) + b"]"))
    np.testing.assert_array_equal(matrix.get_weight(), y)
    csr = sp.csr_matrix(x)
    parts = [csr.indptr.astype(">i8"), csr.indices.astype(">u4"), csr.data.astype(dtype)]
    _check_call(
        _LIB.XGDMatrixCreateFromCSR(
            *map(text, parts), ctypes.c_uint64(COLUMNS), config, ctypes.byref(sparse.handle)
        )
    )
    np.testing.assert_array_equal(values(sparse), values(xgb.DMatrix(csr)))


def test_c_functions_refuse_masks() -> None:
    from xgboost.core import _LIB, _check_call

    x, _ = data()
    mask = np.zeros(x.shape, bool)
    text = Interface(mask=mask.__array_interface__).text(x.astype(">f4"))
    with pytest.raises(xgb.core.XGBoostError, match="Masked array"):
        _check_call(_LIB.XGDMatrixCreateFromDense(text, b'{"missing": NaN}', ctypes.byref(ctypes.c_void_p())))


@pytest.mark.parametrize("method", ["hist", "exact", "approx"])
def test_stock_methods_train_on_the_same_numbers(method: str) -> None:
    """One matrix serves all methods: docs/adr/0028-numbers-as-numpy-shows-them.md."""
    x, y = data()

    def dump(matrix: xgb.DMatrix) -> List[str]:
        return xgb.train({"tree_method": method, "max_depth": 3, "nthread": 1}, matrix, 3).get_dump(with_stats=True)

    assert dump(xgb.DMatrix(x.astype(">f4"), y.astype(">f8"))) == dump(xgb.DMatrix(x, y))
    assert dump(xgb.DMatrix(masked(x), y)) == dump(xgb.DMatrix(holes(x), y))
    csr = sp.csr_matrix(x)
    assert dump(xgb.DMatrix(csr.tocsc(), y, missing=7)) == dump(xgb.DMatrix(csr, y, missing=7))


class Breaks(Batches):
    """Raises an error in place of a batch, from one pass over the batches on."""

    def __init__(self, in_pass: int, at_batch: int, cache: Optional[str]) -> None:
        x, y = data()
        self.passes, self.in_pass, self.at_batch = 0, in_pass, at_batch
        super().__init__(x, y, [40, 80], cache)

    def reset(self) -> None:
        self.passes += 1
        super().reset()

    def next(self, input_data: Callable) -> int:
        if self.passes >= self.in_pass and self.at == self.at_batch:
            raise OSError("the disk is gone")
        return super().next(input_data)


@pytest.mark.parametrize("at_batch", [0, 1, 2])
@pytest.mark.parametrize("in_pass", [1, 2])
def test_an_iterator_that_raises_reaches_the_user(in_pass: int, at_batch: int, tmp_path: Any) -> None:
    """The error is the iterator's own, and the next matrix is made as if it had not been."""
    x, y = data()
    want = trees(xgb.QuantileDMatrix(Batches(x, y, [40, 80])))
    with pytest.raises(OSError, match="the disk is gone"):
        xgb.QuantileDMatrix(Breaks(in_pass, at_batch, None))
    if in_pass == 1:  # external memory is read once
        with pytest.raises(OSError, match="the disk is gone"):
            xgb.DMatrix(Breaks(in_pass, at_batch, str(tmp_path / "cache")))
    assert trees(xgb.QuantileDMatrix(Batches(x, y, [40, 80]))) == want


CALLBACK = """
import ctypes, sys, numpy as np, xgboost as xgb, xgboost_gpu
x = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
plain = xgb.DMatrix(x, x[:, 0])
at_work, other = (xgb.train({"tree_method": "hist"}, plain, 2) for _ in range(2))
found = []

@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def log(text):
    if b"XGBoost asks for" in text:
        found.append(other.predict(matrix))

matrix = getattr(xgb, sys.argv[1])(x, x[:, 0])
xgb.core._LIB.XGBRegisterLogCallback(log)
xgb.set_config(verbosity=2)
predicted = at_work.predict(matrix)
assert len(found) == 1 and np.array_equal(found[0], predicted) and np.array_equal(predicted, other.predict(matrix))
"""


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
def test_a_log_callback_may_use_the_matrix_of_which_a_page_is_made(kind: str) -> None:
    subprocess.run([sys.executable, "-c", CALLBACK, kind], env=ENVIRONMENT, check=True, timeout=600)
