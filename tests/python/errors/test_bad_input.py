"""Wrong parameters and wrong data raise an XGBoostError that says what is wrong, which value, and what is allowed.

After each error the process lives and the booster is as before the call: it has the same bytes and predictions, and
training goes on as if nothing had happened. (As in stock, a wrong parameter stays set until it is set again.)
"""

import os
import re

import numpy as np
import pytest
import xgboost as xgb
from support import (
    BACKEND,
    OURS,
    SERIES,
    assert_same_trees,
    boost,
    fresh,
    make_data,
    only_ours,
    ours_since,
    params,
    raw,
    train,
    trees_of,
)

X, Y = make_data(200, 4)
Error = xgb.core.XGBoostError


@pytest.fixture
def data() -> xgb.DMatrix:
    return xgb.DMatrix(X, Y)


def message_of(error: pytest.ExceptionInfo) -> str:
    """Returns what a user reads: the text before stock XGBoost's stack trace, if there is one."""
    return str(error.value).split("Stack trace")[0]


def assert_says(error: pytest.ExceptionInfo, *words: str) -> None:
    text = message_of(error)
    for word in words:
        assert re.search(word, text, re.IGNORECASE), f"no {word!r} in: {text}"


# name, value, how to set it right again, words that the message must have: what, which value, what is allowed
WRONG_VALUES = [
    ("max_bin", -1, 256, ["max_bin", "-1", r"\b2\b"]),
    ("max_bin", 0, 256, ["max_bin", r"\b0\b", r"\b2\b"]),
    ("max_bin", 1, 256, ["max_bin", r"\b1\b", r"\b2\b"]),
    ("max_bin", 10**12, 256, ["max_bin", "1000000000000"]),
    ("max_bin", "many", 256, ["max_bin", "many", "int|number"]),
    ("max_bin", 2.5, 256, ["max_bin", "2.5", "int"]),
    ("max_depth", -1, 6, ["max_depth", "-1", r"\b0\b"]),
    ("max_leaves", -2, 0, ["max_leaves", "-2", r"\b0\b"]),
    ("eta", -0.5, 0.3, ["learning_rate|eta", "-0.5", r"\b0\b"]),
    ("learning_rate", "quick", 0.3, ["learning_rate", "quick"]),
    ("lambda", -1, 1, ["reg_lambda|lambda", "-1", r"\b0\b"]),
    ("alpha", -1, 0, ["reg_alpha|alpha", "-1", r"\b0\b"]),
    ("gamma", -1, 0, ["min_split_loss|gamma", "-1", r"\b0\b"]),
    ("min_child_weight", -3, 1, ["min_child_weight", "-3", r"\b0\b"]),
    ("max_delta_step", -1, 0, ["max_delta_step", "-1", r"\b0\b"]),
    ("subsample", 1.5, 1, ["subsample", "1.5", r"\b1\b"]),
    ("subsample", -0.5, 1, ["subsample", "-0.5", r"\b1\b"]),
    ("colsample_bytree", 1.5, 1, ["colsample_bytree", "1.5", r"\b1\b"]),
    ("colsample_bylevel", -0.5, 1, ["colsample_bylevel", "-0.5", r"\b1\b"]),
    ("colsample_bynode", 2, 1, ["colsample_bynode", r"\b2\b", r"\b1\b"]),
    ("grow_policy", "sideways", "depthwise", ["sideways", "depthwise", "lossguide"]),
    *([("predictor", "oracle", "auto", ["oracle", "cpu_predictor", "gpu_predictor"])] if SERIES < 200 else []),
    ("tree_method", "gpu_guess", None, ["gpu_guess", "hist", "exact"]),
]
OUR_WRONG_VALUES = [  # stock lets these pass, or does not know them, or says less
    ("learning_rate", "fast", 0.3, ["learning_rate", "fast"]),
    ("num_parallel_tree", 0, 1, ["num_parallel_tree", r"\b0\b", r"\b1\b"]),
    ("num_parallel_tree", "x", 1, ["num_parallel_tree", "'x'", r"\b1\b"]),
    ("nthread", 10**6, 1, ["nthread", "1000000", "4096"]),
    *(("tree_method", wrong, None, ["tree_method", f"'{wrong}'", "gpu_hist(,| or) gpu_exact"]) for wrong in ("gpuhist", "")),
    *([("predictor", "gpu", "auto", ["predictor", "'gpu'", "auto, cpu_predictor, gpu_predictor"])] if SERIES < 200 else []),
    ("process_type", "refresh", "default", ["process_type", "'refresh'", "default, update"]),
    ("sample_type", "some", "uniform", ["sample_type", "'some'", "uniform, weighted"]),
    ("normalize_type", "", "tree", ["normalize_type", "''", "tree, forest"]),
    *(
        (name, wrong, 0, [name, str(wrong), "0 to 1"])
        for name in ("rate_drop", "skip_drop")
        for wrong in (-0.5, 1.5, "nan")
    ),
    *(("scale_pos_weight", wrong, 1, ["scale_pos_weight", str(wrong), r"\b0\b"]) for wrong in (-1, "nan", "inf")),
    *(("huber_slope", wrong, 1, ["huber_slope", str(wrong), "finite"]) for wrong in (0, "nan", "inf")),
    *(
        ("aft_loss_distribution_scale", wrong, 1, ["aft_loss_distribution_scale", str(wrong), "larger than 0"])
        for wrong in (0, -1, "nan")
    ),
    *(("tweedie_variance_power", wrong, 1.5, ["tweedie_variance_power", str(wrong), "less than 2"]) for wrong in (2, "nan")),
    *(("num_pairsample", wrong, 1, ["num_pairsample", f"'{wrong}'", "1 to 999999999"]) for wrong in (-1, 10**9)),
    ("fix_list_weight", "nan", 0, ["fix_list_weight", "nan", "0 or larger"]),
    *((name, "0x10", right, ["min_split_loss|" + name, "'0x10'", "decimal"]) for name, right in (("gamma", 0), ("top_rate", 0.2), ("rate_drop", 0))),
    *(("subsample", wrong, 1, ["subsample", f"'{wrong}'", "from 1.18e-38 to 3.4e38"]) for wrong in ("1e-50", "1e39")),
    *(("eta", wrong, 0.3, ["learning_rate", f"'{wrong}'", "as 1e20"]) for wrong in (2**64, f"0.{'0' * 30}1")),
    ("nthread", "5000 ", 1, ["nthread", "'5000 '", "4096"]),
    ("max_cat_to_onehot", 0, 4, ["max_cat_to_onehot", r"\b0\b", r"\b1\b"]),
    ("max_cat_to_onehot", -1, 4, ["max_cat_to_onehot", "'-1'", "1 to 2147483647"]),
    ("max_cat_threshold", -1, 64, ["max_cat_threshold", "-1", r"\b1\b"]),
    ("updater", "grow_gpu_hist,grow_gpu_hist", "grow_gpu_hist", ["updater", "grow_gpu_hist,grow_gpu_hist", "one updater"]),
    ("updater", "grow_colmaker,grow_gpu_hist", "grow_gpu_hist", ["updater", "grow_colmaker", "one updater"]),
    *(("updater", wrong, "", ["updater", f"'{wrong}'", "names of updaters"]) for wrong in (",", ",prune", "grow_gpu_hist,,prune", "grow", "sync", "sync,sync", "sync,prune", "refresh,sync")),
    ("gpu_id", -2, -1, ["gpu_id", "-2", "-1"]),
    ("fail_on_invalid_gpu_id", "maybe", "false", ["fail_on_invalid_gpu_id", "maybe", "boolean"]),
    *((name, wrong, 0, [name, f"'{re.escape(wrong)}'", "such as 16GiB"]) for name in ("gpu_memory_limit", "gpu_host_memory_limit") for wrong in ("-1", "much", "1P", "1e9", "0.5", "2000TiB", " ", "")),
    ("gpu_trace", "/no/such/folder/trace.json", "", ["gpu_trace", "/no/such/folder/trace.json", "writable file"]),
    ("gpu_backend", "rocm", BACKEND, ["gpu_backend", "rocm", "auto", "cuda", "host"]),
    ("gpu_backend", "", BACKEND, ["gpu_backend", "auto", "cuda", "host"]),
    ("gpu_backend", "HOST", BACKEND, ["gpu_backend", "HOST", "auto", "cuda"]),
    ("max_bin", 65536, 256, ["max_bin", "65536", "65535"]),
    ("max_bin", 2**31 - 1, 256, ["max_bin", "2147483647", "65535"]),
    ("subsample", 0, 1, ["subsample", r"\b0\b", r"\b1\b"]),
    ("colsample_bytree", 0, 1, ["colsample_bytree", r"\b0\b", r"\b1\b"]),
    ("subsample", "nan", 1, ["subsample", "nan"]),
    ("eta", "nan", 0.3, ["learning_rate|eta", "nan"]),
    ("eta", "inf", 0.3, ["learning_rate|eta", "inf"]),
    ("lambda", "nan", 1, ["reg_lambda|lambda", "nan"]),
    ("alpha", "nan", 0, ["reg_alpha|alpha", "nan"]),
    ("gamma", "nan", 0, ["min_split_loss|gamma", "nan"]),
    ("min_child_weight", "nan", 1, ["min_child_weight", "nan"]),
    ("max_delta_step", "nan", 0, ["max_delta_step", "nan"]),
    ("n_gpus", -2, 1, ["n_gpus", "-2", r"\b1\b"]),
    ("n_gpus", "two", 1, ["n_gpus", "two"]),
    ("sampling_method", "dice", "uniform", ["dice", "uniform", "gradient_based", "goss"]),
    ("top_rate", 0.4, 0.2, ["top_rate", "0.4", "goss", "uniform"]),
    *((name, x, right, [f"{name} is '{x}'", "larger than 0, less than 1"]) for name, right in (("top_rate", 0.2), ("other_rate", 0.1)) for x in (-1, 0, 1, "nan")),
    *(
        ("monotone_constraints", wrong, "()", ["monotone_constraints", re.escape(wrong), "-1, 0 or 1"])
        for wrong in ("(2,0)", "(1,-2)", "(1,,0)", "(1.5)", "(1,0", "[1,0)", "1,0", "up", "(up)", "{'a': 1}")
    ),
    ("monotone_constraints", "(" + "0," * 99 + "1)", "()", ["monotone_constraints", "100 elements", "features"]),
    *(
        ("interaction_constraints", wrong, "", ["interaction_constraints", re.escape(wrong), "column numbers"])
        for wrong in ("[[0,1]", "0,1", "[0,1]", "[[0],1]", '[["a"]]', "[[0.5]]", "[[-1]]", "[[4294967295]]", "{}")
    ),
    ("interaction_constraints", "[[0,1],[99]]", "", ["interaction_constraints", "feature 99", "features"]),
]
EVERYTHING = WRONG_VALUES + (OUR_WRONG_VALUES if OURS else [])


@pytest.mark.parametrize(
    "name, wrong, right, words", EVERYTHING, ids=[f"{name}={wrong}" for name, wrong, _, _ in EVERYTHING]
)
def test_wrong_value_on_a_live_booster(data: xgb.DMatrix, name: str, wrong, right, words: list) -> None:
    booster, twin = train(data, 2), train(data, 2)
    bytes_before, predicted_before = raw(booster), booster.predict(data)
    right = params()["tree_method"] if right is None else right
    for _ in range(2):  # it must fail the second time, too
        with pytest.raises(Error) as error:
            booster.set_param({name: wrong})
            booster.update(data, 2)
        assert_says(error, *words)
    booster.set_param({name: right})
    assert raw(booster) == bytes_before
    assert np.array_equal(booster.predict(data), predicted_before)
    for one in (booster, twin):
        one.update(data, 2)
    assert_same_trees(booster, twin)


@pytest.mark.parametrize(
    "name, wrong, right, words", EVERYTHING, ids=[f"{name}={wrong}" for name, wrong, _, _ in EVERYTHING]
)
def test_wrong_value_from_the_beginning(data: xgb.DMatrix, name: str, wrong, right, words: list) -> None:
    with pytest.raises(Error) as error:
        xgb.train({**params(), name: wrong}, data, 2)
    assert_says(error, *words)


@only_ours
@pytest.mark.skipif(BACKEND != "host", reason="there is a device")
def test_cuda_without_a_device(data: xgb.DMatrix) -> None:
    with pytest.raises(Error) as error:
        train(data, 1, gpu_backend="cuda")
    assert_says(error, "gpu_backend", "cuda", "host|auto")
    booster = train(data, 2)
    before = raw(booster)
    booster.set_param({"gpu_backend": "cuda"})
    with pytest.raises(Error):
        booster.update(data, 2)
    booster.set_param({"gpu_backend": "host"})
    assert raw(booster) == before
    booster.update(data, 2)
    assert_same_trees(booster, train(data, 3))


@only_ours
def test_exact_trees_have_no_pages(data: xgb.DMatrix) -> None:
    with pytest.raises(Error) as error:
        train(data, 1, tree_method="gpu_exact", gpu_memory_limit="1GiB")
    assert_says(error, "gpu_memory_limit", "'1GiB'", "gpu_exact", "gpu_memory_limit=0", "gpu_hist")


# Stock takes gradients that are not numbers, and grows nonsense. We must refuse them.
@only_ours
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("part", ["gradient", "hessian"])
def test_gradients_that_are_no_numbers(data: xgb.DMatrix, part: str, value: float) -> None:
    booster = train(data, 2)
    before, predicted = raw(booster), booster.predict(data)
    g, h = np.ones(200, dtype=np.float32), np.ones(200, dtype=np.float32)
    (g if part == "gradient" else h)[123] = value
    with pytest.raises(Error) as error:
        boost(booster, data, g, h)
    assert_says(error, part[:4], "123", "nan" if np.isnan(value) else "inf")
    assert raw(booster) == before
    assert np.array_equal(booster.predict(data), predicted)
    assert booster.num_boosted_rounds() == 2
    booster.update(data, 2)
    assert_same_trees(booster, train(data, 3))


@only_ours
@only_ours
def test_a_training_that_diverges() -> None:
    margin = np.zeros(len(X))
    margin[3] = 100.0  # exp(100) is no float
    bad = xgb.DMatrix(X, np.abs(Y), base_margin=margin)
    with pytest.raises(Error) as error:
        train(bad, 2, objective="count:poisson")
    assert_says(error, "row 3 .*inf", "must be finite", "learning_rate or base_margin is too large")


@ours_since(200, "gradients may be NaN")
def test_one_class_of_many_with_a_bad_gradient_leaves_no_half_round() -> None:
    classes = xgb.DMatrix(X, np.digitize(Y, [-0.5, 0.5]))
    settings = dict(objective="multi:softprob", num_class=3)
    booster = train(classes, 2, **settings)
    before, predicted = raw(booster), booster.predict(classes)
    g, h = np.ones((200, 3), dtype=np.float32), np.ones((200, 3), dtype=np.float32)
    g[50, 2] = np.nan  # the last class: the trees of the others may have been grown by then
    with pytest.raises(Error):
        boost(booster, classes, g, h)
    assert raw(booster) == before and booster.num_boosted_rounds() == 2
    assert np.array_equal(booster.predict(classes), predicted)
    booster.update(classes, 2)
    assert_same_trees(booster, train(classes, 3, **settings))
    assert np.array_equal(booster.predict(classes), fresh(booster).predict(xgb.DMatrix(X)))


@pytest.mark.parametrize("size", [199, 201, 20])
def test_gradients_of_another_size(data: xgb.DMatrix, size: int) -> None:
    booster = train(data, 2)
    before = raw(booster)
    with pytest.raises((Error, ValueError), match=str(size)):
        boost(booster, data, np.ones(size), np.ones(size))
    assert raw(booster) == before


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
def test_labels_that_are_no_numbers(value: float) -> None:
    label = Y.copy()
    label[7] = value
    for matrix in (xgb.DMatrix, xgb.QuantileDMatrix):
        with pytest.raises(Error, match="[Ll]abel"):
            matrix(X, label)


@ours_since(200, "labels are looked at in the first round alone")
@pytest.mark.parametrize(
    "objective, label, more, word",
    [
        ("binary:logistic", 2, {"base_score": 0.5}, r"label must be in \[0,1\]"),
        ("binary:logistic", -1, {"base_score": 0.5}, r"label must be in \[0,1\]"),
        ("multi:softprob", 3, {"num_class": 3}, r"label must be (in|discrete values in the range of) \[0, num_class\)"),
        ("multi:softprob", -1, {"num_class": 3}, r"label must be (in|discrete values in the range of) \[0, num_class\)"),
        ("count:poisson", -1, {}, "label must be non-?negative|label"),
        ("reg:gamma", 0, {}, "label"),
        ("reg:tweedie", -1, {}, "label"),
        ("reg:squaredlogerror", -2, {}, "label"),
    ],
)
def test_labels_out_of_range(objective: str, label: float, more: dict, word: str) -> None:
    good = xgb.DMatrix(X, np.ones(200))
    bad_label = np.ones(200)
    bad_label[9] = label
    bad = xgb.DMatrix(X, bad_label)
    booster = train(good, 2, objective=objective, **more)
    before, predicted = raw(booster), booster.predict(good)
    for _ in range(2):
        with pytest.raises(Error, match=word):
            booster.update(bad, 2)
    assert raw(booster) == before
    assert np.array_equal(booster.predict(good), predicted)
    booster.update(good, 2)
    assert_same_trees(booster, train(good, 3, objective=objective, **more))


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf], ids=str)
def test_weights_that_are_none(value: float) -> None:
    weight = np.ones(200)
    weight[3] = value
    for matrix in (xgb.DMatrix, xgb.QuantileDMatrix):
        with pytest.raises(Error, match="[Ww]eight"):
            matrix(X, Y, weight=weight)
    with pytest.raises(Error, match="[Ff]eature weight"):
        xgb.DMatrix(X, Y, feature_weights=np.array([1, 1, -1, 1.0]))


@pytest.mark.parametrize("field, values", [("label", Y[:5]), ("weight", Y[:5] ** 2), ("base_margin", Y[:5])])
def test_fields_of_another_size(data: xgb.DMatrix, field: str, values: np.ndarray) -> None:
    booster = train(data, 2)
    before = raw(booster)
    with pytest.raises(Error, match="(?i)size|shape"):
        bad = xgb.DMatrix(X, Y)
        bad.set_info(**{field: values})
        booster.update(bad, 2)
    assert raw(booster) == before


@only_ours
@pytest.mark.parametrize(
    "settings, words",
    [
        ({"sampling_method": "goss", "subsample": 0.5}, ["subsample is 0.5", "goss", "allowed with it: 1"]),
        ({"sampling_method": "goss", "top_rate": 0.7, "other_rate": 0.6}, ["top_rate", "0.7", "0.6", "at most 1"]),
        ({"sampling_method": "gradient_based", "top_rate": 0.5}, ["top_rate is '0.5'", "goss", "gradient_based"]),
        ({"objective": "binary:logistic", "num_class": 3}, ["num_class", "3 outputs", "1 column", "multi:softprob"]),
        ({"objective": "survival:aft"}, ["survival:aft", "label_lower_bound has 0", "one for each of 200 rows"]),
        *(({"objective": "count:poisson", "max_delta_step": x}, [f"max_delta_step is {x}", "poisson: at most 88.72"]) for x in (89, "inf")),
        ({"objective": "multi:softmax"}, ["num_class", r"\b0\b", r"\b1\b"]),
        *(({"process_type": "update", "tree_method": m}, ["process_type is 'update'", m, "default, or update with updater=refresh or prune"]) for m in ("gpu_hist", "gpu_exact")),
        ({"updater": "prune,grow_gpu_hist"}, ["prune", "process_type", "update"]),
    ],
    ids=str,
)
def test_settings_that_contradict_each_other(settings: dict, words: list) -> None:
    data = xgb.DMatrix(X, (Y > 0).astype(np.float32))
    with pytest.raises(Error) as error:
        train(data, 2, **settings)
    assert_says(error, *words)
    assert train(data, 2).num_boosted_rounds() == 2


@only_ours
@pytest.mark.parametrize("objective", ["count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"])
def test_a_base_score_that_has_no_logarithm(objective: str) -> None:
    times = np.exp(Y)
    data = xgb.DMatrix(X, times, label_lower_bound=times, label_upper_bound=times)
    for value in (-0.5, 0):
        if value == 0 and objective in ("count:poisson", "survival:aft"):
            assert not train(data, 2, objective=objective, base_score=value).predict(data).any()  # stock gives 0, too
            continue
        if objective == "reg:gamma" and SERIES >= 302:  # XGBoost checks it itself, whatever the margins are
            with pytest.raises(Error, match="`base_score` must be greater than 0 for gamma regression"):
                train(data, 2, objective=objective, base_score=value)
            continue
        allowed = "0 or larger" if objective in ("count:poisson", "survival:aft") else "larger than 0"
        with pytest.raises(Error) as error:
            train(data, 2, objective=objective, base_score=value)
        assert_says(error, f"base_score is {value};", f"allowed: {allowed}", "logarithm")
    if objective == "reg:gamma" and SERIES >= 302:
        return
    data.set_base_margin(np.zeros(len(times)))  # it takes the place of the base score
    assert np.isfinite(train(data, 2, objective=objective, base_score=-0.5).predict(data)).all()


@only_ours
@pytest.mark.parametrize("name", ["label_lower_bound", "label_upper_bound"])
def test_bounds_that_are_no_numbers(name: str) -> None:
    bounds = {"label_lower_bound": np.exp(Y), "label_upper_bound": np.exp(Y) + 1}
    bounds[name][7] = np.nan
    with pytest.raises(Error) as error:
        train(xgb.DMatrix(X, **bounds), 2, objective="survival:aft")
    assert_says(error, f"{name} of row 7 is nan", "allowed")


@only_ours
def test_too_few_weights_for_bins() -> None:
    """Stock ends the process. We refuse for any method, since the matrix does not know who will train on it."""
    words = "200 rows and 199 sample weights; allowed: one weight for each row|Size of weights must equal to number of rows"
    weight = np.ones(199, np.float32)
    with pytest.raises(Error, match=words):
        xgb.QuantileDMatrix(X, Y, weight=weight)
    model = xgb.XGBRegressor(**params(), n_estimators=2)
    with pytest.raises(Error, match=words):
        model.fit(X, Y, sample_weight=weight)
    model.fit(X, Y, sample_weight=np.ones(200))
    assert np.array_equal(model.predict(X), xgb.XGBRegressor(**params(), n_estimators=2).fit(X, Y).predict(X))


@only_ours
def test_too_few_feature_weights(data: xgb.DMatrix) -> None:
    bad = xgb.DMatrix(X, Y, feature_weights=np.array([1.0, 2.0]))
    booster = train(data, 2, colsample_bytree=0.5)
    before = raw(booster)
    with pytest.raises(Error) as error:
        booster.update(bad, 2)
    assert_says(error, "feature.?weight", r"\b2\b", r"\b4\b")
    assert raw(booster) == before


@pytest.mark.parametrize("value", [np.inf, -np.inf], ids=str)
def test_infinite_features(value: float) -> None:
    bad = X.copy()
    bad[17, 2] = value
    with pytest.raises(Error, match="inf"):
        xgb.DMatrix(bad, Y)


def test_more_features_than_in_training(data: xgb.DMatrix) -> None:
    booster = train(data, 2)
    before, predicted = raw(booster), booster.predict(data)
    wide = xgb.DMatrix(np.hstack([X, X]), Y)
    for act in (lambda: booster.predict(wide), lambda: booster.update(wide, 2), lambda: booster.eval(wide)):
        with pytest.raises(Error, match=r"Number of columns|features in booster"):
            act()
    with pytest.raises(ValueError, match="expected: 4, got 8"):
        booster.inplace_predict(np.hstack([X, X]))
    assert raw(booster) == before and np.array_equal(booster.predict(data), predicted)


def test_other_names_of_features(data: xgb.DMatrix) -> None:
    booster = train(xgb.DMatrix(X, Y, feature_names=list("abcd")), 2)
    with pytest.raises(ValueError, match="feature_names"):
        booster.predict(xgb.DMatrix(X, feature_names=list("abce")))


def test_no_rows(data: xgb.DMatrix) -> None:
    """Stock trains on an empty matrix (for workers without rows) with a warning. Ours may, or must say why not."""
    empty = xgb.DMatrix(np.zeros((0, 4)), np.zeros(0))
    booster = train(data, 2)
    before, predicted = raw(booster), booster.predict(data)
    assert booster.predict(empty).size == 0
    try:
        booster.update(empty, 2)
    except Error as error:
        assert "row" in str(error).lower() or "empty" in str(error).lower()
        assert raw(booster) == before
        assert np.array_equal(booster.predict(data), predicted)
    else:
        assert trees_of(booster)[2].nodes == 1
        assert np.all(np.isfinite(booster.predict(data)))
    assert_same_trees(booster[:2], train(data, 2))


def test_no_columns() -> None:
    with pytest.raises(Error, match="feature"):
        train(xgb.DMatrix(np.zeros((5, 0)), np.zeros(5)), 1)


def test_no_labels() -> None:
    booster = train(xgb.DMatrix(X, Y), 2)
    before = raw(booster)
    with pytest.raises(Error, match="label"):
        booster.update(xgb.DMatrix(X), 2)
    assert raw(booster) == before


@only_ours
@pytest.mark.parametrize("share", [0.001, 1e-6, 1e-30])
def test_a_sample_without_rows_gives_a_tree_that_says_nothing(share: float) -> None:
    x, y = X[:10], Y[:10]
    booster = train(xgb.DMatrix(x, y), 5, subsample=share)
    assert np.isfinite(booster.predict(xgb.DMatrix(x))).all()
    for tree in trees_of(booster):
        if tree.hess[0] == 0:
            assert tree.nodes == 1 and tree.threshold[0] == 0


@only_ours
def test_columns_are_never_sampled_down_to_none() -> None:
    for name in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        booster = train(xgb.DMatrix(X, Y), 5, **{name: 1e-6})
        assert all(tree.nodes > 1 for tree in trees_of(booster)), name


@only_ours
def test_a_custom_objective_that_fails_in_the_middle(data: xgb.DMatrix) -> None:
    calls = []

    def sometimes(prediction: np.ndarray, matrix: xgb.DMatrix):
        calls.append(1)
        gradient = prediction - matrix.get_label()
        return (gradient * np.nan if len(calls) == 3 else gradient), np.ones_like(prediction)

    with pytest.raises(Error, match="(?i)gradient"):
        xgb.train(params(), data, 5, obj=sometimes)
    assert len(calls) == 3
    assert train(data, 3).num_boosted_rounds() == 3


def test_broken_model_files(tmp_path, data: xgb.DMatrix) -> None:
    booster = train(data, 2)
    path = str(tmp_path / "model.json")
    booster.save_model(path)
    text = open(path).read()
    with open(path, "w") as file:
        file.write(text[: len(text) // 2])
    with pytest.raises(Error):
        xgb.Booster(model_file=path)
    with pytest.raises(Error):
        xgb.Booster(model_file=os.path.join(str(tmp_path), "none.json"))
    assert booster.predict(data).shape == (200,)


@only_ours
def test_refresh_with_a_sequence_that_cannot_update(data: xgb.DMatrix) -> None:
    booster = train(data, 2)
    before = raw(booster)
    with pytest.raises(Error):
        xgb.train(params(process_type="update"), data, 2, xgb_model=booster)  # gpu_hist grows trees, which is no update
    assert raw(booster) == before
    assert_same_trees(train(data, 2), booster)
