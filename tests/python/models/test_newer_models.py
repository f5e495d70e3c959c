"""Models that XGBoost 2.0 to 3.4 wrote: read by 1.7 as they were meant, or refused with both versions and the reason.

In newer series XGBoost reads them itself. There the models of that series and earlier ones are tested: they predict with
the library loaded what they predict where they are from.

newer_models.zip has the files, and what the XGBoost that wrote each predicts with it; make_newer_models.py made it.
Stock XGBoost 1.7 takes a base score in a list for none, and the trees of a dart of 3.3 and newer for those of a gbtree.
Those two put the weights of trees in different places.
"""

import json
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import xgboost as xgb
from support import METHOD, SERIES, only_before, only_ours, params

pytestmark = only_ours

FILES = zipfile.ZipFile(Path(__file__).with_name("newer_models.zip"))
VERSIONS = ("2.1.4", "3.0.5", "3.2.0", "3.3.0", "3.4.1")
EXPECTED = {version: json.loads(FILES.read(f"{version}/expected.json")) for version in VERSIONS}

#: Why a model is refused, by name.
REFUSED = {
    "rank": "the objective 'rank:ndcg' is another since 2.0",
    "vector": "leaves of tree 0 are vectors of 2 numbers",
    "quantile": "the objective 'reg:quantileerror' is not among those of 1.7",
    "expectile": "the objective 'reg:expectileerror' is not among those of 1.7",
    "softprob": "base scores of 3 classes differ",
    "targets": "base scores of 2 targets differ",
    "names": "names of categories",
    "numbers": "names of categories",
}

MODELS = sorted(name.rsplit(".", 1)[0] for name in FILES.namelist() if name.endswith(".ubj"))
by_17 = only_before(200, "XGBoost reads models itself")


def is_read(model: str) -> bool:
    version, name = model.split("/")
    if SERIES < 200:
        return name not in REFUSED
    major, minor, _ = map(int, version.split("."))
    # A frame has names. Leaves of several numbers are written otherwise since 3.2.
    is_kept = name not in ("names", "numbers", "vector") or (name == "vector" and 100 * major + minor >= 302)
    return 100 * major + minor <= SERIES and is_kept


READ = [model for model in MODELS if is_read(model)]
NOT_READ = [model for model in MODELS if model not in READ]


def content(model: str, form: str) -> bytes:
    return FILES.read(f"{model}.{form}")


def from_bytes(model: str, form: str, _: Path) -> xgb.Booster:
    return xgb.Booster(model_file=bytearray(content(model, form)))


def from_file(model: str, form: str, folder: Path) -> xgb.Booster:
    file = folder / f"model.{form}"
    file.write_bytes(content(model, form))
    return xgb.Booster(model_file=file)


def from_file_of_any_name(model: str, form: str, folder: Path) -> xgb.Booster:
    file = folder / "0003.model"
    file.write_bytes(content(model, form))
    booster = xgb.Booster(params())
    booster.load_model(str(file))
    return booster


WAYS = [(way, form) for way in (from_bytes, from_file, from_file_of_any_name) for form in ("json", "ubj")]
PICKLED = sorted(name.rsplit(".", 1)[0] for name in FILES.namelist() if name.endswith(".pickle"))


def rows_of(model: str) -> np.ndarray:
    version, name = model.split("/")
    return np.array(EXPECTED[version]["codes" if name == "codes" else "rows"], dtype=np.float32)


def matrix_of(model: str, booster: xgb.Booster) -> xgb.DMatrix:
    types = {"feature_types": ["q", "c", "q"], "enable_categorical": True} if model.endswith("/codes") else {}
    return xgb.DMatrix(rows_of(model), feature_names=booster.feature_names, **types)


def assert_predicts(model: str, booster: xgb.Booster) -> None:
    """Margins are sums of the same numbers in the same order. Their transformations may come from another libm, whose
    results differ in the last bit or two: 2^-22 of them."""
    version, name = model.split("/")
    data = matrix_of(model, booster)
    if name in EXPECTED[version]["margins"]:
        assert booster.predict(data, output_margin=True).tolist() == EXPECTED[version]["margins"][name]
    expected = np.array(EXPECTED[version]["predictions"][name])
    if name == "classifier":
        expected = expected[:, 1]  # both probabilities are there
    np.testing.assert_allclose(booster.predict(data), expected, rtol=2**-22)


def reason(load: Callable[[], Any]) -> str:
    with pytest.raises(xgb.core.XGBoostError) as error:
        load()
    message = str(error.value)
    assert "./" not in message and "Stack trace" not in message and "Check failed" not in message
    return message


def edited(model: str, change: Callable[[Dict[str, Any]], Any]) -> bytearray:
    parts = json.loads(content(model, "json"))
    change(parts)
    return bytearray(json.dumps(parts).encode())


def with_base_score(text: str) -> Callable[[Dict[str, Any]], None]:
    def change(model: Dict[str, Any]) -> None:
        model["learner"]["learner_model_param"]["base_score"] = text

    return change


@pytest.mark.parametrize("way, form", WAYS, ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("model", READ)
def test_a_newer_model_predicts_here_what_it_predicts_there(
    model: str, way: Callable[[str, str, Path], xgb.Booster], form: str, tmp_path: Path
) -> None:
    assert_predicts(model, way(model, form, tmp_path))


@by_17
@pytest.mark.parametrize("way, form", WAYS, ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.parametrize("model", NOT_READ)
def test_a_model_that_would_predict_something_else_is_refused_by_name(
    model: str, way: Callable[[str, str, Path], xgb.Booster], form: str, tmp_path: Path
) -> None:
    version, name = model.split("/")
    message = reason(lambda: way(model, form, tmp_path))
    assert f"written by XGBoost {version}; this one is {xgb.__version__}: " in message
    assert REFUSED[name] in message and "; allowed: " in message


@pytest.mark.parametrize("model", [model for model in PICKLED if SERIES < 200 or is_read(model)])
def test_pickled_boosters_are_read_or_refused_alike(model: str) -> None:
    version, name = model.split("/")
    with xgb.config_context(verbosity=0):
        if not is_read(model):
            assert REFUSED[name] in reason(lambda: pickle.loads(content(model, "pickle")))
        else:
            booster = pickle.loads(content(model, "pickle"))
            assert_predicts(model, booster)
            assert_predicts(model, pickle.loads(pickle.dumps(booster)))


@pytest.mark.skipif(not is_read("3.4.1/regressor"), reason="XGBoost does not promise to read models of 3.4")
@pytest.mark.parametrize("name", ["regressor", "classifier"])
@pytest.mark.parametrize("form", ["json", "ubj", "estimator"])
def test_estimators_are_read(name: str, form: str, tmp_path: Path) -> None:
    """A pickled estimator of a newer version has no gpu_id nor use_label_encoder, which this version looks for."""
    model = f"3.4.1/{name}"
    with warnings.catch_warnings(), xgb.config_context(verbosity=0):
        warnings.simplefilter("ignore")  # of scikit-learn, about a pickle of another version
        if form == "estimator":
            estimator = pickle.loads(content(model, form))
            repr(estimator)
        else:
            estimator = (xgb.XGBRegressor if name == "regressor" else xgb.XGBClassifier)(tree_method=METHOD)
            (tmp_path / f"model.{form}").write_bytes(content(model, form))
            estimator.load_model(tmp_path / f"model.{form}")
    predict = getattr(estimator, "predict_proba", estimator.predict)
    # Two to the power of minus 22: see assert_predicts.
    np.testing.assert_allclose(predict(rows_of(model)), EXPECTED["3.4.1"]["predictions"][name], rtol=2**-22)
    assert estimator.get_booster().num_boosted_rounds() == 3


@by_17
@pytest.mark.parametrize("form", ["json", "ubj", "pickle"])
def test_an_estimator_refuses_what_a_booster_refuses(form: str, tmp_path: Path) -> None:
    (tmp_path / f"model.{form}").write_bytes(content("3.4.1/softprob", form))
    assert REFUSED["softprob"] in reason(
        lambda: pickle.loads(content("3.4.1/softprob", form))
        if form == "pickle"
        else xgb.XGBClassifier(tree_method=METHOD).load_model(tmp_path / f"model.{form}")
    )


@pytest.mark.parametrize("method", [METHOD, "hist"])
@pytest.mark.parametrize(
    "model",
    filter(is_read, ["3.4.1/squared", "3.4.1/dart", "3.4.1/poisson", "3.3.0/dart", "3.2.0/dart", "2.1.4/squared"]),
)
def test_training_goes_on_from_a_newer_model(model: str, method: str, tmp_path: Path) -> None:
    before = from_file(model, "ubj", tmp_path)
    y = np.abs(before.predict(matrix_of(model, before))) + 1
    data = xgb.DMatrix(rows_of(model), label=y)
    rounds = before.num_boosted_rounds()
    booster = xgb.train(
        {**params(), "tree_method": method, "max_depth": 2}, data, 2, xgb_model=str(tmp_path / "model.ubj")
    )
    assert booster.num_boosted_rounds() == rounds + 2
    data_before = matrix_of(model, booster)
    first = booster.predict(data_before, output_margin=True, iteration_range=(0, rounds))
    assert first.tolist() == EXPECTED[model.split("/")[0]]["margins"][model.split("/")[1]]
    # Written here, it is a model of this version, with one base score.
    written = json.loads(booster.save_raw("json"))
    assert written["version"] == [int(part) for part in xgb.__version__.split(".")]
    again = xgb.Booster(model_file=booster.save_raw("json"))
    np.testing.assert_array_equal(again.predict(data), booster.predict(data))
    assert booster.predict(data, output_margin=True).tolist() != first.tolist()


@by_17
@pytest.mark.parametrize("method", [METHOD, "hist"])
def test_training_does_not_go_on_from_what_is_refused(method: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(content("3.4.1/softprob", "json"))
    data = xgb.DMatrix(rows_of("3.4.1/softprob"), label=[0, 1, 2, 0, 1, 2, 0, 1])
    several = {**params(), "tree_method": method, "objective": "multi:softprob", "num_class": 3}
    assert REFUSED["softprob"] in reason(lambda: xgb.train(several, data, 1, xgb_model=str(tmp_path / "model.json")))


@by_17
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("version", [[2, 0, 0], [3, 1, 0], [3, 4, 1], [1, 8, 0], [1, 7, 4], None])
@pytest.mark.parametrize(
    "text, score", [("[1.0E2]", 100.0), ("[100]", 100.0), ("[ 1e2 , 100.0 ]", 100.0), ("25E-1", 2.5), ("-3", -3.0)]
)
def test_one_base_score_is_read_however_it_is_written(version: Any, text: str, score: float, indent: Any) -> None:
    def change(model: Dict[str, Any]) -> None:
        with_base_score(text)(model)
        if version is None:
            del model["version"]
        else:
            model["version"] = version

    model = "3.4.1/squared"
    written = json.dumps(json.loads(edited(model, change)), indent=indent, sort_keys=indent is None)
    booster = xgb.Booster(model_file=bytearray(written.encode()))
    trees = np.array(xgb.Booster(model_file=edited(model, with_base_score("[0]"))).predict(xgb.DMatrix(rows_of(model))))
    # Three leaves are added to the base, each sum rounded once: half a unit in the last place of 101, 2^-18, each.
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(rows_of(model))), trees + score, atol=3 * 2**-18)


@by_17
def test_ubjson_of_this_version_with_a_list_of_base_scores() -> None:
    """Whoever wrote 1.7.4 into it."""
    written = content("3.4.1/squared", "ubj").replace(b"i\x03i\x04i\x01", b"i\x01i\x07i\x04")
    assert written != content("3.4.1/squared", "ubj")
    assert_predicts("3.4.1/squared", xgb.Booster(model_file=bytearray(written)))


@pytest.mark.parametrize("cut", [1, 2, 40, 400, -3])
def test_a_model_that_is_cut_off_is_an_error_in_readable_words(cut: int) -> None:
    for form in ("json", "ubj"):
        with pytest.raises((xgb.core.XGBoostError, ValueError)) as error:  # ValueError: of the package, for no model
            xgb.Booster(model_file=bytearray(content("3.4.1/squared", form)[:cut]))
        assert not isinstance(error.value, UnicodeError)


@by_17
@pytest.mark.parametrize("text", ["[]", "", "[x]", "[1,x]", "nothing", "[5E-1,5.0000006E-1]", "[[1,2]"])
def test_a_base_score_that_is_none_is_refused(text: str) -> None:
    message = reason(lambda: xgb.Booster(model_file=edited("3.4.1/squared", with_base_score(text))))
    assert "written by XGBoost 3.4.1; this one is " in message and "base" in message and "; allowed: " in message


@by_17
def test_a_damaged_newer_model_says_who_wrote_it() -> None:
    def damage(model: Dict[str, Any]) -> None:
        model["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"][0] = 99

    message = reason(lambda: xgb.Booster(model_file=edited("3.4.1/squared", damage)))
    assert "written by XGBoost 3.4.1; this one is " in message and "left child 99" in message


@pytest.mark.skipif(not is_read("3.4.1/dart"), reason="XGBoost reads no dart of 3.4")
def test_too_few_weights_of_trees_are_an_error() -> None:
    def shorten(model: Dict[str, Any]) -> None:
        del model["learner"]["gradient_booster"]["model"]["weight_drop"][0]

    assert "weight_drop has 5 values" in reason(lambda: xgb.Booster(model_file=edited("3.4.1/dart", shorten)))


@by_17
def test_a_model_of_the_future_gives_a_line(capfd: pytest.CaptureFixture) -> None:
    def of_the_future(model: Dict[str, Any]) -> None:
        model["version"] = [9, 8, 7]

    booster = xgb.Booster(model_file=edited("3.4.1/squared", of_the_future))
    assert_predicts("3.4.1/squared", booster)
    said = capfd.readouterr()
    assert "written by XGBoost 9.8.7" in said.out + said.err
    xgb.Booster(model_file=edited("3.4.1/squared", with_base_score("[1]")))
    said = capfd.readouterr()
    assert "written by" not in said.out + said.err


def test_what_a_user_calls_version_is_no_version() -> None:
    """Attributes, names of features and texts are the user's."""
    model = xgb.train({"tree_method": "hist"}, xgb.DMatrix(rows_of("3.4.1/squared"), label=np.arange(8)), 2)
    model.set_attr(version="[9,9,9]", base_score="[1,2]", cats="enc")
    model.feature_names = ["version", "cats", '"version":[9,9,9]']
    for form in ("json", "ubj"):
        again = xgb.Booster(model_file=model.save_raw(form))
        assert again.attributes() == model.attributes()
        assert again.save_raw(form) == model.save_raw(form)


@by_17
def test_other_names_of_categories_are_refused_alike() -> None:

    def rename(model: Dict[str, Any]) -> None:
        model["learner"]["gradient_booster"]["model"]["cats"]["enc"][1]["values"] = [112, 113, 114, 115]

    assert REFUSED["names"] in reason(lambda: xgb.Booster(model_file=edited("3.4.1/names", rename)))


@by_17
def test_base_margins_stand_in_for_base_scores_of_classes() -> None:
    """The way that docs/migrating.md gives for a model that is refused."""
    scores: List[float] = []

    def without(model: Dict[str, Any]) -> None:
        section = model["learner"]["learner_model_param"]
        scores.extend(json.loads(section["base_score"]))
        section["base_score"] = "0"

    model = "3.4.1/softprob"
    booster = xgb.Booster(model_file=edited(model, without))
    data = matrix_of(model, booster)
    data.set_base_margin(np.tile(np.float32(scores), (len(rows_of(model)), 1)))
    assert len(scores) == 3
    assert booster.predict(data, output_margin=True).tolist() == EXPECTED["3.4.1"]["margins"]["softprob"]
