"""Names of categories in the frames of a DataIter, which XGBoost 3.1 and newer take from the first batch.

A code means the category that the first batch has in its place. A batch that lists others there is an error when a round
begins, and when a booster of ours predicts.
"""

import json
from typing import Any, Callable, Dict, List, Optional

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from support import BACKEND, Batches, only_ours, only_since, params, raw, stock_params

pytestmark = only_since(301, "names of categories are not kept")

ROWS = 400
ENDS = [100, 250, 300]
TOWNS, SIZES = list("abcde"), [10, 20, 30, 40]
RNG = np.random.default_rng(11)
TOWN, SIZE, NUMBER = RNG.integers(0, 5, ROWS), RNG.integers(0, 4, ROWS), RNG.normal(size=ROWS).astype(np.float32)
Y = (np.array([5, -3, 1, 0, 2])[TOWN] + np.array([0, 2, -2, 1])[SIZE] + 0.1 * NUMBER).astype(np.float32)


def frame(rows: slice, towns: List[Any] = TOWNS, sizes: Any = SIZES) -> pd.DataFrame:
    """Rows whose towns and sizes are in these lists; others are missing."""
    return pd.DataFrame(
        {
            "town": pd.Categorical(np.array(TOWNS, dtype=object)[TOWN[rows]], towns),
            "number": NUMBER[rows],
            "size": pd.Categorical(np.array(SIZES)[SIZE[rows]], sizes),
        }
    )


class Frames(Batches):
    """Batches that are frames. `others`: what frame() gets for a batch by its number. `reference`: by number, too."""

    def __init__(
        self,
        others: Optional[Dict[int, Dict[str, Any]]] = None,
        cache: Optional[str] = None,
        reference: Optional[Callable[[int], Any]] = None,
    ) -> None:
        super().__init__(NUMBER[:, np.newaxis], Y, ENDS, cache)
        self.others, self.reference = others or {}, reference

    def next(self, input_data: Callable) -> int:
        if self.at == len(self.begins):
            return 0
        rows = slice(self.begins[self.at], self.ends[self.at])
        data = frame(rows, **self.others.get(self.at, {}))
        types = {} if self.reference is None else {"feature_types": self.reference(self.at)}
        input_data(data=data, label=Y[rows], **types)
        self.at += 1
        return 1


def make_dmatrix(path: Any, others: Any = None, reference: Any = None) -> xgb.DMatrix:
    return xgb.DMatrix(Frames(others, str(path / "cache"), reference), enable_categorical=True)


def make_quantile(path: Any, others: Any = None, reference: Any = None) -> xgb.DMatrix:
    return xgb.QuantileDMatrix(Frames(others, None, reference), enable_categorical=True)


def make_external(path: Any, others: Any = None, reference: Any = None) -> xgb.DMatrix:
    return xgb.ExtMemQuantileDMatrix(Frames(others, str(path / "cache"), reference), enable_categorical=True)


Make = Callable[..., xgb.DMatrix]
MAKES: Dict[str, Make] = {
    "DMatrix": make_dmatrix,
    "QuantileDMatrix": make_quantile,
    "ExtMemQuantileDMatrix": make_external,
}
makes = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
#: Those that gpu_hist trains on.
trains = pytest.mark.parametrize("make", [make_dmatrix, make_quantile], ids=["DMatrix", "QuantileDMatrix"])

#: Frames of batches that are no frames of one training, and what an error says of them.
MIXED = {
    "the second": ({1: dict(towns=list("bacde"))}, "Category 0 of column 0 is 'b' in batch 1 and 'a' in batch 0"),
    "the last": ({3: dict(towns=list("abced"))}, "Category 3 of column 0 is 'e' in batch 3 and 'd' in batch 0"),
    "the first": ({0: dict(sizes=[20, 10, 30, 40])}, "Category 0 of column 2 is '10' in batch 1 and '20' in batch 0"),
    "two": (
        {2: dict(sizes=[10, 20, 40, 30]), 3: dict(towns=list("bacde"))},
        "Category 2 of column 2 is '40' in batch 2 and '30' in batch 0",
    ),
    "another name": (
        {1: dict(towns=["a", "b", "c", "d", "elsewhere"])},
        "Category 4 of column 0 is 'elsewhere' in batch 1 and 'e' in batch 0",
    ),
    # XGBoost counts the categories of all columns together.
    "more": ({1: dict(towns=list("abcdef"), sizes=[10, 20, 30])}, "Column 0 has 6 categories in batch 1 and 5 in batch 0"),
    "of text": (
        {1: dict(sizes=pd.Index(["10", "20", "30", "40"], dtype=object))},
        "Column 2 has categories of text in batch 1 and categories of numbers in batch 0",
    ),
}
mixed = pytest.mark.parametrize("kind", MIXED)

#: Frames of batches in which a code is the same category.
ALIKE = {
    "equal": {},
    "numbers of another width": {2: dict(sizes=pd.Index(np.array(SIZES, dtype=np.int16)))},
}
METHODS: Dict[str, Dict[str, Any]] = {
    "hist": {},
    "lossguide": dict(grow_policy="lossguide", max_leaves=8),
    "symmetric": dict(grow_policy="symmetric"),
    "dart": dict(booster="dart", rate_drop=0.5),
    "forest": dict(num_parallel_tree=2),
}


def settings(**others: Any) -> Dict[str, Any]:
    return params(**{"max_depth": 3, "nthread": 1, **others})


def whole() -> xgb.DMatrix:
    return xgb.DMatrix(frame(slice(None)), Y, enable_categorical=True)


@only_ours  # stock trains on codes that mean several things
@mixed
@trains
def test_other_categories(make: Make, kind: str, tmp_path: Any) -> None:
    others, text = MIXED[kind]
    data = make(tmp_path, others)
    booster = xgb.Booster(settings(), [data])
    for _ in range(2):  # the second attempt is as bad as the first one
        with pytest.raises(xgb.core.XGBoostError, match=text + ".*; allowed: "):
            booster.update(data, 0)
    assert booster.num_boosted_rounds() == 0


@only_ours
@pytest.mark.parametrize("method", METHODS)
@trains
def test_every_kind_of_trees(make: Make, method: str, tmp_path: Any) -> None:
    others, text = MIXED["the second"]
    with pytest.raises(xgb.core.XGBoostError, match=text):
        xgb.train(settings(**METHODS[method]), make(tmp_path, others), 1)


@only_ours
@pytest.mark.parametrize("updater", ["refresh", "prune"])
def test_trees_that_are_updated(updater: str, tmp_path: Any) -> None:
    others, text = MIXED["the second"]
    booster = xgb.train(settings(), whole(), 2)
    before = raw(booster)
    with pytest.raises(xgb.core.XGBoostError, match=text):
        xgb.train(
            settings(process_type="update", updater=updater), make_dmatrix(tmp_path, others), 2, xgb_model=booster
        )
    assert raw(booster) == before


@pytest.mark.parametrize("kind", ALIKE)
@makes
def test_the_same_categories(make: Make, kind: str, tmp_path: Any) -> None:
    data, wanted = make(tmp_path, ALIKE[kind]), whole()
    booster = xgb.train(settings(), wanted, 3)
    assert np.array_equal(booster.predict(data), booster.predict(make(tmp_path)))
    assert np.ptp(booster.predict(data)) > 1
    if make is not make_external:
        of_batches = xgb.train(settings(), data, 3)
        assert raw(of_batches) == raw(xgb.train(settings(), make(tmp_path), 3))
        assert np.corrcoef(of_batches.predict(wanted), Y)[0, 1] > 0.8


@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix], ids=["DMatrix", "QuantileDMatrix"])
def test_one_iterator_for_two_matrices(make: Any, tmp_path: Any) -> None:
    """What was wrong with the batches of one matrix is not wrong with those of the next."""
    batches = Frames(MIXED["the first"][0], str(tmp_path / "cache") if make is xgb.DMatrix else None)
    make(batches, enable_categorical=True)
    batches.others = {number: dict(sizes=[20, 10, 30, 40]) for number in range(4)}
    booster = xgb.train(settings(), make(batches, enable_categorical=True), 3)
    assert np.corrcoef(booster.predict(whole()), Y)[0, 1] > 0.8


@trains
def test_fewer_categories(make: Make, tmp_path: Any) -> None:
    """XGBoost counts the categories of a batch when it makes the matrix."""
    with pytest.raises(xgb.core.XGBoostError, match="Inconsistent number of categories between batches"):
        make(tmp_path, {1: dict(sizes=[10, 20, 30])})


@only_ours
@mixed
@makes
def test_evaluation(make: Make, kind: str, tmp_path: Any) -> None:
    others, text = MIXED[kind]
    booster = xgb.train(settings(), whole(), 2)
    with pytest.raises(xgb.core.XGBoostError, match=text):
        booster.eval(make(tmp_path, others))


@only_ours
@pytest.mark.parametrize("quantised", [False, True])
def test_evaluation_in_a_training(quantised: bool, tmp_path: Any) -> None:
    others, text = MIXED["the second"]
    data = make_quantile(tmp_path) if quantised else make_dmatrix(tmp_path)
    more = {"ref": data} if quantised else {}
    evaluated = type(data)(Frames(others, None if quantised else str(tmp_path / "more")), enable_categorical=True, **more)
    with pytest.raises(xgb.core.XGBoostError, match=text):
        xgb.train(settings(), data, 2, evals=[(evaluated, "of")], verbose_eval=False)


RESULTS: Dict[str, Dict[str, Any]] = {
    "predictions": {},
    "margins": dict(output_margin=True),
    "leaves": dict(pred_leaf=True),
    "contributions": dict(pred_contribs=True),
    "interactions": dict(pred_interactions=True),
}


@only_ours
@mixed
@pytest.mark.parametrize("result", RESULTS)
def test_predictions(kind: str, result: str, tmp_path: Any) -> None:
    others, text = MIXED[kind]
    booster = xgb.train(settings(), whole(), 2)
    with pytest.raises(xgb.core.XGBoostError, match=text):
        booster.predict(make_dmatrix(tmp_path, others), **RESULTS[result])


@only_ours
@makes
def test_predictions_of_every_matrix(make: Make, tmp_path: Any) -> None:
    others, text = MIXED["the second"]
    booster = xgb.train(settings(), whole(), 2)
    with pytest.raises(xgb.core.XGBoostError, match=text):
        booster.predict(make(tmp_path, others))


@only_ours
@makes
def test_predictions_of_a_model_of_codes(make: Make, tmp_path: Any) -> None:
    """The model has no names that those of the matrix could be compared with."""
    codes = np.stack([TOWN, NUMBER, SIZE], axis=1).astype(np.float32)
    names = ["town", "number", "size"]
    data = xgb.DMatrix(codes, Y, feature_names=names, feature_types=["c", "q", "c"], enable_categorical=True)
    booster = xgb.train(settings(), data, 2)
    others, text = MIXED["the second"]
    with pytest.raises(xgb.core.XGBoostError, match=text):
        booster.predict(make(tmp_path, others))


@trains
def test_batches_of_one_reference(make: Make, tmp_path: Any) -> None:
    """Frames that get the order of a model when the matrix is made may list their categories in any order."""
    first = xgb.train(settings(), whole(), 2)
    data = make(tmp_path, {1: dict(towns=TOWNS[::-1])}, lambda number: first.get_categories())
    more = xgb.train(settings(), data, 2, xgb_model=first)
    wanted = xgb.train(settings(), make(tmp_path), 2, xgb_model=first)
    assert np.array_equal(more.predict(whole()), wanted.predict(whole()))


@only_ours
@pytest.mark.parametrize("without", [0, 2])
@trains
def test_a_reference_of_some_batches(make: Make, without: int, tmp_path: Any) -> None:
    first = xgb.train(settings(), xgb.DMatrix(frame(slice(None), TOWNS[::-1]), Y, enable_categorical=True), 2)
    data = make(tmp_path, None, lambda number: None if number == without else first.get_categories())
    has = "no reference .*in batch 2 and one in batch 0" if without else "a reference .*in batch 1 and none in batch 0"
    with pytest.raises(xgb.core.XGBoostError, match=has):
        xgb.train(settings(), data, 2)


@only_ours
@makes
def test_codes_of_another_model(make: Make, tmp_path: Any) -> None:
    """Batches that were coded when their matrix was made are not coded again."""
    other = xgb.train(settings(), xgb.DMatrix(frame(slice(None), TOWNS[::-1]), Y, enable_categorical=True), 2)
    coded = make(tmp_path, None, lambda number: other.get_categories())
    assert np.ptp(other.predict(coded)) > 1
    with pytest.raises(xgb.core.XGBoostError, match="Category 0 of column 0 is 'e' in the data and 'a' in the model"):
        xgb.train(settings(), whole(), 2).predict(coded)


class NamesByHand(xgb.core.DataIter):
    """Two batches of one column whose names, in the second one, have a mask, which XGBoost does not read."""

    def __init__(self) -> None:
        self.at = 0
        self.offsets, self.text = np.arange(6, dtype=np.int32), np.frombuffer(b"abcde", np.int8)
        self.mask, self.codes = np.array([31], np.uint8), TOWN[:100].astype(np.float32)
        super().__init__()

    def next(self, input_data: Callable) -> int:
        def described(array: np.ndarray) -> Dict[str, Any]:
            return {name: of for name, of in array.__array_interface__.items() if name != "descr"}

        if self.at == 2:
            return 0
        names = {"offsets": described(self.offsets), "values": described(self.text)}
        if self.at == 1:
            names["values"]["mask"] = {**described(self.mask), "typestr": "|t1", "shape": [5]}
        columns = json.dumps([[names, described(self.codes)]]).encode()
        assert xgb.core._LIB.XGProxyDMatrixSetDataColumnar(self.proxy.handle, columns) == 0
        self.proxy.set_info(label=Y[:100], feature_types=["c"])
        self.at += 1
        return 1

    def reset(self) -> None:
        self.at = 0


@only_ours
def test_names_that_cannot_be_compared() -> None:
    data = xgb.QuantileDMatrix(NamesByHand(), enable_categorical=True)
    with pytest.raises(xgb.core.XGBoostError, match="names of categories in batch 1 cannot be compared: .*; allowed: "):
        xgb.train(settings(), data, 1)


@pytest.mark.skipif(BACKEND != "host", reason="of stock code")
@mixed
@makes
def test_stock_trees(make: Make, kind: str, tmp_path: Any) -> None:
    """What stock tree methods do with such batches is left as it is."""
    data = make(tmp_path, MIXED[kind][0])
    booster = xgb.train(stock_params(max_depth=3, nthread=1), data, 2)
    assert booster.num_boosted_rounds() == 2 and np.ptp(booster.predict(data)) > 1
