"""Bad input in messages of the library and of the package: cut at 80 characters, without control characters."""

import re
import os
import subprocess
import sys

import numpy as np
import pytest
import xgboost as xgb
from support import only_ours, other_method, params

import xgboost_gpu
from xgboost_gpu import _text

#: What a terminal would obey: a colour, a title, a bell, the other way to begin a command.
ODD = "\x1b[31m\x1b]0;title\x07\x9b1m"
IN_BYTES = r"\x1b[31m\x1b]0;title\x07\xc2\x9b1m"
IN_CHARACTERS = r"\x1b[31m\x1b]0;title\x07\x9b1m"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    "text, shown",
    [
        ("gpu_hist \\ it's", "'gpu_hist \\ it's'"),
        ("Zürich 東京", "'Zürich 東京'"),
        ("a\nb\tc", r"'a\nb\tc'"),
        (ODD, f"'{IN_CHARACTERS}'"),
        ("a\u202eb\udcff", r"'a\u202eb\udcff'"),
        ("é" * 80, f"'{'é' * 80}'"),
        ("é" * 81, f"'{'é' * 80}… (81 characters)'"),
        (12, "'12'"),
    ],
)
def test_quoted(text, shown):
    assert _text.quoted(text) == shown
    assert _text.escaped(shown, 200) == shown


def test_names_of_files_are_whole():
    assert _text.quoted_name("x" * 4096) == f"'{'x' * 4096}'"
    assert len(_text.quoted_name("x" * 10**6)) < 4200


def test_messages_of_others_keep_their_lines():
    assert _text.escaped_message("two\nlines\t\x1b") == "two\nlines\t\\x1b"
    assert len(_text.escaped_message("x" * 10**6)) < 8300


@only_ours
@pytest.mark.parametrize(
    "name", ["tree_method", "updater", "gpu_backend", "grow_policy", "sampling_method", "eta", "subsample", "top_rate",
             "monotone_constraints", "interaction_constraints", "gpu_memory_limit", "gpu_host_memory_limit",
             "predictor"]
)  # fmt: skip
@pytest.mark.parametrize("value", ["x" * 10**6, ODD])
def test_values_of_parameters(name, value):
    data = xgb.DMatrix(np.zeros((4, 2)), np.zeros(4))
    # A tree method that is not ours is refused for gpu_backend=cuda before it is read.
    settings = params(**other_method()) if name == "tree_method" else params()
    with pytest.raises(xgb.core.XGBoostError) as error:
        xgb.Booster({**settings, name: value}, [data]).update(data, 0)
    message = str(error.value)
    assert f"Parameter {name.replace('eta', 'learning_rate')} is '" in message
    assert f"'{'x' * 80}… (1000000 bytes)'" in message if value[0] == "x" else f"'{IN_BYTES}'" in message
    assert CONTROL.search(message) is None and len(message) < 1000


@only_ours
@pytest.mark.parametrize("name", ["max_depth", "max_leaves", "max_bin", "n_gpus"])
@pytest.mark.parametrize("value, shown", [("x" * 10**6, f"'{'x' * 80}… (1000000 bytes)'"), (ODD, f"'{IN_BYTES}'")])
def test_values_of_parameters_in_words_of_xgboost(name, value, shown):
    data = xgb.DMatrix(np.zeros((4, 2)), np.zeros(4))
    with pytest.raises(xgb.core.XGBoostError) as error:
        xgb.Booster({**params(), name: value}, [data]).update(data, 0)
    assert f"Invalid Parameter format for {name} expect int but value={shown}" in str(error.value)


@only_ours
def test_name_of_a_trace(tmp_path):
    file = tmp_path / ODD / "trace.json"
    data = xgb.DMatrix(np.zeros((4, 2)), np.zeros(4))
    with pytest.raises(xgb.core.XGBoostError) as error:
        xgb.Booster({**params(), "gpu_trace": str(file)}, [data]).update(data, 0)
    assert f"gpu_trace is '{tmp_path}/{IN_BYTES}/trace.json', but" in str(error.value)


@only_ours
def test_names_of_files_in_the_package(tmp_path):
    file = tmp_path / ODD
    with pytest.raises(FileNotFoundError) as error:
        xgboost_gpu.compare(str(file), str(file))
    assert str(error.value) == f"a is '{tmp_path}/{IN_CHARACTERS}', which is not a file"
    file.write_text("[]")
    for function, arguments in ((xgboost_gpu.compare, 2), (xgboost_gpu.profile, 1)):
        with pytest.raises(ValueError) as error:
            function(*[str(file)] * arguments)
        assert f"{tmp_path}/{IN_CHARACTERS}" in str(error.value)
        assert CONTROL.search(str(error.value)) is None


@only_ours
@pytest.mark.parametrize("arguments", [(ODD, ODD), ("a", "b", "--data", ODD), ("a", "b", ODD), ("a", "b", f"--gamma={ODD}")])
def test_tool(arguments):
    command = [sys.executable, "-B", "-m", "xgboost_gpu", "compare", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 2
    assert IN_CHARACTERS in done.stderr
    assert CONTROL.search(done.stderr) is None
