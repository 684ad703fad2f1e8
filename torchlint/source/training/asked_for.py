"""What is only done, or only more than nothing, if somebody asks for it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.source.flow.flow import objects, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.records import field_defaults
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.values import Value
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


def is_off_by_default(rate: Value) -> bool:
    """Is a rate 0, or a parameter or a setting that is 0 (or None) unless somebody asks for more; or that of such a
    dropout?
    """
    if isinstance(rate.node, ast.Attribute) and rate.node.attr == "p":
        layers = [o for o in objects(rate.at(rate.node.value, ())) if isinstance(o.node, ast.Call) and o.node.args]
        return bool(layers) and all(is_off_by_default(layer.at(layer.node.args[0], ())) for layer in layers)
    made = defaults_of(rate)
    return bool(made) and all(isinstance(n, ast.Constant) and not n.value for n in made)


def defaults_of(value: Value) -> list[ast.AST | None]:
    """The expressions that a value may come from; of a parameter its default, or None if it has none, and of
    `config.rate` what the classes of the file say of such a field.
    """
    found: list[ast.AST | None] = []
    for origin in origins(value):
        made = origin.node
        if isinstance(made, ast.arg):
            found.append(default_of(made.up.up, made))
        elif isinstance(made, ast.Attribute) and (fields := field_defaults(origin.module, made.attr)):
            found += fields
        else:
            found.append(made)
    return found
