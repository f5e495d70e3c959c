"""Categorical features: stock hist's trees, models of stock's form, and rows that go where the model says.

Both methods are given the same gradients round by round. The same categories must go the same way, unless two splits
gain the same to within the rounding of stock's float32: without missing values the two scans offer the same divisions.
"""

import json
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse
from support import (
    FLOAT_EPS,
    assert_adds_up,
    few_values,
    fresh,
    model_of,
    only_before,
    only_ours,
    params,
    raw,
    run_python,
    stock_params,
    train,
)

# Of a saved tree: all that says which row goes where, but for thresholds.
STRUCTURE = [
    "categories",
    "categories_nodes",
    "categories_segments",
    "categories_sizes",
    "split_type",
    "split_indices",
    "default_left",
    "left_children",
    "right_children",
    "parents",
]
# Of float32 sums and gains that stock computes from float32 gradients in double, rounding its gains term by term: a
# difference of two terms may lose some digits, gains of 1 beside sums of 100.
CLOSE = dict(rtol=1e-4, atol=1e-4)


def make_table(
    rows: int, levels: List[int], numbers: int = 2, missing: float = 0.0, seed: int = 0
) -> Tuple[np.ndarray, np.ndarray, List[str]]:
    """Categories first, then normal features; a label to which each category adds its own number."""
    rng = np.random.default_rng(seed)
    columns, label = [], 0.1 * rng.normal(size=rows)
    for n in levels:
        category = rng.integers(0, n, rows)
        label += rng.normal(size=n)[category]
        columns.append(category.astype(float))
    for _ in range(numbers):
        columns.append(rng.normal(size=rows))
        label += np.sin(columns[-1])
    x = np.stack(columns, axis=1).astype(np.float32)
    x[rng.random(x.shape) < missing] = np.nan
    x[:, len(levels) :] = few_values(x[:, len(levels) :])
    return x, label.astype(np.float32), ["c"] * len(levels) + ["float"] * numbers


def matrix(x: Any, label: Optional[np.ndarray], types: List[str], **others: Any) -> xgb.DMatrix:
    return xgb.DMatrix(x, label, feature_types=types, enable_categorical=True, **others)


def in_step(data: xgb.DMatrix, rounds: int, **parameters: Any) -> Tuple[List[Dict], List[Dict]]:
    """Trees of both methods, each round starting from the same model."""
    ours, stock = [], []
    booster = None
    for _ in range(rounds):
        stock_next = xgb.train(stock_params(nthread=1, **parameters), data, 1, xgb_model=booster)
        ours_next = xgb.train(params(**parameters), data, 1, xgb_model=booster)
        trees = len(model_of(booster)["trees"]) if booster is not None else 0
        ours += model_of(ours_next)["trees"][trees:]
        stock += model_of(stock_next)["trees"][trees:]
        booster = stock_next
    return ours, stock


def split_of(tree: Dict, node: int) -> Tuple:
    """What decides where the rows of a node go."""
    categories: List[int] = []
    if tree["split_type"][node] == 1:
        place = tree["categories_nodes"].index(node)
        first = tree["categories_segments"][place]
        categories = tree["categories"][first : first + tree["categories_sizes"][place]]
    return tree["split_indices"][node], tree["default_left"][node], categories


def largest_rounding(tree: Dict, node: int) -> float:
    """Stock rounds the three gains of left, right and parent, the first two having the sum parent + gain, and their
    differences to float32; so a gain is off by three roundings of that sum, and a choice between two by twice that."""
    parent = tree["base_weights"][node] ** 2 * (tree["sum_hessian"][node] + 1)
    return 6 * FLOAT_EPS * (parent + tree["loss_changes"][node])


def assert_same(ours: List[Dict], stock: List[Dict]) -> None:
    """Node by node; below a split that gains the same as the other's, to within rounding, trees may differ."""
    same = ties = 0
    assert len(ours) == len(stock) > 0
    for number, (a, b) in enumerate(zip(ours, stock)):
        assert set(a) == set(b)
        pairs = [(0, 0)]
        for m, n in pairs:
            where = f"tree {number}, nodes {m} and {n}"
            for name in ["split_conditions", "loss_changes", "sum_hessian", "base_weights"]:
                # Stock's threshold of a split by categories is NaN, ours is 1e-45.
                unused = name == "split_conditions" and a["split_type"][m] == 1
                if split_of(a, m) == split_of(b, n) and not unused:
                    np.testing.assert_allclose(a[name][m], b[name][n], err_msg=f"{where}, {name}", **CLOSE)
            if split_of(a, m) == split_of(b, n) and a["split_type"][m] == b["split_type"][n]:
                same += 1
                assert (a["left_children"][m] == -1) == (b["left_children"][n] == -1), where
                if a["left_children"][m] != -1:
                    pairs.append((a["left_children"][m], b["left_children"][n]))
                    pairs.append((a["right_children"][m], b["right_children"][n]))
            else:
                assert abs(a["loss_changes"][m] - b["loss_changes"][n]) <= largest_rounding(b, n), where
                ties += 1
    assert ties <= 0.05 * same
    assert sum(len(tree["categories_nodes"]) for tree in ours) > 0


CASES = {
    "few": ([3, 2], {}),
    "few and many": ([3, 10, 40], {}),
    "at the limit": ([4, 5, 6], dict(max_cat_to_onehot=5)),
    "one by one": ([30, 100], dict(max_cat_to_onehot=1000)),
    "always sorted": ([2, 3, 4], dict(max_cat_to_onehot=1)),
    "sorted": ([30, 100], {}),
    "small threshold": ([30, 300], dict(max_cat_threshold=8)),
    "no sorted splits": ([30, 3], dict(max_cat_threshold=1)),
    "more than max_bin": ([300], dict(max_bin=16, max_cat_threshold=1000)),
    "lossguide": ([30, 100], dict(grow_policy="lossguide", max_leaves=20, max_depth=0)),
    "alpha": ([30, 100], dict(reg_alpha=2.0)),
    "max_delta_step": ([30, 100], dict(max_delta_step=0.2)),
    "min_child_weight": ([30, 100], dict(min_child_weight=40)),
    "monotone": ([12, 30], dict(monotone_constraints="(1,-1,1,0)")),
    "interactions": ([12, 30], dict(interaction_constraints="[[0, 2], [1, 3]]")),
    "lambda 0": ([30, 10], dict(reg_lambda=0.0)),
}


#: Before 3.4 stock code puts categories of less than min_child_weight among those of weight 0, and so does the library.
SORTED_AS_BEFORE = {"min_child_weight": only_before(304, "stock code sorts light categories by their weights")}


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=SORTED_AS_BEFORE.get(name, ())) for name in CASES])
def test_trees_are_stocks(name: str, missing: float) -> None:
    levels, parameters = CASES[name]
    # Stock cuts more than 8 · max_bin distinct numbers by a sketch, at other places than ours.
    x, y, types = make_table(2000, levels, numbers=0 if "max_bin" in parameters else 2, missing=missing)
    assert_same(*in_step(matrix(x, y, types), 3, **{"max_depth": 5, **parameters}))


def test_trees_are_stocks_on_sparse_data() -> None:
    x, y, types = make_table(3000, [3, 20, 50], missing=0.8)
    rows, columns = np.nonzero(~np.isnan(x))
    csr = sparse.csr_matrix((x[rows, columns], (rows, columns)), shape=x.shape)
    assert_same(*in_step(matrix(csr, y, types), 3))


def test_trees_are_stocks_with_weights() -> None:
    x, y, types = make_table(2000, [3, 30])
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 2000)
    light = 0.1  # no category weighs less, of which series sort some otherwise
    assert_same(*in_step(matrix(x, y, types, weight=weight), 3, min_child_weight=light))


def test_trees_are_stocks_with_classes() -> None:
    x, y, types = make_table(2000, [3, 30])
    label = np.digitize(y, np.quantile(y, [0.33, 0.67]))
    assert_same(*in_step(matrix(x, label, types), 2, objective="multi:softprob", num_class=3, min_child_weight=0.1))


def codes(column: np.ndarray) -> pd.Categorical:
    """Whole numbers as a column of categories; NaN is missing."""
    numbers = np.where(np.isnan(column), -1, column).astype(int)
    return pd.Categorical.from_codes(numbers, categories=range(numbers.max() + 1))


def test_quantile_matrix_gives_the_same_trees() -> None:
    x, y, types = make_table(2000, [3, 30], numbers=0, missing=0.1)
    frame = pd.DataFrame({f"c{i}": codes(column) for i, column in enumerate(x.T)})
    plain = xgb.DMatrix(frame, y, enable_categorical=True)
    binned = xgb.QuantileDMatrix(frame, y, enable_categorical=True)
    assert raw(train(plain, 3)) == raw(train(binned, 3))


def test_rows_of_weight_zero_have_categories_too() -> None:
    x, y, types = make_table(1000, [20])
    x[0, 0] = 31  # seen nowhere else
    weight = np.ones(1000)
    weight[0] = 0
    data = matrix(x, y, types, weight=weight)
    booster = train(data, 3)
    np.testing.assert_array_equal(booster.predict(data), fresh(booster).predict(matrix(x, None, types)))


@pytest.mark.parametrize("subsample", [1.0, 0.5, 0.1])
def test_predictions_of_training_are_those_of_the_model(subsample: float) -> None:
    x, y, types = make_table(3000, [3, 40, 400], missing=0.2)
    data = matrix(x, y, types)
    booster = train(data, 5, subsample=subsample, seed=3)
    np.testing.assert_array_equal(booster.predict(data), fresh(booster).predict(matrix(x, None, types)))


def test_unknown_categories_go_where_stock_sends_them() -> None:
    x, y, types = make_table(2000, [3, 40], missing=0.1)
    data = matrix(x, y, types)
    booster = train(data, 4)
    strange = np.tile(x[:8], (6, 1))
    strange[0:8, 1] = 1000  # unseen
    strange[8:16, 1] = np.nan
    strange[16:24, 0] = -3
    strange[24:32, 1] += 0.7
    strange[32:40, 0] = 2.0**25
    stock = xgb.train(stock_params(nthread=1), data, 4)
    unseen = matrix(strange, None, types)
    np.testing.assert_array_equal(booster.predict(unseen, pred_leaf=True), stock.predict(unseen, pred_leaf=True))
    np.testing.assert_array_equal(booster.predict(unseen), fresh(booster).predict(unseen))


def test_evaluation_is_that_of_predictions() -> None:
    x, y, types = make_table(4000, [3, 40], missing=0.1)
    data, other = matrix(x[:2500], y[:2500], types), matrix(x[2500:], y[2500:], types)
    log: Dict[str, Dict[str, List[float]]] = {}
    booster = xgb.train(
        params(), data, 5, evals=[(data, "train"), (other, "test")], evals_result=log, verbose_eval=False
    )
    for name, part, label in (("train", data, y[:2500]), ("test", other, y[2500:])):
        errors = fresh(booster).predict(part).astype(float) - label
        # Squares are summed in float by neither; predictions are the same floats. The metric is printed in full.
        np.testing.assert_allclose(log[name]["rmse"][-1], np.sqrt(np.mean(errors**2)), rtol=1e-6)


def test_explanations_dumps_and_tables() -> None:
    x, y, types = make_table(1500, [3, 40], missing=0.1)
    data = matrix(x, y, types, feature_names=["few", "many", "a", "b"])
    booster = train(data, 3)
    margins = booster.predict(data, output_margin=True)
    assert_adds_up(booster, booster.predict(data, pred_contribs=True), margins)
    assert_adds_up(booster, booster.predict(data, pred_interactions=True), margins)
    assert booster.predict(data, pred_leaf=True).shape == (1500, 3)
    assert any("{" in tree for tree in booster.get_dump())
    assert '"split_condition": [' in "".join(booster.get_dump(dump_format="json"))
    table = booster.trees_to_dataframe()
    tree = model_of(booster)["trees"][0]
    first = table[(table.Tree == 0) & (table.Node == tree["categories_nodes"][0])]
    assert sorted(int(c) for c in first.Category.iloc[0]) == tree["categories"][: tree["categories_sizes"][0]]
    assert ":{" in "".join(booster.get_dump(dump_format="dot"))  # what to_graphviz draws


def test_models_are_stocks(tmp_path) -> None:
    x, y, types = make_table(1000, [3, 40], missing=0.1)
    booster = train(matrix(x, y, types), 3)
    booster.save_model(tmp_path / "model.json")
    np.save(tmp_path / "x.npy", x)
    code = f"""
import numpy as np, xgboost as xgb
x = np.load({str(tmp_path / "x.npy")!r})
booster = xgb.Booster(model_file={str(tmp_path / "model.json")!r})
data = xgb.DMatrix(x, feature_types={types!r}, enable_categorical=True)
np.save({str(tmp_path / "y.npy")!r}, booster.predict(data))
booster.save_model({str(tmp_path / "again.json")!r})
"""
    run_python(code)  # stock XGBoost alone
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), booster.predict(matrix(x, None, types)))
    again = json.loads((tmp_path / "again.json").read_text())["learner"]["gradient_booster"]["model"]["trees"]
    for a, b in zip(model_of(booster)["trees"], again):
        assert all(a[name] == b[name] for name in STRUCTURE)


STRICT = {
    "sets": {},
    "one against the others": dict(max_cat_to_onehot=100),
    "loss-guided": dict(grow_policy="lossguide", max_leaves=6, max_depth=0),
    "symmetric": dict(grow_policy="symmetric"),
    "dart": dict(booster="dart", rate_drop=0.5, seed=3),
    "exact": dict(tree_method="gpu_exact", max_cat_to_onehot=100),
    "classes": dict(objective="multi:softprob", num_class=3),
    "forest": dict(num_parallel_tree=2, subsample=0.5),
}


@only_ours
@pytest.mark.parametrize("kind", STRICT)
def test_json_of_models_is_json(kind: str, tmp_path: Any) -> None:
    """What a parser without XGBoost's NaN reads. Stock reads the model and predicts the same."""
    x, label, types = make_table(500, [3, 12], missing=0.1)
    if kind == "exact":
        types = ["float"] * len(types)  # it splits by no category, and is strict as it was
    data = matrix(x, np.digitize(label, [-1, 1]) if kind == "classes" else label, types)
    booster = train(data, 3, **{"max_depth": 3, **STRICT[kind]})
    booster.save_model(tmp_path / "model.json")
    texts = [(tmp_path / "model.json").read_text(), bytes(booster.save_raw("json")).decode(), booster.save_config()]
    texts += booster.get_dump(dump_format="json", with_stats=True)
    for text in texts:
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    trees = model_of(booster)["trees"]
    assert sum(len(tree["categories_nodes"]) for tree in trees) > 0 or kind == "exact"
    again = xgb.Booster(model_file=str(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.predict(data), booster.predict(data))
    assert model_of(again) == model_of(booster)


def test_training_goes_on_from_a_saved_model() -> None:
    x, y, types = make_table(1500, [3, 40], missing=0.1)
    data = matrix(x, y, types)
    first = train(data, 2)
    assert raw(xgb.train(params(), data, 2, xgb_model=fresh(first, **params()))) == raw(train(data, 4))


@only_ours
def test_any_number_of_threads() -> None:
    x, y, types = make_table(5000, [3, 40, 700], missing=0.1)
    data = matrix(x, y, types)
    models = {raw(train(data, 3, nthread=threads, subsample=0.7, colsample_bynode=0.7)) for threads in (1, 2, 5)}
    assert len(models) == 1


@only_ours  # stock crashes
def test_types_may_change_between_trainings() -> None:
    x, y, types = make_table(1000, [40], numbers=1)
    data = xgb.DMatrix(x, y)
    numbers = train(data, 2)
    data.set_info(feature_types=types)
    categories = train(data, 2)
    assert "categories_nodes" in model_of(categories)["trees"][0]
    assert len(model_of(categories)["trees"][0]["categories_nodes"]) > 0
    assert len(model_of(numbers)["trees"][0]["categories_nodes"]) == 0
    assert model_of(categories)["trees"] == model_of(train(matrix(x, y, types), 2))["trees"]


def test_data_frames_and_estimators() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"town": pd.Categorical(rng.choice(list("abcdefgh"), 600)), "size": rng.normal(size=600)}
    )
    label = frame.town.isin(["b", "e", "g"]).to_numpy() ^ (rng.random(600) < 0.05)
    model = xgb.XGBClassifier(n_estimators=5, enable_categorical=True, **params())
    model.fit(frame, label)
    assert model.score(frame, label) > 0.9
    assert model.get_booster().feature_types == ["c", "float"]
    assert model_of(model.get_booster())["trees"][0]["split_type"][0] == 1


def test_one_category_against_the_others_is_a_column_of_its_own() -> None:
    """Indicator columns and one-by-one splits offer the same divisions: the same gains and sums."""
    x, y, types = make_table(2000, [6], numbers=0)
    indicators = (x == np.arange(6)).astype(np.float32)
    parameters = dict(max_depth=3, max_cat_to_onehot=10)
    one = model_of(train(matrix(x, y, types), 1, **parameters))["trees"][0]
    other = model_of(train(xgb.DMatrix(indicators, y), 1, **parameters))["trees"][0]
    np.testing.assert_array_equal(one["loss_changes"], other["loss_changes"])
    np.testing.assert_array_equal(one["sum_hessian"], other["sum_hessian"])
    assert one["categories"] == [other["split_indices"][node] for node in one["categories_nodes"]]


@only_ours
@pytest.mark.parametrize("value", [-1.0, -0.5, 65535.0, 1e9], ids=str)
def test_what_is_no_category(value: float) -> None:
    x, y, types = make_table(100, [5])
    x[17, 0] = value
    with pytest.raises(xgb.core.XGBoostError, match="Category of row 17, feature 0 is .*; allowed: 0 to 65534"):
        train(matrix(x, y, types), 1)


@pytest.mark.parametrize("name", ["max_cat_to_onehot", "max_cat_threshold"])
def test_limits_out_of_range(name: str) -> None:
    x, y, types = make_table(100, [5])
    with pytest.raises(xgb.core.XGBoostError, match=name):
        train(matrix(x, y, types), 1, **{name: 0})
