"""Boosters and matrices shared by threads, memory that must be given back, and several workers at once."""

import ctypes
import gc
import hashlib
import json
import multiprocessing
import operator
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import xgboost as xgb
from group_workers import tracker_of, wait_for
from support import (
    BACKEND,
    LIBRARY,
    METHOD,
    OURS,
    assert_same_trees,
    fresh,
    loading,
    make_data,
    only_ours,
    params,
    raw,
    run_python,
    sampled,
    train,
)

X, Y = make_data(400, 5, missing=0.1)


def in_another_thread(work, *arguments):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *arguments).result()


def test_rounds_in_other_threads() -> None:
    # Stock's prediction cache belongs to a thread: whoever looks, from wherever, must see the truth.
    data = xgb.DMatrix(X, Y)
    booster = train(data, 1, max_depth=3)
    for number in range(1, 7):
        if number % 2:
            in_another_thread(booster.update, data, number)
        else:
            booster.update(data, number)
        true = fresh(booster).predict(xgb.DMatrix(X))
        assert np.array_equal(booster.predict(data), true)
        assert np.array_equal(in_another_thread(booster.predict, data), true)
    assert_same_trees(booster, train(xgb.DMatrix(X, Y), 7, max_depth=3))


def test_a_booster_outlives_the_thread_that_made_it() -> None:
    booster = in_another_thread(lambda: train(xgb.DMatrix(X, Y), 3))
    booster.update(xgb.DMatrix(X, Y), 3)
    assert_same_trees(booster, train(xgb.DMatrix(X, Y), 4))


def test_one_matrix_trained_by_many_threads() -> None:
    data = xgb.DMatrix(X, Y)
    settings = [dict(max_bin=bins, max_depth=4, nthread=threads) for bins in (16, 256) for threads in (1, 2)]
    expected = [raw(train(xgb.DMatrix(X, Y), 4, **one)) for one in settings]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda number: raw(train(data, 4, **settings[number % 4])), range(24)))
    assert found == expected * 6


def test_threads_train_different_data_at_the_same_time() -> None:
    def work(number: int) -> bytes:
        x, y = make_data(300 + 50 * (number % 4), 5, seed=number % 4)
        return raw(train(xgb.DMatrix(x, y), 5, max_depth=3, nthread=1, **sampled(subsample=0.8)))

    alone = [work(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(16))) == alone * 4


def test_one_booster_predicts_in_many_threads() -> None:
    booster = train(xgb.DMatrix(X, Y), 20)
    expected = booster.predict(xgb.DMatrix(X))
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: (booster.predict(xgb.DMatrix(X)), booster.inplace_predict(X)), range(60)):
            assert np.array_equal(found[0], expected) and np.array_equal(found[1], expected)


@only_ours
def test_one_booster_of_symmetric_trees_predicts_in_many_threads() -> None:
    """Also while one of them reads the model, which happens once enough was predicted with it."""
    x = np.repeat(X, 5, axis=0)
    booster = train(xgb.DMatrix(X, Y), 20, grow_policy="symmetric")
    expected = fresh(booster).predict(xgb.DMatrix(x))
    for one in (booster, *(booster.copy() for _ in range(5)), fresh(booster, nthread=1, **params())):
        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(lambda _: (one.predict(xgb.DMatrix(x)), one.inplace_predict(x)), range(40)):
                assert np.array_equal(found[0], expected) and np.array_equal(found[1], expected)


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_new_processes_train_and_predict_what_they_are_sent(start: str) -> None:
    models = [xgb.XGBRegressor(n_estimators=3, max_depth=depth, **params()) for depth in (2, 4)]
    trained = [xgb.XGBRegressor(**model.get_params()).fit(X, Y) for model in models]
    boosters = [model.get_booster() for model in trained]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(start)) as pool:
        there = list(pool.map(operator.methodcaller("fit", X, Y), models))
        assert [raw(model.get_booster()) for model in there] == [raw(booster) for booster in boosters]
        predictions = list(pool.map(operator.methodcaller("inplace_predict", X), boosters))
        configurations = list(pool.map(operator.methodcaller("save_config"), boosters))
    for booster, prediction, configuration in zip(boosters, predictions, configurations):
        assert np.array_equal(prediction, booster.inplace_predict(X))
        assert configuration == booster.save_config()


def test_forked_processes_train() -> None:
    """Before anything was trained: as with stock XGBoost, threads of OpenMP do not survive a fork."""
    code = f"""
import hashlib, multiprocessing, numpy as np, xgboost as xgb
x = np.random.default_rng(0).normal(size=(300, 4))
def work(depth):
    settings = dict(tree_method={METHOD!r}, max_depth=depth)
    if {OURS}:
        settings["gpu_backend"] = {BACKEND!r}
    return hashlib.sha256(xgb.train(settings, xgb.DMatrix(x, x[:, 0]), 2).save_raw("ubj")).hexdigest()
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(work, [2, 3, 2])
print(there == [work(2), work(3), work(2)] and there[0] != there[1])
"""
    assert run_python(code, library=LIBRARY if OURS else None).stdout.split()[-1] == "True"


def resident() -> int:
    """Bytes of this process in memory, without what glibc keeps of freed memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("kept", ["booster", "nothing"])
def test_memory_of_dead_matrices_is_given_back(kept: str) -> None:
    x, y = make_data(40_000, 10)
    one_matrix = x.nbytes  # its bins alone are a quarter of that, stock's copy of the values is twice that
    booster = train(xgb.DMatrix(x, y), 1, max_depth=2)
    sizes = []
    for number in range(1, 51):
        data = xgb.DMatrix(x, y)
        if kept == "booster":
            booster.update(data, number)
        else:
            train(data, 1, max_depth=2)
        del data
        if number in (30, 50):  # by now a GPU predicts, for which it has taken memory once
            sizes.append(resident())
    # Twenty matrices more: if the bins of each were kept, five matrices' worth would be gone.
    assert sizes[1] - sizes[0] < 2 * one_matrix


@only_ours
def test_bins_go_with_their_matrix() -> None:
    """Not when the library is used next: somebody else may want the memory before."""
    if BACKEND == "cuda":
        pytest.skip("bins are not in the memory of this process")
    rows, columns = 1_000_000, 40
    x = np.random.default_rng(2).integers(0, 200, size=(rows, columns)).astype(np.float32)
    data = xgb.DMatrix(x, x[:, 0])
    train(data, 1, max_depth=2)
    before = resident()
    del data
    # The values of the matrix and its label take 4 bytes each, bins a byte each.
    assert before - resident() > 4 * rows * (columns + 1) + rows * columns // 2


WORKER = """
import hashlib, json, sys
import numpy as np, xgboost as xgb
from xgboost import collective
with collective.CommunicatorContext(**json.loads(sys.argv[2])):
    x = np.random.default_rng(0).normal(size=(200, 3)).astype("f")[collective.get_rank()::2]
    rows = xgb.DMatrix(x, x[:, 0])
    for _ in range(2):
        booster = xgb.train({"tree_method": sys.argv[1], "nthread": 1}, rows, 2)
    print("trained", hashlib.sha256(booster.save_raw("ubj")).hexdigest())
"""


@only_ours
def test_one_of_two_workers_says_that_they_train_on_the_host() -> None:
    """Also where Python calls XGBoost's functions past those that stand in front of them. With a GPU they use it."""
    tracker, where = tracker_of(2)
    command = [sys.executable, "-c", loading(LIBRARY) + WORKER, METHOD, json.dumps(where)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    x = np.random.default_rng(0).normal(size=(200, 3)).astype("f")
    x = np.concatenate([x[0::2], x[1::2]])
    alone = hashlib.sha256(raw(train(xgb.DMatrix(x, x[:, 0]), 2))).hexdigest()
    texts = [worker.communicate(timeout=600)[0] for worker in workers]
    for text in texts:
        assert text.splitlines()[-1] == f"trained {alone}", text
    said = "".join(texts).count("training runs on the CPU because this process is one of 2 workers")
    assert said == (0 if BACKEND == "cuda" else 1), texts
    wait_for(tracker)


def test_parameters_of_one_booster_do_not_leak_into_another() -> None:
    data = xgb.DMatrix(X, Y)
    expected = raw(train(data, 3))
    others = [xgb.Booster(params(max_depth=1, eta=0.01, max_bin=4, gamma=5.0), [data]) for _ in range(3)]
    for other in others:
        other.update(data, 0)
    assert raw(train(data, 3)) == expected
    del others
    assert raw(train(data, 3)) == expected
