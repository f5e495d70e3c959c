"""The search for combinations of categories, and for how to count their rows, by short trainings of this library.

It asks what CatBoost's trees ask when they split: which categories, with those that a path has used already, tell more of
the target? Here short trainings on a part of the training rows answer once, and what they find becomes columns.
"""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import xgboost

from ._encode import FixedPoint, Order, combined_keys, is_settled, number_keys
from ._encode_columns import Levels
from ._encode_targets import Labels, make_targets
from ._models import Model

ColumnSet = Tuple[int, ...]

#: Rows that trainings of the search see at most, a fifth of them to measure the loss.
MOST_ROWS = 60_000
#: Sets that one training ranks.
MOST_CANDIDATES = 64
ROUNDS = 60
PARAMETERS = {"eta": 0.15, "max_depth": 6, "tree_method": "gpu_hist"}
#: Rows from which on a category may count as settled: one statistic in all its rows. None: no category does.
SETTLED_ROWS: Tuple[Optional[int], ...] = (None, 1000, 100, 10)
#: By how many of its standard errors the loss must fall for combinations to be taken.
LEAST_GAIN = 1.0


def _hash(rows: int, seed: int, purpose: int) -> np.ndarray:
    """A number of 64 bits for each row, a function of its place, the seed and the purpose (splitmix64)."""
    x = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64((seed * 0xD1342543DE82EF95 + purpose * 0xA0761D6478BD642F) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _choose_rows(rows: int, is_given: bool, seed: int) -> Tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and rows to measure the loss on: a fifth, the last ones where rows come in time."""
    chosen = np.arange(rows)
    if rows > MOST_ROWS:
        chosen = np.sort(np.argsort(_hash(rows, seed, 1), kind="stable")[:MOST_ROWS])
    if is_given:
        cut = len(chosen) - len(chosen) // 5
        return chosen[:cut], chosen[cut:]
    held_out = _hash(rows, seed, 2)[chosen] % np.uint64(5) == 0
    return chosen[~held_out], chosen[held_out]


@dataclass
class Trials:
    """The rows of the search, statistics of sets on them, and trainings with some of these."""

    sizes: Dict[int, int]
    codes: Dict[int, np.ndarray]
    passed: np.ndarray
    labels: Labels
    weights: Optional[np.ndarray]
    settings: Dict[str, Any]
    train: np.ndarray
    held_out: np.ndarray
    settled_rows: Optional[int] = None
    _features: Dict[ColumnSet, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = np.concatenate([self.train, self.held_out])
        self.codes = {column: codes[rows] for column, codes in self.codes.items()}
        self.passed = self.passed[rows]
        part = Labels(self.labels.kind, self.labels.classes, self.labels.values[self.train])
        weights = None if self.weights is None else self.weights[self.train]
        fixed = None if weights is None else FixedPoint.of(weights)
        self._targets = make_targets(part.columns(), fixed, None, self.settings["prior_weight"], weights)

    def _codes_of(self, columns: ColumnSet) -> Tuple[np.ndarray, int]:
        """Codes on the rows of the search, and how many there are."""
        codes, size = self.codes[columns[0]], self.sizes[columns[0]]
        for column in columns[1:]:
            keys = combined_keys(codes, self.codes[column], self.sizes[column])
            codes, known = number_keys(keys, self.settings["threads"])
            size = len(known)
        return codes, size

    def features_of(self, columns: ColumnSet) -> np.ndarray:
        """Statistics of a set: ordered for the rows to train on, those of all of these for the rows held out.

        Rows of settled categories have the latter, too.
        """
        if columns in self._features:
            return self._features[columns]
        codes, size = self._codes_of(columns)
        rows, targets = len(self.train), len(self._targets.priors)
        features = np.empty((len(codes), targets + 1), np.float32)
        order = Order(self.settings["is_given"], self.settings["seed"], 0)
        threads, backend = self.settings["threads"], self.settings["backend"]
        totals = self._targets.encode(codes[:rows].copy(), size, order, features, threads, backend)
        weights = totals.weights * self._targets.weight_unit
        total = weights.sum()
        has_all = np.append(is_settled(codes[:rows], size, self.settled_rows), np.ones(len(codes) - rows, bool))
        for target, prior in enumerate(self._targets.priors):
            sums = totals.values[target] * self._targets.values.unit + self._targets.prior_weight * prior
            features[has_all, target] = (sums / (weights + self._targets.prior_weight))[codes[has_all]]
        features[:, targets] = (weights / total)[codes]
        self._features[columns] = features
        return features

    def forget(self, columns: ColumnSet) -> None:
        self._features.pop(columns, None)

    def settle(self, sets: List[ColumnSet]) -> Tuple[np.ndarray, Any]:
        """Chooses `settled_rows`, by the mean loss of trainings on these sets. Gives what `learn` gives for the choice."""
        tried = []
        for rows in SETTLED_ROWS if not self.settings["is_given"] else [None]:  # later rows may not count
            self.settled_rows = rows
            self._features.clear()
            losses, booster = self.learn(sets)
            tried.append((self._mean(losses), rows, losses, booster))
        _, self.settled_rows, losses, booster = min(tried, key=lambda one: one[0])
        self._features.clear()
        return losses, booster

    def _matrix(self, features: np.ndarray, rows: np.ndarray) -> Any:
        weights = None if self.weights is None else self.weights[rows]
        return xgboost.DMatrix(features, self.labels.values[rows], weight=weights)

    def learn(self, sets: List[ColumnSet]) -> Tuple[np.ndarray, Any]:
        """Trains on the statistics of the sets; gives the losses of the rows held out, and the booster.

        The losses are those after the round with the least mean.
        """
        features = np.concatenate([self.passed] + [self.features_of(columns) for columns in sets], axis=1)
        cut = len(self.train)
        parameters = {**PARAMETERS, "gpu_backend": self.settings["backend"], "seed": 0}
        if self.labels.kind == "numbers":
            parameters.update(objective="reg:squarederror", base_score=float(self._targets.priors[0]))
        elif len(self.labels.classes) == 2:
            parameters.update(objective="binary:logistic", eval_metric="logloss")
        else:
            parameters.update(objective="multi:softprob", eval_metric="mlogloss", num_class=len(self.labels.classes))
        if self.settings["threads"] > 0:
            parameters["nthread"] = self.settings["threads"]
        history: Dict[str, Any] = {}
        held_out = self._matrix(features[cut:], self.held_out)
        booster = xgboost.train(
            parameters,
            self._matrix(features[:cut], self.train),
            ROUNDS,
            evals=[(held_out, "held_out")],
            evals_result=history,
            verbose_eval=False,
        )
        rounds = int(np.argmin(next(iter(history["held_out"].values())))) + 1
        return self._losses(booster.predict(held_out, iteration_range=(0, rounds)).astype(np.float64)), booster

    def _losses(self, predicted: np.ndarray) -> np.ndarray:
        """The loss of each row held out."""
        targets = self.labels.values[self.held_out]
        if self.labels.kind == "numbers":
            return (predicted - targets) ** 2
        if predicted.ndim == 1:
            predicted = np.stack([1 - predicted, predicted], axis=1)
        return -np.log(np.maximum(predicted[np.arange(len(targets)), targets], 1e-7))

    def _held_out_weights(self) -> np.ndarray:
        return np.ones(len(self.held_out)) if self.weights is None else self.weights[self.held_out]

    def _mean(self, losses: np.ndarray) -> float:
        """The mean by weight; 0 if all weights are 0."""
        weights = self._held_out_weights()
        total = weights.sum()
        return float((losses * weights).sum() / total) if total > 0 else 0.0

    def is_better(self, losses: np.ndarray, than: np.ndarray) -> bool:
        """Whether the mean loss is less by more than LEAST_GAIN standard errors of the difference, row by row."""
        weights = self._held_out_weights()
        total = weights.sum()
        if total == 0:
            return False
        falls = than - losses
        mean = self._mean(falls)
        error = float(np.sqrt(((falls - mean) ** 2 * weights**2).sum()) / total)
        return mean > LEAST_GAIN * error

    def gains(self, sets: List[ColumnSet], booster: Any) -> Dict[ColumnSet, float]:
        """The gain that splits by each set's features have in a model that `learn` has trained on these sets."""
        width, first = len(self._targets.priors) + 1, self.passed.shape[1]
        found = {columns: 0.0 for columns in sets}
        for name, gain in booster.get_score(importance_type="total_gain").items():
            place = int(name[1:]) - first
            if place >= 0:
                found[sets[place // width]] += gain
        return found

    def used_together(self, sets: List[ColumnSet], booster: Any) -> Dict[ColumnSet, float]:
        """Unions of a split's set with one that the path to it has used, and the gain of such splits."""
        width, first = len(self._targets.priors) + 1, self.passed.shape[1]
        found: Dict[ColumnSet, float] = {}
        for tree in Model(booster, "the model of a search").trees:
            pending: List[Tuple[int, frozenset]] = [(0, frozenset())]
            while pending:
                node, path = pending.pop()
                if tree.left[node] == -1:
                    continue
                place = int(tree.feature[node]) - first
                if place >= 0:
                    own = sets[place // width]
                    for other in path:
                        union = tuple(sorted({*own, *other}))
                        found[union] = found.get(union, 0.0) + float(tree.gain[node])
                    path = path | {own}
                pending += [(int(tree.left[node]), path), (int(tree.right[node]), path)]
        return found


def _candidates(
    size: int, columns: List[int], gains: Dict[ColumnSet, float], together: Dict[ColumnSet, float]
) -> List[ColumnSet]:
    """Sets of so many columns to try, MOST_CANDIDATES at most.

    All, if these are few; else those that were used together, by gain, and then the sets of `gains` with one column more,
    by the gain of both.
    """
    if math.comb(len(columns), size) <= MOST_CANDIDATES:
        return list(itertools.combinations(columns, size))
    grown: Dict[ColumnSet, float] = {}
    for before, gain in gains.items():
        for column in columns if len(before) == size - 1 else []:
            if column not in before:
                union = tuple(sorted((*before, column)))
                grown[union] = max(grown.get(union, 0.0), gain + gains[(column,)])
    used = {union: gain for union, gain in together.items() if len(union) == size}
    ranked = sorted(used, key=lambda union: (-used[union], union))
    ranked += sorted(grown.keys() - used.keys(), key=lambda union: (-grown[union], union))
    return ranked[:MOST_CANDIDATES]


def find_combinations(
    levels: Dict[int, Levels],
    codes: Dict[int, np.ndarray],
    passed: Dict[int, np.ndarray],
    labels: Labels,
    weights: Optional[np.ndarray],
    settings: Dict[str, Any],
) -> Tuple[List[ColumnSet], Optional[int]]:
    """Sets of two to four columns whose statistics make a short training better, at most settings["most"]; and the rows
    from which on a category is settled, or None.

    The latter is chosen first, by trainings on the columns alone.

    For each size, one training on the columns so far and all candidates ranks these by their gain. The first 1, 2, 4 …
    are added to the columns so far. A number is taken instead of a smaller one if the loss on rows held out falls by more
    than its standard error.
    Cost: four trainings of 60 rounds, and up to 5 + log2(most) more a size, on 60,000 rows at most. The result is a function of the data
    and the parameters.
    """
    rows = len(labels.values)
    train, held_out = _choose_rows(rows, settings["is_given"], settings["seed"])
    columns = sorted(levels)
    if not len(train) or not len(held_out):
        return [], None
    others = [np.asarray(passed[column], np.float32)[:, None] for column in sorted(passed)]
    numbers = np.concatenate(others, axis=1) if others else np.empty((rows, 0), np.float32)
    sizes = {column: len(levels[column]) for column in columns}
    trials = Trials(sizes, codes, numbers, labels, weights, settings, train, held_out)
    taken: List[ColumnSet] = [(column,) for column in columns]
    losses, booster = trials.settle(taken)
    for size in range(2, min(4, len(columns)) + 1):
        candidates = _candidates(size, columns, trials.gains(taken, booster), trials.used_together(taken, booster))
        room = settings["most"] - (len(taken) - len(columns))
        if not candidates or room <= 0:
            break
        gains = trials.gains(taken + candidates, trials.learn(taken + candidates)[1])
        ranked = sorted((c for c in candidates if gains[c] > 0), key=lambda c: (-gains[c], c))[:room]
        counts = sorted({min(2**power, len(ranked)) for power in range(len(ranked).bit_length() + 1)} - {0})
        best: Tuple[np.ndarray, int, Any] = (losses, 0, booster)
        for count in counts:
            tried, model = trials.learn(taken + ranked[:count])
            if trials.is_better(tried, best[0]):
                best = tried, count, model
        for candidate in candidates:
            if candidate not in ranked[: best[1]]:
                trials.forget(candidate)
        losses, booster = best[0], best[2]
        taken = taken + ranked[: best[1]]
    return sorted(taken[len(columns) :], key=lambda c: (len(c), c)), trials.settled_rows
