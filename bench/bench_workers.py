#!/usr/bin/env python3
"""A round of a process group beside a round of one process with the same rows.

Workers are processes of this machine under XGBoost's tracker. Each has its share of the rows. Prints milliseconds a
round, the median of the second half of the rounds; seconds of the first round (cuts, bins and one tree); and whether
the models are equal. One process trains with as many GPUs as there are workers, or with all there are, and with
--one-gpu also with one; the ratio is to the faster.

    XGBGPU_LIBRARY=build/cuda/lib/libxgboost_gpu.so python3 bench/bench_workers.py [case …] [--workers 2]
        [--rows 8000000] [--columns 28] [--depth 8] [--rounds 40]
        [--one-gpu] [--nccl]

Cases: plain; eval (a quarter as many other rows are evaluated by logloss and auc in each round); auc (by auc alone);
auc_of_one (by auc alone, and the last worker has all these rows); sample (subsample=.2); classes (seven,
multi:softprob); rank (rank:ndcg, groups of 100 rows); absolute (reg:absoluteerror); dart (rate_drop=.1); if asked for,
quantiles (reg:quantileerror of three alphas, XGBoost 2.0 and later) and vectors (seven classes in one tree,
multi_strategy=multi_output_tree, 3.2 and later). With --nccl each worker takes itself for a host of its own, sees one
GPU, and GPUs talk by NCCL.
"""

import argparse
import multiprocessing
import os
import sys
import time

import numpy as np
from bench_gpus import make_data

CASES = {
    "plain": {"objective": "binary:logistic"},
    "eval": {"objective": "binary:logistic", "eval_metric": ["logloss", "auc"]},
    "auc": {"objective": "binary:logistic", "eval_metric": "auc"},
    "auc_of_one": {"objective": "binary:logistic", "eval_metric": "auc"},
    "sample": {"objective": "binary:logistic", "subsample": 0.2},
    "classes": {"objective": "multi:softprob", "num_class": 7},
    "rank": {"objective": "rank:ndcg"},
    "absolute": {"objective": "reg:absoluteerror"},
    "dart": {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.1},
    "quantiles": {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]},
    "vectors": {"objective": "multi:softprob", "num_class": 7, "multi_strategy": "multi_output_tree"},
}


def train(args, case, share, gpus):
    """Returns the seconds of each round and the model. `share`: (worker, workers)."""
    import xgboost_gpu  # noqa: F401
    import xgboost as xgb

    worker, workers = share

    def matrix(rows, seed_rows, begin, end):  # in shares of a worker
        x, y = make_data("workers", seed_rows + rows, args.columns)
        if case in ("classes", "vectors", "rank"):
            y = np.clip(np.floor(x[:, 0] * 2 + y + 3), 0, 4 if case == "rank" else 6)
        if case in ("absolute", "quantiles"):
            y = y + x[:, 0] * x[:, 1]
        first, last = (seed_rows + rows * s // workers // 100 * 100 for s in (begin, end))
        groups = {"qid": np.arange(first, last) // 100} if case == "rank" else {}
        return xgb.DMatrix(x[first:last], y[first:last], **groups)

    data = matrix(args.rows, 0, worker, worker + 1)
    evaluated = (0, workers * (worker == workers - 1)) if case == "auc_of_one" else (worker, worker + 1)
    others = [(matrix(args.rows // 4, args.rows, *evaluated), "other")] if "eval_metric" in CASES[case] else []
    params = {
        "tree_method": "gpu_hist", "gpu_backend": args.backend, "n_gpus": gpus, "max_depth": args.depth, "eta": 0.1,
        "verbosity": 1, "nthread": max(1, (os.cpu_count() or 1) // workers), **CASES[case],
    }  # fmt: skip
    booster = xgb.Booster(params, [data, *(other for other, _ in others)])
    marks = [time.perf_counter()]
    for i in range(args.rounds):
        booster.update(data, i)
        if others:
            booster.eval_set(others, i)
        marks.append(time.perf_counter())
    return np.diff(marks), bytes(booster.save_raw("ubj"))


def work(args, case, worker, addresses, results):
    if args.nccl:
        os.environ.update(XGBGPU_HOST_ID=f"host {worker}", CUDA_VISIBLE_DEVICES=str(worker))
    try:
        import xgboost as xgb

        name = "DMLC_TASK_ID" if int(xgb.__version__.split(".")[0]) < 2 else "dmlc_task_id"
        with xgb.collective.CommunicatorContext(**addresses, **{name: str(worker)}):
            results.put((worker, *train(args, case, (xgb.collective.get_rank(), args.workers), 1)))
    except Exception as error:  # whatever it is, the process that waits for results is told
        results.put((worker, None, repr(error)))


def train_in_group(args, case):
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=args.workers, sortby="task")
    if hasattr(tracker, "worker_envs"):
        tracker.start(args.workers)
        addresses = tracker.worker_envs()
    else:
        tracker.start()
        addresses = tracker.worker_args()
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    processes = [
        spawn.Process(target=work, args=(args, case, worker, addresses, results)) for worker in range(args.workers)
    ]
    for process in processes:
        process.start()
    found = []
    for _ in processes:
        worker, times, model = results.get(timeout=600)
        if times is None:  # the others may wait for it
            for process in processes:
                process.kill()
            sys.exit(f"worker {worker}: {model}")
        found.append((times, model))
    for process in processes:
        process.join()
    return [times for times, _ in found], [model for _, model in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", default=[case for case in CASES if case not in ("quantiles", "vectors")])
    for name, value in dict(workers=2, rows=8_000_000, columns=28, depth=8, rounds=40).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--nccl", action="store_true")
    parser.add_argument("--one-gpu", action="store_true")
    args = parser.parse_args()
    wrong = [case for case in args.cases if case not in CASES]
    if wrong:
        parser.error(f"{wrong[0]} is no case; there are: {', '.join(CASES)}")
    alone = [args.workers, 1] if args.one_gpu else [args.workers]
    names = "".join(f"{f'n_gpus={n}, ms':>14}{'first, s':>10}" for n in alone)
    print(f"{'case':10}{'group, ms':>11}{'first, s':>10}{names}{'ratio':>7}  models", flush=True)
    equal = True
    for case in args.cases:
        times, models = train_in_group(args, case)
        ones = [train(args, case, (0, 1), n) for n in alone]
        same = len({*models, *(model for _, model in ones)}) == 1
        equal = equal and same
        group, *single = (
            max(np.median(t[args.rounds // 2 :]) * 1e3 for t in of) for of in (times, *([t] for t, _ in ones))
        )
        cells = "".join(f"{ms:14.3f}{t[0]:10.3f}" for ms, (t, _) in zip(single, ones))
        print(
            f"{case:10}{group:11.3f}{max(t[0] for t in times):10.3f}{cells}{group / min(single):7.2f}  "
            + ("equal" if same else "DIFFERENT"),
            flush=True,
        )  # fmt: skip
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
