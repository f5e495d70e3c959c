"""xgboost_gpu.compare: which nodes it calls alike, a tie or a real difference; its report; bad input; the command."""

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import numpy as np
import pytest
import scipy.sparse
import xgboost as xgb
from equal_trees import GRADIENT_ERROR, compare_models
from sklearn import datasets
from support import BACKEND, LIBRARY, make_data, only_ours, only_since, params, raw, train

pytestmark = only_ours
PACKAGE = Path(__file__).resolve().parents[3] / "python"


def exact(**others: Any) -> Dict[str, Any]:
    return {"tree_method": "gpu_exact", "gpu_backend": BACKEND, **others}


def edited(booster: xgb.Booster, edit: Callable[[Dict[str, Any], List[Dict[str, Any]]], None]) -> bytes:
    """Returns the model after edit(learner, trees)."""
    model = json.loads(bytes(booster.save_raw("json")))
    learner = copy.deepcopy(model["learner"])
    booster_part = learner["gradient_booster"]
    edit(learner, booster_part.get("gbtree", booster_part)["model"]["trees"])  # a dart has its trees in a gbtree
    return json.dumps({**model, "learner": learner}).encode()


@pytest.fixture(scope="module")
def small():
    """Makes four values, four times each. Splits at 1.5 and at 3.5 gain the same."""
    x = np.array([1.0, 2.0, 3.0, 4.0] * 4, dtype=np.float32)[:, None]
    data = xgb.DMatrix(x, [0.0, 1.0, 1.0, 0.0] * 4)
    return x, xgb.train(exact(max_depth=1, min_child_weight=0), data, 2)


def split_below(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    """Takes the other of the two best splits, with all that follows from it. The second tree is not changed."""
    for name in ("sum_hessian", "base_weights", "split_conditions"):
        trees[0][name][1], trees[0][name][2] = trees[0][name][2], trees[0][name][1]
    trees[0]["split_conditions"][0] = 1.5


def test_a_model_is_like_itself() -> None:
    x, y = make_data(500, 4, missing=0.2)
    booster = xgb.train(exact(), xgb.DMatrix(x, y), 3)
    for data in (None, x):
        found = compare_models(booster, raw(booster), data)
        assert found.explained and not found.differences and not found.skipped
        assert found.same == len(booster.trees_to_dataframe()) and found.trees == 3
        assert str(found) == (
            f"3 trees, {found.same} nodes compared: {found.same} alike (100.00%), 0 ties, 0 after a difference of an "
            "earlier round, 0 not explained"
        )


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer", "wine"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_ten_rounds_of_both_exact_methods(name: str, missing: float) -> None:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x = x.astype(np.float32)
    x[np.random.default_rng(7).random(x.shape) < missing] = np.nan
    how = {"breast_cancer": dict(objective="binary:logistic"), "wine": dict(objective="multi:softprob", num_class=3)}
    data = xgb.DMatrix(x, y)
    ours = xgb.train(exact(**how.get(name, {})), data, 10)
    stock = xgb.train({"tree_method": "exact", **how.get(name, {})}, data, 10)
    found = compare_models(ours, stock, data)
    print(found)
    assert found.explained, str(found)
    assert found.same >= 99 * found.ties
    assert found.trees == (30 if name == "wine" else 10)


def test_a_tie_is_explained_and_what_follows_is_set_apart(small) -> None:
    x, booster = small
    found = compare_models(booster, edited(booster, split_below), x)
    assert [(d.kind, d.tree, d.nodes, d.rows) for d in found.differences] == [("tie", 0, (0, 0), 16)]
    tie = found.differences[0]
    assert tie.gain_difference == 0.0 and tie.tolerance > 0
    assert found.ties == 1 and found.skipped == 2 and found.same == 3 and found.explained
    assert "tie: tree 0, node 0/0, 16 rows: f0 < 3.5, missing" in str(found)
    assert "and f0 < 1.5, missing" in str(found)
    assert "gains differ by 0, rounding explains" in str(found)
    assert "2 nodes below differences have no counterpart" in str(found)

    def more(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        split_below(learner, trees)
        trees[1]["loss_changes"][0] *= 1.01

    found = compare_models(booster, edited(booster, more), x)
    assert [(d.kind, d.tree) for d in found.differences] == [("tie", 0), ("later", 1)]
    assert found.explained


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize(
    "name, node, factor, words",
    [
        ("loss_changes", 0, 1.001, "gains differ by"),
        ("sum_hessian", 1, 1.001, "sums of hessians are 12.0 and 12.012"),
        ("split_conditions", 2, 1.001, "leaves are -"),
    ],
)
def test_a_real_difference(small, with_data: bool, name: str, node: int, factor: float, words: str) -> None:
    x, booster = small

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        trees[0][name][node] *= factor

    found = compare_models(booster, edited(booster, edit), x if with_data else None)
    assert [d.kind for d in found.differences] == ["real"] and not found.explained
    assert words in found.wrong[0] and words in str(found)
    assert str(found).splitlines()[0].endswith("1 not explained")


def test_gains_that_differ_by_less_than_the_tolerance_are_alike(small) -> None:
    _, booster = small

    def by(factor: float) -> bytes:
        def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
            trees[0]["loss_changes"][0] *= factor

        return edited(booster, edit)

    # The tolerance is 8 roundings, 2^-21, of the gain plus twice the node's own gain, which is less than the gain here.
    assert compare_models(booster, by(1 + 2.0**-22)).explained
    assert not compare_models(booster, by(1 + 2.0**-18)).explained


def test_one_splits_where_the_gain_is_gamma(small) -> None:
    x, booster = small
    gain = float(booster.trees_to_dataframe()["Gain"][0])
    stump = xgb.train(exact(max_depth=1, min_child_weight=0, gamma=1e6), xgb.DMatrix(x, [0.0, 1.0, 1.0, 0.0] * 4), 2)
    assert not compare_models(booster, stump, x).explained
    found = compare_models(booster, stump, x, gamma=gain)
    assert found.explained and found.ties == 1 and "only one splits" in str(found)
    assert compare_models(booster, stump, x, ordered=True).explained


def test_base_scores_are_compared(small) -> None:
    _, booster = small

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        learner["learner_model_param"]["base_score"] = "2E0"

    found = compare_models(booster, edited(booster, edit))
    assert found.wrong == ["real: base_score is 0.5 and 2.0"]


def test_data_of_all_kinds_tell_the_same() -> None:
    x, y = make_data(400, 5, missing=0.4)
    x[:, 4] = np.nan  # a CSR does not show this column
    dense = xgb.DMatrix(x, y)
    ours, stock = xgb.train(exact(), dense, 4), xgb.train({"tree_method": "exact"}, dense, 4)
    stored = ~np.isnan(x)
    sparse = scipy.sparse.csr_matrix((x[stored], np.nonzero(stored)), shape=x.shape)
    kinds = (x, x.astype(float), sparse, dense, xgb.DMatrix(sparse))
    assert len({str(compare_models(ours, stock, data)) for data in kinds}) == 1


def test_models_of_all_kinds_tell_the_same(tmp_path) -> None:
    x, y = make_data(200, 3)
    model = xgb.XGBRegressor(n_estimators=3, **exact()).fit(x, y)
    files = [tmp_path / f"model.{kind}" for kind in ("json", "ubj")]
    for file in files:
        model.save_model(file)
    sources = [model, model.get_booster(), raw(model.get_booster()), *files, str(files[0])]
    assert len({str(compare_models(model, source, x)) for source in sources}) == 1


@pytest.mark.parametrize(
    "other, error, words",
    [
        (lambda booster, data: b"hello", ValueError, "b is 5 bytes, which is no model of XGBoost"),
        (lambda booster, data: b'{"a": 1}', ValueError, "b is 8 bytes, which is no model of XGBoost"),
        (lambda booster, data: "/nowhere/a.json", FileNotFoundError, "b is '/nowhere/a.json', which is not a file"),
        (lambda booster, data: 3, TypeError, "b is of type int; allowed: Booster"),
        (
            lambda booster, data: xgb.train({"booster": "gblinear"}, data, 1),
            ValueError,
            "b has the booster 'gblinear'; allowed: gbtree, dart",
        ),
        (
            lambda booster, data: xgb.train({}, xgb.DMatrix(*make_data(50, 4)), 3),
            ValueError,
            "a has 3 features and b has 4; allowed: the same number",
        ),
        (
            lambda booster, data: xgb.train(dict(num_parallel_tree=3), data, 1),
            ValueError,
            "a has 1 trees a round and b has 3; allowed: the same number",
        ),
    ],
)
def test_what_cannot_be_compared(other: Callable, error: type, words: str) -> None:
    data = xgb.DMatrix(*make_data(50, 3))
    booster = xgb.train(exact(), data, 3)
    with pytest.raises(error) as raised:
        compare_models(booster, other(booster, data))
    assert words in str(raised.value)


@only_since(302, "gpu_hist has no trees of vectors")
def test_trees_of_vectors_are_no_broken_model() -> None:
    x, y = make_data(50, 3)
    data = xgb.DMatrix(x, np.stack([y, -y], axis=1))
    booster = xgb.train(params(multi_strategy="multi_output_tree"), data, 2)
    words = r"a has trees of vectors \(multi_strategy=multi_output_tree\), with 2 numbers in a leaf; allowed: one number$"
    with pytest.raises(ValueError, match=words):
        compare_models(booster, booster)


def test_data_that_do_not_fit(small) -> None:
    _, booster = small
    with pytest.raises(ValueError, match="data have 2 columns; allowed: 1, the models' features"):
        compare_models(booster, booster, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="data have 1 dimensions; allowed: 2"):
        compare_models(booster, booster, np.zeros(4))
    with pytest.raises(ValueError, match="gradient_error is 0.1, but without data"):
        compare_models(booster, booster, gradient_error=0.1)


def test_of_models_of_other_lengths_the_first_trees_are_compared() -> None:
    data = xgb.DMatrix(*make_data(60, 3))
    booster = xgb.train(exact(), data, 6)
    for one, other, text in ((booster[:5], booster, "5 trees and b has 6"), (booster, booster[:5], "6 trees and b has 5")):
        found = compare_models(one, other, data)
        assert found.trees == 5 and not found.explained
        assert found.wrong == [f"real: a has {text}; the first 5 are compared"]


def set_weight(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    gbm = learner["gradient_booster"]
    (gbm if "weight_drop" in gbm else gbm["model"])["weight_drop"][1] *= 0.5


def set_objective(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    learner["objective"]["name"] = "binary:logitraw"


def set_base_score(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    learner["learner_model_param"]["base_score"] = "2E-1"


def set_list_of_base_scores(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    learner["learner_model_param"]["base_score"] = "[2E-1]"


def set_names(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
    learner["feature_names"] = ["a", "c", "b"]


@pytest.mark.parametrize(
    "edit, words",
    [
        (set_weight, "tree 1.*the tree's weight is .* and "),
        (set_objective, "the objective is binary:logistic and binary:logitraw"),
        (set_base_score, "base_score is 0.5 and 0.2"),
        (set_list_of_base_scores, "base_score is 0.5 and 0.2"),
        (set_names, r"names of features are \['a', 'b', 'c'\] and \['a', 'c', 'b'\]"),
    ],
)
def test_whatever_enters_a_prediction_is_compared(edit: Callable, words: str) -> None:
    x, y = make_data(300, 3)
    data = xgb.DMatrix(x, y > 0, feature_names=["a", "b", "c"])
    how = dict(booster="dart", rate_drop=0.5, one_drop=1, objective="binary:logistic", base_score=0.5)
    booster = xgb.train(exact(**how), data, 4)
    assert compare_models(booster, booster.copy()).explained
    found = compare_models(booster, edited(booster, edit))
    assert not found.explained
    assert re.search(words, found.wrong[0]), found.wrong
    assert "node" not in found.wrong[0]
    assert f"{found.same} nodes compared: {found.same} alike (100.00%)" in str(found)


def test_a_dart_without_drops_is_like_a_gbtree_of_its_trees() -> None:
    data = xgb.DMatrix(*make_data(300, 3))
    dart, trees = (xgb.train(exact(booster=kind), data, 3) for kind in ("dart", "gbtree"))
    assert compare_models(dart, trees).explained


def frame_and_labels():
    pandas = pytest.importorskip("pandas")
    x, y = make_data(300, 2)
    town = pandas.Categorical(np.where(x[:, 0] > 0.3, "Berlin", np.where(x[:, 1] > 0, "Paris", "Rome")))
    frame = pandas.DataFrame({"income": x[:, 0], "town": town, "age": pandas.array(np.round(x[:, 1] * 9), dtype="Int64")})
    frame.loc[3, "age"] = pandas.NA
    return frame, y


def test_the_frame_that_fit_took_is_taken() -> None:
    frame, y = frame_and_labels()
    how = dict(tree_method="gpu_hist", gpu_backend=BACKEND, enable_categorical=True, n_estimators=3)
    one = xgb.XGBRegressor(**how).fit(frame, y)
    other = xgb.XGBRegressor(**how, reg_lambda=9).fit(frame, y)
    found = compare_models(one, one.get_booster().copy(), frame)
    assert found.explained and found.same > 10 and not found.doubt
    different = compare_models(one, other, frame)
    assert not different.explained
    assert re.search("income <|town not in|age <", str(different)), "features have names"


def test_data_of_other_columns_or_rows_are_told() -> None:
    frame, y = frame_and_labels()
    how = dict(tree_method="gpu_hist", gpu_backend=BACKEND, enable_categorical=True, n_estimators=3)
    for extra in ({}, {"objective": "binary:logistic"}, {"objective": "multi:softprob", "num_class": 3}):
        labels = y if not extra else (y > 0).astype(int)
        booster = xgb.train({**exact(), **how, "tree_method": "gpu_hist", **extra}, xgb.DMatrix(frame, labels, enable_categorical=True), 2)
        assert not compare_models(booster, booster, frame).doubt
        for other in (frame.iloc[:10], frame.sample(100, random_state=1)):
            found = compare_models(booster, booster, other)
            assert f"{len(other)} rows of data reach node 0 of tree 0, whose cover is that of 300" in found.doubt
            assert found.doubt in str(found)
        shuffled = frame.assign(income=frame["income"].to_numpy()[::-1])
        assert compare_models(booster, booster, shuffled).doubt
        with pytest.raises(ValueError, match="column 0 of data is 'age'; allowed: 'income', as in the model"):
            compare_models(booster, booster, frame[frame.columns[::-1]])
        with pytest.raises(ValueError, match="column 0 of data is 'wages'; allowed: 'income'"):
            compare_models(booster, booster, frame.rename(columns={"income": "wages"}))


@pytest.mark.parametrize("objective", ["reg:squarederror", "reg:absoluteerror"])
def test_the_rows_of_the_training_raise_no_doubt(objective: str) -> None:
    x, y = make_data(300, 2)
    booster = train(xgb.DMatrix(x, y), 2, objective=objective)
    found = compare_models(booster, booster.copy(), x)
    assert found.same > 2 and not found.doubt


def test_weights_of_a_matrix_raise_no_doubt() -> None:
    x, y = make_data(300, 2)
    data = xgb.DMatrix(x, y, weight=np.arange(1, 301))
    booster = xgb.train(exact(), data, 2)
    assert not compare_models(booster, booster, data).doubt
    assert "weights" in compare_models(booster, booster, x).doubt


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"", b"\x80\x04K\x01.", b"binf", b"{", b"{}", b"PK\x03\x04"])
def test_a_file_that_is_no_model_is_told_in_words(small, tmp_path, content: bytes) -> None:
    _, booster = small
    file = tmp_path / "shop.csv"
    file.write_bytes(content)
    done = run_compare(tmp_path, "shop.csv", "shop.csv")
    assert done.returncode == 2, done
    assert "shop.csv" in done.stderr and "is no model of XGBoost" in done.stderr
    assert "::" not in done.stderr and "Traceback" not in done.stderr


TEXTS = {
    "a csv without format": ("shop.csv", "a,b\n1,2\n", "'shop.csv', whose format is ''; allowed:.*format=csv"),
    "a format that is none": ("shop.csv?format=xls", "1,2\n", "whose format is 'xls'"),
    "a header": ("shop.csv?format=csv", "income,town\n1,2\n", "line 1 has 'income' in column 1; allowed: numbers and no header"),
    "a word": ("shop.csv?format=csv", "1,2\n3,Berlin\n", "line 2 has 'Berlin' in column 2"),
    "a short row": ("shop.csv?format=csv", "1,2\n3\n", "line 2 has 1 cells; allowed: 2, as in line 1"),
    "a short row below no row": ("shop.csv?format=csv", "\n1,2\n3\n", "line 3 has 1 cells; allowed: 2, as in line 2"),
    "a number of Python's": ("shop.csv?format=csv", "1,2\n1_0,2\n", "line 2 has '1_0' in column 1"),
    "digits of another script": ("shop.csv?format=csv", "1,2\n\u0661,2\n", "line 2 has '\u0661' in column 1"),
    "an index of no digits": ("shop.txt?format=libsvm", "1 \u00b2:2\n", "line 1 has '\u00b2:2' in column 2"),
    "libsvm of words": ("shop.txt?format=libsvm", "1 0:2\nhello world\n", "line 2 has 'hello' in column 1"),
    "libsvm without index": ("shop.txt?format=libsvm", "1 0:2\n1 5\n", "line 2 has '5' in column 2"),
    "libsvm of a csv": ("shop.csv?format=libsvm", "1,2\n", "line 1 has '1,2' in column 1"),
    "an index beyond 32 bits": ("shop.txt?format=libsvm", "1 4294967297:2\n", "line 1 has '4294967297:2'"),
    "no file": ("nothing.csv?format=csv", None, "'nothing.csv', which is not a file"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_files_are_checked_before_xgboost_reads_them(small, tmp_path, kind: str) -> None:
    """In a process of its own: XGBoost's parser may end it."""
    x, booster = small
    booster.save_model(tmp_path / "a.json")
    name, text, words = TEXTS[kind]
    if text is not None:
        (tmp_path / name.partition("?")[0]).write_text(text, encoding="utf-8")
    done = run_compare(tmp_path, "a.json", "a.json", "--data", name)
    assert done.returncode == 2, done
    assert re.search(words, done.stderr), done.stderr


def test_text_files_of_numbers_are_read(small, tmp_path) -> None:
    x, booster = small
    booster.save_model(tmp_path / "a.json")
    (tmp_path / "x.csv").write_text("".join(f"{value:g}\n" for value in x[:, 0]))
    (tmp_path / "x.txt").write_text("".join(f"1 0:{value:g}\n" for value in x[:, 0]))
    for name in ("x.csv?format=csv", "x.txt?format=libsvm"):
        done = run_compare(tmp_path, "a.json", "a.json", "--data", name)
        assert done.returncode == 0, done
        assert "data are not the rows" not in done.stdout


def test_numbers_out_of_range(small) -> None:
    x, booster = small
    for name, value in (("reg_lambda", -1.0), ("gamma", float("nan")), ("gradient_error", float("inf"))):
        with pytest.raises(ValueError, match=f"{name} is {value}; allowed: a finite number from 0 on"):
            compare_models(booster, booster, x, **{name: value})


def test_present_or_missing_is_told_by_rows_alone(small) -> None:
    """The largest float as a threshold, as trainings from a QuantileDMatrix have it, is like one that all rows are below."""
    x, _ = small
    data = xgb.DMatrix(np.where(x > 2.5, np.nan, x), np.where(x[:, 0] > 2.5, 1.0, 0.0))
    booster = xgb.train(exact(max_depth=1), data, 1)
    below_all = float(np.finfo(np.float32).max)

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        trees[0]["split_conditions"][0] = below_all

    other = edited(booster, edit)
    assert other != raw(booster)
    for one, two in ((booster, other), (other, booster)):
        assert compare_models(one, two, data).same == 3
        alone = compare_models(one, two)
        assert alone.same == 0 and alone.ties == 1


def test_gradients_that_are_rounded_differently_are_allowed_for_as_far_as_told(small) -> None:
    x, booster = small

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        trees[1]["sum_hessian"][0] += 10 * GRADIENT_ERROR  # the sum of 16 rows: less than 16 errors, more than 2

    other = edited(booster, edit)
    assert compare_models(booster, other, x).explained
    assert not compare_models(booster, other, x, gradient_error=GRADIENT_ERROR / 8).explained
    assert not compare_models(booster, other).explained


def test_leaves_that_no_hessian_holds_up(small) -> None:
    """Without weights and lambda there is nothing to divide a rounding of gradients by."""
    x, _ = small
    data = xgb.DMatrix(x, np.arange(16.0), weight=np.zeros(16))
    how = exact(reg_lambda=0, min_child_weight=0, base_score=0.5)  # of no weight nothing can be estimated
    one, other = xgb.train(how, data, 2), xgb.train(how, data, 2)
    found = compare_models(one, other, x, reg_lambda=0.0, gradient_error=GRADIENT_ERROR)
    assert found.explained and found.same == 2


def test_the_package_has_it(small) -> None:
    import xgboost_gpu

    _, booster = small
    found = xgboost_gpu.compare(booster, booster)
    assert isinstance(found, xgboost_gpu.Comparison) and found.same == 6
    assert {"compare", "Comparison", "Difference"} <= set(xgboost_gpu.__all__)


def set_entry(name: str, node: int, value: int, *, right: Optional[int] = None) -> Callable:
    """Edits the second tree; with `right` both children of the node."""

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        trees[1][name][node] = value
        if right is not None:
            trees[1]["right_children"][node] = right

    return edit


BROKEN = {
    "a child that is too large": (set_entry("left_children", 0, 2_000_000_000), "node 0 .*2000000000"),
    "a negative child": (set_entry("right_children", 0, -5), "node 0 .*-5"),
    "the root as a child": (set_entry("left_children", 2, 0, right=1), "node 2 "),
    "a cycle": (set_entry("left_children", 2, 2, right=1), "node 2 "),
    "two ways to a node": (set_entry("left_children", 0, 2), "node 0 "),
    "a feature that is not there": (set_entry("split_indices", 0, 7), "node 0 .*7"),
}


def run_compare(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), *sys.path]), "XGBGPU_LIBRARY": LIBRARY}
    command = [sys.executable, "-B", "-m", "xgboost_gpu", "compare", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_model_is_refused_by_file_tree_and_node(small, tmp_path, kind: str) -> None:
    """This runs in a process of its own, because it might crash or never end."""
    x, booster = small
    edit, words = BROKEN[kind]
    booster.save_model(tmp_path / "whole.json")
    (tmp_path / "broken.json").write_bytes(edited(booster, edit))
    np.save(tmp_path / "x.npy", x)
    for models in (("whole.json", "broken.json"), ("broken.json", "broken.json")):
        done = run_compare(tmp_path, *models, "--data", "x.npy")
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert re.search(f"(?i)broken.json(?=.*tree 1).*{words}", done.stderr), done.stderr


def test_pruned_nodes_may_have_any_content(small) -> None:
    """Stock `exact` with gamma saves such nodes, to which nothing leads."""
    x, booster = small
    data = xgb.DMatrix(*make_data(300, 3))
    pruned = xgb.train({"tree_method": "exact", "gamma": 3.0, "max_depth": 6}, data, 2)
    trees = json.loads(bytes(pruned.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
    assert max(max(tree["split_indices"]) for tree in trees) == 2**31 - 1
    found = compare_models(pruned, raw(pruned), data)
    assert found.explained and found.trees == 2


def test_the_command(small, tmp_path) -> None:
    x, booster = small
    booster.save_model(tmp_path / "a.json")
    (tmp_path / "tie.json").write_bytes(edited(booster, split_below))
    (tmp_path / "text.json").write_text("no model")
    np.save(tmp_path / "x.npy", x)

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return run_compare(tmp_path, *arguments)

    done = run("a.json", "tie.json", "--data", "x.npy")
    assert done.returncode == 0 and "tie: tree 0, node 0/0, 16 rows" in done.stdout, done.stderr
    done = run("a.json", "tie.json", "--data", "x.npy", "--gradient-error", "0")
    assert done.returncode == 0, done.stderr

    def edit(learner: Dict[str, Any], trees: List[Dict[str, Any]]) -> None:
        trees[0]["loss_changes"][0] *= 2

    (tmp_path / "real.json").write_bytes(edited(booster, edit))
    done = run("a.json", "real.json")
    assert done.returncode == 1 and "1 not explained" in done.stdout, done.stderr
    done = run("a.json", "text.json")
    assert done.returncode == 2 and "b is 'text.json', which is no model" in done.stderr
    done = run("a.json", "nothing.json")
    assert done.returncode == 2 and "b is 'nothing.json', which is not a file" in done.stderr
    for file in ("a.json", "nothing.txt"):
        done = run("a.json", "a.json", "--data", file)
        assert done.returncode == 2 and f"--data is '{file}'" in done.stderr and "Stack trace" not in done.stderr
