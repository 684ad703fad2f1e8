"""Branches of a function that no call of its file asks for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.source.flow.module import Module
from torchlint.source.training.regions import tests_around


def is_never_asked_for(module: Module, function: ast.AST, node: ast.AST) -> bool:
    """Does a place stand under `if batchnorm:` or `if norm == "batch":`, which no call of its file makes true?"""
    names = [a.arg for a in function.args.args]
    defaults = dict(zip(names[::-1], function.args.defaults[::-1]))
    owner = function.up.name if function.name == "__init__" and isinstance(function.up, ast.ClassDef) else None
    calls = [*module.index.callers(function.name), *(module.index.callers(owner) if owner else ())]
    for test, truth in tests_around(node):
        asked, holds = _question(test)
        default = defaults.get(asked)
        if holds is None or asked not in names or not calls:
            continue
        place = names.index(asked) - (names[0] == "self")
        given = [_given(call, asked, place, default) for call in calls]
        values = [*given, default] if default is not None else given
        if all(isinstance(value, ast.Constant) and holds(value.value) is not truth for value in values):
            return True
    return False


def _question(test: ast.expr) -> tuple[str, Callable[[Any], bool] | None]:
    """The name that a test asks for, and whether it holds with a value."""
    match test:
        case ast.Name(id=name):
            return name, bool
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=wanted)]):
            return name, lambda value: value == wanted
    return "", None


def _given(call: ast.Call, name: str, place: int, default: ast.expr | None) -> ast.expr | None:
    """What a call gives for a parameter, or its default; None where nobody can tell."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    named = next((k.value for k in call.keywords if k.arg == name), default)
    return call.args[place] if len(call.args) > place else named
