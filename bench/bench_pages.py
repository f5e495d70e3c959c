#!/usr/bin/env python3
"""Training in pages (gpu_memory_limit), beside training in core, in one run.

For every setting: seconds of making the DMatrix and of the first round, milliseconds a later round (median), bytes that
cross the bus in a round and what share of the bus's measured bandwidth that is, the pages and where they lie, the peak
of GPU memory of the training, and whether the model is that in core.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_pages.py [--rows 105000000] [--features 28]
        [--limit 3.35GiB] [--depth 8] [--rounds 10] [--shares 1,0.1] [--file] [--no-core] [--json FILE]

Shares below 1 are sampled with sampling_method=gradient_based. With --file pages lie in a file instead of host memory.
Rows are made on the GPU if CuPy is there.
"""

import argparse
import json
import threading
import time

import numpy as np
import xgboost as xgb
import xgboost_gpu


def make_data(rows, features):
    """Normal columns, some of few values, of which the first few tell."""
    try:
        import cupy as maker
    except ImportError:
        maker = np
    x, y = np.empty((rows, features), dtype=np.float32), np.empty(rows, dtype=np.float32)
    rng = maker.random.default_rng(1)
    step = max(1, 200_000_000 // features)
    for first in range(0, rows, step):
        n = min(step, rows - first)
        part = rng.standard_normal((n, features), dtype=np.float32)
        part[:, 2::7] = maker.floor(part[:, 2::7] * 2)
        score = part[:, 0] * part[:, 1] + maker.abs(part[:, 2]) - part[:, 3] * (part[:, 4] > 0)
        label = score + rng.standard_normal(n, dtype=np.float32) > 0.6
        if maker is not np:
            part, label = part.get(), label.get()
        x[first : first + n], y[first : first + n] = part, label
    if maker is not np:
        maker.get_default_memory_pool().free_all_blocks()
    return x, y


def bus_bandwidth():
    """Bytes a second from pinned host memory to the GPU; nothing without CuPy."""
    try:
        import cupy
    except ImportError:
        return None
    size = 1 << 28
    pinned = cupy.cuda.alloc_pinned_memory(size)
    target = cupy.empty(size, dtype=cupy.uint8)
    stream = cupy.cuda.Stream.null
    best = 0.0
    for _ in range(5):
        stream.synchronize()
        begin = time.perf_counter()
        cupy.cuda.runtime.memcpyAsync(target.data.ptr, pinned.ptr, size, 1, stream.ptr)
        stream.synchronize()
        best = max(best, size / (time.perf_counter() - begin))
    del target
    cupy.get_default_memory_pool().free_all_blocks()
    return best


class PeakOfGpu:
    """The most GPU memory that was in use during a `with`, beside what was before; None without CuPy."""

    def __enter__(self):
        self.bytes, self._ends = None, False
        try:
            import cupy
        except ImportError:
            return self
        cupy.cuda.Device(0).use()
        free = lambda: cupy.cuda.runtime.memGetInfo()[0]
        before, self.bytes = free(), 0

        def watch():
            while not self._ends:
                self.bytes = max(self.bytes, before - free())
                time.sleep(0.002)

        self._thread = threading.Thread(target=watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends = True
        if self.bytes is not None:
            self._thread.join()


class Marks(xgb.callback.TrainingCallback):
    """Times of rounds, and what the training held after each."""

    def __init__(self):
        self.times, self.reports = [time.perf_counter()], []

    def after_iteration(self, model, epoch, evals_log):
        self.times.append(time.perf_counter())
        self.reports.append(xgboost_gpu.memory_report()[-1])
        return False


def train(arrays, params, rounds):
    begin = time.perf_counter()
    data = xgb.DMatrix(*arrays)
    made = time.perf_counter() - begin
    marks = Marks()
    params = {"tree_method": "gpu_hist", "objective": "binary:logistic", **params}
    with PeakOfGpu() as peak:
        booster = xgb.train(params, data, rounds, callbacks=[marks])
    steps = np.diff(marks.times)
    report = marks.reports[-1]
    pages = report["pages"]
    row = {
        "dmatrix_s": round(made, 2),
        "first_round_s": round(float(steps[0]), 2),
        "round_ms": round(1000 * float(np.median(steps[2:])), 1),
        "peak_bytes": report["peak_bytes"] + report["dataset_bytes"],
        "peak_gpu_bytes": peak.bytes,
    }
    if pages:
        copied = [r["pages"]["copied_bytes"] for r in marks.reports]
        row.update(pages)
        row["bus_bytes_a_round"] = float(np.median(np.diff(copied)[1:]))
    return row, booster.save_raw("json")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=105_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", default="3.35GiB")
    parser.add_argument("--shares", default="1,0.1")
    parser.add_argument("--file", action="store_true")
    parser.add_argument("--no-core", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    begin = time.perf_counter()
    arrays = make_data(options.rows, options.features)
    bandwidth = bus_bandwidth()
    print(f"{options.rows} x {options.features} made in {time.perf_counter() - begin:.0f} s; bus {(bandwidth or 0) / 1e9:.1f} GB/s", flush=True)
    rows = []
    for share in map(float, options.shares.split(",")):
        params = {"max_depth": options.depth}
        if share < 1:
            params.update(subsample=share, sampling_method="gradient_based")
        model = None
        if not options.no_core:
            row, model = train(arrays, params, options.rounds)
            rows.append({"share": share, "limit": "0", **row})
            print(rows[-1], flush=True)
        limits = {"gpu_memory_limit": options.limit}
        if options.file:
            limits["gpu_host_memory_limit"] = "1"
        row, paged = train(arrays, {**params, **limits}, options.rounds)
        row = {"share": share, "limit": options.limit, **row}
        if model is not None:
            row["same_model"] = paged == model
        if bandwidth and row.get("bus_bytes_a_round"):
            row["bus_share"] = round(row["bus_bytes_a_round"] / bandwidth / (row["round_ms"] / 1000), 3)
        rows.append(row)
        print(row, flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"bus_bytes_a_second": bandwidth, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
