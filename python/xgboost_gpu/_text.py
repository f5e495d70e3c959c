"""Texts of users in messages: nothing in them commands a terminal, and a text of megabytes stays out of the message."""

import sys
import warnings
from typing import Any

#: Packages between a user's line and ours: scikit-learn wraps `fit_transform`, and calls it from pipelines.
_BETWEEN = ("xgboost_gpu", "sklearn", "joblib")


def warn_user(message: str) -> None:
    """Warns in the name of the calling line outside this package and outside the packages that call it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame = frame.f_back
        level += 1
    warnings.warn(message, stacklevel=level)


def escaped(text: str, most: int, kept: str = "") -> str:
    r"""The first `most` characters, with ``\n``, ``\x1b`` and the like for what cannot be printed, but for `kept`.

    A backslash stays as it is, so that a text may be escaped twice. Of a longer text the end says how long it is.
    """
    shown = "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii") for c in text[:most]
    )
    return shown if len(text) <= most else f"{shown}… ({len(text)} characters)"


def quoted(value: Any) -> str:
    """What a user wrote, between quotes: 80 characters of it at most."""
    return f"'{escaped(str(value), 80)}'"


def escaped_name(file: Any) -> str:
    """The escaped name of a file. It is not cut: file systems limit how long it can be."""
    return escaped(str(file), 4096)


def quoted_name(file: Any) -> str:
    """The name of a file between quotes, not cut."""
    return f"'{escaped_name(file)}'"


def escaped_message(message: Any) -> str:
    """What another program or library says, which may quote its input: lines and tabs stay."""
    return escaped(str(message), 8192, "\n\t")
