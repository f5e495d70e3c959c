"""The syntax of configuration files. What a line means shows in the name of the dump that the program then writes."""

import pytest

GOOD_LINES = [
    ("name_dump=a.txt", "a.txt"),
    ("name_dump = a.txt", "a.txt"),
    ("  \tname_dump\t=\ta.txt  \t", "a.txt"),
    ("name_dump = a.txt # comment", "a.txt"),
    ("name_dump = a.txt#comment", "a.txt"),
    ("name_dump = a=b.txt", "a=b.txt"),
    ('name_dump = "a b.txt"', "a b.txt"),
    ("name_dump = 'a b.txt'", "a b.txt"),
    ('name_dump = "a # b.txt"  # comment', "a # b.txt"),
    ('"name_dump" = a.txt', "a.txt"),
    ("'name_dump'='a.txt'", "a.txt"),
    (r'name_dump = "a\tb.txt"', r"a\tb.txt"),  # no escapes
    ("name_dump = a.txt\n\n# name_dump = b.txt\n   # also a comment", "a.txt"),
    ("name_dump = a.txt\r\n# comment\r\n", "a.txt"),
    ("# comment\rname_dump = a.txt\r", "a.txt"),
    ("name_dump = b.txt\nname_dump = a.txt", "a.txt"),  # the last one counts
]

BAD_LINES = [
    ("max_depth", "expected '=' after the key 'max_depth'"),
    ("max depth = 3", "expected '=' after the key 'max'"),
    ("= 3", "the key is missing"),
    ("max_depth =", "the value of 'max_depth' is missing"),
    ("max_depth = # 3", "the value of 'max_depth' is missing"),
    ('max_depth = ""', "the value of 'max_depth' is empty"),
    ("data = my data.txt", "unexpected 'data.txt' after the value of 'data'"),
    ('data = "my data.txt', 'the value of \'data\' has no closing "'),
    ("data = 'my data.txt\"", "the value of 'data' has no closing '"),
    ("data = \"it's.txt\"", "the value of 'data' contains one of \"', which quotes cannot protect"),
    ("data = a\"b.txt", "unexpected '\"b.txt' after the value of 'data'"),
    ('"a=b" = 3', "the key contains one of \"'=, which quotes cannot protect"),
    ('"" = 3', "the key is empty"),
    ("'key\" = 3", "the key has no closing '"),
]


@pytest.mark.parametrize("lines, file", GOOD_LINES)
def test_good_lines(cli, model, lines, file):
    cli.configure(lines, "dump.conf")
    cli.succeed("dump.conf", "task=dump", f"model_in={model}")
    assert set(cli.files()) == {"train.conf", "dump.conf", model, file}


@pytest.mark.parametrize("lines, file", GOOD_LINES)
def test_stock_program_reads_good_lines_alike(cli, stock, model, lines, file):
    stock.configure(lines, "dump.conf")
    (stock.folder / model).write_bytes(cli.read(model))
    stock.succeed("dump.conf", "task=dump", f"model_in={model}")
    assert set(stock.files()) == {"dump.conf", model, file}


@pytest.mark.parametrize("line, message", BAD_LINES)
def test_bad_lines_are_errors_with_file_and_line(cli, line, message):
    cli.configure(f"# first\r\neta = 1\n\r{line}\n", "bad.conf")
    assert f"bad.conf:4: {message}" in cli.fail("bad.conf")


@pytest.mark.parametrize("line, message", BAD_LINES)
def test_stock_program_refuses_bad_lines(stock, line, message):
    stock.configure(line, "bad.conf")
    assert stock.run("bad.conf").returncode == 1


def test_missing_file(cli):
    message = cli.fail("nowhere.conf")
    assert "cannot open the configuration file 'nowhere.conf': No such file or directory" in message


def test_folder_instead_of_file(cli):
    assert "cannot read the configuration file '.': it is a directory" in cli.fail(".")


def test_a_byte_order_mark_is_skipped(cli, model):
    cli.configure("\ufeffname_dump = a.txt\n", "dump.conf")
    cli.succeed("dump.conf", "task=dump", f"model_in={model}")
    assert "a.txt" in cli.files()
