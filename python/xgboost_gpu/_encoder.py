"""OrderedTargetEncoder: categories as ordinary columns of numbers, by ordered target statistics."""

import copy
import functools
import itertools
import math
import os
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from ._encode import FixedPoint, Order, Targets, Totals, is_settled
from ._encode_columns import Levels, Table, read_numbers
from ._encode_file import read_encoder, write_encoder
from ._encode_sets import MOST_COLUMNS, ColumnSet, Combiner, FittedSet
from ._encode_targets import Labels, as_list, check_finite_numbers, find_borders, make_targets, read_weights
from ._text import quoted, warn_user

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError as error:
    raise ImportError(f"OrderedTargetEncoder needs scikit-learn (Debian's package python3-sklearn): {error}") from error

STATISTICS = ("mean", "frequency", "borders")


def _free_memory() -> int:
    """Bytes that the system can give, what it keeps of files among them."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class OrderedTargetEncoder(TransformerMixin, BaseEstimator):
    """Replaces categories by what the target was like in earlier rows of the same category.

    The columns that it makes are numbers, which XGBoost splits well where a column has many categories, or where
    combinations of categories matter. ``docs/categories.md`` says when to use it::

        encoder = xgboost_gpu.OrderedTargetEncoder(combinations=2)
        model = make_pipeline(encoder, xgb.XGBClassifier(tree_method="gpu_hist")).fit(X, y)

    The statistic of a row is ``(s + a p) / (n + a)``: s and n are the sums of targets and of weights over the rows of its
    category that come earlier in a shuffled order, p is the prior, and a its weight. So no row sees its own target.
    ``fit_transform`` gives these to the training rows. ``transform`` gives new rows the same formula with the sums of all
    training rows. A category that did not occur gets the prior. A missing value is a category.

    Hence ``fit(X, y).transform(X)`` is not ``fit_transform(X, y)``: train a model on the latter.

    Parameters
    ----------
    columns
        Columns to encode: a list of names or places; "all"; or "auto", which takes the columns of text and categories of a
        frame, and all columns of an array. Other columns must be numbers and are passed on.
    combinations
        1 (default): each column by itself. 2, 3, 4: also all combinations of up to that number of columns. A list of
        lists of names or places: also these combinations. "auto": also combinations that a search finds. It trains some
        short models, with ``gpu_backend`` as their backend. It also chooses the number of training rows from which on
        all rows of a category have one statistic, that of all its training rows (``settled_rows_``), unless rows come
        in time. For each column it chooses statistics (``encoded_columns_``), numbers of categories as of
        ``keep_codes`` (``plain_columns_``), or both.
    statistic
        The statistics of a set of columns. "mean": of the target, or for more than two classes the share of each class
        but the first. "frequency": the share of training rows. "borders": for a target of numbers the shares of rows
        above borders. The default is ("mean", "frequency").
    borders
        For the statistic "borders": a list of targets, or how many to choose that divide the rows evenly.
    target
        "classes", "numbers", or "auto" (default): text, truth values, two distinct values, and up to 20 distinct whole
        numbers are classes. For a regression on counts give "numbers"; a warning tells where "auto" made more than two
        classes of numbers.
    prior
        The mean of a category without rows: a number, or one for each target; default: the mean of the training rows.
        The shares above borders have those of all training rows for it.
    prior_weight
        The weight of the prior, in rows; above 0.
    keep_codes
        Whether a column of the numbers of the categories (ascending; NaN for those that did not occur) stands before the
        statistics of each column. ``combinations="auto"`` may choose it for some columns without it.
    order
        "random", or "given": rows come in time, and only earlier rows may count.
    random_state
        Seed of the order, 0 to 2^64 - 1. The result is a function of data and parameters, for any number of threads.
    most_combinations
        How many combinations "auto" finds at most.
    n_jobs
        Threads; None: all cores.
    gpu_backend
        "host" (default) or "cuda": where statistics are computed, with the same bits.

    Attributes
    ----------
    combinations_ : list of tuples of names (of an array: places) that are combined
    encoded_columns_ : list of names (of an array: places) of columns whose statistics are in the result
    plain_columns_ : likewise of columns whose numbers of categories are in the result
    settled_rows_ : rows from which on a category has one statistic in its training rows; None: never; not in files
    classes_ : the classes, ascending, or None
    target_type_ : "classes" or "numbers"
    borders_ : the borders, or None
    n_features_in_, feature_names_in_ : as in scikit-learn

    Errors are ValueError and TypeError, and name the parameter, its value and what is allowed. A column in which every row
    has a category of its own is a warning: it tells nothing.

    Cost: on the host about 50 ns for each row, set of columns and target, divided by the cores that work on it; memory for
    the result, [rows, features] of float32, and 16 bytes for each category of a set.

    From: Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018, arXiv:1706.09516; Dorogush,
    Ershov, Gulin, "CatBoost: gradient boosting with categorical features support", 2018, arXiv:1810.11363.
    """

    def __init__(
        self,
        columns: Any = "auto",
        combinations: Any = 1,
        statistic: Any = ("mean", "frequency"),
        borders: Any = 4,
        target: str = "auto",
        prior: Any = None,
        prior_weight: float = 1.0,
        keep_codes: bool = False,
        order: str = "random",
        random_state: int = 0,
        most_combinations: int = 32,
        n_jobs: Optional[int] = None,
        gpu_backend: str = "host",
    ) -> None:
        self.columns = columns
        self.combinations = combinations
        self.statistic = statistic
        self.borders = borders
        self.target = target
        self.prior = prior
        self.prior_weight = prior_weight
        self.keep_codes = keep_codes
        self.order = order
        self.random_state = random_state
        self.most_combinations = most_combinations
        self.n_jobs = n_jobs
        self.gpu_backend = gpu_backend

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "OrderedTargetEncoder":
        """Sums the targets of each category.

        X: [rows, columns], a frame (pandas, polars, pyarrow), an array, or a sparse matrix, whose values that are not
        stored are missing. y: [rows]. sample_weight: [rows] from 0 on; a row of weight 2 counts as two.
        """
        self._fit(X, y, sample_weight, orders=0)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits, and returns the training rows with ordered statistics, [rows, features] of float32."""
        return self._fit(X, y, sample_weight, orders=1)

    def expand(self, X: Any, y: Any, sample_weight: Any = None, permutations: int = 4) -> Tuple[Any, Any, np.ndarray]:
        """Fits, and returns the training rows once for each of several orders: data, targets and weights for a model.

        The data are [permutations · rows, features] of float32, one block of all rows for each order; the first has what
        fit_transform gives. Weights, [permutations · rows] of float32, are the rows' divided by `permutations`, so that
        the sums of gradients keep their size. Early rows of one order are late in another: models are better than with
        one order. The cost is that of so many trainings.
        """
        if isinstance(permutations, bool) or not isinstance(permutations, (int, np.integer)) or permutations < 1:
            raise ValueError(f"permutations is {quoted(permutations)}; allowed: 1 or more")
        if self.order == "given" and permutations > 1:
            raise ValueError(f"permutations is {permutations} and order is 'given'; allowed: 1, or order='random'")
        data = self._fit(X, y, sample_weight, orders=int(permutations))
        rows = len(data) // permutations
        weights = np.ones(rows) if sample_weight is None else read_weights(sample_weight, rows)
        labels = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
        return data, np.tile(labels.reshape(rows), permutations), np.tile(weights / permutations, permutations).astype("f4")

    def transform(self, X: Any) -> Any:
        """Returns new rows, [rows, features] of float32, with the statistics of all training rows."""
        self._check_is_fitted()
        table = Table(X)
        self._check_columns(table)
        codes = {
            column: levels.codes(table.column(column), self._threads()) for column, levels in self._levels.items()
        }
        out = self._room(table.rows, 1)
        self._pass_on(table, codes, out)
        for columns, of_set in self._combiner().walk(list(self._sets), codes, is_fit=False):
            place = self._place[columns]
            out[:, place : place + self._width] = self._table(self._sets[columns])[of_set]
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: those of columns that are passed on, "a__mean", "a__frequency", "a*b__mean" …"""
        self._check_is_fitted()
        names = self._names
        if input_features is not None:
            given = [str(name) for name in input_features]
            if len(given) != self.n_features_in_ or (self._has_names and given != names):
                raise ValueError(
                    f"input_features has {len(given)} names, of which the first are {quoted(given[:3])}; allowed: the "
                    f"{self.n_features_in_} of the training rows"
                )
            names = given
        found: List[Optional[str]] = [None] * self._features
        for column, place in self._passed.items():
            found[place] = names[column]
        for column, place in self._code_place.items():
            found[place] = f"{names[column]}__code"
        for columns, place in self._place.items():
            name = "*".join(names[column] for column in columns)
            statistics = self._statistic_names(self.classes_, self.borders_)
            found[place : place + self._width] = [f"{name}__{statistic}" for statistic in statistics]
        return np.array(found, dtype=object)

    def save(self, file: Any) -> None:
        """Writes the fitted encoder as JSON, which contains no code. `file`: the name of the file."""
        self._check_is_fitted()
        write_encoder(self, file)

    @classmethod
    def load(cls, file: Any) -> "OrderedTargetEncoder":
        """Reads what `save` wrote. Raises ValueError, which names the key, for what no encoder can have written."""
        return read_encoder(cls, file)

    # What follows is shared by fit, transform and files.

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "_sets"):
            raise NotFittedError("This OrderedTargetEncoder is not fitted; call fit, fit_transform or expand first")

    def _threads(self) -> int:
        return 0 if self.n_jobs is None or self.n_jobs < 0 else int(self.n_jobs)

    def _take_parameters(self) -> None:
        """Checks the parameters, and keeps those that transform needs: others may be set before the next fit."""

        def refuse(name: str, allowed: str) -> None:
            raise ValueError(f"{name} is {quoted(getattr(self, name))}; allowed: {allowed}")

        def is_whole(value: Any, least: int, most: int) -> bool:
            is_int = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            return is_int and least <= value <= most

        choices = dict(target=("auto", "classes", "numbers"), order=("random", "given"), gpu_backend=("host", "cuda"))
        for name, allowed in choices.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                refuse(name, ", ".join(allowed))
        if not is_whole(self.random_state, 0, 2**64 - 1):
            refuse("random_state", "0 to 2^64 - 1")
        if not is_whole(self.most_combinations, 1, 2**31):
            refuse("most_combinations", "1 or more")
        if self.n_jobs is not None and (not is_whole(self.n_jobs, -1, 2**16) or self.n_jobs == 0):
            refuse("n_jobs", "None, -1, 1 or more")
        if not isinstance(self.keep_codes, (bool, np.bool_)):
            refuse("keep_codes", "True, False")
        statistics = [self.statistic] if isinstance(self.statistic, str) else as_list(self.statistic)
        if not statistics or not all(isinstance(each, str) and each in STATISTICS for each in statistics):
            refuse("statistic", f"one or several of {', '.join(STATISTICS)}")
        check_finite_numbers("prior_weight", [self.prior_weight])
        if not self.prior_weight > 0:
            refuse("prior_weight", "numbers above 0")
        if self.prior is not None:
            check_finite_numbers("prior", self.prior)
        if not is_whole(self.borders, 1, 1000):
            if not as_list(self.borders):
                refuse("borders", "1 to 1000, or a list of numbers")
            check_finite_numbers("borders", self.borders)
        self._statistics, self._prior_weight = tuple(statistics or ()), float(self.prior_weight)

    def _has(self, statistic: str) -> bool:
        return statistic in self._statistics

    def _find_columns(self, table: Table, given: Any, name: str) -> List[int]:
        """Places of columns that the user names."""
        places = []
        for column in given:
            if isinstance(column, str) and table.names is not None and column in table.names:
                places.append(table.names.index(column))
            elif isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < table.columns:
                places.append(int(column))
            else:
                allowed = "names of columns of X, " if table.is_frame else ""
                raise ValueError(f"{name} has {quoted(column)}; allowed: {allowed}places from 0 to {table.columns - 1}")
        if len(set(places)) != len(places):
            raise ValueError(f"{name} is {quoted(list(given))}; allowed: each column once")
        return sorted(places)

    def _columns_to_encode(self, table: Table) -> List[int]:
        is_word = isinstance(self.columns, str)
        given = list(self.columns) if isinstance(self.columns, Iterable) and not is_word else []
        if self.columns not in ("auto", "all") if is_word else not given:
            raise ValueError(f"columns is {quoted(self.columns)}; allowed: auto, all, a list of names or places")
        if not is_word:
            return self._find_columns(table, given, "columns")
        every = list(range(table.columns))
        if self.columns == "all" or not table.is_frame:
            return every
        found = [column for column in every if table.has_categories(column)]
        if not found:
            raise ValueError(
                "columns is 'auto', and no column of X is of text or categories; allowed: all, a list of names or places"
            )
        return found

    def _combinations(self, table: Table, encoded: List[int], width: int) -> List[ColumnSet]:
        """Sets of two columns and more, as the user has asked for them."""
        if isinstance(self.combinations, (int, np.integer)) and not isinstance(self.combinations, bool):
            if 1 <= self.combinations <= MOST_COLUMNS:
                sizes = range(2, min(int(self.combinations), len(encoded)) + 1)
                sets = sum(math.comb(len(encoded), size) for size in sizes)
                self._check_memory(table.rows, sets + len(encoded), width)
                return [columns for size in sizes for columns in itertools.combinations(encoded, size)]
        listed = as_list(self.combinations)
        if listed is not None:
            sets = []
            for given in listed:
                columns = self._find_columns(table, as_list(given) or [], "combinations")
                if not 2 <= len(columns) <= MOST_COLUMNS or not set(columns) <= set(encoded):
                    raise ValueError(
                        f"combinations has {quoted(given)}; allowed: lists of 2 to {MOST_COLUMNS} columns that are encoded"
                    )
                sets.append(tuple(columns))
            return sorted(set(sets), key=lambda columns: (len(columns), columns))
        raise ValueError(
            f"combinations is {quoted(self.combinations)}; allowed: 1 to {MOST_COLUMNS}, auto, a list of lists of columns"
        )

    def _check_memory(self, rows: int, sets: int, width: int) -> None:
        """Raises MemoryError if the statistics of the sets, `width` for each row, exceed the system's free memory."""
        needed, free = 4 * rows * sets * width, _free_memory()
        if needed > free:
            raise MemoryError(
                f"combinations is {quoted(self.combinations)}: {sets:,} sets of columns, whose statistics for {rows:,} rows "
                f"need {needed:,} bytes; free are {free:,}; allowed: fewer combinations, or a list of them"
            )

    def _fit(self, X: Any, y: Any, sample_weight: Any, orders: int) -> Any:
        """Fits, and returns the training rows in `orders` orders. If that fails, the encoder stays as it was."""
        fresh = copy.copy(self)
        data = fresh._fit_fresh(X, y, sample_weight, orders)
        self.__dict__ = fresh.__dict__
        return data

    def _fit_fresh(self, X: Any, y: Any, sample_weight: Any, orders: int) -> Any:
        self._take_parameters()
        if y is None:
            raise ValueError("y is None; allowed: a target for each row of X")
        table = Table(X)
        if table.rows == 0 or table.columns == 0:
            raise ValueError(f"X has {table.rows} rows and {table.columns} columns; allowed: one of each at least")
        labels = Labels.of(y, table.rows, self.target, self._threads())
        weights = read_weights(sample_weight, table.rows)
        encoded = self._columns_to_encode(table)
        levels: Dict[int, Levels] = {}
        codes: Dict[int, np.ndarray] = {}
        for column in encoded:
            levels[column], codes[column] = Levels.fit(table.column(column), table.name(column), self._threads())
            if len(levels[column]) == table.rows and table.rows > 1:
                warn_user(
                    f"column {quoted(table.name(column))} has another category in each of the {table.rows} rows, so that "
                    "its statistics are the prior; allowed: leave it out of columns"
                )
        fixed_weights = None if weights is None else FixedPoint.of(weights)
        mean = make_targets(labels.columns(), fixed_weights, self.prior, self._prior_weight, weights)
        borders, border_targets = None, None
        if self._has("borders"):
            borders = find_borders(labels, self.borders)
            above = labels.values[None, :] > borders[:, None]
            border_targets = make_targets(above, fixed_weights, None, self._prior_weight, weights)
        self.settled_rows_ = None
        if isinstance(self.combinations, str) and self.combinations == "auto":
            from ._encode_search import search

            passed = {
                column: read_numbers(table.column(column), table.name(column))
                for column in range(table.columns)
                if column not in levels
            }
            found = search(levels, codes, passed, labels, weights, self._search_settings())
            sets, self._plain, self.settled_rows_ = found.sets, found.plain, found.settled_rows
        else:
            width = len(self._statistic_names(labels.classes, borders))
            sets = [(column,) for column in encoded] + self._combinations(table, encoded, width)
            self._plain = encoded if self.keep_codes else []
        self._set_shape(table, labels, levels, borders)
        self._lay_out(sets)
        self._take_targets(mean, border_targets, table.rows)
        self._check_memory(table.rows * max(orders, 1), len(sets), self._width)
        return self._sum(table, codes, mean, border_targets, orders)

    def _search_settings(self) -> Dict[str, Any]:
        return dict(
            most=int(self.most_combinations),
            keep_codes=bool(self.keep_codes),
            prior_weight=self._prior_weight,
            is_given=self.order == "given",
            seed=int(self.random_state),
            threads=self._threads(),
            backend=self.gpu_backend,
        )

    def _set_shape(self, table: Table, labels: Labels, levels: Dict[int, Levels], borders: Any) -> None:
        """Sets the fitted attributes, except the sets and their sums."""
        self.n_features_in_ = table.columns
        self._has_names = table.is_frame
        self._names = [table.name(column) for column in range(table.columns)]
        if table.is_frame:
            self.feature_names_in_ = np.array(self._names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.target_type_, self.classes_, self.borders_ = labels.kind, labels.classes, borders
        self._levels, self._known = levels, {}

    def _given_names(self, columns: Iterable[int]) -> List[Any]:
        """Columns as the user has them: names of a frame, places of an array."""
        return [self._names[column] if self._has_names else column for column in columns]

    def _lay_out(self, sets: List[ColumnSet]) -> None:
        """Gives features their places: columns of X in their order, then combinations."""
        self.plain_columns_ = self._given_names(self._plain)
        self.encoded_columns_ = self._given_names(columns[0] for columns in sets if len(columns) == 1)
        self.combinations_ = [tuple(self._given_names(columns)) for columns in sets if len(columns) > 1]
        self._width = len(self._statistic_names(self.classes_, self.borders_))
        self._passed: Dict[int, int] = {}
        self._code_place: Dict[int, int] = {}
        self._place: Dict[ColumnSet, int] = {}
        place = 0
        for column in range(self.n_features_in_):
            if column not in self._levels:
                self._passed[column] = place
                place += 1
                continue
            if column in self._plain:
                self._code_place[column] = place
                place += 1
            if (column,) in sets:
                self._place[(column,)] = place
                place += self._width
        for columns in sets:
            if len(columns) > 1:
                self._place[columns] = place
                place += self._width
        self._features = place

    def _statistic_names(self, classes: Any, borders: Any) -> List[str]:
        """What a set gives, for targets of these classes, or numbers and borders."""
        names = []
        if self._has("mean"):
            many = classes is not None and len(classes) > 2
            names += [f"mean_{name}" for name in classes[1:]] if many else ["mean"]
        if self._has("borders"):
            short = [f"{border:g}" for border in borders]
            names += [f"above_{text}" for text in (short if len(set(short)) == len(short) else borders)]
        if self._has("frequency"):
            names.append("frequency")
        return names

    def _take_targets(self, mean: Targets, borders: Optional[Targets], rows: int) -> None:
        """Keeps the numbers that turn sums into statistics: units, priors, the weight of all rows."""
        self._units = {"weight": mean.weight_unit, "mean": mean.values.unit}
        self._priors = {"mean": mean.priors}
        if borders is not None:
            self._units["borders"], self._priors["borders"] = borders.values.unit, borders.priors
        self._total_weight = rows if mean.weights is None else int(mean.weights.integers.sum())

    def _combiner(self) -> Combiner:
        return Combiner(self._levels, self._known, self._threads())

    def _room(self, rows: int, blocks: int) -> np.ndarray:
        return np.empty((rows * blocks, self._features), np.float32)

    def _pass_on(self, table: Table, codes: Dict[int, np.ndarray], out: np.ndarray) -> None:
        """Writes the columns that are no statistics."""
        for column, place in self._passed.items():
            out[:, place] = read_numbers(table.column(column), table.name(column))
        for column, place in self._code_place.items():
            out[:, place] = np.where(codes[column] == len(self._levels[column]), np.nan, codes[column])

    def _sum(
        self, table: Table, codes: Dict[int, np.ndarray], mean: Targets, borders: Optional[Targets], orders: int
    ) -> Optional[np.ndarray]:
        """Sums all sets, and writes ordered statistics of `orders` orders, one block after the other."""
        if orders == 0:  # text that is not encoded is refused here, too, and not by the first transform
            for column in self._passed:
                read_numbers(table.column(column), table.name(column))
        out = self._room(table.rows, orders)
        blocks = [out[number * table.rows : (number + 1) * table.rows] for number in range(orders)]
        for block in blocks:
            self._pass_on(table, codes, block)
        sets: Dict[ColumnSet, FittedSet] = {}
        combiner = self._combiner()
        for columns, of_set in combiner.walk(list(self._place), codes, is_fit=True):
            sets[columns] = self._sum_set(columns, of_set, combiner.size(columns), mean, borders, blocks)
        self._sets = sets
        return out if orders else None

    def _sum_set(
        self,
        columns: ColumnSet,
        codes: np.ndarray,
        categories: int,
        mean: Targets,
        borders: Optional[Targets],
        blocks: List[np.ndarray],
    ) -> FittedSet:
        place = self._place[columns]
        of_mean: Optional[Totals] = None
        of_borders: Optional[Totals] = None
        for number, block in enumerate(blocks or [None]):  # without blocks: sums alone
            order = Order(self.order == "given", int(self.random_state), number)
            encode = functools.partial(
                Targets.encode, codes=codes, categories=categories, order=order, threads=self._threads(),
                backend=self.gpu_backend,
            )  # fmt: skip
            at = place
            is_written = block is not None and self._has("mean")
            of_mean = encode(mean, out=block[:, at:] if is_written else None)  # its weights are the frequencies
            at += len(mean.priors) if self._has("mean") else 0
            if borders is not None:
                of_borders = encode(borders, out=None if block is None else block[:, at:])
        assert of_mean is not None
        fitted = FittedSet(columns, of_mean, of_borders)
        if self._has("frequency"):
            share = self._frequency(fitted)[codes]
            for block in blocks:
                block[:, place + self._width - 1] = share
        settled = np.flatnonzero(is_settled(codes, categories, self.settled_rows_))
        for block in blocks if len(settled) else []:
            block[settled, place : place + self._width] = self._table(fitted)[codes[settled]]
        return fitted

    def _frequency(self, fitted: FittedSet) -> np.ndarray:
        """Shares of the training rows, [categories + 1] of float32: 0 for a category that did not occur."""
        return (np.append(fitted.mean.weights, 0) / self._total_weight).astype(np.float32)

    def _table(self, fitted: FittedSet) -> np.ndarray:
        """Statistics of each category, and last of one that did not occur: [categories + 1, width] of float32."""
        columns = []
        for which, totals in (("mean", fitted.mean), ("borders", fitted.borders)):
            if totals is None or not self._has(which):
                continue
            weights = np.append(totals.weights, 0) * self._units["weight"] + self._prior_weight
            for values, prior in zip(totals.values, self._priors[which]):
                sums = np.append(values, 0) * self._units[which] + self._prior_weight * prior
                columns.append((sums / weights).astype(np.float32))
        if self._has("frequency"):
            columns.append(self._frequency(fitted))
        return np.stack(columns, axis=1)

    def _check_columns(self, table: Table) -> None:
        if table.columns != self.n_features_in_:
            raise ValueError(
                f"X has {table.columns} columns; allowed: the {self.n_features_in_} of the training rows"
            )
        if self._has_names and table.is_frame and table.names != self._names:
            at = next(i for i, (a, b) in enumerate(zip(table.names or [], self._names)) if a != b)
            raise ValueError(
                f"X has the column {quoted(table.name(at))} at place {at}; allowed: {quoted(self._names[at])}, as in the "
                "training rows"
            )

    def _more_tags(self) -> Dict[str, Any]:
        kinds = ["2darray", "categorical", "string", "sparse"]
        return {"requires_y": True, "allow_nan": True, "X_types": kinds, "preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # of scikit-learn 1.6 and later
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.sparse = True
        return tags
