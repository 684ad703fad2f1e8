"""Best values that are asked in each round and never set again: `if score > best: save(model)`."""

from __future__ import annotations

import ast
import math

from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.text.index import LOOPS, ancestors, statement_of, within

_WORST = 1e3  # what is called the best and is as large as that is what all are better than
_BEGINNINGS = (0, 1, -1)
_INFINITE = frozenset(("inf", "Inf", "Infinity"))
_BOUNDS = frozenset(("possible", "theoretical", "ideal", "known", "threshold", "bound", "limit", "case", "reachable"))
_LEAVES = (ast.Return, ast.Raise, ast.Break)


def lasting_best(module: Module, compared: ast.Compare) -> ast.Name | None:
    """The one thing that a name which is compared as the best so far is ever given, from before the loop."""
    asked = statement_of(compared)
    loop = next((one for one in ancestors(compared) if isinstance(one, LOOPS)), None)
    if loop is None or not isinstance(asked, ast.If) or not within(compared, asked.test) or len(compared.ops) != 1:
        return None
    if not isinstance(compared.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) or isinstance(asked.body[-1], _LEAVES):
        return None
    sides = [compared.left, compared.comparators[0]]
    return next((given for side in sides if (given := _only_given(side, loop)) is not None), None)


def _only_given(name: ast.expr, loop: ast.AST) -> ast.Name | None:
    words = name.id.lower().split("_") if isinstance(name, ast.Name) else []
    if "best" not in words or not _BOUNDS.isdisjoint(words):
        return None
    if (scope := name.at.lookup(name.id)) is None or len(scope.bindings.get(name.id, ())) != 1:
        return None
    found = reaching(name, scope)
    given = found[0] if len(found) == 1 else None
    if not isinstance(given, ast.Name) or not isinstance(given.up, ast.Assign) or within(given, loop):
        return None
    return given if _is_beginning(given.up.value) else None


def _is_beginning(value: ast.expr) -> bool:
    """Is it what a search begins with: zero, infinity, or a number that is worse than all?"""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    if isinstance(value, ast.Attribute):
        return value.attr in _INFINITE
    if isinstance(value, ast.Call):
        [*texts] = (one.value for one in value.args if isinstance(one, ast.Constant))
        return getattr(value.func, "id", "") == "float" and any(_is_infinite(text) for text in texts)
    number = value.value if isinstance(value, ast.Constant) and type(value.value) in (int, float) else math.nan
    return number in _BEGINNINGS or number >= _WORST


def _is_infinite(text: object) -> bool:
    return isinstance(text, str) and text.lstrip("+-").lower() in ("inf", "infinity")
