"""Pickles and model files of scikit-learn's estimators: what stock XGBoost makes of them, and who writes gpu_trace."""

import contextlib
import copy
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any, Dict, List

import joblib
import numpy as np
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate
from support import OURS, SERIES, assert_same_trees, make_data, only_before, only_ours, only_since, params, run_python

if OURS:
    import xgboost_gpu

pytestmark = only_ours

X, Y = load_breast_cancer(return_X_y=True)
KINDS: Dict[str, Dict[str, Any]] = {
    "hist": dict(predictor="gpu_predictor") if SERIES < 200 else {},
    "goss": dict(sampling_method="goss", top_rate=0.3),
    "exact": dict(tree_method="gpu_exact"),
    "forest": dict(num_parallel_tree=2),
    # stock refuses such lists
    "lists": dict(monotone_constraints=[-1, *[0] * 29], interaction_constraints=[[0, 1, 2], list(range(3, 30))]),
}
#: What has an estimator's parameters. XGBoost 1.7 writes them beside a model, too.
FORMS = ["pickle", "joblib"] + (["json", "ubj"] if SERIES < 200 else [])
beside_models = only_before(200, "a model file has no parameters of its estimator")
PACKAGE = str(Path(__file__).parents[3] / "python")

# A process with stock XGBoost alone.
STOCK = """
import json, pickle, sys, joblib, numpy as np, xgboost as xgb
folder, form, method = sys.argv[1:]
x = np.load(folder + "/x.npy")
if form in ("pickle", "joblib"):
    model = joblib.load(f"{folder}/model.{form}")
else:
    model = xgb.XGBClassifier()
    model.load_model(f"{folder}/model.{form}")
before = model.predict_proba(x)
model.set_params(n_jobs=1)
assert model.get_params()["tree_method"] == method, model.get_params()
assert np.array_equal(model.predict_proba(x), before)
np.save(folder + "/found.npy", before)
pickle.dump(model, open(folder + "/back.pickle", "wb"))
if method == "hist" and model.get_params().get("sampling_method") is None:
    model.fit(x, before[:, 1] > 0.5)
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_stock_alone_may_set_parameters_of_a_trained_estimator(kind: str, form: str, tmp_path: Path) -> None:
    given = params(**KINDS[kind])
    model = xgb.XGBClassifier(n_estimators=4, max_depth=3, **given).fit(X, Y)
    settings = model.get_params()
    np.save(tmp_path / "x.npy", X)
    if form in ("pickle", "joblib"):
        (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
        joblib.dump(model, tmp_path / "model.joblib")
    else:
        model.save_model(tmp_path / f"model.{form}")
    assert model.get_params() == settings
    run_python(STOCK, str(tmp_path), form, "exact" if kind == "exact" else "hist")
    assert np.array_equal(np.load(tmp_path / "found.npy"), model.predict_proba(X))

    if form in ("pickle", "joblib"):
        read = joblib.load(tmp_path / f"model.{form}")
    else:
        read = xgb.XGBClassifier()
        read.load_model(tmp_path / f"model.{form}")
    back = pickle.loads((tmp_path / "back.pickle").read_bytes())
    for other in (read, back):
        assert {name: other.get_params()[name] for name in given} == given
        assert not [name for name in vars(other) if name.startswith("_gpu")]
        assert_same_trees(clone(other).set_params(n_jobs=None).fit(X, Y).get_booster(), model.get_booster())


@only_since(200, "a model file has the parameters of its estimator")
@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize("kind", KINDS)
def test_stock_alone_reads_the_model_file_of_an_estimator(kind: str, form: str, tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=4, max_depth=3, **params(**KINDS[kind])).fit(X, Y)
    np.save(tmp_path / "x.npy", X)
    model.save_model(tmp_path / f"model.{form}")
    run_python(STOCK.replace('["tree_method"] == method', '["tree_method"] is None'), str(tmp_path), form, "none")
    assert np.array_equal(np.load(tmp_path / "found.npy"), model.predict_proba(X))


@pytest.mark.parametrize("kind", ["hist", "exact"])
def test_the_booster_of_a_loaded_estimator_predicts_as_it_did(kind: str, tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=4, **params(**KINDS[kind])).fit(X, Y)
    model.save_model(tmp_path / "model.json")
    read = xgb.XGBClassifier(**({} if SERIES < 200 else params(**KINDS[kind])))
    read.load_model(tmp_path / "model.json")
    sections = [json.loads(one.get_booster().save_config())["learner"]["gradient_booster"] for one in (model, read)]
    for name in ("tree_method", "predictor") if SERIES < 200 else ("tree_method",):
        assert sections[1]["gbtree_train_param"][name] == sections[0]["gbtree_train_param"][name]
    assert sections[1]["xgboost_gpu_param"]["gpu_backend"] == sections[0]["xgboost_gpu_param"]["gpu_backend"]
    assert np.array_equal(read.predict_proba(X), model.predict_proba(X))

    stock = xgb.XGBClassifier(tree_method="approx")
    with pytest.warns(UserWarning, match="native XGBoost model") if SERIES < 200 else contextlib.nullcontext():
        stock.load_model(model.get_booster().save_raw("ubj"))
    assert "xgboost_gpu_param" not in json.loads(stock.get_booster().save_config())["learner"]["gradient_booster"]


def test_what_was_changed_without_the_library_stays(tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params()).fit(X, Y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    change = """
import pickle, sys
model = pickle.load(open(sys.argv[1] + "/model.pickle", "rb")).set_params(tree_method="approx")
pickle.dump(model, open(sys.argv[1] + "/model.pickle", "wb"))
"""
    run_python(change, str(tmp_path))
    assert pickle.loads((tmp_path / "model.pickle").read_bytes()).get_params()["tree_method"] == "approx"


def test_stock_alone_does_not_train_an_estimator_that_was_not_trained(tmp_path: Path) -> None:
    """It was to use a GPU, and would not in silence."""
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(xgb.XGBClassifier(**params())))
    fit = "import pickle, sys; pickle.load(open(sys.argv[1] + '/model.pickle', 'rb')).fit([[0], [1]], [0, 1])"
    done = run_python(fit, str(tmp_path), check=False)
    assert done.returncode == 1 and re.search("not compiled with GPU support|Invalid Input: 'gpu_hist'", done.stderr)


def traces(folder: Path) -> Dict[str, List[int]]:
    """The files of gpu_trace in a folder, and the rounds whose trees they tell of."""
    return {
        file.name: sorted(e["args"]["round"] for e in json.loads(file.read_text(encoding="utf-8")) if e["name"] == "tree")
        for file in folder.glob("*.json*")
    }


def test_workers_write_files_of_their_own(tmp_path: Path) -> None:
    x, y = make_data(200, 4)
    file = str(tmp_path / "trace.json")
    model = xgb.XGBRegressor(n_estimators=3, **params(gpu_trace=file, nthread=1))
    with joblib.parallel_backend("loky"):
        found = cross_validate(model, x, y, cv=6, n_jobs=2, return_estimator=True, error_score="raise")
    there = traces(tmp_path)
    assert 1 <= len(there) <= 2, there
    assert all(re.fullmatch(r"trace\.json\.\d+", name) and rounds == [0, 1, 2] for name, rounds in there.items()), there
    assert f"trace.json.{os.getpid()}" not in there
    for estimator in found["estimator"]:
        assert Path(xgboost_gpu.profile(estimator).source).name in there
        assert estimator.get_params()["gpu_trace"] == file  # it is back where that was set
    model.fit(x, y)
    assert traces(tmp_path) == {**there, "trace.json": [0, 1, 2]}


def test_copies_of_an_estimator_in_its_process_keep_the_file(tmp_path: Path) -> None:
    x, y = make_data(200, 4)
    model = xgb.XGBRegressor(n_estimators=2, **params(gpu_trace=str(tmp_path / "trace.json")))
    for other in (clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params()["gpu_trace"] == model.get_params()["gpu_trace"]
        other.fit(x, y)
        assert traces(tmp_path) == {"trace.json": [0, 1]}
        (tmp_path / "trace.json").unlink()


def test_an_estimator_from_a_pickle_writes_a_file_of_its_own(tmp_path: Path) -> None:
    model = xgb.XGBRegressor(n_estimators=2, **params(gpu_trace=str(tmp_path / "trace.json")))
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    code = """
import os, pickle, sys
folder = sys.argv[1]
sys.path.append(sys.argv[2])
import numpy as np, xgboost_gpu
x = np.random.default_rng(0).normal(size=(50, 4))
model = pickle.load(open(folder + "/model.pickle", "rb"))
assert model.get_params()["gpu_trace"] == f"{folder}/trace.json.{os.getpid()}"
model.fit(x, x[:, 0])
model.set_params(gpu_trace=folder + "/other.json")  # this process has set it
model = pickle.loads(pickle.dumps(model)).fit(x, x[:, 0])
print(os.getpid(), xgboost_gpu.profile(model).source)
"""
    process, source = run_python(code, str(tmp_path), PACKAGE).stdout.split()
    assert source == str(tmp_path / "other.json")
    assert traces(tmp_path) == {f"trace.json.{process}": [0, 1], "other.json": [0, 1]}


@beside_models
def test_a_model_file_of_an_estimator_names_no_file_to_write(tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params(gpu_trace=str(tmp_path / "trace.json"), eta=0.5)).fit(X, Y)
    settings = model.get_params()
    file = tmp_path / "model"
    model.save_model(f"{file}.json")
    assert model.get_params() == settings
    saved = json.loads(Path(f"{file}.json").read_text(encoding="utf-8"))
    attributes = saved["learner"]["attributes"]
    of_estimator = json.loads(attributes["scikit_learn"])
    assert "trace.json" not in attributes["scikit_learn"]

    precious = tmp_path / "precious"
    precious.write_text("precious", encoding="utf-8")
    of_estimator["kwargs"]["gpu_trace"] = str(precious)
    attributes["scikit_learn"] = json.dumps(of_estimator)
    Path(f"{file}.json").write_text(json.dumps(saved), encoding="utf-8")
    loaded = xgb.XGBClassifier(gpu_trace="mine.json")
    loaded.load_model(f"{file}.json")
    assert "gpu_trace" not in loaded.get_params()
    assert loaded.get_params()["eta"] == 0.5
    loaded.fit(X, Y)
    assert precious.read_text(encoding="utf-8") == "precious"

    model.get_booster().save_model(f"{file}.ubj")  # without the estimator's parameters
    own = xgb.XGBClassifier(gpu_trace="mine.json")
    with pytest.warns(UserWarning, match="native XGBoost model"):
        own.load_model(f"{file}.ubj")
    assert own.get_params()["gpu_trace"] == "mine.json"


UPDATERS = {
    "hist": (dict(updater="grow_gpu_hist"), "grow_quantile_histmaker"),
    "without a method": (dict(tree_method=None, updater="grow_gpu_hist"), "grow_quantile_histmaker"),
    "list": (dict(updater_seq="grow_gpu_hist,prune", gamma=0.5), "grow_quantile_histmaker,prune"),
    "exact": (dict(tree_method="gpu_exact", updater="grow_gpu_hist"), "grow_colmaker,prune"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", UPDATERS)
def test_stock_alone_finds_its_own_updaters(case: str, form: str, tmp_path: Path) -> None:
    given, stocks = UPDATERS[case]
    given = params(**given)
    name = [name for name in given if name.startswith("updater")][0]
    model = xgb.XGBClassifier(n_estimators=4, max_depth=3, **given).fit(X, Y)
    settings = model.get_params()
    np.save(tmp_path / "x.npy", X)
    if form in ("pickle", "joblib"):
        (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
        joblib.dump(model, tmp_path / "model.joblib")
    else:
        model.save_model(tmp_path / f"model.{form}")
    assert model.get_params() == settings
    code = STOCK.replace('["tree_method"] == method', f'["{name}"] == method').replace('method == "hist"', "True")
    run_python(code, str(tmp_path), form, stocks)
    assert np.array_equal(np.load(tmp_path / "found.npy"), model.predict_proba(X))
    back = pickle.loads((tmp_path / "back.pickle").read_bytes())
    read = xgb.XGBClassifier()
    if form in ("pickle", "joblib"):
        read = joblib.load(tmp_path / f"model.{form}")
    else:
        read.load_model(tmp_path / f"model.{form}")
    for other in (read, back):
        assert {name: other.get_params()[name] for name in given} == given
        assert not [name for name in vars(other) if name.startswith("_gpu")]
    section = json.loads(read.get_booster().save_config())["learner"]["gradient_booster"]
    assert "xgboost_gpu_param" in section
    assert_same_trees(clone(read).fit(X, Y).get_booster(), model.get_booster())


def test_an_updater_that_was_changed_without_the_library_stays(tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params(updater="grow_gpu_hist")).fit(X, Y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    change = """
import pickle, sys
model = pickle.load(open(sys.argv[1] + "/model.pickle", "rb")).set_params(updater="grow_colmaker,prune")
pickle.dump(model, open(sys.argv[1] + "/model.pickle", "wb"))
"""
    run_python(change, str(tmp_path))
    assert pickle.loads((tmp_path / "model.pickle").read_bytes()).get_params()["updater"] == "grow_colmaker,prune"


SEVERAL: Dict[str, Dict[str, Any]] = {
    "gpu_hist": params(),
    "gpu_exact": params(tree_method="gpu_exact"),
    "where it predicts": params(predictor="cpu_predictor", gpu_id=0) if SERIES < 200 else params(device="cpu"),
    "updater": params(tree_method=None, updater="grow_gpu_hist"),
    "hist": dict(tree_method="hist"),
    "no method": dict(),
    "dart": params(booster="dart"),
}


def parameters_of(model: xgb.XGBClassifier) -> Dict[str, Any]:
    section = json.loads(model.get_booster().save_config())["learner"]["gradient_booster"]
    section = section.get("gbtree", section)
    return {name: section.get(name) for name in ("gbtree_train_param", "xgboost_gpu_param", "updater")}


@pytest.mark.parametrize("first", SEVERAL)
@pytest.mark.parametrize("second", SEVERAL)
def test_a_second_file_leaves_nothing_of_the_first(first: str, second: str, tmp_path: Path) -> None:
    for number, case in enumerate((first, second)):
        model = xgb.XGBClassifier(n_estimators=2 + number, max_depth=2, **SEVERAL[case]).fit(X, Y)
        model.save_model(tmp_path / f"{number}.json")
    twice, once = xgb.XGBClassifier(), xgb.XGBClassifier()
    twice.load_model(tmp_path / "0.json")
    for each in (twice, once):
        each.load_model(tmp_path / "1.json")
    assert parameters_of(twice) == parameters_of(once)
    assert twice.get_booster().num_boosted_rounds() == 3
    assert np.array_equal(twice.predict_proba(X), model.predict_proba(X))


def test_a_file_that_cannot_be_read_leaves_the_estimator_as_it_was(tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params()).fit(X, Y)
    before = model.predict_proba(X)
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    for name in ("bad.json", "none.json"):
        with pytest.raises(xgb.core.XGBoostError):
            model.load_model(tmp_path / name)
        assert np.array_equal(model.predict_proba(X), before)


@beside_models
def test_a_file_of_a_booster_leaves_the_estimators_parameters(tmp_path: Path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params(eta=0.5)).fit(X, Y)
    model.save_model(tmp_path / "model.json")
    model.get_booster().save_model(tmp_path / "booster.json")
    for read in (xgb.XGBClassifier(), xgb.XGBClassifier(**params(eta=0.5)), xgb.XGBClassifier(tree_method="hist")):
        read.load_model(tmp_path / "model.json")
        settings = read.get_params()
        with pytest.warns(UserWarning, match="native XGBoost model"):
            read.load_model(tmp_path / "booster.json")
        assert {name: read.get_params()[name] for name in params(eta=0.5)} == params(eta=0.5)
        assert read.get_params().keys() == settings.keys()
        assert np.array_equal(read.predict_proba(X), model.predict_proba(X))


class _SetsItsState(xgb.XGBRegressor):
    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)


class _HasAnotherState(xgb.XGBRegressor):
    def __getstate__(self) -> Any:
        return "state", vars(self).copy()

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state[1])


def _made(kind: Any, state: Dict[str, Any]) -> Any:
    model = kind()
    model.__dict__.update(state)
    return model


class _SaysHowItIsMade(xgb.XGBRegressor):
    def __reduce__(self) -> Any:
        return _made, (type(self), vars(self).copy())


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda model: pickle.loads(pickle.dumps(model))}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", [_SetsItsState, _HasAnotherState, _SaysHowItIsMade])
def test_a_class_with_a_pickle_of_its_own_keeps_our_method(kind: Any, way: str) -> None:
    x, y = make_data(200, 4)
    model = kind(n_estimators=2, missing=0.0, **params())
    before = model.get_params()
    assert model.fit(x, y).get_params() == before
    other = COPIES[way](model)
    assert other.get_params() == before
    assert_same_trees(model.get_booster(), other.fit(x, y).get_booster())
    assert '"tree_method":"gpu_hist"' in other.get_booster().save_config()


def test_a_class_with_a_pickle_of_its_own_goes_to_a_worker() -> None:
    model = _SaysHowItIsMade(**params())
    sent = joblib.Parallel(n_jobs=2)(joblib.delayed(type(model).get_params)(model) for _ in range(2))
    assert [one["tree_method"] for one in sent] == ["gpu_hist"] * 2
