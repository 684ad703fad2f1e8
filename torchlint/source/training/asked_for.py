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
from torchlint.source.text.index import (
    FUNCTIONS,
    LOOPS,
    ancestors,
    enclosing_function,
    parameters_of,
    standing_in,
    within,
)
from torchlint.source.training.regions import tests_around

_LEAPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_never_asked_for(module: Module, function: ast.AST, node: ast.AST) -> bool:
    """Does a place stand under `if batchnorm:` or `if norm == "batch":`, which no call of its file makes true? Or is
    what leads there more than its function stands?
    """
    if _ends_in_an_error(module, function, node):
        return True
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


def _ends_in_an_error(module: Module, function: ast.AST, node: ast.AST) -> bool:
    """Does it stand under `if start is None:`, after which `start.shape` is read all the same?"""
    named = {given for test, truth in tests_around(node) if (given := _none_where(test, truth))}
    for name in named.intersection(parameter.arg for parameter in parameters_of(function)):
        uses = standing_in(function, module.index.names(name))
        if not all(isinstance(use.ctx, ast.Load) for use in uses):
            continue
        later = [use for use in uses if isinstance(use.up, ast.Attribute) and use.pos > node.pos]
        if any(_is_certain(use, node) for use in later):
            return True
    return False


def _none_where(test: ast.expr, truth: bool) -> str:
    """The name that is None where a test has gone that way."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return name if truth else ""
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]
        ):
            return "" if truth else name
    return ""


def _is_certain(use: ast.AST, before: ast.AST) -> bool:
    """Does a place under no condition run after another one, and does nothing leap over it?"""
    around = next(one for one in ancestors(use) if isinstance(one, (*LOOPS, ast.Try, *FUNCTIONS)))
    if around is not enclosing_function(before) or any(tests_around(use)):
        return False
    leaps = (part for part in ast.walk(around) if isinstance(part, _LEAPS) and not within(use, part))
    return not any(before.pos < leap.pos < use.pos for leap in leaps)


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
