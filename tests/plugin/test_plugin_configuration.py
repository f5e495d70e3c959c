"""gpu_hist survives whatever happens to a booster's configuration: copies, pickles, slices, changed parameters."""

import copy
import json
import os
import pickle
import re

import numpy as np
import pytest
import xgboost as xgb

from helpers import booster, make_regression, section, trees, without_plugin

HOST = {"tree_method": "gpu_hist", "gpu_backend": "host", "max_depth": 3}


@pytest.fixture(params=["gbtree", "dart"])
def params(request):
    extra = {"rate_drop": 0.3, "seed": 3} if request.param == "dart" else {}
    return {**HOST, "booster": request.param, **extra}


@pytest.fixture
def data(regression):
    return xgb.DMatrix(*regression)


def test_configuration_shows_what_the_user_asked_for(params, data):
    shown = section(booster({**params, "predictor": "gpu_predictor", "gpu_id": 0}, data, 1))
    assert shown["gbtree_train_param"]["tree_method"] == "gpu_hist"
    assert shown["gbtree_train_param"]["updater"] == "grow_gpu_hist"
    assert shown["gbtree_train_param"]["predictor"] == "gpu_predictor"
    assert shown["updater"]["grow_gpu_hist"]["train_param"]["max_depth"] == "3"
    assert shown["xgboost_gpu_param"] == {
        "gpu_backend": "host", "gpu_id": "0", "gpu_memory_limit": "0", "gpu_host_memory_limit": "0",
        "gpu_cache_folder": "", "gpu_trace": "", "n_gpus": "1",
        "top_rate": "0.200000003", "other_rate": "0.100000001",
    }  # fmt: skip


def test_limits_of_memory_go_with_the_configuration(params, data):
    limits = {"gpu_memory_limit": "16GiB", "gpu_host_memory_limit": "1.5 TB", "gpu_cache_folder": "/a folder/\"of\" mine"}
    original = booster({**params, **limits}, data, 1)
    loaded = booster(params, data, 1)
    loaded.load_config(original.save_config())
    for one in (original, original.copy(), pickle.loads(pickle.dumps(original)), loaded):
        shown = section(one)["xgboost_gpu_param"]
        assert {name: shown[name] for name in limits} == limits
    original.set_param({"gpu_memory_limit": 0})
    original.update(data, 1)
    assert section(original)["xgboost_gpu_param"]["gpu_memory_limit"] == "0"
    assert section(original)["xgboost_gpu_param"]["gpu_host_memory_limit"] == "1.5 TB"


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda b: b.copy(),
        copy.deepcopy,
        lambda b: pickle.loads(pickle.dumps(b)),
        lambda b: pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(b)))),
    ],
    ids=["copy", "deepcopy", "pickle", "pickle twice"],
)
def test_duplicates_go_on_as_the_original(params, data, duplicate):
    # Rows are sampled, so that a round number lost on the way would show. dart also draws from XGBoost's own generator,
    # whose state no copy carries: without drop-outs it does not matter.
    params = {**params, "subsample": 0.5, "rate_drop": 0.0}
    original = booster(params, data, 3)
    other = duplicate(original)
    assert json.loads(other.save_config()) == json.loads(original.save_config())
    for i in range(3, 6):
        original.update(data, i)
        other.update(data, i)
    assert trees(other) == trees(original)


@pytest.mark.parametrize("raw_format", ["json", "ubj", "deprecated"])
def test_continuation_from_a_saved_model_equals_uninterrupted_training(data, raw_format):
    params = {**HOST, "subsample": 0.5, "colsample_bytree": 0.6, "seed": 7}
    raw = xgb.train(params, data, 3).save_raw(raw_format)
    continued = xgb.train(params, data, 3, xgb_model=xgb.Booster(model_file=raw))
    assert trees(continued) == trees(xgb.train(params, data, 6))


def test_reset_by_later_parameters_does_not_lose_the_method(data):
    interrupted = booster(HOST, data, 2)
    interrupted.set_param({"eta": 0.3})  # its value already, but XGBoost configures itself again
    interrupted.update(data, 2)
    assert trees(interrupted) == trees(booster(HOST, data, 3))
    assert section(interrupted)["gbtree_train_param"]["tree_method"] == "gpu_hist"


def test_learning_rate_callback(data):
    rates = [0.3, 0.2, 0.1, 0.05]
    trained = xgb.train(HOST, data, 4, callbacks=[xgb.callback.LearningRateScheduler(rates)])
    by_hand = xgb.Booster(HOST, [data])
    for i, rate in enumerate(rates):
        by_hand.update(data, i)
        by_hand.set_param("learning_rate", rate)  # the callback sets it after the round
    assert trees(trained) == trees(by_hand)


def test_method_can_change_on_a_live_booster(data):
    stock = {**HOST, "tree_method": "hist"}
    live = booster(HOST, data, 1)
    sequence = ["hist", "gpu_hist", "exact", "gpu_hist", "approx"]
    for i, method in enumerate(sequence, start=1):
        live.set_param({"tree_method": method})
        live.update(data, i)
        assert section(live)["gbtree_train_param"]["tree_method"] == method
        # Not 6, the default: parameters set for one method count for the next.
        updater = next(iter(section(live)["updater"].values()))
        assert updater["train_param"]["max_depth"] == "3"
    # The same with a new booster for each round.
    pieces = booster(HOST, data, 1)
    for method in sequence:
        pieces = xgb.train({**stock, "tree_method": method}, data, 1, xgb_model=pieces.save_raw("json"))
    assert trees(live) == trees(pieces)


def test_updater_by_name(params, data):
    by_method = booster(params, data, 3)
    by_name = {**params, "updater": "grow_gpu_hist"}
    del by_name["tree_method"]
    named = booster(by_name, data, 2)
    named.set_param({"eta": 0.3})
    named = named.copy() if params["booster"] == "gbtree" else named
    named.update(data, 2)
    assert trees(named) == trees(by_method)


def test_updater_sequence_with_prune(data):
    params = {**HOST, "updater": "grow_gpu_hist,prune"}
    pruned = booster(params, data, 2).copy()
    pruned.update(data, 2)
    assert list(section(pruned)["updater"]) == ["grow_gpu_hist", "prune"]
    np.testing.assert_array_equal(pruned.predict(data), xgb.Booster(model_file=pruned.save_raw()).predict(data))


@pytest.mark.parametrize("updater", ["refresh", "prune", "refresh,prune"])
def test_update_of_existing_trees(data, updater):
    update = {"process_type": "update", "updater": updater, "refresh_leaf": True, "max_depth": 2, "gamma": 0.1}
    grown = booster(HOST, data, 3)
    ours = xgb.train({**HOST, **update}, data, 3, xgb_model=grown.copy())
    stock = xgb.train({**HOST, **update, "tree_method": "hist"}, data, 3, xgb_model=grown.save_raw())
    assert trees(ours) == trees(stock)


def test_updating_and_then_growing_again(data):
    live = booster(HOST, data, 2)
    live.set_param({"process_type": "update", "updater": "refresh", "refresh_leaf": 1})
    for i in range(2):
        live.update(data, i)
    live.set_param({"process_type": "default"})
    live.update(data, 2)
    assert live.num_boosted_rounds() == 3
    assert list(section(live)["updater"]) == ["grow_gpu_hist"]


def test_slice(params, data):
    whole = booster({**params, "rate_drop": 0.0}, data, 6)
    part = whole[2:5]
    assert part.num_boosted_rounds() == 3
    assert section(part)["gbtree_train_param"]["tree_method"] == "gpu_hist"
    everything = trees(whole).get("gbtree", trees(whole))["model"]["trees"]
    sliced = trees(part).get("gbtree", trees(part))["model"]["trees"]
    assert [t["split_conditions"] for t in sliced] == [t["split_conditions"] for t in everything[2:5]]
    part.update(data, 3)
    assert part.num_boosted_rounds() == 4


def test_a_stock_xgboost_loads_our_pickle_and_goes_on(params, data, tmp_path):
    ours = booster({**params, "gamma": 0.25}, data, 2)
    (tmp_path / "booster.pkl").write_bytes(pickle.dumps(ours))
    margins = ours.predict(data)
    values, label = make_regression()
    np.savez(tmp_path / "data.npz", values=values, label=label, margins=margins)
    code = """
import json, pickle, sys, numpy as np, xgboost as xgb
folder = sys.argv[1]
booster = pickle.load(open(folder + "/booster.pkl", "rb"))
data = np.load(folder + "/data.npz")
matrix = xgb.DMatrix(data["values"], data["label"])
assert np.array_equal(booster.predict(matrix), data["margins"])
booster.update(matrix, 2)
config = json.loads(booster.save_config())["learner"]["gradient_booster"]
config = config.get("gbtree", config)
pickle.dump(booster, open(folder + "/back.pkl", "wb"))
print(json.dumps([config["gbtree_train_param"]["tree_method"], config["updater"]]))
"""
    method, updaters = json.loads(without_plugin(code, str(tmp_path)).splitlines()[-1])
    assert method == "hist"
    assert updaters["grow_quantile_histmaker"]["train_param"]["max_depth"] == "3"
    assert updaters["grow_quantile_histmaker"]["train_param"]["gamma"] == "0.25"

    back = pickle.loads((tmp_path / "back.pkl").read_bytes())
    assert section(back)["gbtree_train_param"]["tree_method"] == "hist"
    back.set_param({"tree_method": "gpu_hist"})
    back.update(data, 3)
    assert section(back)["updater"]["grow_gpu_hist"]["train_param"]["gamma"] == "0.25"
    assert back.num_boosted_rounds() == 4


@pytest.mark.parametrize("booster_name", ["gbtree", "dart"])
def test_a_stock_process_goes_on_with_exact_where_gpu_exact_began(booster_name, tmp_path):
    values, label = make_regression(rows=900)
    np.savez(tmp_path / "data.npz", values=values, label=label)
    ours = {"tree_method": "gpu_exact", "gpu_backend": "host", "max_depth": 3, "eta": 0.7, "booster": booster_name}
    with (tmp_path / "ours.pkl").open("wb") as file:
        pickle.dump(booster(ours, xgb.DMatrix(values, label), 2), file)
    code = """
import pickle, sys, numpy as np, xgboost as xgb
folder = sys.argv[1]
data = np.load(folder + "/data.npz")
matrix = xgb.DMatrix(data["values"], data["label"])
for method in ["exact", "hist"]:
    params = {"tree_method": method, "max_depth": 3, "eta": 0.7, "booster": sys.argv[2]}
    stock = xgb.train(params, matrix, 1, xgb_model=pickle.load(open(folder + "/ours.pkl", "rb")))
    unpickled = pickle.load(open(folder + "/ours.pkl", "rb"))
    unpickled.update(matrix, 2)
    print(unpickled.get_dump()[2] == stock.get_dump()[2])
"""
    printed = without_plugin(code, str(tmp_path), booster_name)
    assert re.findall("True|False", printed) == ["True", "False"]
    assert "Changing updater" not in printed


def test_a_stock_pickle_is_loaded_unchanged(data, tmp_path):
    values, label = make_regression()
    np.savez(tmp_path / "data.npz", values=values, label=label)
    code = """
import pickle, sys, numpy as np, xgboost as xgb
folder = sys.argv[1]
data = np.load(folder + "/data.npz")
params = {"tree_method": sys.argv[2], "max_depth": 4, "eta": 0.7}
booster = xgb.train(params, xgb.DMatrix(data["values"], data["label"]), 2)
pickle.dump((booster, booster.save_config()), open(folder + "/stock.pkl", "wb"))
"""
    for method in ["hist", "exact", "approx", "auto"]:
        without_plugin(code, str(tmp_path), method)
        loaded, config = pickle.loads((tmp_path / "stock.pkl").read_bytes())
        assert json.loads(loaded.save_config()) == json.loads(config)


def test_a_gpu_builds_configuration_is_understood(data):
    """As XGBoost 1.7 with CUDA writes it, with a sampling method that a CPU build refuses."""
    source = booster(HOST, data, 2)
    config = json.loads(source.save_config())
    gbtree = config["learner"]["gradient_booster"]
    gbtree["gbtree_train_param"].update(updater="grow_gpu_hist", updater_seq="grow_gpu_hist")
    gbtree["updater"]["grow_gpu_hist"]["train_param"]["sampling_method"] = "gradient_based"
    del gbtree["xgboost_gpu_param"]
    loaded = xgb.Booster(model_file=source.save_raw())
    loaded.load_config(json.dumps(config))
    np.testing.assert_array_equal(loaded.predict(data), source.predict(data))
    loaded.set_param({"gpu_backend": "host"})
    assert json.loads(loaded.save_config())["learner"]["gradient_booster"]["updater"]["grow_gpu_hist"]["train_param"][
        "sampling_method"
    ] == "gradient_based"
    loaded.update(data, 2)  # subsample is 1: all rows
    source.update(data, 2)
    assert trees(loaded) == trees(source)


STOCK_METHODS = """
import sys, hashlib, numpy as np
if len(sys.argv) > 2:
    import ctypes
    ctypes.CDLL(sys.argv[2])
import xgboost as xgb
data = np.load(sys.argv[1] + "/data.npz")
matrix = xgb.DMatrix(data["values"], data["label"])
for booster in ["gbtree", "dart", "gblinear"]:
    for method in ["hist", "exact", "approx", "auto"]:
        params = {"tree_method": method, "booster": booster, "subsample": 0.7, "seed": 5, "nthread": 1}
        if booster == "dart":
            params["rate_drop"] = 0.5
        model = xgb.train(params, matrix, 4)
        model.set_param({"eta": 0.1})
        model.update(matrix, 4)
        digest = hashlib.sha256(model.save_raw("ubj") + model.save_config().encode()).hexdigest()
        print(booster, method, digest)
updated = xgb.train({"tree_method": "hist", "updater": "grow_colmaker,prune"}, matrix, 2)
print(hashlib.sha256(updated.save_raw("ubj") + updated.save_config().encode()).hexdigest())
"""


def test_stock_methods_are_as_without_us(tmp_path):
    values, label = make_regression()
    np.savez(tmp_path / "data.npz", values=values, label=label)
    with_plugin = without_plugin(STOCK_METHODS, str(tmp_path), os.environ["XGBGPU_LIBRARY"])
    stock = without_plugin(STOCK_METHODS, str(tmp_path))
    # Warnings (gblinear has no use for tree_method) are the same too, but for the time of day.
    clock = re.compile(r"^\[\d\d:\d\d:\d\d\]", re.MULTILINE)
    assert clock.sub("", with_plugin) == clock.sub("", stock)
    assert len(re.findall(r"\b[0-9a-f]{64}$", stock, re.MULTILINE)) == 13


def edited(source, change):
    """A booster of the same model, whose configuration is that of `source` after `change` of its gbtree's section."""
    config = json.loads(source.save_config())
    gbtree = config["learner"]["gradient_booster"]
    change(gbtree.get("gbtree", gbtree))
    loaded = xgb.Booster(model_file=source.save_raw())
    loaded.load_config(json.dumps(config))
    return loaded


@pytest.mark.parametrize(
    "path, value, kinds",
    [
        (["xgboost_gpu_param"], ["gpu_backend"], ("Array", "Object")),
        (["xgboost_gpu_param", "gpu_backend"], ["host"], ("Array", "String")),
        (["xgboost_gpu_param", "gpu_id"], 0, ("Integer", "String")),
        (["xgboost_gpu_param", "tree_method"], None, ("Null", "String")),
        (["xgboost_gpu_param", "traced_to"], {"file": "t"}, ("Object", "String")),
        (["xgboost_gpu_param", "not ours"], True, ("Boolean", "String")),
        (["gbtree_train_param"], 1.5, ("Number", "Object")),
        (["gbtree_train_param", "predictor"], 3, ("Integer", "String")),
        (["gbtree_train_param", "tree_method"], [], ("Array", "String")),
        (["gbtree_train_param", "updater"], [], ("Array", "String")),
        (["updater"], [], ("Array", "Object")),
        (["updater", "grow_gpu_hist"], "", ("String", "Object")),
        (["updater", "grow_gpu_hist", "train_param"], [], ("Array", "Object")),
        (["updater", "grow_gpu_hist", "train_param", "max_depth"], 3, ("Integer", "String")),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, list) else None,
)
def test_a_key_of_the_wrong_kind_is_named(params, data, path, value, kinds):
    def change(section):
        for name in path[:-1]:
            section = section[name]
        section[path[-1]] = value

    message = f"Key '{'.'.join(path)}' of the loaded configuration has a value of kind {kinds[0]}; allowed: {kinds[1]}"
    with pytest.raises(xgb.core.XGBoostError, match=re.escape(message)):
        edited(booster(params, data, 1), change)


def test_unknown_keys_are_told_and_ignored(params, data, capfd):
    source = booster(params, data, 2)
    loaded = edited(source, lambda section: section["xgboost_gpu_param"].update(of_a_later_version="1"))
    loaded.update(data, 2)
    said = capfd.readouterr()
    warning = "key 'of_a_later_version' of xgboost_gpu_param in the loaded configuration is ignored."
    assert (said.out + said.err).count(warning) == (1 if params["booster"] == "gbtree" else 0)  # once in a process
    assert "of_a_later_version" not in loaded.save_config()
    assert loaded.num_boosted_rounds() == 3


@pytest.mark.parametrize("key", ["gpu_trace", "traced_to"])
@pytest.mark.parametrize("duplicate", [lambda b: b, lambda b: pickle.loads(pickle.dumps(b)), lambda b: b.copy()])
def test_a_loaded_configuration_opens_no_file(params, data, tmp_path, key, duplicate):
    file = tmp_path / "trace.json"
    file.write_text("precious", encoding="utf-8")
    source = booster(params, data, 1)
    loaded = duplicate(edited(source, lambda section: section["xgboost_gpu_param"].update({key: str(file)})))
    loaded.set_param({"eta": 0.2})
    loaded.update(data, 1)
    loaded.predict(data)
    del loaded
    assert file.read_text(encoding="utf-8") == "precious"


def test_copies_keep_the_name_of_a_trace_and_do_not_write_it(params, data, tmp_path):
    file = tmp_path / "trace.json"
    source = booster({**params, "gpu_trace": str(file)}, data, 2)
    saved = source.save_config()
    assert section(source)["xgboost_gpu_param"]["traced_to"] == str(file)
    assert section(source)["xgboost_gpu_param"]["gpu_trace"] == ""
    other = pickle.loads(pickle.dumps(source)).copy()
    del source  # ends the file
    written = file.read_bytes()
    assert other.save_config() == saved
    other.update(data, 2)
    assert file.read_bytes() == written
    other.set_param({"gpu_trace": ""})
    assert "traced_to" not in section(other)["xgboost_gpu_param"]
