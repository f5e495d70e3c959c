"""Names mean what they mean in the XGBoost that runs: objectives, their parameters and metrics beside stock `hist`."""

import re
from typing import Any, Dict, List, Optional

import numpy as np
import pytest
import xgboost as xgb
from support import SERIES, fresh, only_ours, other_method, params, stock_params

ROWS = 600
GROUPS = [90, 60, 1, 49] * 3
RNG = np.random.default_rng(21)
# Few distinct values: bins are the values in both programs. Columns divide the rows in different ways, so no two splits
# have the same gain.
X = RNG.integers(0, 12, size=(ROWS, 4)).astype(np.float32)
SIGNAL = (np.sin(X[:, 0]) + 0.2 * X[:, 1] - 1 + 0.3 * RNG.normal(size=ROWS)).astype(np.float32)
WEIGHTS = RNG.uniform(0.2, 3, size=ROWS).astype(np.float32)
BINARY = (SIGNAL > np.median(SIGNAL)).astype(np.float32)
LABELS = {
    "real": SIGNAL,
    "binary": BINARY,
    "positive": np.exp(SIGNAL),
    "count": np.floor(np.exp(SIGNAL)),
    "class": np.clip(np.floor(SIGNAL) + 1, 0, 2),
    "time": np.round(np.exp(SIGNAL) * 4 + 1) * np.where(RNG.random(ROWS) < 0.3, -1, 1),
    "first of two": (np.arange(ROWS) % 2 == 0).astype(np.float32),
}
OF_LABELS = {
    "reg:squarederror": "real",
    "reg:linear": "real",
    "reg:squaredlogerror": "positive",
    "reg:logistic": "binary",
    "binary:logistic": "binary",
    "binary:logitraw": "binary",
    "binary:hinge": "binary",
    "reg:pseudohubererror": "real",
    "reg:absoluteerror": "real",
    "reg:quantileerror": "real",
    "reg:expectileerror": "real",
    "count:poisson": "count",
    "reg:gamma": "positive",
    "reg:tweedie": "count",
    "multi:softmax": "class",
    "multi:softprob": "class",
    "survival:cox": "time",
    "survival:aft": "positive",
    # A row has one other row to be paired with, so XGBoost 1.7 draws the pairs that gpu_hist draws.
    "rank:pairwise": "first of two",
    "rank:ndcg": "first of two",
    "rank:map": "first of two",
}
NEEDED: Dict[str, Dict[str, Any]] = {
    "multi:softmax": {"num_class": 3},
    "multi:softprob": {"num_class": 3},
    "reg:quantileerror": {"quantile_alpha": 0.3},
    "reg:expectileerror": {"expectile_alpha": 0.3},
}


def candidates() -> List[str]:
    """The objectives of this XGBoost, which names them where it does not know one."""
    with pytest.raises(xgb.core.XGBoostError) as caught:
        xgb.train({"objective": "no objective"}, xgb.DMatrix(X[:4], label=BINARY[:4]), 1)
    return sorted(re.findall(r"Objective candidate: (\S+)", str(caught.value)))


def matrix(objective: str, weighted: bool = False, groups: Optional[List[int]] = None) -> xgb.DMatrix:
    label = LABELS[OF_LABELS[objective]]
    data = xgb.DMatrix(X) if objective == "survival:aft" else xgb.DMatrix(X, label=label)
    if objective == "survival:aft":
        kind = np.arange(ROWS) % 3
        data.set_float_info("label_lower_bound", np.where(kind == 2, 0, label))
        data.set_float_info("label_upper_bound", np.where(kind == 0, np.inf, np.where(kind == 1, label, label * 2)))
    if objective.startswith("rank:"):
        groups = groups or [2] * (ROWS // 2)
        data.set_group(groups)
    if weighted:
        data.set_weight(WEIGHTS if groups is None else WEIGHTS[: len(groups)])
    return data


def margins(settings: Dict[str, Any], data: xgb.DMatrix, rounds: int = 1) -> np.ndarray:
    return xgb.train(settings, data, rounds).predict(data, output_margin=True)


def assert_equal_margins(data: xgb.DMatrix, **settings: Any) -> np.ndarray:
    """Asserts that a round of gpu_hist and one of stock `hist` give the same margins, and returns them.

    A gradient that both compute differs by the roundings of exp and log, some 2^-23 of it. A leaf is a quotient of sums
    that stock adds in float or double, so it differs by less than 600 times that, relative to the sum of magnitudes. The
    margin adds 0.5 or its logarithm.
    """
    how = dict(base_score=0.5, max_depth=3, nthread=2, **settings)
    ours, stock = margins(params(**how), data), margins(stock_params(**how), data)
    assert np.ptp(stock) > 0, "stock has not learned anything"
    np.testing.assert_allclose(ours, stock, rtol=7e-5, atol=2e-5)
    return ours


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("objective", candidates())
def test_every_objective_is_stocks(objective: str, weighted: bool) -> None:
    assert objective in OF_LABELS, f"{objective} is new: give it labels here, and a row in plugin/params/meanings.cc"
    assert_equal_margins(matrix(objective, weighted), objective=objective, **NEEDED.get(objective, {}))


PARAMETERS = [
    ("reg:squarederror", {"scale_pos_weight": 3}, "binary"),
    ("reg:squaredlogerror", {"scale_pos_weight": 3}, "binary"),
    ("reg:logistic", {"scale_pos_weight": 3}, "binary"),
    ("binary:logistic", {"scale_pos_weight": 3}, "binary"),
    ("binary:logistic", {"max_delta_step": 0.1}, "binary"),
    ("binary:logitraw", {"scale_pos_weight": 3}, "binary"),
    ("binary:hinge", {"scale_pos_weight": 3}, "binary"),
    ("reg:pseudohubererror", {"huber_slope": 3}, "real"),
    ("reg:absoluteerror", {"eta": 1}, "real"),
    ("reg:absoluteerror", {"reg_lambda": 20}, "real"),
    ("count:poisson", {"max_delta_step": 0.1}, "count"),
    ("reg:tweedie", {"tweedie_variance_power": 1.2}, "count"),
    ("multi:softprob", {"scale_pos_weight": 3, "num_class": 3}, "class"),
    ("survival:aft", {"aft_loss_distribution": "logistic", "aft_loss_distribution_scale": 0.7}, "positive"),
    ("survival:aft", {"aft_loss_distribution": "extreme"}, "positive"),
]


@pytest.mark.parametrize(("objective", "settings", "label"), PARAMETERS, ids=str)
def test_parameters_of_objectives_are_stocks(objective: str, settings: Dict[str, Any], label: str) -> None:
    data = matrix(objective)
    if objective != "survival:aft":
        data.set_label(LABELS[label])
    assert_equal_margins(data, objective=objective, **settings)


def trains_two_targets(objective: str) -> bool:
    """Some series refuse several targets. Some have gradients that are wrong from the second target on."""
    if objective in ("reg:squarederror", "reg:logistic", "binary:logistic", "binary:logitraw"):
        return True
    if objective == "reg:squaredlogerror":
        return not 300 <= SERIES <= 301
    if objective == "reg:pseudohubererror":
        return not 200 <= SERIES <= 301
    if objective in ("binary:hinge", "reg:gamma", "reg:absoluteerror"):
        return SERIES >= 200
    return SERIES >= 302 and objective in ("count:poisson", "reg:tweedie")


@pytest.mark.parametrize("objective", [name for name in candidates() if trains_two_targets(name)])
def test_two_targets_are_stocks(objective: str) -> None:
    data = matrix(objective, weighted=True)
    label = LABELS[OF_LABELS[objective]]
    data.set_label(np.stack([label, label[np.argsort(X[:, 2], kind="stable")]], axis=1))
    assert assert_equal_margins(data, objective=objective).shape == (ROWS, 2)


@pytest.mark.skipif(SERIES < 303, reason="only since XGBoost 3.3: expectiles")
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
def test_several_expectiles_are_stocks(weighted: bool) -> None:
    # Margins of rows differ, so that slopes do, too.
    data = matrix("reg:expectileerror", weighted)
    data.set_base_margin(np.stack([SIGNAL[::-1], X[:, 1] / 4 - 2, X[:, 2] / 6 - 1], axis=1))
    how = dict(objective="reg:expectileerror", expectile_alpha=[0.1, 0.5, 0.9], max_depth=3, nthread=2)
    ours, stock = (xgb.train(of(**how), data, 1) for of in (params, stock_params))
    for output_margin in (True, False):
        found, expected = (model.predict(data, output_margin=output_margin) for model in (ours, stock))
        assert found.shape == (ROWS, 3)
        np.testing.assert_allclose(found, expected, rtol=7e-5, atol=2e-5)
    assert np.all(np.diff(found, axis=1) > 0)


RANK_PARAMETERS: List[Dict[str, Any]] = (
    [{}, {"num_pairsample": 5}]
    if SERIES < 200
    else [
        {},
        {"lambdarank_num_pair_per_sample": 3},
        {"lambdarank_num_pair_per_sample": 60},
        {"lambdarank_normalization": 0},
        {"lambdarank_unbiased": 1},
        {"ndcg_exp_gain": 0},
    ]
)


@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg", "rank:map"])
def test_rank_parameters_change_models_where_stocks_do(objective: str) -> None:
    data = matrix(objective, groups=GROUPS)
    grades = np.clip(np.floor(SIGNAL + 2), 0, 4)
    data.set_label(BINARY if objective == "rank:map" else grades)
    how = dict(objective=objective, base_score=0.5, max_depth=3)
    ours = [margins(params(**how, **of_rank), data, 3) for of_rank in RANK_PARAMETERS]
    stock = [margins(stock_params(**how, **of_rank), data, 3) for of_rank in RANK_PARAMETERS]
    for one in range(len(stock)):
        if SERIES >= 200:  # in 1.7 pairs are drawn, by another generator
            np.testing.assert_allclose(ours[one], stock[one], rtol=1e-3, atol=1e-4)
        for other in range(one):
            changes = not np.array_equal(stock[one], stock[other])
            assert np.array_equal(ours[one], ours[other]) != changes, (RANK_PARAMETERS[one], RANK_PARAMETERS[other])
    assert not np.array_equal(stock[0], stock[1])


METRICS = [
    ("reg:squarederror", ["rmse", "mae", "mape", "mphe"]),
    ("reg:squaredlogerror", ["rmsle"]),
    ("reg:pseudohubererror", ["mphe"]),
    ("binary:logistic", ["logloss", "error", "error@0.7", "auc", "aucpr"]),
    ("count:poisson", ["poisson-nloglik"]),
    ("reg:gamma", ["gamma-nloglik", "gamma-deviance"]),
    ("reg:tweedie", ["tweedie-nloglik@1.2", "tweedie-nloglik@1.5"]),
    ("multi:softprob", ["merror", "mlogloss", "auc", "aucpr"]),
    ("survival:cox", ["cox-nloglik"]),
    ("survival:aft", ["aft-nloglik", "interval-regression-accuracy"]),
]
OF_RANKS = ["ndcg", "ndcg-", "ndcg@5", "ndcg@5-", "map", "map@5", "map@70-", "pre", "pre@5", "pre@70", "auc", "aucpr"]


def assert_equal_metrics(data: xgb.DMatrix, metrics: List[str], **settings: Any) -> Dict[str, float]:
    """Asserts that the booster of ours and a stock booster with the same model evaluate alike, and returns the values.

    Both sum in double. Terms of rows differ by roundings of exp and log in float, 2^-23 of a term; of cox-nloglik stock
    subtracts from a sum of 600 floats.
    """
    how = dict(base_score=0.5, max_depth=2, eval_metric=metrics, **settings)
    history: Dict[str, Dict[str, List[float]]] = {}
    ours = xgb.train(params(**how), data, 2, evals=[(data, "data")], evals_result=history, verbose_eval=False)
    stock = fresh(ours, **other_method(**stock_params(**how)))
    words = [word.split("-", 1)[1].rsplit(":", 1) for word in stock.eval(data, "data").split("\t")[1:]]
    assert sorted(name for name, _ in words) == sorted(metrics)
    for name, value in words:
        assert history["data"][name][-1] == pytest.approx(float(value), rel=1e-6, nan_ok=True), name
    return {name: float(value) for name, value in words}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize(("objective", "metrics"), METRICS, ids=str)
def test_metrics_are_stocks(objective: str, metrics: List[str], weighted: bool) -> None:
    values = assert_equal_metrics(
        matrix(objective, weighted), metrics, objective=objective, **NEEDED.get(objective, {})
    )
    assert all(np.isfinite(value) for value in values.values())


@pytest.mark.parametrize(("grouped", "weighted"), [(False, False), (True, False), (True, True)])
def test_metrics_of_rankings_are_stocks(grouped: bool, weighted: bool) -> None:
    data = matrix("rank:pairwise", weighted, GROUPS if grouped else [ROWS])
    label = BINARY.copy()
    if grouped:
        label[:90], label[200:290] = 0, 1  # a group without hits, one of hits alone
    data.set_label(label)
    values = assert_equal_metrics(data, OF_RANKS, objective="rank:pairwise")
    # Since 2.0 rows beyond the 32nd of a group do not count unless asked for.
    assert values["ndcg"] != values["ndcg@5"]


@only_ours
def test_a_line_says_what_is_not_ours(capfd: pytest.CaptureFixture) -> None:
    def lines(objective: str, metric: str, **settings: Any) -> List[str]:
        capfd.readouterr()
        data = matrix(objective)
        how = params(objective=objective, eval_metric=metric, base_score=0.5, verbosity=2, **settings)
        xgb.train(how, data, 2, evals=[(data, "data")], verbose_eval=False)
        said = capfd.readouterr()
        return [line for line in (said.out + said.err).splitlines() if "XGBoost computes it" in line]

    assert lines("reg:squarederror", "rmse") == []
    with xgb.config_context(verbosity=1):
        said = lines("rank:map", "map")
        of_bias = lines("rank:map", "rmse", lambdarank_unbiased=1, lambdarank_num_pair_per_sample=65537)
    assert len(said) == (1 if SERIES >= 200 else 0)
    if said:
        assert f"metric map is another in XGBoost {xgb.__version__} than in 1.7" in said[0]
        assert lines("rank:map", "map") == [], "said twice"
        assert len(of_bias) == 1 and "or more than 65536 with lambdarank_unbiased=1" in of_bias[0]


@only_ours
def test_parameters_of_lambdarank_are_not_called_foreign(capfd: pytest.CaptureFixture) -> None:
    of_rank = {"lambdarank_num_pair_per_sample": 4, "ndcg_exp_gain": 0}
    xgb.train(params(objective="rank:ndcg", base_score=0.5, **of_rank), matrix("rank:ndcg"), 1)
    said = capfd.readouterr()
    lines = [line for line in (said.out + said.err).splitlines() if "has no effect here" in line]
    assert not lines
