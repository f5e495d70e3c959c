"""Stock XGBoost's `hist` beside `gpu_hist`: accuracy, seconds, and one model whatever the number of threads.

Run by scripts/demo, which builds the library first. Everything below is ordinary XGBoost code; the only line that is
about this project is `import xgboost_gpu`.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Callable, Dict, List, Tuple

import numpy as np
import sklearn.datasets
import xgboost as xgb

import xgboost_gpu

HOLD_OUT = 0.25  # share of the rows of scikit-learn's sets that is kept for the metric
MILLION = 1_000_000


@dataclass
class Task:
    """One data set with what to train on it; the metric is computed on rows that training never sees."""

    name: str
    train: Tuple[np.ndarray, np.ndarray]
    test: Tuple[np.ndarray, np.ndarray]
    params: Dict[str, object]
    rounds: int
    metric_name: str
    metric: Callable[[np.ndarray, np.ndarray], float]


@dataclass
class Result:
    """What one training gave."""

    seconds: float
    metric: float
    sha256: str


def accuracy(predicted: np.ndarray, label: np.ndarray) -> float:
    """Share of right answers; `predicted` holds probabilities of the positive class, or classes."""
    classes = predicted if set(np.unique(label)) - {0, 1} else predicted > 0.5
    return float(np.mean(classes == label))


def rmse(predicted: np.ndarray, label: np.ndarray) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((predicted - label) ** 2)))


def split(data: np.ndarray, label: np.ndarray, hold_out: float) -> Tuple[Tuple, Tuple]:
    """Shuffles the rows, then divides them into training and test rows."""
    order = np.random.default_rng(0).permutation(len(label))
    n_test = round(len(label) * hold_out)
    test, train = order[:n_test], order[n_test:]
    return (data[train], label[train]), (data[test], label[test])


def generated(rows: int, columns: int = 28) -> Tuple[Tuple, Tuple]:
    """A two-class problem with interactions and noise; a tenth as many test rows as training rows."""
    n_test = rows // 10
    rng = np.random.default_rng(1)
    data = rng.standard_normal((rows + n_test, columns), dtype=np.float32)
    score = data[:, 0] * (data[:, 1] > 0) + np.sin(2 * data[:, 2]) + 0.5 * data[:, 3] ** 2 - 0.5
    label = (2 * score + 0.6 * data[:, 4:12].sum(axis=1) + rng.logistic(size=len(score)) > 0).astype(np.float32)
    return (data[:rows], label[:rows]), (data[rows:], label[rows:])


def tasks(million_rows: int, million_rounds: int) -> List[Task]:
    """The four trainings of the demo."""
    binary = {"objective": "binary:logistic"}
    digits = split(*sklearn.datasets.load_digits(return_X_y=True), HOLD_OUT)
    cancer = split(*sklearn.datasets.load_breast_cancer(return_X_y=True), HOLD_OUT)
    diabetes = split(*sklearn.datasets.load_diabetes(return_X_y=True), HOLD_OUT)
    million = generated(million_rows)
    multi = {"objective": "multi:softmax", "num_class": 10}
    squared = {"objective": "reg:squarederror", "eta": 0.1, "max_depth": 3}
    return [
        Task("digits", *digits, multi, 50, "accuracy", accuracy),
        Task("breast cancer", *cancer, binary, 100, "accuracy", accuracy),
        Task("diabetes", *diabetes, squared, 100, "rmse", rmse),
        Task("generated", *million, binary, million_rounds, "accuracy", accuracy),
    ]


class Progress(xgb.callback.TrainingCallback):
    """Rounds and seconds, on one line that renews itself (on a terminal) or on a line now and then (in a log)."""

    def __init__(self, what: str, rounds: int) -> None:
        super().__init__()
        self.what, self.rounds = what, rounds
        self.start = self.shown = time.perf_counter()

    def after_iteration(self, model, epoch: int, evals_log) -> bool:
        now, last = time.perf_counter(), epoch + 1 == self.rounds
        terminal = sys.stdout.isatty()
        if last or now - self.shown > (0.2 if terminal else 5.0):
            self.shown = now
            text = f"  {self.what:<38} round {epoch + 1:>3} of {self.rounds}  {now - self.start:6.1f} s"
            print(f"\r{text}" if terminal else text, end="\n" if last or not terminal else "", flush=True)
        return False


def train(task: Task, tree_method: str, threads: int) -> Result:
    """Trains with stock XGBoost's own Python package: `tree_method` is the one thing that changes."""
    data = xgb.DMatrix(*task.train, nthread=threads)  # a new one each time: quantiles are part of the time
    params = {**task.params, "tree_method": tree_method, "nthread": threads}
    what = f"{task.name}, {tree_method}, {threads} thread{'s' if threads > 1 else ''}"
    start = time.perf_counter()
    booster = xgb.train(params, data, task.rounds, callbacks=[Progress(what, task.rounds)])
    seconds = time.perf_counter() - start
    metric = task.metric(booster.predict(xgb.DMatrix(task.test[0])), task.test[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        booster.save_model(path)
        with open(path, "rb") as file:
            return Result(seconds, metric, hashlib.sha256(file.read()).hexdigest())


def print_table(rows: List[List[str]]) -> None:
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for n, row in enumerate(rows):
        print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
        if n == 0:
            print("  " + "  ".join("-" * w for w in widths))


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=MILLION, help="rows of the generated set (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds on the generated set (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="threads of the comparison (default: all; at least 2)")
    args = parser.parse_args()
    threads = args.threads or max(2, len(os.sched_getaffinity(0)))
    if args.rows < 100 or args.rounds < 1 or threads < 2:
        parser.error("--rows must be at least 100, --rounds at least 1, --threads at least 2")

    info = xgboost_gpu.build_info()
    print(f"\nStock XGBoost {xgb.__version__} from {os.path.dirname(xgb.__file__)}")
    print(f"xgboost_gpu {info['version']} from {info['library']}")
    print(f"gpu_hist runs here on: {', '.join(info['backends'])}" + (f" ({info['why_no_cuda']})" if info["why_no_cuda"] else ""))
    print("\nOne word changes between the two columns below, in the parameters; the program stays as it is:\n")
    print('    xgb.train({"tree_method": "hist",     ...}, data)')
    print('    xgb.train({"tree_method": "gpu_hist", ...}, data)\n')

    xgb.set_config(verbosity=0)  # the one warning, that gpu_hist runs on the host, is said above
    for tree_method in ("hist", "gpu_hist"):  # the first training of a process starts threads: not on anybody's clock
        xgb.train({"tree_method": tree_method, "nthread": threads}, xgb.DMatrix(np.eye(8), np.arange(8)), 1)

    table = [["data set", "rows x columns", "rounds", "metric", "hist", "gpu_hist", "hist, s", "gpu_hist, s", "ratio"]]
    proof = []
    for task in tasks(args.rows, args.rounds):
        stock = train(task, "hist", threads)
        ours = train(task, "gpu_hist", threads)
        single = train(task, "gpu_hist", 1)
        shape = "{:,} x {}".format(*task.train[0].shape)
        table.append([task.name, shape, str(task.rounds), task.metric_name, f"{stock.metric:.4f}", f"{ours.metric:.4f}",
                      f"{stock.seconds:.3f}", f"{ours.seconds:.3f}", f"{ours.seconds / stock.seconds:.2f}"])
        proof.append((task.name, single.sha256, ours.sha256))

    print(f"\nTrained with {threads} threads; metric on held-out rows; ratio: seconds of gpu_hist over seconds of hist.")
    print("(Seconds tell something only on an otherwise idle machine, above all on small data.)\n")
    print_table(table)

    print("\nOne model: SHA-256 of the file that save_model wrote (gpu_hist).\n")
    different = [name for name, one, many in proof if one != many]
    for name, one, many in proof:
        print(f"  {name:<14} 1 thread    {one}")
        print(f"  {'':<14} {f'{threads} threads':<11} {many}  {'the same' if one == many else 'DIFFERENT'}")
    if different:
        print(f"\nerror: the number of threads changed the model on: {', '.join(different)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
