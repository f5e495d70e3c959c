"""Every parameter is used, or refused in words that name it, its value and what is allowed; no warning is out of place."""

import pickle

import numpy as np
import pytest
import xgboost as xgb

from helpers import booster, device_info, log_of, make_regression, section, trees

with_device = pytest.mark.skipif(not device_info()["devices"], reason="no CUDA device")
without_device = pytest.mark.skipif(bool(device_info()["devices"]), reason="there is a CUDA device")
HOST = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 3}


@pytest.fixture
def data(regression):
    return xgb.DMatrix(*regression)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"gpu_backend": "opencl"}, r"gpu_backend is 'opencl'; allowed: auto, cuda, host"),
        pytest.param({"gpu_backend": "cuda"}, r"gpu_backend is 'cuda'.*possible: auto, host", marks=without_device),
        ({"n_gpus": -2}, r"n_gpus is '-2'.*allowed: -1 \(all\), 1 or more"),
        ({"n_gpus": "all"}, r"n_gpus.*'all'"),
        ({"gpu_memory_limit": "16 gigs"}, r"Parameter gpu_memory_limit is '16 gigs'; allowed: 0, .*such as 16GiB"),
        ({"gpu_memory_limit": -1}, r"Parameter gpu_memory_limit is '-1'; allowed: 0, .*1 byte to 1024TiB"),
        ({"gpu_host_memory_limit": "1GiBs"}, r"Parameter gpu_host_memory_limit is '1GiBs'; allowed: 0, .*such as 16GiB"),
        ({"gpu_memory_limit": "1.5GiB", "tree_method": "gpu_exact"}, r"gpu_memory_limit is '1.5GiB', and tree_method is 'gpu_exact'.*supported: gpu_memory_limit=0"),
        ({"gpu_trace": "/no/such/folder/t", "gpu_backend": "host"}, r"gpu_trace is '/no/such/folder/t'.*writable file"),
        pytest.param({"gpu_trace": "/no/such/folder/t", "gpu_backend": "cuda"}, r"gpu_trace is '/no/such/folder/t'.*writable file", marks=with_device),
        ({"gpu_id": 7, "fail_on_invalid_gpu_id": True}, r"gpu_id is '7'; allowed with fail_on_invalid_gpu_id: -1"),
        ({"tree_method": "gpu_exakt"}, r"tree_method is 'gpu_exakt'; allowed: .*hist, gpu_hist, gpu_exact"),
        ({"grow_policy": "symmetric", "max_depth": 17}, r"max_depth is 17, but grow_policy is 'symmetric'.*1 to 16"),
        ({"grow_policy": "symmetric", "max_depth": 0}, r"max_depth is 0 .*grow_policy is 'symmetric'.*max_leaves"),
        ({"grow_policy": "symmetric", "max_leaves": 6}, r"max_leaves is 6, but grow_policy is 'symmetric'.*power of 2"),
        ({"grow_policy": "random"}, r"grow_policy is 'random'; allowed: depthwise, lossguide, symmetric"),
        ({"sampling_method": "best"}, r"sampling_method is 'best'; allowed: uniform, gradient_based, goss"),
        ({"sampling_method": "goss", "subsample": 0.5}, r"subsample is 0.5, but sampling_method is 'goss'; allowed with it: 1"),
        ({"sampling_method": "goss", "top_rate": 0.7, "other_rate": 0.4}, r"top_rate is 0.7 and other_rate is 0.4; allowed: a sum of at most 1"),
        ({"sampling_method": "goss", "top_rate": 1.5}, r"Parameter top_rate is '1.5'; allowed: larger than 0, less than 1"),
        ({"sampling_method": "goss", "other_rate": 0}, r"Parameter other_rate is '0'; allowed: larger than 0, less than 1"),
        ({"sampling_method": "goss", "top_rate": "most"}, r"top_rate is 'most'; allowed: a number"),
        ({"top_rate": 0.3}, r"top_rate is '0.3.*but sampling_method is 'uniform' and only goss uses top_rate; allowed: sampling_method=goss"),
        ({"sampling_method": "gradient_based", "subsample": 0.5, "other_rate": 0.3}, r"other_rate is '0.3.*sampling_method is 'gradient_based'"),
        ({"monotone_constraints": "(1,0,3,0,0)"}, r"monotone_constraints is '\(1,0,3,0,0\)'"),
        ({"monotone_constraints": "(1,0,0,0,0,1)"}, "monotone_constraints has 6 elements"),
        ({"interaction_constraints": "[[0, 1]"}, r"interaction_constraints is '\[\[0, 1\]'"),
        ({"interaction_constraints": "[[0, 5]]"}, "interaction_constraints has feature 5"),
        ({"max_bin": 1}, r"value 1 for Parameter max_bin.*\[2,65535\]"),
        ({"max_bin": 65536}, r"value 65536 for Parameter max_bin.*\[2,65535\]"),
        ({"max_bin": "99999999999999999999"}, r"max_bin"),
        ({"max_depth": -1}, r"value -1 for Parameter max_depth should be greater equal to 0"),
        ({"num_parallel_tree": 0}, r"num_parallel_tree is '0'; allowed: 1 or larger"),
        ({"max_bin": "many"}, r"max_bin expect int but value='many'"),
        ({"max_leaves": -1}, r"value -1 for Parameter max_leaves should be greater equal to 0"),
        ({"eta": -0.5}, r"value -0.5 for Parameter learning_rate should be greater equal to 0"),
        ({"eta": "fast"}, r"learning_rate is 'fast'; allowed: a number"),
        ({"eta": "nan"}, r"learning_rate is nan"),
        ({"lambda": -1}, r"Parameter reg_lambda"),
        ({"alpha": -1}, r"Parameter reg_alpha"),
        ({"gamma": -1}, r"Parameter min_split_loss"),
        ({"min_child_weight": -1}, r"Parameter min_child_weight"),
        ({"subsample": 1.5}, r"Parameter subsample.*\[0,1\]"),
        ({"subsample": 0}, r"Parameter subsample is 0; allowed: larger than 0"),
        ({"colsample_bynode": 0}, r"Parameter colsample_bynode is 0; allowed: larger than 0"),
    ],
)
def test_what_is_not_allowed(data, wrong, message):
    """Refused, from the start and on a live booster; the booster is as before and goes on when the value is put right."""
    with pytest.raises(xgb.core.XGBoostError, match=message):
        xgb.train({**HOST, **wrong}, data, 1)

    live = xgb.train(HOST, data, 2)
    before = trees(live)
    margins = live.predict(data)
    live.set_param(wrong)
    with pytest.raises(xgb.core.XGBoostError, match=message):
        live.update(data, 2)
    neutral = {
        "tree_method": "gpu_hist", "gpu_backend": "host", "n_gpus": 1, "gpu_id": -1, "fail_on_invalid_gpu_id": False,
        "gpu_memory_limit": 0, "gpu_host_memory_limit": 0, "gpu_trace": "",
        "grow_policy": "depthwise", "sampling_method": "uniform", "monotone_constraints": "()",
        "interaction_constraints": "", "max_bin": 256, "max_depth": 3, "max_leaves": 0, "eta": 0.3, "num_parallel_tree": 1, "lambda": 1,
        "alpha": 0, "gamma": 0, "min_child_weight": 1, "subsample": 1, "colsample_bynode": 1, "top_rate": 0.2, "other_rate": 0.1,
    }  # fmt: skip
    live.set_param({name: neutral[name] for name in wrong})
    assert trees(live) == before
    np.testing.assert_array_equal(live.predict(data), margins)
    live.update(data, 2)
    assert trees(live) == trees(xgb.train(HOST, data, 3))


@pytest.mark.parametrize("wrong", [{"size_leaf_vector": -1}, {"predictor": "abacus"}, {"process_type": "undo"}])
def test_a_stock_parameter_put_right(data, wrong):
    """These are refused after XGBoost has noted the name of our updater, and before it has made it."""
    booster = xgb.Booster({**HOST, **wrong}, [data])
    ((name, value),) = wrong.items()
    for _ in range(3):
        with pytest.raises(xgb.core.XGBoostError, match=f"{value} for Parameter {name}|Parameter {name} is '{value}'"):
            booster.update(data, 0)
    right = {"size_leaf_vector": 0, "predictor": "auto", "process_type": "default"}
    booster.set_param({name: right[name]})
    booster.update(data, 0)
    assert trees(booster) == trees(xgb.train(HOST, data, 1))


NOT_ON_CUDA = [
    ({}, "tree_method is not set"),
    ({"tree_method": "hist"}, "tree_method is 'hist'"),
    ({"tree_method": "gpu_hits"}, "tree_method is 'gpu_hits'"),
    ({"tree_method": ""}, "tree_method is ''"),
    ({"tree_methd": "gpu_hist"}, "tree_method is not set"),
    ({"tree_method": "exact", "booster": "dart"}, "tree_method is 'exact'"),
    ({"tree_method": "gpu_hist", "updater": "grow_quantile_histmaker"}, "updater is 'grow_quantile_histmaker'"),
    ({"tree_method": "gpu_hist", "booster": "gblinear"}, "booster is 'gblinear'"),
]


@pytest.mark.parametrize("params, other", NOT_ON_CUDA, ids=str)
def test_cuda_is_not_asked_for_in_vain(data, params, other):
    """gpu_backend=cuda with what trains on the CPU, however it is said: an error that names both, and no tree."""
    params = {"gpu_backend": "cuda", **params}
    says = rf"gpu_backend is 'cuda' and {other}.*allowed: .*tree_method=gpu_hist or gpu_exact.*gpu_backend=auto or host"
    with pytest.raises(xgb.core.XGBoostError, match=says):
        xgb.train(params, data, 1)
    with pytest.raises(xgb.core.XGBoostError, match=says):
        xgb.XGBRegressor(n_estimators=1, **params).fit(*make_regression())
    one_by_one = xgb.Booster({}, [data])
    for name, value in params.items():
        one_by_one.set_param(name, value)
    for _ in range(2):
        with pytest.raises(xgb.core.XGBoostError, match=says):
            one_by_one.update(data, 0)
    one_by_one.set_param({"gpu_backend": "auto", "tree_method": "hist"})
    one_by_one.update(data, 0)
    assert one_by_one.num_boosted_rounds() == 1


def test_cuda_is_not_asked_for_in_vain_of_a_booster_that_trains(data):
    of_stock = booster({"tree_method": "hist"}, data, 1)
    of_ours = xgb.Booster({"tree_method": "gpu_hist", "gpu_backend": "cuda"}, [data])
    copy = of_ours.copy()  # configures both
    for model, then in (
        (of_stock, {"gpu_backend": "cuda"}),
        (of_stock.copy(), {"gpu_backend": "cuda"}),
        (of_ours, {"tree_method": "hist"}),
    ):
        model.set_param(then)
        with pytest.raises(xgb.core.XGBoostError, match="gpu_backend is 'cuda' and tree_method is 'hist'"):
            model.update(data, 1)
    # What a loaded or copied booster was trained with does not bind those who go on with another method.
    copy.set_param({"tree_method": "hist"})
    copy.update(data, 0)
    assert copy.num_boosted_rounds() == 1


def test_no_gpus_are_one_with_a_line():
    params = {**HOST, "n_gpus": 0}
    lines = log_of(params, "xgb.train(params, data, 2)")
    assert len(lines) == 1 and "n_gpus is 0" in lines[0] and "as 1" in lines[0]
    assert log_of({**params, "verbosity": 0}) == []
    assert log_of({**HOST, "n_gpus": -1}, "xgb.train(params, data, 2)") == []


@pytest.mark.parametrize(
    "params, instead",
    [
        ({"device": "cuda"}, 'Write tree_method="gpu_hist".'),
        ({"device": "cuda", "tree_method": "hist"}, 'Write tree_method="gpu_hist".'),
        ({"device": "gpu", "tree_method": "approx"}, 'Write tree_method="gpu_hist".'),
        ({"device": "cuda:0"}, 'Write tree_method="gpu_hist", gpu_id=0.'),
        ({**HOST, "device": "cuda:1"}, "Write gpu_id=1."),  # past our functions in front, which would take it
        ({"multi_strategy": "multi_output_tree"}, "Leave it out."),
        ({**HOST, "multi_strategy": "one_output_per_tree"}, "Leave it out."),
    ],
    ids=str,
)
def test_habits_of_xgboost_2_get_one_line(params, instead):
    """XGBoost's own, which says that it does not use them, is not shown beside it."""
    again = "xgb.train(params, data, 2); xgb.XGBRegressor(n_estimators=1, **params).fit(values, values[:, 0])"
    lines = log_of(params, again)
    ours = [line for line in lines if "xgboost-gpu: " in line]
    assert not any("not used" in line for line in lines), lines
    name = "device" if "device" in params else "multi_strategy"
    assert len(ours) == 1, ours
    assert f"parameter {name}" in ours[0] and "XGBoost 2" in ours[0] and ours[0].endswith(instead)
    assert log_of({**params, "verbosity": 0}, again.replace("2)", "2, verbose_eval=False)")) == []


@pytest.mark.parametrize(
    "params", [{**HOST, "device": "cuda"}, {"device": "cpu"}, {"device": "cuda:"}, {"device": "sycl:0"}], ids=str
)
def test_other_devices_get_no_line_of_ours(params):
    assert not any("xgboost-gpu: " in line for line in log_of(params))


@pytest.mark.parametrize(
    "same",
    [
        {"monotone_constraints": "(0, 0, 0, 0, 0)"},
        {"interaction_constraints": "[[0, 1, 2, 3, 4]]"},
        {"gpu_id": 9999},
        {"gpu_backend": "auto"},
        {"gpu_backend": "auto", "gpu_id": 9999},
        {"n_gpus": 1},
        {"n_gpus": 0},
        {"n_gpus": -1},
        {"gpu_memory_limit": "16GiB"},
        {"gpu_memory_limit": 16 * 2**30},
        {"gpu_memory_limit": "0 MB", "gpu_host_memory_limit": "1.5 gib", "gpu_cache_folder": "/no/such/folder"},
        {"predictor": "gpu_predictor"},
        {"predictor": "cpu_predictor"},
        {"deterministic_histogram": False},
        {"single_precision_histogram": True},
        {"gpu_page_size": 1024},
        {"debug_synchronize": True},
        {"learning_rate": 0.3},
        {"reg_lambda": 1},
        {"sketch_ratio": 3, "cache_opt": False, "sparse_threshold": 0.5, "max_cat_to_onehot": 7},
        {"nthread": 1},
        {"nthread": 3},
    ],
)
def test_what_is_accepted_and_changes_nothing(data, same):
    assert trees(xgb.train({**HOST, **same}, data, 3)) == trees(xgb.train(HOST, data, 3))


def test_the_gpu_predictor_is_accepted_with_stock_methods(data):
    """Its predictions are the host's, whoever grew the trees."""
    for method in ("hist", "exact"):
        stock = xgb.train({"tree_method": method}, data, 2)
        asked = xgb.train({"tree_method": method, "predictor": "gpu_predictor"}, data, 2)
        np.testing.assert_array_equal(asked.predict(data), stock.predict(data))


def test_a_configuration_says_auto_for_the_gpu_predictor_where_there_is_no_device(data):
    """As upstream's does; copies keep the user's word. With gpu_backend=host nobody looks for a device."""
    there = "gpu_predictor" if device_info()["devices"] else "auto"
    for params, shown in (({"tree_method": "hist"}, there), ({"tree_method": "gpu_hist"}, there), (HOST, "gpu_predictor")):
        asked = xgb.train({**params, "predictor": "gpu_predictor"}, data, 2)
        copy = pickle.loads(pickle.dumps(asked.copy()))
        assert [section(b)["gbtree_train_param"]["predictor"] for b in (asked, copy)] == [shown, shown]
        contributions = [b.predict(data, pred_contribs=True) for b in (asked, copy)]
        np.testing.assert_array_equal(*contributions)
        stock = xgb.Booster()
        stock.load_model(asked.save_raw())
        assert not np.array_equal(stock.predict(data, pred_contribs=True), contributions[0])  # stock's rounding
        copy.set_param({"predictor": "auto"})
        assert "gpu_predictor" not in copy.save_config()


@pytest.mark.parametrize(
    "alias, name, value",
    [("eta", "learning_rate", 0.5), ("gamma", "min_split_loss", 50), ("lambda", "reg_lambda", 2), ("alpha", "reg_alpha", 2)],
)
def test_aliases(data, alias, name, value):
    short, long = (trees(xgb.train({**HOST, key: value}, data, 3)) for key in (alias, name))
    assert short == long != trees(xgb.train(HOST, data, 3))


@pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
def test_depth_without_limit_is_as_in_hist(policy):
    """XGBoost 1.7 `hist` takes max_depth=0 without max_leaves as "no limit" under both policies, and so do we."""
    rows = np.arange(64)
    data = xgb.DMatrix(rows[:, None], label=rows * 37 % 64)  # every row differs from its neighbours
    params = {"max_depth": 0, "max_leaves": 0, "grow_policy": policy, "min_child_weight": 0, "lambda": 0}
    leaves = [
        (xgb.train({**params, "tree_method": method}, data, 1).trees_to_dataframe()["Feature"] == "Leaf").sum()
        for method in ("hist", "gpu_hist")
    ]
    assert leaves == [64, 64]


@pytest.mark.parametrize("params", [
    {**HOST},
    {**HOST, "sampling_method": "uniform", "gpu_id": 3, "n_gpus": 1, "fail_on_invalid_gpu_id": False, "max_bin": 16},
    {**HOST, "booster": "dart", "rate_drop": 0.1, "subsample": 0.5, "grow_policy": "lossguide", "max_leaves": 4},
    {"updater": "grow_gpu_hist", "gpu_backend": "host"},
    {**HOST, "updater": "grow_gpu_hist"},
])  # fmt: skip
def test_no_warning_without_reason(params):
    more = """
booster = pickle.loads(pickle.dumps(booster))
booster.set_param({"eta": 0.1})
booster.update(data, 3)
xgb.train(params, data, 2, xgb_model=booster)
booster[1:2].predict(data)
"""
    assert log_of(params, more) == []


@without_device
def test_host_without_being_asked_warns_once_per_process():
    again = "xgb.train(params, data, 2); xgb.train(params, data, 2)"
    lines = log_of({"tree_method": "gpu_hist"}, again)
    assert len(lines) == 1
    assert "training runs on the CPU" in lines[0]


def test_dropped_parameters_say_what_they_mean_today():
    dropped = ["deterministic_histogram", "single_precision_histogram", "gpu_page_size", "gpu_batch_nrows"]
    lines = log_of({**HOST, **dict.fromkeys(dropped, 1), "predictor": "gpu_predictor"}, "xgb.train(params, data, 2)")
    assert len(lines) == len(dropped) + 1
    for name in [*dropped, "predictor=gpu_predictor"]:
        assert sum(name in line for line in lines) == 1


def test_unknown_parameters_are_still_reported():
    assert any("max_dept" in line for line in log_of({**HOST, "max_dept": 3}))


def test_a_foreign_sequence_of_updaters_is_still_dangerous():
    assert any("DANGER AHEAD" in line for line in log_of({**HOST, "updater": "grow_colmaker,prune"}))


def test_another_max_bin_than_the_quantile_matrix_has_is_reported():
    """Once, and by XGBoost as it does for `hist`; the bins are those of the matrix."""
    more = """
quantile = xgb.QuantileDMatrix(values, values[:, 0], max_bin=16)
raw = [xgb.train({**params, "max_bin": bins}, quantile, 3).get_dump() for bins in (16, 64)]
assert raw[0] == raw[1]
"""
    lines = log_of(HOST, more)
    assert len(lines) == 1
    assert "Inconsistent max_bin between Quantile DMatrix and Booster:64 vs. 16" in lines[0]
