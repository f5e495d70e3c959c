"""Two workers under XGBoost's tracker share the rows, and only the first one writes the model."""

import os
import subprocess

from xgboost.tracker import RabitTracker

CONFIG = """
objective = binary:logistic
tree_method = {method}
nthread = 1
num_round = 3
data = "{train}"
eval[test] = "{test}"
"""


def run_two_workers(program, *arguments):
    """Runs the program twice under a new tracker; gives the finished processes."""
    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=2)
    tracker.start(2)
    environment = {**os.environ, **{name: str(value) for name, value in tracker.worker_envs().items()}}
    workers = [
        subprocess.Popen(
            [program.path, "train.conf", *arguments],
            cwd=program.folder,
            env={**environment, "DMLC_TASK_ID": str(i)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(2)
    ]
    errors = [worker.communicate(timeout=600)[1] for worker in workers]
    return [(worker.returncode, error) for worker, error in zip(workers, errors)]


def test_model_is_that_of_the_stock_program(cli, stock, agaricus):
    for program in (cli, stock):
        program.configure(CONFIG.format(method="hist", **agaricus))
        for status, error in run_two_workers(program, "model_out=m.json"):
            assert status == 0, error
    assert set(cli.files()) == {"train.conf", "m.json"}
    assert cli.files() == stock.files()


def test_two_workers_with_gpu_hist_write_the_model_of_one(cli, agaricus):
    cli.configure(CONFIG.format(method="gpu_hist\ngpu_backend = host\nsubsample = 0.6", **agaricus))
    for status, error in run_two_workers(cli, "model_out=two.json"):
        assert status == 0, error
    cli.succeed("train.conf", "model_out=one.json")
    assert cli.read("two.json") == cli.read("one.json")


def test_columns_cannot_be_split(cli, numbers):
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\n')
    for status, error in run_two_workers(cli, "dsplit=col"):
        assert status == 1
        assert "dsplit = col is not supported with several workers; allowed: auto, row" in error
    assert set(cli.files()) == {"train.conf"}
