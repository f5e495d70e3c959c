"""Objectives and metrics that the library computes: bad labels, ranking, and histories beside those of stock XGBoost."""

from typing import Any, Dict

import numpy as np
import pytest
import xgboost as xgb
from round_scenarios import (
    CLASSES,
    GROUPS,
    LABEL,
    METRIC_LABELS,
    METRICS,
    TIMES,
    VCLASSES,
    VLABEL,
    VTIMES,
    V,
    X,
    data,
    valid,
)
from support import BACKEND, OURS, SERIES, few_values, fresh, only_before, only_ours, params, raw, stock_params


@only_ours
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg", "rank:map"])
def test_groups_of_no_weight_are_named(objective: str) -> None:
    matrix = xgb.DMatrix(X[:40], np.arange(40) % 2, group=[10] * 4, weight=np.zeros(4))
    # Since 2.0 stock code divides by their sum where it estimates base_score.
    words = "all 4 weights of groups are 0; allowed: at least one above 0"
    with pytest.raises(xgb.core.XGBoostError, match=words):
        xgb.train(params(objective=objective, base_score=0.5), matrix, 1)
    matrix.set_weight(np.array([0, 0, 1, 0]))
    assert len(xgb.train(params(objective=objective), matrix, 1).get_dump()) == 1


@pytest.mark.parametrize(
    ("objective", "label", "words"),
    [
        ("binary:logistic", 1.5, "label must be in (\\[0,1\\]|\\(0, 1\\)) for logistic regression"),
        ("reg:squaredlogerror", -1.0, "label must be greater than -1 for rmsle"),
        ("count:poisson", -1.0, "label must be non-?negative"),
        ("reg:gamma", -0.5, "label must be positive"),
        ("reg:tweedie", -0.5, "label must be non-?negative"),
        ("multi:softprob", 3.0, "label must be (in|discrete values in the range of) \\[0, num_class\\)"),
        ("multi:softprob", -1.0, "label must be (in|discrete values in the range of) \\[0, num_class\\)"),
    ],
)
def test_bad_labels_are_named(objective: str, label: float, words: str) -> None:
    labels = np.ones_like(LABEL)
    labels[1234] = label
    others = {"num_class": 3} if objective.startswith("multi") else {}
    with pytest.raises(xgb.core.XGBoostError, match=words) as caught:
        xgb.train(params(objective=objective, base_score=0.5, **others), data(labels), 2)
    if OURS:
        assert "1234" in str(caught.value)


PARAMETERS = [
    ("reg:tweedie", dict(tweedie_variance_power=1.2)),
    ("reg:tweedie", dict(tweedie_variance_power=1.9)),
    ("reg:pseudohubererror", dict(huber_slope=3.0)),
    ("count:poisson", dict(max_delta_step=0.1)),
    ("survival:aft", dict(aft_loss_distribution="logistic", aft_loss_distribution_scale=0.7)),
    ("survival:aft", dict(aft_loss_distribution="extreme")),
    ("binary:logistic", dict(scale_pos_weight=3.0)),
    ("reg:squarederror", dict(base_score=-2.0)),
]


@pytest.mark.parametrize(("objective", "settings"), PARAMETERS, ids=str)
def test_parameters_of_objectives_are_stocks(objective: str, settings: Dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    x = few_values(rng.normal(size=(800, 6)).astype(np.float32))
    label = np.exp(x[:, 0] * x[:, 1])
    if objective == "binary:logistic":
        label = (label > 1).astype(np.float32)
    matrix = xgb.DMatrix(x, label)
    if objective == "survival:aft":
        matrix.set_float_info("label_lower_bound", label)
        matrix.set_float_info("label_upper_bound", np.where(label > 1, label, np.inf))
    how = dict(objective=objective, max_depth=2)
    ours, stock, default = (
        xgb.train(settings, matrix, 3).predict(matrix)
        for settings in (params(**how, **settings), stock_params(**how, **settings), stock_params(**how))
    )
    # exp, log and the like differ by some units in the last place, and so do sums of them; a tie may fall otherwise only
    # where two columns divide the rows alike, which normal numbers do not.
    np.testing.assert_allclose(ours, stock, rtol=1e-5, atol=1e-6)
    assert np.abs(ours - default).max() > 0.01


def test_without_the_metric_of_the_objective() -> None:
    history: Dict[str, Any] = {}
    settings = params(disable_default_eval_metric=True)
    matrix = data(LABEL)
    xgb.train(settings, matrix, 2, evals=[(matrix, "train")], evals_result=history, verbose_eval=False)
    assert not history.get("train")


@only_ours
@pytest.mark.parametrize("boosting", ["gbtree", "dart"])
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg", "rank:map"])
def test_ranking_does_not_depend_on_threads(objective: str, boosting: str) -> None:
    models = []
    for threads in (1, 2, 5):
        settings = params(objective=objective, booster=boosting, rate_drop=0.3, nthread=threads, max_depth=4)
        if boosting == "gbtree":
            del settings["rate_drop"]
        booster = xgb.train(settings, data(LABEL, group=GROUPS), 4)
        models.append(raw(booster))
    assert models[0] == models[1] == models[2]


@only_ours
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg", "rank:map"])
def test_ranking_learns_as_much_as_stock(objective: str) -> None:
    """Stock draws other pairs: each side is one draw of many. Of what is learned from no model on, both learn as much, but
    for a twentieth, twice the largest difference that was seen between seeds."""
    groups = [50] * 60
    scores, untrained = {}, 0.0
    for name, method in (("ours", params()), ("stock", {"tree_method": "hist"})):
        seen: Dict[str, Any] = {}
        train, other = data(CLASSES, group=groups), valid(VCLASSES, group=[50] * 30)
        settings = dict(objective=objective, max_depth=4, eval_metric="ndcg@10", eta=0.2, **method)
        untrained = float(xgb.train(settings, train, 0).eval(other).rsplit(":", 1)[1])
        if objective == "rank:map":
            train.set_label(LABEL)
        xgb.train(settings, train, 30, evals=[(other, "v")], evals_result=seen, verbose_eval=False)
        scores[name] = seen["v"]["ndcg@10"]
    learned = {name: history[-1] - untrained for name, history in scores.items()}
    assert learned["ours"] == pytest.approx(learned["stock"], rel=0.05), learned


# Each prediction differs from stock's by the rounding of a few float operations, at most 4 units in the last place: of a
# probability that is 2^-22, and a loss is not steeper than 1 / probability here (checked: no probability below 2^-7).
@only_ours
@pytest.mark.parametrize("objective", METRICS)
def test_histories_are_those_of_stock(objective: str) -> None:
    label, vlabel = METRIC_LABELS.get(objective, (CLASSES, VCLASSES))
    others = {"num_class": 3} if objective.startswith("multi") else {}
    metrics = METRICS[objective]
    train, other = data(label), valid(vlabel)
    seen: Dict[str, Any] = {}
    settings = dict(objective=objective, max_depth=3, eval_metric=metrics, **others)
    booster = xgb.train(params(**settings), train, 5, evals=[(train, "t"), (other, "v")], evals_result=seen, verbose_eval=False)
    assert booster.predict(other).min() > 2.0**-7
    # The saved model in a booster without gpu_hist: stock transforms and stock metrics.
    stock = fresh(booster)
    stock.set_param([("eval_metric", metric) for metric in metrics])
    for item in stock.eval_set([(xgb.DMatrix(X, label), "t"), (xgb.DMatrix(V, vlabel), "v")], 4).split("\t")[1:]:
        name, value = item.rsplit(":", 1)
        which, metric = name.split("-", 1)
        assert seen[which][metric][-1] == pytest.approx(float(value), rel=2.0**-15, nan_ok=True), name


@only_ours
@pytest.mark.parametrize("labels", [LABEL, np.where(CLASSES == 1, 0.25, LABEL)], ids=["two classes", "shares"])
def test_areas_over_groups_are_those_of_stock(labels: np.ndarray) -> None:
    """Few rows have equal predictions; what both add up, in double, are areas below 1, whose text has six digits."""
    train, other = data(labels.astype(np.float32), group=GROUPS), valid(VLABEL, group=[300, 1200])
    seen: Dict[str, Any] = {}
    settings = dict(objective="rank:pairwise", max_depth=3, eval_metric="aucpr")
    booster = xgb.train(params(**settings), train, 4, evals=[(train, "t"), (other, "v")], evals_result=seen, verbose_eval=False)
    stock = fresh(booster)
    stock.set_param("eval_metric", "aucpr")
    unseen = [(data(labels.astype(np.float32), group=GROUPS), "t"), (valid(VLABEL, group=[300, 1200]), "v")]
    for item in stock.eval_set(unseen, 3).split("\t")[1:]:
        name, value = item.rsplit(":", 1)
        assert seen[name.split("-")[0]]["aucpr"][-1] == pytest.approx(float(value), abs=1e-6), name


@only_ours
def test_area_of_unweighted_rows_has_the_bits_of_stock() -> None:
    """Both add up whole numbers of pairs and halves, without rounding, and divide once."""
    seen: Dict[str, Any] = {}
    train = data(LABEL)
    settings = params(objective="binary:logistic", max_depth=3, eval_metric="auc")
    booster = xgb.train(settings, train, 8, evals=[(train, "t")], evals_result=seen, verbose_eval=False)
    for rounds, found in enumerate(seen["t"]["auc"], 1):
        stock = fresh(booster[:rounds], eval_metric="auc")
        assert found == float(stock.eval(data(LABEL)).rsplit(":", 1)[1])


@only_ours
def test_area_over_groups_wants_two_classes() -> None:
    train = data(CLASSES, group=GROUPS)
    with pytest.raises(xgb.core.XGBoostError, match="only binary relevance for learning to rank"):
        xgb.train(params(objective="rank:pairwise", eval_metric="aucpr"), train, 1, evals=[(train, "t")])


WEIGHED_ROWS = {
    "rmse": "reg:squarederror",
    "rmsle": "reg:squarederror",
    "mlogloss": "multi:softprob",
    "interval-regression-accuracy": "survival:aft",
    "ams@0.15": "reg:squarederror",
}
if SERIES >= 200:
    WEIGHED_ROWS["quantile"] = "reg:squarederror"
if SERIES >= 303:
    WEIGHED_ROWS["expectile"] = "reg:squarederror"


@only_ours
@pytest.mark.parametrize("metric", WEIGHED_ROWS)
def test_weights_of_groups_are_none_of_rows(metric: str) -> None:
    """Stock code ends the process, or reads what lies behind the weights."""
    settings = params(objective=WEIGHED_ROWS[metric], eval_metric=metric)
    if metric == "mlogloss":
        settings["num_class"] = int(CLASSES.max()) + 1
    if metric in ("quantile", "expectile"):
        settings[f"{metric}_alpha"] = 0.3
    of_rows, of_groups = data(CLASSES), data(CLASSES, group=GROUPS, weight=np.ones(len(GROUPS), np.float32))
    for matrix in (of_rows, of_groups):
        for bound in ("label_lower_bound", "label_upper_bound"):
            matrix.set_float_info(bound, CLASSES + 1)
    booster = xgb.train(settings, of_rows, 1)
    for evaluated in (booster, fresh(booster)):  # the second has never trained
        evaluated.set_param(settings)
        words = f"{metric} needs one weight for each row, but the data have weights of {len(GROUPS)} ranking groups; allowed"
        with pytest.raises(xgb.core.XGBoostError, match=words):
            evaluated.eval(of_groups)
        assert np.isfinite(float(evaluated.eval(of_rows).rsplit(":", 1)[1]))


@only_ours
@pytest.mark.parametrize("ours, stock", [("gpu_hist", "hist"), ("gpu_exact", "exact")])
def test_rows_of_tiny_hessians_can_be_parted(ours: str, stock: str) -> None:
    """Hessians of pseudo-Huber fall with the cube of the residual: 1e-15 for the labels of 1e5, beside 1 for those of 0."""
    data = xgb.DMatrix(np.arange(8.0)[:, None], [0, 0, 0, 0, 1e5, 1e5, 2e5, 2e5])
    settings = dict(objective="reg:pseudohubererror", min_child_weight=0, base_score=0.0, max_depth=1)
    trees = [
        xgb.train(dict(tree_method=method, **backend, **settings), data, 1).trees_to_dataframe()
        for method, backend in ((ours, {"gpu_backend": BACKEND}), (stock, {}))
    ]
    assert trees[0]["Split"][0] == trees[1]["Split"][0]
    # Four gradients of 1, rounded to float, and lambda 1: leaves and gains of numbers up to 13, a few roundings each.
    gains = [tree["Gain"].to_numpy(np.float64) for tree in trees]  # objects in newer series
    np.testing.assert_allclose(*gains, rtol=8 * 2.0**-24, atol=8 * 2.0**-24)


@only_ours
def test_bounds_that_contradict_each_other() -> None:
    """Stock trains, or has gradients that are NaN."""
    times = np.exp(LABEL)
    matrix = xgb.DMatrix(X, label_lower_bound=times + 1, label_upper_bound=times)
    words = r"label_lower_bound of row 0 is .*, label_upper_bound .*; allowed: a lower bound that is not above the upper one"
    with pytest.raises(xgb.core.XGBoostError, match=words):
        xgb.train(params(objective="survival:aft"), matrix, 2)


@only_ours
@pytest.mark.parametrize("metric", ["ndcg", "ndcg@5-", "map", "map@2", "pre", "pre@2-", "ams@0.15", "cox-nloglik"])
def test_metrics_of_one_label_a_row(metric: str) -> None:
    """Stock code ends the process."""
    labels = np.stack([LABEL, 1 - LABEL], axis=1)
    matrix = xgb.DMatrix(X, labels)
    words = f"Metric {metric}: the data have 2 labels a row; allowed: 1"
    with pytest.raises(xgb.core.XGBoostError, match=words):
        xgb.train(params(objective="binary:logistic", eval_metric=metric), matrix, 2, evals=[(matrix, "t")], verbose_eval=False)
    booster = xgb.train(params(objective="binary:logistic"), matrix, 1)
    booster.set_param("eval_metric", metric)
    with pytest.raises(xgb.core.XGBoostError, match=words):
        booster.eval(xgb.DMatrix(V, np.stack([VLABEL, VLABEL], axis=1)))


@only_before(304, "stock's metrics of rows refuse groups with weights")
@only_ours
def test_weights_of_groups_of_one_row_are_those_of_rows() -> None:
    weight = np.linspace(0.5, 2, len(LABEL)).astype(np.float32)
    booster = xgb.train(params(eval_metric="rmse"), data(LABEL, weight=weight), 1)
    alone = data(LABEL, weight=weight, group=np.ones(len(LABEL), np.uint32))
    assert booster.eval(alone) == booster.eval(data(LABEL, weight=weight))


@only_ours
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_hazards_are_those_of_stock(weighted: bool) -> None:
    """Both build the same trees. Stock rounds each power to float before it subtracts it from the sum at risk; rows beyond a time
    are censored here, so that a tenth of the sum is left at the last event, and a gradient, at most ln 10 + 1 large beside its
    power, is off by 2^-24 · 10 · 4. Where a leaf's sum has cancelled to a 16th its weight is off by less than 2^-14 (weights here
    are below 1), and eight rounds by 8 · 0.3 times that. A loss changes by no more than twice what all margins do."""
    x, v = np.round(X, 1), np.round(V, 1)  # few values: the same cuts
    rng = np.random.default_rng(8)
    weight, vweight = ((rng.random(len(rows)).astype(np.float32) + np.float32(0.1)) if weighted else None for rows in (X, V))
    end = np.quantile(np.abs(TIMES), 0.8)
    times, vtimes = (np.where(np.abs(t) > end, -np.abs(t), t) for t in (TIMES, VTIMES))
    seen: Dict[str, Any] = {}
    margins = []
    for name, method in (("ours", params()), ("stock", stock_params())):
        train, other = xgb.DMatrix(x, times, weight=weight), xgb.DMatrix(v, vtimes, weight=vweight)
        settings = dict(objective="survival:cox", max_depth=3, eta=0.3, **method)
        seen[name] = {}
        sets = [(train, "t"), (other, "v")]
        booster = xgb.train(settings, train, 8, evals=sets, evals_result=seen[name], verbose_eval=False)
        margins.append(booster.predict(other, output_margin=True))
        assert booster.predict(other) == pytest.approx(np.exp(margins[-1]), rel=2.0**-22)
    for which in ("t", "v"):
        assert seen["ours"][which]["cox-nloglik"] == pytest.approx(seen["stock"][which]["cox-nloglik"], abs=2 * 2.4 * 2.0**-14)
    assert margins[0] == pytest.approx(margins[1], abs=2.4 * 2.0**-14)
