"""The package in newer XGBoosts, those that scripts/hosts has brought: what users do there, beside stock's own methods."""

import shutil
import subprocess
from pathlib import Path

import pytest
from fresh_python import ENGINE, LIBRARY, PACKAGE, SOURCE_TREE, Interpreter

HOSTS = SOURCE_TREE / "build" / "hosts"
RELEASES = ["3.0.5", "3.2.0", "3.3.0", "3.4.1"]

START = """
import copy, pickle, warnings
import numpy as np, xgboost as xgb
import xgboost_gpu
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 4)).astype(np.float32)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.float32)
ours = {"tree_method": "gpu_hist", "gpu_backend": "host"}
def trees(model):
    return getattr(model, "get_booster", lambda: model)().get_dump(with_stats=True)
def train(data, **more):
    return xgb.train({**ours, "objective": "binary:logistic", "max_depth": 3, **more}, data, 5)
"""


@pytest.fixture(params=RELEASES)
def program(request: pytest.FixtureRequest, library: Path) -> str:
    """The program that runs Python with the XGBoost."""
    release = request.param
    file = HOSTS / f"wheel-{release}" / "python"
    if not file.is_file():
        pytest.skip(f"{file} is missing: scripts/hosts wheel-{release} brings it")
    adapter = library.parent / "xgboost_gpu_series" / f"libxgboost_gpu-{release.rpartition('.')[0]}.so"
    if not adapter.is_file():
        pytest.skip(f"{adapter} is not built: scripts/host-headers brings the headers for it")
    return str(file)


@pytest.fixture
def newer(program: str, library: Path) -> Interpreter:
    """Python with that XGBoost and the package."""
    return Interpreter(PACKAGE.parent, library=str(library), program=program)


def test_library_of_the_series(newer, program, library):
    release = program.split("wheel-")[1].split("/")[0]
    code = "info = xgboost_gpu.build_info(); print(info['library'], info['xgboost_running'], info['registered'])"
    adapter = library.parent / "xgboost_gpu_series" / f"libxgboost_gpu-{release.rpartition('.')[0]}.so"
    assert newer.output_of(START + code).splitlines() == [f"{adapter} {release} True"]


def test_files_beside_the_package(program, library, tmp_path):
    """As pip installs them."""
    package = Path(shutil.copytree(PACKAGE, tmp_path / "xgboost_gpu"))
    for name in (ENGINE, "libxgbgpu_bridge.so", "xgbgpu-probe"):
        shutil.copy(library.parent / name, package / name)
    shutil.copytree(library.parent / "xgboost_gpu_series", package / "xgboost_gpu_series")
    printed = Interpreter(tmp_path, program=program).output_of("import xgboost_gpu; print(xgboost_gpu.build_info()['library'])")
    assert Path(printed).parent == package / "xgboost_gpu_series"


def test_a_bridge_that_the_system_finds(program, library, tmp_path):
    python = Interpreter(Path(shutil.copytree(PACKAGE, tmp_path / "python" / "xgboost_gpu")).parent, program=program)
    python.environment["LD_LIBRARY_PATH"] = str(library.parent)
    printed = python.output_of("import xgboost_gpu; print(xgboost_gpu.build_info()['library'])")
    assert Path(printed).parent == library.parent / "xgboost_gpu_series"


def test_no_adapter_of_the_series(program, library, tmp_path):
    for name in (ENGINE, LIBRARY, "libxgbgpu_bridge.so"):
        shutil.copy(library.parent / name, tmp_path / name)
    (tmp_path / "xgboost_gpu_series").mkdir()
    python = Interpreter(PACKAGE.parent, library=str(tmp_path / LIBRARY), program=program)
    message = python.import_error()
    assert "which cannot be read; allowed: a folder with the adapter of that series" in message
    assert str(tmp_path / "xgboost_gpu_series" / "libxgboost_gpu-") in message


def test_an_xgboost_without_its_names(program, library, tmp_path):
    """A wheel that was stripped, of a series that hides its names."""
    release = program.split("wheel-")[1].split("/")[0]
    if release == "3.4.1":
        pytest.skip("XGBoost 3.4.1 shows its names: it works without the others")
    modules = tmp_path / "modules"
    shutil.copytree(Path(program).parent / "xgboost", modules / "xgboost")
    for libraries in Path(program).parent.glob("xgboost*.libs"):
        shutil.copytree(libraries, modules / libraries.name)
    stripped = modules / "xgboost" / "lib" / "libxgboost.so"
    subprocess.run(["strip", stripped], check=True)
    message = Interpreter(modules, PACKAGE.parent, library=str(library)).import_error()
    assert message.startswith(f"xgboost_gpu: XGBoost {release} in '{stripped}' ")


ARRAYS = """
warnings.simplefilter("ignore")
import scipy.sparse as sp
gone = rng.random(x.shape) < .2
hidden = np.where(gone, np.float32(np.nan), x)
want = trees(train(xgb.DMatrix(hidden, y)))
masked = np.ma.array(x, mask=gone)
assert want != trees(train(xgb.DMatrix(x, y)))
assert trees(train(xgb.DMatrix(masked, y))) == want
assert trees(train(xgb.DMatrix(list(masked), y))) == want
bins = trees(train(xgb.QuantileDMatrix(hidden, y)))
assert trees(train(xgb.QuantileDMatrix(masked, y))) == bins
for kind in ("hist", "gpu_hist"):
    booster = xgb.train({**(ours if kind == "gpu_hist" else {}), "tree_method": kind}, xgb.DMatrix(hidden, y), 3)
    assert np.array_equal(booster.inplace_predict(masked), booster.inplace_predict(hidden)), kind
whole = np.round(x * 8)
plain = trees(train(xgb.DMatrix(whole, y, weight=y + 1)))
for dtype in ("f2", ">f2", ">f4", ">f8", ">i2", "i8", "O"):
    assert trees(train(xgb.DMatrix(whole.astype(dtype), y.astype(dtype), weight=(y + 1).astype(dtype)))) == plain, dtype
for name in ("label", "weight", "base_margin"):
    try:
        xgb.DMatrix(x, **{name: np.ma.array(y, mask=y > 0)})
    except ValueError as error:
        assert f"{name} is masked in row" in str(error), error
    else:
        raise AssertionError(name)
csr = sp.csr_matrix(np.where(gone, np.float32(0), x))
want = trees(train(xgb.DMatrix(csr, y)))
csc = csr.tocsc()
assert trees(train(xgb.DMatrix(csc, y))) == want
swapped = csc.copy()
swapped.data, swapped.indices = csc.data.astype(">f8"), np.repeat(csc.indices, 2)[::2].astype(">i4")
assert trees(train(xgb.DMatrix(swapped, y))) == want
marked = xgb.DMatrix(csr, y, missing=csr.data[0])
assert trees(train(xgb.DMatrix(csc, y, missing=csr.data[0]))) == trees(train(marked))
"""


def test_arrays_as_numpy_shows_them(newer):
    newer.output_of(START + ARRAYS)


GRADIENTS = """
warnings.simplefilter("ignore")
data = xgb.DMatrix(x, y)
def boosted(make, method):
    def objective(margins, _):
        gradients = np.round((margins - y) * 8) / 8
        return make(gradients), make(np.ones(len(y)))
    parameters = {**(ours if method == "gpu_hist" else {}), "tree_method": method, "base_score": 0, "max_depth": 3}
    return trees(xgb.train(parameters, data, 3, obj=objective))
for method in ("hist", "gpu_hist"):
    want = boosted(lambda values: values.astype("f4"), method)
    for dtype in ("f2", ">f2", ">f4", "f8", ">f8", "O", "g"):
        assert boosted(lambda values: values.astype(dtype), method) == want, (method, dtype)
    assert boosted(lambda values: np.repeat(values, 3)[::3], method) == want
    try:
        boosted(lambda values: np.ma.array(values, mask=y > 0), method)
    except ValueError as error:
        assert "An array is masked at" in str(error)
    else:
        raise AssertionError("masked gradients were taken")
"""


def test_gradients_of_any_type(newer):
    newer.output_of(START + GRADIENTS)


CONSTRAINTS = """
want = trees(train(xgb.DMatrix(x, y), monotone_constraints="(1,0,-1,0)", interaction_constraints="[[0,1],[2,3]]"))
for directions in ([1, 0, -1, 0], np.array([1, 0, -1, 0]), (1, 0, -1, 0)):
    for sets in ([[0, 1], [2, 3]], [np.array([0, 1]), (2, 3)]):
        assert trees(train(xgb.DMatrix(x, y), monotone_constraints=directions, interaction_constraints=sets)) == want
model = xgb.XGBClassifier(n_estimators=5, max_depth=3, monotone_constraints=[1, 0, -1, 0],
                          interaction_constraints=[[0, 1], [2, 3]], **ours).fit(x, y)
assert trees(model) == want
"""


def test_lists_of_constraints(newer):
    newer.output_of(START + CONSTRAINTS)


ESTIMATORS = """
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
model = xgb.XGBClassifier(n_estimators=5, max_depth=3, device="cpu", **ours).fit(x, y)
want = trees(model)
assert want == trees(train(xgb.DMatrix(x, y)))
for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
    assert str(other.get_params()) == str(model.get_params()) and trees(other) == want
    other.set_params(max_depth=2)
    assert np.array_equal(other.predict_proba(x), model.predict_proba(x))
    assert trees(clone(other).set_params(max_depth=3).fit(x, y)) == want
booster = model.get_booster()
for other in (booster.copy(), copy.deepcopy(booster), pickle.loads(pickle.dumps(booster))):
    assert trees(other) == want
    other.update(xgb.DMatrix(x, y), 5)
    assert other.num_boosted_rounds() == 6
search = GridSearchCV(xgb.XGBClassifier(n_estimators=3, n_jobs=1, **ours), {"max_depth": [2, 3]}, cv=2, n_jobs=2, error_score="raise")
assert search.fit(x, y).best_score_ > .7
assert trees(search.best_estimator_) == trees(clone(search.best_estimator_).fit(x, y))
stopped = xgb.XGBClassifier(n_estimators=50, early_stopping_rounds=2, **ours)
stopped.fit(x[:300], y[:300], eval_set=[(x[300:], y[300:])], verbose=False)
assert 0 < stopped.best_iteration < 48
assert len(stopped.predict(x)) == 400
table = xgb.cv({**ours, "objective": "binary:logistic"}, xgb.DMatrix(x, y), 4, nfold=3, metrics="auc", seed=1)
assert len(table) == 4 and table["test-auc-mean"].iloc[-1] > .8
further = xgb.XGBClassifier(n_estimators=2, max_depth=3, **ours).fit(x, y, xgb_model=booster)
assert further.get_booster().num_boosted_rounds() == 7
def squared(label, prediction):
    return prediction - label, np.ones_like(label)
def error(label, prediction):
    return float(np.abs(label - prediction).mean())
own = xgb.XGBRegressor(n_estimators=5, objective=squared, eval_metric=error, base_score=.5, **ours)
own.fit(x, y, eval_set=[(x, y)], verbose=False)
assert np.diff(own.evals_result()["validation_0"]["error"]).max() < 0
"""


def test_estimators(newer):
    newer.output_of(START + ESTIMATORS)


DEVICE = """
import json
def settings(booster):
    return json.loads(booster.save_config())["learner"]["gradient_booster"]["xgboost_gpu_param"]
def fails(**parameters):
    try:
        xgb.train({"tree_method": "gpu_hist", **parameters}, xgb.DMatrix(x, y), 1)
    except xgb.core.XGBoostError as error:
        return str(error)
    raise AssertionError(parameters)
warnings.simplefilter("ignore")
data = xgb.DMatrix(x, y)
plain = trees(train(data))
for device, backend, ordinal in (("cpu", "host", "-1"), ("cuda", "auto", "-1"), ("cuda:1", "auto", "1"), ("gpu:0", "auto", "0")):
    given = {"tree_method": "gpu_hist", "device": device, "objective": "binary:logistic", "max_depth": 3}
    booster = xgb.train(given, data, 5)
    told = xgb.Booster({"tree_method": "gpu_hist"}, [data])
    told.set_param({"device": device})
    before = xgb.Booster({"device": device}, [data])
    before.set_param("tree_method", "gpu_hist")
    model = xgb.XGBClassifier(n_estimators=5, max_depth=3, tree_method="gpu_hist", device=device).fit(x, y)
    assert trees(booster) == plain and trees(model) == plain, device
    for one in (booster, told, before, model.get_booster()):
        found = settings(one)
        assert (found["gpu_device"], found["gpu_backend"], found["gpu_id"]) == (device, backend, ordinal), found
assert settings(train(xgb.DMatrix(x, y), gpu_id=1))["gpu_id"] == "1"
assert "device is 'cuda:1' and gpu_id is 0" in fails(device="cuda:1", gpu_id=0)
assert "device is 'cuda' and gpu_backend is 'host'" in fails(device="cuda", gpu_backend="host")
assert "Parameter device is 'tpu'" in fails(device="tpu")
"""


def test_device_chooses_where_gpu_hist_trains(newer):
    newer.output_of(START + DEVICE)


FILES = """
model = xgb.XGBClassifier(n_estimators=5, max_depth=3, tree_method=METHOD, gpu_backend="host").fit(x, y)
open("model.pickle", "wb").write(pickle.dumps(model))
open("booster.pickle", "wb").write(pickle.dumps(model.get_booster()))
model.save_model("model.json")
np.save("x.npy", x)
np.save("found.npy", model.predict_proba(x))
"""
STOCK = """
import pickle, sys, numpy as np, xgboost as xgb
x, want = np.load("x.npy"), np.load("found.npy")
model = pickle.load(open("model.pickle", "rb"))
assert "xgboost_gpu" not in sys.modules
assert model.get_params()["tree_method"] == {"gpu_hist": "hist", "gpu_exact": "exact"}[METHOD]
assert np.array_equal(model.predict_proba(x), want)
assert np.array_equal(model.set_params(n_jobs=1).predict_proba(x), want)
assert np.array_equal(pickle.load(open("booster.pickle", "rb")).predict(xgb.DMatrix(x)), want[:, 1])
read = xgb.XGBClassifier()
read.load_model("model.json")
assert np.array_equal(read.predict_proba(x), want)
model.fit(x, want[:, 1] > .5)
"""
AGAIN = """
back = pickle.load(open("model.pickle", "rb"))
assert back.get_params()["tree_method"] == METHOD and back.get_params()["gpu_backend"] == "host"
read = xgb.XGBClassifier(n_estimators=5, max_depth=3, tree_method=METHOD, gpu_backend="host")
read.load_model("model.json")
for other in (back, read):
    assert np.array_equal(other.predict_proba(x), np.load("found.npy"))
    assert other.get_params()["tree_method"] == METHOD
    assert '"xgboost_gpu_param"' in other.get_booster().save_config()
want = trees(back)
assert trees(back.fit(x, y)) == want
"""


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
def test_files_are_stocks_and_ours(newer, program, tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    told = f"METHOD = {method!r}\n"
    newer.output_of(told + START + FILES)
    Interpreter(program=program).output_of(told + STOCK)
    newer.output_of(told + START + AGAIN)


FRAMES = """
import pandas as pd
frame = pd.DataFrame(x, columns=list("abcd"))
frame["e"] = pd.Categorical(np.where(y > 0, "one", "other"), categories=["other", "none", "one"])
data = xgb.DMatrix(frame, y, enable_categorical=True)
booster = train(data)
assert any('[e' in text for text in booster.get_dump()), booster.get_dump()
assert np.array_equal(booster.predict(data), booster.inplace_predict(frame))
model = xgb.XGBClassifier(n_estimators=5, max_depth=3, enable_categorical=True, **ours).fit(frame, y)
assert trees(model) == trees(booster)
bins = train(xgb.QuantileDMatrix(frame, y, enable_categorical=True))
assert bins.feature_types == booster.feature_types
frame["a"] = frame["a"].round().astype("Int64")
frame.loc[3, "a"] = pd.NA
assert train(xgb.DMatrix(frame, y, enable_categorical=True)).num_boosted_rounds() == 5
"""


def test_frames(newer):
    newer.output_of(START + FRAMES)


MODELS = """
import pandas as pd
warnings.simplefilter("ignore")
classes = np.arange(len(y)) % 3 + (x[:, 0] > 1)
frame = pd.DataFrame({"a": pd.Categorical(np.where(x[:, 0] > 0, "one", "other")), "b": x[:, 1]})
targets = np.stack([y, x[:, 1] + 3], 1)
for method in ("hist", "gpu_hist"):
    parameters = {**(ours if method == "gpu_hist" else {}), "tree_method": method}
    for data, more in ((xgb.DMatrix(x, classes), {"objective": "multi:softprob", "num_class": 4}),
                       (xgb.DMatrix(x, targets), {}), (xgb.DMatrix(x, y), {"booster": "dart", "rate_drop": .5}),
                       (xgb.DMatrix(x, np.sort(classes), qid=np.arange(len(y)) // 20), {"objective": "rank:ndcg"}),
                       (xgb.DMatrix(frame, y, enable_categorical=True), {})):
        booster = xgb.train({**parameters, **more}, data, 4)
        want = booster.predict(data)
        # Stock 3.0 and 3.2 lose the weights of a dart that is sliced.
        slices = [] if "rate_drop" in more and xgb.__version__.startswith(("3.0.", "3.2.")) else [booster[:]]
        copies = [booster.copy(), pickle.loads(pickle.dumps(booster)), xgb.Booster(model_file=booster.save_raw("ubj"))]
        for other in slices + copies:
            assert np.array_equal(other.predict(data), want), (method, more)
        read = xgb.Booster()
        read.load_model(booster.save_raw("json"))
        assert np.array_equal(read.predict(data), want), (method, more)
        further = xgb.train({**parameters, **more}, data, 2, xgb_model=read)
        assert further.num_boosted_rounds() == 6
"""


def test_models_of_every_kind_are_read_again(newer):
    newer.output_of(START + MODELS)


STOCK_METHODS = """
import hashlib, pandas as pd, scipy.sparse as sp, numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 4)).astype(np.float32)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.float32)
frame = pd.DataFrame(x, columns=list("abcd"))
csr = sp.csr_matrix(np.where(x > 0, x, 0))
digest = hashlib.sha256()
for data in (x, x.astype("f8"), np.asfortranarray(x), x.tolist(), frame, csr, csr.tocsc(), csr.tocoo()):
    for kind in (xgb.DMatrix, xgb.QuantileDMatrix):
        for method in ("hist", "approx", "exact"):
            if kind is xgb.QuantileDMatrix and method != "hist":
                continue
            matrix = kind(data, y, weight=y + 1)
            booster = xgb.train({"tree_method": method, "objective": "binary:logistic", "subsample": .5}, matrix, 4)
            digest.update(booster.save_raw("ubj"))
            digest.update(booster.predict(matrix).tobytes())
            if data is x or data is frame or data is csr:
                digest.update(booster.inplace_predict(data).tobytes())
model = xgb.XGBClassifier(n_estimators=4, tree_method="hist").fit(x, y)
digest.update(model.predict_proba(x).tobytes() + model.get_booster().save_config().encode())
digest.update(xgb.train({"booster": "gblinear", "updater": "coord_descent"}, xgb.DMatrix(x, y), 3).save_raw("ubj"))
print(digest.hexdigest())
"""


def test_stock_methods_are_untouched(newer, program):
    """Bit for bit: matrices, models, predictions and configurations."""
    assert newer.output_of("import xgboost_gpu" + STOCK_METHODS) == Interpreter(program=program).output_of(STOCK_METHODS)


DASK = """
warnings.simplefilter("ignore")
import dask.array, distributed
from xgboost import dask as dxgb
with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
    with distributed.Client(cluster) as client:
        data = dxgb.DaskDMatrix(client, dask.array.from_array(x, chunks=(100, 4)), dask.array.from_array(y, chunks=100))
        assert dxgb.train(client, {"tree_method": "hist"}, data, 2)["booster"].num_boosted_rounds() == 2
        found = dxgb.train(client, {**ours, "base_score": 0.5}, data, 3)["booster"]
alone = xgb.train({**ours, "base_score": 0.5}, xgb.DMatrix(x, y), 3)
assert found.get_dump(with_stats=True) == alone.get_dump(with_stats=True)
"""


def test_two_workers_of_dask_train_the_model_of_one_process(newer):
    pytest.importorskip("distributed")
    newer.output_of(START + DASK)
