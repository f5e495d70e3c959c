#!/usr/bin/env python3
"""Training on one GPU and on several of the same process (n_gpus), in turns, in one run.

For every case: milliseconds a round (the slope between a quarter of the rounds and all of them, so that the first ones
do not count), seconds of the first round (cuts and bins, and one tree), each the median of several trainings; and
whether all models are equal. Every training has a DMatrix of its own, whose making is not counted: it does not depend
on the GPUs. The file of --json, which `bench/scaling.py --measured` reads, also has the seconds of the second round and
the most memory that each GPU had in use, which tells the GPUs that were used: fewer than wanted where that is faster.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_gpus.py [case …] [--gpus 1,2] [--repeats 3]
        [--json FILE]

--data FOLDER takes FOLDER/NAME/X.npy and y.npy for a case that has such files, instead of making rows: those with which
other programs were measured.
"""

import argparse
import ctypes
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

CASES = {  # name: data, rows, features, depth, rounds
    "small": ("small", 10_000, 28, 6, 200),
    "mid": ("mid", 100_000, 28, 6, 200),
    "m1": ("m1", 1_000_000, 28, 6, 200),
    "higgs-d6": ("higgs", 10_500_000, 28, 6, 100),
    "higgs-d8": ("higgs", 10_500_000, 28, 8, 100),
    "epsilon-d8": ("epsilon", 400_000, 2_000, 8, 24),
    "tall-d8": ("tall", 16_300_000, 128, 8, 40),
    "airline-d8": ("airline", 115_000_000, 13, 8, 40),
}


def make_data(name, rows, features):
    """Normal columns, of which the first few tell; those of `airline` are whole numbers of a few to thousands of values.

    All cores make blocks of rows, each from a seed of its own: the data do not depend on their number.
    """
    x, score = np.empty((rows, features), dtype=np.float32), np.empty(rows, dtype=np.float32)
    step = max(1, 4_000_000 // features)

    def fill(first):
        rng = np.random.default_rng(first)
        block, own = x[first : first + step], score[first : first + step]
        rng.standard_normal(out=block, dtype=np.float32)
        if name == "airline":
            np.floor(block * np.array([(4, 12, 30, 700)[f % 4] for f in range(features)], np.float32), out=block)
        rng.standard_normal(out=own, dtype=np.float32)
        own += block[:, 0] * block[:, 1] + np.abs(block[:, 2]) - block[:, 3] * (block[:, 4] > 0)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, rows, step)))
    return x, (score > np.median(score[:100_000])).astype(np.float32)


class DeviceMemory:
    """The most memory that each GPU has in use beyond what it had when this was made; no GPUs without a driver."""

    def __init__(self):
        self._devices, self._ends = [], threading.Event()
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self._nvml = None
        count = ctypes.c_uint()
        if self._nvml and not self._nvml.nvmlInit_v2() and not self._nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
            for number in range(count.value):
                device = ctypes.c_void_p()
                self._nvml.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device))
                self._devices.append(device)
        self._before = self._used()
        self.bytes = [0] * len(self._devices)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _used(self):
        found = []
        for device in self._devices:
            memory = (ctypes.c_ulonglong * 3)()  # total, free, used
            self._nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
            found.append(memory[2])
        return found

    def look(self):
        self.bytes = [max(most, now - before) for most, now, before in zip(self.bytes, self._used(), self._before)]

    def _watch(self):
        while self._devices and not self._ends.wait(0.005):
            self.look()

    def stop(self):
        """Ends the looking, which would disturb what is timed."""
        self._ends.set()
        self._thread.join()


def read_data(folder, name, rows, features):
    path = os.path.join(folder or "", name, "X.npy")
    if folder and os.path.exists(path):
        return np.load(path), np.load(os.path.join(folder, name, "y.npy"))
    return make_data(name, rows, features)


def train(xgb, arrays, depth, rounds, gpus, backend="cuda"):
    """Returns what was measured of a training, by name, and the model."""
    data = xgb.DMatrix(*arrays)
    params = {
        "objective": "binary:logistic", "tree_method": "gpu_hist", "gpu_backend": backend, "n_gpus": gpus,
        "max_depth": depth, "eta": 0.1, "verbosity": 1,
    }  # fmt: skip
    booster = xgb.Booster(params, [data])
    memory = DeviceMemory()
    marks = [time.perf_counter()]
    for i in range(rounds):
        booster.update(data, i)
        marks.append(time.perf_counter())
        if i == 1:  # most is in use while bins are made
            memory.stop()
    memory.look()
    quarter = rounds // 4
    found = {"ms": (marks[-1] - marks[quarter]) / (rounds - quarter) * 1e3}
    found.update(first_s=marks[1] - marks[0], second_s=marks[2] - marks[1], peak_bytes=memory.bytes)
    return found, booster.save_raw("ubj")


def measure(xgb, arrays, case, numbers, repeats, rounds=None, backend="cuda"):
    """Trains with each number of GPUs in turns. Returns medians (of memory the most), by number, and whether models are
    equal."""
    depth, usual = CASES[case][3:]
    runs, models = {n: [] for n in numbers}, set()
    for _ in range(repeats):
        for n in numbers:
            found, model = train(xgb, arrays, depth, rounds or usual, n, backend)
            runs[n].append(found)
            models.add(bytes(model))
    points = {}
    for n in numbers:
        points[n] = {"data": case.replace("-d8", ""), "gpus": n}
        for key in ("ms", "first_s", "second_s"):
            points[n][key] = float(np.median([run[key] for run in runs[n]]))
        points[n]["peak_bytes"] = [max(bytes_of) for bytes_of in zip(*(run["peak_bytes"] for run in runs[n]))]
    return points, len(models) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--gpus", default="1,2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data")
    parser.add_argument("--json")
    args = parser.parse_args()
    wrong = [case for case in args.cases if case not in CASES]
    if wrong:
        parser.error(f"{wrong[0]} is no case; there are: {', '.join(CASES)}")
    numbers = [int(n) for n in args.gpus.split(",")]

    import xgboost_gpu  # noqa: F401
    import xgboost as xgb

    points, equal = [], True
    print(f"{'case':12}" + "".join(f"{f'{n} GPU, ms':>11}{'first, s':>9}" for n in numbers) + "   faster  first  models")
    loaded, data = None, None
    for case in args.cases:
        name, rows, features = CASES[case][:3]
        if loaded != name:
            data = None
            data = read_data(args.data, name, rows, features)
            loaded = name
        found, same = measure(xgb, data, case, numbers, args.repeats)
        least, most = found[numbers[0]], found[numbers[-1]]
        equal = equal and same
        print(
            f"{case:12}" + "".join(f"{found[n]['ms']:11.3f}{found[n]['first_s']:9.3f}" for n in numbers)
            + f"{least['ms'] / most['ms']:9.2f}{least['first_s'] / most['first_s']:7.2f}  "
            + ("equal" if same else "DIFFERENT"),
            flush=True,
        )  # fmt: skip
        points += [found[n] for n in numbers]
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(points, file, indent=1)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
