"""Models as arrays over their nodes, and data as columns."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
import xgboost

from ._text import escaped, escaped_message, quoted, quoted_name


@dataclass
class ModelTree:
    """A tree of a model as arrays over its nodes; node 0 is the root."""

    left: np.ndarray  # -1: a leaf
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray  # of a leaf: its value, learning rate included
    default_left: np.ndarray
    gain: np.ndarray
    hess: np.ndarray
    weight: np.ndarray  # of inner nodes: without learning rate; of leaves: with it
    categories: np.ndarray  # categories that go right, as a frozenset; None where the split is not by categories

    @classmethod
    def of(cls, tree: Dict[str, Any]) -> Any:
        """Makes one from a tree of a model in JSON."""
        size = int(tree["tree_param"].get("size_leaf_vector", 0))
        if size > 1:
            raise ValueError(f"leaves are vectors of {size} numbers; allowed: one number")
        categories = np.full(len(tree["left_children"]), None)
        for at, first, size in zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"]):
            categories[at] = frozenset(tree["categories"][first : first + size])
        return cls(
            left=np.array(tree["left_children"]),
            right=np.array(tree["right_children"]),
            feature=np.array(tree["split_indices"]),
            threshold=np.array(tree["split_conditions"], dtype=np.float32),
            default_left=np.array(tree["default_left"]),
            gain=np.array(tree["loss_changes"], dtype=np.float32),
            hess=np.array(tree["sum_hessian"], dtype=np.float32),
            weight=np.array(tree["base_weights"], dtype=np.float32),
            categories=categories,
        )

    def check(self, features: int) -> None:
        """Raises ValueError for nodes that form no tree or split by a feature that the model does not have.

        It checks the nodes that the root reaches: XGBoost itself saves pruned nodes, with any content.
        """
        parent_of = {0: -1}
        pending = [0]
        while pending:
            node = pending.pop()
            if self.left[node] == -1:
                continue
            if not 0 <= self.feature[node] < features:
                raise ValueError(
                    f"node {node} splits by feature {self.feature[node]}; allowed: 0 to {features - 1}, the model's "
                    "features"
                )
            for side, child in (("left", int(self.left[node])), ("right", int(self.right[node]))):
                if not 1 <= child < len(self.left):
                    raise ValueError(
                        f"node {node} has the {side} child {child}; allowed: 1 to {len(self.left) - 1}, the tree's "
                        "nodes below the root"
                    )
                if child in parent_of:
                    raise ValueError(
                        f"node {node} has the {side} child {child}, which is a child of node {parent_of[child]} "
                        "already; allowed: a node that no other node leads to"
                    )
                parent_of[child] = node
                pending.append(child)

    def family(self, node: int) -> List[int]:
        """A node and its children."""
        return [node] if self.left[node] == -1 else [node, int(self.left[node]), int(self.right[node])]

    def below(self, node: int) -> int:
        """How many nodes are in the subtree of `node`, without itself."""
        found = [node]
        for each in found:  # grows meanwhile
            found += self.family(each)[1:]
        return len(found) - 1

    def split_text(self, node: int, names: Sequence[str] = ()) -> str:
        """The split in words, as in "age < 0.25, missing left (gain 12.5)"; for a leaf "leaf 0.125".

        A feature without a name is told by its number, as in "f3".
        """
        if self.left[node] == -1:
            return f"leaf {self.threshold[node]!s}"
        categories = self.categories[node]
        by = f"< {self.threshold[node]!s}" if categories is None else f"not in {sorted(categories)}"
        side = "left" if self.default_left[node] else "right"
        name = escaped(names[self.feature[node]], 80) if names else f"f{self.feature[node]}"
        return f"{name} {by}, missing {side} (gain {self.gain[node]!s})"


def goes_left(tree: ModelTree, node: int, values: np.ndarray) -> np.ndarray:
    """Which rows with these values of the node's feature go left."""
    categories = tree.categories[node]
    present = values < tree.threshold[node] if categories is None else ~np.isin(np.trunc(values), list(categories))
    return np.where(np.isnan(values), bool(tree.default_left[node]), present)


class Model:
    """Trees of a model, and the facts that two compared models must share. Messages call the model `name`."""

    def __init__(self, source: Any, name: str) -> None:
        self.name = name
        what, learner = _learner(source, name)
        try:
            booster = learner["gradient_booster"]
            kind = booster["name"]
            if kind not in ("gbtree", "dart"):
                raise ValueError(f"{name} has the booster {quoted(kind)}; allowed: gbtree, dart")
            model = booster.get("gbtree", booster)["model"]
            shape = learner["learner_model_param"]
            self.features = int(shape["num_feature"])
            self.names: List[str] = learner.get("feature_names", [])
            sizes = [int(tree["tree_param"].get("size_leaf_vector", 0)) for tree in model["trees"]]
            if max(sizes, default=0) > 1:
                raise ValueError(
                    f"{name} has trees of vectors (multi_strategy=multi_output_tree), with {max(sizes)} numbers in a "
                    "leaf; allowed: one number"
                )
            self.trees = [self._tree(number, tree, what) for number, tree in enumerate(model["trees"])]
            self.output_of = list(model["tree_info"])
            # The weights of a dart stand beside its trees, or, from XGBoost 3.1 on, with them.
            weights = booster.get("weight_drop") or model.get("weight_drop") or [1.0] * len(self.trees)
            self.weights = np.array(weights, dtype=np.float32)
            self.objective = str(learner["objective"]["name"])
            self.weighs = float(learner["objective"].get("reg_loss_param", {}).get("scale_pos_weight", 1)) != 1
            self.categories = model.get("cats", {}).get("enc", [])
            self.outputs = max(1, int(shape["num_class"]), int(shape.get("num_target", 1)))
            self.base_score = _base_score(shape["base_score"])
            self.per_round = self.outputs * max(1, int(model["gbtree_model_param"]["num_parallel_tree"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{name} is not a model that can be compared: {escaped_message(repr(error))}") from error
        if len(self.weights) != len(self.trees) or len(self.output_of) != len(self.trees):
            raise ValueError(
                f"{name} is {what}, a broken model: {len(self.trees)} trees have {len(self.weights)} weights and "
                f"{len(self.output_of)} outputs"
            )

    def _tree(self, number: int, tree: Dict[str, Any], what: str) -> ModelTree:
        try:
            made: ModelTree = ModelTree.of(tree)
            made.check(self.features)
        except ValueError as error:
            raise ValueError(f"{self.name} is {what}, a broken model: tree {number}, {error}") from error
        return made

    def check_shape(self, other: "Model") -> None:
        """Raises ValueError where trees of the two are not about the same features and outputs."""
        for what, ours, theirs in (
            ("features", self.features, other.features),
            ("outputs", self.outputs, other.outputs),
            ("trees a round", self.per_round, other.per_round),
        ):
            if ours != theirs:
                raise ValueError(f"{self.name} has {ours} {what} and {other.name} has {theirs}; allowed: the same number")


    def differences(self, other: "Model") -> List[Tuple[int, str]]:
        """What enters predictions beside the nodes of trees and differs: the tree, or -1 for all, and a text."""
        found = []
        for what, ours, theirs in (
            ("base_score is", self.base_score, other.base_score),
            ("the objective is", self.objective, other.objective),
            ("names of categories are", self.categories, other.categories),
            ("names of features are", self.names or other.names, other.names or self.names),
        ):
            if ours != theirs:
                found.append((-1, f"{what} {escaped_message(str(ours))} and {escaped_message(str(theirs))}"))
        for number, (ours, theirs) in enumerate(zip(self.weights, other.weights)):
            if ours != theirs:
                found.append((number, f"the tree's weight is {ours!s} and {theirs!s}"))
        for number, (ours, theirs) in enumerate(zip(self.output_of, other.output_of)):
            if ours != theirs:
                found.append((number, f"the tree is of output {ours} and of {theirs}"))
        return found


def _base_score(text: Any) -> Any:
    """A number; a tuple of numbers where outputs have several that differ. XGBoost writes a list from 3.1 on."""
    scores = [float(part) for part in str(text).strip("[]").split(",")]
    return scores[0] if len(set(scores)) == 1 else tuple(scores)


def _learner(source: Any, name: str) -> Tuple[str, Dict[str, Any]]:
    """Returns a description of `source`, and the part `learner` of the model's JSON."""
    what = f"of type {type(source).__name__}"
    if hasattr(source, "get_booster"):
        source = source.get_booster()
    if isinstance(source, (str, Path)):
        if not Path(source).is_file():
            raise FileNotFoundError(f"{name} is {quoted_name(source)}, which is not a file")
        what, source = quoted_name(source), bytearray(Path(source).read_bytes())
    elif isinstance(source, (bytes, bytearray)):
        what, source = f"{len(source)} bytes", bytearray(source)
    elif not isinstance(source, xgboost.Booster):
        kind = type(source).__name__
        raise TypeError(f"{name} is of type {kind}; allowed: Booster, fitted estimator, name of a model file, bytes")
    if isinstance(source, bytearray):
        booster = xgboost.Booster()
        try:
            booster.load_model(source)
            raw = booster.save_raw("json")  # some of a model is checked only when it is used
        except xgboost.core.XGBoostError as error:
            reason = escaped_message(str(error).strip().splitlines()[0])
            if re.search(r"\w::\w", reason):  # the name of a C++ function helps no user
                reason = "it is neither JSON nor UBJSON nor XGBoost's old binary format"
            raise ValueError(f"{name} is {what}, which is no model of XGBoost: {reason}") from error
    else:
        raw = source.save_raw("json")
    learner: Dict[str, Any] = json.loads(bytes(raw))["learner"]
    return what, learner


def _of_first_class(scores: Any) -> float:
    """The hessian of softmax. Base scores of classes are margins."""
    shares = np.exp(scores - np.max(scores))
    first = float(shares[0] / shares.sum())
    return 2 * first * (1 - first)


def _has_curved_errors(objective: str) -> bool:
    """Whether each row has a hessian of its own: with absolute errors since 3.4."""
    return objective == "reg:absoluteerror" and [int(part) for part in xgboost.__version__.split(".")[:2]] >= [3, 4]


#: The hessian of a row of weight 1 in the first tree, by the base scores of all outputs.
_FIRST_HESSIAN: Dict[str, Callable[[Any], float]] = {
    "reg:squarederror": lambda scores: 1.0,
    "reg:absoluteerror": lambda scores: 1.0,
    "reg:logistic": lambda scores: scores[0] * (1 - scores[0]),
    "binary:logistic": lambda scores: scores[0] * (1 - scores[0]),
    "multi:softmax": _of_first_class,
    "multi:softprob": _of_first_class,
}


def _is_table(data: Any) -> bool:
    """Whether the data are a frame or a table, whose columns have types of their own."""
    return any(hasattr(data, name) for name in ("dtypes", "__arrow_c_stream__", "__dataframe__", "schema"))


class Columns:
    """Columns of training data; NaN where a value is missing.

    A data frame is read as `DMatrix(frame, enable_categorical=True)` reads it: categories are their codes.
    """

    def __init__(self, data: Any) -> None:
        if not isinstance(data, xgboost.DMatrix) and _is_table(data):
            try:
                data = xgboost.DMatrix(data, enable_categorical=True)
            except (ValueError, TypeError, xgboost.core.XGBoostError) as error:
                kind = type(data).__name__
                raise ValueError(f"data are a {kind} that DMatrix does not take: {escaped_message(error)}") from error
        #: Names of the columns, where the data have some.
        self.names: List[str] = []
        #: Whether the data have weights or base margins.
        self.weighted = False
        if isinstance(data, xgboost.DMatrix):
            self.names = data.feature_names or []
            self.weighted = len(data.get_weight()) > 0 or len(data.get_base_margin()) > 0
            shape = data.num_row(), data.num_col()
            data = data.get_data()
            data.resize(shape)  # CSR may lack empty last columns
        self._sparse = data.tocsc() if hasattr(data, "tocsc") else None
        if self._sparse is not None and not self._sparse.has_sorted_indices:
            self._sparse = self._sparse.sorted_indices()  # a copy: the user's matrix stays as it is
        self._dense = None if self._sparse is not None else np.asarray(data, dtype=np.float32)
        self.shape = self._sparse.shape if self._dense is None else self._dense.shape
        if len(self.shape) != 2:
            raise ValueError(f"data have {len(self.shape)} dimensions; allowed: 2, rows and columns")

    def check(self, model: "Model") -> None:
        """Raises ValueError for data of other columns than the model's."""
        if self.shape[1] != model.features:
            raise ValueError(f"data have {self.shape[1]} columns; allowed: {model.features}, the models' features")
        for number, (ours, theirs) in enumerate(zip(self.names, model.names)):
            if ours != theirs:
                raise ValueError(
                    f"column {number} of data is {quoted_name(ours)}; allowed: {quoted_name(theirs)}, as in the model"
                )

    def doubt(self, model: "Model") -> str:
        """Why these are probably not the training rows of the model; empty if nothing tells.

        Before the first tree all rows have the same margin, hence the same hessian, and a node's cover counts its rows.
        """
        hessian = None if _has_curved_errors(model.objective) else _FIRST_HESSIAN.get(model.objective)
        if hessian is None or self.weighted or model.weighs or not model.trees:
            return ""
        of_row = hessian(np.broadcast_to(model.base_score, model.outputs))
        tree = model.trees[0]
        pending = [(0, np.arange(self.shape[0]))]
        while pending:
            node, rows = pending.pop()
            covered = float(tree.hess[node]) / of_row
            # A count is a whole number. gpu_hist may round hessians to 14 bits, each by less than 2^-9 of the equal ones.
            if abs(covered - len(rows)) > 0.5 + len(rows) * 2**-9:
                return (
                    f"data are not the rows of the training, or it had weights, margins or a sample: {len(rows)} rows of "
                    f"data reach node {node} of tree 0, whose cover is that of {covered:.6g}"
                )
            if tree.left[node] != -1:
                left = goes_left(tree, node, self.values(rows, int(tree.feature[node])))
                pending += [(int(tree.left[node]), rows[left]), (int(tree.right[node]), rows[~left])]
        return ""

    def values(self, rows: np.ndarray, feature: int) -> np.ndarray:
        if self._dense is not None:
            return self._dense[rows, feature]
        values = np.full(len(rows), np.nan, dtype=np.float32)
        begin, end = self._sparse.indptr[feature : feature + 2]
        if end > begin:
            stored = self._sparse.indices[begin:end]
            places = np.minimum(np.searchsorted(stored, rows), len(stored) - 1)
            there = stored[places] == rows
            values[there] = self._sparse.data[begin:end][places[there]]
        return values
