"""Which expressions mean another thing in each round of a loop or comprehension."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.signatures import bound_argument, first_parameter, is_static
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, within

_HELPERS = 4  # through which a parameter is followed to what it was given


def depends_on_round(value: Value, loop: ast.AST) -> bool:
    """Does an expression, seen through helpers, hold what the loop counts or takes, or an object made in each round?"""
    counted = set(_counted(loop))
    for part in _parts(value, _HELPERS):
        if isinstance(part.node, ast.Call):
            if within(part.node, loop) and _makes_an_object(part):
                return True
            continue
        for bound in _bindings(part.node):
            if bound in counted:
                return True
            set_there = bound.up if isinstance(bound.up, ast.Assign) and within(bound, loop) else None
            if set_there is not None and (
                _makes_an_object(Value(part.module, set_there.value))
                or any(b in counted for name in _names(set_there.value) for b in _bindings(name))
            ):
                return True
    return False


def _makes_an_object(value: Value) -> bool:
    return isinstance(value.node, ast.Call) and any(
        callee.kind == "class" and callee.owner is not None for callee in callees(value)
    )


def _counted(loop: ast.AST) -> Iterator[ast.Name]:
    """The names that each round sets: `i` and `x` of `for i, x in enumerate(xs)`."""
    if isinstance(loop, COMPREHENSIONS):
        for part in loop.generators:
            yield from _names(part.target)
    elif isinstance(loop, (ast.For, ast.AsyncFor)):
        yield from _names(loop.target)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def _bindings(name: ast.Name) -> list[ast.AST]:
    scope = name.at.lookup(name.id)
    return scope.bindings[name.id] if scope is not None else []


def _parts(value: Value, depth: int) -> Iterator[Value]:
    """The names and calls in an expression; for a parameter of a helper, those in what it was given."""
    for node in ast.walk(value.node) if value.node is not None and depth else ():
        given = _given(value, node) if isinstance(node, ast.Name) else None
        if given is not None:
            yield from _parts(given, depth - 1)
        elif isinstance(node, (ast.Name, ast.Call)):
            yield value.at(node, ())


def _given(value: Value, name: ast.Name) -> Value | None:
    frame = value.frame
    if frame is None or frame.call is None:
        return None
    function = frame.function
    parameter = next((b for b in _bindings(name) if isinstance(b, ast.arg) and b.up.up is function), None)
    if parameter is None:
        return None
    is_bound = method_class(value.module, function) is not None and not is_static(function)
    if is_bound and parameter is first_parameter(function):
        called = frame.call.node.func
        return frame.call.at(called.value, ()) if isinstance(called, ast.Attribute) else frame.instance
    return bound_argument(function, parameter, frame.call, is_bound)
