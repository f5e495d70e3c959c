"""Adds models of the XGBoost that is installed, and what it predicts with them, to newer_models.zip beside this file.

Run it once with each version that the tests read, in an environment of its own (xgboost-cpu and pandas):

    python3 make_newer_models.py

A model NAME of version V is there as V/NAME.json and V/NAME.ubj; some are pickles, too: V/NAME.pickle of the booster,
V/NAME.estimator of the estimator. V/expected.json has the rows, and predictions and margins by NAME.
"""

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pandas as pd
import xgboost as xgb

SERIES = tuple(int(number) for number in xgb.__version__.split(".")[:2])
ALL = SERIES >= (3, 4)
RNG = np.random.default_rng(46)
X = np.round(RNG.normal(size=(120, 3)), 2).astype(np.float32)
CODES = RNG.integers(0, 4, 120)
SIGNAL = X[:, 0] + 0.5 * X[:, 1] * X[:, 2]
TARGET = 100 + SIGNAL
CLASSES = np.digitize(SIGNAL, [-0.7, 0.1])
COUNTS = np.exp(SIGNAL / 2)
FRAME = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical.from_codes(CODES, ["w", "x", "y", "z"]), "c": X[:, 2]})
NUMBERED = FRAME.assign(b=pd.Categorical.from_codes(CODES, [10, 11, 12, 13]))
WITH_CODES = np.column_stack([X[:, 0], CODES, X[:, 2]]).astype(np.float32)
BY_CATEGORY = np.array([1.0, 5.0, -3.0, 2.0])[CODES] + SIGNAL
ROWS = 8
PICKLED = ("squared", "dart", "rank", "softprob", "names")


def data(y: np.ndarray, x: Any = X, **more: Any) -> xgb.DMatrix:
    return xgb.DMatrix(x, label=y, enable_categorical=True, **more)


def ranked() -> xgb.DMatrix:
    matrix = data(SIGNAL > 0)
    matrix.set_group([20] * 6)
    return matrix


def trained(matrix: xgb.DMatrix, rounds: int = 3, **params: Any) -> xgb.Booster:
    return xgb.train({"max_depth": 2, "nthread": 1, **params}, matrix, rounds)


def boosters() -> Dict[str, Callable[[], xgb.Booster]]:
    """Makers of models: every version makes the first ones, the newest all."""
    one_hot = dict(tree_method="hist", max_cat_to_onehot=1)
    kinds: Dict[str, Callable[[], xgb.Booster]] = {
        "squared": lambda: trained(data(TARGET)),
        "rank": lambda: trained(ranked(), objective="rank:ndcg"),
        "vector": lambda: trained(data(np.stack([TARGET, -TARGET], 1)), multi_strategy="multi_output_tree"),
        "quantile": lambda: trained(data(TARGET), objective="reg:quantileerror", quantile_alpha=0.3),
        "logarithm": lambda: trained(data(TARGET), objective="reg:squaredlogerror"),
        "dart": lambda: trained(data(TARGET), 6, booster="dart", rate_drop=0.5),
    }
    if SERIES >= (3, 1):
        kinds["names"] = lambda: trained(data(BY_CATEGORY, FRAME), **one_hot)
    if not ALL:
        return kinds
    several = dict(objective="multi:softprob", num_class=3)
    kinds.update(
        logistic=lambda: trained(data(SIGNAL > 0.3), objective="binary:logistic"),
        hinge=lambda: trained(data(SIGNAL > 0.3), objective="binary:hinge"),
        poisson=lambda: trained(data(COUNTS), objective="count:poisson"),
        tweedie=lambda: trained(data(COUNTS), objective="reg:tweedie", base_score=1.7),
        cox=lambda: trained(data(COUNTS), objective="survival:cox"),
        softprob=lambda: trained(data(CLASSES), **several),
        softprob_equal=lambda: trained(data(CLASSES), base_score=0.4, **several),
        dart_classes=lambda: trained(data(CLASSES), 6, booster="dart", rate_drop=0.5, base_score=0.5, **several),
        targets=lambda: trained(data(np.stack([TARGET, -TARGET], 1))),
        targets_equal=lambda: trained(data(np.stack([TARGET, -TARGET], 1)), base_score=2.5),
        linear=lambda: trained(data(TARGET), booster="gblinear"),
        forest=lambda: trained(data(TARGET), num_parallel_tree=3, subsample=0.5),
        no_round=lambda: trained(data(TARGET), 0, base_score=3.5),
        codes=lambda: trained(data(BY_CATEGORY, WITH_CODES, feature_types=["q", "c", "q"]), **one_hot),
        numbers=lambda: trained(data(BY_CATEGORY, NUMBERED), **one_hot),
        expectile=lambda: trained(data(TARGET), objective="reg:expectileerror", expectile_alpha=0.3),
        dropout=lambda: trained(data(TARGET), 6, rate_drop=0.5),
    )
    return kinds


def estimators() -> Dict[str, Any]:
    small = dict(n_estimators=3, max_depth=2, n_jobs=1)
    return {
        "regressor": xgb.XGBRegressor(**small).fit(X, TARGET),
        "classifier": xgb.XGBClassifier(**small).fit(X, SIGNAL > 0.3),
    }


def saved(booster: xgb.Booster, name: str) -> Dict[str, bytes]:
    files = {f"{name}.{form}": bytes(booster.save_raw(form)) for form in ("json", "ubj")}
    return {**files, f"{name}.pickle": pickle.dumps(booster)} if name in PICKLED else files


def add(archive: zipfile.ZipFile) -> None:
    files: Dict[str, bytes] = {}
    predictions, margins = {}, {}
    for name, make in boosters().items():
        booster = make()
        files.update(saved(booster, name))
        x = {"codes": WITH_CODES, "names": FRAME, "numbers": NUMBERED}.get(name, X)[:ROWS]
        types = {"feature_types": ["q", "c", "q"]} if name == "codes" else {}
        rows = xgb.DMatrix(x, enable_categorical=True, **types)
        predictions[name] = booster.predict(rows).tolist()
        margins[name] = booster.predict(rows, output_margin=True).tolist()
    for name, estimator in estimators().items() if ALL else ():
        files[f"{name}.estimator"] = pickle.dumps(estimator)
        files.update(saved(estimator.get_booster(), name))
        predictions[name] = getattr(estimator, "predict_proba", estimator.predict)(X[:ROWS]).tolist()
    rows = {"rows": X[:ROWS].tolist(), "codes": WITH_CODES[:ROWS].tolist()}
    files["expected.json"] = json.dumps({**rows, "predictions": predictions, "margins": margins}).encode()
    for file, content in sorted(files.items()):
        entry = zipfile.ZipInfo(f"{xgb.__version__}/{file}")  # without a time: the same models, the same file
        archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    with zipfile.ZipFile(Path(__file__).with_name("newer_models.zip"), "a") as models:
        add(models)
