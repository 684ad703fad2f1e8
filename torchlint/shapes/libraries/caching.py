"""`functools.cache` and `lru_cache`: the function as it is, whose arguments are keys of a table."""

from __future__ import annotations

import functools
from typing import Any

from torchlint.shapes.core.values import Special
from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.libraries.compilers import transparent

_DEPTH = 4  # of tuples within each other
_MOST = 64  # items of one that are looked at


def cached(machine, function=None, *args, **kwargs):
    """The decorator, with or without a size."""
    if closure_of(function) is None:
        kept = transparent(machine, function)
        return Special("decorator", cached) if type(kept) is Special and kept is not function else kept

    @functools.wraps(function)
    def run(*args, **kwargs):
        _ask_keys(function, (*args, *kwargs.values()))
        return function(*args, **kwargs)

    return run


def _ask_keys(function: Any, args: tuple) -> None:
    """A list, a dict or a set can be no key, nor can a tuple that holds one."""
    closure = closure_of(function)
    for value in args if closure is not None else ():
        kept = _unhashable(value, _DEPTH)
        if kept is not None:
            kind = type(kept).__name__
            says = f"`{closure.code.name}` keeps its results by its arguments, of which a {kind} cannot be a key"
            closure.frame.machine.insist(TypeError(f"unhashable type: '{kind}'"), kept, says=says)


def _unhashable(value: Any, depth: int) -> Any:
    if type(value) in (list, dict, set):
        return value
    parts = value[:_MOST] if type(value) is tuple and depth else ()
    return next((kept for part in parts if (kept := _unhashable(part, depth - 1)) is not None), None)


CACHING = {"functools.lru_cache": Special("lru_cache", cached), "functools.cache": Special("cache", cached)}
