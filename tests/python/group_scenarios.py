"""What workers of a process group do in test_process_groups.py, and what one process with all rows does.

Every function here runs in each worker; which rows it has, it knows from its rank.
"""

import contextlib
import ctypes
import io
import json
import os
import signal
import subprocess
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
import pandas as pd
import scipy.sparse
import xgboost as xgb
import xgboost_gpu
from support import SERIES, Batches, boost, params
from xgboost import collective

ROWS, COLUMNS = 5000, 6

#: What a scenario may ask for beside parameters of the booster.
DATA = """rows missing levels categories weights groups margins sparse labels quantile feature_weights""".split()

#: Metrics of graded labels. Since 2.0 map and pre take labels of 0 and 1 alone.
GRADED = ["ndcg", "map@4", "pre@3", "auc"] if SERIES < 200 else ["ndcg", "auc"]
GRADED_WITH_WEIGHTS = ["ndcg@5-", "map"] if SERIES < 200 else ["ndcg@5-", "ndcg"]

SCENARIOS: Dict[str, Dict[str, Any]] = {
    "squared error": dict(objective="reg:squarederror"),
    "missing values": dict(objective="reg:squarederror", missing=0.3, eval_metric=["mae", "rmse"]),
    "logistic with weights": dict(
        objective="binary:logistic", weights=True, eval_metric=["logloss", "error", "auc", "aucpr"], max_bin=16
    ),
    "few bins": dict(objective="binary:logistic", max_bin=2, levels=9, eval_metric="auc"),
    "softprob": dict(objective="multi:softprob", num_class=3, eval_metric=["mlogloss", "merror", "auc"], weights=True),
    "poisson": dict(objective="count:poisson"),
    "gamma": dict(objective="reg:gamma", eval_metric=["gamma-deviance", "gamma-nloglik"]),
    "tweedie": dict(objective="reg:tweedie", tweedie_variance_power=1.3),
    "pseudo huber": dict(objective="reg:pseudohubererror", eval_metric="mphe"),
    "hinge": dict(objective="binary:hinge"),
    "absolute error": dict(objective="reg:absoluteerror"),
    "absolute error with weights": dict(objective="reg:absoluteerror", weights=True, subsample=0.7),
    "cox": dict(objective="survival:cox", weights=True),
    "aft": dict(objective="survival:aft", eval_metric=["aft-nloglik", "interval-regression-accuracy"], labels="bounds"),
    "pairwise": dict(objective="rank:pairwise", groups=True, eval_metric=GRADED),
    "ndcg with weights": dict(objective="rank:ndcg", groups=True, weights="groups", eval_metric=GRADED_WITH_WEIGHTS),
    "map": dict(objective="rank:map", groups=True, num_pairsample=3),
    "unbiased pairs": dict(objective="rank:ndcg", groups=True, lambdarank_unbiased=True, lambdarank_bias_norm=0.5),
    "top pairs": dict(objective="rank:ndcg", groups=True, lambdarank_num_pair_per_sample=9, weights="groups"),
    "ranking without groups": dict(objective="rank:pairwise", eval_metric="ndcg", rows=900),
    "several labels": dict(objective="reg:squarederror", labels=3),
    "lossguide": dict(objective="reg:squarederror", grow_policy="lossguide", max_leaves=40, max_depth=0),
    "symmetric": dict(objective="reg:squarederror", grow_policy="symmetric", max_depth=7, min_child_weight=9),
    "symmetric with categories": dict(grow_policy="symmetric", categories=12, max_cat_to_onehot=4, subsample=0.7),
    "no limit of depth": dict(objective="reg:squarederror", max_depth=0, min_child_weight=40),
    "uniform sample": dict(objective="binary:logistic", subsample=0.4, seed=5),
    "gradient-based sample": dict(objective="binary:logistic", subsample=0.3, sampling_method="gradient_based"),
    "goss": dict(objective="binary:logistic", sampling_method="goss", top_rate=0.1, other_rate=0.2),
    "column samples": dict(colsample_bytree=0.8, colsample_bylevel=0.7, colsample_bynode=0.7, seed=3),
    "feature weights": dict(colsample_bynode=0.5, feature_weights=True),
    "categories": dict(categories=12, max_cat_to_onehot=4, enable_categorical=True),
    "categories one by one": dict(categories=5, max_cat_to_onehot=100),
    "constraints": dict(monotone_constraints="(1,-1,0,0,0,0)", interaction_constraints="[[0,1],[2,3,4]]"),
    "forest": dict(num_parallel_tree=3, subsample=0.6, colsample_bynode=0.6),
    "dart": dict(booster="dart", rate_drop=0.4, objective="binary:logistic", eval_metric="auc", seed=2),
    "dart of classes": dict(booster="dart", rate_drop=0.3, one_drop=1, num_class=3, objective="multi:softmax"),
    "quantile matrix": dict(objective="binary:logistic", quantile=True, missing=0.1, eval_metric=["auc", "logloss"]),
    "quantile matrix with weights": dict(objective="count:poisson", quantile=True, weights=True),
    "quantile matrix of categories": dict(quantile=True, categories=12, max_cat_to_onehot=4, subsample=0.7),
    "sparse quantile matrix": dict(quantile=True, sparse=0.1),
    "base margins": dict(objective="binary:logistic", margins=True),
    "sparse": dict(sparse=0.1, objective="binary:logistic", eval_metric="logloss"),
    "regularised": dict(reg_alpha=2, reg_lambda=3, gamma=0.5, max_delta_step=0.4, eta=0.7, base_score=0.2),
}  # fmt: skip
if SERIES >= 200:  # most of these objectives are XGBoost's own
    SCENARIOS["quantiles"] = dict(objective="reg:quantileerror", quantile_alpha=[0.2, 0.7], weights=True)
    SCENARIOS["quantiles without weights"] = dict(objective="reg:quantileerror", quantile_alpha=[0.2, 0.7], subsample=0.7)
    SCENARIOS["several medians"] = dict(objective="reg:absoluteerror", labels=3, subsample=0.7)
    SCENARIOS["drawn pairs"] = dict(objective="rank:ndcg", groups=True, lambdarank_pair_method="mean", weights="groups")
if SERIES >= 303:
    SCENARIOS["expectiles"] = dict(objective="reg:expectileerror", expectile_alpha=[0.2, 0.5, 0.7], weights=True)
if SERIES >= 302:
    SCENARIOS["trees of vectors"] = dict(labels=3, multi_strategy="multi_output_tree", subsample=0.7, missing=0.2)
    SCENARIOS["vectors of classes"] = dict(objective="multi:softprob", num_class=3, multi_strategy="multi_output_tree")
    SCENARIOS["symmetric trees of vectors"] = dict(SCENARIOS["trees of vectors"], grow_policy="symmetric", gamma=1)
if SERIES >= 304:
    SCENARIOS["vectors with categories"] = dict(SCENARIOS["trees of vectors"], categories=12, max_cat_to_onehot=4)


class Data:
    """All rows of a scenario; the same in every process."""

    def __init__(self, scenario: Dict[str, Any]) -> None:
        rng = np.random.default_rng(11)
        n = scenario.get("rows", ROWS)
        self.x = rng.normal(size=(n, COLUMNS)).astype(np.float32)
        if "levels" in scenario:
            self.x = np.round(self.x * scenario["levels"] / 4).astype(np.float32)
        signal_ = np.sin(2 * self.x[:, 0]) + 0.6 * self.x[:, 1] * (self.x[:, 2] > 0) + 0.2 * rng.normal(size=n)
        self.types: Optional[List[str]] = None
        if "categories" in scenario:
            town = rng.integers(0, scenario["categories"], n)
            signal_ = signal_ + np.where(town % 3 == 0, 0.8, -0.4)
            self.x[:, 3] = town
            self.types = ["q", "q", "q", "c", "q", "q"]
        self.x[rng.random(size=self.x.shape) < scenario.get("missing", 0)] = np.nan
        objective = scenario.get("objective", "")
        self.info: Dict[str, np.ndarray] = {}
        if scenario.get("labels") == "bounds":
            self.info["label_lower_bound"] = np.exp(signal_).astype(np.float32)
            self.info["label_upper_bound"] = self.info["label_lower_bound"] * rng.choice([1, 1.5, np.inf], n)
        elif scenario.get("labels") == 3:
            self.info["label"] = np.stack([signal_, -signal_, signal_**2], axis=1).astype(np.float32)
        elif objective.startswith(("binary", "rank:map")) or "ranking without" in scenario.get("name", ""):
            self.info["label"] = (signal_ > 0.2).astype(np.float32)
        elif objective.startswith(("multi", "rank")):
            self.info["label"] = np.digitize(signal_, [-0.5, 0.7]).astype(np.float32)
        elif objective == "survival:cox":
            time_ = np.round(np.exp(signal_) * 4 + 0.25, 1)
            self.info["label"] = np.where(rng.random(n) < 0.3, -time_, time_).astype(np.float32)
        elif objective.startswith(("count", "reg:gamma", "reg:tweedie")):
            self.info["label"] = np.ceil(np.exp(signal_)).astype(np.float32)
        else:
            self.info["label"] = signal_.astype(np.float32)
        if scenario.get("margins"):
            self.info["base_margin"] = rng.normal(size=n).astype(np.float32)
        self.qid = np.sort(rng.integers(0, n // 15, n)) if scenario.get("groups") else None
        if scenario.get("weights") == "groups":
            self.group_weights = rng.random(n // 15).astype(np.float32) + 0.5
        elif scenario.get("weights"):
            self.info["weight"] = (rng.random(n) * 3).astype(np.float32)
        self.scenario = scenario

    def matrix(self, begin: int, end: int, trained: Optional[xgb.DMatrix] = None) -> xgb.DMatrix:
        """Returns a matrix of these rows, to be evaluated beside the one that is trained on, if there is one."""
        rows = slice(begin, end)
        x: Any = self.x[rows]
        if "sparse" in self.scenario:
            x = scipy.sparse.csr_matrix(np.where(np.abs(x) > 1.2, x, 0))
        info = {name: values[rows] for name, values in self.info.items()}
        kind = xgb.QuantileDMatrix if self.scenario.get("quantile") else xgb.DMatrix
        if kind is xgb.QuantileDMatrix:
            info["ref"] = trained
        if self.qid is not None and end > begin:
            info["qid"] = self.qid[rows]
            if self.scenario.get("weights") == "groups":
                info["weight"] = self.group_weights[np.unique(self.qid[rows])]
        data = kind(x, feature_types=self.types, enable_categorical=True, **info)
        if self.scenario.get("feature_weights"):
            data.set_info(feature_weights=np.arange(1, COLUMNS + 1, dtype=np.float32))
        return data

    def borders(self, shares: List[float]) -> List[int]:
        """Returns where workers begin, and the end; no group is in two workers."""
        borders = [int(share * len(self.x)) for share in shares]
        if self.qid is None:
            return borders
        return [int(np.searchsorted(self.qid, self.qid[b])) if b < len(self.x) else b for b in borders]


class Evaluations(xgb.callback.TrainingCallback):
    """Records what the booster says of its matrices, to the last digit; Python's own history is a mean over workers."""

    def __init__(self, matrices: List[Tuple[xgb.DMatrix, str]]) -> None:
        self.matrices, self.lines = matrices, []
        super().__init__()

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        self.lines.append(model.eval_set(self.matrices, epoch))
        return False


def own_rows(data: Data, shares: Optional[List[float]]) -> Tuple[int, int]:
    if shares is None:
        return 0, len(data.x)
    borders = data.borders(shares)
    rank = collective.get_rank()
    return borders[rank], borders[rank + 1]


def settings(scenario: Dict[str, Any]) -> Dict[str, Any]:
    fixed = dict(max_depth=4, eta=0.4, nthread=1, verbosity=0)
    return params(**{**fixed, **{name: value for name, value in scenario.items() if name not in (*DATA, "name")}})


def models(booster: xgb.Booster) -> Tuple[bytes, str]:
    """Returns the model in both formats, without names of features: Python gives those to workers with rows alone."""
    booster = booster.copy()
    booster.feature_types = booster.feature_names = None
    return bytes(booster.save_raw("ubj")), bytes(booster.save_raw("json")).decode()


def train(
    scenario: Dict[str, Any], shares: Optional[List[float]], rounds: int = 4, callbacks: Sequence[Any] = ()
) -> Dict[str, Any]:
    """Trains on the rows of this worker, evaluates on these and on others, and predicts."""
    data = Data(scenario)
    begin, end = own_rows(data, shares)
    # The other matrix has the rows in other shares, and not all of them.
    other = data.borders([0.9 * share**2 for share in shares]) if shares else data.borders([0, 0.9])
    rank = collective.get_rank() if shares else 0
    matrix = data.matrix(begin, end)
    evaluated = data.matrix(other[rank], other[rank + 1], matrix)
    matrices = [(matrix, "own"), (evaluated, "other")]
    evaluations = Evaluations(matrices)
    callbacks = [evaluations, *callbacks]
    booster = xgb.train(settings(scenario), matrix, rounds, evals=matrices, callbacks=callbacks, verbose_eval=False)
    return dict(
        models=models(booster),
        lines=evaluations.lines,
        predictions=booster.predict(matrix).reshape(-1),
        again=booster.predict(data.matrix(begin, end), output_margin=True).reshape(-1),
        base_score=json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"],
    )


class Pages(xgb.callback.TrainingCallback):
    """Records the number of pages of the newest training, after each round; 0: it is in core."""

    def __init__(self) -> None:
        self.counts: List[int] = []
        super().__init__()

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        pages = xgboost_gpu.memory_report()[-1]["pages"]
        self.counts.append(0 if pages is None else pages["count"])
        return False


def in_pages(shares: List[float], scenario: Dict[str, Any], limits: List[int]) -> Tuple[Dict[str, Any], List[int]]:
    """Trains with the limit of memory of this worker. Returns numbers of its pages, too."""
    pages = Pages()
    found = train({**scenario, "gpu_memory_limit": limits[collective.get_rank()]}, shares, callbacks=[pages])
    return found, pages.counts


def little_memory(shares: List[float], worker: int) -> None:
    """One worker may take so few bytes of memory for the training that none is possible."""
    data = Data({})
    limit = 4096 if collective.get_rank() == worker else 0
    xgb.train({**settings({}), "gpu_memory_limit": limit}, data.matrix(*own_rows(data, shares)), 1)


def places(
    shares: Optional[List[float]], scenario: Dict[str, Any], traces: Dict[int, str] = {}
) -> Tuple[Dict[str, Any], Tuple[bytes, str]]:
    """Says where the worker trains. `traces`: files to which workers write the times of their stages."""
    import xgboost_gpu

    data = Data(scenario)
    matrix = data.matrix(*own_rows(data, shares))
    file = traces.get(collective.get_rank())
    booster = xgb.Booster({**settings(scenario), **({"gpu_trace": file} if file else {})}, [matrix])
    for round_ in range(2):
        booster.update(matrix, round_)
    booster.set_param({"gpu_trace": ""})
    return xgboost_gpu.memory_report()[-1], models(booster)


class Messages(xgb.callback.TrainingCallback):
    """Counts the messages of each round. The process has preloaded message_counter.cc."""

    def __init__(self) -> None:
        self.sent = ctypes.CDLL(None).messages_of_group
        self.totals = [self.sent()]
        super().__init__()

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
        self.totals.append(self.sent())
        return False


def messages(
    shares: List[float],
    changes: Dict[int, Dict[str, Any]],
    metrics: List[str] = [],
    evaluated: Optional[List[float]] = None,
) -> List[int]:
    """Returns the number of messages of each round. `changes`: parameters that all workers set before a round.
    `metrics`: what rows are evaluated by after each round: the rows that are trained on, or others, dealt by
    `evaluated`."""
    data = Data(dict(objective="binary:logistic"))
    matrix = data.matrix(*own_rows(data, shares))
    of_metrics = data.matrix(*own_rows(data, evaluated)) if evaluated else matrix
    counts = Messages()

    class Changes(xgb.callback.TrainingCallback):
        def before_iteration(self, model: xgb.Booster, epoch: int, evals_log: Any) -> bool:
            model.set_param(changes.get(epoch, {}))
            return False

    how = {**settings(dict(objective="binary:logistic")), "max_depth": 3}
    if metrics:
        how["eval_metric"] = metrics
    xgb.train(how, matrix, 6, callbacks=[Changes(), *([Evaluations([(of_metrics, "rows")])] if metrics else []), counts])
    return [int(n) for n in np.diff(counts.totals)]


def evaluates(shares: Optional[List[float]], scenario: Dict[str, Any], evaluated: List[float]) -> List[str]:
    """Returns what is evaluated after each round: rows dealt by `evaluated`, trained on by `shares`."""
    data = Data(scenario)
    rows = own_rows(data, evaluated if shares else None)
    lines = Evaluations([(data.matrix(*rows), "rows")])
    xgb.train(settings(scenario), data.matrix(*own_rows(data, shares)), 6, callbacks=[lines])
    return lines.lines


def more_metrics_each_time(shares: Optional[List[float]]) -> List[str]:
    """Returns what is evaluated: two matrices or one of them, by one metric, then two, then three."""
    data = Data(dict(objective="binary:logistic"))
    matrix, other = (data.matrix(*own_rows(data, shares)) for _ in range(2))
    booster = xgb.Booster(settings(dict(objective="binary:logistic", eval_metric="logloss")), [matrix, other])
    found = []
    for i, more in enumerate(("", "", "auc", "", "", "error@0.7", "", "")):
        if more:
            booster.set_param("eval_metric", more)
        booster.update(matrix, i)
        both = [(matrix, "one"), (other, "other")]
        found.append(booster.eval_set(both if i != 3 else both[1:], i))
    return found


def several(scenarios: List[Dict[str, Any]], shares: Optional[List[float]]) -> List[Dict[str, Any]]:
    return [train(scenario, shares) for scenario in scenarios]


def columns_of_one(shares: Optional[List[float]], kind: str) -> Tuple[bytes, str]:
    """The last two columns have values in the rows of the last worker alone; others do not even know of them."""
    data = Data(dict(objective="reg:squarederror"))
    begin, end = own_rows(data, shares)
    last = int(0.5 * len(data.x))
    data.x[:last, 4:] = np.nan
    data.info["label"][last:] += np.nan_to_num(data.x[last:, 5])
    x: Any = data.x[begin:end]
    if shares and collective.get_rank() + 1 < collective.get_world_size():
        x = x[:, :4]
    if kind == "csr":
        entries = ~np.isnan(x)
        rows, columns = np.nonzero(entries)
        x = scipy.sparse.csr_matrix((x[entries], (rows, columns)), shape=x.shape)
    matrix = xgb.DMatrix(x, data.info["label"][begin:end])
    assert matrix.num_col() == 6
    return models(xgb.train(settings({}), matrix, 4))


def early_stopping(shares: Optional[List[float]]) -> Tuple[int, List[float], Tuple[bytes, str]]:
    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    rng = np.random.default_rng(4)
    data.info["label"] = np.where(rng.random(len(data.x)) < 0.3, 1 - data.info["label"], data.info["label"])
    half = (begin + end) // 2
    matrix, evaluated = data.matrix(begin, half), data.matrix(half, end)
    how = settings(dict(objective="binary:logistic", eval_metric="auc", max_depth=6, eta=1.0))
    # Rows of one process in the order of workers: first halves, then second halves.
    if shares is None:
        ends = data.borders([0, 0.1, 0.1, 0.6, 1])
        halves = [(b, (b + e) // 2, e) for b, e in zip(ends, ends[1:])]
        matrix, evaluated = join(data, [(b, m) for b, m, _ in halves]), join(data, [(m, e) for _, m, e in halves])
    history: Dict[str, Any] = {}  # Python's means over workers: of 2 or 4 equal numbers they are exact
    others = [(evaluated, "other")]
    booster = xgb.train(
        how, matrix, 60, evals=others, early_stopping_rounds=4, evals_result=history, verbose_eval=False
    )
    return booster.best_iteration, history["other"]["auc"], models(booster)


def join(data: Data, parts: List[Tuple[int, int]]) -> xgb.DMatrix:
    rows = np.concatenate([np.arange(begin, end) for begin, end in parts])
    return xgb.DMatrix(data.x[rows], data.info["label"][rows])


def continuation(shares: Optional[List[float]]) -> List[Tuple[bytes, str]]:
    """A model is trained, saved, loaded and trained on; then it gets trees one by one, with other parameters."""
    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    how = settings(dict(objective="binary:logistic", subsample=0.5))
    first = xgb.train(how, data.matrix(begin, end), 2)
    second = xgb.train({**how, "max_depth": 2}, data.matrix(begin, end), 2, xgb_model=bytearray(first.save_raw("json")))
    matrix = data.matrix(begin, end)
    found = [models(first), models(second)]
    for number in range(3):
        second.set_param(dict(eta=0.1 + 0.1 * number))
        second.update(matrix, 4 + number)
    # Gradients of the user.
    third = xgb.train(how, matrix, 2, obj=difference)
    return [*found, models(second), models(third)]


def difference(margins: np.ndarray, rows: xgb.DMatrix) -> Tuple[np.ndarray, np.ndarray]:
    """Gradients of the user. In newer series margins of no rows have two dimensions, and those of others one."""
    gradients = margins.reshape(-1) - rows.get_label()
    return gradients, np.ones_like(gradients)


def goes_on_after_a_failed_round(shares: Optional[List[float]]) -> Tuple[bytes, str]:
    """Trains on gradients of its own, of which the last worker has one that is no number, once. The same booster then
    goes on. Returns its models."""
    data = Data({})
    begin, end = own_rows(data, shares)
    matrix = data.matrix(begin, end)
    booster = xgb.Booster(settings({}), [matrix])
    for number in range(4):
        gradient = booster.predict(matrix, output_margin=True) - data.info["label"][begin:end]
        if number == 2 and shares is not None:
            bad = gradient.copy()
            if end == len(data.x):
                bad[0] = np.nan
            try:
                boost(booster, matrix, bad, np.ones_like(bad))
            except xgb.core.XGBoostError:
                pass
            else:
                raise AssertionError("no error")
        boost(booster, matrix, gradient, np.ones_like(gradient))
    return models(booster)


def same_matrix_again(shares: Optional[List[float]]) -> List[Tuple[bytes, str]]:
    """Several trainings on one matrix; in between, one worker takes another one for its rows, and the first again."""
    data = Data(dict(objective="reg:squarederror"))
    begin, end = own_rows(data, shares)
    matrices = [data.matrix(begin, end) for _ in range(2)]
    boosters = []  # which keep the bins of their matrices
    for number in range(6):
        matrix = matrices[number in (2, 3) and shares is not None and collective.get_rank() == 1]
        boosters.append(xgb.Booster(settings(dict(max_depth=2 + number % 2)), [matrix]))
        for iteration in range(2):
            boosters[-1].update(matrix, iteration)
    return [models(booster) for booster in boosters]


def labels_of_one_change(shares: List[float], in_one_process: bool = False) -> Tuple[bytes, str]:
    """Trains a ranking. Between two rounds the last worker gets other labels, and all evaluate them."""
    scenario = dict(objective="rank:ndcg", groups=True, weights="groups")
    data = Data(scenario)
    begin, end = own_rows(data, None if in_one_process else shares)
    matrix = data.matrix(begin, end)
    booster = xgb.Booster(settings(scenario), [matrix])
    for round_ in range(4):
        if round_ == 2:
            last = data.borders(shares)[-2]
            data.info["label"][last:] = 2 - data.info["label"][last:]
            if end > last:
                matrix.set_label(data.info["label"][begin:end])
            booster.eval(matrix)
        booster.update(matrix, round_)
    return models(booster)


def trains_in_turns(shares: List[float], in_one_process: bool = False) -> Tuple[List[str], List[Any]]:
    """Trains two boosters in turns. Between rounds the labels of the last worker change, and the learning rate of all.
    The last worker alone predicts. Returns evaluations and models."""
    scenario = dict(objective="binary:logistic", eval_metric=["auc", "logloss"])
    data = Data(scenario)
    begin, end = own_rows(data, None if in_one_process else shares)
    matrix = data.matrix(begin, end)
    last = data.borders(shares)[-2]
    boosters = [xgb.Booster(settings(scenario), [matrix]) for _ in range(2)]
    lines = []
    for round_ in range(14):
        if round_ == 4:
            data.info["label"][last:] = 1 - data.info["label"][last:]
            if end > last:
                matrix.set_label(data.info["label"][begin:end])
        if round_ == 7:
            boosters[0].set_param("eta", 0.1)
        if round_ == 12 and end > last:
            boosters[0].predict(matrix, output_margin=True)
        boosters[0].update(matrix, round_)
        if round_ >= 8:
            boosters[1].update(matrix, round_ - 8)
        if round_ in (5, 6, 9, 10, 11):
            lines += [booster.eval(matrix) for booster in boosters[: 2 if round_ >= 8 else 1]]
    return lines, [models(booster) for booster in boosters]


def goes_on_with_other_categories(shares: List[float]) -> str:
    """Returns what a training says that goes on from a model, with categories in another order on the last worker."""
    names = ["b", "d", "f"]

    def matrix(order: List[str]) -> xgb.DMatrix:
        frame = pd.DataFrame({"c": pd.Categorical(names * 40, categories=order)})
        return xgb.DMatrix(frame, np.tile(np.arange(3.0), 40), enable_categorical=True)

    booster = xgb.train(settings({}), matrix(names), 1)
    is_last = collective.get_rank() + 1 == collective.get_world_size()
    try:
        xgb.train(settings({}), matrix(names[::-1] if is_last else names), 1, xgb_model=booster)
    except xgb.core.XGBoostError as error:
        return str(error)
    return "trained"


def trains_on_batches_of_other_categories(shares: List[float]) -> str:
    """Returns what a training says whose last worker has a batch with categories in another order than its first."""
    names = ["b", "d", "f"]
    is_last = collective.get_rank() + 1 == collective.get_world_size()

    class Frames(Batches):
        def next(self, input_data: Callable) -> int:
            order = names[::-1] if is_last and self.at == 2 else names

            def give(data: pd.DataFrame, **info: Any) -> None:
                input_data(data=data.assign(c=data["c"].cat.set_categories(order)), **info)

            return super().next(give)

    frame = pd.DataFrame({"c": pd.Categorical(names * 40)})
    matrix = xgb.QuantileDMatrix(Frames(frame, np.tile(np.arange(3.0), 40), [40, 80]), enable_categorical=True)
    try:
        xgb.train(settings({}), matrix, 1)
    except xgb.core.XGBoostError as error:
        return str(error)
    return "trained"


def matrix_of_towns(kind: str, rows: slice, towns: Optional[Sequence[Any]], **more: Any) -> xgb.DMatrix:
    """Returns rows of a number and of a town. `towns`: its categories, in their order; None: codes without names."""
    rng = np.random.default_rng(7)
    number, town = rng.normal(size=300).astype(np.float32)[rows], rng.integers(0, 3, 300)[rows]
    frame = pd.DataFrame({"number": number, "town": town.astype(np.float32)})
    if towns is None:
        more["feature_types"] = ["float", "c"]
    else:
        frame["town"] = pd.Categorical(np.array(sorted(towns)[:3])[town], towns)
    make = xgb.QuantileDMatrix if kind == "QuantileDMatrix" else xgb.DMatrix
    return make(frame, np.array([3, -2, 1])[town] + number, enable_categorical=True, **more)


def rows_of_towns(shares: Optional[List[float]]) -> slice:
    if shares is None:
        return slice(0, 300)
    return slice(*[int(300 * share) for share in shares[collective.get_rank() :][:2]])


def trains_on_towns(shares: Optional[List[float]], kind: str, lists: List[Any], how: Dict[str, Any] = {}) -> str:
    """Trains on frames, with the list of towns of this worker. Returns the trees."""
    towns = lists[collective.get_rank() if shares else 0]
    booster = xgb.train(settings(how), matrix_of_towns(kind, rows_of_towns(shares), towns), 3)
    return "".join(booster.get_dump(with_stats=True))


def evaluates_towns(shares: Optional[List[float]], kind: str, lists: List[List[str]]) -> List[str]:
    """Trains on frames of one order, and evaluates frames with the list of towns of this worker."""
    rows = rows_of_towns(shares)
    data = matrix_of_towns(kind, rows, ["a", "b", "c"])
    ref = {"ref": data} if kind == "QuantileDMatrix" else {}
    evaluated = matrix_of_towns(kind, rows, lists[collective.get_rank() if shares else 0], **ref)
    evaluations = Evaluations([(data, "own"), (evaluated, "other")])
    xgb.train(settings({}), data, 3, callbacks=[evaluations])
    return evaluations.lines


def evaluated_rows_of_one_change(shares: List[float], in_one_process: bool = False) -> List[str]:
    """Evaluates matrices in each round. Before some rounds the last worker's matrix is another one of fewer rows, or all
    workers' rows get weights."""
    scenario = dict(objective="binary:logistic", eval_metric=["logloss", "auc", "error"])
    data = Data(scenario)
    begin, end = own_rows(data, None if in_one_process else shares)
    last, middle = data.borders(shares)[-2], (data.borders(shares)[-2] + len(data.x)) // 2
    kept = np.concatenate([np.arange(begin, min(end, last)), np.arange(max(begin, middle), end)])
    weights = np.linspace(0.5, 2, len(data.x), dtype=np.float32)
    trained = data.matrix(begin, end)
    evaluated = [(data.matrix(begin, end), "a"), (data.matrix(begin, end), "b")]
    fewer = xgb.DMatrix(data.x[kept], data.info["label"][kept])
    booster = xgb.Booster(settings(scenario), [trained])
    lines = []
    for round_ in range(8):
        if round_ == 2 and end > last:
            evaluated[0] = (fewer, "a")
        if round_ == 4:
            evaluated[1][0].set_weight(weights[begin:end])
        if round_ == 6:
            evaluated.reverse()
        booster.update(trained, round_)
        lines.append(booster.eval_set(evaluated, round_))
    return lines


def quantile_matrix_of_parts(shares: Optional[List[float]], method: str = "gpu_hist") -> Tuple[bytes, str]:
    """Trains on a QuantileDMatrix: of three batches on each worker, or of one array in one process."""
    data = Data(dict(missing=0.1))
    begin, end = own_rows(data, shares)
    n = end - begin
    ends = [] if shares is None or n == 0 else [n // 3, n // 2]
    matrix = xgb.QuantileDMatrix(Batches(data.x[begin:end], data.info["label"][begin:end], ends), max_bin=64)
    how = {**settings({}), "tree_method": method, "max_bin": 64}
    if method != "gpu_hist":
        how = {name: value for name, value in how.items() if not name.startswith("gpu_")}
    return models(xgb.train(how, matrix, 3))


def bins_of_workers(shares: List[float]) -> Tuple[Tuple[bytes, str, List[str]], bool]:
    """Trains on QuantileDMatrices. With an infinite value on the last worker its values are not kept. Returns the model
    and its history, and whether a line says that all train on XGBoost's bins."""
    data, said = Data(dict(objective="reg:squarederror", quantile=True)), io.StringIO()
    begin, end = own_rows(data, shares)
    if collective.get_rank() == collective.get_world_size() - 1:
        data.x[begin, 5] = np.inf
    matrix = data.matrix(begin, end)
    evaluations = Evaluations([(matrix, "own")])
    with contextlib.redirect_stdout(said):
        how = {**settings({}), "verbosity": 2}
        booster = xgb.train(how, matrix, 3, evals=[(matrix, "own")], callbacks=[evaluations], verbose_eval=False)
    return (*models(booster), evaluations.lines), "trained on with XGBoost's bins" in said.getvalue()


def threshold_below_all_values() -> Tuple[str, List[float], List[float]]:
    """Missing values go left and all others right, in a QuantileDMatrix of a frame with categories. The last worker has
    no row in the first bin of the column. Returns the trees, and labels and predictions of the worker's rows."""
    is_last = collective.get_rank() == collective.get_world_size() - 1
    values = np.tile(np.array([2, 3, np.nan] if is_last else [0, 1, 2, 3, np.nan], np.float32), 40)
    labels = np.where(np.isnan(values), -5, 1 + values).astype(np.float32)
    frame = pd.DataFrame({"value": values, "kind": pd.Categorical(["only"] * len(values))})
    matrix = xgb.QuantileDMatrix(frame, labels, enable_categorical=True)
    how = params(monotone_constraints="(1,0)", max_depth=4, eta=1, base_score=0.5, reg_lambda=0, min_child_weight=0)
    booster = xgb.train(how, matrix, 1)
    predicted = booster.predict(xgb.DMatrix(frame, enable_categorical=True))
    return booster.get_dump()[0], labels.tolist(), predicted.tolist()


def pages(shares: Optional[List[float]], folder: str) -> Tuple[Tuple[bytes, str], List[str]]:
    """External memory: a file for each worker, with two pages."""
    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    rank = 0 if shares is None else collective.get_rank()
    third = (end - begin) // 3
    batches = Batches(data.x[begin:end], data.info["label"][begin:end], [third], os.path.join(folder, f"cache{rank}"))
    matrix = xgb.DMatrix(batches)
    evaluations = Evaluations([(matrix, "own")])
    booster = xgb.train(settings(dict(subsample=0.5)), matrix, 3, callbacks=[evaluations])
    return models(booster), evaluations.lines


def differ(shares: List[float], what: str) -> None:
    """Worker 1 has something else than the others."""
    other = collective.get_rank() == 1
    scenario: Dict[str, Any] = dict(objective="binary:logistic", eval_metric=["logloss"])
    if what == "distribution":
        scenario = dict(objective="survival:aft", labels="bounds")
    if what == "bias norm":
        scenario = dict(objective="rank:ndcg", groups=True, lambdarank_unbiased=True)
    data = Data(scenario)
    begin, end = own_rows(data, shares)
    matrix = data.matrix(begin, end)
    how: Dict[str, Any] = {}
    if other:
        how = {
            "parameter": dict(max_depth=3),
            "max_bin": dict(max_bin=8),
            "forest": dict(num_parallel_tree=2),
            "seed": dict(seed=9),
            "objective": dict(objective="reg:logistic", scale_pos_weight=2),
            "metric": dict(eval_metric=["logloss", "auc"]),
            "learning rate": {},
            "booster": dict(booster="dart", rate_drop=0.5),
            "growth": dict(grow_policy="symmetric"),
            "sample": dict(sampling_method="goss"),
            "other objective": dict(objective="reg:squarederror"),
            "device": dict(gpu_backend="cuda"),
            "distribution": dict(aft_loss_distribution="extreme"),
            "bias norm": dict(lambdarank_bias_norm=1.00000001),
        }.get(what, {})
    if what == "bad category":
        data.x[:, 3] = 1
        data.x[begin + 5, 3] = -3 if other else 2
        data.types = ["q", "q", "q", "c", "q", "q"]
        matrix = data.matrix(begin, end)
    if what == "label" and other:
        labels = data.info["label"][begin:end].copy()
        labels[3] = 2
        matrix.set_label(labels)
    if what == "weights" and other:
        matrix.set_weight(np.ones(end - begin))
    if what == "feature weights":
        matrix.set_info(feature_weights=np.arange(1, 7) + other)
    if what == "categories" and other:
        matrix.feature_types = ["q", "q", "q", "c", "q", "q"]
    booster = xgb.Booster(settings({**scenario, **how}), [matrix])
    matrices = [(matrix, "own")] * (2 if what == "matrices" and other else 1)
    for number in range(5 + (what == "rounds" and other)):
        if what == "learning rate" and other and number == 2:
            booster.set_param(dict(eta=0.25))
        booster.update(matrix, number)
        booster.eval_set(matrices, number)


def trains_with_other_metrics(shares: List[float]) -> None:
    """Worker 1 has a metric more. Python adds up the workers' histories after each round, in messages of XGBoost's."""
    data = Data(dict(objective="binary:logistic"))
    matrix = data.matrix(*own_rows(data, shares))
    metrics = ["logloss", "auc"][: 1 + (collective.get_rank() == 1)]
    how = settings(dict(objective="binary:logistic", eval_metric=metrics))
    xgb.train(how, matrix, 3, evals=[(matrix, "own")], verbose_eval=False)


def waits_elsewhere(shares: List[float], what: str) -> None:
    """Worker 1 does something of which gpu_hist on the others learns nothing: it waits in messages of XGBoost's own."""
    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    other = collective.get_rank() == 1
    kind = xgb.QuantileDMatrix if other and what == "matrix" else xgb.DMatrix
    matrix = kind(data.x[begin:end], data.info["label"][begin:end])
    how = settings(dict(objective="binary:logistic"))
    if other and what == "method":
        how["tree_method"] = "hist"
    metric = (lambda predictions, rows: ("own", 0.5)) if other and what == "metric" else None
    xgb.train(how, matrix, 4, evals=[(matrix, "own")], custom_metric=metric, verbose_eval=False)


def counts(shares: Optional[List[float]]) -> Tuple[Tuple[bytes, str], List[str]]:
    """Counts of events, where workers without rows have neither labels nor columns, as with Dask."""
    data = Data(SCENARIOS["poisson"])
    begin, end = own_rows(data, shares)
    matrix = xgb.DMatrix(np.empty((0, 0))) if begin == end else data.matrix(begin, end)
    evaluations = Evaluations([(matrix, "own")])
    booster = xgb.train(settings(SCENARIOS["poisson"]), matrix, 4, callbacks=[evaluations])
    return models(booster), evaluations.lines


def train_on_nothing() -> List[str]:
    matrix = Data({}).matrix(0, 0)
    return xgb.train(settings({}), matrix, 2, evals=[(matrix, "own")], verbose_eval=False).get_dump()


def types_of_others(shares: Optional[List[float]], quantile: bool = False) -> Tuple[bytes, str]:
    """A worker without rows has a matrix that knows nothing of the others': Dask cannot know what their frames say."""
    scenario = dict(categories=12, max_cat_to_onehot=4, quantile=quantile)
    data = Data(scenario)
    begin, end = own_rows(data, shares)
    kind = xgb.QuantileDMatrix if quantile else xgb.DMatrix
    matrix = kind(np.empty((0, 0))) if begin == end else data.matrix(begin, end)
    return models(xgb.train(settings(scenario), matrix, 4))


def dart_after_one(shares: Optional[List[float]]) -> Tuple[bytes, str]:
    """One worker has trained a dart before, alone."""
    scenario = SCENARIOS["dart"]
    data = Data(scenario)
    begin, end = own_rows(data, shares)
    if shares is not None and collective.get_rank() == 0:
        first = threading.Thread(target=lambda: xgb.train(settings(scenario), data.matrix(0, 500), 2))
        first.start()
        first.join()
    return models(xgb.train(settings(scenario), data.matrix(begin, end), 4))


def ranks_by_weights_of_rows(shares: List[float]) -> None:
    data = Data(dict(objective="rank:pairwise", weights=True, rows=900))
    begin, end = own_rows(data, shares)
    xgb.train(settings(dict(objective="rank:pairwise")), data.matrix(begin, end), 2)


def what_is_said(shares: List[float], how: Dict[str, Any]) -> List[str]:
    """Returns the lines that a training prints, or warns since 2.1."""
    data, said = Data({}), io.StringIO()
    begin, end = own_rows(data, shares)
    with contextlib.redirect_stdout(said), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        xgb.train({**settings({}), "verbosity": 1, **how}, data.matrix(begin, end), 2)
    return [line for text in (said.getvalue(), *(str(one.message) for one in warned)) for line in text.splitlines()]


def refused(shares: List[float], how: Dict[str, Any]) -> None:
    data = Data({})
    begin, end = own_rows(data, shares)
    xgb.train({**settings({}), **how}, data.matrix(begin, end), 2)


def dies(shares: List[float], how: str) -> None:
    """Worker 1 ends in the middle of a training, or falls silent; the others go on."""
    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    matrix = data.matrix(begin, end)
    booster = xgb.Booster(settings(dict(objective="binary:logistic", max_depth=6)), [matrix])
    for number in range(2000):
        if number == 5 and collective.get_rank() == 1:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            elif how == "silent":
                time.sleep(8)
                return
            else:
                raise ValueError("enough")
        booster.update(matrix, number)
        booster.eval(matrix)


def wide_matrix(data: Data, begin: int, end: int) -> xgb.DMatrix:
    """Few rows of 360 columns: a worker spends most of its time on long messages."""
    x = np.repeat(data.x[begin:end], 60, axis=1) * np.arange(1, 361, dtype=np.float32)
    return xgb.DMatrix(x, data.info["label"][begin:end])


def trains_until_it_fails(shares: List[float], folder: str) -> None:
    """Trains on and on. After a few rounds every worker makes a file of its own in the folder."""
    data = Data(dict(rows=1000))
    matrix = wide_matrix(data, *own_rows(data, shares))
    booster = xgb.Booster(settings(dict(max_depth=6)), [matrix])
    for number in range(100_000):
        if number == 3:
            open(os.path.join(folder, str(collective.get_rank())), "w").close()
        booster.update(matrix, number)


def stops_amid_long_messages(shares: List[float]) -> None:
    """Worker 1 is stopped in the middle of a training, as by a debugger, and goes on after eight seconds."""
    data = Data(dict(rows=1000))
    matrix = wide_matrix(data, *own_rows(data, shares))
    booster = xgb.Booster(settings(dict(max_depth=6)), [matrix])
    for number in range(100_000):
        if number == 3 and collective.get_rank() == 1:
            stop = f"sleep 0.3; kill -STOP {os.getpid()}; sleep 8; kill -CONT {os.getpid()}"
            subprocess.Popen(["sh", "-c", stop])
        booster.update(matrix, number)


def dies_with_signals(shares: List[float]) -> None:
    """Worker 0 is killed, as in a C program, where a closed connection raises a signal that ends the process.

    Messages are so long that the others write to the connection again after it was closed.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    data = Data({})
    matrix = wide_matrix(data, *own_rows(data, shares))
    booster = xgb.Booster(settings(dict(max_depth=6)), [matrix])
    try:
        for number in range(200):
            if number == 3 and collective.get_rank() == 0:
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
            booster.update(matrix, number)
    finally:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def alone_again() -> Tuple[bytes, str]:
    """Trains without the others, in a thread that was in a group and has left it."""
    data = Data(dict(objective="binary:logistic"))
    matrix = data.matrix(0, 500)
    xgb.train(settings({}), matrix, 1)
    collective.finalize()
    return models(xgb.train(settings(dict(objective="binary:logistic")), matrix, 2))


def traced(shares: List[float], file: str) -> Tuple[str, int]:
    """Returns the file that this worker's profile is read from, and of how many rounds it tells."""
    data = Data({})
    begin, end = own_rows(data, shares)
    booster = xgb.train({**settings({}), "gpu_trace": file}, data.matrix(begin, end), 3)
    profile = xgboost_gpu.profile(booster)
    return profile.source, profile.rounds


def in_other_threads(shares: List[float]) -> List[Any]:
    """A thread that did not enter the group is in none: it trains alone."""
    from concurrent.futures import ThreadPoolExecutor

    data = Data(dict(objective="binary:logistic"))
    begin, end = own_rows(data, shares)
    matrix = data.matrix(begin, end)
    how = settings(dict(objective="binary:logistic"))
    with ThreadPoolExecutor(1) as pool:
        alone = pool.submit(lambda: models(xgb.train(how, data.matrix(0, 700), 2))).result()
    together = xgb.train(how, matrix, 2)
    with ThreadPoolExecutor(1) as pool:
        predicted = pool.submit(together.predict, matrix).result()
    return [alone, models(together), bool(np.array_equal(predicted, together.predict(matrix)))]
