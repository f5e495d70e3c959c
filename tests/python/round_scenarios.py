"""What test_rounds.py and test_objectives_and_metrics.py share: data, and scenarios of objectives and metrics."""

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List

import numpy as np
import xgboost as xgb
from support import OURS, SERIES, binary_labels, fresh, make_data, params, raw
from xgboost.core import _LIB

# So many rows go to a device if there is one (src/training/training.cc).
X, Y = make_data(3000, 6, missing=0.1)
V, VY = make_data(1500, 6, seed=1, missing=0.1)
LABEL, VLABEL = binary_labels(Y), binary_labels(VY)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)
VCLASSES = np.digitize(VY, np.quantile(Y, [0.3, 0.6])).astype(np.float32)
WEIGHT = np.random.default_rng(5).random(len(X)).astype(np.float32) + np.float32(0.1)
VWEIGHT = np.random.default_rng(6).random(len(V)).astype(np.float32) + np.float32(0.1)

# Since 2.0 stock code ends the process at an empty group.
GROUPS = [size for size in [1, 2, 997, 0, 500, 1100, 400] if size or SERIES < 200]

# Whoever goes past the functions in front has, since 3.0, matrices of no known owner (docs/adr/0003-dataset-identity.md).
# Then margins go on from what they began with, as in stock code, even if a booster or a matrix begins with other ones.
ALL_SEE_NEW_BASES = SERIES < 300 or not OURS

FUNCTIONS = ("XGBoosterUpdateOneIter", "XGBoosterEvalOneIter", "XGDMatrixSetInfoFromInterface")


@contextmanager
def xgboosts_own_functions() -> Iterator[None]:
    """Calls XGBoost's own functions, as a program does that does not know the library's."""
    ours = {name: getattr(_LIB, name) for name in FUNCTIONS}
    for name in FUNCTIONS:
        setattr(_LIB, name, _LIB[name])  # by index: a new object for the function in XGBoost's own library
    try:
        yield
    finally:
        for name, function in ours.items():
            setattr(_LIB, name, function)


class History:
    """What a scenario saw, to be compared bit for bit."""

    def __init__(self) -> None:
        self.seen: List[Any] = []

    def model(self, booster: xgb.Booster) -> None:
        self.seen.append(raw(booster))

    def values(self, values: Any) -> None:
        self.seen.append(np.asarray(values).tobytes())

    def truth(self, booster: xgb.Booster, data: xgb.DMatrix, x: np.ndarray) -> None:
        """Asserts that the booster's own predictions are those of its saved model for new data."""
        seen = booster.predict(data, output_margin=True)
        assert np.array_equal(seen, fresh(booster).predict(xgb.DMatrix(x), output_margin=True))
        self.values(seen)


Scenario = Callable[[History], None]
SCENARIOS: Dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def data(label: np.ndarray = LABEL, **others: Any) -> xgb.DMatrix:
    return xgb.DMatrix(X, label, **others)


def valid(label: np.ndarray = VLABEL, **others: Any) -> xgb.DMatrix:
    return xgb.DMatrix(V, label, **others)


def logistic(**others: Any) -> Dict[str, Any]:
    return params(**{"objective": "binary:logistic", "max_depth": 4, **others})


@scenario
def plain_training(history: History) -> None:
    train = data()
    booster = xgb.Booster(logistic(), [train])
    for i in range(6):
        booster.update(train, i)
    history.truth(booster, train, X)
    history.model(booster)


@scenario
def looking_in_between(history: History) -> None:
    train, other = data(), valid()
    booster = xgb.Booster(logistic(), [train, other])
    for i in range(6):
        booster.update(train, i)
        if i % 2 == 0:
            history.truth(booster, train, X)
            history.truth(booster, other, V)
        history.values(booster.predict(train, iteration_range=(0, max(1, i // 2))))
    history.model(booster)


# These survival times have ties; negative ones are censored.
TIMES = (np.where(LABEL > 0, 1, -1) * np.ceil(8 * np.exp(Y))).astype(np.float32)
VTIMES = (np.where(VLABEL > 0, 1, -1) * np.ceil(8 * np.exp(VY))).astype(np.float32)


def objective_scenarios() -> None:
    positive = np.exp(Y)
    cases = {
        "reg:squarederror": (Y, {}),
        "reg:squaredlogerror": (positive, {}),
        "reg:logistic": (LABEL, {"scale_pos_weight": 1.7}),
        "binary:logistic": (LABEL, {"scale_pos_weight": 0.4}),
        "binary:logitraw": (LABEL, {}),
        "binary:hinge": (LABEL, {}),
        "count:poisson": (np.floor(positive), {"max_delta_step": 0.9}),
        "reg:gamma": (positive, {}),
        "reg:tweedie": (np.floor(positive), {"tweedie_variance_power": 1.3}),
        "reg:pseudohubererror": (Y, {"huber_slope": 0.8}),
        "reg:absoluteerror": (Y, {}),
        "multi:softmax": (CLASSES, {"num_class": 3}),
        "multi:softprob": (CLASSES, {"num_class": 3}),
        "rank:pairwise": (CLASSES, {}),
        "rank:ndcg": (CLASSES, {"num_pairsample": 3, "seed": 7}),
        "rank:map": (LABEL, {}),
        "survival:cox": (TIMES, {}),
    }
    for name, (label, others) in cases.items():
        for weighted in (False, True):

            def run(history: History, name=name, label=label, others=others, weighted=weighted) -> None:
                ranks = name.startswith("rank")
                weight = (WEIGHT[: len(GROUPS)] if ranks else WEIGHT) if weighted else None
                train = data(label.astype(np.float32), weight=weight, group=GROUPS if ranks else None)
                booster = xgb.Booster(params(objective=name, max_depth=4, **others), [train])
                for i in range(4):
                    booster.update(train, i)
                    history.values(booster.eval(train).encode())
                history.truth(booster, train, X)
                history.model(booster)

            run.__name__ = f"{name}{' weighted' if weighted else ''}"
            scenario(run)


objective_scenarios()


@scenario
def survival_times(history: History) -> None:
    for distribution in ("normal", "logistic", "extreme"):
        train = xgb.DMatrix(X, weight=WEIGHT if distribution == "normal" else None)
        train.set_float_info("label_lower_bound", np.where(CLASSES == 0, 0, np.exp(Y)).astype(np.float32))
        train.set_float_info("label_upper_bound", np.where(CLASSES == 1, np.inf, np.exp(Y)).astype(np.float32))
        settings = {"aft_loss_distribution": distribution, "aft_loss_distribution_scale": 1.3}
        metrics = ["aft-nloglik", "interval-regression-accuracy"]
        booster = xgb.Booster(params(objective="survival:aft", max_depth=4, eval_metric=metrics, **settings), [train])
        for i in range(4):
            booster.update(train, i)
            history.values(booster.eval(train).encode())
        history.truth(booster, train, X)
        history.model(booster)


@scenario
def survival_times_that_change(history: History) -> None:
    """Rows are sorted by time once. When the times change, they must be sorted again."""
    train, other = data(TIMES), valid(VTIMES)
    settings = params(objective="survival:cox", eval_metric="cox-nloglik", max_depth=3)
    boosters = [xgb.Booster(settings, [train]) for _ in range(2)]
    forth, back = (TIMES, VTIMES), (TIMES[::-1], VTIMES[::-1])
    for i, (times, vtimes) in enumerate([forth, forth, back, forth]):
        train.set_label(times)
        other.set_label(vtimes)
        for booster in boosters:
            booster.update(train, i)
            seen = booster.eval_set([(train, "t"), (other, "v")], i)
            assert seen == booster.copy().eval_set([(data(times), "t"), (valid(vtimes), "v")], i)
            history.values(seen.encode())
    assert raw(boosters[0]) == raw(boosters[1])
    history.truth(boosters[0], train, X)
    history.model(boosters[0])


@scenario
def categories(history: History) -> None:
    def table(x: np.ndarray) -> np.ndarray:
        return np.column_stack([np.floor(np.abs(x[:, :2]) * [1, 400]), x[:, 2:]]).astype(np.float32)

    types = ["c"] * 2 + ["float"] * (X.shape[1] - 2)
    train = xgb.DMatrix(table(X), LABEL, feature_types=types, enable_categorical=True)
    other = xgb.DMatrix(table(V), VLABEL, feature_types=types, enable_categorical=True)

    def first(margins: np.ndarray, matrix: xgb.DMatrix):
        history.values(margins)
        return "first", float(margins[0])

    seen: Dict[str, Any] = {}
    booster = xgb.train(
        logistic(eval_metric=["auc", "logloss"]),
        train,
        6,
        evals=[(train, "t"), (other, "v")],
        custom_metric=first,
        evals_result=seen,
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    history.values([seen[name][metric] for name in ("t", "v") for metric in ("auc", "logloss", "first")])
    history.truth(booster, other, table(V))
    history.truth(booster, train, table(X))
    history.model(booster)


# Since 2.0 these metrics take labels of two classes only.
OF_ANY_LABELS = ["map@3", "pre@2"] if SERIES < 200 else []


@scenario
def ranking_metrics(history: History) -> None:
    train, other = data(CLASSES, group=GROUPS), valid(VCLASSES, group=[300, 1200])
    metrics = ["ndcg", "ndcg@5-", *OF_ANY_LABELS, "auc"]
    seen: Dict[str, Any] = {}
    booster = xgb.train(
        params(objective="rank:pairwise", max_depth=3, eval_metric=metrics),
        train,
        4,
        evals=[(train, "t"), (other, "v")],
        evals_result=seen,
        verbose_eval=False,
    )
    history.values([seen[name][metric] for name in ("t", "v") for metric in metrics])
    history.model(booster)


@scenario
def ranking_of_two_classes(history: History) -> None:
    train, other = data(LABEL, group=GROUPS), valid(VLABEL, group=[300, 1200])
    metrics = ["aucpr", "auc", "map@3", "pre@2"]
    seen: Dict[str, Any] = {}
    booster = xgb.train(
        params(objective="rank:map", max_depth=3, eval_metric=metrics),
        train,
        4,
        evals=[(train, "t"), (other, "v")],
        evals_result=seen,
        verbose_eval=False,
    )
    history.values([seen[name][metric] for name in ("t", "v") for metric in metrics])
    history.model(booster)


@scenario
def several_targets(history: History) -> None:
    train = data(np.stack([Y, -2 * Y, LABEL], axis=1))
    booster = xgb.Booster(params(objective="reg:squarederror", max_depth=3), [train])
    for i in range(4):
        booster.update(train, i)
        history.values(booster.eval(train).encode())
    history.truth(booster, train, X)
    history.model(booster)


METRICS = {
    "binary:logistic": ["rmse", "mae", "logloss", "error", "error@0.3", "auc", "aucpr", "map", "ndcg@10", "mape"],
    "count:poisson": ["poisson-nloglik", "rmse", "rmsle", "mphe", "gamma-deviance", "tweedie-nloglik@1.2"],
    "multi:softprob": ["mlogloss", "merror", "auc"],
    "survival:cox": ["cox-nloglik", "mae"],
}


METRIC_LABELS = {
    "binary:logistic": (LABEL, VLABEL),
    "count:poisson": (1 + np.floor(np.exp(Y)), 1 + np.floor(np.exp(VY))),
    "survival:cox": (TIMES, VTIMES),
}


def metric_scenarios() -> None:
    for objective, metrics in METRICS.items():
        for weighted in (False, True):

            def run(history: History, objective=objective, metrics=metrics, weighted=weighted) -> None:
                if weighted and SERIES >= 200:  # weights of a ranking metric are those of groups
                    metrics = [metric for metric in metrics if metric.split("@")[0] not in ("map", "ndcg")]
                label, vlabel = METRIC_LABELS.get(objective, (CLASSES, VCLASSES))
                others = {"num_class": 3} if objective.startswith("multi") else {}
                train = data(label, weight=WEIGHT if weighted else None)
                other = valid(vlabel, weight=VWEIGHT if weighted else None)
                seen: Dict[str, Any] = {}
                booster = xgb.train(
                    params(objective=objective, max_depth=4, eval_metric=metrics, **others),
                    train,
                    5,
                    evals=[(train, "train"), (other, "valid")],
                    evals_result=seen,
                    verbose_eval=False,
                )
                for name in ("train", "valid"):
                    for metric in metrics:
                        history.values(seen[name][metric])
                history.model(booster)

            run.__name__ = f"metrics of {objective}{' weighted' if weighted else ''}"
            scenario(run)


metric_scenarios()
