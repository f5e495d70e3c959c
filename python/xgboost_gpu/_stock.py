"""Functions of ours in the place of those of stock's package."""

import functools
from typing import Any, Callable


def replace(owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
    """Puts make(function) in the place of the owner's function `name`, where it has one."""
    stock = getattr(owner, name, None)
    if stock is not None:
        setattr(owner, name, functools.wraps(stock)(make(stock)))


def with_data(change: Callable[..., Any], at: int = 0) -> Callable[[Callable], Callable]:
    """What puts change(data) in the place of a function's argument `data`, which is named or the one at `at`."""

    def make(function: Callable) -> Callable:
        def call(*arguments: Any, **others: Any) -> Any:
            if "data" in others:
                return function(*arguments, **{**others, "data": change(others["data"])})
            return function(*arguments[:at], change(arguments[at]), *arguments[at + 1 :], **others)

        return call

    return make
