"""What XGBoost and the library say, and what they do not: no false alarm, and each true one once."""

import pickle

import numpy as np
import pytest
import xgboost as xgb
from support import BACKEND, LIBRARY, OURS, SERIES, make_data, only_ours, params, raw, run_python, train

X, Y = make_data(120, 4)
PREDICTORS = ["gpu_predictor", "cpu_predictor", "auto"] if SERIES < 200 else []
FALSE_ALARMS = ("not used", "DANGER", "Stack trace")


@pytest.fixture
def data() -> xgb.DMatrix:
    return xgb.DMatrix(X, Y)


def spoken(capfd) -> str:
    captured = capfd.readouterr()
    return captured.out + captured.err


def assert_silent(text: str) -> None:
    assert text.strip() == "", text


@only_ours
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"gpu_id": 0},
        {"n_gpus": 1},
        *({"predictor": name} for name in PREDICTORS),
        {
            "n_gpus": 1,
            "gpu_id": 0,
            **({"predictor": "gpu_predictor"} if PREDICTORS else {}),
            "max_bin": 64,
            "grow_policy": "lossguide",
            "max_leaves": 5,
        },
        {"booster": "dart", "rate_drop": 0.2},
        {"subsample": 0.5, "sampling_method": "uniform", "colsample_bylevel": 0.5},
        {"validate_parameters": True},
    ],
    ids=str,
)
def test_our_parameters_raise_no_alarm(data: xgb.DMatrix, capfd, settings: dict) -> None:
    booster = train(data, 2, **settings)
    booster.set_param({"max_depth": 3})
    booster.update(data, 2)
    booster.copy().predict(data)
    text = spoken(capfd)
    assert not any(alarm in text for alarm in FALSE_ALARMS), text


@only_ours
def test_a_device_raises_no_alarm_before_or_after_the_method(data: xgb.DMatrix, capfd) -> None:
    """A booster that goes to `hist`, too, has no word of the library that XGBoost might complain of."""
    before = xgb.train({"device": "cpu", **params(gpu_backend="auto")}, data, 1)
    after = xgb.train({**params(gpu_backend="auto"), "device": "cpu"}, data, 1)
    assert raw(before) == raw(after)
    before.copy().update(data, 1)
    text = spoken(capfd)
    assert not any(alarm in text for alarm in FALSE_ALARMS), text
    after.set_param({"tree_method": "hist", "validate_parameters": True})
    after.update(data, 1)
    pickle.loads(pickle.dumps(after)).update(data, 2)
    text = spoken(capfd)
    assert "gpu_device" not in text and "DANGER" not in text, text


def test_an_ordinary_training_is_silent(data: xgb.DMatrix, capfd) -> None:
    booster = train(data, 3, max_depth=3)
    booster.predict(data)
    booster[0:2].predict(data)
    booster.copy().update(data, 3)
    booster.inplace_predict(X)
    xgb.XGBRegressor(n_estimators=2, **params()).fit(X, Y).predict(X)
    assert_silent(spoken(capfd))


def test_a_misspelt_parameter_is_still_reported(data: xgb.DMatrix, capfd) -> None:
    train(data, 1, max_dept=3)
    text = spoken(capfd)
    assert "max_dept" in text and "not used" in text
    for ours in ("gpu_backend", "tree_method"):
        assert ours not in text


@only_ours
def test_our_parameters_are_reported_where_another_method_trains(data: xgb.DMatrix, capfd) -> None:
    # gpu_backend belongs to gpu_hist. With hist it is of no use, and whoever writes it may be told; never an error.
    booster = xgb.train({"tree_method": "hist", "gpu_backend": "host"}, data, 1)
    assert booster.num_boosted_rounds() == 1
    assert "DANGER" not in spoken(capfd)


def test_verbosity_zero_is_silent_and_two_is_harmless(data: xgb.DMatrix, capfd) -> None:
    dropped = {"single_precision_histogram": True} if OURS else {}
    train(data, 2, verbosity=0, **dropped)
    assert_silent(spoken(capfd))
    try:
        train(data, 2, verbosity=2)
    finally:
        xgb.set_config(verbosity=1)  # a booster's verbosity is the process's
    text = spoken(capfd)
    assert "DANGER" not in text and "rror" not in text


def test_the_global_verbosity_is_left_as_it_was(data: xgb.DMatrix) -> None:
    for level in (0, 1, 2):
        with xgb.config_context(verbosity=level):
            train(data, 1)
            assert xgb.get_config()["verbosity"] == level


@only_ours
@pytest.mark.parametrize(
    "name, value",
    [
        ("deterministic_histogram", False),
        ("single_precision_histogram", True),
        ("gpu_page_size", 1024),
        ("gpu_batch_nrows", -1),
        *([("sketch_ratio", 2.0)] if SERIES < 302 else []),  # then it is none of XGBoost's
        ("sparse_threshold", 0.2),
    ],
)
def test_a_dropped_parameter_is_accepted_with_a_line(name: str, value) -> None:
    """In a process of its own, since a line is said once."""
    code = f"""
import numpy as np, xgboost as xgb
x = np.arange(80.).reshape(40, 2); y = np.sin(x[:, 0])
expected = xgb.train({params()!r}, xgb.DMatrix(x, y), 2)
booster = xgb.train({params(**{name: value})!r}, xgb.DMatrix(x, y), 2)
assert booster.get_dump(with_stats=True) == expected.get_dump(with_stats=True)
"""
    done = run_python(code, library=LIBRARY)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    in_silence = name in ("sketch_ratio", "sparse_threshold")  # stock 1.7.4 accepts these itself
    assert len(lines) == (0 if in_silence else 1), lines
    assert in_silence or f"parameter {name} has no effect" in lines[0]


@only_ours
@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
@pytest.mark.parametrize("constraints", ["(1,0)", "(0,0)"])
def test_medians_that_may_break_constraints_are_reported_once(method: str, constraints: str) -> None:
    code = f"""
import numpy as np, xgboost as xgb
x = np.arange(80.).reshape(40, 2); data = xgb.DMatrix(x, np.sin(x[:, 0]))
settings = {params(objective="reg:absoluteerror", eta=1, monotone_constraints=constraints)!r}
for _ in range(2):
    xgb.train({{**settings, "tree_method": "{method}"}}, data, 2)
"""
    done = run_python(code, library=LIBRARY)
    may_break = method == "gpu_hist" and constraints == "(1,0)" and SERIES < 304
    assert (done.stdout + done.stderr).count("predictions may break the constraints") == int(may_break)


@pytest.mark.parametrize(
    "objective, settings",
    [("binary:logistic", {}), ("multi:softprob", {"num_class": 3})],
    ids=["one class only", "a class without rows"],
)
def test_an_area_that_is_none_is_reported_as_in_stock(capfd, objective: str, settings: dict) -> None:
    label = np.zeros(len(Y)) if objective == "binary:logistic" else (Y > 0).astype(np.float32)
    data, seen = xgb.DMatrix(X, label), {}
    how = params(objective=objective, eval_metric="auc", base_score=0.5, **settings)  # 3.0 refuses its own estimate of 0
    xgb.train(how, data, 3, evals=[(data, "train")], evals_result=seen, verbose_eval=False)
    assert np.isnan(seen["train"]["auc"]).all()
    assert spoken(capfd).count("contains only positive or negative samples") == 3
    with xgb.config_context(verbosity=0):
        xgb.train(how, data, 3, evals=[(data, "train")], verbose_eval=False)
    assert_silent(spoken(capfd))


@only_ours
def test_an_area_under_precision_and_recall_that_is_none_is_reported(capfd) -> None:
    data = xgb.DMatrix(X, np.ones(len(Y)))  # stock: an error that says "auc <= local_area (nan vs. 1)"
    booster = train(data, 2, objective="binary:logistic", eval_metric="aucpr", base_score=0.5)
    assert booster.eval(data).endswith("aucpr:nan")
    assert "contains only positive or negative samples" in spoken(capfd)


AUTO = """
import pickle
import numpy as np, xgboost as xgb
x = np.arange(80.).reshape(40, 2); y = np.sin(x[:, 0])
settings = {"tree_method": "gpu_hist", SETTING}
for _ in range(3):
    booster = xgb.train(settings, xgb.DMatrix(x, y), 3)
    booster.set_param({"max_depth": 2}); booster.update(xgb.DMatrix(x, y), 3)
    booster = pickle.loads(pickle.dumps(booster)); booster.copy().predict(xgb.DMatrix(x))
xgb.XGBRegressor(n_estimators=2, **settings).fit(x, y)
if not xgb.__version__.startswith("3.4"):  # it says that the name is an old one
    xgb.train({**settings, "booster": "dart"}, xgb.DMatrix(x, y), 3)
"""


@only_ours
@pytest.mark.skipif(BACKEND != "host", reason="with a device, auto has nothing to warn of")
@pytest.mark.parametrize("setting", ["", "'gpu_backend': 'auto'"], ids=["default", "auto"])
def test_auto_without_a_device_warns_once_per_process(setting: str) -> None:
    done = run_python(AUTO.replace("SETTING", setting), library=LIBRARY)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert len(lines) == 1, lines
    assert "WARNING" in lines[0] and "gpu_backend" in lines[0] and "host" in lines[0]


@only_ours
def test_host_has_nothing_to_warn_of() -> None:
    done = run_python(AUTO.replace("SETTING", "'gpu_backend': 'host'"), library=LIBRARY)
    assert_silent(done.stdout + done.stderr)


@only_ours
def test_loading_the_library_says_nothing() -> None:
    code = """
import numpy as np, xgboost as xgb
x = np.arange(80.).reshape(40, 2)
for method in ("exact", "hist", "approx"):
    xgb.train({"tree_method": method}, xgb.DMatrix(x, x[:, 0]), 2)
"""
    done = run_python(code, library=LIBRARY)
    assert_silent(done.stdout + done.stderr)


@only_ours
def test_a_large_gpu_id_is_accepted_where_there_is_no_device(data: xgb.DMatrix) -> None:
    if BACKEND != "host":
        pytest.skip("ordinals of devices matter with a device")
    expected = train(data, 2)
    for ordinal in (0, 1, 9999):
        booster = train(data, 2, gpu_id=ordinal)
        assert np.array_equal(booster.predict(data), expected.predict(data))
