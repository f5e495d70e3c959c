"""`take_hist()`: gpu_hist trains in the place of XGBoost's hist with device=cuda, and XGBoost where gpu_hist cannot."""

import json
import pickle
from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pytest
import xgboost as xgb
import xgboost_gpu
from support import LIBRARY, SERIES, Batches, make_data, only_since, run_python

pytestmark = only_since(300, "device=cuda is not a word of XGBoost 1.7")

X, Y = make_data(800, 6, seed=5, missing=0.05)
LABELS = (Y > np.median(Y)).astype(np.float32)
#: Small trees from a given intercept. gpu_backend is not set: device=cuda takes a GPU where there is one.
SMALL: Dict[str, Any] = {
    "max_depth": 4,
    "eta": 0.5,
    "base_score": 0.5,
    "objective": "binary:logistic",
}


@pytest.fixture
def taken() -> Iterator[None]:
    xgboost_gpu.take_hist()
    yield
    xgboost_gpu.take_hist(False)


def model(settings: Dict[str, Any], rounds: int = 3, data: Any = None, **others: Any) -> bytes:
    """The trees of a training, as they are saved."""
    booster = xgb.train(
        {**SMALL, **settings},
        xgb.DMatrix(X, LABELS) if data is None else data,
        rounds,
        **others,
    )
    return json.dumps(json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]).encode()


OURS = {"tree_method": "gpu_hist", "device": "cuda"}
STOCKS = {"tree_method": "hist", "device": "cuda"}


def differ() -> bool:
    return model({**OURS, "max_bin": 16}) != model({**STOCKS, "max_bin": 16})


def trained(words: Dict[str, Any], later: Dict[str, Any]) -> xgb.Booster:
    """A booster that is told `later` after the other words."""
    booster = xgb.Booster({**SMALL, "max_bin": 16, **words}, [data := xgb.DMatrix(X, LABELS)])
    booster.set_param(list(later.items()))
    for i in range(3):
        booster.update(data, i)
    return booster


@pytest.mark.parametrize(
    "words, later",
    [
        ({"device": "cuda"}, {}),
        ({"device": "cuda", "tree_method": "hist"}, {}),
        ({"tree_method": "hist", "device": "cuda:0"}, {}),
        ({"tree_method": "auto", "device": "gpu"}, {}),
        ({"tree_method": "exact", "device": "cpu"}, {"device": "cuda", "tree_method": "hist"}),
    ],
)
def test_hist_of_a_gpu_is_ours(taken: None, words: Dict[str, Any], later: Dict[str, Any]) -> None:
    booster = trained(words, later)
    saved = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    config = json.loads(booster.save_config())["learner"]["gradient_booster"]["xgboost_gpu_param"]
    assert config["gpu_takes"] == {**words, **later}.get("tree_method", "auto")
    xgboost_gpu.take_hist(False)
    assert json.dumps(saved).encode() == model({**OURS, "max_bin": 16})
    assert model({**OURS, "max_bin": 16}) != model({**STOCKS, "max_bin": 16}), "max_bin tells the methods apart"


@pytest.mark.parametrize(
    "words, later",
    [
        ({"tree_method": "hist"}, {}),
        ({"tree_method": "hist", "device": "cpu"}, {}),
        ({"tree_method": "approx", "device": "cuda"}, {}),
        ({"device": "cuda", "tree_method": "approx"}, {}),
        ({"device": "cuda", "booster": "gblinear", "updater": "coord_descent"}, {}),
        ({"device": "cuda"}, {"device": "cpu"}),
        ({"device": "cuda"}, {"tree_method": "approx"}),
    ],
)
def test_all_else_is_stocks(words: Dict[str, Any], later: Dict[str, Any]) -> None:
    def save() -> tuple:
        booster = trained(words, later)
        return bytes(booster.save_raw("ubj")), booster.save_config()

    want = save()
    xgboost_gpu.take_hist()
    try:
        model_saved, config = save()
    finally:
        xgboost_gpu.take_hist(False)
    assert model_saved == want[0]
    read = json.loads(config)
    # XGBoost looks for names of parameters in the configuration. Ours stand there without a word of the user's.
    section = read["learner"]["gradient_booster"].pop("xgboost_gpu_param", {})
    assert read == json.loads(want[1]) and not any(section.values())


# What gpu_hist refuses, at each place where it can refuse.
REFUSED = {
    "a value that is read at once": {
        "sampling_method": "gradient_based",
        "max_bin": 70000,
    },
    "a word that XGBoost passes over": {"predictor": "none"},
    # Since 3.2 gpu_hist grows trees of vectors, on the CPU where trees are dropped.
    "vector leaves": {
        "multi_strategy": "multi_output_tree",
        "objective": "reg:squarederror",
        **({"booster": "dart", "rate_drop": 0.5} if SERIES >= 302 else {}),
    },
}


@pytest.mark.parametrize("settings", REFUSED.values(), ids=REFUSED)
def test_stock_trains_what_is_refused(capfd: Any, settings: Dict[str, Any]) -> None:
    is_vector = "multi_strategy" in settings
    if is_vector and 302 <= SERIES < 304:
        pytest.skip("this series has no dart of trees of vectors")
    x = np.nan_to_num(X)
    data = xgb.DMatrix(x, np.stack([Y, x[:, 1]], 1) if is_vector else LABELS)
    if not is_vector or SERIES < 302:
        with pytest.raises(xgb.core.XGBoostError):
            model({**settings, **OURS}, data=data)
    want = model({**settings, **STOCKS}, data=data, evals=[(data, "train")], verbose_eval=False)
    capfd.readouterr()
    xgboost_gpu.take_hist()
    try:
        found = model(
            {**settings, **STOCKS},
            data=data,
            evals=[(data, "train")],
            verbose_eval=False,
        )
        model({**settings, **STOCKS}, data=data)
    finally:
        xgboost_gpu.take_hist(False)
    assert found == want
    lines = [line for line in "".join(capfd.readouterr()).splitlines() if "take_hist" in line]
    assert len(lines) == 1, lines
    name = next(iter(name for name in settings if name in lines[0]), None)
    assert name is not None and "hist" in lines[0], lines


@only_since(302, "gpu_hist has no trees of vectors before")
def test_trees_of_vectors_are_ours(taken: None) -> None:
    settings = {"multi_strategy": "multi_output_tree", "objective": "reg:squarederror", "max_bin": 16}
    data = xgb.DMatrix(X, np.stack([Y, LABELS], 1))
    found = model({**settings, **STOCKS}, data=data)
    xgboost_gpu.take_hist(False)
    assert found == model({**settings, **OURS}, data=data)
    assert found != model({**settings, **STOCKS}, data=data), "max_bin tells the methods apart"


def test_stock_trains_on_pages_of_its_own(capfd: Any, tmp_path: Path) -> None:
    """XGBoost with a GPU refuses pages that were made on the CPU."""
    data = xgb.ExtMemQuantileDMatrix(Batches(X, LABELS, [300, 600], cache=str(tmp_path / "pages")), max_bin=64)

    def outcome() -> Any:
        try:
            return model({**STOCKS, "max_bin": 64}, data=data)
        except xgb.core.XGBoostError as error:
            return str(error).split("Stack trace")[0].split("Check failed")[-1]

    want = outcome()
    xgboost_gpu.take_hist()
    try:
        assert outcome() == want
    finally:
        xgboost_gpu.take_hist(False)
    assert "take_hist" in "".join(capfd.readouterr())


def test_stocks_errors_are_stocks(taken: None) -> None:
    with pytest.raises(xgb.core.XGBoostError, match="max_depth"):
        model({**STOCKS, "max_depth": -1})
    with pytest.raises(xgb.core.XGBoostError, match="label"):
        xgb.train(STOCKS, xgb.DMatrix(X[:10]), 1)


def test_estimators(taken: None) -> None:
    fitted = xgb.XGBClassifier(n_estimators=3, device="cuda", max_bin=16, **{**SMALL, "objective": None}).fit(X, LABELS)
    assert fitted.get_params()["device"] == "cuda" and fitted.get_params()["tree_method"] is None
    back = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(back.predict_proba(X), fitted.predict_proba(X))
    xgboost_gpu.take_hist(False)
    same = xgb.XGBClassifier(n_estimators=3, max_bin=16, **{**SMALL, **OURS, "objective": None}).fit(X, LABELS)
    assert np.array_equal(same.predict_proba(X), fitted.predict_proba(X))
    assert same.get_booster().get_dump(with_stats=True) == fitted.get_booster().get_dump(with_stats=True)


def test_a_booster_trains_on_with_stock(taken: None) -> None:
    data = xgb.DMatrix(X, LABELS)
    booster = xgb.train({**SMALL, **STOCKS}, data, 2)
    booster.set_param({"max_bin": 70000})
    booster.update(data, 2)
    booster.set_param({"max_bin": 16})
    booster.update(data, 3)
    assert booster.num_boosted_rounds() == 4
    assert (
        json.loads(booster.save_config())["learner"]["gradient_booster"].get("xgboost_gpu_param", {}).get("tree_method")
        is None
    )


PROGRAM = """
import numpy as np, xgboost as xgb
x = np.random.default_rng(0).normal(size=(300, 4))
try:
    booster = xgb.train({"device": "cuda", "verbosity": 0}, xgb.DMatrix(x, x[:, 0]), 3)
    print("OURS" if "xgboost_gpu_param" in booster.save_config() else "STOCKS")
except xgb.core.XGBoostError as error:
    print(error)
"""


@pytest.mark.parametrize("value, ours", [("1", True), ("0", False), ("", False)])
def test_the_environment_says_it(value: str, ours: bool) -> None:
    output = run_python(PROGRAM, library=LIBRARY, XGBGPU_TAKE_HIST=value).stdout
    assert output.split()[-1] == ("OURS" if ours else "STOCKS"), output


def test_another_value_of_the_environment_is_an_error() -> None:
    output = run_python(PROGRAM, library=LIBRARY, XGBGPU_TAKE_HIST="yes").stdout
    assert "XGBGPU_TAKE_HIST is 'yes'; allowed: 0, 1" in output, output
