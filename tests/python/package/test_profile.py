"""gpu_trace, xgboost_gpu.profile and the progress bar."""

import copy
import io
import json
import os
import pickle
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import pytest
import xgboost as xgb
from support import BACKEND, SERIES, assert_same_trees, binary_labels, make_data, only_ours, params, train

if "xgboost_gpu" in sys.modules:
    import xgboost_gpu

pytestmark = only_ours

OF_TREES = {"gradients", "root rows", "partition", "histograms", "splits", "leaves"}
OF_ROUNDS = {"objective", "metric"}
if BACKEND == "cuda" or SERIES < 304:  # since 3.4 XGBoost adds leaf values to margins on the host
    OF_ROUNDS.add("margins")
ROUNDS = 5


@pytest.fixture(scope="module")
def matrices() -> List[xgb.DMatrix]:
    x, y = make_data(5000, 6)
    y = binary_labels(y)
    return [xgb.DMatrix(x, y), xgb.DMatrix(x[:2000], y[:2000])]


@pytest.fixture
def traced(matrices: List[xgb.DMatrix], tmp_path: Path) -> xgb.Booster:
    return xgb.train(
        params(gpu_trace=str(tmp_path / "trace.json"), objective="binary:logistic", max_depth=3),
        matrices[0],
        ROUNDS,
        evals=[(matrices[1], "valid")],
        verbose_eval=False,
    )


def events(file: Path) -> List[Dict[str, Any]]:
    return json.loads(file.read_text(encoding="utf-8"))


def bars(file: Path, process: int) -> List[Dict[str, Any]]:
    return [event for event in events(file) if event["ph"] == "X" and event["pid"] == process]


def test_a_trace_has_every_stage_of_every_round(traced: xgb.Booster, tmp_path: Path) -> None:
    stages = bars(tmp_path / "trace.json", 1)
    of_device = {"evaluation"} if BACKEND == "cuda" else set()
    assert {stage["name"] for stage in stages} == OF_TREES | OF_ROUNDS | of_device
    for name in OF_TREES:
        assert {s["args"]["tree"] for s in stages if s["name"] == name} == set(range(ROUNDS)), name
    for name in OF_ROUNDS:
        assert sum(s["name"] == name for s in stages) == ROUNDS, name
    assert {s["args"]["level"] for s in stages if s["name"] == "histograms"} == {0, 1, 2}
    assert all(s["dur"] >= 0 for s in stages)


def test_a_trace_has_what_the_host_did(traced: xgb.Booster, tmp_path: Path) -> None:
    spans = bars(tmp_path / "trace.json", 2)
    for name in ("boost", "tree", "store tree", "predict", "metric", "evaluate"):
        assert {s["args"]["round"] for s in spans if s["name"] == name} == set(range(ROUNDS)), name
    # The call that began the file had begun before it.
    for name in ("update", "margins", "objective"):
        assert {s["args"]["round"] for s in spans if s["name"] == name} == set(range(1, ROUNDS)), name
    for number in range(1, ROUNDS):
        (outer,) = [s for s in spans if s["name"] == "update" and s["args"]["round"] == number]
        (inner,) = [s for s in spans if s["name"] == "tree" and s["args"]["round"] == number]
        assert outer["ts"] <= inner["ts"]
        assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.002  # two numbers are rounded to 0.001


def test_a_traced_training_has_the_same_trees(traced: xgb.Booster, matrices: List[xgb.DMatrix]) -> None:
    assert_same_trees(traced, train(matrices[0], ROUNDS, objective="binary:logistic", max_depth=3))


def test_a_trace_can_begin_and_end_between_rounds(matrices: List[xgb.DMatrix], tmp_path: Path) -> None:
    booster = xgb.Booster(params(max_depth=2), matrices)
    for i, file in enumerate(("", "a", "a", "b", "")):
        booster.set_param({"gpu_trace": str(tmp_path / file) if file else ""})
        booster.update(matrices[i % 2], i)  # each has a trainer of its own
    assert {s["args"]["round"] for s in bars(tmp_path / "a", 2) if s["name"] == "tree"} == {1, 2}
    assert {s["args"]["round"] for s in bars(tmp_path / "b", 2) if s["name"] == "tree"} == {3}


def test_a_trace_is_good_after_every_round_and_valid_json_at_the_end(matrices: List[xgb.DMatrix], tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    booster = xgb.Booster(params(gpu_trace=str(file), max_depth=2), [matrices[0]])
    for i in range(3):
        booster.update(matrices[0], i)
        text = file.read_text(encoding="utf-8")
        assert text.endswith("}"), "whole events, and no end yet"
        assert len([e for e in json.loads(text + "]") if e["name"] == "store tree"]) == i
    assert xgboost_gpu.profile(file).rounds == 2
    del booster
    assert {s["args"]["round"] for s in bars(file, 2) if s["name"] == "store tree"} == {0, 1, 2}
    assert xgboost_gpu.profile(file).rounds == 2


@pytest.mark.skipif(BACKEND == "cuda", reason="a process that has used CUDA is not forked")
def test_a_forked_process_leaves_the_trace_alone(matrices: List[xgb.DMatrix], tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    booster = xgb.Booster(params(gpu_trace=str(file), max_depth=2, nthread=1), [matrices[0]])
    booster.update(matrices[0], 0)
    child = os.fork()
    if child == 0:
        del booster
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    booster.update(matrices[0], 1)
    del booster
    assert {s["args"]["round"] for s in bars(file, 2) if s["name"] == "store tree"} == {0, 1}


def test_a_trace_may_be_moved_while_it_is_written(matrices: List[xgb.DMatrix], tmp_path: Path) -> None:
    booster = xgb.Booster(params(gpu_trace=str(tmp_path / "trace.json"), max_depth=2), [matrices[0]])
    booster.update(matrices[0], 0)
    (tmp_path / "trace.json").rename(tmp_path / "moved.json")
    booster.update(matrices[0], 1)
    del booster
    assert {s["args"]["round"] for s in bars(tmp_path / "moved.json", 2) if s["name"] == "store tree"} == {0, 1}
    assert not (tmp_path / "trace.json").exists()


def test_the_newest_booster_has_the_file(matrices: List[xgb.DMatrix], tmp_path: Path, capfd: Any) -> None:
    file = tmp_path / "trace.json"
    (tmp_path / "link.json").symlink_to(file)
    first, second = (xgb.Booster(params(gpu_trace=str(tmp_path / f), max_depth=2), matrices) for f in ("trace.json", "link.json"))
    first.update(matrices[0], 0)
    for i in range(3):
        second.update(matrices[1], i)
        first.update(matrices[0], i + 1)
    del second
    whole = file.read_bytes()
    assert sorted(s["args"]["round"] for s in bars(file, 2) if s["name"] == "store tree") == [0, 1, 2]
    first.update(matrices[0], 4)
    del first
    assert file.read_bytes() == whole
    said = capfd.readouterr()
    warning = f"gpu_trace: '{tmp_path / 'link.json'}' is now written by another booster; the one before it writes no more."
    assert (said.out + said.err).count(warning) == 1
    xgb.train(params(gpu_trace=str(file)), matrices[0], 2)  # nobody has this booster any more
    said = capfd.readouterr()
    assert "another booster" not in said.out + said.err


def test_a_trace_of_cross_validation_is_that_of_the_last_fold(matrices: List[xgb.DMatrix], tmp_path: Path, capfd: Any) -> None:
    file = tmp_path / "trace.json"
    xgb.cv(params(gpu_trace=str(file), objective="binary:logistic"), matrices[0], ROUNDS, nfold=3)
    assert xgboost_gpu.profile(file).rounds == ROUNDS - 1
    for name in ("tree", "store tree", "boost"):
        assert [s["args"]["round"] for s in bars(file, 2) if s["name"] == name] == list(range(ROUNDS)), name
    times = [s["ts"] for s in bars(file, 2) if s["name"] == "tree"]
    assert times == sorted(times)
    said = capfd.readouterr()
    assert (said.out + said.err).count("is now written by another booster") == 1


def test_of_boosters_in_threads_one_has_the_file(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    together = threading.Barrier(4, timeout=600)

    def work(_: int) -> None:
        data = xgb.DMatrix(*make_data(100, 3))
        booster = xgb.Booster(params(gpu_trace=str(file), nthread=1), [data])
        for i in range(ROUNDS):
            together.wait()
            booster.update(data, i)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [s["args"]["round"] for s in bars(file, 2) if s["name"] == "tree"] == list(range(ROUNDS))


def counted_twice(stages: List[Dict[str, Any]], begin: float, end: float) -> float:
    """Returns the total time of stages that begin in [begin, end), less the time in there in which any stage runs."""
    twice, until = 0.0, begin
    for stage in sorted(stages, key=lambda s: s["ts"]):
        start, stop = stage["ts"], stage["ts"] + stage["dur"]
        twice += stage["dur"] if begin <= start < end else 0
        twice -= max(0.0, min(stop, end) - max(start, until))
        until = max(until, stop)
    return twice


def test_profile_adds_up(traced: xgb.Booster, tmp_path: Path) -> None:
    profile = xgboost_gpu.profile(traced)
    assert profile.rounds == ROUNDS - 1
    names = {(t.place, t.name) for t in profile.times}
    assert {("stages", name) for name in OF_TREES | OF_ROUNDS} <= names
    assert {("host", name) for name in ("update", "tree", "store tree", "caller")} <= names
    assert all(t.total >= -1e-6 for t in profile.times)
    # Every microsecond of a round belongs to a stage or to the host. A device's clock is compared with the host's once
    # a tree, and may let a stage begin before another ends. Time that two stages share so counts for both. Starts and
    # durations are rounded to 0.001 us, so each end of a bar is off by as much, and is part of at most two sums.
    file = tmp_path / "trace.json"
    stages, spans = bars(file, 1), bars(file, 2)
    begin = next(s["ts"] for s in spans if s["name"] == "update" and s["args"]["round"] == 1)
    length = profile.times[0].total / profile.times[0].share
    twice = counted_twice(stages, begin, begin + length)
    rounding = 2 * 2 * 0.001 * (len(stages) + len(spans))
    assert sum(t.total for t in profile.times) == pytest.approx(length + twice, abs=rounding)
    if BACKEND == "host":
        assert twice == pytest.approx(0, abs=rounding)
    assert 0 < profile.busy_us < profile.round_us
    assert 0 < profile.host_us < profile.round_us
    text = str(profile)
    assert all(name in text for name in OF_TREES | {"store tree", "host overhead"})


@pytest.mark.parametrize("end", ["", "\n]\n"])
def test_profile_of_a_known_file(tmp_path: Path, end: str) -> None:
    """Two rounds of 100 us have 60 in a stage, of which 10 are outside of the span that waits, and 5 of tracing."""
    file = tmp_path / "known.json"
    events: List[Dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "x"}}]

    def add(name: str, process: int, start: float, duration: float, **facts: int) -> None:
        events.append({"name": name, "ph": "X", "pid": process, "tid": 0, "ts": start, "dur": duration, "args": facts})

    for number in (0, 1):
        start = 100.0 * number
        add("update", 2, start, 80, round=number)
        add("tree", 2, start + 10, 60, round=number)
        add("tracing", 2, start + 65, 5, round=number)
        add("histograms", 1, start + 5, 60, tree=number, level=0)
    add("evaluate", 2, 190, 10, round=1)
    file.write_text("[" + ",\n".join(map(json.dumps, events)) + end, encoding="utf-8")
    profile = xgboost_gpu.profile(file)
    assert (profile.rounds, profile.round_us, profile.busy_us, profile.host_us) == (2, 100, 60, 35)
    found = {(t.place, t.name): (t.calls, t.total) for t in profile.times}
    assert found == {
        ("stages", "histograms"): (2, 120),
        ("host", "update"): (2, 30),  # 80 - 60 of the tree - 5 of the stage before it
        ("host", "tree"): (2, 0),
        ("host", "tracing"): (2, 10),
        ("host", "evaluate"): (1, 10),
        ("host", "caller"): (2, 30),  # 20 and 10
    }


def test_pictures(traced: xgb.Booster, tmp_path: Path) -> None:
    profile = xgboost_gpu.profile(traced)
    profile.save(tmp_path / "stages.svg")
    profile.save_round(tmp_path / "round.svg", 2, title="Round <2>")
    assert "histograms" in (tmp_path / "stages.svg").read_text(encoding="utf-8")
    text = (tmp_path / "round.svg").read_text(encoding="utf-8")
    assert "Round &lt;2&gt;" in text and "histograms, level 2" in text and "store tree" in text
    with pytest.raises(ValueError, match="round is 0, but .* has rounds 1 to 4"):
        profile.save_round(tmp_path / "none.svg", 0)


def test_a_picture_has_a_row_for_each_gpu(tmp_path: Path) -> None:
    """Of two GPUs, whose histograms of level 3 take 40 and 20 of 100 us; the sum over both ends at the same time."""

    def bar(name: str, process: int, start: float, duration: float, **facts: int) -> Dict[str, Any]:
        return {"name": name, "ph": "X", "pid": process, "tid": 0, "ts": start, "dur": duration, "args": facts}

    def write(name: str, histograms: float, spans: List[Dict[str, Any]]) -> Path:
        stages = [
            bar("histograms", 1, 110, histograms, tree=1, level=3),
            bar("exchange", 1, 110 + histograms, 60 - histograms, tree=1, level=3),
        ]
        file = tmp_path / name
        file.write_text(json.dumps([*stages, *spans]), encoding="utf-8")
        return file

    rounds = [bar("update", 2, 100.0 * number, 90, round=number) for number in (1, 2)]
    first, second = write("t.json", 40, rounds), write("t.json.gpu1", 20, [])
    profile = xgboost_gpu.profile(first)
    profile.save_devices(tmp_path / "round.svg", [second], 1)
    text = (tmp_path / "round.svg").read_text(encoding="utf-8")
    assert "GPU 0" in text and "GPU 1" in text and "GPU 2" not in text and "One round on 2 GPUs: 100 us" in text
    for fact in ("histograms, level 3: 40.0 us", "exchange, level 3: 20.0 us", "histograms, level 3: 20.0 us"):
        assert fact in text
    assert "exchange, level 3: 40.0 us" in text
    with pytest.raises(ValueError, match="round is 7, but .* has rounds 1 to 2"):
        profile.save_devices(tmp_path / "none.svg", [second], 7)


def test_pictures_by_matplotlib(traced: xgb.Booster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    profile = xgboost_gpu.profile(traced)
    for name, draw in (("stages.png", profile.save), ("round.png", profile.save_round)):
        draw(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="png needs matplotlib.*svg needs nothing"):
        profile.save(tmp_path / "more.png")


def test_profile_of_an_estimator(tmp_path: Path) -> None:
    x, y = make_data(500, 4)
    model = xgb.XGBRegressor(n_estimators=3, **params(gpu_trace=str(tmp_path / "trace.json"))).fit(x, y)
    assert xgboost_gpu.profile(model).rounds == 2


def test_what_profile_refuses(matrices: List[xgb.DMatrix], traced: xgb.Booster, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without gpu_trace: set gpu_trace"):
        xgboost_gpu.profile(train(matrices[0], 1))
    with pytest.raises(TypeError, match="not int"):
        xgboost_gpu.profile(3)
    bad = tmp_path / "bad.json"
    bad.write_text("no trace", encoding="utf-8")
    with pytest.raises(ValueError, match="bad.json is not a file that gpu_trace has written"):
        xgboost_gpu.profile(bad)
    bad.write_text("[\n", encoding="utf-8")
    with pytest.raises(ValueError, match="bad.json has no complete round after the first, which is not counted: train at least two"):
        xgboost_gpu.profile(bad)
    (tmp_path / "trace.json").unlink()
    with pytest.raises(FileNotFoundError, match="trace.json"):
        xgboost_gpu.profile(traced)


def shown(matrices: List[xgb.DMatrix], *arguments: Any, **others: Any) -> List[str]:
    output = io.StringIO()
    bar = xgboost_gpu.callback.ProgressBar(*arguments, file=output, **others)
    xgb.train(
        params(objective="binary:logistic", eval_metric=["error", "auc"]),
        matrices[0],
        3,
        evals=[(matrices[1], "valid")],
        verbose_eval=False,
        callbacks=[bar],
    )
    return output.getvalue().splitlines()


def test_progress_without_tqdm(matrices: List[xgb.DMatrix], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    where = "GPU 0" if BACKEND == "cuda" else "host"
    lines = shown(matrices, 3, seconds=0)
    assert [line.split(", ")[0] for line in lines] == ["1/3 rounds", "2/3 rounds", "3/3 rounds"]
    assert all(" rounds/s, valid-auc 0." in line and f", {where} memory " in line and "MiB" in line for line in lines)
    assert [line.split(", ")[0] for line in shown(matrices, seconds=1e9)] == ["3/3 rounds"]


@pytest.mark.parametrize("given", [None, 7])
def test_progress_of_an_estimator(given: Optional[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The total is each training's own number of rounds, unless one was given."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    output = io.StringIO()
    bar = xgboost_gpu.callback.ProgressBar(given, file=output, seconds=1e9)
    estimator = xgb.XGBRegressor(n_estimators=4, callbacks=[bar], **params())
    x, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    estimator.fit(x, y)
    estimator.set_params(n_estimators=2).fit(x, y)
    found = [line.split(", ")[0] for line in output.getvalue().splitlines()]
    assert found == [f"4/{given or 4} rounds", f"2/{given or 2} rounds"]


def test_progress_of_a_loop_of_ones_own(matrices: List[xgb.DMatrix], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    output = io.StringIO()
    bar = xgboost_gpu.callback.ProgressBar(file=output, seconds=1e9)
    booster = bar.before_training(xgb.Booster(params(), [matrices[0]]))
    for i in range(2):
        bar.before_iteration(booster, i, {})
        booster.update(matrices[0], i)
        bar.after_iteration(booster, i, {})
    bar.after_training(booster)
    assert output.getvalue().startswith("2 rounds, ")


def test_progress_of_a_training_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """XGBoost calls no callback after the one that stops it, and their order differs from run to run."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)

    class Stop(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return model.num_boosted_rounds() == 5

    data = xgb.DMatrix(np.arange(40.0).reshape(20, 2), np.arange(20.0))
    model = xgb.train(params(), data, 2)
    for before in (0, 2):
        for _ in range(8):
            output = io.StringIO()
            bar = xgboost_gpu.callback.ProgressBar(file=output, seconds=1e9)
            xgb.train(params(), data, 9, callbacks=[bar, Stop()], xgb_model=model if before else None)
            assert output.getvalue().split(", ")[0] == f"{5 - before}/9 rounds"
    for _ in range(8):  # save_best gives back a model of fewer rounds
        output = io.StringIO()
        callbacks = [
            xgboost_gpu.callback.ProgressBar(file=output, seconds=1e9),
            xgb.callback.EarlyStopping(2, save_best=True, maximize=True, metric_name="rmse"),  # round 0 is the best
        ]
        best = xgb.train(params(eval_metric="rmse"), data, 9, evals=[(data, "t")], verbose_eval=False, callbacks=callbacks)
        assert best.num_boosted_rounds() == 1
        assert output.getvalue().split(", ")[0] == "3/9 rounds"


def test_progress_with_tqdm(matrices: List[xgb.DMatrix], monkeypatch: pytest.MonkeyPatch) -> None:
    made: List[Any] = []

    class Bar:
        """The part of tqdm that is used."""

        def __init__(self, **arguments: Any) -> None:
            self.arguments, self.n, self.facts, self.closed = arguments, 0, "", False
            made.append(self)

        def update(self, n: int) -> None:
            self.n += n

        def set_postfix_str(self, facts: str) -> None:
            self.facts = facts

        def close(self) -> None:
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    assert shown(matrices, 3, seconds=0) == []
    (bar,) = made
    assert (bar.arguments["total"], bar.n, bar.closed) == (3, 3, True)
    assert "valid-auc 0." in bar.facts and "MiB" in bar.facts


@pytest.mark.parametrize("name", [None, "stdout", "stderr"])
def test_progress_bars_are_copied_and_sent_with_their_estimator(
    name: Optional[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This also holds after an interrupted training, which may leave a bar that has a file."""
    sklearn = pytest.importorskip("sklearn.base")
    file = None if name is None else getattr(sys, name)
    left = types.SimpleNamespace(file=sys.__stdout__, closed=[])
    left.close = lambda: left.closed.append(True)
    bar = xgboost_gpu.callback.ProgressBar(2, file=file, seconds=0)
    bar._bar = left
    estimator = xgb.XGBRegressor(n_estimators=2, callbacks=[bar], **params())
    x, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    for other in (sklearn.clone(estimator), pickle.loads(pickle.dumps(estimator)), estimator):
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        output = io.StringIO()
        monkeypatch.setattr(sys, name or "stderr", output)
        other.fit(x, y)
        assert "2/2 rounds" in output.getvalue()
        monkeypatch.undo()
    assert left.closed == [True]


def test_a_progress_bar_of_a_file_is_copied_with_it(matrices: List[xgb.DMatrix], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    output = io.StringIO()
    bar = copy.deepcopy(xgboost_gpu.callback.ProgressBar(file=output, seconds=0))
    xgb.train(params(), matrices[0], 2, callbacks=[bar])
    assert "2/2 rounds" in output.getvalue()


def test_progress_of_cross_validation(matrices: List[xgb.DMatrix], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    output = io.StringIO()
    bar = xgboost_gpu.callback.ProgressBar(file=output, seconds=0)
    found = xgb.cv(params(objective="binary:logistic"), matrices[0], 2, nfold=2, callbacks=[bar])
    value = np.asarray(found["test-logloss-mean"])[-1]
    assert "2/2 rounds, " in output.getvalue() and f"test-logloss {value:.5g}" in output.getvalue()


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 2.5}, "rounds is 2.5"),
        ({"rounds": "3"}, "rounds is '3'"),
        ({"seconds": -1.0}, "seconds is -1.0"),
    ],
)
def test_what_the_progress_bar_refuses(bad: Dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        xgboost_gpu.callback.ProgressBar(**bad)
