"""Errors that are made and not raised: `ValueError("unknown mode")` as a statement, `return NotImplementedError`."""

from __future__ import annotations

import ast
import builtins

from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function

_ERRORS = frozenset(
    f"builtins.{name}"
    for name, thing in vars(builtins).items()
    if isinstance(thing, type) and issubclass(thing, BaseException)
)
_TO_COME = "builtins.NotImplementedError"  # which nobody takes for an answer


def error_made(module: Module, made: ast.expr | None) -> ast.Call | None:
    """A call that makes one of Python's own errors or warnings."""
    is_plain = isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
    return made if is_plain and external_name(Value(module, made.func)) in _ERRORS else None


def error_returned(module: Module, returned: ast.Return) -> ast.expr | None:
    """An error that a function returns on one way, which returns something else, too, or has still to be written."""
    value, function = returned.value, enclosing_function(returned)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _does_no_more(function):
        return None
    if isinstance(value, ast.Name):
        return value if external_name(Value(module, value)) == _TO_COME else None
    made = error_made(module, value)
    if made is None or external_name(Value(module, made.func)) == _TO_COME:
        return made
    others = [one for one in module.index.inside(function, ast.Return) if enclosing_function(one) is function]
    return made if any(_is_an_answer(module, one.value) for one in others) else None


def _does_no_more(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Is it a place for others to fill?"""
    return all(isinstance(one, (ast.Return, ast.Pass, ast.Expr)) for one in function.body)


def _is_an_answer(module: Module, value: ast.expr | None) -> bool:
    """Is it neither nothing nor an error? `error` of `except ValueError as error:` may be one."""
    if isinstance(value, ast.IfExp):
        return _is_an_answer(module, value.body) or _is_an_answer(module, value.orelse)
    if isinstance(value, (ast.Name, ast.Constant, ast.Attribute)) or value is None:
        return False
    return error_made(module, value) is None
