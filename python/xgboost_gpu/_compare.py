"""Compares two models node by node and explains each difference."""

import math
from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from ._models import Columns, Model, ModelTree, goes_left

#: Half a unit in the last place of a float32, relative: the largest error of one rounding.
FLOAT_EPS = 2.0**-24
#: Splits that gain no more than this are never made (XGBoost's own constant).
SMALLEST_GAIN = 1e-6
#: The largest difference between two programs' gradients of a row of weight 1. Each computes a probability by its own
#: exp, and a gradient of it: at most 8 roundings of numbers up to 1.
GRADIENT_ERROR = 8 * FLOAT_EPS

#: Kinds of differences.
TIE, LATER, REAL = "tie", "later", "real"
_SHOWN = 40  # differences of one kind that a report lists


@dataclass(frozen=True)
class Difference:
    """Two nodes that are not alike.

    ``kind`` is ``"tie"``: both choices have equal gains, to the rounding of float32, and either is right; ``"later"``:
    an earlier round differs, so the gradients differ, too; ``"real"``: rounding does not explain it.
    """

    kind: str
    tree: int  #: counted from 0; -1: it concerns all trees
    nodes: Optional[Tuple[int, int]]  #: the node's number in either model; None: it concerns no single node
    rows: Optional[int]  #: how many rows reach it, if there are data
    what: str
    gain_difference: Optional[float] = None  #: difference of the gains of the two choices
    tolerance: Optional[float] = None  #: the most that rounding can make of gain_difference

    def __str__(self) -> str:
        if self.tree < 0:
            return f"{self.kind}: {self.what}"
        if self.nodes is None:
            return f"{self.kind}: tree {self.tree}: {self.what}"
        rows = "" if self.rows is None else f", {self.rows} rows"
        text = f"{self.kind}: tree {self.tree}, node {self.nodes[0]}/{self.nodes[1]}{rows}: {self.what}"
        if self.gain_difference is None:
            return text
        return f"{text}; gains differ by {self.gain_difference:.3g}, rounding explains {self.tolerance:.3g}"


@dataclass
class Comparison:
    """The result of :func:`compare`. ``print`` it for a report."""

    same: int = 0  #: nodes that agree
    skipped: int = 0  #: nodes of the first model below differences, which have no counterpart
    differences: List[Difference] = field(default_factory=list)
    trees: int = 0
    leaf_error: float = 0.0  #: largest difference between two leaves that agree
    diverged: bool = False  #: True if rows go different ways somewhere
    doubt: str = ""  #: why the data are hardly those of the training; empty if nothing tells

    def of_kind(self, kind: str) -> List[Difference]:
        """All differences of a kind: ``"tie"``, ``"later"`` or ``"real"``."""
        return [d for d in self.differences if d.kind == kind]

    @property
    def ties(self) -> int:
        """Nodes where both choices gain the same."""
        return len(self.of_kind(TIE))

    @property
    def wrong(self) -> List[str]:
        """The differences that rounding does not explain, in words."""
        return [str(d) for d in self.of_kind(REAL)]

    @property
    def explained(self) -> bool:
        """Whether no difference is real."""
        return not self.of_kind(REAL)

    def add(self, other: "Comparison") -> None:
        """Counts what `other` counted, too."""
        self.same += other.same
        self.skipped += other.skipped
        self.trees += other.trees
        self.differences += other.differences
        self.leaf_error = max(self.leaf_error, other.leaf_error)
        self.diverged = self.diverged or other.diverged

    def __str__(self) -> str:
        real, later = len(self.of_kind(REAL)), len(self.of_kind(LATER))
        compared = self.same + sum(difference.nodes is not None for difference in self.differences)
        share = self.same / compared if compared else 1.0
        lines = [
            f"{self.trees} trees, {compared} nodes compared: {self.same} alike ({share:.2%}), {self.ties} ties, "
            f"{later} after a difference of an earlier round, {real} not explained",
        ]
        if self.doubt:
            lines.append(self.doubt)
        if self.skipped:
            lines.append(f"{self.skipped} nodes below differences have no counterpart and were not compared")
        for kind in (REAL, TIE, LATER):
            found = self.of_kind(kind)
            lines += [f"  {difference}" for difference in found[:_SHOWN]]
            if len(found) > _SHOWN:
                lines.append(f"  … and {len(found) - _SHOWN} more that are {kind}")
        return "\n".join(lines)


def compare(
    a: Any,
    b: Any,
    data: Any = None,
    *,
    reg_lambda: float = 1.0,
    gamma: float = 0.0,
    gradient_error: Optional[float] = None,
    ordered: bool = False,
) -> Comparison:
    """Compares two models that should be equal but for rounding, node by node, and explains each difference.

    Trees are compared from the roots. If two splits differ, their gains tell whether they tie. Rounding of sums decides
    ties. The tolerance is derived from the gains' sizes, and printed. Below two splits that send rows different ways
    nothing can be compared. Trees of later rounds then have other gradients, so their differences are counted apart. To
    judge later rounds, too, let both methods go on from the same model, round by round (``docs/exact.md``).

    The rest of a prediction is compared, too: base score, objective, the weights of a dart's trees, names of features
    and categories. If the numbers of trees differ, the first trees are compared, and the number is a real difference.

    ``print`` the result for a report, or read its counts.

        found = xgboost_gpu.compare(exact_booster, "stock.json", data)
        print(found)
        assert found.explained

    Parameters
    ----------
    a, b
        ``Booster``, fitted estimator, name of a model file, or a model's bytes (``Booster.save_raw``).
    data
        The training rows of both: an array, a sparse matrix, a ``DMatrix``, or the data frame that ``fit`` took, with
        its categories and missing values. Without data, splits are alike only if feature and threshold are equal, and
        no error of gradients is allowed for. Names of columns must be the models'. ``doubt`` of the result tells why
        the rows are probably not the training rows.
    reg_lambda, gamma
        The values of both trainings; model files do not have them.
    gradient_error
        The largest difference between the two gradients of a row. The default is 2^-21: eight roundings of numbers up
        to 1. With weights, multiply it by the largest weight. A ``gpu_hist`` of 65,536 rows or more may round gradients
        to 14 bits; beside another method give 2^-14. Needs `data`, which tell how many rows were summed.
    ordered
        True if nodes compete (``max_leaves``, ``grow_policy=lossguide``). Another split elsewhere then changes which
        nodes are grown, and a node that only one model splits counts as a tie.

    With ``max_delta_step`` or ``monotone_constraints`` gains are sums of larger numbers than the tolerance is derived
    from: a tie may then be called real. Two trainings of ``dart`` drop trees by random numbers of their own.

    Raises ValueError if something is not a model with trees, or if models and data have different shapes; TypeError
    for other objects; FileNotFoundError for a file that is not there.
    """
    one, other = Model(a, "a"), Model(b, "b")
    one.check_shape(other)
    for name, value in (("reg_lambda", reg_lambda), ("gamma", gamma), ("gradient_error", gradient_error or 0.0)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; allowed: a finite number from 0 on")
    if data is None and gradient_error:
        raise ValueError(f"gradient_error is {gradient_error}, but without data the number of rows in a node is unknown; give data")
    columns = None if data is None else Columns(data)
    if columns is not None:
        columns.check(one)
    own_error = gradient_error if gradient_error is not None else (0.0 if data is None else GRADIENT_ERROR)
    result = Comparison(doubt="" if columns is None else columns.doubt(one))
    for number, text in one.differences(other):
        result.differences.append(Difference(REAL, number, None, None, text))
        result.diverged = True
    trees = min(len(one.trees), len(other.trees))
    if len(one.trees) != len(other.trees):
        text = f"a has {len(one.trees)} trees and b has {len(other.trees)}; the first {trees} are compared"
        result.differences.append(Difference(REAL, -1, None, None, text))
    margins = _Margins(one.base_score)
    for first in range(0, trees, one.per_round):
        # Once margins differ, sums of gradients differ, by as much for each row. Only the data tell the number of rows.
        later = result.diverged or (data is None and margins.error > 0)
        for number in range(first, min(first + one.per_round, trees)):
            pair = one.trees[number], other.trees[number]
            found = compare_trees(
                *pair, columns, reg_lambda, gamma, ordered, own_error + margins.error, tree=number, later=later,
                names=one.names or other.names,
            )  # fmt: skip
            margins.add_tree(pair, found.leaf_error)
            result.add(found)
        margins.end_round()
    return result


class _Margins:
    """The largest difference between two models' margins of a row, while its leaves are alike.

    A tree adds the difference of two leaves, and each model rounds its sum, by 2^-24 of the margin at most. A gradient
    of squared error or a logistic loss is off by no more than its margin, and so is its hessian.
    """

    def __init__(self, base_scores: Any) -> None:
        self.error = 0.0
        self._next_error = 0.0
        self._largest = 0.0  # of all margins; at first of a base score, its logarithm, or its logit
        for base_score in np.atleast_1d(base_scores):
            margin = abs(base_score)
            if base_score > 0:
                margin += abs(math.log(base_score))
            if 0 < base_score < 1:
                margin += abs(math.log1p(-base_score))
            self._largest = max(self._largest, float(margin))

    def add_tree(self, pair: Any, leaf_error: float) -> None:
        self._largest += max(float(np.max(np.abs(tree.threshold[tree.left == -1]))) for tree in pair)
        if self._next_error > 0 or leaf_error > 0:
            self._next_error += leaf_error + 2 * FLOAT_EPS * self._largest

    def end_round(self) -> None:
        self.error = self._next_error


def gain_tolerance(*gains: float) -> float:
    """A gain is a difference of node gains, each of a few float32 operations: at most 8 roundings of their sizes."""
    return 8 * FLOAT_EPS * float(np.sum(np.abs(gains)))


def node_gain(tree: ModelTree, node: int, reg_lambda: float) -> float:
    """G²/(H + lambda) = w²(H + lambda); of a leaf smaller, by the square of the learning rate."""
    return float(tree.weight[node]) ** 2 * (float(tree.hess[node]) + reg_lambda)


def split_tolerance(tree: ModelTree, node: int, reg_lambda: float) -> float:
    """The tolerance of the gain of a node's split, or of a split that was not made."""
    whole = node_gain(tree, node, reg_lambda)
    if tree.left[node] == -1:
        return gain_tolerance(whole, whole)
    return gain_tolerance(whole, whole + float(tree.gain[node]))


def compare_trees(
    a: ModelTree,
    b: ModelTree,
    x: Any,
    reg_lambda: float = 1.0,
    gamma: float = 0.0,
    ordered: bool = False,
    gradient_error: float = 0.0,
    tolerance_of: Optional[Callable[[ModelTree, int, np.ndarray], float]] = None,
    tree: int = 0,
    later: bool = False,
    names: Sequence[str] = (),
) -> Comparison:
    """Compares two trees that should have been grown from the same gradients; arguments are named as in `compare`.

    Both know the sums of a node exactly or to about 2^-50. Rounding is that of float32: sums and leaves once or twice,
    a gain as gain_tolerance() says. Two splits tie if their gains differ by no more than the tolerance; either is
    right. With a `gradient_error` e, a sum of n rows is off by n·e, a leaf by n·e / (H + lambda), a node's gain by
    n·e·(2|w| + w²). `tolerance_of` gives the tolerance of the gain of a tree's node with these rows, if weights do not
    minimise the loss. `tree` is the tree's number and `names` are the features' names, for messages. `later` is True if
    an earlier round differs already.
    """
    columns = x if x is None or isinstance(x, Columns) else Columns(x)
    least_gain = max(gamma, SMALLEST_GAIN)
    walk = _Walk(a, b, columns, reg_lambda, least_gain, ordered, gradient_error, tolerance_of, tree, later, names)
    pending = [_Pair(0, 0, None if columns is None else np.arange(columns.shape[0]))]
    while pending:
        pending += walk.visit(pending.pop())
    return walk.result


@dataclass
class _Pair:
    """A node of either tree, and the rows that reach both, if there are data."""

    a: int
    b: int
    rows: Optional[np.ndarray]


@dataclass
class _Walk:
    """Walks down two trees from their roots. It is made with the arguments of `compare_trees`."""

    a: ModelTree
    b: ModelTree
    columns: Optional[Columns]
    reg_lambda: float
    least_gain: float
    ordered: bool
    gradient_error: float
    tolerance_of: Optional[Callable[[ModelTree, int, np.ndarray], float]]
    tree: int
    later: bool
    names: Sequence[str]
    result: Comparison = field(default_factory=lambda: Comparison(trees=1))

    def visit(self, pair: _Pair) -> List[_Pair]:
        """Judges two nodes; gives their children if these can be compared."""
        hess = self.a.hess[pair.a], self.b.hess[pair.b]
        leaves = self.a.left[pair.a] == -1, self.b.left[pair.b] == -1
        if not np.isclose(*hess, rtol=2 * FLOAT_EPS, atol=self._sum_error(pair)):
            return self._differ(REAL, pair, f"sums of hessians are {hess[0]!s} and {hess[1]!s}")
        if all(leaves):
            return self._leaves(pair)
        texts = f"{self.a.split_text(pair.a, self.names)} and {self.b.split_text(pair.b, self.names)}"
        tolerance = self._tolerance(pair)
        if any(leaves):
            apart = abs(float(self.b.gain[pair.b] if leaves[0] else self.a.gain[pair.a]) - self.least_gain)
            kind = TIE if self.ordered or apart <= tolerance else REAL
            return self._differ(kind, pair, f"{texts}: only one splits", apart, tolerance)
        apart = abs(float(self.a.gain[pair.a]) - float(self.b.gain[pair.b]))
        if apart > tolerance:
            return self._differ(REAL, pair, texts, apart, tolerance)
        children = self._children(pair)
        if children and self._same_place(pair):
            self.result.same += 1
            return children
        return self._differ(TIE, pair, texts, apart, tolerance, children)

    def _differ(
        self, kind: str, pair: _Pair, what: str, apart: Optional[float] = None, tolerance: Optional[float] = None,
        children: Optional[List[_Pair]] = None,
    ) -> List[_Pair]:  # fmt: skip
        rows = None if pair.rows is None else len(pair.rows)
        kind = LATER if self.later else kind
        self.result.differences.append(Difference(kind, self.tree, (pair.a, pair.b), rows, what, apart, tolerance))
        if not children:
            self.result.diverged = True
            self.result.skipped += self.a.below(pair.a)
        return children or []

    def _leaves(self, pair: _Pair) -> List[_Pair]:
        values = self.a.threshold[pair.a], self.b.threshold[pair.b]
        # -eta·G/(H + lambda): up to 4 roundings; where G nearly cancels, also 2^-40 absolute.
        below = float(self.b.hess[pair.b]) + self.reg_lambda  # 0: the leaf is 0 for every G
        slack = 2.0**-40 + (self._sum_error(pair) / below if below > 0 else 0.0)
        if not np.isclose(*values, rtol=4 * FLOAT_EPS, atol=slack):
            return self._differ(REAL, pair, f"leaves are {values[0]!s} and {values[1]!s}")
        self.result.same += 1
        self.result.leaf_error = max(self.result.leaf_error, abs(float(values[0]) - float(values[1])))
        return []

    def _sum_error(self, pair: _Pair) -> float:
        return 0.0 if pair.rows is None else len(pair.rows) * self.gradient_error

    def _tolerance(self, pair: _Pair) -> float:
        """By how much two equal gains may differ."""
        both = (self.a, pair.a), (self.b, pair.b)
        if self.tolerance_of is None:
            tolerance = max(split_tolerance(tree, node, self.reg_lambda) for tree, node in both)
        else:
            tolerance = max(self.tolerance_of(tree, node, pair.rows) for tree, node in both)
        weights = [np.abs(tree.weight[tree.family(node)]) for tree, node in both]
        return tolerance + self._sum_error(pair) * max(float(np.sum(2 * w + w**2)) for w in weights)

    def _same_place(self, pair: _Pair) -> bool:
        """Whether both split by the same feature at the same threshold, or by the same categories."""
        a, b, categories = self.a, self.b, (self.a.categories[pair.a], self.b.categories[pair.b])
        if a.feature[pair.a] != b.feature[pair.b]:
            return False
        if categories != (None, None):
            return bool(categories[0] == categories[1])
        at_a, at_b = a.threshold[pair.a], b.threshold[pair.b]
        # "Present or missing" on a QuantileDMatrix: the matrix does not hold the upper end of its last bin, and only
        # rows tell that the other threshold is there.
        present = pair.rows is not None and np.finfo(np.float32).max in (at_a, at_b)
        return bool(at_a == at_b or present)

    def _children(self, pair: _Pair) -> List[_Pair]:
        """The pairs of children that get the same rows; empty if there are none, or if nothing tells."""
        both = (self.a, pair.a), (self.b, pair.b)
        left = int(self.a.left[pair.a]), int(self.b.left[pair.b])
        right = int(self.a.right[pair.a]), int(self.b.right[pair.b])
        if self.columns is None or pair.rows is None:
            return [_Pair(*left, None), _Pair(*right, None)] if self._same_place(pair) else []
        ways = [
            goes_left(tree, node, self.columns.values(pair.rows, int(tree.feature[node]))) for tree, node in both
        ]
        if not np.array_equal(*ways):
            return []
        return [_Pair(*left, pair.rows[ways[0]]), _Pair(*right, pair.rows[~ways[0]])]
