"""Arguments, options and their errors."""

import pytest

BAD_OPTIONS = [
    ("task=eval", "task = 'eval' is not valid; allowed: train, pred, dump"),
    ("num_round=0", "num_round = '0' is not valid; allowed: whole numbers from 1 to 2147483647"),
    ("num_round=ten", "num_round = 'ten' is not valid; allowed: whole numbers from 1 to 2147483647"),
    ("num_round=1.5", "num_round = '1.5' is not valid; allowed: whole numbers from 1"),
    ("num_round=+-3", "num_round = '+-3' is not valid; allowed: whole numbers from 1"),
    ("num_round=+", "num_round = '+' is not valid; allowed: whole numbers from 1"),
    ("num_round= ", "'num_round= ' has no value"),
    ("num_round=99999999999", "num_round = '99999999999' is not valid; allowed: whole numbers from 1"),
    ("save_period=-1", "save_period = '-1' is not valid; allowed: whole numbers from 0"),
    ("iteration_begin=-1", "iteration_begin = '-1' is not valid; allowed: whole numbers from 0"),
    ("iteration_end=x", "iteration_end = 'x' is not valid; allowed: whole numbers from 0"),
    ("ntree_limit=x", "ntree_limit = 'x' is not valid; allowed: whole numbers from 0"),
    ("verbosity=4", "verbosity = '4' is not valid; allowed: whole numbers from 0 to 3"),
    ("eval_train=yes", "eval_train = 'yes' is not valid; allowed: 0, 1, false, true"),
    ("pred_margin=2", "pred_margin = '2' is not valid; allowed: 0, 1, false, true"),
    ("dump_stats=", "'dump_stats=' has no value"),
    ("dump_format=xml", "dump_format = 'xml' is not valid; allowed: text, json, dot"),
    ("dsplit=both", "dsplit = 'both' is not valid; allowed: auto, row, col"),
    ("eval[]=a.txt", "'eval[]' is not valid; allowed: eval[name] = path"),
    ("eval[test=a.txt", "'eval[test' is not valid; allowed: eval[name] = path"),
    ("num_round", "'num_round' is not key=value"),
    ("=3", "'=3' is not key=value"),
    (" =3", "' =3' is not key=value"),
    ("  ", "'  ' is not key=value"),
]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(cli, flag):
    done = cli.succeed("nowhere.conf", flag)
    assert done.stdout.startswith("Usage: xgboost-gpu")
    for option in ("task", "data", "test:data", "num_round", "model_in", "eval[NAME]", "save_period", "dump_format"):
        assert f"\n    {option}" in done.stdout
    assert "gpu_memory_limit" in done.stdout and "docs/parameters.md" in done.stdout
    assert done.stderr == ""


def test_without_arguments_prints_help_and_fails(cli):
    done = cli.run()
    assert done.returncode == 1
    assert done.stdout == cli.succeed("--help").stdout


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_version(cli, flag):
    lines = cli.succeed(flag).stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("xgboost-gpu 0.")
    assert lines[1].startswith("XGBoost: 1.7.")


@pytest.mark.parametrize("argument, message", BAD_OPTIONS)
def test_bad_options(cli, argument, message):
    cli.configure("")
    assert f"command line: {message}" in cli.fail("train.conf", argument)


def test_bad_option_in_file_is_named_with_its_line(cli):
    cli.configure("eta = 1\nnum_round = none\n")
    assert "train.conf:2: num_round = 'none' is not valid" in cli.fail("train.conf")


def test_arguments_override_the_file(cli, numbers):
    cli.configure(f'num_round = 5\ntree_method = hist\neval[a] = nowhere.txt\ndata = "{numbers}"\n')
    done = cli.succeed("train.conf", "num_round=2", f"eval[a]={numbers}")
    assert done.stderr.count("\ta-rmse:") == 2
    assert "0002.model" in cli.files()


@pytest.mark.parametrize("two", ["+2", " 2", "02", "2 "])
def test_spellings_of_a_number(cli, numbers, two):
    cli.configure(f'tree_method = hist\neval_train = 1\ndata = "{numbers}"\n')
    log = cli.succeed("train.conf", f"num_round={two}").stderr
    assert "[1]" in log and "[2]" not in log


def test_booleans_and_null(cli, numbers):
    cli.configure(f'tree_method = hist\nnum_round = 1\ndata = "{numbers}"\nmodel_in = NULL\nmodel_out = NULL\n')
    for value, printed in (("1", 1), ("true", 1), ("True", 1), ("0", 0), ("false", 0), ("False", 0)):
        assert cli.succeed("train.conf", f"eval_train={value}").stderr.count("train-rmse") == printed
    assert set(cli.files()) == {"train.conf", "0001.model"}


def test_unknown_parameter_is_a_warning_of_xgboost(cli, numbers):
    cli.configure(f'tree_method = hist\nnum_round = 1\ndata = "{numbers}"\nno_such_parameter = 1\n')
    assert '"no_such_parameter" } are not used' in cli.succeed("train.conf").stderr


def test_words_of_other_programs_say_what_to_write(cli, numbers):
    cli.configure(f'tree_method = gpu_hist\ngpu_backend = host\nnum_round = 1\ndata = "{numbers}"\n')
    lines = cli.succeed("train.conf", "num_leaves=31", "iterations=9").stderr.splitlines()
    for name, instead in (("num_leaves", "max_leaves"), ("iterations", "num_round of xgboost-gpu")):
        assert len([line for line in lines if f"parameter {name} " in line and instead in line]) == 1, lines
    assert not any("not used" in line for line in lines)
    for given, instead in (
        ("objective=binary", "binary:logistic"),
        ("eval_metric=AUC", "auc"),
        ("grow_policy=SymmetricTree", "symmetric"),
    ):
        name, value = given.split("=")
        message = cli.fail("train.conf", given)
        assert f"Parameter {name} is '{value}'" in message and f"; write {instead}\n" in message


def test_bad_parameter_of_xgboost(cli, numbers):
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\n')
    assert "value -3 for Parameter max_depth" in cli.fail("train.conf", "max_depth=-3")
    message = cli.fail("train.conf", "objective=nonsense")
    assert "xgboost-gpu: error: Unknown objective function: `nonsense`" in message  # no time, no source line


def test_verbosity(cli, numbers):
    cli.configure(f'tree_method = hist\nnum_round = 2\nno_such_parameter = 1\ndata = "{numbers}"\n')
    assert "WARNING" not in cli.succeed("train.conf", "verbosity=0").stderr
    assert "INFO" not in cli.succeed("train.conf", "verbosity=1").stderr
    assert "INFO: boosting round 1" in cli.succeed("train.conf", "verbosity=2").stderr
