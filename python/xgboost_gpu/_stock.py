"""Functions of ours in the place of those of stock's package."""

import functools
from typing import Any, Callable


def replace(owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
    """Puts make(function) in the place of the owner's function `name`, where it has one."""
    stock = getattr(owner, name, None)
    if stock is not None:
        setattr(owner, name, functools.wraps(stock)(make(stock)))
