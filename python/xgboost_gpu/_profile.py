"""Reads files of ``gpu_trace``: time per stage, and pictures of it."""

import bisect
import json
import statistics
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._drawing import Drawing
from ._text import escaped_message, escaped_name

#: Processes of the file: stages of trees and rounds, where the training runs; what the host does.
STAGES, HOST = 1, 2
#: What the host does for the file itself.
TRACING = "tracing"
#: Host spans that a round can begin with, and that belong to no other place.
ROUND_BEGINS = ("update", "margins", "objective", "boost")
COLOURS = ("#66c2a5", "#fc8d62", "#8da0cb", "#e78ac3", "#a6d854", "#ffd92f", "#e5c494", "#66a1a8", "#d9a0a0", "#9fb8d9")
GREY = "#d0d0d0"


class Bar(NamedTuple):
    """Something that ran; times in microseconds."""

    name: str
    start: float
    end: float
    facts: Dict[str, Any]  #: tree, level, bytes (stages); round (host)

    @property
    def duration(self) -> float:
        return self.end - self.start


class StageTime(NamedTuple):
    """Time of one stage, in microseconds."""

    place: str  #: "stages": where the training runs; "host": host code while no stage runs, less what is nested
    name: str
    calls: int
    total: float
    per_round: float
    share: float  #: of the time of all rounds, from 0 to 1


class Profile:
    """Where the time of a training went. ``print`` it for a table; ``save`` draws it, ``save_round`` draws one round.

    A round lasts until the next one begins. So evaluation and the caller's own code are part of it (in the table the
    row "caller"). All times are in microseconds. ``round_us`` is the median round. ``busy_us`` is the median time in
    which some stage ran. ``host_us`` is the host's overhead: the rest of a round without stages and tracing. Stages and
    host take turns in a traced training. In other trainings the host's work overlaps with the next tree.
    """

    def __init__(self, stages: List[Bar], spans: List[Bar], source: str) -> None:
        self.source = source
        self._stages = stages
        self._spans = spans
        self._rounds = _rounds(stages, spans)
        if not self._rounds:
            raise ValueError(
                f"{escaped_name(source)} has no complete round after the first, which is not counted: train at least two "
                "rounds with gpu_trace"
            )
        times = [self._times_of(window) for window in self._rounds.values()]
        self.rounds = len(times)
        self.round_us = statistics.median(t[0] for t in times)
        self.busy_us = statistics.median(t[1] for t in times)
        self.host_us = statistics.median(t[0] - t[1] - t[2] for t in times)
        self.times = self._stage_times()

    def _times_of(self, window: Tuple[float, float]) -> Tuple[float, float, float]:
        """Length of a round, the time of its stages, and the time of its tracing."""
        return (
            window[1] - window[0],
            _covered(self._stages, window),
            _covered([s for s in self._spans if s.name == TRACING], window),
        )

    def _stage_times(self) -> List[StageTime]:
        windows = list(self._rounds.values())
        begin, end = windows[0][0], windows[-1][1]
        found: Dict[Tuple[str, str], List[float]] = {}
        for bar in self._stages:
            if begin <= bar.start < end:
                found.setdefault(("stages", bar.name), []).append(bar.duration)
        for bar, own in _own_times(self._spans, self._stages):
            if begin <= bar.start < end:
                found.setdefault(("host", bar.name), []).append(own)
        everything = sorted([*self._stages, *self._spans], key=lambda bar: bar.start)
        found["host", "caller"] = [w[1] - w[0] - _covered(everything, w) for w in windows]
        times = [
            StageTime(place, name, len(d), sum(d), sum(d) / self.rounds, sum(d) / (end - begin))
            for (place, name), d in found.items()
        ]
        return sorted(times, key=lambda t: (t.place != "stages", -t.total))

    def __str__(self) -> str:
        width = max(len(t.name) for t in self.times)
        head = f"{'':8}{'':{width}}  {'calls':>7} {'total ms':>10} {'mean us':>12} {'share':>6}"
        lines = [
            f"{t.place:8}{t.name:{width}}  {t.calls:7} {t.total / 1e3:10.3f} {t.per_round:12.1f} {t.share:6.1%}"
            for t in self.times
        ]
        return "\n".join([head, *lines, f"{self.rounds} rounds: mean us is the mean of all; medians: {self._summary(*self._medians())}"])

    __repr__ = __str__  # in a notebook

    def _medians(self) -> Tuple[float, float, float]:
        return self.round_us, self.busy_us, self.host_us

    @staticmethod
    def _summary(length: float, busy: float, host: float) -> str:
        return f"a round {length:,.0f} us, stages {busy:,.0f} us, host overhead {host:,.0f} us"

    def save(self, file: Union[str, Path]) -> None:
        """Draws the table as bars: an SVG, or what else matplotlib writes (PNG, PDF) if that is installed."""
        largest = max(t.per_round for t in self.times)
        drawing = Drawing(960, 60 + 22 * len(self.times))
        drawing.text(150, 20, f"Time per stage in a round (means). Medians: {self._summary(*self._medians())}")
        for i, time in enumerate(self.times):
            y = 40 + 22 * i
            drawing.text(142, y + 13, time.name if time.place == "stages" else f"host: {time.name}", "end")
            length = max(0.5, 640 * time.per_round / largest if largest > 0 else 0)
            drawing.box(150, y, length, 17, COLOURS[i % len(COLOURS)] if time.place == "stages" else GREY, time.name)
            drawing.text(156 + length, y + 13, f"{time.per_round:,.1f} us  ({time.share:.1%})")
        drawing.save(file)

    def save_round(self, file: Union[str, Path], number: Optional[int] = None, title: str = "One round") -> None:
        """Draws one round, by default one in the middle: a row for each stage, below them what the host did, nested."""
        begin, end = window = self._window(number)
        stages = [b for b in self._stages if begin <= b.start < end]
        spans = _with_depth([s for s in self._spans if begin <= s.start < end])
        names = list(dict.fromkeys(b.name for b in stages))
        depths = 1 + max((depth for _, depth in spans), default=0)
        drawing = Drawing(960, 60 + 26 * (len(names) + depths))
        scale = 820 / (end - begin)
        length, busy, tracing = self._times_of(window)
        drawing.text(110, 18, f"{title}: {self._summary(length, busy, length - busy - tracing)}; tracing {tracing:,.0f} us")
        for i, name in enumerate([*names, *(["host"] + [""] * (depths - 1))]):
            drawing.text(102, 45 + 26 * i, name, "end")
            drawing.line(110, 52 + 26 * i, 930, 52 + 26 * i)
        for bar in stages:
            row = names.index(bar.name)
            label = str(bar.facts.get("level", ""))
            _draw(drawing, bar, 110 + (bar.start - begin) * scale, 30 + 26 * row, scale, COLOURS[row % len(COLOURS)], label)
        for span, depth in spans:
            y = 30 + 26 * (len(names) + depth)
            colour = "#f4f4f4" if span.name == TRACING else GREY
            _draw(drawing, span, 110 + (span.start - begin) * scale, y, scale, colour, span.name)
        for step in range(6):
            anchor = "middle" if step < 5 else "end"
            drawing.text(110 + 164 * step, 48 + 26 * (len(names) + depths), f"{(end - begin) * step / 5:,.0f} us", anchor)
        drawing.save(file)

    def save_devices(self, file: Union[str, Path], others: Union[str, Path, Sequence[Union[str, Path]]], number: Optional[int] = None) -> None:
        """Draws one round of a training on several GPUs, by default one in the middle: a row for each of them.

        ``others`` are the files of the other GPUs, ``trace.json.gpu1`` and so on, where ``gpu_trace`` is ``trace.json``.
        Stages have a colour each, ``exchange`` is the sum of a level over all GPUs, and what is empty is the host's.
        """
        others = [others] if isinstance(others, (str, Path)) else others
        begin, end = self._window(number)
        devices = [self._stages, *(_read(Path(other))[0] for other in others)]
        shown = [[bar for bar in stages if begin <= bar.start < end] for stages in devices]
        names = list(dict.fromkeys(bar.name for stages in shown for bar in stages))
        drawing = Drawing(960, 96 + 26 * len(shown))
        scale = 820 / (end - begin)
        drawing.text(110, 18, f"One round on {len(shown)} GPUs: {end - begin:,.0f} us")
        for row, stages in enumerate(shown):
            drawing.text(102, 45 + 26 * row, f"GPU {row}", "end")
            drawing.line(110, 52 + 26 * row, 930, 52 + 26 * row)
            for bar in stages:
                colour = COLOURS[names.index(bar.name) % len(COLOURS)]
                label = str(bar.facts.get("level", ""))
                _draw(drawing, bar, 110 + (bar.start - begin) * scale, 30 + 26 * row, scale, colour, label)
        below = 48 + 26 * len(shown)
        for step in range(6):
            anchor = "middle" if step < 5 else "end"
            drawing.text(110 + 164 * step, below, f"{(end - begin) * step / 5:,.0f} us", anchor)
        for i, name in enumerate(names):
            x = 110 + 840 * i / len(names)
            drawing.box(x, below + 16, 12, 12, COLOURS[i % len(COLOURS)], name)
            drawing.text(x + 16, below + 26, name)
        drawing.save(file)

    def _window(self, number: Optional[int]) -> Tuple[float, float]:
        """When a round began and ended; without a number, one in the middle."""
        number = list(self._rounds)[len(self._rounds) // 2] if number is None else number
        if number not in self._rounds:
            known = f"{min(self._rounds)} to {max(self._rounds)}"
            raise ValueError(f"round is {number}, but {escaped_name(self.source)} has rounds {known}")
        return self._rounds[number]


def profile(booster: Any) -> Profile:
    """Time per stage of a training with ``gpu_trace``.

    ``booster`` is what was trained with the parameter ``gpu_trace``, or a copy of it: a ``Booster``, or a fitted
    estimator of ``xgboost.sklearn``, whose file is still there; or the name of such a file. What ran after the last
    round is in the file once the booster that trained is gone, as it is when ``xgboost.train`` returns; then the file
    is valid JSON.

        booster = xgb.train({"tree_method": "gpu_hist", "gpu_trace": "trace.json"}, data, 20)
        profile = xgboost_gpu.profile(booster)
        print(profile)
        profile.save("stages.png")
        profile.save_round("round.svg")

    Raises ValueError if the booster was not traced or the file is no trace, FileNotFoundError if it is gone.
    """
    file = booster if isinstance(booster, (str, Path)) else _trace_of(booster)
    return Profile(*_read(Path(file)), str(file))


def _trace_of(booster: Any) -> str:
    if hasattr(booster, "get_booster"):
        booster = booster.get_booster()
    if not hasattr(booster, "save_config"):
        raise TypeError(f"profile takes a Booster, a fitted estimator or a file's name, not {type(booster).__name__}")
    section = json.loads(booster.save_config())["learner"]["gradient_booster"]
    file = section.get("gbtree", section).get("xgboost_gpu_param", {}).get("traced_to", "")
    if not file:
        raise ValueError("This booster was trained without gpu_trace: set gpu_trace to a file's name and train again")
    return str(file)


def _read(file: Path) -> Tuple[List[Bar], List[Bar]]:
    """Stages and host spans of a file, by time; outer spans before those in them."""
    try:
        text = file.read_text(encoding="utf-8").rstrip()
        events = json.loads(text if text.endswith("]") else text + "]")  # it ends when the booster is gone
        bars = [
            (e["pid"], Bar(e["name"], float(e["ts"]), float(e["ts"]) + float(e["dur"]), e["args"]))
            for e in events
            if e["ph"] == "X"
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{escaped_name(file)} is not a file that gpu_trace has written: {escaped_message(error)}"
        ) from error
    bars.sort(key=lambda b: (b[1].start, -b[1].end))
    return [b for pid, b in bars if pid == STAGES], [b for pid, b in bars if pid == HOST]


def _rounds(stages: List[Bar], spans: List[Bar]) -> Dict[int, Tuple[float, float]]:
    """When each round ran, until the next began. A round that was not traced from its beginning (the first) is none."""
    begins: Dict[int, float] = {}
    complete = set()
    for span in spans:
        number = span.facts["round"]
        if span.name in ROUND_BEGINS:
            begins.setdefault(number, span.start)
        if span.name in ("update", "margins"):
            complete.add(number)
    boundaries = sorted(begins.items(), key=lambda item: item[1])
    last = max((bar.end for bar in [*stages, *spans]), default=0.0)
    ends = [start for _, start in boundaries[1:]] + [last]
    return {number: (start, end) for (number, start), end in zip(boundaries, ends) if number in complete}


def _covered(bars: Iterable[Bar], window: Tuple[float, float]) -> float:
    """How much of the window some bar covers, in microseconds. `bars` are ordered by their start."""
    covered, until = 0.0, window[0]
    for bar in bars:
        start, end = max(bar.start, until), min(bar.end, window[1])
        if end > start:
            covered += end - start
            until = end
    return covered


def _with_depth(spans: List[Bar]) -> List[Tuple[Bar, int]]:
    """Each span with the number of spans around it. `spans` are ordered by their start, outer ones first."""
    result: List[Tuple[Bar, int]] = []
    around: List[Bar] = []
    for span in spans:
        while around and around[-1].end <= span.start:
            around.pop()
        result.append((span, len(around)))
        around.append(span)
    return result


def _own_times(spans: List[Bar], stages: List[Bar]) -> List[Tuple[Bar, float]]:
    """Each span with its duration, less the time of the spans directly in it and of stages that run meanwhile."""
    inside: List[List[Bar]] = [[] for _ in spans]
    around: List[int] = []
    for i, span in enumerate(spans):
        while around and spans[around[-1]].end <= span.start:
            around.pop()
        if around:
            inside[around[-1]].append(span)
        around.append(i)
    busy = _merged(stages)
    starts, ends = [bar.start for bar in busy], [bar.end for bar in busy]
    own = []
    for span, nested in zip(spans, inside):
        first = bisect.bisect_right(ends, span.start)
        last = bisect.bisect_left(starts, span.end)
        taken = sorted([*nested, *busy[first:last]], key=lambda bar: bar.start)
        own.append((span, span.duration - _covered(taken, (span.start, span.end))))
    return own


def _merged(bars: List[Bar]) -> List[Bar]:
    """Bars that cover the same time and do not overlap. `bars` are ordered by their start."""
    merged: List[Bar] = []
    for bar in bars:
        if merged and bar.start <= merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(bar.end, merged[-1].end))
        else:
            merged.append(bar)
    return merged


def _draw(drawing: Drawing, bar: Bar, x: float, y: float, scale: float, colour: str, label: str) -> None:
    width = max(0.6, bar.duration * scale)
    level = f", level {bar.facts['level']}" if "level" in bar.facts else ""
    drawing.box(x, y, width, 20, colour, f"{bar.name}{level}: {bar.duration:.1f} us")
    if width > 6.5 * len(label) + 2 and label:
        drawing.text(x + width / 2, y + 14, label, "middle", 10)
