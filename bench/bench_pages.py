#!/usr/bin/env python3
"""Training in pages (gpu_memory_limit), beside training in core, in one run.

For every setting: seconds of making the DMatrix and of the first round, milliseconds a later round (median), bytes that
cross the bus in a round, how many times the bytes of all pages that is, and what share of the bus's measured bandwidth,
the pages and where they lie, the peak of GPU memory of the training, and whether the model is that in core.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_pages.py [--rows 105000000] [--features 28]
        [--batches 0] [--limit 3.35GiB] [--depth 8] [--rounds 10] [--shares 1,0.1] [--columns 1] [--file] [--no-core] [--json FILE]

Shares below 1 are sampled with sampling_method=gradient_based; --columns is colsample_bytree. With --file pages lie in a file instead of host memory.
Rows are made on the GPU if CuPy is there. With --batches N there is one QuantileDMatrix of batches of N rows, which
CuPy makes from their number whenever they are asked for, so that all values are never there at once; trainings in core,
if any, come first.

The table of Ou, "Out-of-Core GPU Gradient Boosting" (arXiv:2005.09148): rows of 500 columns that 16 GiB hold. A
training that fits in core has no pages in its line.

    bench_pages.py --features 500 --batches 400000 --limit 16GiB --no-core --rounds 5 --rows 85000000 --shares 0.1,1
    bench_pages.py --features 500 --batches 400000 --limit 16GiB --no-core --rounds 5 --rows 27000000 --shares 1
"""

import argparse
import json
import threading
import time

import numpy as np
import xgboost as xgb
import xgboost_gpu


def finish(x, noise, maker):
    """Gives some normal columns few values, and returns labels, of which the first columns tell."""
    x[:, 2::7] = maker.floor(x[:, 2::7] * 2)
    score = x[:, 0] * x[:, 1] + maker.abs(x[:, 2]) - x[:, 3] * (x[:, 4] > 0)
    return score + noise > 0.6


def make_data(rows, features, seed=1):
    """Returns values and labels on the host."""
    try:
        import cupy as maker
    except ImportError:
        maker = np
    x, y = np.empty((rows, features), dtype=np.float32), np.empty(rows, dtype=np.float32)
    rng = maker.random.default_rng(seed)
    step = max(1, 200_000_000 // features)
    for first in range(0, rows, step):
        n = min(step, rows - first)
        part = rng.standard_normal((n, features), dtype=np.float32)
        label = finish(part, rng.standard_normal(n, dtype=np.float32), maker)
        if maker is not np:
            part, label = part.get(), label.get()
        x[first : first + n], y[first : first + n] = part, label
    if maker is not np:
        maker.get_default_memory_pool().free_all_blocks()
    return x, y


class Batches(xgb.DataIter):
    """Rows like those of make_data, in batches that the GPU makes anew for every pass over them."""

    def __init__(self, rows, features, batch_rows):
        import cupy

        self.cupy, self._rows, self._features, self._batch_rows = cupy, rows, features, batch_rows
        self._batch, self.passes = 0, 0
        super().__init__()

    def next(self, input_data):
        n = min(self._batch_rows, self._rows - self._batch * self._batch_rows)
        if n <= 0:
            return 0
        cupy = self.cupy
        rng = cupy.random.RandomState(self._batch, method=cupy.cuda.curand.CURAND_RNG_PSEUDO_PHILOX4_32_10)
        x = rng.standard_normal((n, self._features), dtype=cupy.float32)
        y = finish(x, rng.standard_normal(n, dtype=cupy.float32), cupy)
        input_data(data=x, label=y.astype(cupy.float32))
        self._batch += 1
        return 1

    def reset(self):
        self.passes += self._batch > 0
        self._batch = 0


def matrix_of_batches(rows, features, batch_rows):
    """Returns the matrix and a line of how it was made."""
    begin = time.perf_counter()
    batches = Batches(rows, features, batch_rows)
    data = xgb.QuantileDMatrix(batches)
    seconds = time.perf_counter() - begin
    batches.cupy.get_default_memory_pool().free_all_blocks()
    return data, f"a QuantileDMatrix in {seconds:.0f} s, {batches.passes} passes"


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


def train(make_matrix, params, rounds):
    """Returns a line of the table and the booster."""
    begin = time.perf_counter()
    data = make_matrix()
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
        "rounds_s": round(float(np.sum(steps)), 2),
        "first_round_s": round(float(steps[0]), 2),
        "round_ms": round(1000 * float(np.median(steps[2:])), 1),
        "peak_bytes": report["peak_bytes"] + report["dataset_bytes"],
        "peak_gpu_bytes": peak.bytes,
    }
    if pages:
        copied = [r["pages"]["copied_bytes"] for r in marks.reports]
        row.update(pages)
        row["bus_bytes_a_round"] = float(np.median(np.diff(copied)[1:]))
        row["visits_a_round"] = round(row["bus_bytes_a_round"] / (pages["memory_bytes"] + pages["file_bytes"]), 2)
    return row, booster


def sampled(share):
    """Returns the parameters of trees on this share of the rows."""
    return {} if share == 1 else {"subsample": share, "sampling_method": "gradient_based"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=105_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--batches", type=int, default=0)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", default="3.35GiB")
    parser.add_argument("--shares", default="1,0.1")
    parser.add_argument("--columns", type=float, default=1)
    parser.add_argument("--file", action="store_true")
    parser.add_argument("--no-core", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    begin = time.perf_counter()
    if options.batches:
        data, how = matrix_of_batches(options.rows, options.features, options.batches)
        make_matrix = lambda: data
    else:
        arrays = make_data(options.rows, options.features)
        make_matrix, how = lambda: xgb.DMatrix(*arrays), f"arrays in {time.perf_counter() - begin:.0f} s"
    bandwidth = bus_bandwidth()
    print(f"{options.rows} x {options.features}: {how}; bus {(bandwidth or 0) / 1e9:.1f} GB/s", flush=True)
    rows, models = [], {}
    limits = {"gpu_memory_limit": options.limit, **({"gpu_host_memory_limit": "1"} if options.file else {})}
    for limit in ({}, limits)[options.no_core :]:
        for share in map(float, options.shares.split(",")):
            own = {"max_depth": options.depth, "colsample_bytree": options.columns, **sampled(share), **limit}
            row, booster = train(make_matrix, own, options.rounds)
            row = {"share": share, "limit": limit.get("gpu_memory_limit", "0"), **row}
            model = booster.save_raw("json")
            if share in models:
                row["same_model"] = models[share] == model
            models.setdefault(share, model)
            if bandwidth and row.get("bus_bytes_a_round"):
                row["bus_share"] = round(row["bus_bytes_a_round"] / bandwidth / (row["round_ms"] / 1000), 3)
            rows.append(row)
            print(row, flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"made": how, "bus_bytes_a_second": bandwidth, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
