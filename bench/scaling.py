#!/usr/bin/python3
"""How long a round takes on many GPUs: a model of its cost, with measured numbers where there are some.

    bench/scaling.py                                     speed-ups of all data sets on 1 to 1,024 GPUs, and what stops them
    bench/scaling.py --data higgs airline                of some
    bench/scaling.py --rows 50e6 --features 100 --depth 8 [--bins 256]     of other data
    bench/scaling.py --way scatter                       each GPU searches the splits of its share of the features
    bench/scaling.py --way columns                       columns are dealt to the GPUs, not rows
    bench/scaling.py --measured FILE [--within 10]       compares the model with measured rounds; exit status 1 if one is
                                                         further off, in percent
    bench/scaling.py --fit FILE …                        fits the constants to measured rounds: prints those that are
                                                         to be written here, and how far off the model is with them
    bench/scaling.py --plot docs/images/scaling.svg      draws it, and with --measured FILE these rounds, as dots

Rows are dealt to the GPUs, unless `--way columns` is said. What each does with its rows takes 1/n of the time. What does not get shorter: the chain of
kernels of a tree, the search for splits, and the sums of each level's histograms over all GPUs, which get longer.
docs/scaling.md says what the model leaves out.

FILE has measured rounds, as bench_gpus.py and scripts/many_gpus write them: [{"data": "higgs", "gpus": 2, "ms": 0.84},
…], each with a "network" if that is not "nvlink". They are compared with the way that the library goes: where
histograms are large, each GPU searches a share of the features.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np


class Shape(NamedTuple):
    """What a round's time depends on."""

    rows: float
    features: int
    depth: int
    bins: int = 256

    def built_nodes(self, level: int) -> int:
        """Nodes of a level whose rows are summed: of two children one, the other is the difference to the parent."""
        return 1 if level == 0 else 2 ** (level - 1)

    def level_bytes(self, level: int) -> int:
        """What all GPUs add up for one level: a gradient and a hessian of 64 bits for each bin."""
        return self.built_nodes(level) * self.features * self.bins * 16

    def searched_bins(self) -> int:
        """Bins of all nodes for which a split is looked for."""
        return (2**self.depth - 1) * self.features * self.bins


SHAPES = {
    "small": Shape(10e3, 28, 6),
    "mid": Shape(100e3, 28, 6),
    "m1": Shape(1e6, 28, 6),
    "higgs-d6": Shape(10.5e6, 28, 6),
    "higgs": Shape(10.5e6, 28, 8),
    "wide": Shape(1e6, 500, 8),
    "epsilon": Shape(400e3, 2000, 8),
    "tall": Shape(16.3e6, 128, 8),
    "airline": Shape(115e6, 13, 8),
}

# ---- What was measured ----------------------------------------------------------------------------------------------

#: Milliseconds a round on one H200. Constants of one GPU are fitted to them, each weighing the same in proportion.
ONE_GPU_MS = {
    "small": 0.130,  # commit cfb6f371, as the others without a note
    "mid": 0.145,  # docs/kernels.md, "A round"
    "m1": 0.231,
    "higgs-d6": 1.13,  # docs/kernels.md, "Limits"
    "higgs": 1.589,  # docs/benchmarks.md, "Several GPUs"; so are tall, airline and epsilon
    "wide": 2.01,
    "epsilon": 4.316,
    "tall": 6.230,
    "airline": 10.531,
}

#: Microseconds of a sum over two H100 with NVLink, inside a graph, by bytes (docs/kernels.md, "Several GPUs").
#: "all": ncclAllReduce of 64 bits. "scatter": ncclReduceScatter, and ncclAllGather of a 64th of the bytes.
SUM_BYTES = [4 << 10, 112 << 10, 448 << 10, 1792 << 10, 3584 << 10, 7168 << 10, 14336 << 10, 64 << 20]
TWO_GPUS_US = {
    "all": [7.4, 7.3, 10.9, 30.1, 33.1, 45.3, 73.6, 249],
    "scatter": [11.7, 12.9, 15.2, 21.2, 31.0, 37.4, 55.2, 176],
}

#: How many times as long as these sums those of a training take: what each waits, and what its bytes take.
SUM_TIMES = (0.92, 0.526)

# ---- What is assumed ------------------------------------------------------------------------------------------------


class Network(NamedTuple):
    """What connects hosts. Inside of a host it is NVLink."""

    name: str
    gpus_per_host: int
    links_per_host: int
    bytes_per_us: float  #: of one link, in one direction, as a sum gets them
    hop_us: float  #: from the memory of one GPU to that of another


NETWORKS = {
    # One domain of NVLink. Hosts have up to 8 GPUs, and some racks 72: beyond that it is a limit, and no machine.
    "nvlink": Network("NVLink", 1024, 1, math.inf, 0),
    # NDR: 400 Gb/s for each GPU, of which nine tenths arrive. A hop of GPUDirect RDMA with NCCL's kernels.
    "infiniband": Network("InfiniBand", 8, 8, 45e3, 6),
    # A GPU and a link of 25 Gb/s for each host; TCP through the host's memory.
    "ethernet": Network("25 GbE", 1, 1, 2.8e3, 35),
}

#: Short sums of a round beside those of levels: maxima of gradients, then their magnitudes (docs/adr/0017).
SHORT_SUMS = 2
COUNTS = [2**power for power in range(11)]
#: Scaling has stopped where twice as many GPUs take more than this share of the time.
STOPS_AT = 0.8

# ---- The model ------------------------------------------------------------------------------------------------------


def _terms(shape: Shape) -> List[float]:
    """What the time on one GPU is a sum of, each times a constant. The first does not depend on data."""
    return [
        shape.depth,
        shape.rows,
        shape.rows * shape.depth,
        shape.rows * shape.depth * shape.features,
        shape.searched_bins(),
    ]


def fit(measured: Dict[str, float]) -> np.ndarray:
    """Returns the constants, in milliseconds, with the least squares of relative errors. None is negative."""
    a = np.array([_terms(SHAPES[name]) for name in measured])
    ms = np.array(list(measured.values()))
    scale = a.max(axis=0)  # the terms are of very different sizes
    constants = np.zeros(a.shape[1])
    used = np.arange(len(constants))
    while True:
        found = np.linalg.lstsq((a / scale / ms[:, None])[:, used], np.ones(len(ms)), rcond=None)[0]
        if (found >= 0).all():
            constants[used] = found
            return constants / scale
        used = used[found >= 0]


CONSTANTS = fit(ONE_GPU_MS)


def nvlink_us(gpus: int, size: float, way: str, times: Tuple[float, float]) -> float:
    """A sum over GPUs of one domain of NVLink.

    For two it is what was measured, in between by straight lines. For more the part that every sum has grows with the
    number of steps of a tree, and the rest with the bytes that each GPU sends: 2 (n - 1) / n of the sum's.
    """
    if gpus == 1:
        return 0
    sizes, us = SUM_BYTES, TWO_GPUS_US["scatter" if way == "scatter" else "all"]
    two = float(np.interp(size, sizes, us))
    if size > sizes[-1]:
        two += (size - sizes[-1]) * (us[-1] - us[-2]) / (sizes[-1] - sizes[-2])
    wait, rest = us[0] * times[0], max(0.0, two - us[0]) * times[1]
    return wait * math.log2(gpus) + rest * 2 * (gpus - 1) / gpus


def sum_us(
    gpus: int, size: float, network: Network, way: str = "all", times: Optional[Tuple[float, float]] = None
) -> float:
    """A sum of `size` bytes: inside of each host, then over hosts, where each link has its share of the bytes.

    Over hosts it goes up and down a tree, in pieces, so that all links are busy in both directions. Scattered sums go
    up only; what comes back are the best splits, which are few bytes.
    """
    inside = min(gpus, network.gpus_per_host)
    hosts = gpus // inside
    us = nvlink_us(inside, size, way, SUM_TIMES if times is None else times)
    if hosts > 1:
        ways = 1 if way == "scatter" else 2
        share = size / network.links_per_host
        us += 2 * math.log2(hosts) * network.hop_us + ways * (hosts - 1) / hosts * share / network.bytes_per_us
    return us


class Round(NamedTuple):
    """Milliseconds of the parts of a round."""

    chain: float  #: kernels that wait for each other, however few rows there are
    rows: float
    splits: float
    short_sums: float
    level_sums: List[float]

    def total(self) -> float:
        return self.chain + self.rows + self.splits + self.short_sums + sum(self.level_sums)


def level_bytes(shape: Shape, level: int, way: str) -> float:
    """What GPUs send for a level: histograms, or for each row the bit that says to which child it goes."""
    return shape.rows / 8 if way == "columns" else shape.level_bytes(level)


def round_of(
    shape: Shape,
    gpus: int,
    network: Network,
    way: str = "all",
    constants: Optional[np.ndarray] = None,
    times: Optional[Tuple[float, float]] = None,
) -> Round:
    """What a round costs on so many GPUs, by the constants of this program if there are no others.

    Where columns are dealt, every GPU computes all gradients and divides all rows, and adds up its own columns.
    """
    parts = (CONSTANTS if constants is None else constants) * _terms(shape)
    chain, gradients, division, histograms, splits = (float(part) for part in parts)
    each = 1 if way == "columns" else gpus
    return Round(
        chain=chain,
        rows=(gradients + division) / each + histograms / gpus,
        splits=splits if way == "all" else splits / gpus,
        short_sums=SHORT_SUMS * sum_us(gpus, SUM_BYTES[0], network, times=times) / 1e3,
        level_sums=[
            sum_us(gpus, level_bytes(shape, level, way), network, way, times) / 1e3 for level in range(shape.depth)
        ],
    )


def stops_at(shape: Shape, network: Network, way: str = "all") -> int:
    """The number of GPUs of which twice as many are hardly faster; the last one if there is none."""
    times = [round_of(shape, gpus, network, way).total() for gpus in COUNTS]
    for gpus, now, then in zip(COUNTS, times, times[1:]):
        if then > STOPS_AT * now:
            return gpus
    return COUNTS[-1]


def blame(shape: Shape, gpus: int, network: Network, way: str = "all") -> str:
    """What takes most of a round beside the rows."""
    cost = round_of(shape, gpus, network, way)
    level = max(range(shape.depth), key=lambda level: cost.level_sums[level])
    size = level_bytes(shape, level, way)
    waits = shape.depth * sum_us(gpus, 0, network, way) / 1e3
    parts = {
        "the chain of kernels": cost.chain,
        "the search for splits": cost.splits,
        f"the waits of {shape.depth} sums": waits + cost.short_sums,
        f"bytes of sums, above all of level {level}: {size / 1e6:.3g} MB": sum(cost.level_sums) - waits,
    }
    name = max(parts, key=lambda part: parts[part])
    return f"{name} ({parts[name] / cost.total():.0%} of the round)"


# ---- What it prints -------------------------------------------------------------------------------------------------


def table(shapes: Dict[str, Shape], way: str) -> str:
    """Speed-ups by the number of GPUs, and what stops them."""
    lines = []
    for key, network in NETWORKS.items():
        head = ["data", "ms on one", *(f"{gpus:,}" for gpus in COUNTS[1:])]
        rows, why = [], []
        for name, shape in shapes.items():
            times = [round_of(shape, gpus, network, way).total() for gpus in COUNTS]
            rows.append([name, f"{times[0]:.2f}", *(f"{times[0] / ms:.3g}" for ms in times[1:])])
            # The doubling that is not worth it is the one to explain.
            stop = stops_at(shape, network, way)
            last = stop == COUNTS[-1]
            reason = blame(shape, stop if last else 2 * stop, network, way)
            until = "goes on" if last else f"stops at {stop:,}"
            why.append(f"  {name}: {until}; beside rows most is {reason}")
        widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
        lines += [f"{network.name}: times as fast as one GPU"]
        lines += [*(_aligned(row, widths) for row in [head, *rows]), *why, ""]
    return "\n".join(lines)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])


class Deviation(NamedTuple):
    data: str
    gpus: int
    network: str
    measured: float
    modelled: float

    def percent(self) -> float:
        return 100 * (self.modelled / self.measured - 1)


#: Bytes of a histogram from which on each of two GPUs searches a share of the features (collective/collective_policy.h),
#: and columns of a tile, about, of which each GPU needs one.
SHARED_FROM, TILE_COLUMNS = 1 << 19, 28


def way_of(shape: Shape, way: str, gpus: int) -> str:
    """The way that the library goes where rows are dealt (src/tree/shared_bytes.h)."""
    if way != "all" or gpus == 1 or shape.features < gpus * TILE_COLUMNS:
        return way
    return "scatter" if shape.level_bytes(0) >= SHARED_FROM * gpus / (2 * (gpus - 1) ** 2) else "all"


def deviations(
    points: List[dict],
    way: str,
    constants: Optional[np.ndarray] = None,
    times: Optional[Tuple[float, float]] = None,
) -> List[Deviation]:
    """Compares measured rounds with the model."""
    found = []
    for point in points:
        key = point.get("network", "nvlink")
        for name, known in ((point["data"], SHAPES), (key, NETWORKS)):
            if name not in known:
                raise SystemExit(f"error: {name!r} is not known; known: {', '.join(known)}")
        shape, gpus = SHAPES[point["data"]], int(point["gpus"])
        modelled = round_of(shape, gpus, NETWORKS[key], way_of(shape, way, gpus), constants, times).total()
        found.append(Deviation(point["data"], gpus, key, float(point["ms"]), modelled))
    return found


def fit_all(points: List[dict], way: str) -> Tuple[Dict[str, float], Tuple[float, float]]:
    """Returns ONE_GPU_MS with the data sets measured on one GPU, and the SUM_TIMES of the least squares of relative
    errors on several GPUs with NVLink; those of this program if none was measured on several."""
    one = {**ONE_GPU_MS, **{p["data"]: float(p["ms"]) for p in points if p["gpus"] == 1 and p["data"] in SHAPES}}
    constants = fit(one)
    several = [p for p in points if p["gpus"] > 1 and p.get("network", "nvlink") == "nvlink"]
    if not several:
        return one, SUM_TIMES
    none, waits, both = ([d.modelled for d in deviations(several, way, constants, t)] for t in ((0, 0), (1, 0), (1, 1)))
    ms = np.array([float(p["ms"]) for p in several])
    a = np.array([np.subtract(waits, none), np.subtract(both, waits)]).T / ms[:, None]
    times = np.linalg.lstsq(a, 1 - np.array(none) / ms, rcond=None)[0]
    return one, (max(0.0, float(times[0])), max(0.0, float(times[1])))


def comparison(found: List[Deviation]) -> str:
    head = ["data", "GPUs", "network", "measured ms", "model ms", "off by"]
    rows = [
        [one.data, str(one.gpus), NETWORKS[one.network].name]
        + [f"{one.measured:.3f}", f"{one.modelled:.3f}", f"{one.percent():+.1f} %"]
        for one in found
    ]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return "\n".join(_aligned(row, widths) for row in [head, *rows])


COLOURS = ["#1b6ca8", "#d1495b", "#2e933c", "#8a5a9e", "#c98b00", "#555", "#0aa", "#a50", "#06c"]


def plot(shapes: Dict[str, Shape], way: str, points: Sequence[dict] = ()) -> str:
    """Speed-ups as an SVG: a field for each network, both axes logarithmic; measured rounds as dots."""
    one_ms = {p["data"]: float(p["ms"]) for p in points if p["gpus"] == 1}
    size, gap, left, top = 260, 34, 46, 52
    steps = len(COUNTS) - 1
    text: List[str] = []
    for number, (key, network) in enumerate(NETWORKS.items()):
        x0 = left + number * (size + gap)

        def at(gpus: float, times: float, x0: float = x0) -> Tuple[float, float]:
            up = math.log2(max(times, 0.5) / 0.5) / (steps + 1)
            return x0 + math.log2(gpus) / steps * size, top + size - up * size

        text.append(f'<text x="{x0}" y="{top - 10}" font-weight="bold">{network.name}</text>')
        for gpus in COUNTS:
            (x, bottom), (_, y) = at(gpus, 0.5), at(1, gpus)
            text.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="#eee"/>')
            text.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + size}" y2="{y:.1f}" stroke="#eee"/>')
            if math.log2(gpus) % 2 == 0:
                text.append(f'<text x="{x:.1f}" y="{bottom + 14:.1f}" text-anchor="middle">{gpus}</text>')
                text.append(f'<text x="{x0 - 4}" y="{y + 4:.1f}" text-anchor="end">{gpus}</text>')
        lines = [("", "#999", "4 3"), *((name, colour, "") for name, colour in zip(shapes, COLOURS))]
        for name, colour, dashes in lines:
            if name:
                cost = [
                    round_of(shapes[name], gpus, network, way_of(shapes[name], way, gpus) if points else way).total()
                    for gpus in COUNTS
                ]
                times = [cost[0] / ms for ms in cost]
            else:
                times = [float(gpus) for gpus in COUNTS]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(gpus, ratio) for gpus, ratio in zip(COUNTS, times)))
            text.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-dasharray="{dashes}"/>')
            for p in points:
                if p["data"] == name and name in one_ms and p.get("network", "nvlink") == key:
                    x, y = at(int(p["gpus"]), one_ms[name] / float(p["ms"]))
                    text.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
    width, height = left + len(NETWORKS) * (size + gap), top + size + 62
    x, y = left, top + size + 46
    for name, colour in [("as many times as GPUs", "#999"), *zip(shapes, COLOURS)]:
        text.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 16}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<text x="{x + 20}" y="{y}">{name}</text>')
        x += 34 + 7 * len(name)
    box = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    words = "How many times as fast as one GPU (modelled), by the number of GPUs; at the lower edge: half as fast or less"
    title = f'<text x="{left}" y="18" font-size="13">{words}</text>'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', title, *text, "</svg>\n"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ", ".join(SHAPES)
    parser.add_argument("--data", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="NAME", help=names)
    parser.add_argument("--rows", type=float)
    parser.add_argument("--features", type=int)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--bins", type=int, default=256)
    parser.add_argument("--way", choices=["all", "scatter", "columns"], default="all")
    parser.add_argument("--measured", type=Path, metavar="FILE")
    parser.add_argument("--fit", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--within", type=float, default=10, metavar="PERCENT")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    args = parser.parse_args()
    way = args.way
    if (args.rows is None) != (args.features is None):
        parser.error("--rows and --features go together")
    shapes = {name: SHAPES[name] for name in args.data}
    if args.rows is not None:
        shapes = {"yours": Shape(args.rows, args.features, args.depth, args.bins)}
    measured = [] if args.measured is None else json.loads(args.measured.read_text(encoding="utf-8"))
    if args.measured is not None and args.plot is None:
        found = deviations(measured, way)
        print(comparison(found))
        return int(any(abs(one.percent()) > args.within for one in found))
    if args.fit is not None:
        points = [point for file in args.fit for point in json.loads(file.read_text(encoding="utf-8"))]
        one, times = fit_all(points, way)
        print("ONE_GPU_MS =", json.dumps(one, indent=4))
        print(f"SUM_TIMES = ({times[0]:.3g}, {times[1]:.3g})\n")
        print(comparison(deviations(points, way, fit(one), times)))
        return 0
    if args.plot is not None:
        args.plot.write_text(plot(shapes, way, measured), encoding="utf-8")
        return 0
    print(table(shapes, way), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
