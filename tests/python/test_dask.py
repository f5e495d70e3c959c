"""Dask: one worker trains as a process without any; several are refused in words, and their cluster lives on."""

import contextlib
import os
from typing import Iterator

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from support import LIBRARY, OURS, assert_same_trees, make_data, only_ours, params, stock_params, train, trees_of

dask_array = pytest.importorskip("dask.array", reason="python3-dask is not installed")
distributed = pytest.importorskip("distributed", reason="python3-distributed is not installed")

X, Y = make_data(600, 4, missing=0.1)
Client = distributed.Client


def load(path: str) -> None:
    import ctypes

    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[Client]:
    """Processes on this machine that have the library."""
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            if OURS:
                client.run(load, os.path.abspath(LIBRARY))
            yield client


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Client]:
    with cluster_of(1) as client:
        yield client


def chunks(values: np.ndarray):
    return dask_array.from_array(values, chunks=(200, *values.shape[1:]))


@pytest.mark.parametrize("matrix", [xgb.dask.DaskDMatrix, xgb.dask.DaskQuantileDMatrix], ids=["DMatrix", "Quantile"])
def test_one_worker_gives_the_model_of_one_process(one_worker: Client, matrix: type) -> None:
    how = dict(objective="reg:absoluteerror", eval_metric="mae", max_depth=4)
    data = matrix(one_worker, chunks(X), chunks(Y))
    found = xgb.dask.train(one_worker, params(**how), data, 5, evals=[(data, "rows")])
    history: dict = {}
    whole = xgb.DMatrix(X, Y)
    alone = xgb.train(params(**how), whole, 5, evals=[(whole, "rows")], evals_result=history, verbose_eval=False)
    if OURS and matrix is xgb.dask.DaskDMatrix:
        assert_same_trees(found["booster"], alone)
        assert found["history"] == history
    predicted = xgb.dask.predict(one_worker, found["booster"], chunks(X)).compute()
    # Bins of batches are stock's and approximate: a tenth of the error itself is generous there.
    assert np.abs(predicted - alone.predict(whole)).mean() < 0.1 * history["rows"]["mae"][-1]
    assert np.array_equal(predicted, found["booster"].predict(xgb.DMatrix(X)))


def test_estimators_on_one_worker(one_worker: Client) -> None:
    model = xgb.dask.DaskXGBRegressor(n_estimators=4, max_depth=3, **params())
    model.client = one_worker
    model.fit(chunks(X), chunks(Y))
    if OURS:
        assert_same_trees(model.get_booster(), train(xgb.DMatrix(X, Y), 4, max_depth=3))
    assert model.predict(chunks(X)).compute().shape == (600,)


def test_frames_with_categories_on_one_worker(one_worker: Client) -> None:
    dask_frame = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["a"] = pd.qcut(frame["a"], 9, labels=[f"town {n}" for n in range(9)])
    parts = dask_frame.from_pandas(frame, npartitions=3)
    data = xgb.dask.DaskDMatrix(one_worker, parts, chunks(Y), enable_categorical=True)
    booster = xgb.dask.train(one_worker, params(), data, 4)["booster"]
    assert any(one is not None for tree in trees_of(booster) for one in tree.categories)
    if OURS:
        assert_same_trees(booster, train(xgb.DMatrix(frame, Y, enable_categorical=True), 4))


@only_ours
def test_several_workers_are_refused_and_the_cluster_lives_on() -> None:
    with cluster_of(2) as client:
        data = xgb.dask.DaskDMatrix(client, chunks(X), chunks(Y))
        for _ in range(2):
            with pytest.raises(xgb.core.XGBoostError) as error:
                xgb.dask.train(client, params(), data, 2)
            text = str(error.value)
            assert "gpu_hist" in text and "one of 2 workers" in text, text
            assert "supported: one worker, or tree_method=hist" in text, text
        assert xgb.dask.train(client, stock_params(), data, 2)["booster"].num_boosted_rounds() == 2
