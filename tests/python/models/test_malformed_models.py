"""A damaged model or configuration gives an error that says what is wrong, and never ends the process.

Every mutation is tried in a process of its own, forked from one that has loaded everything. It loads the model,
predicts, explains and dumps. Stock XGBoost crashes or hangs at about a third of the mutations. Correct models load.
"""

import copy
import json
import os
import pickle
import re
import struct
import subprocess
import sys
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import xgboost as xgb
from support import MODEL_FORMS, SERIES, only_ours, params, raw

ROWS, COLUMNS = 120, 4
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, COLUMNS)).astype(np.float32)
CATEGORIES = np.clip(np.floor(2 * X + 4), 0, 8).astype(np.float32)
Y = (X[:, 0] + X[:, 1] * X[:, 2]).astype(np.float32)
SMALL = {"nthread": 1, "max_depth": 3}


def _numbers(labels: np.ndarray = Y) -> xgb.DMatrix:
    return xgb.DMatrix(X, label=labels)


def _categories() -> xgb.DMatrix:
    return xgb.DMatrix(CATEGORIES, label=Y, feature_types=["c", "q", "c", "c"], enable_categorical=True)


def make_models() -> Dict[str, xgb.Booster]:
    three = RNG.integers(0, 3, ROWS)
    vectors = {}
    if SERIES >= 200:  # trees with several numbers in a leaf
        several = {**SMALL, "tree_method": "hist", "multi_strategy": "multi_output_tree"}
        vectors["vectors"] = xgb.train(several, _numbers(np.column_stack([Y, -Y])), 2)
    return {
        **vectors,
        "gbtree": xgb.train({**SMALL, "tree_method": "hist"}, _numbers(), 3),
        "dart": xgb.train({**SMALL, "tree_method": "hist", "booster": "dart", "rate_drop": 0.5}, _numbers(), 3),
        "gblinear": xgb.train({"nthread": 1, "booster": "gblinear"}, _numbers(), 2),
        "categories": xgb.train({**SMALL, "tree_method": "hist", "max_cat_to_onehot": 1}, _categories(), 2),
        "classes": xgb.train({**SMALL, "tree_method": "hist", "objective": "multi:softprob", "num_class": 3}, _numbers(three), 2),
    }


MODELS = make_models()
JSON = {name: json.loads(model.save_raw("json")) for name, model in MODELS.items()}

Mutation = Callable[[Dict[str, Any]], None]


def booster_of(model: Dict[str, Any]) -> Dict[str, Any]:
    booster = model["learner"]["gradient_booster"]
    return booster.get("gbtree", booster)


def trees_of(model: Dict[str, Any]) -> List[Dict[str, Any]]:
    return booster_of(model)["model"]["trees"]


def put(name: str, node: int, value: Any) -> Mutation:
    """Changes one value of the second tree's list `name`."""

    def mutate(model: Dict[str, Any]) -> None:
        trees_of(model)[1][name][node] = value

    return mutate


def shorten(name: str, by: int = 1) -> Mutation:
    def mutate(model: Dict[str, Any]) -> None:
        del trees_of(model)[1][name][-by:]

    return mutate


def drop(name: str) -> Mutation:
    def mutate(model: Dict[str, Any]) -> None:
        del trees_of(model)[1][name]

    return mutate


def param(section: str, name: str, value: str) -> Mutation:
    def mutate(model: Dict[str, Any]) -> None:
        place = {
            "learner": model["learner"]["learner_model_param"],
            "model": booster_of(model)["model"].get("gbtree_model_param"),
            "tree": trees_of(model)[1]["tree_param"] if "trees" in booster_of(model)["model"] else None,
        }[section]
        place[name] = value

    return mutate


def of_model(change: Callable[[Dict[str, Any]], None]) -> Mutation:
    return lambda model: change(booster_of(model)["model"])


def of_booster(change: Callable[[Dict[str, Any]], None]) -> Mutation:
    return lambda model: change(model["learner"]["gradient_booster"])


def of_weights(change: Callable[[Dict[str, Any]], None]) -> Mutation:
    """Changes what has the weights of trees: the booster, or its model."""

    def mutate(model: Dict[str, Any]) -> None:
        booster = model["learner"]["gradient_booster"]
        change(booster if "weight_drop" in booster else booster["model"])

    return mutate


def leaf_at(name: str, value: Any) -> Mutation:
    """Changes the number that the first leaf of the second tree has in the list `name`."""

    def mutate(model: Dict[str, Any]) -> None:
        tree = trees_of(model)[1]
        tree[name][tree["left_children"].index(-1)] = value

    return mutate


def cycle(model: Dict[str, Any]) -> None:
    """Gives the first split below the root the root's own children, so that a walk need not end."""
    tree = trees_of(model)[1]
    node = next(n for n in range(1, len(tree["left_children"])) if tree["left_children"][n] != -1)
    tree["left_children"][node], tree["right_children"][node] = 1, 2


def shared(model: Dict[str, Any]) -> None:
    """Gives both children of the root the same children."""
    tree = trees_of(model)[1]
    for node in (1, 2):
        tree["left_children"][node], tree["right_children"][node] = 3, 4


def set_to(name: str, value: Any) -> Callable[[Dict[str, Any]], None]:
    def change(where: Dict[str, Any]) -> None:
        where[name] = value

    return change


#: Since 3.1 XGBoost compares the numbers of base scores, before it asks the booster.
CLASSES = "num_class" if SERIES < 301 else "num_class|n_classes"
#: It also makes a base score for each target.
TARGETS: List[Tuple[str, str, Mutation, str]] = [
    ("targets_many", "gbtree", param("learner", "num_target", "2000000000"), "num_target")
] if SERIES < 301 else []
#: Since 3.3 trees without weights have the weight 1.
NO_WEIGHTS: List[Tuple[str, str, Mutation, str]] = [
    ("dart_empty", "dart", of_booster(set_to("weight_drop", [])), "weight_drop"),
    ("dart_none", "dart", of_booster(lambda b: b.pop("weight_drop")), "weight_drop"),
] if SERIES < 303 else []
#: Vectors have a list of their own since 3.2, and right_children their places in it.
VECTORS: List[Tuple[str, str, Mutation, str]] = [
    ("vector_left", "vectors", put("left_children", 0, 2_000_000_000), "Node 0 of tree 1.*left child"),
    ("vector_short", "vectors", shorten("base_weights"), "base_weights"),
    ("vector_size", "vectors", param("tree", "size_leaf_vector", "3"), "base_weights|size_leaf_vector|leaf_weights"),
    ("vector_targets", "vectors", param("learner", "num_target", "3"), "size_leaf_vector|num_target|n_targets"),
    *(([(f"vector_at_{at}", "vectors", leaf_at("right_children", at), "has the number") for at in (-1, 1000, 2_000_000_000)]
       + [("vector_list", "vectors", shorten("leaf_weights"), "leaf_weights"),
          ("vector_no_list", "vectors", drop("leaf_weights"), "leaf_weights"),
          ("vector_no_gains", "vectors", drop("loss_changes"), "loss_changes")]) if SERIES >= 302 else []),
] if SERIES >= 200 else []

# name, model, mutation, what the error must name
STRUCTURE: List[Tuple[str, str, Mutation, str]] = (
    [(f"left_{value}", "gbtree", put("left_children", 0, value), "Node 0 of tree 1.*left child")
     for value in (2_000_000_000, -5, 0, 100, -2_147_483_648)]
    + [(f"right_{value}", "gbtree", put("right_children", 0, value), "Node 0 of tree 1.*right child")
       for value in (2_000_000_000, -5, 0, -1, 100)]
    + [(f"parent_{value}", "gbtree", put("parents", 2, value), "Node 2 of tree 1.*parent")
       for value in (2_000_000_000, -5, -1, 100_000, 2_147_483_647)]
    + [(f"feature_{value}", "gbtree", put("split_indices", 0, value), "Node 0 of tree 1.*feature")
       for value in (2_000_000_000, -5, COLUMNS, 100_000, 2_147_483_647)]
    + [(f"short_{name}", "gbtree", shorten(name), f"(?i)tree 1.*{name}|{name}")
       for name in ("left_children", "right_children", "parents", "split_indices", "split_conditions", "default_left",
                    "loss_changes", "sum_hessian", "base_weights", "split_type")]
    + [(f"no_{name}", "gbtree", drop(name), name)
       for name in ("left_children", "right_children", "parents", "split_indices", "split_conditions", "default_left",
                    "loss_changes", "sum_hessian", "base_weights", "categories", "categories_nodes",
                    "categories_segments", "categories_sizes", "id")]
    + [
        ("empty_type", "gbtree", of_model(lambda m: m["trees"][1].update(split_type=[])), "split_type"),
        ("type_1", "gbtree", put("split_type", 0, 1), "Node 0 of tree 1.*split_type"),
        ("type_7", "gbtree", put("split_type", 0, 7), "Node 0 of tree 1.*split_type"),
        ("cycle", "gbtree", cycle, "one way from the root"),
        ("shared", "gbtree", shared, "one way from the root"),
        ("text_child", "gbtree", put("left_children", 0, "1"), "left_children"),
        ("fraction_child", "gbtree", put("left_children", 0, 1.5), "left_children"),
        ("nodes_1", "gbtree", param("tree", "num_nodes", "1"), "num_nodes"),
        ("nodes_many", "gbtree", param("tree", "num_nodes", "2000000000"), "num_nodes"),
        ("nodes_negative", "gbtree", param("tree", "num_nodes", "-3"), "num_nodes"),
        ("trees_0", "gbtree", param("model", "num_trees", "0"), "num_trees"),
        ("trees_2", "gbtree", param("model", "num_trees", "2"), "num_trees"),
        ("trees_many", "gbtree", param("model", "num_trees", "2000000000"), "num_trees"),
        ("trees_negative", "gbtree", param("model", "num_trees", "-1"), "num_trees"),
        ("info_short", "gbtree", of_model(lambda m: m["tree_info"].pop()), "tree_info"),
        ("info_empty", "gbtree", of_model(set_to("tree_info", [])), "tree_info"),
        ("info_5", "gbtree", of_model(lambda m: m["tree_info"].__setitem__(1, 5)), "Tree 1 is of output 5"),
        ("info_negative", "gbtree", of_model(lambda m: m["tree_info"].__setitem__(1, -1)), "Tree 1 is of output -1"),
        ("info_many", "gbtree", of_model(lambda m: m["tree_info"].__setitem__(1, 2_000_000_000)), "Tree 1 is of output"),
        ("info_3", "classes", of_model(lambda m: m["tree_info"].__setitem__(1, 3)), "Tree 1 is of output 3"),
        ("trees_text", "gbtree", of_model(set_to("trees", "many")), "trees"),
        ("one_tree_less", "gbtree", of_model(lambda m: m["trees"].pop()), "num_trees"),
        ("id_twice", "gbtree", of_model(lambda m: m["trees"][1].update(id=0)), "id 0"),
        ("id_negative", "gbtree", of_model(lambda m: m["trees"][1].update(id=-1)), "id -1"),
        ("id_many", "gbtree", of_model(lambda m: m["trees"][1].update(id=2_000_000_000)), "id 2000000000"),
        ("no_trees", "gbtree", of_model(lambda m: m.pop("trees")), "trees"),
        ("no_info", "gbtree", of_model(lambda m: m.pop("tree_info")), "tree_info"),
        ("parallel_0", "gbtree", param("model", "num_parallel_tree", "0"), "num_parallel_tree"),
        ("parallel_many", "classes", param("model", "num_parallel_tree", "2147483647"), "num_parallel_tree"),
        ("features_2", "gbtree", param("learner", "num_feature", "1"), "num_feature"),
        ("features_0", "gbtree", param("learner", "num_feature", "0"), "feature"),
        ("classes_many", "classes", param("learner", "num_class", "2000000000"), CLASSES),
        ("classes_2", "classes", param("learner", "num_class", "2"), CLASSES),
        ("classes_negative", "classes", param("learner", "num_class", "-2"), "num_class"),
        ("dart_short", "dart", of_weights(lambda b: b["weight_drop"].pop()), "weight_drop"),
        ("dart_text", "dart", of_weights(set_to("weight_drop", "x")), "weight_drop"),
        ("dart_left", "dart", put("left_children", 0, 2_000_000_000), "Node 0 of tree 1"),
        ("dart_cycle", "dart", cycle, "one way from the root"),
        ("linear_short", "gblinear", of_model(lambda m: m["weights"].pop()), "weights"),
        ("linear_one", "gblinear", of_model(set_to("weights", [1.0])), "weights"),
        ("linear_none", "gblinear", of_model(lambda m: m.pop("weights")), "weights"),
        ("linear_text", "gblinear", of_model(set_to("weights", "x")), "weights"),
        ("linear_features", "gblinear", param("learner", "num_feature", "5000"), "weights"),
        ("linear_classes", "gblinear", param("learner", "num_class", "7"), "weights"),
    ]
    + TARGETS
    + NO_WEIGHTS
    + VECTORS
    + [(f"category_{value}", "categories", put("categories", 0, value), "categories")
       for value in (-1, -2_000_000_000, 2_000_000_000, 16_777_216)]
    + [(f"segment_{value}", "categories", put("categories_segments", 0, value), "categories")
       for value in (-1, 100, 2_000_000_000)]
    + [(f"size_{value}", "categories", put("categories_sizes", 0, value), "categories")
       for value in (0, -1, 1000, 2_000_000_000)]
    + [(f"category_node_{value}", "categories", put("categories_nodes", 0, value), "categories_nodes")
       for value in (-1, 1000, 2_000_000_000)]
    + [(f"category_short_{name}", "categories", shorten(name), "categories")
       for name in ("categories_nodes", "categories_segments", "categories_sizes")]
    + [("no_listed_categories", "categories",
        of_model(lambda m: m["trees"][1].update(categories_nodes=[], categories_segments=[], categories_sizes=[])),
        "categories_nodes")]
)


def as_json(model: Dict[str, Any]) -> bytes:
    return json.dumps(model).encode()


def find(ubj: bytes, name: str) -> int:
    """Returns where the value begins that follows a name."""
    return ubj.index(b"L" + struct.pack(">q", len(name)) + name.encode()) + 9 + len(name)


def _bytes_with(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new):]


def make_bytes() -> List[Tuple[str, bytes]]:
    ubj = bytes(MODELS["gbtree"].save_raw("ubj"))
    size_of_list = find(ubj, "base_weights") + len("[$d#L")
    trees = find(ubj, "trees")
    cases = [(f"ubj_cut_{share}", ubj[: len(ubj) * share // 100]) for share in (1, 10, 30, 50, 70, 90, 99)]
    cases += [(f"ubj_cut_by_{n}", ubj[:-n]) for n in (1, 2, 5)]
    for size in (-1, -(2**62), 2**31, 2**40, 2**62, 10**9, len(ubj)):
        cases.append((f"ubj_list_of_{size}", _bytes_with(ubj, size_of_list, struct.pack(">q", size))))
        cases.append((f"ubj_trees_{size}", _bytes_with(ubj, trees + len("[#L"), struct.pack(">q", size))))
        cases.append((f"ubj_name_of_{size}", _bytes_with(ubj, 2, struct.pack(">q", size))))
    cases += [
        ("ubj_no_type", _bytes_with(ubj, size_of_list - 3, b"q")),
        ("ubj_no_value", _bytes_with(ubj, trees, b"\xff")),
        ("ubj_open_list", b"{L" + struct.pack(">q", 1) + b"a[" + b"Z" * 100),
        ("ubj_deep", b"{L" + struct.pack(">q", 1) + b"a" + b"[" * 1_000_000),
        ("json_deep_list", b'{"a": ' + b"[" * 1_000_000),
        ("json_deep_object", b'{"a": ' * 1_000_000),
        ("json_deep_closed", b'{"learner": ' + b"[" * 500_000 + b"]" * 500_000 + b"}"),
    ]
    text = as_json(JSON["gbtree"])
    cases += [(f"json_cut_{share}", text[: len(text) * share // 100]) for share in (1, 30, 70, 99)]
    return cases


BYTES = make_bytes()


def outcomes(cases: List[Tuple[bytes, str, str]]) -> List[str]:
    """Returns what became of each model in malformed_worker.py."""
    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "malformed_worker.py")
    run = subprocess.run(
        [sys.executable, worker], input=pickle.dumps(cases), stdout=subprocess.PIPE, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"})
    return json.loads(run.stdout)


def mutated(model: str, mutate: Mutation) -> Dict[str, Any]:
    changed = copy.deepcopy(JSON[model])
    mutate(changed)
    return changed


@only_ours
def test_damaged_structure_is_an_error_that_names_it() -> None:
    found = outcomes([(as_json(mutated(model, mutate)), "buffer", "json") for _, model, mutate, _ in STRUCTURE])
    wrong = {name: text for (name, _, _, names), text in zip(STRUCTURE, found) if not re.search(names, text)}
    assert not wrong


@only_ours
def test_damaged_bytes_are_an_error() -> None:
    ways = [("buffer", "json"), ("pickle", "json"), ("file", "json"), ("file", "ubj")]
    cases = [(name, way) for name, _ in BYTES for way in ways if way[1] == "json" or name.startswith("ubj")]
    raws = dict(BYTES)
    found = outcomes([(raws[name], *way) for name, way in cases])
    wrong = {case: text for case, text in zip(cases, found) if text in ("no error", "hangs") or text.startswith("died")}
    assert not wrong


@only_ours
def test_nested_configurations_are_an_error() -> None:
    deep = "[" * 1_000_000
    config = json.loads(MODELS["gbtree"].save_config())
    gbm = config["learner"]["gradient_booster"]
    settings = gbm["tree_train_param"] if SERIES >= 200 else gbm["updater"]["grow_quantile_histmaker"]["train_param"]
    settings["interaction_constraints"] = deep
    found = outcomes([(b'{"learner": ' + deep.encode(), "config", ""), (json.dumps(config).encode(), "config", "")])
    assert "nested" in found[0] and "256" in found[0]
    assert "interaction_constraints" in found[1] and "nested" in found[1]


@only_ours
def test_nested_interaction_constraints_are_an_error() -> None:
    for method in (params(), {"tree_method": "hist"}, {"tree_method": "exact"}):
        for text in ("[" * 1_000_000, "[[" + "[" * 100_000 + "]" * 100_000 + "]]"):
            try:
                xgb.train({**method, "interaction_constraints": text}, _numbers(), 1)
            except xgb.core.XGBoostError as error:
                assert "interaction_constraints" in str(error)
            else:
                raise AssertionError("no error")


def test_a_refused_model_leaves_the_booster_as_it_was() -> None:
    booster = MODELS["gbtree"].copy()
    before = booster.predict(_numbers())
    for damaged in (b'{"a": ' + b"[" * 1000, bytes(booster.save_raw("ubj"))[:-20]):
        try:
            booster.load_model(bytearray(damaged))
        except xgb.core.XGBoostError:
            pass
        else:
            raise AssertionError("no error")
        assert np.array_equal(booster.predict(_numbers()), before)


def test_what_is_as_it_should_be_loads() -> None:
    pruned = xgb.train({**SMALL, "tree_method": "exact", "max_depth": 6, "gamma": 0.5}, _numbers(), 4)
    assert "2147483647" in bytes(pruned.save_raw("json")).decode()  # a node that was deleted
    refreshed = xgb.train(
        {**SMALL, "process_type": "update", "updater": "refresh,prune", "gamma": 0.1}, _numbers(), 3,
        xgb_model=MODELS["gbtree"])
    forest = xgb.train({**SMALL, "tree_method": "hist", "num_parallel_tree": 3, "subsample": 0.5}, _numbers(), 2)
    two_outputs = xgb.train({**SMALL, "tree_method": "hist"}, xgb.DMatrix(X, label=np.stack([Y, -Y], axis=1)), 2)
    others = [pruned, refreshed, forest, two_outputs, MODELS["classes"][1:2], MODELS["dart"][0:2],
              xgb.train({**SMALL, "objective": "count:poisson"}, _numbers(np.abs(Y)), 0)]
    others += [xgb.train(params(objective=objective), _numbers((Y > 0).astype(np.float32)), 2)
               for objective in ("binary:logistic", "rank:pairwise", "survival:cox", "reg:absoluteerror")]
    for booster in [*MODELS.values(), *others]:
        data = _categories() if booster is MODELS["categories"] else _numbers()
        expected = booster.predict(data)
        forms = MODEL_FORMS[:2] if booster is MODELS["categories"] else MODEL_FORMS
        for form in forms:
            loaded = xgb.Booster()
            loaded.load_model(bytearray(booster.save_raw(form)))
            if form != "deprecated":
                assert raw(loaded) == raw(booster)
            assert np.array_equal(loaded.predict(data), expected)
        assert np.array_equal(pickle.loads(pickle.dumps(booster)).predict(data), expected)


@only_ours
def test_a_configuration_of_another_version_may_say_more() -> None:
    """A parameter that this version does not know has no effect, and does not end the process at the next set_param."""
    booster = xgb.train(params(), _numbers(), 1)
    config = json.loads(booster.save_config())
    config["learner"]["gradient_booster"]["xgboost_gpu_param"]["of_another_version"] = "1"
    booster.load_config(json.dumps(config))
    booster.set_param("max_depth", 2)
    booster.update(_numbers(), 1)
    assert booster.num_boosted_rounds() == 2
