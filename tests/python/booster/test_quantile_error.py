"""reg:quantileerror of XGBoost 2.0 to 3.3, whose leaves are quantiles, and reg:expectileerror, beside stock `hist`.

test_smooth_errors.py has what is new in 3.4.
"""

from typing import Any, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import (
    SERIES,
    TREES_WITH_LEAVES_TO_SET,
    fresh,
    make_data,
    only_ours,
    params,
    raw,
    stock_params,
    train,
    trees_of,
)

pytestmark = pytest.mark.skipif(SERIES < 200, reason="XGBoost 1.7 does not have these objectives")

has_quantiles = pytest.mark.skipif(SERIES >= 304, reason="leaves are sums of a smooth loss, and no quantiles")
has_expectiles = pytest.mark.skipif(SERIES < 303, reason="only since XGBoost 3.3: expectiles")

X, Y = make_data(2000, 6, seed=11, missing=0.1)
#: Each value has a bin of its own.
GRID = np.clip(np.round(8 * X), -24, 24) + np.float32(0.25)
WEIGHT = np.random.default_rng(3).random(len(X)).astype(np.float32)
WEIGHT[::7] = 0
ALPHAS = [0.1, 0.5, 0.85]
OBJECTIVE = "reg:quantileerror"

DATA: Dict[str, Dict[str, Any]] = {
    "plain": dict(label=Y),
    "weighted": dict(label=Y, weight=WEIGHT),
    "ties": dict(label=np.round(2 * Y)),
    "weighted ties": dict(label=np.round(2 * Y), weight=WEIGHT),
    "margins": dict(label=Y, base_margin=np.linspace(-1, 1, 3 * len(X)).reshape(len(X), 3)),
}
SETTINGS: Dict[str, Dict[str, Any]] = {**TREES_WITH_LEAVES_TO_SET, "forest": dict(num_parallel_tree=3)}


def quantile(residuals: np.ndarray, weights: np.ndarray, alpha: float) -> np.float32:
    """By XGBoost's rule for weighted rows: sums of weights in float32, one after the other."""
    order = np.argsort(residuals, kind="stable")
    sums = np.cumsum(weights[order], dtype=np.float32)
    return residuals[order][np.searchsorted(sums, np.float32(float(sums[-1]) * float(np.float32(alpha))))]


@has_quantiles
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("case", DATA)
def test_trees_are_stocks(case: str, settings: str) -> None:
    if settings == "forest" and SERIES == 300:
        pytest.skip("stock 3.0 refuses forests of objectives that set leaves")
    data, model = xgb.DMatrix(GRID, **DATA[case]), None
    how = dict(objective=OBJECTIVE, quantile_alpha=ALPHAS, **SETTINGS[settings])
    same = of_all = 0
    for _ in range(3):
        ours, stock = (xgb.train(f(**how), data, 1, xgb_model=model) for f in (params, stock_params))
        number = len(ALPHAS) * int(how.get("num_parallel_tree", 1))
        model = stock
        for a, b in zip(trees_of(ours)[-number:], trees_of(stock)[-number:]):
            of_all += 1
            # Where a sum is rounded another way, another split may be the best: then leaves have other rows.
            if not (np.array_equal(a.left, b.left) and np.array_equal(a.feature, b.feature)):
                continue
            if np.array_equal(a.threshold[a.splits], b.threshold[b.splits]):
                assert np.array_equal(a.threshold, b.threshold)  # the bits, but for the sign of a zero
                same += 1
    assert same >= of_all / 3


@has_quantiles
@pytest.mark.parametrize("sample", [1.0, 0.5])
def test_leaves_are_quantiles_of_their_rows(sample: float) -> None:
    margin = np.repeat(np.linspace(-1, 1, len(X)).astype(np.float32)[:, None], 3, axis=1)
    data = xgb.DMatrix(X, Y, weight=WEIGHT, base_margin=margin)
    how = params(objective=OBJECTIVE, quantile_alpha=ALPHAS, max_depth=4, subsample=sample, eta=0.1)
    booster = xgb.Booster(how, [data])
    for number in range(3):
        booster.update(data, number)
        leaf_of = booster.predict(data, pred_leaf=True).reshape(len(X), -1)[:, -3:]
        for k, tree in enumerate(trees_of(booster)[-3:]):
            residual = Y - margin[:, k]  # before the round
            for leaf in tree.leaves:
                rows = (leaf_of[:, k] == leaf) & (WEIGHT > 0)
                if sample == 1.0:
                    found = quantile(residual[rows], WEIGHT[rows], ALPHAS[k])
                    assert tree.threshold[leaf] == np.float32(0.1) * found
                else:  # which rows of the leaf were in the sample is not known here
                    assert tree.threshold[leaf] in np.float32(0.1) * residual[rows]
        margin = booster.predict(data, output_margin=True)


def histories(objective: str, name: str, alphas: List[float], rounds: int) -> List[Dict[str, Any]]:
    half = len(X) // 2
    data, valid = xgb.DMatrix(GRID[:half], Y[:half]), xgb.DMatrix(GRID[half:], Y[half:])
    found = []
    for f in (params, stock_params):
        history: Dict[str, Any] = {}
        how = f(objective=objective, max_depth=4, eta=0.2, **{name: alphas})
        xgb.train(how, data, rounds, evals=[(valid, "v")], evals_result=history, verbose_eval=False)
        found.append(history["v"])
    return found


def test_the_loss_falls_as_stocks() -> None:
    ours, stock = histories(OBJECTIVE, "quantile_alpha", ALPHAS, 60)
    assert list(ours) == list(stock) == ["quantile"]
    assert ours["quantile"][-1] == pytest.approx(stock["quantile"][-1], rel=0.03)
    assert ours["quantile"][-1] < 0.8 * ours["quantile"][0]


@has_expectiles
@pytest.mark.parametrize("alphas", [[0.2], [0.2, 0.7]], ids=str)
def test_the_loss_of_expectiles_falls_as_stocks(alphas: List[float]) -> None:
    ours, stock = histories("reg:expectileerror", "expectile_alpha", alphas, 60)
    # With equal bins no split was decided by rounding. What is left is the rounding of leaves.
    assert ours["expectile"] == pytest.approx(stock["expectile"], rel=1e-4)
    assert ours["expectile"][-1] < 0.8 * ours["expectile"][0]


@has_quantiles
@only_ours
def test_shares_of_rows_below_are_the_alphas() -> None:
    data = xgb.DMatrix(X, Y)
    booster = train(data, 80, objective=OBJECTIVE, quantile_alpha=ALPHAS, max_depth=3, eta=0.2)
    below = (Y[:, None] < booster.predict(data)).mean(axis=0)
    assert np.all(np.abs(below - ALPHAS) < 0.06)


@only_ours
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
def test_threads_and_ways_to_continue_do_not_show(weighted: bool) -> None:
    data = xgb.DMatrix(X, Y, weight=WEIGHT if weighted else None)
    how = dict(objective=OBJECTIVE, quantile_alpha=ALPHAS, subsample=0.6, seed=4)
    one = train(data, 6, nthread=1, **how)
    assert raw(one) == raw(train(data, 6, nthread=4, **how))
    begun = train(data, 3, nthread=2, **how)
    loaded = xgb.Booster(params(), model_file=bytearray(begun.save_raw("ubj")))
    continued = xgb.train(params(**how), data, 3, xgb_model=loaded)
    assert [t.threshold.tobytes() for t in trees_of(continued)] == [t.threshold.tobytes() for t in trees_of(one)]


@only_ours
@pytest.mark.parametrize(
    "how",
    [
        dict(),
        dict(num_parallel_tree=3, subsample=0.7),
        dict(booster="dart", rate_drop=0.4, one_drop=1, seed=2),
        dict(sampling_method="goss"),
        dict(grow_policy="symmetric", max_depth=3),
    ],
    ids=str,
)
def test_everybody_sees_the_new_leaves(how: Dict[str, Any]) -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(objective=OBJECTIVE, quantile_alpha=ALPHAS, **how), [data])
    for number in range(5):
        booster.update(data, number)
        assert np.array_equal(booster.predict(data), fresh(booster).predict(xgb.DMatrix(X)))


@only_ours
@has_quantiles
def test_alphas_may_change_between_rounds() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.Booster(params(objective=OBJECTIVE, quantile_alpha=0.5, max_depth=1), [data])
    booster.update(data, 0)
    booster.set_param({"quantile_alpha": 0.9})
    before = booster.predict(data)
    booster.update(data, 1)
    tree, leaf_of = trees_of(booster)[-1], booster.predict(data, pred_leaf=True).reshape(len(X), -1)[:, -1]
    for leaf in tree.leaves:
        residual = np.sort((Y - before)[leaf_of == leaf])
        low, high = np.quantile(residual, [0.89, 0.91])
        assert low <= tree.threshold[leaf] / np.float32(0.3) <= high


@only_ours
def test_several_labels_a_row_are_refused() -> None:
    data = xgb.DMatrix(X, np.stack([Y, Y], axis=1))
    with pytest.raises(xgb.core.XGBoostError, match="(?i)multi-target is not yet supported"):
        train(data, 1, objective=OBJECTIVE, quantile_alpha=0.5)


@only_ours
def test_no_line_says_that_xgboost_computes_them(capfd: pytest.CaptureFixture) -> None:
    with xgb.config_context(verbosity=2):
        train(xgb.DMatrix(X, Y), 1, objective=OBJECTIVE, quantile_alpha=0.5, verbosity=2)
    said = capfd.readouterr()
    assert "XGBoost computes it" not in said.out + said.err
