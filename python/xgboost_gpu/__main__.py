"""The command ``python3 -m xgboost_gpu``.

* ``try`` trains with `gpu_hist` beside `hist`.
* ``compare a.json b.json`` compares two models, see :func:`xgboost_gpu.compare`.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs

import xgboost

from ._compare import compare
from ._text import escaped_message, quoted, quoted_name
from ._try import try_here

_TEXT_FORMATS = ("libsvm", "csv")


def _check_text(name: str) -> None:
    """Raises ValueError for a text file that XGBoost's parser reads wrongly or does not survive: it takes a word for 0."""
    file, _, options = name.partition("?")
    form = parse_qs(options).get("format", [""])[-1]
    if form not in _TEXT_FORMATS:
        raise ValueError(
            f"--data is {quoted_name(name)}, whose format is {quoted(form)}; allowed: an array (.npy), a sparse matrix "
            "(.npz), or a text file with its format, as 'file?format=libsvm' or 'file?format=csv'"
        )
    if not Path(file).is_file():
        raise FileNotFoundError(f"--data is {quoted_name(file)}, which is not a file")
    columns = first = 0  # of the first line with cells
    with open(file, encoding="utf-8", errors="replace") as lines:
        for row, line in enumerate(lines, 1):
            text = line.partition("#")[0] if form == "libsvm" else line
            cells = text.split() if form == "libsvm" else text.rstrip("\r\n").split(",")
            if not text.strip():
                continue
            for column, cell in enumerate(cells):
                if not _is_number(cell, form, column):
                    raise ValueError(
                        f"--data is {quoted_name(file)}: line {row} has {quoted(cell.strip())} in column {column + 1}; "
                        + ("allowed: label, then index:value" if form == "libsvm" else "allowed: numbers and no header")
                    )
            if not first:
                columns, first = len(cells), row
            if form == "csv" and len(cells) != columns:
                raise ValueError(
                    f"--data is {quoted_name(file)}: line {row} has {len(cells)} cells; allowed: {columns}, as in line {first}"
                )


def _is_number(cell: str, form: str, column: int) -> bool:
    if form == "csv":
        return not cell.strip() or _is_float(cell)
    index, colon, value = cell.partition(":")
    if column == 0:  # a label, and perhaps its weight
        return _is_float(index) and (not colon or _is_float(value))
    is_index = index.isascii() and index.isdigit() and int(index) < 2**32
    return bool(colon) and (index == "qid" or is_index) and _is_float(value)


def _is_float(text: str) -> bool:
    if "_" in text or not text.isascii():  # Python reads such numbers, and XGBoost a part of them
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_data(name: str) -> Any:
    """An array (.npy), a sparse matrix (.npz of scipy), or a text file that a DMatrix reads."""
    if name.endswith(".npy"):
        import numpy

        return numpy.load(name)
    if name.endswith(".npz"):
        import scipy.sparse

        return scipy.sparse.load_npz(name)
    _check_text(name)
    try:
        return xgboost.DMatrix(name, silent=True)
    except xgboost.core.XGBoostError as error:
        raise ValueError(
            f"--data is {quoted_name(name)}, which XGBoost cannot read: {escaped_message(str(error).splitlines()[0])}"
        ) from error


class _Parser(argparse.ArgumentParser):
    """A parser whose errors escape the arguments that they quote."""

    def error(self, message: str) -> NoReturn:
        super().error(escaped_message(message))


def _rows(text: str) -> int:
    if not text.isdecimal() or int(text) < 100:
        raise argparse.ArgumentTypeError(f"{quoted(text)}; allowed: a whole number from 100 on")
    return int(text)


def main() -> int:
    """Runs a tool and returns its exit status."""
    parser = _Parser(prog="python3 -m xgboost_gpu", description="Tools for trainings and models.")
    tools = parser.add_subparsers(dest="tool", required=True)
    tool = tools.add_parser("try", help="train with gpu_hist and with hist: seconds, accuracy, one model")
    tool.add_argument("--rows", type=_rows, default=200_000, help="rows of the generated data; default: 200000")
    tool = tools.add_parser("compare", help="compare two models node by node and explain each difference")
    tool.add_argument("a", help="a model file")
    tool.add_argument("b", help="another")
    tool.add_argument("--data", help="the rows both were trained on: .npy, .npz (sparse), or 'file?format=libsvm', 'file?format=csv'")
    tool.add_argument("--reg-lambda", type=float, default=1.0, help="reg_lambda of both trainings; default: 1")
    tool.add_argument("--gamma", type=float, default=0.0, help="gamma of both trainings; default: 0")
    tool.add_argument("--gradient-error", type=float, help="how far gradients of a row may be apart; default with data: 2^-21")
    tool.add_argument("--ordered", action="store_true", help="both were trained with max_leaves or lossguide")
    args = parser.parse_args()
    return try_here(args.rows) if args.tool == "try" else _compare_files(args)


def _compare_files(args: argparse.Namespace) -> int:
    """Prints the report. Returns 0 if all differences are explained, 1 if one is real, 2 for what cannot be read."""
    try:
        data = None if args.data is None else _read_data(args.data)
        found = compare(
            args.a, args.b, data, reg_lambda=args.reg_lambda, gamma=args.gamma, gradient_error=args.gradient_error,
            ordered=args.ordered,
        )  # fmt: skip
    except (ValueError, OSError, xgboost.core.XGBoostError) as error:
        print(f"compare: {escaped_message(error)}", file=sys.stderr)
        return 2
    print(found)
    return 0 if found.explained else 1


if __name__ == "__main__":
    sys.exit(main())
