"""Searches for combinations of categories, for settled categories, and for columns to leave plain.

Short trainings on part of the training rows rank them. The best become columns. CatBoost's trees search at each split,
for categories that tell more together with the categories of the path. This search runs once.
"""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import xgboost

from ._encode import FixedPoint, Order, combined_keys, is_settled, number_keys
from ._encode_columns import Levels
from ._encode_sets import ColumnSet
from ._encode_targets import Labels, make_targets
from ._models import Model

#: The losses of the rows held out, and the booster.
Trained = Tuple[np.ndarray, Any]

#: Rows that trainings of the search see at most, a fifth of them to measure the loss.
MOST_ROWS = 60_000
#: Sets that one training ranks.
MOST_CANDIDATES = 64
ROUNDS = 60
PARAMETERS = {"base_score": 0.5, "eta": 0.15, "max_depth": 6, "tree_method": "gpu_hist"}
#: Rows from which on a category may count as settled: one statistic in all its rows.
SETTLED_ROWS = (1000, 100, 10)
#: By how many of its standard errors the loss must fall for a choice to be better.
LEAST_GAIN = 1.0
#: LEAST_GAIN for numbers of categories beside statistics. Their order mostly says nothing; where it does, it says much.
LEAST_GAIN_OF_NUMBERS = 2.0


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
    """The rows of the search, statistics of sets on these rows, and trainings on the statistics."""

    sizes: Dict[int, int]  #: number of codes of each column
    codes: Dict[int, np.ndarray]  #: of each column, [rows] of uint32; later those of `train`, then of `held_out`
    passed: np.ndarray  #: [rows, columns that are passed on] of float32; later the rows of `train`, then of `held_out`
    labels: Labels  #: of all rows
    weights: Optional[np.ndarray]  #: [rows]; None: all are 1
    settings: Dict[str, Any]  #: parameters of the search
    train: np.ndarray  #: numbers of the rows to train on
    held_out: np.ndarray  #: numbers of the rows to measure the loss on
    plain: List[int]  #: columns whose numbers of categories are features
    settled_rows: Optional[int] = None  #: rows from which on a category is settled; None: never
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
        """Statistics of a set, [rows of the search, targets + 1] of float32.

        Rows to train on get ordered ones. Held-out rows and rows of settled categories get those of all training rows.
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

    def settle(self, sets: List[ColumnSet]) -> Trained:
        """Chooses `settled_rows`, by trainings on these sets. Returns the result of `learn` for the choice.

        The choice is the number with the least mean loss, if it is better than None.
        """

        def learn(rows: Optional[int]) -> Trained:
            self.settled_rows = rows
            self._features.clear()
            return self.learn(sets)

        train = len(self.train)
        most = max(int(np.bincount(codes[:train]).max()) for codes in self.codes.values())
        chosen: Optional[int] = None
        best = learn(None)
        choices = [rows for rows in SETTLED_ROWS if rows <= most]
        if choices and not self.settings["is_given"]:  # else later rows may not count
            tried = [(rows, learn(rows)) for rows in choices]
            least = min(tried, key=lambda one: self._mean(one[1][0]))
            if not self.is_better(best[0], least[1][0], LEAST_GAIN):
                chosen, best = least
        self.settled_rows = chosen
        self._features.clear()
        return best

    def _matrix(self, features: np.ndarray, rows: np.ndarray) -> Any:
        weights = None if self.weights is None else self.weights[rows]
        return xgboost.DMatrix(features, self.labels.values[rows], weight=weights)

    def learn(self, sets: List[ColumnSet]) -> Trained:
        """Trains on the numbers of plain columns and the statistics of the sets.

        Returns the losses of the rows held out, after the round with the least mean loss, and the booster.
        """
        numbers = [self.codes[column][:, None].astype(np.float32) for column in self.plain]
        statistics = [self.features_of(columns) for columns in sets]
        features = np.concatenate([self.passed] + numbers + statistics, axis=1)
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

    def is_better(self, losses: np.ndarray, than: np.ndarray, errors: float) -> bool:
        """Whether the mean of `losses` is less than that of `than` by more than `errors` standard errors of the
        differences, row by row."""
        weights = self._held_out_weights()
        total = weights.sum()
        if total == 0:
            return False
        falls = than - losses
        mean = self._mean(falls)
        error = float(np.sqrt(((falls - mean) ** 2 * weights**2).sum()) / total)
        return mean > errors * error

    def grow(
        self, most: int, best: Trained, learn: Callable[[int], Trained], errors: float = LEAST_GAIN
    ) -> Tuple[int, Trained]:
        """Decides how many of a ranking are taken: 0, 1, 2, 4 … or `most`. A larger number is taken if it is better.

        `best`: the training with none; `learn(n)` trains with the first n. Returns the number and its training.
        """
        taken = 0
        for count in sorted({min(2**power, most) for power in range(most.bit_length() + 1)} - {0}):
            tried = learn(count)
            if self.is_better(tried[0], best[0], errors):
                taken, best = count, tried
        return taken, best

    def _owners(self, sets: List[ColumnSet]) -> List[Optional[ColumnSet]]:
        """The columns of each feature of `learn`; None: a column that is passed on."""
        width = len(self._targets.priors) + 1
        numbers: List[Optional[ColumnSet]] = [(column,) for column in self.plain]
        passed: List[Optional[ColumnSet]] = [None] * self.passed.shape[1]
        return passed + numbers + [columns for columns in sets for _ in range(width)]

    def gains(self, sets: List[ColumnSet], booster: Any) -> Tuple[Dict[int, float], Dict[ColumnSet, float]]:
        """Total gains of splits in a model that `learn` has trained on these sets.

        Returns the gains by the numbers of each plain column, and the gains by the statistics of each set.
        """
        owners, first = self._owners(sets), self.passed.shape[1] + len(self.plain)
        of_plain = {column: 0.0 for column in self.plain}
        of_sets = {columns: 0.0 for columns in sets}
        for name, gain in booster.get_score(importance_type="total_gain").items():
            place = int(name[1:])
            owner = owners[place]
            if owner is not None and place >= first:
                of_sets[owner] += gain
            elif owner is not None:
                of_plain[owner[0]] += gain
        return of_plain, of_sets

    def used_together(self, sets: List[ColumnSet], booster: Any) -> Dict[ColumnSet, float]:
        """Unions of a split's columns with columns of an earlier split on its path, and the sum of their gains."""
        owners = self._owners(sets)
        found: Dict[ColumnSet, float] = {}
        for tree in Model(booster, "the model of a search").trees:
            pending: List[Tuple[int, frozenset]] = [(0, frozenset())]
            while pending:
                node, path = pending.pop()
                if tree.left[node] == -1:
                    continue
                own = owners[int(tree.feature[node])]
                if own is not None:
                    for other in path:
                        union = tuple(sorted({*own, *other}))
                        found[union] = found.get(union, 0.0) + float(tree.gain[node])
                    path = path | {own}
                pending += [(int(tree.left[node]), path), (int(tree.right[node]), path)]
        return found


def _candidates(
    size: int, columns: List[int], gains: Dict[ColumnSet, float], together: Dict[ColumnSet, float]
) -> List[ColumnSet]:
    """Sets of `size` columns to try, MOST_CANDIDATES at most.

    Returns all sets if they are few. Otherwise sets that were used together come first, by gain. Then come the sets of
    `gains` with one more column, by the sum of both gains.
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


def _choose_plain(trials: Trials, columns: List[int], best: Trained) -> Tuple[List[ColumnSet], Trained]:
    """Chooses `trials.plain`. Returns the columns that keep their statistics, and the training with this choice.

    First numbers are added to the statistics, for the columns that gain most by numbers. Then statistics are left out,
    of the columns with numbers that gain least by statistics. `best`: the training on the statistics of all columns.
    """
    singles: List[ColumnSet] = [(column,) for column in columns]
    if not trials.plain:
        trials.plain = columns
        gains = trials.gains(singles, trials.learn(singles)[1])[0]
        ranked = sorted((column for column in columns if gains[column] > 0), key=lambda column: (-gains[column], column))

        def learn_beside(count: int) -> Trained:
            trials.plain = sorted(ranked[:count])
            return trials.learn(singles)

        count, best = trials.grow(len(ranked), best, learn_beside, LEAST_GAIN_OF_NUMBERS)
        trials.plain = sorted(ranked[:count])
    of_sets = trials.gains(singles, best[1])[1]
    spare = sorted(((column,) for column in trials.plain), key=lambda columns: (of_sets[columns], columns))

    def without(count: int) -> List[ColumnSet]:
        return [columns for columns in singles if columns not in spare[:count]]

    count, best = trials.grow(len(spare), best, lambda count: trials.learn(without(count)))
    return without(count), best


@dataclass
class Found:
    """The choices of a search."""

    sets: List[ColumnSet]  #: sets that have statistics: columns of their own, and combinations
    plain: List[int]  #: columns whose numbers of categories are features, ascending
    settled_rows: Optional[int]  #: rows from which on a category is settled; None: never


def search(
    levels: Dict[int, Levels],
    codes: Dict[int, np.ndarray],
    passed: Dict[int, np.ndarray],
    labels: Labels,
    weights: Optional[np.ndarray],
    settings: Dict[str, Any],
) -> Found:
    """Chooses what makes a short training better, in this order.

    1. The rows from which on a category is settled, by trainings on the columns alone.
    2. For each column whether its statistics are features, the numbers of its categories, or both. With
       settings["keep_codes"] the numbers are.
    3. Sets of two to four columns, at most settings["most"]. For each size, one training on the columns so far and all
       candidates ranks the candidates by gain, and the first of the ranking are taken.

    Trials.grow decides how many of a ranking are taken. A choice is better than another if its loss on rows held out is
    less by more than its standard error; for numbers of categories, by more than two standard errors.
    Cost: four trainings of 60 rounds, up to 5 + 2 log2(columns) for plain columns, and up to 5 + log2(most) a size, on
    60,000 rows at most. The result is a function of the data and the parameters.
    """
    rows = len(labels.values)
    train, held_out = _choose_rows(rows, settings["is_given"], settings["seed"])
    columns = sorted(levels)
    kept = columns if settings["keep_codes"] else []
    if any(not len(part) or (weights is not None and not weights[part].any()) for part in (train, held_out)):
        return Found([(column,) for column in columns], kept, None)  # no training, or nothing to judge it by
    others = [np.asarray(passed[column], np.float32)[:, None] for column in sorted(passed)]
    numbers = np.concatenate(others, axis=1) if others else np.empty((rows, 0), np.float32)
    sizes = {column: len(levels[column]) for column in columns}
    trials = Trials(sizes, codes, numbers, labels, weights, settings, train, held_out, kept)
    best = trials.settle([(column,) for column in columns])
    singles, best = _choose_plain(trials, columns, best)
    taken = singles
    for size in range(2, min(4, len(columns)) + 1):
        of_plain, of_sets = trials.gains(taken, best[1])
        for column in columns:
            of_sets[(column,)] = of_sets.get((column,), 0.0) + of_plain.get(column, 0.0)
        candidates = _candidates(size, columns, of_sets, trials.used_together(taken, best[1]))
        room = settings["most"] - (len(taken) - len(singles))
        if not candidates or room <= 0:
            break
        gains = trials.gains(taken + candidates, trials.learn(taken + candidates)[1])[1]
        ranked = sorted((c for c in candidates if gains[c] > 0), key=lambda c: (-gains[c], c))[:room]
        so_far = taken
        count, best = trials.grow(len(ranked), best, lambda count: trials.learn(so_far + ranked[:count]))
        for candidate in candidates:
            if candidate not in ranked[:count]:
                trials.forget(candidate)
        taken = so_far + ranked[:count]
    combined = sorted(taken[len(singles) :], key=lambda c: (len(c), c))
    return Found(singles + combined, trials.plain, trials.settled_rows)
