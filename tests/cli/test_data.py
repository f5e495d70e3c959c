"""Data that the program reads: rows that XGBoost's parser would misread are errors; files beside data are read."""

import gzip
import json
import re

import numpy as np
import pytest
import xgboost as xgb
from test_distributed import run_two_workers

ROWS = "".join(f"{i % 2} 0:{i} 1:{i * i % 7}\n" for i in range(8))
CELLS = ROWS.replace(" 0:", ",").replace(" 1:", ",")
WEIGHTED = re.sub(r"(?m)^(\d)", r"\1:2", ROWS)
GROUPED = re.sub(r"(?m)^(\d)", r"\1 qid:1", ROWS)
CSV = "d.csv?format=csv&label_column=0"
CONFIG = """
objective = reg:squarederror
tree_method = {method}
gpu_backend = host
min_child_weight = 0
base_score = 0
num_round = 2
eval_train = 1
model_out = m.json
"""


def trained(cli, data, *arguments, method="gpu_hist"):
    """The model and the log of a training on data of this URI."""
    cli.configure(CONFIG.format(method=method) + f'data = "{data}"\n')
    log = cli.succeed("train.conf", *arguments).stderr
    return cli.read("m.json"), log


def refused(cli, text, uri, *arguments):
    """The message of a training on a file with this text. No model may be there afterwards."""
    content = text if isinstance(text, bytes) else text.encode()
    (cli.folder / re.split("[?#]", uri)[0]).write_bytes(content)
    (cli.folder / "m.json").unlink(missing_ok=True)
    cli.configure(CONFIG.format(method="gpu_hist") + f'data = "{uri}"\n')
    message = cli.fail("train.conf", *arguments)
    assert "m.json" not in cli.files() and f"data = '{uri}'" in message.replace("\\t", "\t")
    return message


BAD_LIBSVM = [
    ("hello world", "'hello' is no label"),
    ("0:5 1:6", "'0:5' has a weight, which the first row has not, or a label is missing"),
    ("1:2 0:5", "'1:2' has a weight, which the first row has not"),
    ("nan 0:1", "'nan' is no label"),
    ("inf 0:1", "'inf' is no label"),
    ("0x1 0:1", "'0x1' is no label"),
    ("1e5x 0:1", "'1e5x' is no label"),
    (", 0:1", "',' is no label"),
    ("1 0:x", "'0:x' has no number as its value"),
    ("1 0:nan", "'0:nan' has no number as its value; a value that is missing is left out"),
    ("1 0:inf 1:2", "'0:inf' has no number as its value"),
    ("1 0: 1:2", "'0:' has no number as its value"),
    ("1 0:1:2", "'0:1:2' has no number as its value"),
    ("1 0:--5", "'0:--5' has no number as its value"),
    ("1 0:5e", "'0:5e' has no number as its value"),
    ("1 0:.", "'0:.' has no number as its value"),
    ("1 0:0x10", "'0:0x10' has no number as its value"),
    ("1 0:1.5f", "'0:1.5f' has no number as its value"),
    ("1 0:1,5", "'0:1,5' has no number as its value"),
    ("1 0 1", "'0' is no column:value"),
    ("1 0 :1", "'0' is no column:value"),
    ("1 4294967297:3", "'4294967297:3' is no column:value, whose column is a whole number up to 4294967294"),
    ("1 4294967295:3", "'4294967295:3' is no column:value"),
    ("1 99999999999999999999999:3", "'99999999999999999999999:3' is no column:value"),
    ("1 -1:3", "'-1:3' is no column:value"),
    ("1 +1:3", "'+1:3' is no column:value"),
    ("1 1.5:3", "'1.5:3' is no column:value"),
    ("1 a:3", "'a:3' is no column:value"),
    ("1 0:3 qid:1", "'qid:1' is no column:value"),
    ("1 qid:3 0:1", "it has a qid, which the first row has not; allowed: a qid in each row, or in none"),
    ("1 0:3 0:2", "column 0 is there twice; allowed: once"),
    ("1 0:3\t7:1 2:3 7:2", "column 7 is there twice; allowed: once"),
    ("1 0:1e39", "'1e39' is beyond the numbers of 32 bits"),
    ("1 0:-4e38", "'-4e38' is beyond the numbers of 32 bits"),
    ("1 0:123456789012345678901", "'123456789012345678901' is beyond the numbers of 32 bits, or has more than 19 digits"),
    ("1e60 0:1", "'1e60' is beyond the numbers of 32 bits"),
    ("1 0:1\0", r"'0:1\x00' has no number as its value"),
]


@pytest.mark.parametrize("row, reason", BAD_LIBSVM)
@pytest.mark.parametrize("form", ["", "?format=libsvm"])
def test_libsvm_rows_that_would_be_misread(cli, row, reason, form):
    message = refused(cli, f"# rows\n{ROWS}\n{row}\n{ROWS}", "d.txt" + form)
    shown = row.replace("\0", r"\x00").replace("\t", r"\t")
    assert f"row 11 of d.txt is '{shown}': {reason}" in message  # a comment, eight rows and an empty line before


@pytest.mark.parametrize("text, row, reason", [
    ("1:3 0:2\n1 0:2\n", 2, "'1' has no weight, which the first row has"),
    ("1:-3 0:2\n", 1, "'1:-3' is no label:weight, whose weight is a number from 0 on"),
    ("1:x 0:2\n", 1, "'1:x' is no label:weight"),
    ("1:nan 0:2\n", 1, "'1:nan' is no label:weight"),
    ("1 qid:3 0:2\n1 0:2\n", 2, "it has no qid, which the first row has"),
    ("1 qid:x 0:2\n", 1, "'qid:x' is no qid:number with a whole number below 2^63"),
    ("1 qid:-1 0:2\n", 1, "'qid:-1' is no qid:number"),
    ("1 qid:1.5 0:2\n", 1, "'qid:1.5' is no qid:number"),
    ("1 qid: 0:2\n", 1, "'qid:' is no qid:number"),
    ("1 qid:9223372036854775808 0:2\n", 1, "'qid:9223372036854775808' is no qid:number"),
    ("1:2\tqid:1 0:2\n", 1, "'qid:1' stands behind a weight and a tab"),
    ("1 qid:1 0:2\n1 qid:2 0:3\n0 qid:1 0:4\n", 3, "rows of qid 1 came before, and others between"),
    ("\ufeff1 0:2\n\ufeff1 0:2\n", 2, r"'\xef\xbb\xbf1' is no label"),
    ("1 0:2\r\n1 0:2\r\nx\r\n", 3, "'x' is no label"),
    ("1 0:2\r1 0:2\rx\r", 3, "'x' is no label"),
    ("1 0:2\n# note 5\n", 2, "it is a comment, in which XGBoost reads numbers"),
    ("# 1\n  # 5:6\n1 0:2\n", 2, "it is a comment, in which XGBoost reads numbers"),
    ("\ufeff# e\n1 0:2\n", 1, "it is a comment, in which XGBoost reads numbers; allowed: comments in the first line of all"),
])
def test_libsvm_rows_beside_others(cli, text, row, reason):
    message = refused(cli, text, "d.txt?format=libsvm")
    assert f"row {row} of d.txt is" in message
    assert reason in message if "\\x" not in reason else "is no label" in message


@pytest.mark.parametrize("cells, reason", [
    ("label,a,b", "its column 0 is 'label', which is no number"),
    ("1,x,2", "its column 1 is 'x', which is no number; allowed: numbers, and nan or nothing where a value is missing"),
    ("1,NA,2", "its column 1 is 'NA', which is no number"),
    ('1,"3",2', "its column 1 is '\"3\"', which is no number"),
    ("1,0x10,2", "its column 1 is '0x10', which is no number"),
    ("1,1 2,2", "its column 1 is '1 2', which is no number"),
    ("1,2,1.5f", "its column 2 is '1.5f', which is no number"),
    ("1,2020-01-01,2", "its column 1 is '2020-01-01', which is no number"),
    ("1,-inf,2", "its column 1 is '-inf', which is infinite"),
    ("1,1e39,2", "'1e39' is beyond the numbers of 32 bits"),
    ("1, ,2", "its column 1 is ' ', blanks, for which XGBoost reads another number"),
    ("1,2, ", "its column 2 is ' ', blanks, for which XGBoost reads another number"),
    ("  ", "its column 0 is '  ', and the label is missing"),
    ("# end", "its column 0 is '# end', which is no number"),
    ("1,2", "it has 2 cells; allowed: 3, as in the first row"),
    ("1,2,3,4", "it has 4 cells; allowed: 3, as in the first row"),
    (",2,3", "its column 0 is '', and the label is missing; allowed: a number"),
    ("nan,2,3", "its column 0 is 'nan', and the label is missing; allowed: a number"),
])
def test_csv_rows_that_would_be_misread(cli, cells, reason):
    assert f"row 9 of d.csv is '{cells}': {reason}" in refused(cli, f"{CELLS}{cells}\n{CELLS}", CSV)


def test_the_header_of_a_csv_file(cli):
    for uri in (CSV, "d.csv?format=csv"):
        assert "row 1 of d.csv is 'label,a,b': its column 0 is 'label', which is no number" in \
            refused(cli, "label,a,b\n" + CELLS, uri)
    message = refused(cli, "\ufeff\n" + CELLS, CSV)
    assert "row 1 of d.csv is '': behind a byte order mark XGBoost reads an empty line as a row" in message
    assert "row 1 of d.csv is 'label,a,b': 'label,a,b' is no label" in refused(cli, "label,a,b\n" + CELLS, "d.csv")


@pytest.mark.parametrize("uri, message", [
    ("d.csv?format=csv&label_column=9", "label_column is 9, and the row has 3 columns; allowed: 0 to 2"),
    ("d.csv?format=csv&label_column=3", "label_column is 3, and the row has 3 columns"),
    ("d.csv?format=csv&label_column=0&weight_column=3", "weight_column is 3, and the row has 3 columns"),
    ("d.csv?format=csv&label_column=x", "label_column is 'x'; allowed: whole numbers from -1"),
    ("d.csv?format=csv&label_column=-2", "label_column is '-2'; allowed: whole numbers from -1"),
    ("d.csv?format=csv&label_column=4294967296", "label_column is '4294967296'; allowed: whole numbers from -1"),
    ("d.csv?format=csv&label_column=1&weight_column=1", "label_column and weight_column are both 1"),
    ("d.csv?format=csv&label_colum=0", "'label_colum' is no argument of format=csv; allowed: label_column, weight_column"),
    ("d.csv?format=libsvm&label_column=0", "'label_column' is no argument of format=libsvm; allowed: indexing_mode"),
    ("d.csv?format=CSV", "format is 'CSV'; allowed: libsvm, csv, libfm"),
    ("d.csv?format=parquet", "format is 'parquet'; allowed: libsvm, csv, libfm"),
    ("d.csv?csv", "'csv' behind the ? is not name=value"),
    ("d.csv?format=csv&label_column=", "'label_column=' behind the ? is not name=value"),
    ("d.csv?format=csv&label_column=0&delimiter=tab", "delimiter is 'tab'; allowed: one character"),
    ("d.csv?format=csv&label_column=0&delimiter=-", "delimiter is '-'; allowed: one character that no number has"),
    ("d.csv?format=csv&label_column=0&delimiter=;", "it has no column beside labels and weights, with ';' between columns"),
    ("d.csv?format=libfm", "row 1 of d.csv is '0,0,0': '0,0,0' is no label; allowed: rows of label field:column:value"),
    ("d.csv?indexing_mode=2x", "indexing_mode is '2x'; allowed: whole numbers from -1"),
])
def test_arguments_of_data(cli, uri, message):
    assert message in refused(cli, CELLS, uri)


@pytest.mark.parametrize("mode", [1, -1])
def test_columns_that_begin_at_one(cli, mode):
    message = refused(cli, ROWS, f"d.txt?format=libsvm&indexing_mode={mode}")
    assert "row 1 of d.txt is '0 0:0 1:0': '0:0' has column 0; with indexing_mode columns begin at 1" in message
    cli.configure(ROWS, "d.txt")
    cli.configure(re.sub(r"(\d):", lambda match: f"{int(match[1]) + 1}:", ROWS), "one.txt")
    assert trained(cli, "d.txt")[0] == trained(cli, f"one.txt?indexing_mode={mode}")[0]


@pytest.mark.parametrize("text, word", [
    (gzip.compress(ROWS.encode()), "'d.txt' is packed by gzip; allowed: text, unpacked"),
    (b"PK\x03\x04" + b"x" * 50, "packed by zip"),
    (ROWS.encode("utf-16"), "row 1 of d.txt is"),
    (b"\x80\x04\x95", r"row 1 of d.txt is '\x80\x04\x95'"),
    (b"", "the file is empty"),
    (b"\n\n \t\n", "there is no row in it"),
])
def test_files_that_are_no_rows(cli, text, word):
    assert word in refused(cli, text, "d.txt")


SAME = [
    ROWS.replace("\n", "\r\n"), ROWS.replace("\n", "\r"), ROWS[:-1], "\ufeff" + ROWS, ROWS.replace(" ", "\t"),
    " \t" + ROWS.replace("\n", " \n  "), " # the first: 1\n\n#\n# this is all right\n" + ROWS.replace("\n", " # a note: 5:5 e\n"),
    re.sub(r" 0:(\d) 1:(\d)", r"  1:\2\t0:\1", ROWS), re.sub(r":(\d)", r":+\1.000e+00", ROWS), re.sub(r":(\d)", r":000\1.", ROWS),
]  # fmt: skip


@pytest.mark.parametrize("method", ["gpu_hist", "gpu_exact", "hist", "exact"])
def test_other_spellings_of_the_rows_give_the_same_model(cli, method):
    cli.configure(ROWS, "d.txt")
    expected = trained(cli, "d.txt", method=method)[0]
    for text in SAME:
        cli.configure(text, "e.txt")
        assert trained(cli, "e.txt", method=method)[0] == expected, text
    for text in (CELLS, CELLS.replace("\n", "\r\n"), "\ufeff" + CELLS, "\n" + CELLS.replace("\n", "\n\n"), CELLS.replace(",", " , "), CELLS[:-1]):
        cli.configure(text, "d.csv")
        assert trained(cli, CSV, method=method)[0] == expected, text
    cli.configure(CELLS.replace(",", ";"), "d.csv")
    assert trained(cli, CSV + "&delimiter=;", method=method)[0] == expected
    cli.configure(CELLS.replace(",", "\t"), "d.csv")
    assert trained(cli, CSV + "&delimiter=\t", method=method)[0] == expected
    cli.configure(re.sub(r" (\d):", r" 7:\1:", ROWS), "d.fm")
    assert trained(cli, "d.fm?format=libfm", method=method)[0] == expected
    cli.configure(re.sub(r"(?m)^(\d),(\d),(\d)", r"\2,\3,\1", CELLS), "last.csv")
    assert trained(cli, "last.csv?label_column=2&format=csv", method=method)[0] == expected


def test_missing_values_of_csv(cli):
    cli.configure(re.sub(r"(?m) 0:3", "", ROWS), "d.txt")
    expected = trained(cli, "d.txt")[0]
    for cell in ("", "nan", "NaN", "-nan", " nan "):
        cli.configure(CELLS.replace(",3,", f",{cell},"), "d.csv")
        assert trained(cli, CSV)[0] == expected, cell
    message = refused(cli, CELLS.replace(",", "\t").replace("\t3\t", "\t\t"), CSV + "&delimiter=\t")
    assert "row 4 of d.csv is" in message and "XGBoost reads the next number there" in message


def test_numbers_of_many_digits(cli):
    for number in ("1e-300", "3.4e38", "0.1234567890123456789012345", "1234567890123456789", "00000000000000000000000001"):
        cli.configure(ROWS + f"1 0:{number}\n", "d.txt")
        trained(cli, "d.txt")


def test_labels_of_data_to_predict_need_not_be_there(cli):
    cli.configure(CELLS, "d.csv")
    trained(cli, CSV)
    cli.configure(re.sub(r"(?m)^\d", "", CELLS), "t.csv")
    task = ("train.conf", "task=pred", "model_in=m.json")
    cli.succeed(*task, "test:data=t.csv?format=csv&label_column=0")
    expected = cli.read("pred.txt")
    cli.configure(re.sub(r"(?m)^\d,", "", CELLS), "t.csv")
    done = cli.succeed(*task, "test:data=t.csv?format=csv")
    assert cli.read("pred.txt") == expected and "WARNING" not in done.stderr
    cli.configure(re.sub(r"(?m)^\d ", "", ROWS), "t.txt")  # each row is taken for label:weight
    warning = "each row begins with label:weight, as the first one with '0:0'. If the labels are missing"
    assert warning in cli.succeed(*task, "test:data=t.txt").stderr
    cli.configure("a,b\n1,2\n", "t.csv")
    message = cli.fail(*task, "test:data=t.csv?format=csv")
    assert "test:data = 't.csv?format=csv': row 1 of t.csv is 'a,b'" in message


def test_a_line_about_labels_that_are_not_there(cli):
    cli.configure(CELLS, "d.csv")
    assert "WARNING: data = 'd.csv?format=csv': there is no label_column" in trained(cli, "d.csv?format=csv")[1]
    assert "WARNING" not in trained(cli, CSV)[1]
    cli.configure(re.sub(r"(?m)^(\d) 0", r"\1:2 1", ROWS.replace(" 1:", " 2:")), "d.txt")
    assert "WARNING" not in trained(cli, "d.txt")[1]  # labels 0 and 1 with weights


def test_evaluation_data_are_looked_at(cli):
    cli.configure(ROWS, "d.txt")
    cli.configure(ROWS + "1 0:x\n", "e.txt")
    cli.configure(CONFIG.format(method="hist") + "data = d.txt\neval[a] = e.txt\n")
    assert "eval[a] = 'e.txt': it is read as LIBSVM, and row 9 of e.txt is '1 0:x'" in cli.fail("train.conf")


def test_several_files(cli):
    for name in ("a.txt", "b.txt"):
        (cli.folder / "rows").mkdir(exist_ok=True)
        (cli.folder / "rows" / name).write_text(ROWS)
    expected = trained(cli, "rows")[0]
    assert trained(cli, "./rows/.*txt")[0] == trained(cli, "rows/a.txt;rows/b.txt")[0] == expected
    (cli.folder / "rows" / "b.txt").write_text(ROWS + "words\n")
    for name in ("rows", "./rows/.*txt", "rows/a.txt;rows/b.txt"):
        cli.configure(CONFIG.format(method="hist") + f'data = "{name}"\n')
        assert re.search(r"row 9 of (\./)?rows/b.txt is 'words': 'words' is no label", cli.fail("train.conf"))
    (cli.folder / "rows" / "b.txt").write_text(ROWS)
    (cli.folder / "rows" / "a.txt.group").write_text("3\n5\n")
    cli.configure(CONFIG.format(method="hist"))
    message = cli.fail("train.conf", "data=rows")
    assert "'rows/a.txt.group' would be read as rows of data, and its name is that of the groups of 'rows/a.txt'" in message
    message = cli.fail("train.conf", "data=rows/a.txt;rows/b.txt")
    assert "'rows/a.txt.group' is beside one of 2 files; allowed: one file" in message


def test_saved_matrices(cli):
    cli.configure(ROWS, "d.txt")
    expected = trained(cli, "d.txt")[0]
    xgb.DMatrix(f"{cli.folder / 'd.txt'}?format=libsvm").save_binary(cli.folder / "d.bin")
    assert trained(cli, "d.bin")[0] == expected
    message = cli.fail("train.conf", "data=d.bin?format=libsvm")
    assert "the file is a saved DMatrix, and with arguments it is read as text; allowed: d.bin" in message


def test_caches(cli):
    cli.configure(ROWS, "d.txt")
    assert trained(cli, "d.txt#cache")[0] == trained(cli, "d.txt")[0]
    assert "data's cache: the folder 'nowhere' does not exist" in cli.fail("train.conf", "data=d.txt#nowhere/cache")
    cli.configure(ROWS + "words\n", "d.txt")
    assert "row 9 of d.txt is 'words'" in cli.fail("train.conf", "data=d.txt#cache")


@pytest.mark.parametrize("method", ["hist", "gpu_hist", "gpu_exact"])
def test_weights_beside_data(cli, method):
    cli.configure(WEIGHTED.replace(":2 0", ":3 0", 4), "w.txt")
    expected = trained(cli, "w.txt", method=method)[0]
    cli.configure(ROWS, "d.txt")
    plain = trained(cli, "d.txt", method=method)[0]
    for weights in ("3\n3\n3\n3\n2\n2\n2\n2\n", "3 3 3\t3\r\n2 2 2 2", "\ufeff3.0\n3e0\n3\n3\n2\n2\n2\n+2\n\n"):
        cli.configure(weights, "d.txt.weight")
        cached = [] if method == "gpu_exact" else ["d.txt#cache"]
        for uri in ("d.txt", "d.txt?format=libsvm", f"file://{cli.folder}/d.txt", *cached):
            model, log = trained(cli, uri, method=method)
            assert model == expected != plain
            assert re.search(r"8 weights are read from \S*d.txt.weight", log)
    cli.configure(CELLS, "d.csv")
    cli.configure(weights, "d.csv.weight")
    assert trained(cli, CSV, method=method)[0] == expected


def test_weights_of_a_saved_matrix_and_of_data_to_evaluate(cli):
    cli.configure(ROWS, "d.txt")
    xgb.DMatrix(f"{cli.folder / 'd.txt'}?format=libsvm").save_binary(cli.folder / "d.bin")
    cli.configure("3 3 3 3 2 2 2 2", "d.bin.weight")
    cli.configure(WEIGHTED.replace(":2 0", ":3 0", 4), "w.txt")
    expected = trained(cli, "w.txt", "eval[a]=w.txt")
    told = trained(cli, "d.bin", "eval[a]=d.bin")
    metrics = re.compile(r"a-rmse:\S+")
    assert told[0] == expected[0] and metrics.findall(told[1]) == metrics.findall(expected[1])


@pytest.mark.parametrize("method", ["hist", "gpu_hist"])
def test_groups_beside_data(cli, method):
    rows = "".join(f"{i * 7 % 5 % 3} 0:{i * 3 % 11} 1:{i * i % 7}\n" for i in range(60))
    sizes = [7, 20, 1, 32]
    qids = np.repeat(np.arange(4), sizes)
    cli.configure("".join(f"{r[0]} qid:{q}{r[1:]}\n" for r, q in zip(rows.splitlines(), qids)), "q.txt")
    options = ("objective=rank:ndcg", "eval_metric=ndcg")
    expected = trained(cli, "q.txt", *options, method=method)
    cli.configure(rows, "d.txt")
    one_group = trained(cli, "d.txt", *options, method=method)[0]
    cli.configure("\n".join(map(str, sizes)), "d.txt.group")
    model, log = trained(cli, "d.txt", *options, method=method)
    assert model == expected[0] != one_group and "4 groups are read from d.txt.group" in log
    assert re.findall(r"train-ndcg:\S+", log) == re.findall(r"train-ndcg:\S+", expected[1])
    cli.configure("1 1 5 1", "d.txt.weight")
    weighted = trained(cli, "d.txt", *options, method=method)[0]
    assert weighted != model
    if method == "hist":
        (cli.folder / "d.txt.group").rename(cli.folder / "sizes")
        data = xgb.DMatrix(f"{cli.folder / 'd.txt'}?format=libsvm", weight=[1, 1, 5, 1])
        data.set_group(sizes)
        parameters = {"objective": "rank:ndcg", "eval_metric": "ndcg", "min_child_weight": 0, "base_score": 0}
        booster = xgb.train({"tree_method": method, **parameters}, data, 2)
        booster.feature_names = booster.feature_types = None
        trees = [json.loads(bytes(text))["learner"]["gradient_booster"] for text in (booster.save_raw("json"), weighted)]
        assert trees[0] == trees[1]
        (cli.folder / "sizes").rename(cli.folder / "d.txt.group")
    cli.configure("1 " * 60, "d.txt.weight")
    assert "has 60 rows, and 'd.txt.weight' has 60 numbers; allowed: 4, one for each group" in cli.fail("train.conf", *options)


@pytest.mark.parametrize("classes", [1, 3])
def test_margins_beside_data(cli, classes):
    cli.configure(ROWS, "d.txt")
    margins = np.random.default_rng(0).normal(size=8 * classes).astype(np.float32)
    cli.configure("\n".join(map(str, margins)), "d.txt.base_margin")
    options = ("objective=multi:softprob", "num_class=3") if classes > 1 else ()
    assert f"{8 * classes} base margins are read" in trained(cli, "d.txt", *options)[1]
    cli.succeed("train.conf", "task=pred", "model_in=m.json", "test:data=d.txt", "pred_margin=1")
    data = xgb.DMatrix(f"{cli.folder / 'd.txt'}?format=libsvm", base_margin=margins.reshape(8, classes))
    expected = xgb.Booster(model_file=str(cli.folder / "m.json")).predict(data, output_margin=True)
    assert np.array_equal(np.loadtxt(cli.folder / "pred.txt", dtype=np.float32), expected.ravel())


@pytest.mark.parametrize("name, text, message", [
    ("weight", "3\n", "has 8 rows, and 'd.txt.weight' has 1 numbers; allowed: 8, one for each row"),
    ("weight", "", "'d.txt.weight' has 0 numbers; allowed: 8"),
    ("weight", "1 " * 16, "'d.txt.weight' has 16 numbers; allowed: 8"),
    ("weight", "1\n2\nx\n", "d.txt.weight:3: 'x' is not valid; allowed: numbers from 0 to 3.4e38"),
    ("weight", "1\n-2\n", "d.txt.weight:2: '-2' is not valid"),
    ("weight", "nan\n", "d.txt.weight:1: 'nan' is not valid"),
    ("weight", "1,2\n", "d.txt.weight:1: '1,2' is not valid"),
    ("weight", "0x3\n", "d.txt.weight:1: '0x3' is not valid"),
    ("weight", "1e50\n", "d.txt.weight:1: '1e50' is not valid"),
    ("group", "999\n", "has 8 rows, and the groups of 'd.txt.group' have 999; allowed: numbers whose sum is 8"),
    ("group", "3\n4\n", "the groups of 'd.txt.group' have 7; allowed: numbers whose sum is 8"),
    ("group", "", "the groups of 'd.txt.group' have 0; allowed: numbers whose sum is 8"),
    ("group", "3\nfive\n", "d.txt.group:2: 'five' is not valid; allowed: whole numbers from 1 to 4294967295"),
    ("group", "8\n0\n", "d.txt.group:2: '0' is not valid"),
    ("group", "9\n-1\n", "d.txt.group:2: '-1' is not valid"),
    ("group", "8.0\n", "d.txt.group:1: '8.0' is not valid"),
    ("group", "4294967304\n", "d.txt.group:1: '4294967304' is not valid"),
    ("base_margin", "0.5\n" * 7, "'d.txt.base_margin' has 7 numbers; allowed: 8, one for each row, or as many for each class"),
    ("base_margin", "", "'d.txt.base_margin' has 0 numbers; allowed: 8"),
    ("base_margin", "inf\n", "d.txt.base_margin:1: 'inf' is not valid"),
    ("base_margin", "1\n\n\x1b[31m\n", r"d.txt.base_margin:3: '\x1b[31m' is not valid"),
])
def test_bad_files_beside_data(cli, name, text, message):
    cli.configure(text, f"d.txt.{name}")
    (cli.folder / "d.txt").write_text(ROWS)
    cli.configure(CONFIG.format(method="gpu_hist") + "data = d.txt\n")
    assert message in cli.fail("train.conf", "objective=rank:pairwise") and "m.json" not in cli.files()


def test_files_beside_data_that_say_it_again(cli):
    for text, name, what in ((GROUPED, "group", "qid"), (WEIGHTED, "weight", "weights")):
        cli.configure(text, "d.txt")
        cli.configure("8\n", f"d.txt.{name}")
        cli.configure(CONFIG.format(method="hist") + "data = d.txt\n")
        message = cli.fail("train.conf")
        (cli.folder / f"d.txt.{name}").unlink()
        assert f"its rows have {what}, and 'd.txt.{name}' is beside it; allowed: one of them" in message
    cli.configure(re.sub(r"(?m)^(\d)", r"\1:2 qid:1", ROWS), "e.txt")
    assert "with groups XGBoost takes one weight for each group; allowed: weights of groups in 'e.txt.weight'" in \
        cli.fail("train.conf", "data=e.txt")


@pytest.mark.parametrize("name", ["query", "init", "qid", "label", "label_lower_bound", "weights"])
def test_a_line_about_files_that_are_not_read(cli, name):
    cli.configure(ROWS, "d.txt")
    plain, _ = trained(cli, "d.txt")
    cli.configure("1\n", f"d.txt.{name}")
    model, log = trained(cli, "d.txt")
    assert model == plain
    assert f"WARNING: d.txt.{name} is not read. Files that are read beside data: NAME.group, NAME.weight, NAME.base_margin" in log


def test_two_workers_take_what_belongs_to_their_rows(cli):
    """Each has a part of the file. Weights and margins go with the rows, wherever the file is cut."""
    rows = "".join(f"{i * 7 % 5 % 3} 0:{i * 3 % 11} 1:{i * i % 97}\n" for i in range(301))
    cli.configure(rows, "d.txt")
    cli.configure("\n".join(str(i % 4 + 1) for i in range(301)), "d.txt.weight")
    cli.configure("\n".join(str(i % 3 / 4) for i in range(301)), "d.txt.base_margin")
    cli.configure(CONFIG.format(method="gpu_hist") + "data = d.txt\nnthread = 1\n")
    cli.succeed("train.conf", "model_out=one.json")
    logs = run_two_workers(cli, "model_out=two.json")
    assert all(status == 0 for status, _ in logs), logs
    assert cli.read("two.json") == cli.read("one.json")
    assert sum(log.count("301 weights are read") for _, log in logs) == 1
    cli.configure("1 2 3", "d.txt.weight")
    for status, log in run_two_workers(cli, "model_out=three.json"):
        assert status == 1 and "has 301 rows, and 'd.txt.weight' has 3 numbers; allowed: 301" in log
    cli.configure(rows + "words\n", "d.txt")
    for status, log in run_two_workers(cli, "model_out=three.json"):
        assert status == 1 and "row 302 of d.txt is 'words': 'words' is no label" in log
    assert "three.json" not in cli.files()


def test_two_workers_are_told_of_a_group_on_both(cli):
    rows = [f"{i * 7 % 5 % 3} 0:{i * 3 % 11} 1:{i * i % 97}" for i in range(300)]
    cli.configure("".join(f"{row}\n" for row in rows), "d.txt")
    cli.configure("100\n150\n50\n", "d.txt.group")
    cli.configure("".join(f"{row[0]} qid:{i // 100}{row[1:]}\n" for i, row in enumerate(rows)), "q.txt")
    cli.configure(CONFIG.format(method="hist") + "objective = rank:pairwise\nnthread = 1\n")
    for name in ("d.txt", "q.txt"):
        for status, log in run_two_workers(cli, f"data={name}"):
            assert status == 0, log
            assert f"WARNING: data = '{name}': rows of one group lie on several workers" in log


def test_rows_across_blocks(cli):
    """The program looks at 32 MiB at a time. A row that is wrong beyond that has its number, and a qid its group."""
    row = "1 qid:{} " + " ".join(f"{i}:0.123456" for i in range(100)) + "\n"
    many = 36 * 2**20 // len(row)
    text = "".join(row.format(i * 10 // many) for i in range(many))
    cli.configure(CONFIG.format(method="hist") + "data = d.txt\nmax_depth = 1\nnum_round = 1\n")
    (cli.folder / "d.txt").write_text(text + "1 qid:9 0:y\n")
    assert f"row {many + 1} of d.txt is '1 qid:9 0:y'" in cli.fail("train.conf")
    (cli.folder / "d.txt").write_text(text + "1 qid:8 0:1\n")
    assert f"row {many + 1} of d.txt is '1 qid:8 0:1': rows of qid 8 came before" in cli.fail("train.conf")
