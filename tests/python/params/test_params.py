"""Every parameter of trees does what it says, as the trees themselves show."""

import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import (
    FLOAT_EPS,
    LIBRARY,
    OURS,
    SERIES,
    Tree,
    assert_same_trees,
    boost,
    dart_weights,
    make_data,
    only_ours,
    params,
    raw,
    run_python,
    sampled,
    train,
    trees_of,
)

X, Y = make_data(2000, 8, seed=3, missing=0.05)


@pytest.fixture(scope="module")
def data() -> xgb.DMatrix:
    return xgb.DMatrix(X, Y)


def grow(data: xgb.DMatrix, rounds: int = 4, **settings) -> list:
    return trees_of(train(data, rounds, **settings))


@pytest.mark.parametrize("depth", [1, 2, 3, 7, 14])
def test_max_depth(data: xgb.DMatrix, depth: int) -> None:
    for policy in ("depthwise", "lossguide"):
        trees = grow(data, max_depth=depth, grow_policy=policy)
        assert max(tree.depth.max() for tree in trees) == depth


def test_no_limit_of_depth(data: xgb.DMatrix) -> None:
    deep = grow(data, 2, max_depth=0, grow_policy="lossguide", min_child_weight=0)
    assert max(tree.depth.max() for tree in deep) > 8
    # Only the data limit these trees: further splits gain nothing, or 256 bins cannot separate the rows.
    assert all(len(tree.leaves) > 200 for tree in deep)


@pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
@pytest.mark.parametrize("leaves", [2, 3, 8, 31])
def test_max_leaves(data: xgb.DMatrix, policy: str, leaves: int) -> None:
    for depth in (0, 10):
        trees = grow(data, max_leaves=leaves, max_depth=depth, grow_policy=policy)
        assert [len(tree.leaves) for tree in trees] == [leaves] * 4


def order_of_growth(tree: Tree) -> list:
    return sorted(tree.splits, key=lambda node: tree.left[node])  # children are numbered as they are made


def test_lossguide_takes_the_best_gain_first(data: xgb.DMatrix) -> None:
    for tree in grow(data, grow_policy="lossguide", max_leaves=25, max_depth=0):
        waiting = {0}
        for node in order_of_growth(tree):
            later = [tree.gain[other] for other in waiting if tree.left[other] != -1]
            assert tree.gain[node] == max(later)
            waiting.remove(node)
            waiting |= {tree.left[node], tree.right[node]}


def test_depthwise_goes_level_by_level(data: xgb.DMatrix) -> None:
    for tree in grow(data, max_depth=6):
        depths = tree.depth[order_of_growth(tree)]
        assert np.array_equal(depths, np.sort(depths))


def test_growth_policies_agree_where_nothing_limits(data: xgb.DMatrix) -> None:
    # Without a limit of leaves both policies make the same splits, in different orders.
    by_depth, by_gain = grow(data, 1, max_depth=5)[0], grow(data, 1, max_depth=5, grow_policy="lossguide")[0]

    def shape(tree: Tree, node: int = 0):
        if tree.left[node] == -1:
            return (tree.threshold[node],)
        below = (shape(tree, tree.left[node]), shape(tree, tree.right[node]))
        return (tree.feature[node], tree.threshold[node], bool(tree.default_left[node])) + below

    assert shape(by_depth) == shape(by_gain)


@pytest.mark.parametrize("weight", [0.0, 5.0, 100.0, 900.0])
def test_min_child_weight(data: xgb.DMatrix, weight: float) -> None:
    trees = grow(data, max_depth=8, min_child_weight=weight)
    assert min(tree.hess[1:].min() for tree in trees if tree.nodes > 1) >= weight
    assert any(tree.nodes > 1 for tree in trees)


def test_min_child_weight_beyond_all_rows(data: xgb.DMatrix) -> None:
    assert all(tree.nodes == 1 for tree in grow(data, min_child_weight=1001))


@pytest.mark.parametrize("gamma", [0.0, 1.0, 10.0])
def test_gamma(data: xgb.DMatrix, gamma: float) -> None:
    trees = grow(data, max_depth=8, gamma=gamma)
    assert min(tree.gain[tree.splits].min() for tree in trees) >= gamma
    if gamma:
        assert sum(tree.nodes for tree in trees) < sum(tree.nodes for tree in grow(data, max_depth=8))


@pytest.mark.parametrize("name", ["eta", "learning_rate"])
def test_learning_rate_scales_leaves(data: xgb.DMatrix, name: str) -> None:
    whole, part = grow(data, 1, **{name: 1.0})[0], grow(data, 1, **{name: 0.25})[0]
    assert np.array_equal(part.threshold[part.leaves], whole.threshold[whole.leaves] * np.float32(0.25))
    assert np.array_equal(part.gain, whole.gain)


@pytest.mark.parametrize(
    "names", [("lambda", "reg_lambda"), ("alpha", "reg_alpha"), ("gamma", "min_split_loss"), ("eta", "learning_rate")]
)
def test_both_names_of_a_parameter(data: xgb.DMatrix, names: tuple) -> None:
    one, other = (train(data, 3, **{name: 0.4}) for name in names)
    assert_same_trees(one, other)
    with pytest.raises(AssertionError):
        assert_same_trees(one, train(data, 3))


def leaf_sums(tree: Tree, booster: xgb.Booster, data: xgb.DMatrix, gradients: np.ndarray) -> np.ndarray:
    """Returns the sum of the gradients of the rows in each leaf."""
    where = booster.predict(data, pred_leaf=True).astype(int)
    return np.bincount(where, gradients.astype(np.float64), minlength=tree.nodes)[tree.leaves]


@pytest.mark.parametrize(
    "settings",
    [dict(reg_lambda=0.0), dict(reg_lambda=50.0), dict(reg_alpha=3.0), dict(reg_alpha=1.0, reg_lambda=7.0)],
    ids=str,
)
def test_penalties_on_leaves(data: xgb.DMatrix, settings: dict) -> None:
    booster = train(data, 1, eta=1.0, base_score=0.5, **settings)
    tree = trees_of(booster)[0]
    g = leaf_sums(tree, booster, data, np.float32(0.5) - Y)
    expected = (
        -np.sign(g)
        * np.maximum(np.abs(g) - settings.get("reg_alpha", 0), 0)
        / (tree.hess[tree.leaves] + settings.get("reg_lambda", 1))
    )
    # The sums above are exact to 2^-50 of |g|'s total; the weight is rounded to float32 up to three times.
    np.testing.assert_allclose(tree.threshold[tree.leaves], expected, rtol=4 * FLOAT_EPS, atol=1e-9)


@pytest.mark.parametrize("step", [0.01, 0.2])
def test_max_delta_step(data: xgb.DMatrix, step: float) -> None:
    for tree in grow(data, eta=0.5, max_delta_step=step):
        # The step and eta are float32, and their product is rounded.
        assert np.abs(tree.threshold[tree.leaves]).max() <= 0.5 * step * (1 + 3 * FLOAT_EPS)
    assert np.abs(grow(data, eta=0.5)[0].threshold).max() > 0.5 * step


def test_max_delta_step_of_poisson_is_stocks() -> None:
    # The objective sets max_delta_step to 0.7 if nobody else does.
    counts = np.floor(np.exp(3 * Y)).astype(np.float32)
    tree = grow(xgb.DMatrix(X, counts), 1, objective="count:poisson", eta=1.0)[0]
    assert np.abs(tree.threshold[tree.leaves]).max() == np.float32(0.7)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
def test_subsample_takes_its_share_of_rows(share: float, matrix) -> None:
    trees = grow(matrix(X, Y), 30, subsample=share, max_depth=2)
    taken = np.array([tree.hess[0] for tree in trees])  # hessians are 1: the root counts rows
    # Each row is drawn by itself, so counts are binomial. They exceed five standard deviations once in 1.7 million.
    spread = 5 * np.sqrt(2000 * share * (1 - share))
    assert np.all(np.abs(taken - 2000 * share) < spread)
    assert abs(taken.mean() - 2000 * share) < spread / np.sqrt(30)
    assert len(set(taken)) > 10


@only_ours  # stock 1.7.4 always draws the first rows, since each part of its random numbers begins with a small one
def test_subsample_draws_each_row_alike() -> None:
    # Gradients are 1, 2, 4 … and there is no penalty, so the root's weight times its hessian says which rows were
    # drawn.
    rows, draws = 20, 400
    data = xgb.DMatrix(np.zeros((rows, 1)), np.zeros(rows))
    booster = xgb.Booster(params(subsample=0.5, num_parallel_tree=draws, reg_lambda=0.0), [data])
    boost(booster, data, 2.0 ** np.arange(rows), np.ones(rows))
    roots = [(float(tree.weight[0]), float(tree.hess[0])) for tree in trees_of(booster)]
    drawn = np.array([[int(round(-weight * hess)) >> row & 1 for row in range(rows)] for weight, hess in roots])
    assert np.array_equal(drawn.sum(axis=1), [hess for _, hess in roots])
    # A mean of 400 draws with chance 1/2 has a standard deviation of 0.025, and exceeds five of them once in 1.7
    # million.
    assert np.all(np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.025)
    together = np.corrcoef(drawn.T) - np.eye(rows)
    assert np.abs(together).max() < 5 / np.sqrt(draws)  # draws of rows are independent, and so are those of trees
    along = [np.corrcoef(drawn[:-1, row], drawn[1:, row])[0, 1] for row in range(rows)]
    assert np.abs(along).max() < 5 / np.sqrt(draws)


def features_of(tree: Tree, nodes: np.ndarray = None) -> set:
    return set(tree.feature[tree.splits if nodes is None else nodes])


@pytest.fixture(scope="module")
def alike() -> xgb.DMatrix:
    """Makes twenty columns that are equally useful."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(1500, 20)).astype(np.float32)
    return xgb.DMatrix(x, np.sin(x).sum(axis=1))


@pytest.mark.parametrize("share, most", [(0.05, 1), (0.25, 5), (0.5, 10)])
def test_colsample_bytree(alike: xgb.DMatrix, share: float, most: int) -> None:
    trees = grow(alike, 12, colsample_bytree=share, max_depth=8)
    used = [features_of(tree) for tree in trees]
    assert max(map(len, used)) == most
    assert len(set.union(*used)) > most


@pytest.mark.parametrize("share, most", [(0.05, 1), (0.25, 5)])
def test_colsample_bylevel(alike: xgb.DMatrix, share: float, most: int) -> None:
    for tree in grow(alike, 6, colsample_bylevel=share, max_depth=6):
        levels = [features_of(tree, tree.splits[tree.depth[tree.splits] == level]) for level in range(6)]
        assert max(map(len, levels)) <= most
        assert len(set.union(*levels)) > most


@pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
def test_colsample_bynode(alike: xgb.DMatrix, policy: str) -> None:
    # With one column in twenty a node has no choice. Yet nodes of one level have different columns.
    trees = grow(alike, 6, colsample_bynode=0.05, max_depth=6, grow_policy=policy)
    last = [features_of(tree, tree.splits[tree.depth[tree.splits] == 4]) for tree in trees]
    assert min(map(len, last)) > 3
    assert len(set.union(*[features_of(tree) for tree in trees])) > 15


def test_colsample_shares_multiply(alike: xgb.DMatrix) -> None:
    # Of 20 columns half are in the tree, half of those in the level, and a fifth of those, one, in the node.
    for tree in grow(alike, 8, colsample_bytree=0.5, colsample_bylevel=0.5, colsample_bynode=0.2, max_depth=7):
        assert len(features_of(tree)) <= 10
        for level in range(7):
            assert len(features_of(tree, tree.splits[tree.depth[tree.splits] == level])) <= 5


def test_every_column_is_sampled_alike(alike: xgb.DMatrix) -> None:
    roots = [tree.feature[0] for tree in grow(alike, 400, colsample_bytree=0.05, max_depth=1, eta=0.01)]
    counts = np.bincount(roots, minlength=20)
    # 400 draws of one in 20 have mean 20 and standard deviation 4.36. A column exceeds five of them once in 1.7
    # million.
    assert np.all(np.abs(counts - 20) < 5 * 4.36)


def test_feature_weights() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(500, 10)).astype(np.float32)
    weights = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 4], dtype=np.float32)
    for sampling in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        data = xgb.DMatrix(x, np.sin(x).sum(axis=1), feature_weights=weights)
        roots = np.array([tree.feature[0] for tree in grow(data, 200, max_depth=1, eta=0.01, **{sampling: 0.1})])
        assert not np.any(roots < 3)
        # The last column has 4 of 10 parts of the weight: 200 draws have mean 80 and standard deviation 6.9.
        assert abs(np.sum(roots == 9) - 80) < 5 * 6.9


@only_ours
def test_seeds_make_a_difference_and_nothing_else_does(data: xgb.DMatrix) -> None:
    settings = dict(subsample=0.5, colsample_bynode=0.5)
    one, again, other = (train(data, 3, seed=seed, **settings) for seed in (1, 1, 2))
    assert_same_trees(one, again)
    with pytest.raises(AssertionError):
        assert_same_trees(one, other)
    assert_same_trees(train(data, 3, seed=1), train(data, 3, seed=2))  # where nothing is drawn, the seed means nothing
    assert_same_trees(train(data, 3, random_state=2, **settings), other)


@pytest.mark.parametrize("bins", [2, 3, 16, 256, 257, 1000])
def test_max_bin_limits_the_choice_of_thresholds(bins: int) -> None:
    x, y = make_data(2000, 2, seed=4)
    trees = grow(xgb.DMatrix(x, y), 15, max_bin=bins, max_depth=8, eta=0.8)
    for feature in range(2):
        used = {t.threshold[n] for t in trees for n in t.splits if t.feature[n] == feature}
        assert len(used) <= bins
        assert len(used) >= min(bins - 1, 30)


def test_as_many_bins_as_can_be() -> None:
    # The label has a step between two of 60,000 values. 65,535 bins hit it exactly, 256 cannot.
    x = np.random.default_rng(5).permutation(60000).astype(np.float32)[:, None]
    y = (x[:, 0] >= 12345).astype(np.float32)
    data = xgb.DMatrix(x, y)
    assert grow(data, 1, max_bin=65535, max_depth=1)[0].threshold[0] == 12345
    assert grow(data, 1, max_bin=256, max_depth=1)[0].threshold[0] != 12345


@pytest.mark.parametrize("count", [2, 5])
def test_num_parallel_tree(data: xgb.DMatrix, count: int) -> None:
    booster = train(data, 3, num_parallel_tree=count)
    trees, plain = trees_of(booster), trees_of(train(data, 1))[0]
    assert len(trees) == 3 * count
    # Without sampling all trees of a forest are the same, and share the learning rate.
    for tree in trees[:count]:
        assert tree.same_as(trees[0])
    np.testing.assert_allclose(
        trees[0].threshold[trees[0].leaves] * count, plain.threshold[plain.leaves], rtol=4 * FLOAT_EPS
    )
    sampled_trees = grow(data, 1, num_parallel_tree=count, subsample=0.5)
    assert len({tree.threshold.tobytes() for tree in sampled_trees}) == count


@pytest.mark.parametrize("end", [" ", "\n", "\t "])
def test_space_after_whole_numbers(data: xgb.DMatrix, end: str) -> None:
    """Ours takes this as stock does."""
    for name, value in (("num_parallel_tree", 2), ("max_depth", 3), ("nthread", 1)):
        assert_same_trees(train(data, 2, **{name: f"{value}{end}"}), train(data, 2, **{name: value}))
    groups = xgb.DMatrix(X, Y > 0, group=[len(Y)])
    pairs = dict(objective="rank:pairwise", eval_metric="ndcg")
    spaced, plain = (train(groups, 2, num_pairsample=value, **pairs) for value in (f"3{end}", 3))
    assert_same_trees(spaced, plain)


def test_num_parallel_tree_with_classes(data: xgb.DMatrix) -> None:
    classes = np.digitize(Y, [-0.5, 0.5])
    booster = train(xgb.DMatrix(X, classes), 2, num_parallel_tree=3, num_class=3, objective="multi:softprob")
    assert len(trees_of(booster)) == 18
    assert booster.num_boosted_rounds() == 2


def test_base_score_and_scale_pos_weight(data: xgb.DMatrix) -> None:
    assert np.all(train(data, 0, base_score=3.5).predict(data) == 3.5)
    label = (Y > 1).astype(np.float32)
    binary = xgb.DMatrix(X, label)
    weighted = xgb.DMatrix(X, label, weight=np.where(label > 0, 4, 1))
    how = dict(objective="binary:logistic", base_score=0.5, max_bin=3000)  # each value has a bin: weights move no cut
    assert_same_trees(
        train(binary, 3, scale_pos_weight=4, **how),
        train(weighted, 3, **how),
    )


def test_dart_drops_trees(data: xgb.DMatrix) -> None:
    settings = dict(booster="dart", max_depth=3, seed=1)
    assert_same_trees(train(data, 5, rate_drop=0.0, **settings), train(data, 5, max_depth=3))
    everything = train(data, 5, rate_drop=1.0, **settings)
    with pytest.raises(AssertionError):
        assert_same_trees(everything, train(data, 5, max_depth=3))
    skipped = train(data, 5, rate_drop=1.0, skip_drop=1.0, **settings)
    assert_same_trees(skipped, train(data, 5, max_depth=3))


def weights_of_trees(data: xgb.DMatrix, **settings) -> List[np.ndarray]:
    """Returns the weights of a dart's trees after every round."""
    booster = xgb.Booster(params(booster="dart", eta=0.25, max_depth=2, seed=1, **settings), [data])
    weights = []
    for number in range(8):
        booster.update(data, number)
        weights.append(np.array(dart_weights(booster)))
    return weights


@pytest.mark.parametrize("normalize_type", ["tree", "forest"])
@pytest.mark.parametrize("dropping", ["all", "one"])
def test_dart_weighs_its_trees(data: xgb.DMatrix, dropping: str, normalize_type: str) -> None:
    """If k trees are dropped, k/(k + eta) of each stays and 1/(k + eta) of the new one; with "forest" 1/(1 + eta)."""
    how = dict(rate_drop=1.0) if dropping == "all" else dict(rate_drop=0.0, one_drop=1)
    weights = weights_of_trees(data, normalize_type=normalize_type, **how)
    for before, after in zip(weights, weights[1:]):
        changed = np.flatnonzero(after[:-1] != before)
        k = len(changed)
        assert k == (len(before) if dropping == "all" else 1)
        stays = k / (k + 0.25) if normalize_type == "tree" else 1 / 1.25
        # A product and a quotient of numbers up to 1 are rounded in float32.
        np.testing.assert_allclose(after[changed], stays * before[changed], atol=4 * FLOAT_EPS)
        assert after[-1] == pytest.approx(1 / (k + 0.25) if normalize_type == "tree" else 1 / 1.25, abs=4 * FLOAT_EPS)


def test_dart_may_drop_by_weight(data: xgb.DMatrix) -> None:
    by_weight, alike = (
        weights_of_trees(data, rate_drop=0.4, sample_type=kind)[-1] for kind in ("weighted", "uniform")
    )
    assert not np.array_equal(by_weight, alike)


def test_sampling_repeats_with_the_seed(data: xgb.DMatrix) -> None:
    settings = sampled(subsample=0.4, colsample_bytree=0.5, colsample_bylevel=0.5, colsample_bynode=0.5)
    assert_same_trees(train(data, 4, seed=9, **settings), train(data, 4, seed=9, **settings))


@only_ours
def test_a_base_score_of_more_digits_than_are_read() -> None:
    """XGBoost reads such a value as 0."""
    x, y = make_data(100, 2)
    with pytest.raises(xgb.core.XGBoostError, match=f"base_score is '{2**64}'; allowed: the number with an exponent"):
        train(xgb.DMatrix(x, y), 1, base_score=2**64)


def test_numbers_may_end_as_in_c() -> None:
    data = xgb.DMatrix(*make_data(200, 3))
    assert raw(train(data, 2, eta="0.5f", gamma="1F")) == raw(train(data, 2, eta=0.5, gamma=1))


DROPPING = [{}, dict(booster="dart", rate_drop=0.5), *([dict(rate_drop=0.5)] if SERIES >= 303 else [])]


@pytest.mark.parametrize("dropping", DROPPING, ids=["gbtree", "dart", "gbtree with drops"][: len(DROPPING)])
def test_a_program_whose_numbers_have_a_decimal_comma(tmp_path: Path, dropping: Dict[str, Any]) -> None:
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    if made.returncode != 0:
        pytest.skip("localedef cannot make de_DE.UTF-8: the package locales is not installed")
    code = """
import json, locale, os, pickle, sys
import numpy as np, xgboost as xgb
settings = dict(json.loads(sys.argv[1]), eta=0.25, objective="reg:pseudohubererror", huber_slope=2.5, eval_metric="mphe")
x = np.arange(200.0).reshape(100, 2) % 37
def results(before):
    data = xgb.DMatrix(x, x[:, 0] * 3)
    history = {}
    booster = xgb.train(settings, data, 10, evals=[(data, "d")], evals_result=history, verbose_eval=False)
    loaded = pickle.loads(before)
    loaded.update(data, 10)
    return history, bytes(booster.save_raw()), bytes(loaded.save_raw()), loaded.eval(data)
before = pickle.dumps(xgb.train(settings, xgb.DMatrix(x, x[:, 0] * 3), 10))
point = results(before)
os.environ["LOCPATH"] = sys.argv[2]
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
print(results(before) == point)
"""
    done = run_python(code, json.dumps(params(**dropping)), str(tmp_path), library=LIBRARY if OURS else None)
    assert done.stdout.split()[-1] == "True"


@only_ours
@pytest.mark.parametrize("first", ["gpu_id", "tree_method"])
@pytest.mark.parametrize("method", ["hist", "gpu_hist"])
def test_gpu_id_is_taken_where_the_method_knows_it(method: str, first: str) -> None:
    """Stock code has no gpu_id from 3.1 on. In 3.0 it takes one, and it is not ours to refuse it."""
    x, y = make_data(200, 3)
    data = xgb.DMatrix(x, y)
    given = [("tree_method", method), ("gpu_id", "0")]
    booster = xgb.Booster(cache=[data])
    for name, value in given if first == "tree_method" else reversed(given):
        booster.set_param({name: value})
    booster.set_param({"gpu_backend": "host" if method == "gpu_hist" else "auto"})
    if method == "hist" and SERIES >= 301:
        with pytest.raises(xgb.core.XGBoostError, match="gpu_id"):
            booster.update(data, 0)
        return
    booster.update(data, 0)
    other = xgb.train({"tree_method": method, "gpu_backend": "host" if method == "gpu_hist" else "auto"}, data, 1)
    assert_same_trees(booster, other)
    if method == "gpu_hist" and SERIES >= 300:
        saved = json.loads(booster.save_config())["learner"]["gradient_booster"]["xgboost_gpu_param"]
        assert saved["gpu_id"] == "0"
