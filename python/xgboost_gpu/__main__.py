"""``python3 -m xgboost_gpu compare a.json b.json``: compares two models, see :func:`xgboost_gpu.compare`."""

import argparse
import sys
from typing import Any, NoReturn

import xgboost

from ._compare import compare
from ._text import escaped_message, quoted_name


def _read_data(name: str) -> Any:
    """An array (.npy), a sparse matrix (.npz of scipy), or what a DMatrix reads."""
    if name.endswith(".npy"):
        import numpy

        return numpy.load(name)
    if name.endswith(".npz"):
        import scipy.sparse

        return scipy.sparse.load_npz(name)
    try:
        return xgboost.DMatrix(name, silent=True)
    except xgboost.core.XGBoostError as error:
        raise ValueError(
            f"--data is {quoted_name(name)}, which XGBoost cannot read; allowed: an array (.npy), a sparse matrix (.npz), "
            "or a text file, as 'file?format=libsvm' or 'file?format=csv'"
        ) from error


class _Parser(argparse.ArgumentParser):
    """A parser whose errors escape the arguments that they quote."""

    def error(self, message: str) -> NoReturn:
        super().error(escaped_message(message))


def main() -> int:
    """Prints the report. Returns 0 if all differences are explained, 1 if one is real, 2 for what cannot be read."""
    parser = _Parser(prog="python3 -m xgboost_gpu", description="Tools for models.")
    tool = parser.add_subparsers(dest="tool", required=True).add_parser(
        "compare", help="compare two models node by node and explain each difference"
    )
    tool.add_argument("a", help="a model file")
    tool.add_argument("b", help="another")
    tool.add_argument("--data", help="the rows both were trained on: .npy, .npz (sparse), or 'file?format=libsvm'")
    tool.add_argument("--reg-lambda", type=float, default=1.0, help="reg_lambda of both trainings; default: 1")
    tool.add_argument("--gamma", type=float, default=0.0, help="gamma of both trainings; default: 0")
    tool.add_argument("--gradient-error", type=float, help="how far gradients of a row may be apart; default with data: 2^-21")
    tool.add_argument("--ordered", action="store_true", help="both were trained with max_leaves or lossguide")
    args = parser.parse_args()
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
