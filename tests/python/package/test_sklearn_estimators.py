"""scikit-learn's estimators of the stock package, which hand over a QuantileDMatrix without being asked."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import xgboost as xgb
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support import METHOD, assert_same_trees, fresh, make_data, other_method, params, train, trees_of

CANCER_X, CANCER_Y = load_breast_cancer(return_X_y=True)
DIABETES_X, DIABETES_Y = load_diabetes(return_X_y=True)


def test_classifier() -> None:
    x, test_x, y, test_y = train_test_split(CANCER_X, CANCER_Y, random_state=0)
    model = xgb.XGBClassifier(n_estimators=30, **params()).fit(x, y)
    assert model.score(test_x, test_y) > 0.9
    chance = model.predict_proba(test_x)
    assert np.allclose(chance.sum(axis=1), 1)
    assert np.array_equal(chance.argmax(axis=1), model.predict(test_x))
    assert model.feature_importances_.sum() == pytest.approx(1, abs=1e-5)
    assert np.array_equal(chance[:, 1], fresh(model.get_booster()).predict(xgb.DMatrix(test_x)))


def test_classifier_equals_train_on_the_same_data() -> None:
    model = xgb.XGBClassifier(n_estimators=8, **params()).fit(CANCER_X, CANCER_Y)
    matrix = xgb.DMatrix(CANCER_X, CANCER_Y)
    assert_same_trees(model.get_booster(), train(matrix, 8, objective="binary:logistic"))


@pytest.mark.parametrize("loader, least", [(load_iris, 0.9), (load_digits, 0.9)], ids=["iris", "digits"])
def test_several_classes(loader, least: float) -> None:
    x, test_x, y, test_y = train_test_split(*loader(return_X_y=True), random_state=0)
    names = np.array([f"kind {k}" for k in range(10)])[y]
    model = xgb.XGBClassifier(n_estimators=15, **params()).fit(x, y)
    assert model.score(test_x, test_y) > least
    assert model.predict_proba(test_x).shape == (len(test_y), len(np.unique(names)))


def test_regressor_with_weights_margin_and_evaluation() -> None:
    x, test_x, y, test_y = train_test_split(DIABETES_X, DIABETES_Y, random_state=0)
    weight = np.linspace(0.5, 2, len(y))
    model = xgb.XGBRegressor(n_estimators=50, eta=0.1, early_stopping_rounds=5, eval_metric="mae", **params())
    model.fit(
        x,
        y,
        sample_weight=weight,
        base_margin=np.full(len(y), 100.0),
        eval_set=[(test_x, test_y)],
        base_margin_eval_set=[np.full(len(test_y), 100.0)],
        verbose=False,
    )
    history = model.evals_result()["validation_0"]["mae"]
    assert model.best_iteration == int(np.argmin(history))
    best = model.predict(test_x, base_margin=np.full(len(test_y), 100.0))
    assert np.abs(best - test_y).mean() == pytest.approx(min(history), rel=1e-5)


@pytest.mark.parametrize("columns", [3, 12])
@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact", "hist"])
def test_an_evaluation_set_of_other_columns_is_an_error(method: str, columns: int) -> None:
    """Metrics of absent columns mean nothing, and early stopping would keep the first round."""
    x, y = make_data(300, 6)
    other = np.zeros((300, columns), np.float32)
    settings = params(tree_method=method) if method != "hist" else other_method(tree_method="hist")
    for evaluated in (other, scipy.sparse.csr_matrix(other)):
        with pytest.raises(xgb.core.XGBoostError, match="columns|number of features"):
            xgb.XGBRegressor(n_estimators=5, **settings).fit(x, y, eval_set=[(evaluated, y)], verbose=False)


def test_ranker() -> None:
    x, y = make_data(400, 5)
    relevance = np.digitize(y, np.quantile(y, [0.5, 0.8]))
    model = xgb.XGBRanker(n_estimators=20, objective="rank:ndcg", **params())
    model.fit(x, relevance, qid=np.repeat(np.arange(8), 50))
    score = model.predict(x)
    assert score[relevance == 2].mean() > score[relevance == 0].mean() + 0.5


@pytest.mark.parametrize("estimator", [xgb.XGBRFRegressor, xgb.XGBRFClassifier])
def test_random_forests(estimator) -> None:
    x, y = (DIABETES_X, DIABETES_Y) if estimator is xgb.XGBRFRegressor else (CANCER_X, CANCER_Y)
    model = estimator(n_estimators=25, random_state=1, **params()).fit(x, y)
    booster = model.get_booster()
    assert booster.num_boosted_rounds() == 1
    assert len(trees_of(booster)) == 25
    assert len({tree.threshold.tobytes() for tree in trees_of(booster)}) == 25
    assert model.score(x, y) > (0.5 if estimator is xgb.XGBRFRegressor else 0.95)


@pytest.mark.parametrize("form", ["clone", "pickle", "set_params"])
def test_what_scikit_learn_does_with_estimators(form: str, tmp_path) -> None:
    model = xgb.XGBRegressor(n_estimators=6, max_depth=3, **params())
    trained = clone(model).fit(DIABETES_X, DIABETES_Y)
    if form == "clone":
        other = clone(trained).fit(DIABETES_X, DIABETES_Y)
    elif form == "pickle":
        other = pickle.loads(pickle.dumps(trained))
    else:
        other = xgb.XGBRegressor().set_params(n_estimators=6, max_depth=3, **params()).fit(DIABETES_X, DIABETES_Y)
    assert other.get_params()["tree_method"] == METHOD
    assert_same_trees(other.get_booster(), trained.get_booster())
    trained.save_model(str(tmp_path / "model.json"))
    loaded = xgb.XGBRegressor(**params())
    loaded.load_model(str(tmp_path / "model.json"))
    assert np.array_equal(loaded.predict(DIABETES_X), other.predict(DIABETES_X))


def test_searches_and_pipelines() -> None:
    model = xgb.XGBClassifier(n_estimators=5, **params())
    search = GridSearchCV(model, {"max_depth": [1, 3], "max_bin": [8, 256]}, cv=3).fit(CANCER_X, CANCER_Y)
    assert search.best_score_ > 0.9
    scores = cross_val_score(make_pipeline(StandardScaler(), model), CANCER_X, CANCER_Y, cv=3)
    assert scores.min() > 0.9


@pytest.mark.parametrize("workers", ["threading", "loky"])
def test_searches_in_parallel(workers: str) -> None:
    """loky, which scikit-learn takes by itself, starts new processes: what arrives there brings the library."""
    model = make_pipeline(StandardScaler(), xgb.XGBClassifier(n_estimators=5, **params()))
    choices = {"xgbclassifier__max_depth": [1, 3]}
    alone = GridSearchCV(model, choices, cv=3, error_score="raise").fit(CANCER_X, CANCER_Y)
    with joblib.parallel_backend(workers):
        parallel = GridSearchCV(model, choices, cv=3, n_jobs=2, error_score="raise").fit(CANCER_X, CANCER_Y)
    assert np.array_equal(parallel.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert_same_trees(parallel.best_estimator_[-1].get_booster(), alone.best_estimator_[-1].get_booster())


def test_an_estimator_of_the_user_in_parallel() -> None:
    class Shallow(xgb.XGBClassifier):
        pass

    model = Shallow(n_estimators=3, max_depth=2, **params())
    alone = cross_val_score(model, CANCER_X, CANCER_Y, cv=3, error_score="raise")
    with joblib.parallel_backend("loky"):
        assert np.array_equal(cross_val_score(model, CANCER_X, CANCER_Y, cv=3, n_jobs=2, error_score="raise"), alone)


def test_files_do_not_ask_for_the_library(tmp_path) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **params()).fit(CANCER_X, CANCER_Y)
    joblib.dump([model, model.get_booster()], tmp_path / "model")
    for written in ((tmp_path / "model").read_bytes(), pickle.dumps(model), pickle.dumps(model.get_booster())):
        assert b"XGBClassifier" in written or b"Booster" in written
        assert b"xgboost_gpu" not in written.replace(b"xgboost_gpu_param", b"")
    loaded, booster = joblib.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(CANCER_X), model.predict(CANCER_X))
    assert_same_trees(booster, model.get_booster())


IMPORTANCES = ["weight", "gain", "cover", "total_gain", "total_cover"]


@pytest.mark.parametrize("importance", IMPORTANCES)
def test_importances_of_features(importance: str) -> None:
    model = xgb.XGBRegressor(n_estimators=8, importance_type=importance, **params()).fit(DIABETES_X, DIABETES_Y)
    trees = trees_of(model.get_booster())
    features = np.concatenate([tree.feature[tree.splits] for tree in trees])
    values = np.concatenate([tree.hess[tree.splits] if "cover" in importance else tree.gain[tree.splits] for tree in trees])
    count = np.bincount(features, minlength=10)
    total = count if importance == "weight" else np.bincount(features, values.astype(np.float64), minlength=10)
    expected = total / np.maximum(count, 1) if importance in ("gain", "cover") else total
    # Stock adds some hundred float32 numbers up in float32.
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-4)


def test_metrics_of_the_user_stop_a_training() -> None:
    """A metric of scikit-learn's, maximised by a name of its own."""
    x, test_x, y, test_y = train_test_split(CANCER_X, CANCER_Y, random_state=0)

    def wrong(label: np.ndarray, chance: np.ndarray) -> float:
        return float(np.mean((chance > 0.5) != label))

    stop = xgb.callback.EarlyStopping(rounds=3, metric_name="wrong", save_best=True)
    model = xgb.XGBClassifier(n_estimators=60, eta=1.0, eval_metric=wrong, callbacks=[stop], **params())
    model.fit(x, y, eval_set=[(test_x, test_y)], verbose=False)
    history = model.evals_result()["validation_0"]["wrong"]
    assert model.best_iteration == int(np.argmin(history)) and len(history) < 60
    assert np.mean(model.predict(test_x) != test_y) == pytest.approx(min(history), abs=1e-6)  # as printed


def test_probabilities_are_calibrated_by_scikit_learn() -> None:
    model = CalibratedClassifierCV(xgb.XGBClassifier(n_estimators=5, **params()), cv=3).fit(CANCER_X, CANCER_Y)
    assert model.score(CANCER_X, CANCER_Y) > 0.95


def test_several_outputs() -> None:
    x, y = load_linnerud(return_X_y=True)
    how = params(n_estimators=10, base_score=100.0)  # 3.0 estimates one number for all outputs
    direct = xgb.XGBRegressor(**how).fit(x, y)
    wrapped = MultiOutputRegressor(xgb.XGBRegressor(**how)).fit(x, y)
    assert np.array_equal(direct.predict(x), wrapped.predict(x).astype(np.float32))


def test_an_estimator_is_trained_further() -> None:
    half = xgb.XGBRegressor(n_estimators=4, **params()).fit(DIABETES_X, DIABETES_Y)
    rest = xgb.XGBRegressor(n_estimators=4, **params()).fit(DIABETES_X, DIABETES_Y, xgb_model=half.get_booster())
    whole = xgb.XGBRegressor(n_estimators=8, **params()).fit(DIABETES_X, DIABETES_Y)
    assert_same_trees(rest.get_booster(), whole.get_booster())


def test_an_estimator_with_an_own_objective() -> None:
    def squared(label: np.ndarray, prediction: np.ndarray):
        return prediction - label, np.ones_like(prediction)

    how = params(base_score=0.5)
    own = xgb.XGBRegressor(n_estimators=5, objective=squared, **how).fit(DIABETES_X, DIABETES_Y)
    built_in = xgb.XGBRegressor(n_estimators=5, **how).fit(DIABETES_X, DIABETES_Y)
    # The label reaches the function in float64; the gradient is rounded once more: 2^-24 of |y| < 350 each round.
    difference = own.predict(DIABETES_X) - built_in.predict(DIABETES_X)
    assert np.abs(difference).max() < 5 * 350 * 2.0**-20


def test_leaves_of_an_estimator() -> None:
    model = xgb.XGBRegressor(n_estimators=4, **params()).fit(DIABETES_X, DIABETES_Y)
    leaves = model.apply(DIABETES_X)
    for column, tree in zip(leaves.T.astype(int), trees_of(model.get_booster())):
        assert set(column) == set(tree.leaves)
