"""tree_method=gpu_hist from a configuration file: what the program is for."""

import numpy as np
import xgboost as xgb

CONFIG = """
objective = binary:logistic
tree_method = gpu_hist
eta = 1.0
max_depth = 3
num_round = 4
data = "{train}"
eval[test] = "{test}"
eval_metric = error
test:data = "{test}"
model_out = m.json
"""


def last_error(stderr):
    return float(stderr.split("test-error:")[-1].split()[0])


def test_as_accurate_as_hist(cli, agaricus):
    cli.configure(CONFIG.format(**agaricus))
    done = cli.succeed("train.conf", "gpu_backend=host")
    assert "WARNING" not in done.stderr
    hist = cli.succeed("train.conf", "tree_method=hist", "model_out=hist.json")
    # All columns have one value or none, so both methods choose among the same splits, and the gains of the splits they
    # choose differ by far more than the rounding of sums: the same 1,611 test rows are right.
    assert last_error(done.stderr) == last_error(hist.stderr)


def test_exact_trees_as_accurate_as_stocks(cli, agaricus):
    cli.configure(CONFIG.format(**agaricus))
    ours = cli.succeed("train.conf", "tree_method=gpu_exact", "gpu_backend=host")
    assert "WARNING" not in ours.stderr
    stocks = cli.succeed("train.conf", "tree_method=exact", "model_out=exact.json")
    assert last_error(ours.stderr) == last_error(stocks.stderr)


def test_stock_python_package_predicts_alike(cli, agaricus):
    cli.configure(CONFIG.format(**agaricus))
    cli.succeed("train.conf")
    cli.succeed("train.conf", "task=pred", "model_in=m.json")
    expected = xgb.Booster(model_file=str(cli.folder / "m.json")).predict(xgb.DMatrix(agaricus["test"]))
    assert np.array_equal(np.loadtxt(cli.folder / "pred.txt", dtype=np.float32), expected)


def test_stock_program_reads_the_model(cli, stock, agaricus):
    for program in (cli, stock):
        program.configure(CONFIG.format(**agaricus))
    cli.succeed("train.conf", "model_out=m.model")
    (stock.folder / "m.model").write_bytes(cli.read("m.model"))
    for program in (cli, stock):
        # Stock XGBoost refuses the parameter, not the model.
        program.succeed("train.conf", "tree_method=hist", "task=pred", "model_in=m.model")
        program.succeed("train.conf", "tree_method=hist", "task=dump", "model_in=m.model", "dump_stats=1")
    assert cli.files() == stock.files()


def test_continued_training_and_any_number_of_threads(cli, agaricus):
    cli.configure(CONFIG.format(**agaricus))
    cli.succeed("train.conf", "nthread=1", "model_out=4.json")
    cli.succeed("train.conf", "nthread=3", "model_out=threads.json")
    cli.succeed("train.conf", "num_round=2", "model_out=2.json")
    cli.succeed("train.conf", "num_round=2", "model_in=2.json", "model_out=2+2.json")
    assert cli.read("threads.json") == cli.read("4.json")
    assert cli.read("2+2.json") == cli.read("4.json")


def test_bad_parameter_names_what_is_allowed(cli, numbers):
    cli.configure(f'tree_method = gpu_hist\ndata = "{numbers}"\n')
    message = cli.fail("train.conf", "gpu_backend=abacus")
    for word in ("gpu_backend", "abacus", "auto", "cuda", "host"):
        assert word in message


def test_cuda_is_not_asked_for_in_vain(cli, numbers):
    cli.configure(f'data = "{numbers}"\n')
    for method, says in (([], "is not set"), (["tree_method=hist"], "is 'hist'"), (["tree_method=gpu_hits"], "is 'gpu_hits'")):
        message = cli.fail("train.conf", "gpu_backend=cuda", *method)
        assert f"gpu_backend is 'cuda' and tree_method {says}" in message


def test_device_gets_one_line(cli, numbers):
    cli.configure(f'data = "{numbers}"\n')
    done = cli.succeed("train.conf", "device=cuda", "num_round=3")
    lines = [line for line in done.stderr.splitlines() if "device" in line and "gpu_hist" in line]
    assert len(lines) == 1, done.stderr
