"""Stock XGBoost and ours together: each reads what the other wrote, and neither disturbs the other."""

import json
import pickle

import numpy as np
import pytest
import xgboost as xgb
from support import (
    BACKEND,
    LIBRARY,
    METHOD,
    MODEL_FORMS,
    OURS,
    SERIES,
    assert_same_trees,
    config_of,
    fresh,
    loading,
    make_data,
    only_ours,
    only_since,
    other_method,
    params,
    raw,
    run_python,
    stock_params,
    train,
    train_stock,
    trees_of,
)

#: How XGBoost alone refuses gpu_hist. Newer ones have no such method.
REFUSAL = "not compiled with GPU support" if SERIES < 301 else "Invalid Input: 'gpu_hist'"

X, Y = make_data(500, 6, missing=0.1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.33, 0.66])).astype(np.float32)
KINDS = {
    "plain": dict(max_depth=4),
    "classes": dict(objective="multi:softprob", num_class=3, num_parallel_tree=2),
    "dart": dict(booster="dart", rate_drop=0.3, seed=1),
    "lossguide": dict(grow_policy="lossguide", max_leaves=9, max_depth=0, max_bin=64),
    **({"symmetric": dict(grow_policy="symmetric", max_depth=5, min_child_weight=20, gamma=0.1)} if OURS else {}),
    **({"goss": dict(sampling_method="goss", top_rate=0.3)} if OURS else {}),
}
CONTINUED = [kind for kind in KINDS if kind != "goss"]  # stock's hist samples no rows by gradient, and says so

# A process with stock XGBoost alone loads all that the library's users leave behind, predicts, and goes on training.
READER = """
import json, pickle, sys
import numpy as np, xgboost as xgb
folder = sys.argv[1]
x = np.load(folder + "/x.npy")
data = xgb.DMatrix(x)
result, facts = {}, {}
for kind in json.load(open(folder + "/kinds.json")):
    for suffix in json.load(open(folder + "/forms.json")):
        booster = xgb.Booster(model_file=f"{folder}/{kind}.{suffix}")
        result[f"{kind}.{suffix}"] = booster.predict(data)
    unpickled = pickle.load(open(f"{folder}/{kind}.pickle", "rb"))
    result[f"{kind}.pickle"] = unpickled.predict(data)
    facts[kind] = json.loads(unpickled.save_config())["learner"]["gradient_booster"]
    configured = xgb.Booster(model_file=f"{folder}/{kind}.json")
    configured.load_config(open(f"{folder}/{kind}.config").read())
    result[f"{kind}.config"] = configured.predict(data)
    y = np.load(f"{folder}/{kind}.y.npy")
    if kind == "goss":
        continue
    before = unpickled.num_boosted_rounds()
    unpickled.update(xgb.DMatrix(x, y), before)
    result[f"{kind}.continued"] = np.array([before, unpickled.num_boosted_rounds()])
estimator = pickle.load(open(folder + "/estimator.pickle", "rb"))
result["estimator"] = estimator.predict(x)
np.savez(folder + "/result.npz", **result)
json.dump(facts, open(folder + "/facts.json", "w"))
"""


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """Writes models of every kind for a stock process. Gives our predictions, its predictions, and what it printed."""
    folder = tmp_path_factory.mktemp("exchange")
    np.save(folder / "x.npy", X)
    (folder / "kinds.json").write_text(json.dumps(list(KINDS)))
    (folder / "forms.json").write_text(json.dumps(MODEL_FORMS))
    expected = {}
    for kind, settings in KINDS.items():
        y = CLASSES if "num_class" in settings else Y
        np.save(folder / f"{kind}.y.npy", y)
        booster = train(xgb.DMatrix(X, y), 6, **settings)
        for suffix in MODEL_FORMS:
            booster.save_model(str(folder / f"{kind}.{suffix}"))
        (folder / f"{kind}.pickle").write_bytes(pickle.dumps(booster))
        (folder / f"{kind}.config").write_text(booster.save_config())
        expected[kind] = booster.predict(xgb.DMatrix(X))
    estimator = xgb.XGBRegressor(n_estimators=5, **params()).fit(X, Y)
    (folder / "estimator.pickle").write_bytes(pickle.dumps(estimator))
    expected["estimator"] = estimator.predict(X)
    done = run_python(READER, str(folder))
    return (
        expected,
        np.load(folder / "result.npz"),
        json.loads((folder / "facts.json").read_text()),
        done.stdout + done.stderr,
    )


@pytest.mark.parametrize("form", [*MODEL_FORMS, "pickle", "config"])
@pytest.mark.parametrize("kind", KINDS)
def test_stock_alone_predicts_the_same_bytes(exchange, kind: str, form: str) -> None:
    expected, found, _, _ = exchange
    assert np.array_equal(found[f"{kind}.{form}"], expected[kind])


@pytest.mark.parametrize("kind", CONTINUED)
def test_stock_alone_goes_on_training_a_pickle(exchange, kind: str) -> None:
    before, after = exchange[1][f"{kind}.continued"]
    assert after == before + 1
    gbm = exchange[2][kind]
    method = (gbm.get("gbtree") or gbm)["gbtree_train_param"]["tree_method"]
    assert method in ("hist", "gpu_hist")  # stock reads gpu_hist as hist where there is no GPU


def test_stock_alone_uses_a_pickled_estimator(exchange) -> None:
    assert np.array_equal(exchange[1]["estimator"], exchange[0]["estimator"])


def test_stock_alone_finds_nothing_strange_in_our_files(exchange) -> None:
    text = exchange[3]
    for word in ("not used", "DANGER", "Error", "Traceback", "unknown", "Unknown", "gpu_backend"):
        assert word not in text, text


# Stock's own tree methods, trained in this process (library loaded) and in one without it. One thread: stock's sums
# depend on the number of threads.
STOCK_TRAININGS = """
import hashlib, json, warnings
import numpy as np, xgboost as xgb
warnings.simplefilter("ignore")
def stock_trainings():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 5)).astype("f"); y = (x[:, 0] + x[:, 1] ** 2 > 0.5).astype("f")
    x[rng.random(x.shape) < 0.1] = np.nan
    base = {"nthread": 1, "objective": "binary:logistic", "seed": 4, "max_depth": 4}
    cases = {m: {"tree_method": m} for m in ("auto", "exact", "approx", "hist")}
    cases["default"] = {}
    cases["sampled hist"] = {"tree_method": "hist", "subsample": 0.6, "colsample_bynode": 0.5}
    cases["lossguide hist"] = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 6}
    cases["monotone hist"] = {"tree_method": "hist", "monotone_constraints": "(1,0,0,0,-1)"}
    cases["interaction hist"] = {"tree_method": "hist", "interaction_constraints": "[[0,1],[2,3,4]]"}
    cases["forest"] = {"tree_method": "exact", "num_parallel_tree": 3, "subsample": 0.5}
    cases["dart"] = {"booster": "dart", "tree_method": "hist", "rate_drop": 0.5}
    cases["gblinear"] = {"booster": "gblinear", "updater": "coord_descent"}
    cases["updater"] = {"updater": "grow_colmaker,prune", "gamma": 0.5}
    cases["histmaker"] = {"updater": "grow_histmaker"}
    result = {}
    for name, settings in cases.items():
        data = xgb.DMatrix(x, y)
        history = {}
        b = xgb.train({**base, **settings}, data, 4, evals=[(data, "t")], evals_result=history, verbose_eval=False)
        if name == "hist":
            refresh = {"process_type": "update", "updater": "refresh", "refresh_leaf": True, **base}
            b2 = xgb.train(refresh, xgb.DMatrix(x[:200], y[:200]), 4, xgb_model=b)
            result["refresh"] = hashlib.sha256(b2.save_raw("json")).hexdigest()
            part = b[1:3]; result["slice"] = hashlib.sha256(part.save_raw("json")).hexdigest()
            q = xgb.train({**base, **settings}, xgb.QuantileDMatrix(x, y), 4)
            result["QuantileDMatrix"] = hashlib.sha256(q.save_raw("json")).hexdigest()
        text = b.save_raw("json") + b.save_config().encode() + b.predict(data).tobytes() + json.dumps(history).encode()
        result[name] = hashlib.sha256(text).hexdigest()
    return result
"""


@pytest.fixture(scope="module")
def stock_alone():
    return json.loads(run_python(STOCK_TRAININGS + "print(json.dumps(stock_trainings()))").stdout.splitlines()[-1])


@only_ours
def test_stock_tree_methods_are_untouched(stock_alone) -> None:
    scope: dict = {}
    exec(STOCK_TRAININGS, scope)
    train(xgb.DMatrix(X, Y), 2)  # the same after the library has been used
    assert scope["stock_trainings"]() == stock_alone


@only_ours
@pytest.mark.parametrize("order", ["before", "after"])
def test_the_library_may_come_before_or_after_xgboost(stock_alone, order: str) -> None:
    use = "b = xgb.train({'tree_method': 'gpu_hist', 'gpu_backend': 'host'}, xgb.DMatrix(np.eye(9), np.arange(9)), 2)\n"
    late = loading(LIBRARY) if order == "after" else ""
    code = STOCK_TRAININGS + late + use + "print(json.dumps([len(b.get_dump()), stock_trainings()]))"
    done = run_python(code, library=LIBRARY if order == "before" else None)
    assert json.loads(done.stdout.splitlines()[-1]) == [2, stock_alone]


@only_ours
def test_stock_without_the_library_still_refuses() -> None:
    # This is what the library is for; if it fails, the machine's XGBoost is not the stock one of this test.
    code = """
import numpy as np, xgboost as xgb
xgb.train({'tree_method': 'gpu_hist'}, xgb.DMatrix(np.eye(9), np.arange(9)), 1)
"""
    done = run_python(code, check=False)
    assert done.returncode != 0 and REFUSAL in done.stderr


@pytest.mark.parametrize("other", ["hist", "exact", "approx"])
def test_tree_method_switched_on_a_live_booster(other: str) -> None:
    data = xgb.DMatrix(X, Y)
    live = xgb.Booster(params(max_depth=3, nthread=1, **other_method()), [data])
    steps = [METHOD, other, METHOD, METHOD, other]
    for number, method in enumerate(steps):
        # A new tree method starts from the parameters of this call, in stock XGBoost as well.
        live.set_param({"tree_method": method, "max_depth": 3})
        live.update(data, number)
        assert np.array_equal(live.predict(data), fresh(live).predict(xgb.DMatrix(X)))
    # This does the same with a new booster for each round, which never had another method.
    model = None
    for number, method in enumerate(steps):
        settings = (
            params(max_depth=3, nthread=1) if method == METHOD else dict(max_depth=3, nthread=1, tree_method=method)
        )
        model = xgb.train(settings, xgb.DMatrix(X, Y), 1, xgb_model=model)
    assert_same_trees(live, model)
    assert config_of(live)["gradient_booster"]["gbtree_train_param"]["tree_method"] == other


@only_ours
def test_parameters_hold_when_the_tree_method_is_set_anew() -> None:
    """Stock XGBoost forgets parameters. So do `approx` and what follows it, since the library is not asked there."""
    data = xgb.DMatrix(X, Y)
    live = xgb.Booster(params(max_depth=2, **other_method()), [data])
    for number, method in enumerate([METHOD, "hist", METHOD, METHOD]):
        live.set_param({"tree_method": method})
        live.update(data, number)
    assert all(tree.nodes <= 7 for tree in trees_of(live))


@only_ours
def test_refresh_uses_the_parameters_of_the_trees() -> None:
    data = xgb.DMatrix(X, Y)
    live = xgb.Booster(params(max_depth=2, reg_lambda=200), [data])
    live.update(data, 0)
    refreshed = xgb.train(params(process_type="update", updater="refresh"), data, 1, xgb_model=live)
    assert np.array_equal(refreshed.predict(data), live.predict(data))


def test_copies_of_a_switched_booster_have_its_method() -> None:
    data = xgb.DMatrix(X, Y)
    live = train(data, 2, max_depth=3)
    live.set_param(other_method(tree_method="exact", nthread=1, max_depth=3))
    other = pickle.loads(pickle.dumps(live))
    for booster in (live, other):
        booster.update(data, 2)
    assert raw(live) == raw(other)
    alone = xgb.train({"tree_method": "exact", "nthread": 1, "max_depth": 3}, data, 1, xgb_model=live[:2])
    assert_same_trees(alone, live)


@only_ours
@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
def test_a_booster_switched_to_auto_is_as_one_of_hist(tmp_path, capfd, method: str) -> None:
    """Until its next round a stock booster keeps the updaters that it had. It must not show ours."""
    data, settings = xgb.DMatrix(X, Y), {"max_depth": 3, "learning_rate": 0.5}
    booster = train(data, 2, **{**settings, "tree_method": method, "gpu_backend": "auto"})
    was_hist = xgb.train(stock_params(**settings), data, 1)
    capfd.readouterr()
    for one in (booster, was_hist):
        one.set_param("tree_method", "auto")
    (tmp_path / "booster").write_bytes(pickle.dumps(booster))
    read = "import pickle, sys, xgboost as xgb; print(pickle.load(open(sys.argv[1], 'rb')).num_boosted_rounds())"
    assert run_python(read, str(tmp_path / "booster")).stdout.split()[-1] == "2"
    updaters = [config_of(one)["gradient_booster"]["gbtree_train_param"] for one in (booster, was_hist)]
    assert updaters[0] == updaters[1]
    booster.update(data, 2)
    assert all(tree.depth.max() == 3 for tree in trees_of(booster))
    xgb.train({**settings, "tree_method": "auto"}, data, 1, xgb_model=booster)
    assert "not used" not in "".join(capfd.readouterr())


@only_ours
@pytest.mark.parametrize("other", ["auto", "hist", "exact", "approx"])
def test_a_switch_that_fails_can_be_mended(other: str) -> None:
    """This runs in a process of its own: XGBoost crashes if it has noted an updater's name without making one."""
    code = """
import json, sys
import numpy as np, xgboost as xgb
x = np.arange(200.0).reshape(100, 2) % 37
data = xgb.DMatrix(x, x[:, 0])
booster = xgb.train(dict(json.loads(sys.argv[1]), max_depth=3), data, 2)
booster.set_param({"gpu_backend": "auto", "tree_method": sys.argv[2], "eta": "abc"})
try:
    booster.update(data, 2)
except xgb.core.XGBoostError:
    booster.set_param({"tree_method": "hist", "eta": 0.1, "max_depth": 3})
    booster.update(data, 2)
    print(booster.num_boosted_rounds())
"""
    assert run_python(code, json.dumps(params()), other, library=LIBRARY).stdout.split()[-1] == "3"


def test_refresh_of_our_model_equals_stocks() -> None:
    data, half = xgb.DMatrix(X, Y), xgb.DMatrix(X[:250], Y[:250])
    ours = train(data, 4, max_depth=5)
    update = dict(process_type="update", updater="refresh", refresh_leaf=True, nthread=1, eta=0.5)
    by_stock = xgb.train({"tree_method": "hist", **update}, half, 4, xgb_model=ours)
    by_ours = xgb.train(params(**update), half, 4, xgb_model=ours)
    assert_same_trees(by_ours, by_stock)
    assert any(not a.same_as(b) for a, b in zip(trees_of(by_ours), trees_of(ours)))
    assert np.array_equal(by_ours.predict(half), fresh(by_ours).predict(xgb.DMatrix(X[:250])))


@only_ours
@pytest.mark.parametrize("updater", ["refresh", "prune"])
def test_a_booster_that_sampled_with_goss_can_be_updated_and_switched(updater: str) -> None:
    data = xgb.DMatrix(X, Y)
    settings = dict(sampling_method="goss", top_rate=0.3, max_depth=4)
    booster = train(data, 3, **settings)
    update = dict(process_type="update", updater=updater, gamma=1.0, nthread=1)
    by_stock = xgb.train({"tree_method": "hist", **update}, data, 3, xgb_model=bytearray(raw(booster)))
    assert_same_trees(xgb.train(params(**update), data, 3, xgb_model=booster), by_stock)
    switched = booster.copy()
    switched.set_param({"tree_method": "hist"})
    assert np.array_equal(switched.predict(data), booster.predict(data))
    loaded = pickle.loads(pickle.dumps(booster))
    for i in range(3, 5):
        loaded.update(data, i)
    assert_same_trees(loaded, train(data, 5, **settings))


def test_pruning_of_our_model_equals_stocks() -> None:
    data = xgb.DMatrix(X, Y)
    ours = train(data, 3, max_depth=6)
    update = dict(process_type="update", updater="prune", gamma=2.0, nthread=1)
    by_stock = xgb.train({"tree_method": "hist", **update}, data, 3, xgb_model=ours)
    by_ours = xgb.train(params(**update), data, 3, xgb_model=ours)
    assert_same_trees(by_ours, by_stock)
    assert sum(tree.nodes - tree.leaves.size for tree in trees_of(by_ours)) > 0
    assert len(by_ours.get_dump()) == 3 and "".join(by_ours.get_dump()) != "".join(ours.get_dump())


def test_update_and_then_growth_on_the_same_live_booster() -> None:
    data = xgb.DMatrix(X, Y)
    booster = train(data, 3, max_depth=3)
    refreshed = booster.copy()
    refreshed.set_param(dict(process_type="update", updater="refresh", refresh_leaf=True, nthread=1))
    for number in range(3):
        refreshed.update(data, number)
    again = xgb.train(params(max_depth=3), data, 2, xgb_model=fresh(refreshed))
    assert again.num_boosted_rounds() == 5
    assert_same_trees(again[:3], refreshed)
    assert np.array_equal(again.predict(data), fresh(again).predict(xgb.DMatrix(X)))


@only_ours
@pytest.mark.parametrize("sequence", ["grow_gpu_hist", "grow_gpu_hist,prune"])
def test_our_updater_by_name(sequence: str) -> None:
    data = xgb.DMatrix(X, Y)
    by_method = train(data, 3, max_depth=4, gamma=0.5)
    settings = {"updater": sequence, "gpu_backend": params()["gpu_backend"], "max_depth": 4, "gamma": 0.5}
    by_name = xgb.train(settings, data, 3)
    assert_same_trees(by_name, by_method)
    by_name.update(data, 3)  # the copy that train() gives has lost nothing
    by_method.update(data, 3)
    assert_same_trees(by_name, by_method)


def test_stock_updaters_by_name_win_over_the_tree_method() -> None:
    # As in stock, an explicit updater is used, whatever tree_method says.
    data = xgb.DMatrix(X, Y)
    named = xgb.train(params(updater="grow_colmaker,prune", nthread=1, max_depth=3) | other_method(), data, 1)
    exact = xgb.train({"tree_method": "exact", "nthread": 1, "max_depth": 3}, data, 1)
    assert_same_trees(named, exact)


@only_ours
def test_a_stock_pickle_and_configuration_can_become_ours() -> None:
    data = xgb.DMatrix(X, Y)
    stock = pickle.loads(pickle.dumps(train_stock(data, 3, max_depth=3, nthread=1)))
    stock.set_param(params())
    stock.update(data, 3)
    ours = xgb.train(params(max_depth=3), data, 1, xgb_model=train_stock(data, 3, max_depth=3, nthread=1))
    assert_same_trees(stock, ours)


@only_since(300, "XGBoost with CUDA says gpu_hist")
def test_a_configuration_of_hist_on_a_gpu_stays_stocks() -> None:
    """XGBoost with CUDA saves the updater of its own hist as grow_gpu_hist. XGBoost without CUDA takes its hist for it."""
    booster = xgb.Booster(stock_params(max_depth=3), [data := xgb.DMatrix(X, Y)])
    booster.update(data, 0)
    config = config_of(booster)
    gbtree = config["gradient_booster"]
    gbtree["updater"][0]["name"] = "grow_gpu_hist"
    gbtree["gbtree_train_param"].update(updater="grow_gpu_hist", updater_seq="grow_gpu_hist")
    assert gbtree["gbtree_train_param"]["tree_method"] == "hist" and "xgboost_gpu_param" not in gbtree
    booster.load_config(json.dumps({**json.loads(booster.save_config()), "learner": config}))
    booster.set_param({"max_bin": 70000})  # more than gpu_hist takes
    booster.update(data, 1)
    assert "xgboost_gpu_param" not in config_of(booster)["gradient_booster"]


def test_this_suite_knows_whom_it_tests() -> None:
    assert OURS == (METHOD == "gpu_hist")
    booster = train(xgb.DMatrix(X, Y), 1)
    gbm = config_of(booster)["gradient_booster"]
    saved = "xgboost_gpu_param" if OURS and SERIES >= 200 else "gbtree_train_param"
    assert gbm[saved]["tree_method"] == METHOD


@only_ours
def test_a_booster_that_was_trained_before_the_library_was() -> None:
    """A booster from before the library was loaded cannot use it, but its copy can."""
    code = f"""
import numpy as np, xgboost as xgb
x = np.random.default_rng(0).random((300, 4))
data = xgb.DMatrix(x, x[:, 0])
booster = xgb.train(dict(tree_method="hist"), data, 2)
{loading(LIBRARY)}
ours = dict(tree_method="{METHOD}", gpu_backend="{BACKEND}")
booster.set_param(ours)
try:
    booster.update(data, 2)
    raise SystemExit("it was updated")
except xgb.core.XGBoostError as error:
    assert {REFUSAL!r} in str(error), error
booster.set_param(dict(tree_method="hist"))
other = booster.copy()
other.set_param(ours)
other.update(data, 2)
assert other.num_boosted_rounds() == 3
assert xgb.train(ours, data, 1, xgb_model=booster).num_boosted_rounds() == 3
"""
    run_python(code)


@pytest.mark.parametrize("content, name", [("json", "model.ubj"), ("ubj", "model.json")])
def test_a_model_under_the_name_of_another_format_is_shown_in_the_error(tmp_path, content: str, name: str) -> None:
    (tmp_path / name).write_bytes(train_stock(xgb.DMatrix(X, Y), 1).save_raw(content))
    with pytest.raises(xgb.core.XGBoostError, match='{"learner"' if content == "json" else "{L"):
        xgb.Booster(model_file=str(tmp_path / name))
