"""Five features at once, at random, beside stock hist on real data: each alone, and 240 random combinations.

Without sampling each round starts both methods from the same model, and the trees must be the same node by node
(equal_trees.py explains what may differ, or calls it wrong). Samples are drawn differently from stock's, so sampled
trees cannot be compared; there the held-out loss is, over many seeds together: the mean of the paired relative
differences must lie within four of its standard errors of zero (by chance, one test of 30 pairs in 2,500 does not).
"""

from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import pytest
import scipy.sparse
import xgboost as xgb
from equal_trees import Comparison, compare
from sklearn import datasets
from support import FLOAT_EPS, params, stock_params, trees_of

SEEDS, CHUNKS, ROUNDS = 240, 8, 3
Rng = np.random.Generator


class Task:
    """Data and settings of one training; features change either."""

    def __init__(self, name: str, rng: Rng) -> None:
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = rng.permutation(len(x))
        self.x, self.y = x[order].astype(np.float32), y[order].astype(np.float32)
        self.settings: Dict[str, Any] = {"eta": 0.3, **OBJECTIVES[name]}
        self.fields: Dict[str, np.ndarray] = {}
        self.form: Callable[..., Any] = lambda part: part
        self.matrix = xgb.DMatrix
        self.ordered = self.sampled = False

    @property
    def binary(self) -> bool:
        return self.settings["objective"] == "binary:logistic"

    def largest_weight(self) -> float:
        largest = float(np.max(self.fields.get("weight", np.ones(1))))
        return largest * max(1.0, self.settings.get("scale_pos_weight", 1.0))

    def data(self, rows: np.ndarray) -> xgb.DMatrix:
        fields = {name: values[rows] for name, values in self.fields.items()}
        kind = {"max_bin": self.settings.get("max_bin", 256)} if self.matrix is xgb.QuantileDMatrix else {}
        return self.matrix(self.form(self.x[rows]), self.y[rows], **fields, **kind)


OBJECTIVES = {
    "diabetes": dict(objective="reg:squarederror", base_score=150.0),
    "breast_cancer": dict(objective="binary:logistic"),
    "iris": dict(objective="multi:softprob", num_class=3),
    "wine": dict(objective="multi:softprob", num_class=3),
    "digits": dict(objective="multi:softprob", num_class=10),
}


def lossguide(task: Task, rng: Rng) -> None:
    task.settings.update(grow_policy="lossguide", max_leaves=int(rng.integers(4, 40)), max_depth=int(rng.integers(0, 9)))
    task.ordered = True


def missing(task: Task, rng: Rng) -> None:
    task.x[rng.random(task.x.shape) < rng.uniform(0.05, 0.6)] = np.nan


def sparse(task: Task, rng: Rng) -> None:
    """Absent where missing; zeros are stored."""

    def csr(part: np.ndarray) -> scipy.sparse.csr_matrix:
        rows, columns = np.nonzero(~np.isnan(part))
        return scipy.sparse.csr_matrix((part[rows, columns], (rows, columns)), shape=part.shape)

    missing(task, rng)
    task.form = csr


def quantised(task: Task, rng: Rng) -> None:
    task.matrix = xgb.QuantileDMatrix


def weights(task: Task, rng: Rng) -> None:
    task.fields["weight"] = rng.choice([0.25, 0.5, 1.0, 2.0, 3.0], len(task.y)).astype(np.float32)


def margins(task: Task, rng: Rng) -> None:
    shape = (len(task.y), task.settings["num_class"]) if "num_class" in task.settings else (len(task.y),)
    task.fields["base_margin"] = rng.normal(size=shape).astype(np.float32)


def setting(**choices: Callable[[Rng], Any]) -> Callable[[Task, Rng], None]:
    def change(task: Task, rng: Rng) -> None:
        task.settings.update({name: draw(rng) for name, draw in choices.items()})

    return change


def sampling(**choices: Callable[[Rng], Any]) -> Callable[[Task, Rng], None]:
    change = setting(**choices)

    def sampled(task: Task, rng: Rng) -> None:
        change(task, rng)
        task.sampled = True

    return sampled


def bins(task: Task, rng: Rng) -> None:
    """At most 8 · max_bin distinct values a column, so that stock's bins are exact too."""
    task.x = np.round(task.x * 4) / 4
    most = max(len(np.unique(column[~np.isnan(column)])) for column in task.x.T)
    task.settings["max_bin"] = int(rng.integers(max(8, most // 8 + 1), 256))


def scale_positive(task: Task, rng: Rng) -> None:
    if task.binary:
        task.settings["scale_pos_weight"] = float(rng.uniform(0.2, 5))


def interactions(task: Task, rng: Rng) -> None:
    """Three sets, each of about half of the columns."""
    columns = np.arange(task.x.shape[1])
    sets = [[int(f) for f in columns[rng.random(len(columns)) < 0.5]] for _ in range(3)]
    task.settings["interaction_constraints"] = str(sets)


FEATURES: Dict[str, Callable[[Task, Rng], None]] = {
    "depth": setting(max_depth=lambda rng: int(rng.integers(1, 11))),
    "lossguide": lossguide,
    "gamma": setting(gamma=lambda rng: float(rng.exponential(1.0))),
    "min_child_weight": setting(min_child_weight=lambda rng: float(rng.uniform(0, 5))),
    "reg_lambda": setting(reg_lambda=lambda rng: float(rng.uniform(0.1, 20))),
    "reg_alpha": setting(reg_alpha=lambda rng: float(rng.exponential(0.5))),
    "max_bin": bins,
    "eta": setting(eta=lambda rng: float(rng.uniform(0.02, 1))),
    "forest": setting(num_parallel_tree=lambda rng: int(rng.integers(2, 4))),
    "dart": setting(booster=lambda rng: "dart"),
    "scale_pos_weight": scale_positive,
    "missing": missing,
    "sparse": sparse,
    "quantised": quantised,
    "weights": weights,
    "base_margin": margins,
    "interaction_constraints": interactions,
    "subsample": sampling(subsample=lambda rng: float(rng.uniform(0.4, 0.9))),
    "colsample_bytree": sampling(colsample_bytree=lambda rng: float(rng.uniform(0.4, 0.9))),
    "colsample_bylevel": sampling(colsample_bylevel=lambda rng: float(rng.uniform(0.4, 0.9))),
    "colsample_bynode": sampling(colsample_bynode=lambda rng: float(rng.uniform(0.4, 0.9))),
}


def compare_rounds(task: Task) -> Comparison:
    """Rounds from the same model; gamma and the rest as the task says."""
    everything = np.arange(len(task.y))
    data, total, model = task.data(everything), Comparison(), None
    for number in range(ROUNDS):
        ours = xgb.train(params(**task.settings), data, 1, xgb_model=model)
        stock = xgb.train(stock_params(**task.settings), data, 1, xgb_model=model)
        per_round = len(trees_of(stock)) // (number + 1)
        for a, b in zip(trees_of(ours)[-per_round:], trees_of(stock)[-per_round:]):
            gamma, regular = task.settings.get("gamma", 0.0), task.settings.get("reg_lambda", 1.0)
            # A gradient is w·(p - y), with p from an exp of either's own: a few roundings of numbers up to w.
            found = compare(a, b, task.x, regular, gamma, task.ordered, 8 * FLOAT_EPS * task.largest_weight())
            total.same, total.ties = total.same + found.same, total.ties + found.ties
            total.wrong += [f"round {number}: {what}" for what in found.wrong]
        model = stock
    return total


def held_out_difference(task: Task, seed: int) -> float:
    """Of the losses of held-out rows: (ours - stock) / stock."""
    split = 2 * len(task.y) // 3
    rows = np.arange(len(task.y))
    task.matrix = xgb.DMatrix
    train, test = task.data(rows[:split]), task.data(rows[split:])
    losses = []
    for how in (params, stock_params):
        history: dict = {}
        settings = how(**task.settings, seed=seed)
        xgb.train(settings, train, 10, evals=[(test, "test")], evals_result=history, verbose_eval=False)
        losses.append(list(history["test"].values())[0][-1])
    return (losses[0] - losses[1]) / losses[1]


def make_task(seed: int, names: List[str], data: str) -> Task:
    rng = np.random.default_rng(seed)
    task = Task(data, rng)
    task.settings["max_depth"] = 5
    for name in names:
        FEATURES[name](task, rng)
    return task


def check_trees(task: Task, where: str) -> Tuple[int, int]:
    found = compare_rounds(task)
    assert not found.wrong, where + "\n" + "\n".join(found.wrong[:5])
    return found.same, found.ties


@pytest.mark.parametrize("data", ["diabetes", "breast_cancer", "wine"])
@pytest.mark.parametrize("feature", FEATURES)
def test_one_feature(feature: str, data: str) -> None:
    differences = []
    for seed in range(30):
        task = make_task(seed, [feature], data)
        if not task.sampled:
            same, ties = check_trees(task, f"{feature}, {data}, seed {seed}")
            assert same > 3 * ties, f"{same} nodes alike, {ties} ties"
            return
        differences.append(held_out_difference(task, seed))
    check_mean(differences)


def check_mean(differences: List[float]) -> None:
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) <= 4 * error, f"mean {np.mean(differences)}, standard error {error}: {differences}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_five_features_at_once(chunk: int) -> None:
    same = ties = compared = 0
    differences: List[float] = []
    for seed in range(chunk * SEEDS // CHUNKS, (chunk + 1) * SEEDS // CHUNKS):
        rng = np.random.default_rng(1000 + seed)
        pool = [name for name in FEATURES if seed % 2 or "sample" not in name]  # half of them without sampling
        names = sorted(rng.choice(pool, 5, replace=False), key=list(FEATURES).index)
        data = str(rng.choice(list(OBJECTIVES)))
        task = make_task(seed, names, data)
        where = f"seed {seed}, {data}: {', '.join(names)}"
        if task.sampled:
            differences.append(held_out_difference(task, seed))
        else:
            alike, tied = check_trees(task, where)
            same, ties, compared = same + alike, ties + tied, compared + 1
    print(f"{compared} combinations compared tree by tree ({same} nodes alike, {ties} ties), {len(differences)} by loss")
    assert compared + len(differences) == SEEDS // CHUNKS
    assert same > 3 * ties
    check_mean(differences)
