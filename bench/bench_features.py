#!/usr/bin/python3
"""What features cost: the time of a round with a feature in use over that of a round without it, on data of higgs' shape.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so PYTHONPATH=python /usr/bin/python3 bench/bench_features.py [--rows 4000000] [--only dart,goss]

A round's time is the slope from a quarter of a training's rounds to its end, by the clock in a callback: cuts, bins and the copy
of the model at the end are not in it. Trainings with and without the feature take turns; each pair gives a ratio, and the median
of the ratios is the result. Rounds of several trees count by tree. Exit status 1 if a ratio is above its limit.
"""

import argparse
import statistics
import sys
import time
from typing import Callable, NamedTuple, Optional

import bench_sampling
import numpy as np
import xgboost as xgb

import xgboost_gpu  # noqa: F401

COLUMNS = 28


class Rows(NamedTuple):
    x: np.ndarray
    y: np.ndarray


class Feature(NamedTuple):
    """A feature in use is `settings` on `data`; without it, `base` on `base_data`. None: the data of the plain training."""

    settings: dict
    base: dict = {}
    data: Optional[Callable[[Rows], xgb.DMatrix]] = None
    base_data: Optional[Callable[[Rows], xgb.DMatrix]] = None
    trees: int = 1  # of a round, where the plain round has one
    limit: float = 1.3


def four_classes(rows: Rows) -> xgb.DMatrix:
    return xgb.DMatrix(rows.x, 2 * rows.y + (rows.x[:, 20] > rows.x[:, 21]))


def heavy_tailed(rows: Rows) -> xgb.DMatrix:
    """Labels over several decades: trees get the wide format of gradients."""
    rng = np.random.default_rng(5)
    return xgb.DMatrix(rows.x, (rows.y - 0.5) * np.exp(3 * np.abs(rng.standard_normal(len(rows.y)))))


def weighted_columns(rows: Rows) -> xgb.DMatrix:
    return xgb.DMatrix(rows.x, rows.y, feature_weights=np.arange(1, COLUMNS + 1))


def quantised(rows: Rows) -> xgb.DMatrix:
    return xgb.QuantileDMatrix(rows.x, rows.y)


def leveled(levels: int, kind: str) -> Callable[[Rows], xgb.DMatrix]:
    """The first two columns in `levels` equal parts, numbered at random, as categories (`kind` c) or as numbers (q)."""

    def matrix(rows: Rows) -> xgb.DMatrix:
        x = rows.x.copy()
        rng = np.random.default_rng(levels)
        for column in (0, 1):
            edges = np.quantile(x[:100_000, column], np.arange(1, levels) / levels)
            x[:, column] = rng.permutation(levels)[np.searchsorted(edges, x[:, column])]
        types = [kind] * 2 + ["q"] * (COLUMNS - 2)
        return xgb.DMatrix(x, rows.y, feature_types=types, enable_categorical=True)

    return matrix


def categories(levels: int, limit: float) -> Feature:
    return Feature({}, data=leveled(levels, "c"), base_data=leveled(levels, "q"), limit=limit)


def features(depth: int) -> dict:
    halves = [list(range(14)), list(range(14, COLUMNS))]
    sampled_columns = {"colsample_bynode": 0.5}
    return {
        "monotone": Feature({"monotone_constraints": str((1, -1) + (0,) * (COLUMNS - 2))}),
        "interaction": Feature({"interaction_constraints": str(halves)}),
        "max_delta_step": Feature({"max_delta_step": 0.5}),
        "alpha": Feature({"reg_alpha": 1.0}),
        "lossguide": Feature({"grow_policy": "lossguide"}),
        "lossguide_any_depth": Feature({"grow_policy": "lossguide", "max_leaves": 2**depth, "max_depth": 0}),
        "symmetric": Feature({"grow_policy": "symmetric"}, limit=1.2),
        "max_leaves_any_depth": Feature({"max_leaves": 2**depth, "max_depth": 0}),
        "colsample_bytree": Feature({"colsample_bytree": 0.5}),
        "colsample_bylevel": Feature({"colsample_bylevel": 0.5}),
        "colsample_bynode": Feature(sampled_columns),
        "feature_weights": Feature(sampled_columns, base=sampled_columns, data=weighted_columns),
        "scale_pos_weight": Feature({"scale_pos_weight": 2.0}),
        "subsample_0.5": Feature({"subsample": 0.5}),
        "subsample_0.1": Feature({"subsample": 0.1}, limit=0.3),
        "gradient_based_0.1": Feature({"sampling_method": "gradient_based", "subsample": 0.1}, limit=0.3),
        "goss": Feature({"sampling_method": "goss"}),  # 0.2 and 0.1 of the rows
        "goss_0.1": Feature({"sampling_method": "goss", "top_rate": 0.05, "other_rate": 0.05}, limit=0.3),
        "num_parallel_tree": Feature({"num_parallel_tree": 4, "subsample": 0.5}, base={"subsample": 0.5}, trees=4),
        "multi_class": Feature({"objective": "multi:softprob", "num_class": 4}, data=four_classes, trees=4),
        "absolute_error": Feature({"objective": "reg:absoluteerror"}, base={"objective": "reg:squarederror"}),
        "heavy_tail": Feature(
            {"objective": "reg:squarederror"}, base={"objective": "reg:squarederror"}, data=heavy_tailed, limit=1.5
        ),
        "quantile_dmatrix": Feature({}, data=quantised),
        "categories_10": categories(10, 1.3),
        "categories_100": categories(100, 1.3),
        "categories_1000": categories(1000, 2.0),
        "dart_no_drop": Feature({"booster": "dart"}),
        "dart": Feature({"booster": "dart", "rate_drop": 0.1}),
    }


class Clock(xgb.callback.TrainingCallback):
    """When each round was over, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.marks = []

    def after_iteration(self, model, epoch, evals_log) -> bool:
        self.marks.append(time.perf_counter())
        return False


def milliseconds(settings: dict, data: xgb.DMatrix, rounds: int) -> float:
    clock = Clock()
    xgb.train(settings, data, rounds, callbacks=[clock])
    first = rounds // 4
    return 1e3 * (clock.marks[-1] - clock.marks[first]) / (rounds - 1 - first)


def compare(feature: Feature, common: dict, rows: Rows, plain: xgb.DMatrix, rounds: int, pairs: int):
    """Milliseconds a tree without and with the feature, and the ratio: medians."""
    data = feature.data(rows) if feature.data else plain
    base_data = feature.base_data(rows) if feature.base_data else plain
    times = []
    for _ in range(pairs):
        base = milliseconds({**common, **feature.base}, base_data, rounds)
        times.append((base, milliseconds({**common, **feature.settings}, data, rounds) / feature.trees))
    without, used = zip(*times)
    return statistics.median(without), statistics.median(used), statistics.median(u / b for b, u in times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=60, help="of each training; at least 8")
    parser.add_argument("--pairs", type=int, default=3, help="trainings with and without each feature")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--backend", default="auto", choices=["auto", "cuda", "host"])
    parser.add_argument("--only", default="", metavar="NAME,…", help="these features: " + ", ".join(features(8)))
    options = parser.parse_args()
    if options.rounds < 8:
        parser.error(f"--rounds {options.rounds}: at least 8")
    table = features(options.depth)
    chosen = options.only.split(",") if options.only else list(table)
    unknown = [name for name in chosen if name not in table]
    if unknown:
        parser.error(f"--only {','.join(unknown)}: allowed are {', '.join(table)}")

    rows = Rows(*bench_sampling.make(options.rows, 1))
    plain = xgb.DMatrix(rows.x, rows.y)
    common = bench_sampling.plain(options.backend, options.depth)
    xgb.train(common, plain, 2)  # the driver
    print(f"{options.rows} rows, depth {options.depth}, {options.rounds} rounds, medians of {options.pairs} pairs; ms a tree")
    print(f"{'feature':20} {'without':>9} {'with':>9} {'ratio':>6} {'limit':>6}")
    above = 0
    for name in chosen:
        without, used, ratio = compare(table[name], common, rows, plain, options.rounds, options.pairs)
        verdict = "" if ratio <= table[name].limit else "  above"
        above += bool(verdict)
        print(f"{name:20} {without:9.3f} {used:9.3f} {ratio:6.2f} {table[name].limit:6.1f}{verdict}", flush=True)
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
