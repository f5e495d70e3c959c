"""Process groups: the model of one to four processes is that of one process with all rows, in the order of ranks."""

import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Tuple

import group_scenarios
import numpy as np
import pytest
import two_hosts
import xgboost as xgb
from group_scenarios import SCENARIOS
from group_workers import SOON, TIME_LIMIT, Died, Group, WorkerError, group_of
from support import BACKEND, OURS, SERIES

pytestmark = pytest.mark.skipif(not OURS or BACKEND != "host", reason="process groups train on the host")

only_with_names = pytest.mark.skipif(SERIES < 302, reason="XGBoost knows no names of categories")

#: Where the rows of each worker begin, as shares of all: uneven, and the second of three and of four has none.
SHARES = {1: [0, 1], 2: [0, 0.3, 1], 3: [0, 0.55, 0.55, 1], 4: [0, 0.1, 0.1, 0.6, 1]}


@pytest.fixture(scope="module")
def groups() -> Iterator[Dict[int, Group]]:
    class Groups(Dict[int, Group]):
        """Groups by their number of workers, made when they are asked for, and anew if a test had to end them."""

        def __getitem__(self, workers: int) -> Group:
            if workers not in self or not self.get(workers).lives:
                self[workers] = Group(workers)
            return self.get(workers)

    made = Groups()
    yield made
    for group in made.values():
        group.end()


_alone: Dict[str, Any] = {}


def alone(name: str) -> Dict[str, Any]:
    """What one process without a group gives."""
    if name not in _alone:
        _alone[name] = group_scenarios.train({**SCENARIOS[name], "name": name}, None)
    return _alone[name]


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_models_histories_and_predictions_are_those_of_one_process(groups: Dict[int, Group], workers: int) -> None:
    names = list(SCENARIOS) if workers in (2, 4) else list(SCENARIOS)[:: 3 if workers == 3 else 9]
    scenarios = [{**SCENARIOS[name], "name": name} for name in names]
    found = groups[workers].results(group_scenarios.several, scenarios, SHARES[workers])
    wrong = []
    for number, name in enumerate(names):
        expected = alone(name)
        for part in ("base_score", "lines", "models"):
            if any(worker[number][part] != expected[part] for worker in found):
                wrong.append(f"{name}: {part} {[worker[number][part] == expected[part] for worker in found]}")
        for part in ("predictions", "again"):
            if not np.array_equal(np.concatenate([worker[number][part] for worker in found]), expected[part]):
                wrong.append(f"{name}: {part}")
    assert wrong == []


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0)])
def test_ranks_in_any_order(groups: Dict[int, Group], order: Tuple[int, ...]) -> None:
    """Rows are in the order of ranks, whichever process has which."""
    names = ["uniform sample", "absolute error with weights", "ndcg with weights"]
    scenarios = [{**SCENARIOS[name], "name": name} for name in names]
    answers = groups[3].results(group_scenarios.several, scenarios, SHARES[3], ranks=order)
    found = [answers[order.index(rank)] for rank in range(3)]
    assert len(found[1][0]["predictions"]) == 0, "the second share has rows"
    for number, name in enumerate(names):
        assert [worker[number]["models"] for worker in found] == [alone(name)["models"]] * 3, name
        together = np.concatenate([worker[number]["predictions"] for worker in found])
        assert np.array_equal(together, alone(name)["predictions"]), name


@pytest.mark.parametrize("kind", ["array", "csr"])
def test_columns_that_only_one_worker_has(groups: Dict[int, Group], kind: str) -> None:
    expected = group_scenarios.columns_of_one(None, kind)
    for workers, shares in ((2, [0, 0.5, 1]), (3, [0, 0.2, 0.5, 1])):
        assert groups[workers].results(group_scenarios.columns_of_one, shares, kind) == [expected] * workers


@pytest.mark.skipif("XGBGPU_MESSAGE_COUNTER" not in os.environ or SERIES >= 200, reason="needs message_counter.cc")
def test_a_round_like_the_one_before_takes_two_messages_beside_its_tree() -> None:
    group = Group(2, [["env", f"LD_PRELOAD={os.environ['XGBGPU_MESSAGE_COUNTER']}"]] * 2)
    try:
        counts = group.results(group_scenarios.messages, SHARES[2], {3: {"eta": 0.1}, 4: {"max_bin": 20}})
    finally:
        group.end()
    assert counts[0] == counts[1]
    first, *others, of_new_bins, last = counts[0]
    # The gradients and the trees of a round; the tree's own: sampled rows, format, root, and the sums of three levels.
    assert others == [2 + 3 + 3] * 3 and last == 2 + 3 + 3, counts[0]
    assert first > 2 * last and of_new_bins > 2 * last


@pytest.mark.skipif("XGBGPU_MESSAGE_COUNTER" not in os.environ or SERIES >= 200, reason="needs message_counter.cc")
def test_metrics_that_are_sums_take_two_messages() -> None:
    group = Group(2, [["env", f"LD_PRELOAD={os.environ['XGBGPU_MESSAGE_COUNTER']}"]] * 2)
    try:
        none, one, three = (
            group.results(group_scenarios.messages, SHARES[2], {}, metrics)[0][2:]
            for metrics in ([], ["logloss"], ["logloss", "rmse", "error@0.7"])
        )
    finally:
        group.end()
    # Whether all know what they knew in the first evaluation, and the sums.
    assert [a - b for a, b in zip(one, none)] == [2] * 4
    assert three == one


def test_metrics_that_are_added_are_those_of_one_process(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.more_metrics_each_time(None)
    assert expected[-1].count(":") == 6 and expected[3].count(":") == 2
    assert groups[2].results(group_scenarios.more_metrics_each_time, SHARES[2]) == [expected] * 2


def test_early_stopping_is_that_of_one_process(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.early_stopping(None)
    assert 4 < len(expected[1]) < 60, "it does not stop early"
    assert groups[4].results(group_scenarios.early_stopping, SHARES[4]) == [expected] * 4


def test_trainings_go_on_from_a_model(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.continuation(None)
    for workers in (2, 3):
        assert groups[workers].results(group_scenarios.continuation, SHARES[workers]) == [expected] * workers


def test_a_booster_goes_on_after_a_round_that_failed(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.goes_on_after_a_failed_round(None)
    assert groups[2].results(group_scenarios.goes_on_after_a_failed_round, SHARES[2]) == [expected] * 2


def test_several_trainings_on_one_matrix(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.same_matrix_again(None)
    assert groups[2].results(group_scenarios.same_matrix_again, SHARES[2]) == [expected] * 2


def test_boosters_that_train_in_turns(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.trains_in_turns(SHARES[2], in_one_process=True)
    assert groups[2].results(group_scenarios.trains_in_turns, SHARES[2]) == [expected] * 2


def test_labels_that_one_worker_changes_and_all_evaluate(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.labels_of_one_change(SHARES[2], in_one_process=True)
    assert groups[2].results(group_scenarios.labels_of_one_change, SHARES[2]) == [expected] * 2


@only_with_names
def test_categories_in_another_order_on_one_worker_stop_all(groups: Dict[int, Group]) -> None:
    first, last = groups[2].results(group_scenarios.goes_on_with_other_categories, SHARES[2])
    assert "Category 0 of column 0 is 'f' in the data and 'b' in the model" in last
    assert "All stop because worker 1 of 2 failed" in first and "Category 0 of column 0" in first


@only_with_names
def test_batches_of_other_categories_on_one_worker_stop_all(groups: Dict[int, Group]) -> None:
    first, last = groups[2].results(group_scenarios.trains_on_batches_of_other_categories, SHARES[2])
    assert "Category 0 of column 0 is 'f' in batch 2 and 'b' in batch 0" in last
    assert "All stop because worker 1 of 2 failed" in first and "Category 0 of column 0" in first


kinds_of_matrices = pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
TOWNS = ["a", "b", "c"]
#: A worker of codes without names has nothing to say. With a DMatrix XGBoost's own messages would not fit.
NO_NAMES = {"QuantileDMatrix": None}


@only_with_names
@pytest.mark.parametrize(
    "first, other, words",
    [
        (TOWNS, ["b", "a", "c"], "Category 0 of column 1 is 'b' on worker {} and 'a' on worker {}"),
        (TOWNS, ["a", "b", "x"], "Category 2 of column 1 is 'x' on worker {} and 'c' on worker {}"),
        (TOWNS, [*TOWNS, "d"], "Column 1 has 4 categories on worker {} and 3 on worker {}"),
        ([*TOWNS, "d"], TOWNS, "Column 1 has 3 categories on worker {} and 4 on worker {}"),
        (["a", "b 1", "c"], ["a", "c", "b 1"], "Category 1 of column 1 is 'c' on worker {} and 'b 1' on worker {}"),
        ([10, 20, 30], [20, 10, 30], "Category 0 of column 1 is '20' on worker {} and '10' on worker {}"),
        (
            [10, 20, 30],
            ["10", "20", "30"],
            "Column 1 has categories of text on worker {} and categories of numbers on worker {}",
        ),
    ],
    ids=["order", "another", "more", "fewer", "spaces", "numbers", "text"],
)
@kinds_of_matrices
def test_workers_that_list_other_categories_stop_all(
    groups: Dict[int, Group], kind: str, first: List[Any], other: List[Any], words: str
) -> None:
    allowed = "allowed: the same categories in the same order on every worker, as column.cat.set_categories(…) lists them"
    answers = groups[2].run(group_scenarios.trains_on_towns, [0, 0.5, 1], kind, [first, other])
    say(answers, words.format(1, 0), allowed)
    lists = [NO_NAMES.get(kind, first), first, first, other]
    answers = groups[4].run(group_scenarios.trains_on_towns, [0, 0.2, 0.5, 0.7, 1], kind, lists)
    say(answers, words.format(3, 1 if kind in NO_NAMES else 0), allowed)
    assert max(groups[4].seconds) < SOON


@only_with_names
@pytest.mark.parametrize("how", [dict(booster="dart", rate_drop=0.5), dict(grow_policy="symmetric")], ids=str)
def test_other_categories_stop_every_kind_of_trees(groups: Dict[int, Group], how: Dict[str, Any]) -> None:
    lists = [TOWNS, TOWNS[::-1]]
    answers = groups[2].run(group_scenarios.trains_on_towns, SHARES[2], "DMatrix", lists, how)
    say(answers, "Category 0 of column 1 is 'c' on worker 1 and 'a' on worker 0")


@only_with_names
@kinds_of_matrices
def test_workers_that_list_the_same_categories_train_the_model_of_one_process(
    groups: Dict[int, Group], kind: str
) -> None:
    expected = group_scenarios.trains_on_towns(None, kind, [TOWNS])
    found = groups[2].results(group_scenarios.trains_on_towns, SHARES[2], kind, [TOWNS, TOWNS])
    assert found == [expected] * 2
    found = groups[2].results(group_scenarios.trains_on_towns, SHARES[2], kind, [NO_NAMES.get(kind, TOWNS), TOWNS])
    assert found == [expected] * 2
    numbers = [np.array([10, 20, 30], dtype) for dtype in (np.int64, np.int16)]
    assert groups[2].results(group_scenarios.trains_on_towns, SHARES[2], kind, numbers) == [expected] * 2


@only_with_names
@kinds_of_matrices
def test_evaluated_frames_may_list_categories_in_another_order(groups: Dict[int, Group], kind: str) -> None:
    """A worker knows the names of its training, and translates codes."""
    expected = group_scenarios.evaluates_towns(None, kind, [TOWNS])
    found = groups[2].results(group_scenarios.evaluates_towns, SHARES[2], kind, [TOWNS, TOWNS[::-1]])
    assert found == [expected] * 2


def test_evaluated_rows_that_one_worker_changes(groups: Dict[int, Group]) -> None:
    for workers in (2, 3):
        expected = group_scenarios.evaluated_rows_of_one_change(SHARES[workers], in_one_process=True)
        found = groups[workers].results(group_scenarios.evaluated_rows_of_one_change, SHARES[workers])
        assert found == [expected] * workers


def test_quantile_matrices_of_several_batches_train_the_model_of_one_process(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.quantile_matrix_of_parts(None)
    for workers in (2, 3):
        found = groups[workers].results(group_scenarios.quantile_matrix_of_parts, SHARES[workers])
        assert found == [expected] * workers


def test_quantile_matrices_have_xgboosts_own_bins_for_hist(groups: Dict[int, Group]) -> None:
    """The workers' sketches meet when the matrices are made: hist is what it is without the library."""
    found = groups[2].results(group_scenarios.quantile_matrix_of_parts, SHARES[2], "hist")
    stock = Group(2, [["env", "XGBGPU_TEST_METHOD=hist"]] * 2)
    try:
        assert found == stock.results(group_scenarios.quantile_matrix_of_parts, SHARES[2], "hist")
    finally:
        stock.end()


@pytest.mark.skipif(SERIES >= 200, reason="newer XGBoosts refuse infinite values")
def test_a_worker_without_values_puts_all_on_xgboosts_bins() -> None:
    """They depend on how rows are dealt: the model is not that of one process, but the same on all workers."""
    for workers in (2, 3):
        with group_of(workers) as group:  # a new one: a process says each thing once
            found = group.results(group_scenarios.bins_of_workers, SHARES[workers])
        assert [model for model, _ in found] == [found[0][0]] * workers
        assert [says for _, says in found] == [True] + [False] * (workers - 1)


def test_categories_and_a_threshold_below_all_values(groups: Dict[int, Group]) -> None:
    """XGBoost 3.3 and newer show the first bin, which begins at minus infinity, by the number below its upper end."""
    found = groups[2].results(group_scenarios.threshold_below_all_values)
    assert len({trees for trees, _, _ in found}) == 1
    for _, labels, predicted in found:
        assert predicted == labels


def test_the_first_worker_alone_speaks_for_all() -> None:
    how = {"num_leaves": 7, "device": "cuda:0", "n_gpus": 0, "gpu_backend": "auto"}
    with group_of(2) as group:  # a new one: a process says each thing once
        said = group.results(group_scenarios.what_is_said, SHARES[2], how)
    assert said[1] == []
    for word in ("parameter num_leaves ", "runs on the CPU because"):
        assert len([line for line in said[0] if word in line]) == 1, said
    assert "not used" not in "".join(said[0])


def test_external_memory(groups: Dict[int, Group], tmp_path: pathlib.Path) -> None:
    folders = [tmp_path / name for name in ("alone", "together")]
    for folder in folders:
        folder.mkdir()
    expected = group_scenarios.pages(None, str(folders[0]))
    assert groups[2].results(group_scenarios.pages, SHARES[2], str(folders[1])) == [expected] * 2


def test_other_threads_are_in_no_group(groups: Dict[int, Group]) -> None:
    found = groups[2].results(group_scenarios.in_other_threads, SHARES[2])
    assert found[0] == found[1] and found[0][2]


def test_who_leaves_a_group_trains_alone(groups: Dict[int, Group]) -> None:
    data = group_scenarios.Data(dict(objective="binary:logistic"))
    how = group_scenarios.settings(dict(objective="binary:logistic"))
    expected = group_scenarios.models(xgb.train(how, data.matrix(0, 500), 2))
    assert groups[2].results(group_scenarios.alone_again) == [expected] * 2


def test_each_worker_writes_its_own_timeline(groups: Dict[int, Group], tmp_path: pathlib.Path) -> None:
    """And each reads its own profile: that of the second worker has no rows, but the same rounds."""
    files = [str(tmp_path / name) for name in ("t.json", "t.json.worker1", "t.json.worker2")]
    found = groups[3].results(group_scenarios.traced, SHARES[3], files[0])
    assert sorted(map(str, tmp_path.iterdir())) == files
    assert found == [(file, 2) for file in files]  # a profile leaves out the first round
    for file in tmp_path.iterdir():
        json.loads(file.read_text())


def say(answers: List[Any], *words: str) -> None:
    """Asserts that every worker has failed, with these words."""
    for number, answer in enumerate(answers):
        assert isinstance(answer, WorkerError), f"worker {number} has not failed: {answer!r}"
        for word in words:
            assert word in str(answer), f"worker {number}: no {word!r} in {answer}"


@pytest.mark.parametrize(
    "what, words",
    [
        ("parameter", ("max_depth", "'4' on worker 0", "'3' on worker 1")),
        ("max_bin", ("parameter max_bin", "'256' on worker 0", "'8' on worker 1")),
        ("forest", ("num_parallel_tree", "'1' on worker 0", "'2' on worker 1")),
        ("seed", ("seed", "'0' on worker 0", "'9' on worker 1")),
        ("objective", ("scale_pos_weight", "worker 0", "worker 1")),
        ("metric", ("eval_metric", "'logloss' on worker 0", "'logloss,auc' on worker 1")),
        ("matrices", ("number of evaluated matrices", "'1' on worker 0", "'2' on worker 1")),
        ("learning rate", ("eta", "on worker 0", "on worker 1")),
        ("bad category", ("Category of row 5, feature 3 is -3",)),
        ("label", ("Label of row 3 is 2",)),
        ("weights", ("weights", "all or none")),
        ("feature weights", ("feature_weights of worker 1", "worker 0")),
        ("categories", ("categorical", "'' on worker 0", "'3' on worker 1")),
        ("booster", ("booster", "'gbtree' on worker 0", "'dart' on worker 1") if SERIES < 303 else ("rate_drop", "'0.5'")),
        ("growth", ("grow_policy", "'depthwise' on worker 0", "'symmetric' on worker 1")),
        ("sample", ("sampling_method", "'uniform' on worker 0", "'goss' on worker 1")),
        ("other objective", ("binary:logistic' on worker 0", "reg:squarederror' on worker 1")),
        ("distribution", ("aft_loss_distribution", "'normal' on worker 0", "'extreme' on worker 1")),
        ("bias norm", ("lambdarank_bias_norm", "'1' on worker 0", "'1.00000001' on worker 1")),
        ("device", ("gpu_backend", "'cuda'", "workers, and a worker", "supported: gpu_backend=host")),
    ],
)
def test_workers_that_differ_all_get_an_error(groups: Dict[int, Group], what: str, words: Tuple[str, ...]) -> None:
    for workers in (2, 3):
        answers = groups[workers].run(group_scenarios.differ, np.linspace(0, 1, workers + 1).tolist(), what)
        say(answers, *words)
        assert max(groups[workers].seconds) < SOON
    # What comes next is not disturbed.
    expected = group_scenarios.columns_of_one(None, "array")
    assert groups[2].results(group_scenarios.columns_of_one, [0, 0.5, 1], "array") == [expected] * 2


def test_a_worker_without_rows_has_the_feature_types_of_the_others(groups: Dict[int, Group]) -> None:
    expected = group_scenarios.types_of_others(None)
    for workers in (3, 4):  # of which the second has no rows
        assert groups[workers].results(group_scenarios.types_of_others, SHARES[workers]) == [expected] * workers
    answers = groups[3].run(group_scenarios.types_of_others, SHARES[3], True)
    if SERIES < 200:  # a QuantileDMatrix has been made with other types: what it says of its rows would be wrong
        say(answers, "categorical features (feature_types)", "'3' on worker 0", "'' on worker 1")
    else:  # XGBoost takes the types of the others
        assert answers == [answers[0]] * 3 and not isinstance(answers[0], Exception)


def test_metrics_that_differ_are_named_before_python_adds_up_histories() -> None:
    with group_of(2) as group:
        answers = group.run(group_scenarios.trains_with_other_metrics, SHARES[2], silence=2 * SOON)
    say(answers, "eval_metric", "'logloss' on worker 0", "'logloss,auc' on worker 1")
    assert max(group.seconds) < SOON


@pytest.mark.parametrize("shares", [[0, 0, 0.5, 1], [0, 0.5, 0.5, 1], [0, 0.5, 1, 1]], ids=str)
def test_counts_where_a_worker_has_no_rows(groups: Dict[int, Group], shares: List[float]) -> None:
    expected = group_scenarios.counts(None)
    assert groups[3].results(group_scenarios.counts, shares) == [expected] * 3


def test_a_worker_that_has_trained_a_dart_before_joins_others_that_have_not() -> None:
    with group_of(2) as group:
        answers = group.results(group_scenarios.dart_after_one, SHARES[2], silence=SOON)
    assert answers == [group_scenarios.dart_after_one(None)] * 2


@pytest.mark.parametrize("what", ["method", "matrix", "metric"])
def test_a_worker_that_waits_elsewhere_is_an_error_of_all(what: str) -> None:
    with group_of(2) as group:
        answers = group.run(group_scenarios.waits_elsewhere, SHARES[2], what, silence=3)
    say(answers[:1], "worker 0 of 2 does not reach the others any more", "a stock tree_method, with another kind of matrix")
    assert isinstance(answers[1], WorkerError)
    assert max(group.seconds) < SOON


def test_a_ranking_with_weights_of_rows_is_refused(groups: Dict[int, Group]) -> None:
    """XGBoost 1.7 takes the first weight as that of its only group. Each worker would have another one."""
    answers = groups[2].run(group_scenarios.ranks_by_weights_of_rows, SHARES[2])
    if SERIES < 200:
        say(answers, "weights and no groups", "one of 2 workers", "qid", "no weights")
    else:
        say(answers, "Size of weight must equal to the number of query groups")


def test_workers_of_whom_none_has_rows_train_leaves_of_0(groups: Dict[int, Group]) -> None:
    assert groups[2].results(group_scenarios.train_on_nothing) == [["0:leaf=0\n"] * 2] * 2


def test_a_worker_with_more_rounds_does_not_wait_for_ever(groups: Dict[int, Group]) -> None:
    answers = groups[2].run(group_scenarios.differ, [0, 0.5, 1], "rounds")
    assert answers[0] is None
    say(answers[1:], "does not reach the others any more", "worker 1 of 2")


@pytest.mark.parametrize(
    "how, words",
    [
        (dict(tree_method="gpu_exact"), ("gpu_exact", "one of 2 workers", "gpu_hist on all of them")),
        (dict(gpu_backend="cuda"), ("gpu_backend", "'cuda'", "one of 2 workers", "gpu_backend=host")),
        (dict(n_gpus=2), ("n_gpus", "2")),
        (dict(updater="grow_gpu_hist,prune"), ("updater", "one of 2 workers")),
        (dict(process_type="update", updater="grow_gpu_hist"), ("process_type", "update")),
    ],
)
def test_what_is_refused(groups: Dict[int, Group], how: Dict[str, Any], words: Tuple[str, ...]) -> None:
    say(groups[2].run(group_scenarios.refused, [0, 0.5, 1], how), *words)


@pytest.mark.parametrize("how", ["killed", "raises", "silent"])
def test_a_worker_that_is_lost_is_an_error_of_the_others(how: str) -> None:
    for workers in (2, 3):
        with group_of(workers) as group:
            answers = group.run(
                group_scenarios.dies, np.linspace(0, 1, workers + 1).tolist(), how, silence=3
            )
            lost = answers.pop(1)
            if how == "killed":
                assert isinstance(lost, Died)
            say(answers, "does not reach the others any more", "has left or died", TIME_LIMIT)
            assert "silent" != how or min(group.seconds[0], group.seconds[-1]) >= 3
            assert max(group.seconds[:1] + group.seconds[2:]) < SOON
            if how == "raises":  # all can train on, together and alone
                expected = group_scenarios.columns_of_one(None, "array")
                shares = np.linspace(0, 0.5, workers).tolist() + [1]
                assert group.results(group_scenarios.columns_of_one, shares, "array") == [expected] * workers


def test_a_worker_that_is_stopped_is_an_error_of_the_others() -> None:
    with group_of(2) as group:
        answers = group.run(group_scenarios.stops_amid_long_messages, [0, 0.5, 1], silence=3)
        say(answers, "of 2 does not reach the others any more", TIME_LIMIT)
        assert 3 <= group.seconds[0] < group.seconds[1], "the first has waited for the second to go on"
        assert group.seconds[0] + 3 < group.seconds[1]


def test_a_lost_worker_is_no_signal() -> None:
    with group_of(3) as group:
        answers = group.run(group_scenarios.dies_with_signals, SHARES[3])
        assert isinstance(answers.pop(0), Died)
        say(answers, "does not reach the others any more")


def test_two_hosts_train_one_model_and_a_cable_that_is_pulled_is_an_error() -> None:
    try:
        found = two_hosts.found()
    except two_hosts.NoNamespaces as reason:
        pytest.skip(str(reason))
    for part in ("together", "again"):  # before the cable was pulled, and after it was plugged in
        for number, name in enumerate(two_hosts.SCENARIOS):
            for host, results in enumerate(found[part]):
                assert not isinstance(results, Exception), f"{part}, host {host}: {results!r} {results}"
                assert results[number]["models"] == alone(name)["models"], f"{name}: {part}, host {host}"
                assert results[number]["lines"] == alone(name)["lines"], f"{name}: {part}, host {host}"
    for pulled in found["pulled"]:
        say(pulled["answers"], "of 2 does not reach the others any more", TIME_LIMIT)
        for host, answer in enumerate(pulled["answers"]):
            assert f"worker {host} of 2" in str(answer), str(answer)
        # Silence is the only sign of a pulled cable. The limit is 1.25 seconds longer in the middle of a message; what is
        # beside that is for a busy machine.
        least, most = two_hosts.TIMEOUT - 1, two_hosts.TIMEOUT + SOON
        assert all(least <= one < most for one in pulled["seconds"]), pulled["seconds"]
