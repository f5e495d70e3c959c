"""Slow and obvious: what a tree of XGBoost must be, worked out again from the rows that reach each node."""

from dataclasses import dataclass
from typing import Iterator, List, Tuple

import numpy as np
from equal_trees import gain_tolerance
from support import FLOAT_EPS, SERIES, SMALLEST_GAIN, Tree


@dataclass
class Rules:
    """The parameters that decide splits and leaves."""

    eta: float = 0.3
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    max_delta_step: float = 0.0
    min_child_weight: float = 1.0
    gamma: float = 0.0
    max_depth: int = 6

    def weight(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        shrunk = np.sign(g) * np.maximum(np.abs(g) - self.reg_alpha, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            w = np.where(h > 0, -shrunk / (h + self.reg_lambda), 0.0)
        if self.max_delta_step > 0:
            w = np.clip(w, -self.max_delta_step, self.max_delta_step)
        return w if SERIES >= 304 else np.where(h >= self.min_child_weight, w, 0.0)

    def gain(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Twice the loss that the node's best weight takes away. As in XGBoost before 3.4, it has no L1 penalty where
        max_delta_step bounds weights."""
        w = self.weight(g, h)
        has_penalty = self.max_delta_step == 0 or SERIES >= 304
        penalty = 2 * self.reg_alpha * np.abs(w) if has_penalty else 0.0
        return -(2 * g * w + (h + self.reg_lambda) * w * w) - penalty


def route(tree: Tree, x: np.ndarray) -> List[np.ndarray]:
    """Returns the rows that reach each node."""
    rows: List[np.ndarray] = [np.array([], dtype=int)] * tree.nodes
    rows[0] = np.arange(len(x))
    for node in tree.top_down():
        if tree.left[node] == -1:
            continue
        values = x[rows[node], tree.feature[node]]
        goes_left = np.where(np.isnan(values), bool(tree.default_left[node]), values < tree.threshold[node])
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][goes_left], rows[node][~goes_left]
    return rows


def partitions(column: np.ndarray) -> Iterator[np.ndarray]:
    """Yields all ways to send a node's rows left by one feature: below any value, with missing ones left or right."""
    absent = np.isnan(column)
    for value in np.append(np.unique(column[~absent]), np.inf):
        below = column < value
        yield below
        if absent.any():
            yield below | absent


def best_gain(x: np.ndarray, g: np.ndarray, h: np.ndarray, rules: Rules) -> float:
    """Returns the best gain of all splits that min_child_weight allows; -inf if there is none."""
    best, whole = -np.inf, rules.gain(g.sum(), h.sum())
    for column in x.T:
        for left in partitions(column):
            left_h, right_h = h[left].sum(), h[~left].sum()
            if min(left_h, right_h) < rules.min_child_weight or min(left_h, right_h) <= 0:
                continue
            best = max(best, float(rules.gain(g[left].sum(), left_h) + rules.gain(g[~left].sum(), right_h) - whole))
    return best


def check_tree(
    tree: Tree, x: np.ndarray, g: np.ndarray, h: np.ndarray, rules: Rules, greedy: bool = True
) -> Tuple[int, int]:
    """Asserts that sums, weights, leaves and gains are right, and (`greedy`) that no node had a better split.

    Trees must be depth-wise, without sampling, and with a bin for every value. Returns the number of splits and leaves.
    """
    g, h = g.astype(np.float64), h.astype(np.float64)
    depth = tree.depth
    for node, rows in enumerate(route(tree, x)):
        node_g, node_h = g[rows].sum(), h[rows].sum()
        is_leaf = tree.left[node] == -1
        where = f"node {node} with {len(rows)} rows"
        np.testing.assert_allclose(tree.hess[node], node_h, rtol=2 * FLOAT_EPS, err_msg=where)
        weight = rules.weight(node_g, node_h)
        if is_leaf:  # a sum, a division and two products round in float32
            np.testing.assert_allclose(
                tree.threshold[node], rules.eta * weight, rtol=5 * FLOAT_EPS, atol=1e-30, err_msg=where
            )
        else:
            np.testing.assert_allclose(tree.weight[node], weight, rtol=4 * FLOAT_EPS, atol=1e-30, err_msg=where)
        whole = float(rules.gain(node_g, node_h))
        if not is_leaf:
            left, right = (np.flatnonzero(np.isin(np.arange(len(x)), part)) for part in _children(tree, node, rows, x))
            gains = [float(rules.gain(g[part].sum(), h[part].sum())) for part in (left, right)]
            tolerance = gain_tolerance(whole, *gains)
            assert abs(tree.gain[node] - (sum(gains) - whole)) <= tolerance, where
            assert tree.gain[node] > SMALLEST_GAIN and tree.gain[node] >= np.float32(rules.gamma), where
            assert min(h[left].sum(), h[right].sum()) >= rules.min_child_weight * (1 - FLOAT_EPS), where
            assert rules.max_depth == 0 or depth[node] < rules.max_depth, where
        if greedy and (rules.max_depth == 0 or depth[node] < rules.max_depth):
            best = best_gain(x[rows], g[rows], h[rows], rules)
            made = max(SMALLEST_GAIN, rules.gamma) if is_leaf else float(tree.gain[node])
            assert best <= made + gain_tolerance(
                whole, whole + max(best, 0)
            ), f"{where}: {best} was possible, not {made}"
    return len(tree.splits), len(tree.leaves)


def _children(tree: Tree, node: int, rows: np.ndarray, x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    values = x[rows, tree.feature[node]]
    left = np.where(np.isnan(values), bool(tree.default_left[node]), values < tree.threshold[node])
    return rows[left], rows[~left]
