"""Dask: one worker trains as a process without any, and two as one with all rows, in the order of workers."""

import contextlib
import os
import pathlib
import re
import signal
import time
from typing import Any, Iterator, Tuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from group_workers import TIME_LIMIT
from support import (
    LIBRARY,
    OURS,
    SERIES,
    assert_same_trees,
    few_values,
    make_data,
    only_ours,
    params,
    stock_params,
    train,
    trees_of,
)

dask_array = pytest.importorskip("dask.array", reason="python3-dask is not installed")
distributed = pytest.importorskip("distributed", reason="python3-distributed is not installed")
import xgboost.dask  # noqa: E402,F401  (since 2.1 `import xgboost` leaves it out)

X, Y = make_data(600, 4, missing=0.1)
X = few_values(X)
#: So few that XGBoost would not find exact quantiles.
FEW_BINS = 16
Client = distributed.Client


ROOT = pathlib.Path(__file__).resolve().parents[3]


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[Client]:
    """Processes on this machine that have the library, which they import as docs/distributed.md says."""
    own = dict(preload="xgboost_gpu") if OURS else {}
    path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.setenv("XGBGPU_LIBRARY", os.path.abspath(LIBRARY or ""))
        with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, **own) as cluster:
            with Client(cluster) as client:
                yield client


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Client]:
    with cluster_of(1) as client:
        yield client


def chunks(values: np.ndarray):
    return dask_array.from_array(values, chunks=(200, *values.shape[1:]))


@pytest.mark.parametrize("matrix", [xgb.dask.DaskDMatrix, xgb.dask.DaskQuantileDMatrix], ids=["DMatrix", "Quantile"])
def test_one_worker_gives_the_model_of_one_process(one_worker: Client, matrix: type) -> None:
    how = dict(objective="reg:absoluteerror", eval_metric="mae", max_depth=4, max_bin=FEW_BINS)
    bins = {"max_bin": FEW_BINS} if matrix is xgb.dask.DaskQuantileDMatrix else {}
    data = matrix(one_worker, chunks(X), chunks(Y), **bins)
    found = xgb.dask.train(one_worker, params(**how), data, 5, evals=[(data, "rows")])
    history: dict = {}
    whole = xgb.DMatrix(X, Y)
    alone = xgb.train(params(**how), whole, 5, evals=[(whole, "rows")], evals_result=history, verbose_eval=False)
    if OURS:
        assert_same_trees(found["booster"], alone)
        assert found["history"] == history
    predicted = xgb.dask.predict(one_worker, found["booster"], chunks(X)).compute()
    # Bins of stock methods are approximate: a tenth of the error itself is generous there.
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
def test_masks_and_the_other_byte_order_come_through_dask(one_worker: Client) -> None:
    there = np.isnan(X)
    behind = np.where(there, 7, X)
    lazy = dask_array.map_blocks(np.ma.masked_equal, chunks(behind), 7, dtype=X.dtype)
    want = train_of(one_worker, chunks(X), chunks(Y))
    assert_same_trees(train_of(one_worker, lazy, chunks(Y)), want)
    assert_same_trees(train_of(one_worker, chunks(X.astype(">f8")), chunks(Y.astype(">f4"))), want)


def train_of(client: Client, rows: Any, labels: Any) -> xgb.Booster:
    return xgb.dask.train(client, params(max_depth=3), xgb.dask.DaskDMatrix(client, rows, labels), 3)["booster"]


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Client]:
    with cluster_of(2) as client:
        yield client


def dealt(client: Client, *all_values: np.ndarray) -> list:
    """Arrays of which the first 250 rows are on one worker and the others on the other."""
    workers = list(client.scheduler_info()["workers"])
    arrays = []
    for values in all_values:
        parts = [
            client.persist(chunks(part), workers=[worker])
            for worker, part in zip(workers, (values[:250], values[250:]))
        ]
        distributed.wait(parts)
        arrays.append(dask_array.concatenate(parts))
    return arrays


def note(_margins: np.ndarray, rows: xgb.DMatrix) -> Tuple[str, float]:
    """A metric that notes which rows a worker has, by their labels, of which no two are equal."""
    notes = distributed.get_worker().__dict__.setdefault("notes", {})
    notes.setdefault(rows.get_label().tobytes(), xgb.collective.get_rank())
    return "note", 0.0


def order_of_rows(client: Client, y: np.ndarray) -> np.ndarray:
    """Returns the numbers of the rows in the order of workers, as the last training had them. Forgets the notes."""

    def take(dask_worker: distributed.Worker) -> dict:
        return dask_worker.__dict__.pop("notes", {})

    labels = {rank: text for notes in client.run(take).values() for text, rank in notes.items()}
    assert sorted(labels) == [0, 1]
    values = np.concatenate([np.frombuffer(labels[rank], dtype=np.float32) for rank in sorted(labels)])
    place = {value: row for row, value in enumerate(y)}
    assert len(place) == len(y), "labels do not tell rows"
    return np.array([place[value] for value in values])


@only_ours
@pytest.mark.parametrize("how", [dict(), dict(subsample=0.5, objective="reg:absoluteerror")], ids=["all", "samples"])
def test_two_workers_give_the_model_of_one_process(two_workers: Client, how: dict) -> None:
    data = xgb.dask.DaskDMatrix(two_workers, *dealt(two_workers, X, Y))
    found = xgb.dask.train(
        two_workers, params(**how, eval_metric=["rmse", "mae"]), data, 5, evals=[(data, "rows")], custom_metric=note
    )
    order = order_of_rows(two_workers, Y)
    assert sorted(order) == list(range(600))
    whole, history = xgb.DMatrix(X[order], Y[order]), {}
    settings = params(**how, eval_metric=["rmse", "mae"])
    alone = xgb.train(settings, whole, 5, evals=[(whole, "rows")], evals_result=history, verbose_eval=False)
    assert_same_trees(found["booster"], alone)
    for metric in ("rmse", "mae"):
        assert found["history"]["rows"][metric] == history["rows"][metric]
    predicted = xgb.dask.predict(two_workers, found["booster"], chunks(X)).compute()
    assert np.array_equal(predicted, alone.predict(xgb.DMatrix(X)))


@only_ours
def test_a_worker_without_training_rows(two_workers: Client) -> None:
    first, second = two_workers.scheduler_info()["workers"]
    here = [two_workers.persist(chunks(values), workers=[first]) for values in (X, Y)]
    there = [two_workers.persist(chunks(values), workers=[second]) for values in (X[:200], Y[:200])]
    distributed.wait([*here, *there])
    data, other = (xgb.dask.DaskDMatrix(two_workers, *arrays) for arrays in (here, there))
    found = xgb.dask.train(two_workers, params(subsample=0.7), data, 4, evals=[(other, "other")])
    history: dict = {}
    others = [(xgb.DMatrix(X[:200], Y[:200]), "other")]
    alone = xgb.train(
        params(subsample=0.7), xgb.DMatrix(X, Y), 4, evals=others, evals_result=history, verbose_eval=False
    )
    assert_same_trees(found["booster"], alone)
    assert found["history"] == history


def documented_limit() -> str:
    """The program in docs/distributed.md that sets a time limit."""
    text = (ROOT / "docs" / "distributed.md").read_text()
    return re.search(r"```python\n(def limit_silence.*?)```", text, re.DOTALL).group(1)


@only_ours
def test_a_silent_worker_is_an_error_within_the_documents_limit(two_workers: Client) -> None:
    class Sleeps(xgb.callback.TrainingCallback):
        def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: dict) -> bool:
            if epoch == 2 and xgb.collective.get_rank() == 1:
                time.sleep(9)
            return False

    def forget() -> None:
        xgb.collective.init = xgb.collective.init.func

    data = xgb.dask.DaskDMatrix(two_workers, *dealt(two_workers, X, Y))
    limit = {}
    if SERIES < 200:
        program = documented_limit()
        assert "limit_silence, 60" in program
        exec(program.replace("limit_silence, 60", "limit_silence, 3"), {"client": two_workers})
    else:
        limit["coll_cfg"] = xgb.collective.Config(timeout=3)
    begin = time.monotonic()
    with pytest.raises(xgb.core.XGBoostError, match=TIME_LIMIT):
        xgb.dask.train(two_workers, params(), data, 100, callbacks=[Sleeps()], **limit)
    assert 3 <= time.monotonic() - begin < 60  # without the limit the training would go on after nine seconds
    if SERIES < 200:
        two_workers.run(forget)
    assert xgb.dask.train(two_workers, params(), data, 2)["booster"].num_boosted_rounds() == 2


def test_estimators_on_two_workers(two_workers: Client) -> None:
    """Their matrices are QuantileDMatrices of several batches, and keep the values."""
    how = dict(n_estimators=10, max_depth=3, max_bin=FEW_BINS)
    model = xgb.dask.DaskXGBRegressor(**how, **params())
    model.client = two_workers
    model.fit(*dealt(two_workers, X, Y))
    error = np.abs(model.predict(chunks(X)).compute() - Y).mean()
    assert error < 0.5 * np.abs(Y - Y.mean()).mean()
    if OURS:
        rows = xgb.dask.predict(two_workers, model.get_booster(), chunks(X)).compute()
        alone = xgb.XGBRegressor(**how, **params()).fit(X, Y)
        assert np.array_equal(rows, model.get_booster().predict(xgb.DMatrix(X)))
        assert_same_trees(model.get_booster(), alone.get_booster())


@only_ours
def test_what_workers_do_not_train_is_refused_and_the_cluster_lives_on(two_workers: Client) -> None:
    data = xgb.dask.DaskDMatrix(two_workers, *dealt(two_workers, X, Y))
    for _ in range(2):
        with pytest.raises(xgb.core.XGBoostError) as error:
            xgb.dask.train(two_workers, {**params(), "tree_method": "gpu_exact"}, data, 2)
        text = str(error.value)
        assert "gpu_exact" in text and "one of 2 workers" in text, text
        assert "supported: one worker, or tree_method=gpu_hist" in text, text
    assert xgb.dask.train(two_workers, stock_params(), data, 2)["booster"].num_boosted_rounds() == 2
    assert xgb.dask.train(two_workers, params(), data, 2)["booster"].num_boosted_rounds() == 2


@only_ours
def test_a_training_on_data_of_a_worker_that_is_gone_does_not_wait() -> None:
    """Without the check XGBoost waits for ever, so that the test ends at its time limit."""
    with cluster_of(2) as client:
        data, other = (xgb.dask.DaskDMatrix(client, *dealt(client, X, Y)) for _ in range(2))
        whole = xgb.dask.train(client, params(), data, 2)["booster"]
        address = next(iter(other.worker_map))
        os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
        end = time.monotonic() + 60
        while address in client.scheduler_info()["workers"] and time.monotonic() < end:
            time.sleep(0.1)
        kind, words = ValueError, f"{re.escape(address)}.*gone.*make the DaskDMatrix anew"
        if SERIES >= 300:  # XGBoost looks itself
            kind, words = RuntimeError, f"Missing required workers.*{re.escape(address)}"
        for arguments in (dict(dtrain=data), dict(dtrain=data, evals=[(other, "other")])):
            with pytest.raises(kind, match=words):
                xgb.dask.train(client, params(), num_boost_round=2, **arguments)
        client.wait_for_workers(2)
        anew = xgb.dask.DaskDMatrix(client, chunks(X), chunks(Y))
        assert_same_trees(xgb.dask.train(client, params(), anew, 2)["booster"], whole)
