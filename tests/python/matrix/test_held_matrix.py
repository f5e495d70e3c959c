"""A DMatrix holds a copy of the user's values, and is a stock DMatrix to everybody who asks."""

import ctypes
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost as xgb
from arrow_producer import numbers
from matrix_scenarios import AllAtOnce, Caller, GivesUp, columns, in_batches, mixed_columns, of_csc, of_table
from support import SERIES, assert_same_trees, make_data, only_before, pages_made, train

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
SCENARIOS = Path(__file__).parents[1] / "matrix_scenarios.py"
X, Y = make_data(800, 6, missing=0.1)

# XGBoost has given up some functions of its C interface.
with_batches = only_before(201, "XGDMatrixCreateFromArrowCallback is gone")
with_tables = only_before(300, "XGDMatrixCreateFromDT is gone")
with_csc = only_before(301, "XGDMatrixCreateFromCSCEx is gone")


def run_scenarios(how: str, folder: Path) -> Dict[str, Any]:
    out = folder / how
    subprocess.run([sys.executable, str(SCENARIOS), how, str(out)], check=True, capture_output=True, env=ENVIRONMENT)
    return pickle.loads(out.read_bytes())


def is_same(a: Any, b: Any) -> bool:
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


def test_every_form_of_data_is_to_stock_code_what_it_is_without_the_library(tmp_path: Path) -> None:
    ours, stock = run_scenarios("with", tmp_path), run_scenarios("without", tmp_path)
    assert list(ours) == list(stock) and len(ours) > (200 if SERIES < 200 else 135)
    assert [name for name in ours if not is_same(ours[name], stock[name])] == []


@pytest.mark.parametrize("form", ["float32", "float64", "fortran", "bytes", "csr", "csc"])
def test_the_caller_may_change_and_free_his_array(form: str) -> None:
    values = np.random.default_rng(1).integers(0, 30, size=(800, 6))
    make = {
        "float32": lambda: values.astype(np.float32),
        "float64": lambda: values.astype(np.float64),
        "fortran": lambda: np.asfortranarray(values.astype(np.float32)),
        "bytes": lambda: values.astype(np.uint8),
        "csr": lambda: sp.csr_matrix(values.astype(np.float32)),
        "csc": lambda: sp.csc_matrix(values.astype(np.float32)),
    }[form]
    array = make()
    data = xgb.DMatrix(array, Y)
    (array.data if form in ("csr", "csc") else array)[:] = 7
    del array
    gc.collect()
    assert_same_trees(train(data, 4), train(xgb.DMatrix(make(), Y), 4))
    assert np.array_equal(data.get_data().toarray(), sp.csr_matrix(make()).toarray())


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("missing", [np.nan, 3, 300, 2.5])
def test_small_integers_and_a_mark(kind: type, missing: float) -> None:
    values = np.random.default_rng(2).integers(0, 20, size=(800, 6)).astype(kind)
    as_floats = values.astype(np.float32)
    expected = xgb.DMatrix(np.where(as_floats == missing, np.float32(np.nan), as_floats), Y)
    data = xgb.DMatrix(values, Y, missing=missing)
    assert data.num_nonmissing() == expected.num_nonmissing()
    assert_same_trees(train(data, 4), train(expected, 4))


def assert_is_held(data: xgb.DMatrix, capfd: pytest.CaptureFixture) -> None:
    """Nobody has asked for a page yet, and stock code, which asks now, has it made. Of a stock matrix no line is said."""
    assert "XGBoost asks for" in pages_made(capfd, data.get_data)


def test_training_makes_no_page_of_xgboost(capfd: pytest.CaptureFixture) -> None:
    data = xgb.DMatrix(X, Y)
    assert pages_made(capfd, lambda: train(data, 4)) == ""


@pytest.mark.parametrize("missing", ["nan", "gaps"])
def test_columns_train_as_the_array_of_their_values_and_no_page_is_made(capfd: pytest.CaptureFixture, missing: str) -> None:
    rows, columns = np.nonzero(~np.isnan(X))
    with_gaps = sp.csc_matrix((X[rows, columns], (rows, columns)), shape=X.shape)
    expected = train(xgb.DMatrix(X, Y), 4)

    data = xgb.DMatrix(sp.csc_matrix(X) if missing == "nan" else with_gaps, Y)
    assert data.num_nonmissing() == len(rows)
    assert pages_made(capfd, lambda: assert_same_trees(train(data, 4), expected)) == ""
    assert_is_held(data, capfd)


@with_tables
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_table_trains_as_the_array_of_its_values_and_no_page_is_made(capfd: pytest.CaptureFixture, threads: int) -> None:
    columns = mixed_columns()
    smallest = [None] * 3 + [np.iinfo(column.dtype).min for column in columns[3:]]
    values = np.column_stack([
        np.where(np.isfinite(column) if least is None else column != least, column, np.nan).astype(np.float32)
        for column, least in zip(columns, smallest)
    ])
    assert np.isnan(values).sum(axis=0).min() == 0 and np.isnan(values).sum() > 200
    y = np.nan_to_num(values[:, 0])
    expected = train(xgb.DMatrix(values, y), 4)

    data = of_table(*columns, threads=threads)
    data.set_label(y)
    assert data.num_nonmissing() == np.count_nonzero(~np.isnan(values))
    for column in columns:
        column[:] = 1  # the caller may change his columns
    assert pages_made(capfd, lambda: assert_same_trees(train(data, 4), expected)) == ""
    assert_is_held(data, capfd)


@with_csc
@pytest.mark.parametrize("arrays, stored, words", [
    (([0, 2, 3], [0, 5, 1], [1, 2, 3], 5), None, r"Value 1 of a CSC matrix, in column 0, is in row 5 \(indices\); allowed: 0 to 4"),
    (([0, 2, 1], [0, 4, 1], [1, 2, 3], 5), None,
     r"Column 1 of a CSC matrix is from value 2 to 1 \(col_ptr\); allowed: numbers that never decrease, up to the number of values, 3"),
    (([0, 2, 1], [0, 4, 1], [1, 2, 3], 0), None, "Column 1 of a CSC matrix is from value 2 to 1"),
    (([0, 2, 2**40], [0, 4, 1], [1, 2, 3], 5), None, r"Column 1 of a CSC matrix is from value 2 to 1099511627776"),
    (([0, 2, 3], [0, 4, 1], [1, 2, 3], 5), 2, "Column 1 of a CSC matrix is from value 2 to 3 .*, 2"),
    ((None, [0], [1], 5), None, "nindptr is 0; allowed: the number of columns and one"),
    (([0, 1], None, [1], 5), None, "indices of a CSC matrix is null, and there are 1 values"),
    (([0, 1], [0], None, 5), 1, "data of a CSC matrix is null, and there are 1 values"),
])
def test_csc_arrays_at_which_stock_code_ends_the_process(arrays: tuple, stored: Any, words: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        of_csc(*arrays, stored=stored)


@with_tables
def test_columns_of_a_table_at_which_stock_code_ends_the_process() -> None:
    with pytest.raises(xgb.core.XGBoostError, match=r"data\[1\] is null, and there are 3 rows; allowed: an array of as many"):
        of_table(np.zeros(3, np.int8), None, types=["int8", "bool8"])


# Record batches of Arrow, one by one

BATCHES = columns(X)  # all rows in one


@with_batches
@pytest.mark.parametrize("make, rows", [
    (lambda: Caller(BATCHES), 800),
    (lambda: Caller(*(columns(X[at : at + 100]) for at in range(0, 800, 100))), 800),
    (lambda: Caller(*(columns(X[at : at + 100], np.float64) for at in range(0, 800, 100)), nbatch=3, nthread=1), 800),
    (lambda: Caller(columns(np.where(np.isnan(X), np.float32(-9), X)), missing=-9), 800),
    (lambda: Caller(columns(np.where(np.isnan(X), np.float32(np.inf), X))), 800),
    (lambda: AllAtOnce(BATCHES), 800),
    (lambda: Caller(BATCHES, nthread=100_000), 800),
    (lambda: GivesUp(columns(X[:300]), columns(X[300:500]), columns(X[500:])), 500),
], ids=["one", "many", "doubles", "a mark", "infinite", "at once", "any threads", "the caller gives up"])
def test_record_batches_train_as_the_array_of_their_values_and_no_page_is_made(
    capfd: pytest.CaptureFixture, make: Any, rows: int
) -> None:
    caller = make()
    data = caller.dmatrix()
    held = len(caller.codes)
    assert caller.table.released == {"schema": held, "array": held, "stream": 0}
    data.set_label(Y[:rows])
    assert (data.num_row(), data.num_col(), data.num_nonmissing()) == (rows, 6, np.count_nonzero(~np.isnan(X[:rows])))
    expected = train(xgb.DMatrix(X[:rows], Y[:rows]), 4)
    assert pages_made(capfd, lambda: assert_same_trees(train(data, 4), expected)) == ""
    assert_is_held(data, capfd)


@with_batches
@pytest.mark.parametrize("skip", [1, 8, 13])
def test_record_batches_that_begin_within_their_columns(skip: int) -> None:
    """Stock code reads the rows at the beginning of the buffers."""
    caller = Caller({name: numbers(column.buffers[1], np.ones(column.length, bool), 5) for name, column in columns(X).items()})
    caller.table.skip = skip
    values = np.nan_to_num(X)[skip:]  # of a null the buffer has 0
    assert np.array_equal(caller.dmatrix().get_data().toarray(), values)


@with_batches
def test_who_makes_a_matrix_while_one_is_made(capfd: pytest.CaptureFixture) -> None:
    inner = []

    class Nested(Caller):
        def next(self, importer: int) -> int:
            if not inner:
                inner.append(Caller(*(columns(X[at : at + 400]) for at in (0, 400))).dmatrix())
            return super().next(importer)

    outer = Nested(columns(X[:100]), columns(X[100:200])).dmatrix()
    assert (outer.num_row(), inner[0].num_row()) == (200, 800)
    assert_is_held(outer, capfd)
    assert_is_held(inner[0], capfd)


@with_batches
def test_a_caller_who_goes_past_the_function_in_front(capfd: pytest.CaptureFixture) -> None:
    """XGBoost's own function imports the batches: they are XGBoost's then."""
    stock = ctypes.CDLL(xgb.core._LIB._name)

    class Past(Caller):
        def hand_over(self, importer: int, schema: Any, array: Any) -> int:
            self.codes.append(stock.XGImportArrowRecordBatch(ctypes.c_void_p(importer), ctypes.byref(array), ctypes.byref(schema)))
            return self.codes[-1]

    caller = Past(columns(X[:300]), columns(X[300:]))
    data = caller.dmatrix()
    assert caller.codes == [0, 0] and caller.table.released == {"schema": 2, "array": 2, "stream": 0}
    assert pages_made(capfd, data.get_data) == ""
    assert is_same(data.get_data().data, xgb.DMatrix(X).get_data().data)


def without_children(array: Any) -> None:
    array.children = type(array.children)()


def without_a_child(array: Any) -> None:
    array.children[1] = type(array.children[1])()


def with_fewer_columns(array: Any) -> None:
    array.n_children = 5


def with_a_short_column(array: Any) -> None:
    array.children[2].contents.length = 799


def without_values(array: Any) -> None:
    array.children[2].contents.buffers[1] = None


def without_buffers(array: Any) -> None:
    array.children[2].contents.buffers = type(array.children[2].contents.buffers)()


def of_negative_length(array: Any) -> None:
    array.length = -1


@with_batches
@pytest.mark.parametrize("spoil, words", [
    (without_children, "Batch 0 does not follow the Arrow C data interface: the list of columns is null"),
    (without_a_child, "Column 'f1' in batch 0 does not follow the Arrow C data interface: its array is null"),
    (with_fewer_columns, "Batch 0 does not follow .*: there are 5 columns; allowed: the schema's, 6"),
    (with_a_short_column, "Column 'f2' in batch 0 .*: the length is 799; allowed: the table's, 800, or more"),
    (without_values, "Column 'f2' in batch 0 .*: buffer 1 is null, and there are values"),
    (without_buffers, "Column 'f2' in batch 0 .*: the list of buffers is null"),
    (of_negative_length, "Batch 0 .*: the length is -1; allowed: 0 to"),
])
def test_record_batches_at_which_stock_code_ends_the_process(spoil: Any, words: str) -> None:
    caller = Caller(BATCHES)
    caller.table.spoil_array = spoil
    with pytest.raises(xgb.core.XGBoostError, match=words):
        caller.dmatrix()
    assert caller.table.released == {"schema": 1, "array": 1, "stream": 0}


@with_batches
def test_no_function_that_hands_batches_over() -> None:
    handle = ctypes.c_void_p()
    with pytest.raises(xgb.core.XGBoostError, match="next is null; allowed: a function that hands record batches over"):
        xgb.core._check_call(
            xgb.core._LIB.XGDMatrixCreateFromArrowCallback(None, b'{"missing": NaN, "nbatch": 1}', ctypes.byref(handle)))


def test_a_line_says_who_asked_for_a_page(capfd: pytest.CaptureFixture) -> None:
    data = xgb.DMatrix(X, Y)
    text = pages_made(capfd, lambda: xgb.train({"tree_method": "exact"}, data, 1))
    assert "XGBoost asks for" in text and "800 rows and 6 columns" in text
    assert pages_made(capfd, lambda: data.get_data()) == "", "the page is made once"


def test_models_before_and_after_stock_code_took_the_values() -> None:
    data = xgb.DMatrix(X, Y)
    before = train(data, 4)
    data.get_data()
    assert_same_trees(train(data, 4), before)
    assert_same_trees(train(data, 4, max_bin=17), train(xgb.DMatrix(X, Y), 4, max_bin=17))


def test_threads_that_ask_at_the_same_time() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.train({"tree_method": "hist"}, xgb.DMatrix(X, Y), 3)
    expected = booster.predict(xgb.DMatrix(X))
    results = []
    threads = [threading.Thread(target=lambda: results.append(booster.predict(data))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(np.array_equal(result, expected) for result in results)


def test_slices_of_slices_train_as_their_rows_do() -> None:
    rows = np.random.default_rng(4).permutation(800)[:500]
    part = xgb.DMatrix(X, Y).slice(rows.tolist()).slice(list(range(400)))
    assert_same_trees(train(part, 4), train(xgb.DMatrix(X[rows[:400]], Y[rows[:400]]), 4))


@pytest.mark.parametrize("row", [-1, 800])
def test_a_slice_that_names_no_row(row: int) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=f"A slice of a matrix of 800 rows names row {row}; allowed: 0 to 799"):
        xgb.DMatrix(X, Y).slice([0, row])


def test_host_memory_of_a_dense_matrix_is_little_more_than_the_array() -> None:
    """Peak of the process: the array, the copy, and a tenth of it."""
    script = """
import numpy as np, resource, sys, xgboost as xgb, xgboost_gpu
x = np.ones((500_000, 100), np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = xgb.DMatrix(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / x.nbytes)
"""
    ratio = float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout)
    assert 0.9 < ratio < 1.1


@pytest.mark.parametrize("nthread", [100_000, 2**31 - 1])
def test_more_threads_than_the_system_starts(nthread: int) -> None:
    """Nothing ends the process, waits, or takes memory for each thread that was asked for."""
    script = f"""
import numpy as np, resource, xgboost as xgb, xgboost_gpu
x = np.ones((100_000, 5), np.float32)
for make in (xgb.DMatrix, xgb.QuantileDMatrix):
    for rows in (x[:10], x):
        data = make(rows, rows[:, 0], nthread={nthread})
        assert data.num_nonmissing() == rows.size
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600, env=ENVIRONMENT)


def test_time_of_a_label_does_not_go_into_looking_for_a_driver() -> None:
    """Best of some, in one process: without the function in front it takes as long as this does."""
    script = """
import ctypes, json, time, numpy as np, xgboost as xgb
stock = xgb.core._LIB.XGDMatrixSetInfoFromInterface
import xgboost_gpu
ours = xgb.core._LIB.XGDMatrixSetInfoFromInterface
y = np.arange(10, dtype=np.float32)
data = xgb.DMatrix(np.ones((10, 5)))
interface = json.dumps(y.__array_interface__).encode()
def best(call):
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        for _ in range(10):
            assert call(data.handle, b"label", interface) == 0
        times.append((time.perf_counter() - begin) / 10)
    return min(times)
print(best(ours) - best(stock))
"""
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=ENVIRONMENT)
    assert float(run.stdout) < 2e-5


def made_by_the_c_function(array: np.ndarray, config: Any = None, **members: Any) -> None:
    """Makes a matrix past the checks of the Python package, and frees it."""
    interface = {**array.__array_interface__, **members}
    config = {"missing": float("nan"), "nthread": 1} if config is None else config
    handle = ctypes.c_void_p()
    library = xgb.core._LIB
    xgb.core._check_call(
        library.XGDMatrixCreateFromDense(json.dumps(interface).encode(), json.dumps(config).encode(), ctypes.byref(handle)))
    xgb.core._check_call(library.XGDMatrixFree(handle))


@pytest.mark.parametrize("members, words", [
    ({"shape": [2**62, 6]}, "vector"),  # XGBoost's own words, as of most of them
    ({"shape": [2**40, 2**24], "strides": [0, 0]}, "1099511627776 rows and 16777216 columns"),
    ({"shape": [-1, 6]}, "vector"),
    ({"strides": [4]}, "stride and shape don't match"),
    ({"typestr": "f"}, "typestr"),
    ({"typestr": "|O"}, "typestr"),
    ({"typestr": 4}, "from Integer to String"),
    ({"data": None}, "Missing `data' field"),
    ({"data": [0, True]}, "Empty data with non-zero shape"),
    ({"version": 4}, "Only version <= 3"),
])
def test_interfaces_that_are_none_are_errors(members: dict, words: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        made_by_the_c_function(X, **members)


@pytest.mark.parametrize("rows, columns", [(2**40, 2**24), (2**62, 4), (2**58, 4)])
def test_a_shape_that_no_memory_has_is_refused_before_memory_is_asked_for(rows: int, columns: int) -> None:
    """XGBoost asks for it, and systems that promise all that they are asked for end the process later."""
    with pytest.raises(xgb.core.XGBoostError, match=f"An array has {rows} rows and {columns} columns, .* 2.63 bytes"):
        made_by_the_c_function(X, shape=[rows, columns], strides=[0, 0])


@pytest.mark.parametrize("config, words", [
    ({}, "missing"),
    ({"missing": "x"}, "missing"),
    ({"missing": 1.5, "nthread": "two"}, "nthread"),
    ([], "from Array to Object"),
])
def test_configurations_that_are_none_are_errors(config: Any, words: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=words):
        made_by_the_c_function(X, config)


@pytest.mark.parametrize("threads", [-1, 0, 3, 100_000])
def test_any_number_of_threads(threads: int) -> None:
    made_by_the_c_function(X, {"missing": float("nan"), "nthread": threads})
    assert_same_trees(train(xgb.DMatrix(X, Y, nthread=threads), 2), train(xgb.DMatrix(X, Y), 2))


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
def test_who_reads_the_log_may_use_the_matrix(kind: str) -> None:
    """A line says that XGBoost's page is made. A logger that asks the matrix for its page must not wait for itself."""
    script = f"""
import ctypes, numpy as np, xgboost as xgb, xgboost_gpu
data = xgb.{kind}(np.ones((20, 3), np.float32))
calls = []
@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def log(line):
    calls.append(line)
    data.get_data()
xgb.core._LIB.XGBRegisterLogCallback(log)
xgb.set_config(verbosity=2)
data.get_data()
assert any(b"XGBoost asks for" in line for line in calls)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, env=ENVIRONMENT, timeout=600)


# Rows of one worker are ours, those of the other are XGBoost's, and have a column less.
GROUP = """
import json, multiprocessing, sys
sys.path[:0] = {folders!r}
import numpy as np, scipy.sparse as sp, xgboost as xgb, xgboost_gpu
from matrix_scenarios import Caller, columns, of_table
from xgboost import collective
from group_workers import tracker_of

x = np.random.default_rng(0).normal(size=(250, 3))
odd = x[:, :2].copy()
odd[0, 0] = 1e300  # no float32 is near
MAKE = {{
    "batches": [lambda: Caller(columns(x, np.float64)).dmatrix(), lambda: Caller(columns(odd, np.float64)).dmatrix()],
    "nothing of one": [lambda: Caller(columns(x)).dmatrix(), lambda: Caller().dmatrix()],
    "csc": [lambda: xgb.DMatrix(sp.csc_matrix(x)), lambda: xgb.DMatrix(sp.csr_matrix(x[:, :2]))],
    "table": [lambda: of_table(*x.T.copy()), lambda: of_table(np.full(250, 2, np.uint8), types=["bool8"])],
}}

def work(number, settings, queue):
    with collective.CommunicatorContext(**settings):
        made = [make[number]() for make in MAKE.values()]
        queue.put((number, [(data.num_row(), data.num_col()) for data in made]))

if __name__ == "__main__":
    tracker, settings = tracker_of(2)
    queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(i, settings, queue), daemon=True) for i in range(2)]
    for worker in workers:
        worker.start()
    found = sorted(queue.get(timeout=600) for _ in workers)
    for worker in workers:
        worker.join()
    print(json.dumps(found))
"""


@with_tables
def test_workers_agree_on_the_number_of_columns_whoever_holds_the_rows() -> None:
    import xgboost_gpu

    folders = [str(SCENARIOS.parent), str(Path(xgboost_gpu.__file__).parents[1])]
    done = subprocess.run([sys.executable, "-c", GROUP.format(folders=folders)], check=True, capture_output=True, text=True,
                          env=ENVIRONMENT, timeout=600)
    ours = [[250, 3]] * 4
    assert json.loads(done.stdout.splitlines()[-1]) == [[0, ours], [1, [[250, 3], [0, 3], [250, 3], [250, 3]]]]
