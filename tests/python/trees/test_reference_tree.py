"""Trees against a slow, obvious reference: every sum, weight and gain, and that no better split was possible."""

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import Rules, check_tree
from support import boost, make_data, params, trees_of

QUICK = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def dyadic(rng: np.random.Generator, rows: int, lowest: int, highest: int) -> np.ndarray:
    """Multiples of 1/64 whose sums are exact in any order and precision in use."""
    return (rng.integers(lowest, highest, size=rows) / 64).astype(np.float32)


def first_tree(x: np.ndarray, g: np.ndarray, h: np.ndarray, matrix=xgb.DMatrix, **parameters):
    data = matrix(x, np.zeros(len(x)))
    booster = xgb.Booster(params(**parameters), [data])
    boost(booster, data, g, h)
    return trees_of(booster)[0]


@QUICK
@given(
    seed=st.integers(0, 2**20),
    rows=st.integers(2, 120),
    columns=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    levels=st.sampled_from([2, 5, 12]),
    rules=st.builds(
        Rules,
        eta=st.sampled_from([0.3, 1.0, 0.05]),
        reg_lambda=st.sampled_from([0.0, 0.5, 1.0, 10.0]),
        reg_alpha=st.sampled_from([0.0, 0.0, 0.25, 2.0]),
        max_delta_step=st.sampled_from([0.0, 0.0, 0.1]),
        min_child_weight=st.sampled_from([0.0625, 1.0, 5.0]),
        gamma=st.sampled_from([0.0, 0.5, 4.0]),
        max_depth=st.integers(1, 5),
    ),
)
def test_any_tree(seed: int, rows: int, columns: int, missing: float, levels: int, rules: Rules) -> None:
    rng = np.random.default_rng(seed)
    x, _ = make_data(rows, columns, seed=seed, missing=missing, levels=levels)
    g, h = dyadic(rng, rows, -200, 200), dyadic(rng, rows, 4, 128)
    tree = first_tree(x, g, h, **vars(rules))
    check_tree(tree, x, g, h, rules)


@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_deep_tree(matrix, missing: float) -> None:
    rng = np.random.default_rng(1)
    x, _ = make_data(400, 5, missing=missing, levels=20)
    g, h = dyadic(rng, 400, -300, 300), np.ones(400, dtype=np.float32)
    rules = Rules(max_depth=9, reg_lambda=0.5, min_child_weight=2)
    splits, _ = check_tree(first_tree(x, g, h, matrix, **vars(rules)), x, g, h, rules)
    assert splits > 50


def test_rows_with_no_hessian_do_not_count() -> None:
    rng = np.random.default_rng(2)
    x, _ = make_data(200, 3, levels=10)
    g, h = dyadic(rng, 200, -100, 100), np.ones(200, dtype=np.float32)
    g[::3] = h[::3] = 0
    rules = Rules(max_depth=4)
    check_tree(first_tree(x, g, h, **vars(rules)), x, g, h, rules)


def test_many_rows_in_few_bins() -> None:
    rng = np.random.default_rng(3)
    x, _ = make_data(50000, 3, levels=6, missing=0.1)
    g, h = dyadic(rng, 50000, -64, 64), np.ones(50000, dtype=np.float32)
    g += np.where(x[:, 0] > 0, 1, 0).astype(np.float32)
    rules = Rules(max_depth=3)
    check_tree(first_tree(x, g, h, **vars(rules)), x, g, h, rules)


def test_with_fewer_bins_than_values_sums_still_match() -> None:
    rng = np.random.default_rng(4)
    x, _ = make_data(3000, 3, missing=0.1)
    g, h = dyadic(rng, 3000, -64, 64), dyadic(rng, 3000, 1, 64)
    rules = Rules(max_depth=5)
    check_tree(first_tree(x, g, h, max_bin=32, **vars(rules)), x, g, h, rules, greedy=False)


def test_equal_splits_go_to_the_first_feature() -> None:
    x, y = make_data(300, 1, levels=15)
    twins = np.hstack([x, x, x])
    tree = first_tree(twins, y.astype(np.float32), np.ones(300, dtype=np.float32), max_depth=5)
    assert len(tree.splits) > 5
    assert np.all(tree.feature[tree.splits] == 0)


@pytest.mark.parametrize("direction", ["left", "right"])
def test_missing_values_learn_their_side(direction: str) -> None:
    x = np.array([0.0, 1.0] * 40, dtype=np.float32)[:, None]
    y = x[:, 0].copy()
    x[:20] = np.nan
    y[:20] = 0 if direction == "left" else 1
    tree = first_tree(x, 0.5 - y, np.ones(80, dtype=np.float32), max_depth=1)
    assert bool(tree.default_left[0]) == (direction == "left")
    assert tree.threshold[0] == 1


def test_presence_alone_can_be_a_split() -> None:
    x = np.full((60, 1), 7, dtype=np.float32)
    x[::2] = np.nan
    g = np.where(np.isnan(x[:, 0]), -1, 1).astype(np.float32)
    tree = first_tree(x, g, np.ones(60, dtype=np.float32), max_depth=1)
    assert len(tree.splits) == 1
    assert np.array_equal(np.sort(tree.hess[tree.leaves]), [30, 30])
