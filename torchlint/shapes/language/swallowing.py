"""Contexts of the program in which what fails is no error: they keep it back, or it would go well in them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import lru_cache

from torchlint.shapes.language.walking import last_word

_OF_TORCH = (RuntimeError, IndexError, ValueError, TypeError)


@lru_cache(maxsize=64)
def keeps_back(leave: ast.AST) -> bool:
    """Does an `__exit__` return what may be true after an error of torch?"""
    returned = [node.value for node in ast.walk(leave) if isinstance(node, ast.Return)]
    return any(value is not None and _may_be_true(value) for value in returned) and _may_mean_torch([leave])


@lru_cache(maxsize=64)
def goes_on_after(function: ast.AST) -> bool:
    """Does a generator go on after an error of torch at its `yield`?"""
    for node in ast.walk(function):
        if isinstance(node, ast.Try) and any(isinstance(n, ast.Yield) for part in node.body for n in ast.walk(part)):
            for handler in node.handlers:
                raises = any(isinstance(part, ast.Raise) for part in handler.body)
                if not raises and _may_mean_torch([handler.type] if handler.type else []):
                    return True
    return False


def _may_be_true(value: ast.expr) -> bool:
    if isinstance(value, ast.Compare):  # `kind is None`
        last = value.comparators[-1]
        return not (isinstance(value.ops[-1], ast.Is) and isinstance(last, ast.Constant) and last.value is None)
    if isinstance(value, ast.Call) and last_word(value.func) == "__exit__":
        return False
    return not isinstance(value, ast.Constant) or bool(value.value)


def _may_mean_torch(nodes: list[ast.expr] | list[ast.AST]) -> bool:
    """Are the errors that are named, if any are, some that torch raises?"""
    kinds = list(_errors(nodes))
    return not kinds or any(issubclass(kind, one) or issubclass(one, kind) for kind in kinds for one in _OF_TORCH)


def _errors(nodes: list[ast.expr] | list[ast.AST]) -> Iterator[type]:
    for name in (n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)):
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            yield kind
