"""Compares two trees grown from the same bins and gradients, node by node, and explains each difference."""

from dataclasses import dataclass, field
from typing import Callable, List, Optional

import numpy as np
from reference import gain_tolerance
from support import FLOAT_EPS, SMALLEST_GAIN, Tree


@dataclass
class Comparison:
    same: int = 0  # nodes that agree
    ties: int = 0  # nodes where both choices gain the same, to within float32
    wrong: List[str] = field(default_factory=list)


def node_gain(tree: Tree, node: int, reg_lambda: float) -> float:
    """G²/(H + lambda) = w²(H + lambda); of a leaf an upper bound is not known, and its split is not compared."""
    return float(tree.weight[node]) ** 2 * (float(tree.hess[node]) + reg_lambda)


def compare(
    ours: Tree,
    stock: Tree,
    x: np.ndarray,
    reg_lambda: float = 1.0,
    gamma: float = 0.0,
    ordered: bool = False,
    gradient_error: float = 0.0,
    tolerance_of: Optional[Callable[[Tree, int, np.ndarray], float]] = None,
) -> Comparison:
    """Trees from the same gradients. `ordered`: an unequal split elsewhere may change what is grown (max_leaves).
    `tolerance_of`: of the gain of a tree's node with these rows, where weights are not those of the least loss.

    Both know the sums of a node exactly or to about 2^-50; what is rounded is float32: sums and leaves once or twice,
    a gain as gain_tolerance() says. Two splits whose gains differ by no more than that are a tie, and either is right.
    `gradient_error`: how far a row's gradient or hessian may be from stock's, where each computes its own; a sum of n
    rows is then off by n times that, a leaf by as much over H + lambda, a node's gain by 2|w| + w² times as much.
    """
    result = Comparison()
    pending = [(0, 0, np.arange(len(x)))]
    while pending:
        a, b, rows = pending.pop()
        where = f"node {a}/{b} with {len(rows)} rows"
        sum_error = len(rows) * gradient_error
        if not np.isclose(ours.hess[a], stock.hess[b], rtol=2 * FLOAT_EPS, atol=sum_error):
            result.wrong.append(f"{where}: hessian {ours.hess[a]!r}, stock {stock.hess[b]!r}")
            continue
        leaves = (ours.left[a] == -1, stock.left[b] == -1)
        if all(leaves):
            # -eta·G/(H + lambda): up to 4 roundings; where G nearly cancels, also 2^-40 absolute.
            slack = 2.0**-40 + sum_error / (float(stock.hess[b]) + reg_lambda)
            if np.isclose(ours.threshold[a], stock.threshold[b], rtol=4 * FLOAT_EPS, atol=slack):
                result.same += 1
            else:
                result.wrong.append(f"{where}: leaf {ours.threshold[a]!r}, stock {stock.threshold[b]!r}")
            continue
        both = ((ours, a), (stock, b))
        if tolerance_of is None:
            tolerance = max(split_tolerance(tree, node, reg_lambda) for tree, node in both)
        else:
            tolerance = max(tolerance_of(tree, node, rows) for tree, node in both)
        weights = np.abs([stock.weight[node] for node in (b, stock.left[b], stock.right[b]) if node != -1])
        tolerance += sum_error * float(np.sum(2 * weights + weights**2))
        if any(leaves):
            gain = float(stock.gain[b] if leaves[0] else ours.gain[a])
            if ordered or abs(gain - max(gamma, SMALLEST_GAIN)) <= tolerance:
                result.ties += 1
            else:
                who = "stock" if leaves[0] else "ours"
                result.wrong.append(f"{where}: only {who} splits, gain {gain}")
            continue
        if abs(float(ours.gain[a]) - float(stock.gain[b])) > tolerance:
            result.wrong.append(f"{where}: gain {ours.gain[a]!r}, stock {stock.gain[b]!r}, tolerance {tolerance}")
            continue
        left_a, left_b = goes_left(ours, a, x[rows]), goes_left(stock, b, x[rows])
        # "Present or missing" on a QuantileDMatrix: the matrix does not hold the upper end of its last bin.
        same_threshold = ours.threshold[a] in (stock.threshold[b], np.finfo(np.float32).max)
        same_place = same_threshold if stock.categories[b] is None else ours.categories[a] == stock.categories[b]
        if ours.feature[a] == stock.feature[b] and same_place and np.array_equal(left_a, left_b):
            result.same += 1
        else:
            result.ties += 1  # equal gains, as just seen
        if np.array_equal(left_a, left_b):
            pending += [(ours.left[a], stock.left[b], rows[left_a]), (ours.right[a], stock.right[b], rows[~left_a])]
    return result


def split_tolerance(tree: Tree, node: int, reg_lambda: float) -> float:
    whole = node_gain(tree, node, reg_lambda)
    if tree.left[node] == -1:
        return gain_tolerance(whole, whole)
    return gain_tolerance(whole, whole + float(tree.gain[node]))


def goes_left(tree: Tree, node: int, x: np.ndarray) -> np.ndarray:
    values, categories = x[:, tree.feature[node]], tree.categories[node]
    present = values < tree.threshold[node] if categories is None else ~np.isin(values, list(categories))
    return np.where(np.isnan(values), bool(tree.default_left[node]), present)
