"""Bad input in messages: cut at 80 characters, without control characters; names of files are not cut."""

import re

import pytest

LONG = "x" * 1_000_000
CUT = "x" * 80 + "… (1000000 bytes)"
#: What a terminal would obey: a colour, a title, a bell, the other way to begin a command.
ODD = "\x1b[31m\x1b]0;title\x07\u009b1m"
ESCAPED = r"\x1b[31m\x1b]0;title\x07\xc2\x9b1m"


def fail(cli, *arguments):
    message = cli.fail(*arguments)
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", message) is None
    assert len(message) < 10_000
    return message


@pytest.mark.parametrize("line, message", [
    ("{}", "expected '=' after the key '{}'"),
    ("{} b = 3", "expected '=' after the key '{}'"),
    ("a = b {}", "unexpected '{}' after the value of 'a'"),
    ("{} =", "the value of '{}' is missing"),
    ("num_round = {}", "num_round = '{}' is not valid"),
    ("verbosity = {}", "verbosity = '{}' is not valid"),
    ("dump_format = {}", "dump_format = '{}' is not valid"),
])
def test_lines_of_a_configuration(cli, line, message):
    for text, shown in ((LONG, CUT), (ODD, ESCAPED)):
        cli.configure(line.format(text))
        assert f"train.conf:1: {message.format(shown)}" in fail(cli, "train.conf")


def test_arguments(cli):
    cli.configure("")
    for text, shown in ((LONG[:100_000], "x" * 80 + "… (100000 bytes)"), (ODD, ESCAPED)):
        assert f"command line: '{shown}' is not key=value" in fail(cli, "train.conf", text)
        assert f"num_round = '{shown}' is not valid" in fail(cli, "train.conf", f"num_round={text}")


def test_rows_of_data(cli):
    (cli.folder / "data.txt").write_text(f"1 {ODD}\n")
    cli.configure("data = data.txt\n")
    assert f"row 1 of data.txt is '1 {ESCAPED}'" in fail(cli, "train.conf")
    (cli.folder / "data.txt").write_text(f"{LONG}\n")
    assert f"row 1 of data.txt is '{'x' * 80}… (" in fail(cli, "train.conf")


@pytest.mark.parametrize("line, message", [
    ("{} q", "'{} q' is not: index name type"),
    ("{} a q", "the index is '{}'; expected 0"),
    ("0 a {}", "the type is '{}'; allowed: i, q"),
])
def test_lines_of_a_feature_map(cli, model, line, message):
    for text, shown in ((LONG, "x" * 70), (ODD, ESCAPED)):
        (cli.folder / "map.txt").write_text(line.format(text) + "\n")
        told = fail(cli, "train.conf", "task=dump", f"model_in={model}", "fmap=map.txt")
        assert "map.txt:1: " + message.format(shown).split(shown)[0] + shown in told


def test_names_of_files_are_escaped_and_whole(cli, numbers, model):
    name = "very_long_" * 20 + ODD
    shown = "very_long_" * 20 + ESCAPED
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\nnum_round = 1\n')
    assert f"configuration file '{shown}'" in fail(cli, name)
    assert f"data = '{shown}'" in fail(cli, "train.conf", f"data={name}")
    assert f"model_in = '{shown}'" in fail(cli, "train.conf", f"model_in={name}")
    assert f"the folder '{shown}' does not exist" in fail(cli, "train.conf", f"model_out={name}/m.json")
    assert f"fmap = '{shown}'" in fail(cli, "train.conf", "task=dump", f"model_in={model}", f"fmap={name}")
    (cli.folder / name).write_text("num_round = none\n")
    assert f"{shown}:1: num_round = 'none'" in fail(cli, name)


def test_what_xgboost_says(cli, numbers):
    """Its own messages quote values as they are."""
    start = f'tree_method = hist\ndata = "{numbers}"\nnum_round = 1\n'
    for text, shown in ((LONG, "x" * 1000), (ODD, ESCAPED)):
        cli.configure(start + f"objective = {text}\n")
        assert f"Unknown objective function: `{shown}" in fail(cli, "train.conf")
        cli.configure(start + f"{text} = 1\n")
        log = cli.succeed("train.conf").stderr
        assert f'Parameters: {{ "{shown}' in log
        assert "\x1b" not in log and len(log) < 10_000


def test_names_of_data_sets(cli, numbers):
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\nnum_round = 1\n')
    log = cli.succeed("train.conf", f"eval[{ODD}]={numbers}").stderr
    assert f"\t{ESCAPED}-rmse:" in log and "\x1b" not in log


@pytest.mark.parametrize("length", [255, 256, 260, 300, 10_000])
def test_long_parameters_of_xgboost(cli, numbers, length):
    """XGBoost's communicator reads what it is given into 256 bytes, and was given everything."""
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\nnum_round = 1\n')
    assert "[0]" in cli.succeed("train.conf", f"foo={'x' * length}").stderr
    assert "[0]" in cli.succeed("train.conf", f"{'x' * length}=1").stderr


def test_constraints_of_many_columns(cli, tmp_path):
    data = tmp_path / "wide.txt"
    data.write_text("".join(f"{i % 2} " + " ".join(f"{f}:{(i * f) % 7}" for f in range(150)) + "\n" for i in range(50)))
    directions = "(" + ",".join(["1"] * 150) + ")"
    pairs = "[" + ",".join(f"[{2 * i},{2 * i + 1}]" for i in range(75)) + "]"
    cli.configure(
        f'data = "{data}?format=libsvm"\nnum_round = 1\nmonotone_constraints = "{directions}"\n'
        f'interaction_constraints = "{pairs}"\n'
    )
    for method in ("hist", "gpu_hist"):
        assert "[0]" in cli.succeed("train.conf", f"tree_method={method}").stderr


@pytest.mark.parametrize("name", ["rabit_tracker_uri", "DMLC_TRACKER_URI", "rabit_task_id", "rabit_" + "x" * 300])
def test_long_parameters_of_the_communicator(cli, numbers, name):
    cli.configure(f'tree_method = hist\ndata = "{numbers}"\nnum_round = 1\n')
    what, size = ("a value", 256) if len(name) < 256 else ("a name", len(name))
    shown = name if len(name) < 80 else name[:80] + f"… ({len(name)} bytes)"
    told = fail(cli, "train.conf", f"{name}={'x' * 256}")
    assert f"Parameter '{shown}' of the communicator has {what} of {size} bytes; allowed: up to 255" in told
