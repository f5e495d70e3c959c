"""Spark: two workers of stock's `xgboost.spark` train as one process with all rows, in the order of workers.

pyspark is no package of Debian 12: docs/testing.md says how to bring it. The session is the one of
docs/distributed.md; its workers are started by the driver (local), or by two executors that do not inherit its environment.
"""

import contextlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from support import BACKEND, LIBRARY, OURS, SERIES, assert_same_trees, binary_labels, make_data, params

if not OURS or BACKEND != "host":
    pytest.skip("process groups train on the host", allow_module_level=True)
pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: docs/testing.md says how")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: docs/testing.md says how")
if "JAVA_HOME" not in os.environ and not shutil.which("java"):
    pytest.skip("Spark needs Java (openjdk-17-jre-headless), which is not installed", allow_module_level=True)

from pyspark.sql import DataFrame, SparkSession
from xgboost.spark import SparkXGBClassifier, SparkXGBRegressor

ROOT = Path(__file__).resolve().parents[3]
X, Y = make_data(600, 4, missing=0.1)

LOCAL, EXECUTORS, WITHOUT = "local[2]", "local-cluster[2,1,1024]", "local[2] without the library"
only_local = pytest.mark.parametrize("spark", [LOCAL], indirect=True)


def documented() -> str:
    """The program in the document's section on Spark."""
    section = (ROOT / "docs" / "distributed.md").read_text().split("\n## Spark\n")[1]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)


def home_of_its_own(folder: Path) -> Path:
    """Spark's home for one session, with links to pyspark's files.

    Executors write into the folder `work` of Spark's home, wherever they are told to, into one that is named by the
    second in which the session began: sessions of one second would share it, and the first that ends would remove it.
    """
    home = folder / "home"
    home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        if path.name != "work":
            (home / path.name).symlink_to(path)
    return home


@contextlib.contextmanager
def session_of(where: str, folder: Path) -> Iterator[SparkSession]:
    """The document's session, with paths and a master of this machine in place of a cluster's."""
    (folder / "sitecustomize.py").write_text("import xgboost_gpu\n" if where != WITHOUT else "")
    packages = (Path(package.__file__).parents[1] for package in (xgb, pyarrow))
    path = os.pathsep.join(map(str, (folder, ROOT / "python", *packages)))
    program = documented().split("\nframe = ")[0]
    for of_cluster, here in (("/shared/python", path), ("/shared/libxgboost_gpu.so", os.path.abspath(LIBRARY))):
        assert of_cluster in program
        program = program.replace(of_cluster, here)
    settings = {
        "spark.ui.enabled": "false",
        "spark.local.dir": folder / "scratch",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.shuffle.partitions": 2,
        "spark.network.timeout": "300s",  # other tests may keep all cores busy
        "spark.log.level": "ERROR",
    }
    arguments = [f"--conf {name}={value}" for name, value in settings.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", " ".join([f"--master {where.split()[0]}", *arguments, "pyspark-shell"]))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_HOME", str(home_of_its_own(folder)))
        found: Dict[str, Any] = {}
        exec(program, found)
        try:
            yield found["spark"]
        finally:
            found["spark"].stop()
            gateway = pyspark.SparkContext._gateway  # the next session has a JVM of its own, with its own settings
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(60)
            pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with session_of(request.param, tmp_path_factory.mktemp("spark")) as session:
        yield session


def frame_of(spark: SparkSession, x: np.ndarray, **columns: np.ndarray) -> DataFrame:
    features = pd.Series(x.astype(float).tolist())
    return spark.createDataFrame(pd.DataFrame({"features": features, **columns}))


def noting(folder: Path) -> xgb.callback.TrainingCallback:
    """A callback that writes which rows a worker has, and of which kind its matrix is, to a file named by the rank."""

    class Notes(xgb.callback.TrainingCallback):  # here, so that it is sent by value: workers do not have this file
        def before_training(self, model: xgb.Booster) -> xgb.Booster:
            frame = sys._getframe()
            while "dtrain" not in frame.f_locals:
                frame = frame.f_back
            rows = frame.f_locals["dtrain"]
            notes = {"kind": type(rows).__name__, "label": rows.get_label(), "weight": rows.get_weight()}
            if frame.f_locals["evals"]:
                notes["weight of evaluation"] = frame.f_locals["evals"][-1][0].get_weight()
            np.savez(f"{folder}/{xgb.collective.get_rank()}.npz", **notes)
            return model

    return Notes()


def order_of_rows(folder: Path, name: str, values: np.ndarray, kind: str) -> np.ndarray:
    """Returns the numbers of the rows in the order of workers, who noted their share of `values`: no two are equal."""
    assert sorted(path.name for path in folder.iterdir()) == ["0.npz", "1.npz"]
    notes = [np.load(folder / f"{rank}.npz") for rank in (0, 1)]
    assert [str(one["kind"]) for one in notes] == [kind, kind]
    assert all(len(one[name]) for one in notes), "a worker without rows"
    place = {value: row for row, value in enumerate(values)}
    assert len(place) == len(values), f"{name} does not tell rows"
    return np.array([place[value] for one in notes for value in one[name]])


def alone(order: np.ndarray, x: np.ndarray, y: np.ndarray, rounds: int = 5, **how: Any) -> xgb.Booster:
    """Trains in this process on these rows."""
    return xgb.train(params(**how), xgb.DMatrix(x[order], y[order]), rounds)


# In local[2] other tests of this file compare models, and tests/site runs docs/start/spark.md.
@pytest.mark.parametrize("spark", [EXECUTORS], indirect=True)
def test_the_documents_program(spark: SparkSession, tmp_path: Path) -> None:
    program = "model = " + documented().split("\nmodel = ")[1]
    assert "num_workers=2" in program and "n_estimators=500" in program
    program = program.replace("n_estimators=500", "n_estimators=5, callbacks=[notes]")
    found: Dict[str, Any] = {"frame": frame_of(spark, X, label=Y), "notes": noting(tmp_path)}
    exec("from xgboost.spark import SparkXGBRegressor\n" + program, found)
    order = order_of_rows(tmp_path, "label", Y, "QuantileDMatrix" if SERIES < 302 else "DMatrix")
    assert sorted(order) == list(range(600))
    one = alone(order, X, Y)
    assert_same_trees(found["model"].get_booster(), one)
    predicted = found["predictions"].select("label", "prediction").toPandas()
    expected = pd.Series(one.predict(xgb.DMatrix(X)), index=Y)
    assert np.array_equal(predicted["prediction"], expected[predicted["label"].astype(np.float32)])


SETTINGS = [
    dict(objective="reg:absoluteerror", subsample=0.5, max_depth=4),
    dict(grow_policy="lossguide", max_leaves=9),
]


@only_local
@pytest.mark.parametrize("how", SETTINGS, ids=["sampled medians", "loss-guided"])
def test_more_values_than_stock_keeps_in_a_matrix_of_values(spark: SparkSession, tmp_path: Path, how: dict) -> None:
    """use_gpu=True has a DMatrix made, and says gpu_id 0 and 1, which workers may."""
    x, y = make_data(5000, 4, missing=0.1)
    y = np.argsort(np.argsort(y)).astype(np.float32) / 1024  # no two are equal
    estimator = SparkXGBRegressor(
        **params(**how), num_workers=2, n_estimators=5, use_gpu=True, callbacks=[noting(tmp_path)]
    )
    model = estimator.fit(frame_of(spark, x, label=y))
    order = order_of_rows(tmp_path, "label", y, "DMatrix")
    assert sorted(order) == list(range(5000))
    assert_same_trees(model.get_booster(), alone(order, x, y, **how))


@only_local
def test_a_classifier_with_weights_that_stops_early(spark: SparkSession, tmp_path: Path) -> None:
    labels, weights = binary_labels(Y), (1 + np.arange(600) / 512).astype(np.float32)
    held_out = np.arange(600) % 4 == 0
    labels[held_out & (np.arange(600) % 3 == 0)] = 1  # so that the held out rows get worse soon
    frame = frame_of(spark, X, label=labels, weight=weights, held_out=held_out)
    estimator = SparkXGBClassifier(
        **params(eval_metric="logloss", learning_rate=0.9),
        num_workers=2,
        n_estimators=60,
        weight_col="weight",
        validation_indicator_col="held_out",
        early_stopping_rounds=3,
        use_gpu=True,
        callbacks=[noting(tmp_path)],
    )
    booster = estimator.fit(frame).get_booster()
    order = order_of_rows(tmp_path, "weight", weights, "DMatrix")
    assert sorted(order) == list(np.flatnonzero(~held_out))
    other = order_of_rows(tmp_path, "weight of evaluation", weights, "DMatrix")
    assert sorted(other) == list(np.flatnonzero(held_out))
    rows, others = (xgb.DMatrix(X[these], labels[these], weight=weights[these]) for these in (order, other))
    one = xgb.train(
        params(objective="binary:logistic", eval_metric="logloss", learning_rate=0.9),
        rows,
        60,
        evals=[(rows, "training"), (others, "validation")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    assert one.num_boosted_rounds() < 60
    assert_same_trees(booster, one)
    assert booster.attributes() == one.attributes()  # with best_iteration and best_score


@pytest.mark.parametrize("spark", [WITHOUT], indirect=True)
def test_workers_without_the_library(spark: SparkSession) -> None:
    words = "not compiled with GPU support" if SERIES < 301 else "Invalid Input: 'gpu_hist'"
    with pytest.raises(Exception, match=words):
        SparkXGBRegressor(**params(), num_workers=2, n_estimators=5).fit(frame_of(spark, X, label=Y))
