"""Errors that are made and not raised: `ValueError("unknown mode")` as a statement, `return NotImplementedError`."""

from __future__ import annotations

import ast
import builtins
import re

from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function

_ERRORS = frozenset(
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, BaseException)
)
_ASKED_FOR = re.compile(r"\bisinstance\([^()]*,\s*\(?[\w., ]*(?:Exception|Error)\b")
_TO_COME = "NotImplementedError"  # which nobody takes for an answer


def error_made(module: Module, made: ast.expr | None) -> ast.Call | None:
    """A call that makes one of Python's own errors or warnings."""
    return made if isinstance(made, ast.Call) and _error_named(module, made.func) else None


def _error_named(module: Module, name: ast.expr) -> str:
    """The name of an error of Python's own; its word is asked first, as most names are others."""
    is_meant = isinstance(name, ast.Name) and name.id in _ERRORS
    return name.id if is_meant and external_name(Value(module, name)) == f"builtins.{name.id}" else ""


def error_returned(module: Module, returned: ast.Return) -> ast.expr | None:
    """An error that a function returns on one way, which returns something else, too, or has still to be written."""
    value, function = returned.value, enclosing_function(returned)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _does_no_more(function):
        return None
    if isinstance(value, ast.Name):
        return value if _error_named(module, value) == _TO_COME else None
    made = error_made(module, value)
    if made is None or _error_named(module, made.func) == _TO_COME:
        return made
    if _is_taken_for_an_answer(module, function):
        return None
    others = [one for one in module.index.inside(function, ast.Return) if enclosing_function(one) is function]
    return made if any(_is_an_answer(module, one.value) for one in others) else None


def _is_taken_for_an_answer(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Does somebody who says its name ask whether there is an error, or raise what it has returned?"""
    view = module.world.view
    texts = (module.index.text, *(view.read(path) or "" for path in view.mentions(function.name)))
    if any(_ASKED_FOR.search(text) for text in texts):
        return True
    targets = [call.up.targets[0] for call in module.index.callers(function.name) if isinstance(call.up, ast.Assign)]
    named = [one for one in targets if isinstance(one, ast.Name)]
    return any(isinstance(use.up, ast.Raise) for one in named for use in uses(module, one))


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
