"""For the tree methods of stock XGBoost, the program writes the files that Debian's own writes, byte for byte."""

import itertools

import numpy as np
import pytest
import xgboost as xgb

CONFIG = """
# the mushroom demo
booster = gbtree
objective = binary:logistic
eta = 1.0
gamma = 1.0
min_child_weight = 1
max_depth = 3
num_round = 5
save_period = 2
data = "{train}"
eval[test] = "{test}"
eval_train = 1
test:data = "{test}"
"""

TRAININGS = [
    ("tree_method=hist", "grow_policy=lossguide", "max_leaves=6"),
    ("tree_method=approx",),
    ("tree_method=exact", "model_out=m.json"),
    ("tree_method=hist", "model_out=m.json", "subsample=0.5", "seed=3"),
    ("booster=dart", "tree_method=hist", "rate_drop=0.5", "model_out=m.json"),
    ("tree_method=hist", "num_parallel_tree=3", "model_out=m.json"),
    ("tree_method=hist", "objective=multi:softprob", "num_class=2", "eval_metric=merror", "eval_metric=mlogloss"),
    ("booster=gblinear", "updater=coord_descent", "model_out=m.json"),
]


def metrics(stderr):
    """The lines of metrics, without the time of day before them."""
    return [line.split("] ", 1)[1] for line in stderr.splitlines() if "\ttest-" in line]


@pytest.fixture
def both(cli, stock, agaricus):
    for program in (cli, stock):
        program.configure(CONFIG.format(**agaricus))
    return cli, stock


@pytest.mark.parametrize("arguments", TRAININGS, ids=" ".join)
def test_models_and_metrics(both, arguments):
    printed = [metrics(program.succeed("train.conf", *arguments).stderr) for program in both]
    assert len(printed[0]) == 5
    assert printed[0] == printed[1]
    assert len(both[0].files()) == 4  # configuration, two checkpoints, last model
    assert both[0].files() == both[1].files()


def test_predictions_and_dumps(both):
    predictions = [(), ("pred_margin=1",), ("iteration_begin=1", "iteration_end=3"), ("ntree_limit=2",)]
    dumps = itertools.product(("text", "json", "dot"), ("0", "1"), ("NULL", "map.txt"))
    commands = [(f"name_pred=p{i}", "task=pred", *arguments) for i, arguments in enumerate(predictions)]
    commands += [
        (f"name_dump=d{i}", "task=dump", f"dump_format={form}", f"dump_stats={stats}", f"fmap={fmap}")
        for i, (form, stats, fmap) in enumerate(dumps)
    ]
    for program in both:
        names = (f"{i} name{i} {'i' if i % 2 else 'q'}" for i in range(127))
        (program.folder / "map.txt").write_text("\n".join(names))
        program.succeed("train.conf", "tree_method=hist")
        for command in commands:
            program.succeed("train.conf", "model_in=0005.model", *command)
    assert len(both[0].files()) == 5 + len(commands)
    assert both[0].files() == both[1].files()


def test_continued_training(both):
    for program in both:
        program.succeed("train.conf", "tree_method=hist")
        program.succeed("train.conf", "tree_method=hist", "model_in=0005.model", "num_round=3", "model_out=m.json")
    assert both[0].files() == both[1].files()


def test_dump_of_categories(cli, stock, tmp_path):
    values = np.random.RandomState(0).randint(0, 6, size=(300, 3)).astype(float)
    names = {"feature_names": list("abc"), "feature_types": list("cqc")}
    data = xgb.DMatrix(values, values[:, 0] % 2 + values[:, 1], enable_categorical=True, **names)
    booster = xgb.train({"tree_method": "hist", "max_depth": 3}, data, 2)
    for program in (cli, stock):
        booster.save_model(program.folder / "m.json")
        program.configure("model_in = m.json\ntask = dump\n")
        for form in ("text", "json", "dot"):
            program.succeed("train.conf", f"dump_format={form}", f"name_dump=dump.{form}")
    assert b":{" in cli.read("dump.text")
    assert cli.files() == stock.files()
