"""LambdaRank of XGBoost 2.0 and later: gradients of rows beside stock `hist`, defaults, training, errors; and in 1.7."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import SERIES, fresh, only_ours, params, stock_params

in_its_series = pytest.mark.skipif(SERIES < 200, reason="XGBoost 1.7 does not have LambdaRank")
in_1_7 = pytest.mark.skipif(SERIES >= 200, reason="XGBoost has LambdaRank")

GROUPS = [90, 60, 1, 49, 100, 2, 3, 40]
ROWS = sum(GROUPS)
RNG = np.random.default_rng(8)
GRADES = RNG.integers(0, 5, ROWS).astype(np.float32)
MARGINS = np.round(RNG.normal(size=ROWS) + 0.3 * GRADES, 1).astype(np.float32)  # some are equal
MARGINS[150] = 30  # a row whose pairs are certain
WEIGHTS = RNG.uniform(0.2, 3, len(GROUPS)).astype(np.float32)
OBJECTIVES = ["rank:pairwise", "rank:ndcg", "rank:map"]


def labels_of(objective: str) -> np.ndarray:
    return (GRADES > 2).astype(np.float32) if objective == "rank:map" else GRADES


def leaves(how: Dict[str, Any], labels: np.ndarray, weights: Any = None) -> List[np.ndarray]:
    """The leaf of each row, where it is alone, for two lambdas: -G / (H + lambda) says what G and H are."""
    data = xgb.DMatrix(np.arange(ROWS, dtype=np.float32)[:, None], labels, weight=weights, base_margin=MARGINS)
    data.set_group(GROUPS)
    found = []
    for reg_lambda in (1e-5, 1e-2):
        alone = dict(max_depth=0, max_leaves=0, grow_policy="lossguide", max_bin=1024, min_child_weight=0, eta=1)
        booster = xgb.train({**how, **alone, "reg_lambda": reg_lambda, "base_score": 0.5}, data, 1)
        assert len(set(booster.predict(data, pred_leaf=True))) > 10  # rows of equal gradients are together
        found.append(booster.predict(data, output_margin=True).astype(np.float64) - MARGINS)
    return found


PARAMETERS: List[Dict[str, Any]] = [
    {},
    {"lambdarank_num_pair_per_sample": 1},
    {"lambdarank_num_pair_per_sample": 7},
    {"lambdarank_num_pair_per_sample": 500},
    {"lambdarank_normalization": 0},
    {"lambdarank_score_normalization": 0},
    {"lambdarank_normalization": 0, "lambdarank_score_normalization": 0, "lambdarank_num_pair_per_sample": 20},
    {"ndcg_exp_gain": 0},
]


@only_ours
@in_its_series
@pytest.mark.parametrize("unbiased", [0, 1])
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg"])
def test_labels_and_groups_that_change_between_rounds_are_those_of_a_new_matrix(objective: str, unbiased: int) -> None:
    x = RNG.normal(size=(ROWS, 4)) + 0.3 * GRADES[:, None]
    changes = [lambda data: data.set_group([23] * 15), lambda data: data.set_label(4 - GRADES), lambda data: None]

    def make() -> xgb.DMatrix:
        return xgb.DMatrix(x, GRADES, qid=np.repeat(np.arange(len(GROUPS)), GROUPS))

    def model(is_new: bool) -> bytes:
        data = make()
        how = dict(objective=objective, lambdarank_unbiased=unbiased, lambdarank_num_pair_per_sample=8, max_depth=3)
        booster = xgb.Booster(params(**how), [data])
        for number in range(2 * len(changes)):
            if number % 2 == 1 and is_new:
                data = make()
                for change in changes[: number // 2]:
                    change(data)
            if number % 2 == 1:
                changes[number // 2](data)
            booster.update(data, number)
        return bytes(booster.save_raw("ubj"))

    assert model(is_new=False) == model(is_new=True)


@in_its_series
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("of_rank", PARAMETERS, ids=str)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_of_top_pairs_are_stocks(objective: str, of_rank: Dict[str, Any], weighted: bool) -> None:
    how = dict(objective=objective, **of_rank)
    weights = WEIGHTS if weighted else None
    ours = leaves(params(**how), labels_of(objective), weights)
    stock = leaves(stock_params(**how), labels_of(objective), weights)
    assert np.ptp(stock[0]) > 0
    for one, other in zip(ours, stock):
        # Up to 100 pairs of a row, rounded to float one after the other: 100 · 2^-24 of their magnitudes.
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@only_ours
@in_its_series
def test_metrics_are_of_the_labels_and_groups_of_their_round() -> None:
    """XGBoost keeps what it computed of the old ones."""
    x = RNG.normal(size=(ROWS, 4)) + 0.3 * GRADES[:, None]
    changes = [lambda data: data.set_label(GRADES < 1), lambda data: data.set_group([23] * 15), lambda data: None]

    def make() -> xgb.DMatrix:
        return xgb.DMatrix(x, GRADES > 2, qid=np.repeat(np.arange(len(GROUPS)), GROUPS))

    how = dict(objective="rank:pairwise", eval_metric=["ndcg", "ndcg@5-", "map@3", "pre@4", "mape"], max_depth=3)
    booster = xgb.train(params(**how), make(), 3)
    evaluated = make()
    found = [booster.eval(evaluated, "rows")]
    for change in changes:
        change(evaluated)
        found.append(booster.eval(evaluated, "rows"))
    expected = []
    for number in range(len(changes) + 1):
        data = make()
        for change in changes[:number]:
            change(data)
        expected.append(fresh(booster, **params(**how)).eval(data, "rows"))
    assert found == expected
    assert len(set(found)) == 3


CLICKS: List[Dict[str, Any]] = [
    {},
    {"lambdarank_num_pair_per_sample": 5},
    {"lambdarank_bias_norm": 0.25, "lambdarank_normalization": 0},
    {"lambdarank_score_normalization": 0, "lambdarank_num_pair_per_sample": 12},
]


def clicked(objective: str) -> xgb.DMatrix:
    """Rows whose first places of a group have larger labels than their columns say."""
    rng = np.random.default_rng(12)
    groups = [12, 1, 40, 25, 2] * 12
    place = np.concatenate([np.arange(size) for size in groups])
    x = np.round(rng.normal(size=(len(place), 3)), 1)
    label = np.clip(np.floor(x[:, 0] + 2.5 / (1 + place) + rng.normal(size=len(place)) + 1), 0, 4)
    data = xgb.DMatrix(x, label > 1 if objective == "rank:map" else label)
    data.set_group(groups)
    return data


def biases_of(booster: xgb.Booster) -> np.ndarray:
    saved = json.loads(booster.save_config())["learner"]["objective"]
    return np.array([saved["ti+"], saved["tj-"]], float)


@in_its_series
@pytest.mark.parametrize("of_rank", CLICKS, ids=str)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_position_biases_are_stocks(objective: str, of_rank: Dict[str, Any]) -> None:
    data = clicked(objective)
    how = dict(objective=objective, lambdarank_unbiased=1, base_score=0.5, max_depth=3, eta=0.3, **of_rank)
    ours, stock = (xgb.train(of_whom(**how), data, 4) for of_whom in (params, stock_params))
    assert biases_of(ours).shape == biases_of(stock).shape == (2, of_rank.get("lambdarank_num_pair_per_sample", 32))
    assert np.ptp(biases_of(stock)) > 0.5
    # Stock rounds probabilities to float: a loss has an error of 2^-24 over the smaller chance, some 2^-17 of it.
    np.testing.assert_allclose(biases_of(ours), biases_of(stock), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.predict(data), stock.predict(data), rtol=1e-3, atol=1e-4)


@only_ours
@in_its_series
def test_position_biases_of_rounds_of_stock_are_taken_over() -> None:
    data = clicked("rank:ndcg")
    how = dict(objective="rank:ndcg", lambdarank_unbiased=1, base_score=0.5, max_depth=3)
    booster = xgb.Booster(stock_params(**how), [data])
    for number in range(4):
        if number == 2:
            booster.set_param(params(**how))
        booster.update(data, number)
    expected = biases_of(xgb.train(stock_params(**how), data, 4))
    np.testing.assert_allclose(biases_of(booster), expected, rtol=1e-4, atol=1e-5)


@only_ours
@pytest.mark.parametrize("form", ["json", "ubj"])
def test_a_training_goes_on_with_the_position_biases_of_a_model(form: str, tmp_path: Path) -> None:
    """In stock they begin anew."""
    data = clicked("rank:ndcg")
    how = params(objective="rank:ndcg", lambdarank_unbiased=1, max_depth=3)
    whole = xgb.train(how, data, 5)
    xgb.train(how, data, 2).save_model(tmp_path / f"half.{form}")
    rest = xgb.train(how, data, 3, xgb_model=tmp_path / f"half.{form}")
    assert rest.get_dump() == whole.get_dump()
    np.testing.assert_array_equal(biases_of(rest), biases_of(whole))
    anew = xgb.train(params(objective="rank:ndcg", lambdarank_unbiased=0, max_depth=3), data, 5)
    assert anew.get_dump() != whole.get_dump()


def with_biases(high: List[float], low: List[float], path: Path) -> Path:
    """Saves a model of one round with other biases."""
    how = params(objective="rank:ndcg", lambdarank_unbiased=1, max_depth=3)
    xgb.train(how, clicked("rank:ndcg"), 1).save_model(path)
    model = json.loads(path.read_text())
    model["learner"]["objective"].update({"ti+": high, "tj-": low})
    path.write_text(json.dumps(model))
    return path


@only_ours
def test_biases_that_are_no_numbers_divide_nothing_and_stay(tmp_path: Path) -> None:
    """Stock XGBoost saves such biases once margins lie far apart."""
    data, path = clicked("rank:ndcg"), with_biases([np.nan] * 32, [np.nan] * 32, tmp_path / "model.json")
    assert np.isfinite(xgb.Booster(model_file=path).predict(data)).all()
    how = params(objective="rank:ndcg", max_depth=3)
    unbiased, plain = (xgb.train({**how, "lambdarank_unbiased": on}, data, 2, xgb_model=path) for on in (1, 0))
    assert np.isnan(biases_of(unbiased)).all()
    # The unit of their sums may be another.
    np.testing.assert_allclose(unbiased.predict(data), plain.predict(data), rtol=1e-5)


@only_ours
def test_biases_of_both_kinds_are_as_many(tmp_path: Path) -> None:
    path = with_biases([1.0, 1.0], [1.0], tmp_path / "model.json")
    with pytest.raises(xgb.core.XGBoostError, match=r"has 2 position biases ti\+ and 1 tj-; allowed: as many of either"):
        xgb.train(params(objective="rank:ndcg"), clicked("rank:ndcg"), 1, xgb_model=path)


DEFAULTS = {
    "lambdarank_pair_method": "topk",
    "lambdarank_num_pair_per_sample": 32,
    "lambdarank_normalization": 1,
    "lambdarank_score_normalization": 1,
    "ndcg_exp_gain": 1,
}


def ranked(seed: int, groups: int = 60) -> xgb.DMatrix:
    """Groups of 5 to 59 rows with grades 0 to 4 of a noisy score."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 60, groups)
    x = rng.normal(size=(sizes.sum(), 6)).astype(np.float32)
    score = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + np.abs(x[:, 3]) + rng.normal(size=len(x))
    data = xgb.DMatrix(x, np.clip(np.floor(score + 1), 0, 4))
    data.set_group(sizes)
    return data


def scores(data: xgb.DMatrix, rounds: int = 3, **how: Any) -> np.ndarray:
    return xgb.train(params(objective="rank:ndcg", max_depth=3, **how), data, rounds).predict(data)


@only_ours
def test_defaults_by_name() -> None:
    data = ranked(1)
    asked = {} if SERIES >= 200 else {"lambdarank_pair_method": "topk"}
    assert np.array_equal(scores(data, **asked), scores(data, **DEFAULTS))
    drawn = scores(data, lambdarank_pair_method="mean")
    one_draw = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 1}
    assert np.array_equal(drawn, scores(data, **{**DEFAULTS, **one_draw}))
    changes = {"lambdarank_num_pair_per_sample": 3, "lambdarank_pair_method": "mean"}
    for name in DEFAULTS:
        changed = scores(data, **{**DEFAULTS, name: changes.get(name, 0)})
        assert not np.array_equal(changed, scores(data, **DEFAULTS)), name


@in_its_series
def test_the_series_saves_these_defaults() -> None:
    booster = xgb.train(stock_params(objective="rank:ndcg"), ranked(1), 1)
    saved = json.loads(booster.save_config())["learner"]["objective"]["lambdarank_param"]
    not_given = {**DEFAULTS, "lambdarank_num_pair_per_sample": 2**32 - 1}
    assert {name: saved[name] for name in DEFAULTS} == {name: str(value) for name, value in not_given.items()}


@only_ours
@pytest.mark.parametrize("method", ["topk", "mean"])
def test_threads_do_not_show(method: str) -> None:
    data, how = ranked(2), dict(lambdarank_pair_method=method, lambdarank_num_pair_per_sample=5)
    one = scores(data, nthread=1, **how)
    assert np.array_equal(one, scores(data, nthread=3, **how))
    assert np.array_equal(one, scores(data, nthread=1, seed=9, **how)) == (method == "topk")


@in_its_series
@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg"])
def test_drawn_pairs_have_the_mean_of_stocks(objective: str) -> None:
    """The leaves of a stump, over 12 seeds: the means differ by less than 6 standard errors of their difference."""
    data = ranked(3, groups=20)
    how = dict(objective=objective, lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=20, max_depth=1)
    found = []
    for settings in (params(**how), stock_params(**how)):
        leaves_of = []
        for seed in range(12):
            booster = xgb.train({**settings, "seed": seed, "base_score": 0.5}, data, 1)
            margins = booster.predict(data, output_margin=True)
            leaves_of.append((margins.min(), margins.max()))
        found.append(np.array(leaves_of, np.float64))
    ours, stock = found
    error = np.sqrt((ours.var(axis=0, ddof=1) + stock.var(axis=0, ddof=1)) / 12)
    if SERIES >= 304:  # earlier ones draw the same pairs whatever the seed
        assert stock.std(axis=0).min() > 0
    assert (np.abs(ours.mean(axis=0) - stock.mean(axis=0)) < 6 * np.maximum(error, ours.std(axis=0))).all()


@in_its_series
def test_trainings_are_as_good_as_stocks() -> None:
    """NDCG@10 on other groups, over 5 sets: the mean difference is within 4 standard errors, or within .002."""
    found = []
    for seed in range(5):
        train, held_out = ranked(10 + seed, groups=150), ranked(50 + seed, groups=150)
        row = []
        for settings in (params, stock_params):
            history: Dict[str, Any] = {}
            how = settings(objective="rank:ndcg", eval_metric="ndcg@10", max_depth=4, eta=0.2)
            xgb.train(how, train, 15, evals=[(held_out, "held_out")], evals_result=history, verbose_eval=False)
            row.append(history["held_out"]["ndcg@10"][-1])
        found.append(row[0] - row[1])
    difference = np.array(found)
    assert abs(difference.mean()) < max(0.002, 4 * difference.std(ddof=1) / np.sqrt(len(found)))


ASKED = {"lambdarank_pair_method": "topk"}
BAD_LABELS = [
    ("rank:ndcg", {}, 1.5, ["row 3 is 1.5", "label must be either 0 or positive integer"]),
    ("rank:ndcg", {}, 32, ["row 3 is 32", "at most 31"]),
    ("rank:ndcg", {"ndcg_exp_gain": 0}, -1, ["row 3 is -1", "ndcg_exp_gain=0", "nonnegative"]),
    ("rank:map", {}, 2, ["row 3 is 2", "map can only be used with binary labels"]),
]


@only_ours
@pytest.mark.parametrize(("objective", "settings", "label", "parts"), BAD_LABELS, ids=str)
def test_labels_without_a_gain_are_refused(objective: str, settings: Dict, label: float, parts: List[str]) -> None:
    labels = np.array([0, 1, 1, label, 0], np.float32)
    data = xgb.DMatrix(np.arange(5.0)[:, None], labels)
    with pytest.raises(xgb.core.XGBoostError) as caught:
        # In XGBoost 3 the estimate of a base score refuses the labels first.
        xgb.train(params(objective=objective, eval_metric="rmse", base_score=0.5, **ASKED, **settings), data, 1)
    for part in parts:
        assert part in str(caught.value)


@only_ours
def test_gains_may_be_labels() -> None:
    """With ndcg_exp_gain=0 fractions are gains, and NDCG does not change with their unit."""
    data = ranked(4)
    halves = ranked(4)
    halves.set_label(data.get_label() / 2)
    assert np.array_equal(scores(data, **ASKED, ndcg_exp_gain=0), scores(halves, **ASKED, ndcg_exp_gain=0))


@only_ours
@in_1_7
def test_in_1_7_one_of_the_parameters_asks_for_lambdarank() -> None:
    data, held_out = ranked(5, groups=150), ranked(6, groups=150)
    for of_rank in ({"lambdarank_num_pair_per_sample": 32}, {"ndcg_exp_gain": "True"}):
        assert np.array_equal(scores(data, **of_rank), scores(data, **DEFAULTS))
    assert not np.array_equal(scores(data), scores(data, **DEFAULTS))
    found = {}
    for name, of_rank in (("drawn", {}), ("top", ASKED)):
        history: Dict[str, Any] = {}
        how = params(objective="rank:ndcg", eval_metric="ndcg@10", max_depth=4, eta=0.2, **of_rank)
        xgb.train(how, data, 15, evals=[(held_out, "held_out")], evals_result=history, verbose_eval=False)
        found[name] = history["held_out"]["ndcg@10"][-1]
    assert found["top"] > found["drawn"]


@only_ours
@in_1_7
@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_in_1_7_models_keep_the_parameters_and_stock_loads_them(suffix: str, tmp_path: Path) -> None:
    data, file, x = ranked(5), str(tmp_path / f"model.{suffix}"), str(tmp_path / "x.npy")
    how = params(objective="rank:ndcg", max_depth=3, lambdarank_num_pair_per_sample=5)
    whole = xgb.train(how, data, 6)
    half = xgb.train(how, data, 3)
    half.save_model(file)
    plain = params(objective="rank:ndcg", max_depth=3)
    again = xgb.train(plain, data, 3, xgb_model=file)
    assert np.array_equal(again.predict(data), whole.predict(data))

    np.save(x, np.eye(4, 6, dtype=np.float32))
    code = (
        "import sys, numpy, xgboost; m = xgboost.Booster(model_file=sys.argv[1]); "
        "print(m.predict(xgboost.DMatrix(numpy.load(sys.argv[2]))).tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code, file, x], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == half.predict(xgb.DMatrix(np.load(x))).tolist()


@only_ours
@in_1_7
@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("lambdarank_pair_method", "all", "topk, mean"),
        ("lambdarank_num_pair_per_sample", 0, "1 to 999999999"),
        ("lambdarank_num_pair_per_sample", "-1", "1 to 999999999"),
        ("lambdarank_normalization", 2, "0, 1, false, true"),
        ("lambdarank_unbiased", "yes", "0, 1, false, true"),
        ("lambdarank_bias_norm", "-1", "0 and more"),
    ],
)
def test_in_1_7_values_are_checked(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(xgb.core.XGBoostError, match=f"Parameter {name} is '{value}'; allowed: {allowed}"):
        scores(ranked(5), **{name: value})


@only_ours
@in_1_7
@pytest.mark.parametrize(
    "again", [lambda b: b, lambda b: b.copy(), lambda b: pickle.loads(pickle.dumps(b))], ids=["", "copy", "pickle"]
)
def test_in_1_7_parameters_may_be_set_between_rounds(again: Callable[[xgb.Booster], xgb.Booster]) -> None:
    data = ranked(5)
    how = params(objective="rank:ndcg", max_depth=3, **ASKED)

    def after(changes: Dict[str, Any]) -> List[str]:
        booster = again(xgb.train(how, data, 2))
        booster.set_param(changes)
        booster.update(data, 2)
        return booster.get_dump(with_stats=True)

    of_pairs = {"objective": "rank:pairwise", **ASKED}
    for changes in ({"lambdarank_num_pair_per_sample": 2}, {"ndcg_exp_gain": 0}, of_pairs):
        assert after(changes) == after({**how, **changes}) != after({})
    with pytest.raises(xgb.core.XGBoostError, match="lambdarank_num_pair_per_sample is 'many'; allowed: 1 to"):
        after({"lambdarank_num_pair_per_sample": "many"})


@only_ours
@in_1_7
def test_in_1_7_stock_trainings_do_not_take_them(capfd: pytest.CaptureFixture) -> None:
    how = stock_params(objective="rank:ndcg", max_depth=3, nthread=1, seed=3)
    data = ranked(5)
    plain = xgb.train(how, data, 2).predict(data)
    assert np.array_equal(xgb.train({**how, **ASKED}, data, 2).predict(data), plain)
    said = capfd.readouterr()
    assert "lambdarank_pair_method" in said.out + said.err  # of XGBoost: it is not used
