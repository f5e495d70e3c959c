"""The tasks train, pred and dump, compared with the Python package where there is something to compute."""

import json
import re

import numpy as np
import pytest
import xgboost as xgb

PARAMETERS = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": "2", "verbosity": "0"}


def config(numbers, **options):
    return "".join(f'{key} = "{value}"\n' for key, value in {**PARAMETERS, "data": numbers, **options}.items())


def test_metrics_in_the_order_of_the_file_then_training_data(cli, numbers):
    text = f'eval[b] = "{numbers}"\neval[a] = "{numbers}"\n' + config(numbers, eval_train=1, num_round=2)
    lines = cli.succeed(cli.configure(text)).stderr.splitlines()
    assert len(lines) == 2
    for round_index, line in enumerate(lines):
        number = r"(\d+\.\d+)"
        metrics = rf"\tb-logloss:{number}\ta-logloss:{number}\ttrain-logloss:{number}"
        match = re.fullmatch(rf"\[\d\d:\d\d:\d\d\] \[{round_index}\]{metrics}", line)
        assert match, line
        assert match[1] == match[2] == match[3]


def test_training_gives_the_model_of_the_python_package(cli, numbers):
    cli.succeed(cli.configure(config(numbers, num_round=3, model_out="m.json")))
    data = xgb.DMatrix(numbers)
    booster = xgb.Booster(PARAMETERS, [data])
    for i in range(3):
        booster.update(data, i)
    booster.feature_names = None
    booster.feature_types = None
    assert cli.read("m.json") == bytes(booster.save_raw("json"))


@pytest.mark.parametrize(
    "options, files",
    [
        ({}, {"0005.model"}),
        ({"save_period": 2}, {"0002.model", "0004.model", "0005.model"}),
        ({"save_period": 5}, {"0005.model"}),
        ({"save_period": 2, "model_out": "last.model"}, {"0002.model", "0004.model", "last.model"}),
        ({"save_period": 5, "model_out": "last.model"}, {"0005.model"}),
        ({"model_out": "last.model"}, {"last.model"}),
    ],
)
def test_names_of_models(cli, numbers, options, files):
    cli.succeed(cli.configure(config(numbers, num_round=5, **options)))
    assert set(cli.files()) == {"train.conf"} | files


def test_model_dir(cli, numbers):
    (cli.folder / "models").mkdir()
    cli.succeed(cli.configure(config(numbers, num_round=2, save_period=1, model_dir="models")))
    assert sorted(file.name for file in (cli.folder / "models").iterdir()) == ["0001.model", "0002.model"]


def test_model_formats(cli, numbers):
    cli.configure(config(numbers, num_round=1))
    for name, start in (("m.json", b'{"'), ("m.ubj", b"{L"), ("m.model", b"binf")):
        cli.succeed("train.conf", f"model_out={name}")
        assert cli.read(name).startswith(start)
        assert xgb.Booster(model_file=str(cli.folder / name)).num_boosted_rounds() == 1


def test_binary_models_of_any_name(cli, numbers):
    """As XGBoost's own command line program writes them."""
    cli.configure(config(numbers))
    cli.succeed("train.conf", "num_round=2", "model_out=2.model")
    for name in ("2.ubj", "2.json"):
        (cli.folder / name).write_bytes(cli.read("2.model"))
        cli.succeed("train.conf", "num_round=1", f"model_in={name}", "model_out=3.json")
        assert xgb.Booster(model_file=str(cli.folder / "3.json")).num_boosted_rounds() == 3


def test_continued_training(cli, numbers):
    cli.configure(config(numbers))
    cli.succeed("train.conf", "num_round=4", "model_out=4.json")
    cli.succeed("train.conf", "num_round=2", "model_out=2.json")
    cli.succeed("train.conf", "num_round=2", "model_in=2.json", "model_out=2+2.json")
    assert cli.read("2+2.json") == cli.read("4.json")


@pytest.mark.parametrize(
    "arguments, options",
    [
        ((), {}),
        (("pred_margin=1",), {"output_margin": True}),
        (("iteration_end=2",), {"iteration_range": (0, 2)}),
        (("iteration_begin=1", "iteration_end=3"), {"iteration_range": (1, 3)}),
        (("ntree_limit=2",), {"iteration_range": (0, 2)}),
    ],
)
def test_predictions_are_those_of_the_python_package(cli, numbers, model, arguments, options):
    done = cli.succeed("train.conf", "task=pred", f"model_in={model}", f"test:data={numbers}", *arguments)
    assert "Writing prediction to pred.txt" in done.stderr
    booster = xgb.Booster(model_file=str(cli.folder / model))
    expected = booster.predict(xgb.DMatrix(numbers), **options)
    # Nine significant digits determine a float: the numbers read back are the same ones.
    assert np.array_equal(np.loadtxt(cli.folder / "pred.txt", dtype=np.float32), expected)


def test_several_numbers_a_row_are_several_lines(cli, numbers):
    cli.configure(config(numbers, num_round=2, objective="multi:softprob", num_class=3, model_out="m.json"))
    cli.succeed("train.conf")
    cli.succeed("train.conf", "task=pred", "model_in=m.json", f"test_path={numbers}", "name_pred=p.txt")
    expected = xgb.Booster(model_file=str(cli.folder / "m.json")).predict(xgb.DMatrix(numbers))
    assert expected.shape == (200, 3)
    assert np.array_equal(np.loadtxt(cli.folder / "p.txt", dtype=np.float32), expected.ravel())


def test_predictions_to_standard_output(cli, numbers, model):
    arguments = ("train.conf", "task=pred", f"model_in={model}", f"test:data={numbers}")
    cli.succeed(*arguments)
    assert cli.succeed(*arguments, "name_pred=stdout").stdout.encode() == cli.read("pred.txt")


@pytest.mark.parametrize("stats", [0, 1])
def test_dump_text(cli, model, stats):
    cli.succeed("train.conf", "task=dump", f"model_in={model}", f"dump_stats={stats}")
    trees = xgb.Booster(model_file=str(cli.folder / model)).get_dump(with_stats=bool(stats))
    assert len(trees) == 3
    assert cli.read("dump.txt").decode() == "".join(f"booster[{i}]:\n{tree}" for i, tree in enumerate(trees))


def test_dump_json(cli, model):
    done = cli.succeed("train.conf", "task=dump", f"model_in={model}", "dump_format=json", "name_dump=stdout")
    trees = xgb.Booster(model_file=str(cli.folder / model)).get_dump(dump_format="json")
    named = [json.loads(tree) for tree in trees]
    assert named[0]["split"] == "f0"
    # Without a feature map the program's JSON has bare indices where the Python package has names.
    assert json.loads(done.stdout) == json.loads(re.sub(r'"split": "f(\d+)"', r'"split": "\1"', json.dumps(named)))


def test_feature_map(cli, model):
    (cli.folder / "map.txt").write_text("0 width int\n1\theight\tq\n\n2 depth q\n")  # column 3 has no name
    cli.succeed("train.conf", "task=dump", f"model_in={model}", "fmap=map.txt")
    text = cli.read("dump.txt").decode()
    assert "0:[width<5] yes=1,no=2" in text  # the label is: column 0 > 4
    assert "f0" not in text


@pytest.mark.parametrize(
    "text, message",
    [
        ("0 width\n", "map.txt:1: '0 width' is not: index name type"),
        ("0 the width q\n", "map.txt:1: '0 the width q' is not: index name type"),
        ("0 width q\n2 height q\n", "map.txt:2: the index is '2'; expected 1"),
        ("0 width metres\n", "map.txt:1: the type is 'metres'; allowed: i, q, int, float, c"),
    ],
)
def test_bad_feature_map(cli, model, text, message):
    (cli.folder / "map.txt").write_text(text)
    assert message in cli.fail("train.conf", "task=dump", f"model_in={model}", "fmap=map.txt")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("data=NULL",), "task = train needs data, which is not set"),
        (("data=nowhere.txt?format=libsvm",), "cannot load data = 'nowhere.txt?format=libsvm':"),
        (("eval[test]=nowhere.txt?format=libsvm",), "cannot load eval[test] = 'nowhere.txt?format=libsvm':"),
        (("model_in=nowhere.model",), "cannot load model_in = 'nowhere.model':"),
        (("model_in=train.conf",), "cannot load model_in = 'train.conf':"),
        (("model_dir=nowhere",), "model_dir: the folder 'nowhere' does not exist"),
        (("model_in=words.csv",), "cannot load model_in = 'words.csv':\nit is not an XGBoost model"),
        (("model_out=.",), "model_out = '.' is a folder; allowed: the name of a file to write"),
        (("model_out=nowhere/m.json",), "model_out: the folder 'nowhere' does not exist"),
        (("model_out=m.json", "save_period=2", "model_dir=nowhere"), "model_dir: the folder 'nowhere' does not exist"),
        (("task=pred",), "task = pred needs test:data, which is not set"),
        (("task=pred", "test:data=a.txt"), "task = pred needs model_in, which is not set"),
        (("task=dump",), "task = dump needs model_in, which is not set"),
        (("task=dump", "model_in=m.model", "fmap=nowhere.txt"), "cannot open fmap = 'nowhere.txt': No such file"),
        (("task=dump", "model_in=m.model", "fmap=."), "cannot open fmap = '.': it is a folder"),
        (("task=dump", "model_in=m.model", "name_dump=nowhere/d.txt"), "cannot open 'nowhere/d.txt' for writing: No"),
        (("task=dump", "model_in=m.model", "name_dump=/dev/full"), "cannot write '/dev/full'"),
        (("model_out=/dev/full",), "cannot write '/dev/full'"),
    ],
)
def test_errors(cli, model, arguments, message):
    cli.configure("1.5,2,3\n" * 60, "words.csv")
    before = cli.files()
    assert message in cli.fail("train.conf", *arguments)
    assert cli.files() == before


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.csv", "1.5,2,3\n0,4,5\n", "it is read as LIBSVM, and row 1 of a.csv is '1.5,2,3': '1.5,2,3' is no label; allowed: rows of label column:value"),
        ("a.csv#cache", "1.5,2,3\n0,4,5\n", "For a CSV file write a.csv?format=csv&label_column=0"),
        ("a.txt?format=libsvm", "# comment\n\nsome words # and more\n", "row 3 of a.txt is 'some words # and more': 'some' is no label"),
        ("a.txt", "1 0:2 1:x\n", "row 1 of a.txt is '1 0:2 1:x'"),
        ("a.txt", "1 qid:x 0:2\n", "row 1 of a.txt is '1 qid:x 0:2'"),
        ("a.txt", "# only a comment", "there is no row in it; allowed: one row or more"),
        ("a.txt", "1 0 1 2\n0 1 2\n", "row 1 of a.txt is '1 0 1 2'"),
        ("a.txt", "0\n1\n1 0 1 2\n0 1 2\n", "row 3 of a.txt is '1 0 1 2'"),
        ("a.txt", "\ufeff1.5,2,3\n", "row 1 of a.txt is '1.5,2,3'"),
        ("a.txt", "", "the file is empty"),
    ],
)
def test_text_that_is_no_data(cli, name, text, words):
    """The stock program crashes, or takes what happens to be there."""
    cli.configure(text, name.split("?")[0].split("#")[0])
    cli.configure(config(name))
    message = cli.fail("train.conf")
    assert f"data = '{name}': " in message and words in message


@pytest.mark.parametrize("text", [f"# {'x' * 70000}\n1 0:1\n0 1:2\n", "1:0.5 0:1 2:3.5e-1\n0:2\n", "# a\r\n1 qid:1 0:1 1:2 # b\r\n0 qid:1 1:-1\r\n", "1 0:1\n0 1:2", "\ufeff1 0:1\n0 1:2\n", "0\n1 0:1\n0 1:2\n"])
def test_text_that_is_data(cli, text):
    cli.configure(text, "a.txt")
    cli.configure(config("a.txt", num_round=1, tree_method="hist"))
    cli.succeed("train.conf")
    xgb.DMatrix(f"{cli.folder / 'a.txt'}?format=libsvm").save_binary(cli.folder / "a.bin")
    cli.succeed("train.conf", "data=a.bin")


def test_data_without_a_name(cli, numbers):
    cli.configure(config(numbers))
    assert "data = '#cache' names no file" in cli.fail("train.conf", "data=#cache")


def test_files_named_by_scheme(cli, numbers):
    """As of the stock program."""
    cli.configure(config(numbers, num_round=1))
    here = f"file://{cli.folder}"
    cli.succeed("train.conf", f"model_out={here}/m.json", f"data=file://{numbers}")
    model = f"model_in={cli.folder}/m.json"
    cli.succeed("train.conf", "task=pred", model, f"test:data={numbers}", f"name_pred={here}/p.txt")
    cli.succeed("train.conf", "task=dump", model, f"name_dump={here}/d.txt")
    assert {"m.json", "p.txt", "d.txt"} <= {name for name in cli.files()}
    assert "model_out: the folder" in cli.fail("train.conf", f"model_out={here}/nowhere/m.json")
    assert "is a folder" in cli.fail("train.conf", f"model_out={here}")
    assert "model_out = 'file://' names no file" in cli.fail("train.conf", "model_out=file://")
    assert "data = 'file://a.txt': 'a.txt' is read as the name of a machine" in cli.fail("train.conf", "data=file://a.txt")
    (cli.folder / "map.txt").write_text("\ufeff0 width q\n")
    cli.succeed("train.conf", "task=dump", f"model_in={here}/m.json", f"fmap={here}/map.txt", "name_dump=named.txt")
    assert b"width" in cli.read("named.txt")


def test_prediction_errors(cli, model, numbers):
    arguments = ("train.conf", "task=pred", f"model_in={model}", f"test:data={numbers}")
    assert "Invalid number of trees" in cli.fail(*arguments, "iteration_end=9")
    message = cli.fail(*arguments, "ntree_limit=1", "iteration_end=1")
    assert "ntree_limit is 1, iteration_begin 0 and iteration_end 1; allowed: either" in message


def test_folders_are_checked_before_training(cli, numbers):
    cli.configure(config(numbers, num_round=3, eval_train=1))
    assert "logloss" not in cli.fail("train.conf", "model_dir=nowhere")
