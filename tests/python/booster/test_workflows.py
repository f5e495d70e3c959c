"""What people do with a booster from day to day must work as with a stock tree method."""

import copy
import pickle

import numpy as np
import pytest
import xgboost as xgb
from support import (
    METHOD,
    MODEL_FORMS,
    OURS,
    SERIES,
    assert_adds_up,
    assert_same_trees,
    base_scores,
    binary_labels,
    config_of,
    fresh,
    make_data,
    only_before,
    only_ours,
    params,
    raw,
    sampled,
    stock_params,
    train,
    train_stock,
    trees_of,
)

X, Y = make_data(600, 6, missing=0.1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.33, 0.66])).astype(np.float32)


@pytest.fixture
def data() -> xgb.DMatrix:
    return xgb.DMatrix(X, Y)


@pytest.fixture
def booster(data: xgb.DMatrix) -> xgb.Booster:
    return train(data, 6, max_depth=4)


def predict(booster: xgb.Booster, **how) -> np.ndarray:
    return booster.predict(xgb.DMatrix(X), **how)


def test_training_fits_and_predicts(data: xgb.DMatrix) -> None:
    history: dict = {}
    booster = xgb.train(params(), data, 20, evals=[(data, "train")], evals_result=history, verbose_eval=False)
    errors = history["train"]["rmse"]
    assert errors == sorted(errors, reverse=True)
    # The metric is that of the predictions: rmse is summed in double and printed with 6 or more digits.
    assert errors[-1] == pytest.approx(np.sqrt(np.mean((predict(booster) - Y) ** 2.0)), rel=1e-5)
    assert errors[-1] < 0.3 * np.std(Y)


@pytest.mark.parametrize("suffix", MODEL_FORMS)
def test_model_files_keep_every_bit(booster: xgb.Booster, tmp_path, suffix: str) -> None:
    path = str(tmp_path / f"model.{suffix}")
    booster.save_model(path)
    loaded = xgb.Booster(model_file=path)
    assert_same_trees(booster, loaded)
    assert np.array_equal(predict(booster), predict(loaded))


@pytest.mark.parametrize("how", ["copy method", "copy", "deepcopy", "pickle", "pickle twice"])
def test_copies_are_equal_and_go_on_as_the_original(booster: xgb.Booster, data: xgb.DMatrix, how: str) -> None:
    def copy_of(one: xgb.Booster) -> xgb.Booster:
        if how == "copy method":
            return one.copy()
        if how == "copy":
            return copy.copy(one)
        if how == "deepcopy":
            return copy.deepcopy(one)
        once = pickle.loads(pickle.dumps(one))
        return once if how == "pickle" else pickle.loads(pickle.dumps(once))

    other = copy_of(booster)
    assert raw(other) == raw(booster)
    assert np.array_equal(predict(other), predict(booster))
    assert other.save_config() == booster.save_config()
    for number in range(6, 9):
        booster.update(data, number)
        other.update(data, number)
    assert len(trees_of(other)) == 9
    assert raw(other) == raw(booster)


def test_copies_are_independent(booster: xgb.Booster, data: xgb.DMatrix) -> None:
    before = raw(booster)
    other = booster.copy()
    other.update(data, 6)
    del other
    assert raw(booster) == before


def test_configuration_round_trip(booster: xgb.Booster, data: xgb.DMatrix) -> None:
    config = booster.save_config()
    other = fresh(booster)
    other.load_config(config)
    assert other.save_config() == config
    for number in range(6, 9):
        booster.update(data, number)
        other.update(data, number)
    assert raw(other) == raw(booster)


def test_configuration_names_the_tree_method_and_what_was_set(booster: xgb.Booster) -> None:
    for one in (booster, booster.copy(), pickle.loads(pickle.dumps(booster))):
        gbm = config_of(one)["gradient_booster"]
        if OURS and SERIES >= 300:  # stock code would warn of such a method, or refuse it
            assert gbm["gbtree_train_param"]["tree_method"] == "hist"
            gbm = {"gbtree_train_param": gbm["xgboost_gpu_param"]}
        assert gbm["gbtree_train_param"]["tree_method"] == METHOD
        assert '"max_depth": "4"' in one.save_config() or '"max_depth":"4"' in one.save_config()


@only_before(200, "there are no other predictors")
@pytest.mark.parametrize("predictor", ["auto", "cpu_predictor", "gpu_predictor"])
def test_predictors_are_one_and_survive_copies(data: xgb.DMatrix, predictor: str) -> None:
    if METHOD != "gpu_hist" and predictor == "gpu_predictor":
        pytest.skip("stock without a GPU has no gpu_predictor")
    booster, plain = train(data, 3, predictor=predictor), train(data, 3)
    other = pickle.loads(pickle.dumps(booster))
    for one in (booster, other):
        assert config_of(one)["gradient_booster"]["gbtree_train_param"]["predictor"] == predictor
        assert np.array_equal(predict(one), predict(plain))
        assert np.array_equal(one.inplace_predict(X), plain.inplace_predict(X))
        one.update(data, 3)
    assert_same_trees(booster, other)
    booster.set_param({"predictor": "cpu_predictor"})
    assert np.array_equal(predict(booster), predict(other))


def test_any_number_of_reconfigurations_changes_nothing(data: xgb.DMatrix) -> None:
    settings = params(max_depth=3, **sampled(subsample=0.7, seed=5))
    plain = xgb.Booster(settings, [data])
    disturbed = xgb.Booster(settings, [data])
    for number in range(8):
        plain.update(data, number)
        for _ in range(number):
            disturbed.set_param({"max_depth": 9, "eta": 0.01})
            disturbed.save_config()
            disturbed.set_param("max_depth", 3)
            disturbed.set_param([("eta", 0.3)])
            disturbed.eval(data)
        disturbed.update(data, number)
    assert raw(disturbed) == raw(plain)


def test_a_parameter_set_on_a_live_booster_counts_from_then_on(data: xgb.DMatrix) -> None:
    booster = xgb.Booster(params(max_depth=6), [data])
    for number, depth in enumerate([6, 2, 1, 4, 1]):
        booster.set_param({"max_depth": depth})
        booster.update(data, number)
    assert [tree.depth.max() for tree in trees_of(booster)] == [6, 2, 1, 4, 1]


def test_parameters_survive_what_does_not_name_them(data: xgb.DMatrix) -> None:
    # In each call XGBoost passes on only what is new, so the rest must be remembered.
    booster = xgb.Booster(params(max_depth=2, gamma=0.01, eta=0.5), [data])
    booster.update(data, 0)
    booster.set_param({"eval_metric": "mae"})
    booster.update(data, 1)
    booster.set_param({"nthread": 1})
    booster.update(data, 2)
    plain = train(data, 3, max_depth=2, gamma=0.01, eta=0.5)
    assert_same_trees(booster, plain)


@pytest.mark.parametrize("boosting", ["gbtree", "dart"])
@pytest.mark.parametrize("forest", [1, 3])
def test_slices(boosting: str, forest: int) -> None:
    data = xgb.DMatrix(X, CLASSES)
    settings = dict(booster=boosting, objective="multi:softprob", num_class=3, num_parallel_tree=forest, subsample=0.8)
    if boosting == "dart":
        settings.update(rate_drop=0.3, seed=3)
    booster = train(data, 7, **settings)
    assert booster[2:5].num_boosted_rounds() == 3
    assert len(booster[0:6:2].get_dump()) == 3 * 3 * forest
    assert sum(len(part.get_dump()) for part in booster) == len(booster.get_dump()) == 7 * 3 * forest
    for begin, end in [(0, 1), (0, 4), (3, 7)]:
        part = booster[begin:end]
        assert np.array_equal(predict(part), predict(booster, iteration_range=(begin, end)))
        assert np.array_equal(predict(pickle.loads(pickle.dumps(part))), predict(part))
        assert np.array_equal(predict(fresh(part)), predict(part))
    assert_same_trees(booster[0:7], booster)


@only_ours
@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact"])
@pytest.mark.parametrize("boosting", [dict(booster="gbtree"), dict(booster="dart", rate_drop=0.3)], ids=str)
@pytest.mark.parametrize("forest", [1, 2])
def test_slices_with_a_step_lose_no_round(boosting: dict, forest: int, method: str) -> None:
    """Stock has (end - begin) // step rounds in the slice: of 0, 2, 4 and 6 the last is gone."""
    data = xgb.DMatrix(X, CLASSES)
    how = dict(params(), tree_method=method, objective="multi:softprob", num_class=3, num_parallel_tree=forest)
    booster = xgb.train({**how, **boosting}, data, 7)
    rounds = [part.get_dump() for part in booster]
    assert len(rounds) == 7
    for begin in range(7):
        for end in range(begin + 1, 8):
            for step in range(1, 9):
                where = slice(begin, end, step)
                if (end - begin) % step == 0:
                    assert booster[where].get_dump() == sum(rounds[where], [])
                    continue
                words = f"step of a slice of a booster is {step}, which does not divide its {end - begin} rounds .*allowed: 1"
                with pytest.raises(xgb.core.XGBoostError, match=words):
                    booster[where]
    for where in (slice(None, None, 2), slice(1, None, 4)):  # to the end
        with pytest.raises(xgb.core.XGBoostError, match=f"step of a slice of a booster is {where.step}, which"):
            booster[where]
    assert booster[1::2].get_dump() == sum(rounds[1::2], [])
    for step in (0, -1):
        with pytest.raises(xgb.core.XGBoostError, match=f"step of a slice of a booster is {step}; allowed: 1 or more"):
            booster[::step]
    for where in (slice(0, 8, 2), slice(0, 9), slice(7, 8), slice(0, 9, 2), 7):
        with pytest.raises(IndexError, match="out of range"):
            booster[where]
    for where in (slice(5, 3), slice(0, -1), slice(-3, None), slice(3, 3), -1):
        with pytest.raises((ValueError, xgb.core.XGBoostError)):
            booster[where]


@only_before(300, "stock code refuses such a step")
def test_stock_slices_with_a_step_are_what_they_were() -> None:
    booster = train_stock(xgb.DMatrix(X, Y), 7)
    assert [booster[where].num_boosted_rounds() for where in (slice(0, 3, 2), slice(None, None, 2))] == [1, 3]


def test_a_slice_can_be_trained_further(booster: xgb.Booster, data: xgb.DMatrix) -> None:
    part = booster[:4]
    part.update(data, 4)
    part.update(data, 5)
    assert_same_trees(part, booster)


def test_slice_of_what_is_not_there(booster: xgb.Booster) -> None:
    with pytest.raises(IndexError):
        booster[3:60]
    assert booster.num_boosted_rounds() == 6


@pytest.mark.parametrize("source", ["booster", "file", "buffer"])
def test_continuation_equals_one_training(data: xgb.DMatrix, tmp_path, source: str) -> None:
    settings = params(max_depth=4, **sampled(subsample=0.7, colsample_bynode=0.6, seed=11))
    whole = xgb.train(settings, data, 10)
    half = xgb.train(settings, data, 4)
    if source == "file":
        half.save_model(str(tmp_path / "half.json"))
        start = str(tmp_path / "half.json")
    else:
        start = half if source == "booster" else half.save_raw("ubj")
    rest = xgb.train(settings, data, 6, xgb_model=start)
    assert raw(rest) == raw(whole)


def test_attributes_and_feature_names(booster: xgb.Booster) -> None:
    booster.set_attr(colour="green", best="7")
    assert pickle.loads(pickle.dumps(booster)).attributes().items() >= {"colour": "green", "best": "7"}.items()
    names = [f"column {letter}" for letter in "abcdef"]
    named = train(xgb.DMatrix(X, Y, feature_names=names), 3)
    assert fresh(named).feature_names == names
    assert set(named.get_score()) <= set(names)
    assert_same_trees(named, train(xgb.DMatrix(X, Y), 3))


def test_early_stopping() -> None:
    train_x, valid_x = X[:400], X[400:]
    data, valid = xgb.DMatrix(train_x, binary_labels(Y)[:400]), xgb.DMatrix(valid_x, binary_labels(Y)[400:])
    settings = params(objective="binary:logistic", eta=1.0, max_depth=8, eval_metric="logloss")
    history: dict = {}
    booster = xgb.train(
        settings, data, 60, evals=[(valid, "valid")], early_stopping_rounds=4, evals_result=history, verbose_eval=False
    )
    losses = history["valid"]["logloss"]
    assert booster.best_iteration == int(np.argmin(losses))
    assert booster.num_boosted_rounds() == booster.best_iteration + 5 < 60
    keep = xgb.callback.EarlyStopping(rounds=4, save_best=True)
    best = xgb.train(settings, data, 60, evals=[(valid, "valid")], callbacks=[keep], verbose_eval=False)
    assert best.num_boosted_rounds() == booster.best_iteration + 1
    assert_same_trees(best, booster[: booster.best_iteration + 1])


def test_callbacks_see_the_model_grow_and_may_change_it(data: xgb.DMatrix, tmp_path) -> None:
    class Watch(xgb.callback.TrainingCallback):
        def __init__(self) -> None:
            self.rounds, self.wrong = [], []

        def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: dict) -> bool:
            self.rounds.append(model.num_boosted_rounds())
            cached, true = model.predict(data), predict(fresh(model))
            if not np.array_equal(cached, true):
                self.wrong.append(epoch)
            return False

    watch = Watch()
    rates = xgb.callback.LearningRateScheduler(lambda epoch: 0.5 / (1 + epoch))
    checkpoints = xgb.callback.TrainingCheckPoint(str(tmp_path), "step", False, 2)
    booster = xgb.train(params(max_depth=3), data, 7, callbacks=[watch, rates, checkpoints])
    assert watch.rounds == list(range(1, 8)) and watch.wrong == []
    assert all(list(tmp_path.glob(f"step_{number}.*")) for number in (2, 6))
    # The scheduler acts after a round, so the first tree has the rate of the parameters.
    by_hand = xgb.Booster(params(max_depth=3), [data])
    for number in range(7):
        by_hand.update(data, number)
        by_hand.set_param("learning_rate", 0.5 / (1 + number))
    assert_same_trees(booster, by_hand)


@pytest.mark.parametrize("as_pickle", [False, True])
def test_a_training_goes_on_from_a_checkpoint(data: xgb.DMatrix, tmp_path, as_pickle: bool) -> None:
    settings = params(max_depth=3, monotone_constraints="(1,0,-1)", **sampled(subsample=0.6, colsample_bytree=0.7))
    keep = xgb.callback.TrainingCheckPoint(str(tmp_path), "model", as_pickle, 2)
    whole = xgb.train(settings, data, 7, callbacks=[keep])
    if as_pickle:
        half = pickle.loads((tmp_path / "model_2.pkl").read_bytes())
    else:
        half = xgb.Booster(model_file=str(next(tmp_path.glob("model_2.*"))))
    rest = xgb.train(settings, data, 7 - half.num_boosted_rounds(), xgb_model=half)
    assert 0 < half.num_boosted_rounds() < 7
    assert_same_trees(rest, whole)


def test_cross_validation_of_what_the_user_brings(capsys) -> None:
    """xgb.cv with folds, an objective, a metric, a function for each fold, and a report every other round."""
    data = xgb.DMatrix(X, Y)
    depths = []

    def shallow(train_part: xgb.DMatrix, test_part: xgb.DMatrix, settings: dict):
        depths.append(train_part.num_row())
        return train_part, test_part, {**settings, "max_depth": 2}

    how = dict(
        folds=[(np.arange(200, 600), np.arange(200)), (np.arange(400), np.arange(400, 600))],
        obj=lambda prediction, matrix: (prediction - matrix.get_label(), np.ones_like(prediction)),
        custom_metric=lambda prediction, matrix: ("far", float(np.abs(prediction - matrix.get_label()).max())),
        fpreproc=shallow,
    )
    report = xgb.callback.EvaluationMonitor(period=2)
    fine = dict(max_bin=1000)  # a bin for every value
    table = xgb.cv(params(**fine), data, 6, callbacks=[report], **how)
    assert depths == [400, 400] and "test-far" in capsys.readouterr().out
    stock = xgb.cv(stock_params(**fine), data, 6, **how)
    # These are means of metrics that are printed with six digits; predictions differ in the last digits.
    np.testing.assert_allclose(table, stock, rtol=1e-5)


def test_cross_validation_of_a_ranking() -> None:
    data = xgb.DMatrix(X, np.digitize(Y, [-0.5, 0.5]), group=[60] * 10)
    table = xgb.cv(params(objective="rank:ndcg"), data, 6, nfold=5, metrics="ndcg")
    assert table["train-ndcg-mean"].iloc[-1] > table["train-ndcg-mean"].iloc[0]
    assert table["test-ndcg-mean"].iloc[-1] > 0.7


def test_a_plot_of_importances(booster: xgb.Booster) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    for importance in ("weight", "gain", "cover"):
        axes = xgb.plot_importance(booster, importance_type=importance)
        assert len(axes.patches) == len(booster.get_score(importance_type=importance))
    pyplot.close("all")


def test_a_tree_as_a_graph(booster: xgb.Booster) -> None:
    pytest.importorskip("graphviz")
    assert "->" in xgb.to_graphviz(booster).source


def test_cross_validation() -> None:
    data = xgb.DMatrix(X, binary_labels(Y))
    settings = params(objective="binary:logistic", max_depth=3)
    table = xgb.cv(settings, data, 12, nfold=4, metrics=["auc", "logloss"], seed=1, stratified=True)
    assert table.shape == (12, 8)
    assert table["test-auc-mean"].iloc[-1] > 0.85
    assert table["train-logloss-mean"].is_monotonic_decreasing
    again = xgb.cv(settings, data, 12, nfold=4, metrics=["auc", "logloss"], seed=1, stratified=True)
    assert table.equals(again)
    short = xgb.cv({**settings, "eta": 1.0}, data, 40, nfold=3, early_stopping_rounds=3, metrics=["logloss"])
    assert len(short) < 40


def test_custom_objective_and_metric_equal_the_built_in() -> None:
    # Squared error is exact on both sides: the gradient is prediction - label in float32, the hessian 1.
    data = xgb.DMatrix(X, Y)

    def squared(prediction: np.ndarray, matrix: xgb.DMatrix):
        return prediction - matrix.get_label(), np.ones_like(prediction)

    def worst(prediction: np.ndarray, matrix: xgb.DMatrix):
        return "worst", float(np.max(np.abs(prediction - matrix.get_label())))

    history: dict = {}
    settings = params(max_depth=4, base_score=0.5)
    ours = xgb.train(
        settings,
        data,
        8,
        obj=squared,
        custom_metric=worst,
        evals=[(data, "t")],
        evals_result=history,
        verbose_eval=False,
    )
    assert_same_trees(ours, xgb.train(settings, data, 8))
    for number, value in enumerate(history["t"]["worst"]):
        true = np.max(np.abs(predict(ours, iteration_range=(0, number + 1)) - Y))
        assert value == pytest.approx(true, abs=1e-6)  # the history keeps six decimals


def test_every_kind_of_prediction(booster: xgb.Booster) -> None:
    margin = predict(booster, output_margin=True)
    leaves = predict(booster, pred_leaf=True)
    assert leaves.shape == (600, 6)
    total = np.full(600, base_scores(booster)[0], np.float64)
    for column, tree in zip(leaves.T.astype(int), trees_of(booster)):
        assert np.all(tree.left[column] == -1)
        total += tree.threshold[column]
    # Six float32 additions of numbers below 4 are off by at most 6 · 4 · 2^-24.
    assert np.allclose(total, margin, rtol=0, atol=24 * 2.0**-24)
    contributions = predict(booster, pred_contribs=True)
    assert contributions.shape == (600, 7)
    assert_adds_up(booster, contributions, margin)
    assert_adds_up(booster, predict(booster, pred_contribs=True, approx_contribs=True), margin)
    assert_adds_up(booster, predict(booster, pred_interactions=True), margin)
    assert np.array_equal(booster.inplace_predict(X), margin)
    strict = predict(booster, strict_shape=True)
    assert strict.shape == (600, 1) and np.array_equal(strict[:, 0], margin)


def test_reports_about_the_model(booster: xgb.Booster) -> None:
    trees = trees_of(booster)
    splits = np.concatenate([tree.feature[tree.splits] for tree in trees])
    weights = booster.get_score(importance_type="weight")
    assert weights == {f"f{f}": float(np.sum(splits == f)) for f in np.unique(splits)}
    gains = np.concatenate([tree.gain[tree.splits] for tree in trees]).astype(np.float64)
    total_gain = booster.get_score(importance_type="total_gain")
    for f in np.unique(splits):
        # Stock adds gains in float.
        assert total_gain[f"f{f}"] == pytest.approx(gains[splits == f].sum(), rel=np.sum(splits == f) * 2.0**-24)
    assert len(booster.trees_to_dataframe()) == sum(tree.nodes for tree in trees)
    assert booster.get_split_value_histogram("f0")["Count"].sum() == np.sum(splits == 0)
    assert all("cover=" in text for text in booster.get_dump(with_stats=True))


def test_many_boosters_come_and_go(data: xgb.DMatrix) -> None:
    expected = raw(train(data, 2))
    for _ in range(40):
        assert raw(train(data, 2)) == expected


def test_zero_rounds_and_an_untrained_booster(data: xgb.DMatrix) -> None:
    booster = train(data, 0)
    assert booster.num_boosted_rounds() == 0
    assert np.all(predict(booster) == 0.5)
    assert raw(pickle.loads(pickle.dumps(booster))) == raw(booster)


def test_stock_models_can_be_continued_and_ours_by_stock(data: xgb.DMatrix) -> None:
    stock = train_stock(data, 3)
    ours = xgb.train(params(), data, 3, xgb_model=stock)
    assert_same_trees(ours[:3], stock)
    back = xgb.train({"tree_method": "exact"}, data, 2, xgb_model=ours)
    assert_same_trees(back[:6], ours)
    assert back.num_boosted_rounds() == 8
    assert np.array_equal(predict(back), predict(fresh(back)))


@only_ours
def test_a_gblinear_refuses_a_gpu_whenever_it_is_asked_for() -> None:
    data = xgb.DMatrix(X, Y)
    booster = xgb.train({"booster": "gblinear", "nthread": 1, "updater": "coord_descent"}, data, 1)
    booster.set_param("gpu_backend", "cuda")
    with pytest.raises(xgb.core.XGBoostError, match="gpu_backend is 'cuda' and booster is 'gblinear'"):
        booster.update(data, 1)


@only_ours
def test_a_booster_that_was_set_wrongly_is_no_gblinear() -> None:
    data = xgb.DMatrix(X, np.arange(len(X)) % 3)
    booster = xgb.Booster(params(objective="multi:softprob", gpu_backend="cuda"), [data])
    with pytest.raises(xgb.core.XGBoostError, match="num_class"):
        booster.update(data, 0)
    booster.set_param("num_class", 3)
    try:
        booster.update(data, 0)
    except xgb.core.XGBoostError as error:
        assert "gblinear" not in str(error)  # without a GPU that is what it needs


def test_a_linear_booster_is_none_of_our_business(data: xgb.DMatrix) -> None:
    booster = xgb.train({"booster": "gblinear", "nthread": 1, "updater": "coord_descent"}, data, 4)
    assert "weights" in str(booster.get_dump()[0]) or "bias" in booster.get_dump()[0]
    assert np.isfinite(booster.predict(data)).all()


@only_ours
def test_a_linear_booster_that_is_told_upstreams_updater_for_a_gpu_is_trained_by_coord_descent(
    data: xgb.DMatrix, capfd
) -> None:
    others = {"booster": "gblinear", "nthread": 1, "feature_selector": "greedy", "top_k": 2, "alpha": 0.1}
    booster = xgb.train({**others, "updater": "gpu_coord_descent"}, data, 4)
    assert booster.get_dump() == xgb.train({**others, "updater": "coord_descent"}, data, 4).get_dump()
    said = "".join(capfd.readouterr())
    assert "updater=gpu_coord_descent: a gblinear is trained on the CPU, by coord_descent" in said
    copied = booster.copy()
    copied.update(data, 4)
    assert copied.get_dump() != booster.get_dump()
    assert '"updater":"coord_descent"' in copied.save_config()
