"""Names of categories, by which XGBoost 3.1 and newer translate the codes of a frame into those of the training.

A frame that lists its categories in another order, or fewer of them, gets what the same rows get in the order of the
training, from every function. A name that the training did not have is an error.
"""

import pickle
from functools import partial
from typing import Any, Dict, List, Tuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from support import BACKEND, OURS, SERIES, fresh, model_of, only_ours, only_since, params, raw

DMatrix = partial(xgb.DMatrix, enable_categorical=True)
QuantileDMatrix = partial(xgb.QuantileDMatrix, enable_categorical=True)

pytestmark = only_since(301, "names of categories are not kept")

#: More rows than a device is worth the way for, or, of one thread, than a large prediction of symmetric trees has.
ROWS = 2**18 + 5 if BACKEND == "cuda" else 5000
FEW = 600
ROUNDS = 8 if BACKEND == "host" else 70
TOWNS, SIZES = list("abcdefghij"), [10, 20, 30, 40, 50]
RNG = np.random.default_rng(5)
TOWN, SIZE, NUMBER = RNG.integers(0, 10, ROWS), RNG.integers(0, 5, ROWS), RNG.normal(size=ROWS)
Y = (RNG.normal(size=10)[TOWN] * 2 + RNG.normal(size=5)[SIZE] + 0.3 * NUMBER).astype(np.float32)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6])).astype(np.float32)


def frame(towns: List[Any], sizes: List[Any], rows: Any = slice(None)) -> pd.DataFrame:
    """The same rows with other lists of categories. Some towns are missing."""
    town = pd.Series(np.array(TOWNS, dtype=object)[TOWN[rows]])
    town[np.arange(len(town)) % 11 == 0] = np.nan
    return pd.DataFrame(
        {
            "town": pd.Categorical(town, towns),
            "number": NUMBER[rows],
            "size": pd.Categorical(np.array(SIZES)[SIZE[rows]], sizes),
        }
    )


#: Rows that have neither the first two towns nor the first size.
SOME = np.flatnonzero((TOWN > 1) & (SIZE > 0))
TRAINING = frame(TOWNS, SIZES)
FRAMES: Dict[str, Tuple[pd.DataFrame, pd.DataFrame]] = {
    "another order": (frame(TOWNS[::-1], SIZES[2:] + SIZES[:2]), TRAINING),
    "fewer": (frame(TOWNS[:1:-1], SIZES[1:], SOME), frame(TOWNS, SIZES, SOME)),
}
UNSEEN = frame(TOWNS + ["elsewhere"], SIZES)
#: Stock code of 3.1 and 3.2 takes such a name for the one that follows in the alphabet.
finds_unseen = pytest.mark.skipif(not OURS and SERIES < 303, reason="stock code of this series has another category")
SAYS_UNSEEN = "category not in the training set for the 0th .*elsewhere"

CASES: Dict[str, Dict[str, Any]] = {
    "plain": {},
    "one by one": dict(max_cat_to_onehot=100),
    "lossguide": dict(grow_policy="lossguide", max_leaves=12),
    "classes": dict(objective="multi:softprob", num_class=3),
    "forest": dict(num_parallel_tree=2, subsample=0.7),
    "dart": dict(booster="dart", rate_drop=0.3, seed=3),
}
if OURS:
    CASES["symmetric"] = dict(grow_policy="symmetric")
if SERIES >= 304:
    CASES["vectors"] = dict(objective="multi:softprob", num_class=3, multi_strategy="multi_output_tree")

#: Until 3.3 what they draw depends on the trainings before.
DRAWING = ["dart"] if OURS else ["dart", "forest"]

_MODELS: Dict[str, xgb.Booster] = {}


def settings(case: str) -> Dict[str, Any]:
    return params(**{"max_depth": 4, "nthread": 1, **CASES[case]})


def labels(case: str) -> np.ndarray:
    return CLASSES if "num_class" in CASES[case] else Y


def model(case: str) -> xgb.Booster:
    if case not in _MODELS:
        _MODELS[case] = xgb.train(settings(case), DMatrix(TRAINING, labels(case)), ROUNDS)
        assert any(tree["categories_nodes"] for tree in model_of(_MODELS[case])["trees"])
    return _MODELS[case]


def again(case: str) -> xgb.Booster:
    """The model without anything cached."""
    booster = fresh(model(case))
    booster.set_param(settings(case))
    return booster


RESULTS: Dict[str, Dict[str, Any]] = {
    "predictions": {},
    "margins": dict(output_margin=True),
    "some rounds": dict(iteration_range=(1, ROUNDS - 1)),
    "leaves": dict(pred_leaf=True),
    "contributions": dict(pred_contribs=True),
    "approximate": dict(pred_contribs=True, approx_contribs=True),
    "interactions": dict(pred_interactions=True),
}
#: XGBoost does not have them of trees of vectors.
LACKING = [("vectors", "approximate"), ("vectors", "interactions")]


def of_case_and_result() -> List[Tuple[str, str]]:
    return [(case, result) for case in CASES for result in RESULTS if (case, result) not in LACKING]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(("case", "result"), of_case_and_result())
def test_results_do_not_depend_on_the_order(case: str, result: str, kind: str) -> None:
    how = RESULTS[result]
    explains = result in ("contributions", "approximate", "interactions")
    other, same = (of[:FEW] if explains else of for of in FRAMES[kind])
    booster = again(case)
    given = booster.predict(DMatrix(same), **how)
    assert np.ptp(given) > 0
    assert np.array_equal(booster.predict(DMatrix(other), **how), given)
    if not explains and result != "leaves":
        binned = booster.predict(QuantileDMatrix(same), **how)
        assert np.array_equal(booster.predict(QuantileDMatrix(other), **how), binned)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("case", CASES)
def test_in_place(case: str, kind: str) -> None:
    other, same = FRAMES[kind]
    assert np.array_equal(model(case).inplace_predict(other), model(case).inplace_predict(same))


@finds_unseen
@pytest.mark.parametrize(("case", "result"), of_case_and_result())
def test_a_name_that_the_training_did_not_have(case: str, result: str) -> None:
    booster = again(case)
    with pytest.raises(xgb.core.XGBoostError, match=SAYS_UNSEEN):
        booster.predict(DMatrix(UNSEEN), **RESULTS[result])
    with pytest.raises(xgb.core.XGBoostError, match=SAYS_UNSEEN):
        booster.inplace_predict(UNSEEN)


@pytest.mark.parametrize("result", RESULTS)
def test_names_of_another_type(result: str) -> None:
    towns = TRAINING.assign(town=pd.Categorical(TOWN))
    with pytest.raises(xgb.core.XGBoostError, match="0th feature .*index type must match"):
        model("plain").predict(DMatrix(towns), **RESULTS[result])


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("case", CASES)
def test_evaluation(case: str, kind: str) -> None:
    def history(of: pd.DataFrame, label: np.ndarray) -> Dict[str, Any]:
        seen: Dict[str, Any] = {}
        data = DMatrix(TRAINING, labels(case))
        evals = [(DMatrix(of, label), "of")]
        xgb.train(settings(case), data, 5, evals=evals, evals_result=seen, verbose_eval=False)
        return seen["of"]

    other, same = FRAMES[kind]
    label = labels(case)[SOME] if kind == "fewer" else labels(case)
    assert history(other, label) == history(same, label)
    if kind == "fewer" or (not OURS and SERIES < 303):
        return
    with pytest.raises(xgb.core.XGBoostError, match=SAYS_UNSEEN):
        history(UNSEEN, label)


SLICE = pytest.param("slice", marks=pytest.mark.skipif(not OURS and SERIES < 304, reason="stock slices have no names"))


@pytest.mark.parametrize("form", ["json", "ubj", "pickle", SLICE])
def test_models_keep_the_names(form: str) -> None:
    booster = model("plain")
    if form == "pickle":
        again = pickle.loads(pickle.dumps(booster))
    elif form == "slice":
        again = booster[:ROUNDS]
    else:
        again = xgb.Booster(params(), model_file=bytearray(booster.save_raw(form)))
    other, same = (of[:FEW] for of in FRAMES["another order"])
    for result in RESULTS:
        given = booster.predict(DMatrix(same), **RESULTS[result])
        assert np.array_equal(again.predict(DMatrix(other), **RESULTS[result]), given), result


@pytest.mark.parametrize("case", [case for case in CASES if SERIES >= 303 or case not in DRAWING])
def test_a_training_goes_on(case: str) -> None:
    """In the order of the model, which a frame takes that names it."""
    first, other = model(case), FRAMES["another order"][0]
    data = DMatrix(other, labels(case), feature_types=first.get_categories())
    more = xgb.train(settings(case), data, 3, xgb_model=first)
    wanted = xgb.train(settings(case), DMatrix(TRAINING, labels(case)), 3, xgb_model=first)
    assert raw(more) == raw(wanted)


@only_ours  # stock trains on codes of two kinds
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("case", [*CASES, "refresh", "prune"])
def test_a_training_goes_on_in_no_other_order(case: str, kind: str) -> None:
    how = dict(process_type="update", updater=case) if case in ("refresh", "prune") else {}
    case = "plain" if how else case
    label = labels(case)[SOME] if kind == "fewer" else labels(case)
    before = raw(model(case))
    with pytest.raises(xgb.core.XGBoostError, match="Category 0 of column 0 is 'j' in the data and 'a' in the model"):
        xgb.train({**settings(case), **how}, DMatrix(FRAMES[kind][0], label), 2, xgb_model=model(case))
    assert raw(model(case)) == before
    with pytest.raises(xgb.core.XGBoostError, match=SAYS_UNSEEN):
        xgb.train({**settings(case), **how}, DMatrix(UNSEEN, labels(case)), 2, xgb_model=model(case))
    first = frame(TOWNS[:8], SIZES, TOWN < 8)
    with pytest.raises(xgb.core.XGBoostError, match="Column 0 has 8 categories in the data and 10 in the model"):
        xgb.train({**settings(case), **how}, DMatrix(first, labels(case)[TOWN < 8]), 2, xgb_model=model(case))


@only_ours  # stock predicts for other categories
@pytest.mark.parametrize("make", [DMatrix, QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
def test_codes_of_another_model(make: Any) -> None:
    """A frame that was coded when its matrix was made is not coded again."""
    other = xgb.train(settings("plain"), DMatrix(FRAMES["another order"][0], Y), 2)
    coded = make(TRAINING, feature_types=other.get_categories())
    assert np.array_equal(other.predict(coded), other.predict(make(TRAINING)))
    for how in [{}] if make is QuantileDMatrix else [{}, RESULTS["leaves"], RESULTS["contributions"]]:
        with pytest.raises(xgb.core.XGBoostError, match="Category 0 of column 0 is 'j' in the data and 'a' in the model"):
            model("plain").predict(coded, **how)


@only_ours
def test_another_model_on_the_same_matrix() -> None:
    """The names of a matrix are compared with those of the model that it now trains."""
    other = DMatrix(FRAMES["another order"][0], Y)
    booster = xgb.Booster(params(nthread=1), [other])
    booster.update(other, 0)
    booster.update(other, 1)
    booster.load_model(bytearray(model("plain").save_raw("ubj")))
    booster.set_param(params(nthread=1))
    with pytest.raises(xgb.core.XGBoostError, match="column 0"):
        booster.update(other, ROUNDS)


def test_codes_without_names_are_those_of_the_model() -> None:
    def codes(of: pd.DataFrame, label: Any = None) -> xgb.DMatrix:
        columns = [of["town"].cat.codes.replace(-1, np.nan), of["number"], of["size"].cat.codes]
        return DMatrix(np.stack(columns, axis=1), label, feature_names=list(of), feature_types=["c", "float", "c"])

    assert np.array_equal(model("plain").predict(codes(TRAINING)), model("plain").predict(DMatrix(TRAINING)))
    booster = xgb.train(settings("plain"), codes(TRAINING, Y), 3)
    other = FRAMES["another order"][0]
    for result in ("predictions", "contributions"):
        given = booster.predict(codes(other), **RESULTS[result])
        assert np.array_equal(booster.predict(DMatrix(other), **RESULTS[result]), given)
    more = xgb.train(settings("plain"), DMatrix(TRAINING, Y), 2, xgb_model=booster)
    assert more.num_boosted_rounds() == 5
