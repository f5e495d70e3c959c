"""Models that newer versions of XGBoost wrote, in the tasks that take a model: read as they were meant, or refused."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

FILES = zipfile.ZipFile(Path(__file__).parents[1] / "python" / "models" / "newer_models.zip")
EXPECTED = json.loads(FILES.read("3.4.1/expected.json"))


@pytest.fixture
def rows(cli):
    lines = (" ".join(["0", *(f"{i}:{value!r}" for i, value in enumerate(row))]) for row in EXPECTED["rows"])
    (cli.folder / "rows.libsvm").write_text("\n".join(lines) + "\n")
    return "rows.libsvm?format=libsvm"


def put(cli, model, form, name):
    (cli.folder / name).write_bytes(FILES.read(f"3.4.1/{model}.{form}"))
    return f"model_in={name}"


@pytest.mark.parametrize("form, name", [("json", "m.json"), ("ubj", "m.ubj"), ("json", "0001.model"), ("ubj", "model")])
@pytest.mark.parametrize("model", ["squared", "dart", "poisson"])
def test_predictions_are_those_of_the_version_that_wrote_the_model(cli, rows, model, form, name):
    cli.succeed("/dev/null", "task=pred", f"test:data={rows}", put(cli, model, form, name), "name_pred=out.txt")
    written = np.array(cli.read("out.txt").split(), dtype=np.float32)
    # Nine digits are printed: each number again. Another libm may differ in the last bit or two.
    np.testing.assert_allclose(written, EXPECTED["predictions"][model], rtol=2**-22)


@pytest.mark.parametrize("form", ["json", "ubj"])
def test_dumps_of_a_dart_that_is_a_gbtree_there(cli, form):
    cli.succeed("/dev/null", "task=dump", put(cli, "dart", form, f"model.{form}"), "name_dump=trees.txt")
    assert cli.read("trees.txt").decode().count("booster[") == 6


@pytest.mark.parametrize("task", ["pred", "dump", "train"])
@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize(
    "model, reason",
    [
        ("softprob", "base scores of 3 classes differ"),
        ("names", "names of categories"),
        ("rank", "the objective 'rank:ndcg'"),
        ("vector", "are vectors of 2"),
    ],
)
def test_what_would_be_misread_is_refused(cli, rows, task, form, model, reason):
    message = cli.fail(
        "/dev/null", f"task={task}", f"data={rows}", f"test:data={rows}", put(cli, model, form, f"model.{form}")
    )
    assert f"cannot load model_in = 'model.{form}'" in message
    assert "written by XGBoost 3.4.1; this one is 1.7" in message and reason in message
