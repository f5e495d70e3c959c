"""bench/scaling.py: the arithmetic of its model, and that docs/scaling.md says what it computes."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench" / "scaling.py"
sys.path.insert(0, str(PROGRAM.parent))

import scaling  # noqa: E402

NVLINK, INFINIBAND, ETHERNET = (scaling.NETWORKS[name] for name in ("nvlink", "infiniband", "ethernet"))
HIGGS = scaling.SHAPES["higgs"]
IN_THE_DOCUMENT = ["m1", "higgs", "tall", "airline", "epsilon"]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", str(PROGRAM), *arguments], capture_output=True, text=True)


def test_bytes_of_a_tree() -> None:
    """One child of each pair is summed: 128 nodes of 28 columns × 256 bins × two numbers of 8 bytes."""
    assert [HIGGS.built_nodes(level) for level in range(8)] == [1, 1, 2, 4, 8, 16, 32, 64]
    assert sum(HIGGS.level_bytes(level) for level in range(8)) == 128 * 28 * 256 * 16
    assert HIGGS.searched_bins() == 255 * 28 * 256


def test_one_gpu_sums_nothing_and_takes_what_was_measured() -> None:
    for name, ms in scaling.ONE_GPU_MS.items():
        for network in scaling.NETWORKS.values():
            cost = scaling.round_of(scaling.SHAPES[name], 1, network)
            assert cost.short_sums == sum(cost.level_sums) == 0
            assert cost.total() == pytest.approx(ms, rel=0.05), name  # docs/scaling.md says so
    assert (scaling.CONSTANTS >= 0).all() and scaling.CONSTANTS[0] > 0


def test_two_gpus_sum_as_fast_as_was_measured() -> None:
    for way, times in scaling.TWO_GPUS_US.items():
        for size, us in zip(scaling.SUM_BYTES, times):
            assert scaling.sum_us(2, size, NVLINK, way, (1.0, 1.0)) == pytest.approx(max(us, times[0]))
    # Beyond the last size the last slope goes on.
    far = scaling.sum_us(2, 112 << 20, NVLINK, times=(1.0, 1.0))
    assert far == pytest.approx(249 + (48 / 50) * (249 - 73.6))


def test_sums_over_hosts() -> None:
    # 4 hosts of one GPU: two hops up and two down, three quarters of the bytes each way.
    assert scaling.sum_us(4, 2.8e6, ETHERNET) == pytest.approx(2 * 2 * 35 + 2 * 0.75 * 1000)
    assert scaling.sum_us(4, 2.8e6, ETHERNET, "scatter") == pytest.approx(2 * 2 * 35 + 0.75 * 1000)
    # 2 hosts of 8 GPUs: first within each, then each of 8 links sends an eighth.
    inside = scaling.sum_us(8, 4.5e6, NVLINK)
    assert scaling.sum_us(8, 4.5e6, INFINIBAND) == inside
    assert scaling.sum_us(16, 4.5e6, INFINIBAND) == pytest.approx(inside + 2 * 6 + 2 * 0.5 * 4.5e6 / 8 / 45e3)


@pytest.mark.parametrize("way", ["all", "scatter", "columns"])
def test_only_sums_grow(way: str) -> None:
    for network in scaling.NETWORKS.values():
        costs = [scaling.round_of(HIGGS, gpus, network, way) for gpus in scaling.COUNTS]
        for few, many in zip(costs, costs[1:]):
            assert many.chain == few.chain and many.rows < few.rows and many.splits <= few.splits
            assert many.short_sums > few.short_sums
            assert all(more > less for less, more in zip(few.level_sums, many.level_sums))
        if way != "columns":
            assert costs[-1].rows == pytest.approx(costs[0].rows / 1024)


def test_where_it_stops() -> None:
    shape = scaling.SHAPES["airline"]
    stop = scaling.stops_at(shape, NVLINK)
    times = {gpus: scaling.round_of(shape, gpus, NVLINK).total() for gpus in scaling.COUNTS}
    assert times[2 * stop] > 0.8 * times[stop] and times[stop] <= 0.8 * times[stop // 2]
    assert scaling.stops_at(scaling.Shape(1e13, 28, 8), NVLINK) == 1024
    assert "level 7: 33.6 MB" in scaling.blame(scaling.SHAPES["tall"], 16, NVLINK)


def test_measured_points_are_compared(tmp_path: Path) -> None:
    ms = scaling.round_of(HIGGS, 2, NVLINK).total()
    points = tmp_path / "points.json"

    def compared(*points_: dict) -> subprocess.CompletedProcess:
        points.write_text(json.dumps(points_), encoding="utf-8")
        return run("--measured", str(points))

    near = dict(data="higgs", gpus=2, ms=ms / 1.09)
    assert compared(near).returncode == 0
    far = compared(near, dict(data="airline", gpus=1, ms=2 * scaling.ONE_GPU_MS["airline"], network="infiniband"))
    assert far.returncode == 1
    assert "+9.0 %" in far.stdout and "InfiniBand" in far.stdout
    wrong = compared(dict(data="higs", gpus=2, ms=1))
    assert wrong.returncode == 1 and "'higs' is not known; known: small, mid" in wrong.stderr


def test_the_document_says_what_the_program_computes() -> None:
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert run("--data", *IN_THE_DOCUMENT).stdout.rstrip() in text
    for name in ("airline", "higgs", "tall", "wide", "epsilon"):
        cells = [name]
        for way in ("all", "scatter", "columns"):
            one, *others = (scaling.round_of(scaling.SHAPES[name], gpus, NVLINK, way).total() for gpus in (1, 2, 4, 8))
            cells.append(", ".join(f"{one / ms:.2f}" for ms in others))
        assert f"| {' | '.join(cells)} |" in text


def test_the_picture_is_what_the_program_draws(tmp_path: Path) -> None:
    picture = tmp_path / "scaling.svg"
    assert run("--data", *IN_THE_DOCUMENT, "--plot", str(picture)).returncode == 0
    text = picture.read_text(encoding="utf-8")
    assert text == (ROOT / "docs" / "images" / "scaling.svg").read_text(encoding="utf-8")
    lines = [one for one in ElementTree.fromstring(text).iter() if one.tag.endswith("polyline")]
    assert len(lines) == 3 * (1 + len(IN_THE_DOCUMENT))


def test_constants_are_fitted_to_measured_rounds(tmp_path) -> None:
    """Rounds that are the model's, but for sums that wait half as long and whose bytes take three times as long."""
    points = []
    for name in ("higgs", "tall", "airline", "epsilon"):
        shape = scaling.SHAPES[name]
        for gpus in (1, 2, 4):
            way = scaling.way_of(shape, "all", gpus)
            assert (way == "scatter") == ((name, gpus) in [("epsilon", 2), ("epsilon", 4), ("tall", 2), ("tall", 4)])
            cost = scaling.round_of(shape, gpus, NVLINK, way, times=(0.5, 3.0))
            points.append({"data": name, "gpus": gpus, "ms": cost.total() if gpus > 1 else scaling.ONE_GPU_MS[name]})
    one, times = scaling.fit_all(points, "all")
    assert one == scaling.ONE_GPU_MS and times == pytest.approx((0.5, 3.0))
    one, times = scaling.fit_all([{"data": "higgs", "gpus": 1, "ms": 1.5}], "all")
    assert one == {**scaling.ONE_GPU_MS, "higgs": 1.5} and times == scaling.SUM_TIMES
    half = tmp_path / "1.json", tmp_path / "2.json"
    half[0].write_text(json.dumps(points[:6]))
    half[1].write_text(json.dumps(points[6:]))
    done = run("--fit", *map(str, half))
    assert done.returncode == 0 and "SUM_TIMES = (0.5, 3)\n" in done.stdout
    shown = [line.split() for line in done.stdout.splitlines() if line.startswith(("higgs ", "epsilon "))]
    assert len(shown) == 6
    for line in shown:
        assert line[-1] == "%" and abs(float(line[-2])) <= (5 if line[1] == "1" else 0.05)


def test_measured_rounds_are_dots_of_the_plot(tmp_path) -> None:
    file, picture = tmp_path / "points.json", tmp_path / "plot.svg"
    times = {1: 8.0, 2: 4.0, 4: 4.0}
    points = [{"data": "tall", "gpus": gpus, "ms": ms} for gpus, ms in times.items()]
    points += [{"data": "tall", "gpus": 2, "ms": 80.0, "network": "ethernet"}, {"data": "higgs", "gpus": 2, "ms": 1.0}]
    file.write_text(json.dumps(points))
    assert run("--plot", str(picture), "--data", "tall", "--measured", str(file)).returncode == 0
    dots = [
        (float(dot.get("cx")), float(dot.get("cy")))
        for dot in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}circle")
    ]
    assert len(dots) == 4, "no field has higgs, and no GPU of it was measured"
    (x1, y1), (x2, y2), (x4, y4), ethernet = dots
    assert x2 - x1 == pytest.approx(x4 - x2, abs=0.2) and x2 > x1
    assert y1 - y2 > 10 and y4 == y2, "upwards is faster"
    assert ethernet[0] > x4 and ethernet[1] > y1
