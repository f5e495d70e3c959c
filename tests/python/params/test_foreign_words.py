"""Words of LightGBM, CatBoost and other versions of XGBoost: each is answered once, with what to write here."""

import re
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import BACKEND, LIBRARY, SERIES, boost, make_data, name_of_series, only_before, only_ours, params, raw, run_python

ROOT = Path(__file__).parents[3]
X, Y = make_data(120, 3)
pytestmark = only_ours

# Names that XGBoost 1.7 has, too, or that its functions take, so that there is nothing to say of them.
SHARED = {
    "learning_rate", "max_depth", "max_leaves", "max_bin", "subsample", "grow_policy", "top_rate", "other_rate",
    "skip_drop", "monotone_constraints", "interaction_constraints", "max_cat_to_onehot", "max_cat_threshold",
    "objective", "scale_pos_weight", "pred_leaf", "pred_contribs",
}  # fmt: skip


def foreign_names() -> List[str]:
    """The parameters in the first columns of the two tables of docs/migrating.md."""
    text = (ROOT / "docs/migrating.md").read_text(encoding="utf-8")
    text = "".join(part for part in text.split("\n## ") if part.startswith(("From LightGBM", "From CatBoost")))
    firsts = re.findall(r"^\| ([^|]*`[^|]*) \|", text, re.MULTILINE)
    names = {name for first in firsts for name in re.findall(r"`(?:predict\()?([a-z][a-z0-9_]+)", first)}
    return sorted(names - SHARED)


def lines_of(code: str, **settings: Any) -> List[str]:
    """What a new process says that trains with `settings`, `code` after it."""
    program = f"""
import sys
sys.path.append({str(ROOT / "python")!r})
import numpy as np, pickle, xgboost as xgb, xgboost_gpu
x = np.random.default_rng(0).normal(size=(60, 3)); y = x[:, 0]
params = {settings!r}
booster = xgb.train(params, xgb.DMatrix(x, y), 2)
{code}
"""
    done = run_python(program, XGBGPU_LIBRARY=LIBRARY)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def test_every_name_of_the_tables_gets_a_line() -> None:
    names = foreign_names()
    assert len(names) > 50 and {"num_leaves", "cat_features", "bagging_fraction", "od_wait"} <= set(names)
    lines = lines_of("", **params(**{name: 1 for name in names}))
    for name in names:
        said = [line for line in lines if f"parameter {name} " in line]
        assert len(said) == 1 and ("Write " in said[0] or "leave it out" in said[0]), (name, said)
    assert len(lines) == len(names), lines  # none of stock's beside them


OF_XGBOOST_2 = [
    ("expectile_alpha", 0.5, ""),
    ("quantile_alpha", 0.5, ""),
    ("multi_strategy", "multi_output_tree", ""),
]


@pytest.mark.parametrize(
    "name, value, instead",
    [
        ("num_leaves", 31, "max_leaves with grow_policy=lossguide"),
        ("num_iterations", 100, "num_boost_round"),
        ("iterations", 100, "n_estimators"),
        ("n_estimators", 100, "num_boost_round"),
        ("early_stopping_round", 5, "early_stopping_rounds"),
        ("boosting", "dart", "booster=dart."),
        ("boosting", "gbdt", "booster=gbtree."),
        ("categorical_feature", [0, 1], "enable_categorical=True"),
        ("cat_features", [0, 1], "enable_categorical=True"),
        ("depth", 6, "max_depth"),
        ("l2_leaf_reg", 3, "reg_lambda"),
        ("lambda_l1", 1, "reg_alpha"),
        ("min_data_in_leaf", 20, "min_child_weight"),
        ("border_count", 254, "max_bin"),
        ("loss_function", "Logloss", "objective=binary:logistic."),
        ("loss_function", "MultiClass", "objective=multi:softprob."),
        ("metric", "binary_logloss", "eval_metric=logloss."),
        ("metric", ["auc", "l2"], "eval_metric."),
        ("task_type", "GPU", "tree_method=gpu_hist"),
        ("device_type", "cuda", "tree_method=gpu_hist"),
        *(OF_XGBOOST_2 if SERIES < 200 else []),
    ],
    ids=str,
)
def test_a_name_of_elsewhere_gets_one_line(name: str, value: Any, instead: str) -> None:
    again = """
booster.set_param(params); booster.update(xgb.DMatrix(x, y), 2); booster.copy().predict(xgb.DMatrix(x))
pickle.loads(pickle.dumps(booster)).save_config()
xgb.XGBRegressor(**{**params, "n_estimators": 2}).fit(x, y)
xgb.cv(params, xgb.DMatrix(x, y), 2, nfold=2)
"""
    lines = lines_of(again, **params(**{name: value}))
    assert len(lines) == 1, lines
    assert f"parameter {name}" in lines[0] and "has no effect here" in lines[0]
    assert f"Write {instead}" in lines[0] if instead.endswith(".") else instead in lines[0]


def test_a_name_of_elsewhere_changes_no_model() -> None:
    data = xgb.DMatrix(X, Y)
    plain = xgb.train(params(), data, 3)
    with xgb.config_context(verbosity=0):
        other = xgb.train(params(num_leaves=3, depth=2, lambda_l2=9, bagging_fraction=0.5, num_trees=1), data, 3)
    assert raw(other) == raw(plain)


def test_a_stock_booster_hears_what_xgboost_says() -> None:
    lines = lines_of("", tree_method="hist", num_leaves=31, cat_features=[0])
    assert not any("xgboost-gpu" in line for line in lines)
    assert any('"cat_features", "num_leaves" } are not used' in line for line in lines)


@only_before(200, "device is a parameter of XGBoost")
@pytest.mark.parametrize("device, instead", [("cuda", ""), ("cuda:1", ", gpu_id=1")])
def test_a_stock_booster_hears_of_device_once(device: str, instead: str) -> None:
    lines = lines_of("pickle.loads(pickle.dumps(booster)).save_config()", tree_method="hist", device=device)
    assert len(lines) == 1 and f'Write tree_method="gpu_hist"{instead}.' in lines[0]


def test_a_device_that_contradicts_the_backend_is_an_error() -> None:
    with pytest.raises(xgb.core.XGBoostError, match="device is 'cuda:1' and gpu_backend is 'host'; allowed: one of both"):
        xgb.train(params(device="cuda:1", gpu_backend="host"), xgb.DMatrix(X, Y), 1)


ADVICE = [
    ({"objective": "binary"}, "binary:logistic"),
    ({"objective": "regression"}, "reg:squarederror"),
    ({"objective": "lambdarank"}, "rank:ndcg"),
    ({"objective": "RMSE"}, "reg:squarederror"),
    ({"objective": "Logloss"}, "binary:logistic"),
    ({"objective": "Tweedie:variance_power=1.5"}, "reg:tweedie"),
    ({"objective": "Reg:SquaredError"}, "reg:squarederror"),
    ({"eval_metric": "AUC"}, "auc"),
    ({"eval_metric": "multi_logloss"}, "mlogloss"),
    ({"booster": "gbdt"}, "gbtree"),
    ({"grow_policy": "SymmetricTree"}, "symmetric"),
    ({"grow_policy": "Depthwise"}, "depthwise"),
    ({"grow_policy": "LossGuide"}, "lossguide"),
    ({"sampling_method": "GOSS"}, "goss"),
]
QUANTILES, EXPECTILES = ["quantile", "Quantile:alpha=0.9"], ["expectile", "Expectile:alpha=0.9"]
if SERIES >= 200:
    ADVICE += [({"objective": value}, "reg:quantileerror with quantile_alpha") for value in QUANTILES]
if SERIES >= 303:
    ADVICE += [({"objective": value}, "reg:expectileerror with expectile_alpha") for value in EXPECTILES]
#: Objectives that no objective of this series is like.
UNLIKE = ["fair", "MAPE"]
if SERIES < 200:
    UNLIKE += [*QUANTILES, "reg:quantileerror"]
if SERIES < 303:
    UNLIKE += [*EXPECTILES, "reg:expectileerror"]


def messages_of(settings: Dict[str, Any]) -> List[str]:
    """What a booster with `settings` answers, whichever of its functions is called first."""
    data, messages = xgb.DMatrix(X, Y), []
    for ask in (
        lambda booster: booster.update(data, 0),
        lambda booster: boost(booster, data, np.ones(len(Y)), np.ones(len(Y))),
        lambda booster: booster.predict(data),
        lambda booster: booster.inplace_predict(X),
        lambda booster: booster.eval(data),
        lambda booster: booster.copy(),
        lambda booster: booster.save_config(),
        lambda booster: booster.num_features(),
        lambda booster: booster.num_boosted_rounds(),
    ):
        with pytest.raises(xgb.core.XGBoostError) as error:
            ask(xgb.Booster(settings, [data]))
        messages.append(str(error.value))
    return messages


@pytest.mark.parametrize("settings, instead", ADVICE, ids=str)
def test_a_value_of_elsewhere_says_what_to_write(settings: Dict[str, Any], instead: str) -> None:
    ((name, value),) = settings.items()
    for message in messages_of(params(**settings)):
        assert f"Parameter {name} is '{value}'" in message and message.endswith(f"; write {instead}"), message
        assert "candidate" not in message and "Stack trace" not in message


@pytest.mark.parametrize("settings, instead", ADVICE[:12], ids=str)
def test_a_value_that_is_set_later_says_what_to_write(settings: Dict[str, Any], instead: str) -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.train(params(), data, 1)
    booster.set_param(settings)
    with pytest.raises(xgb.core.XGBoostError, match=f"; write {re.escape(instead)}$"):
        booster.update(data, 1)


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
@pytest.mark.parametrize("value", UNLIKE)
def test_an_objective_that_nothing_is_like(value: str, method: str) -> None:
    how = {"tree_method": method, "gpu_backend": BACKEND, "objective": value}
    without = f"which XGBoost {name_of_series(SERIES)} does not have; .*objective of your own"
    with pytest.raises(xgb.core.XGBoostError, match=without) as error:
        xgb.train(how, xgb.DMatrix(X, Y), 1)
    assert f"objective is '{value}'" in str(error.value)
    with pytest.raises(xgb.core.XGBoostError, match="objective of your own"):
        xgb.XGBRegressor(n_estimators=1, **how).fit(X, Y)


@pytest.mark.parametrize("settings", [{"objective": "binary"}, {"eval_metric": "AUC"}, {"booster": "gbdt"}], ids=str)
def test_a_stock_booster_gets_the_words_of_xgboost(settings: Dict[str, Any]) -> None:
    for message in messages_of({"tree_method": "hist", **settings}):
        assert "nknown" in message and "write" not in message


def test_a_word_that_nobody_has_gets_the_words_of_xgboost() -> None:
    for settings in ({"objective": "of mine"}, {"eval_metric": "mine"}):
        assert all("Unknown " in message for message in messages_of(params(**settings)))


LISTS = [[1, 0, -1], np.array([1, 0, -1]), np.array([1, 0, -1], np.int8)]


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
@pytest.mark.parametrize("given", LISTS, ids=repr)
def test_a_list_of_directions_is_taken(given: Any, method: str) -> None:
    data, how = xgb.DMatrix(X, Y), {"tree_method": method, "gpu_backend": BACKEND}
    expected = raw(xgb.train({**how, "monotone_constraints": (1, 0, -1)}, data, 3))
    assert expected != raw(xgb.train(how, data, 3))
    assert raw(xgb.train({**how, "monotone_constraints": given}, data, 3)) == expected
    assert raw(xgb.train([*how.items(), ("monotone_constraints", given)], data, 3)) == expected
    model = xgb.XGBRegressor(n_estimators=3, learning_rate=0.3, monotone_constraints=given, **how).fit(X, Y)
    assert raw(model.get_booster()) == expected


@pytest.mark.parametrize("given", [[[0, 1]], [(0, 1)], [np.array([0, 1])], ((0, 1),)], ids=repr)
def test_sets_of_column_numbers_are_taken(given: Any) -> None:
    data = xgb.DMatrix(X, Y, feature_names=["a", "b", "c"])
    expected = raw(xgb.train(params(interaction_constraints="[[0, 1]]"), data, 3))
    assert expected != raw(xgb.train(params(), data, 3))
    assert raw(xgb.train(params(interaction_constraints=given), data, 3)) == expected
    assert raw(xgb.train(params(interaction_constraints=[["a", "b"]]), data, 3)) == expected
    assert xgb.XGBRegressor(n_estimators=2, interaction_constraints=given, **params()).fit(X, Y).n_features_in_ == 3


@pytest.mark.parametrize("given", [[2, 0, 0], [0.5, 0, 0], ["1", "up", "0"]], ids=repr)
def test_a_list_of_something_else_says_what_is_allowed(given: List) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=r"monotone_constraints is .*allowed: -1, 0 or 1 for each column"):
        xgb.train(params(monotone_constraints=given), xgb.DMatrix(X, Y), 1)


def test_stock_methods_take_what_they_took() -> None:
    data = xgb.DMatrix(X, Y)
    with pytest.raises(AttributeError):
        xgb.train({"tree_method": "hist", "monotone_constraints": [1, 0, 0]}, data, 1)
    with pytest.raises(ValueError):
        xgb.train({"tree_method": "hist", "interaction_constraints": [[0, 1]]}, data, 1)
