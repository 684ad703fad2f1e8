"""Answers that are remembered as long as the files they are about: each question is worked on once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import Any

from torchlint.source.flow.values import Value


def remembered(function: Callable | None = None, *, meanwhile: Any = None, by: int | None = None) -> Callable:
    """Makes a function of a value, a class, or a module and more, or a method of a module, remember its answers.

    `by` is the number of arguments that tell questions apart (others only bound the search), all of them if it is not
    said. `meanwhile` is the answer to a question that leads back to itself.
    """
    if function is None:
        return lambda function: remembered(function, meanwhile=meanwhile, by=by)
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def ask(about: Any, *others: Any, **named: Any) -> Any:
        if type(about) is Value:  # most of all
            memo, which = about.module.world.memo, about.key
        else:
            memo, which = getattr(about, "module", about).world.memo, _which(about)
        if others or named:
            telling = (*others, *named.values()) if by is None else others[: by - 1]
            key: Any = (name, which, *map(_which, telling))
        else:
            key = name, which
        known = memo.get(key)
        if known is not None:
            return known[0]
        memo[key] = meanwhile, ()
        try:
            found = function(about, *others, **named)
        except BaseException:
            del memo[key]
            raise
        memo[key] = found, (about, others, named)  # kept, so that no id in a key is used twice
        return found

    return ask


def _which(thing: Any) -> Any:
    """What tells one argument from another: values by what they mean, nodes by themselves, bodies by where they are."""
    kind = type(thing)
    if kind in _LIKE_NO_OTHER:
        return thing
    if kind is Value:
        return thing.key
    if kind is list:
        return id(thing)
    return id(thing.node) if hasattr(thing, "node") else thing


_PLAIN = (str, int, bool, tuple, frozenset, type(None))
_LIKE_NO_OTHER = frozenset((*_PLAIN, *(kind for kind in vars(ast).values() if isinstance(kind, type))))
