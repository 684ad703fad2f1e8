"""Whether a place in one function runs again and again on what another function, or the file, has made once."""

from __future__ import annotations

import ast

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import objects
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, within
from torchlint.source.training.regions import loops_around, tests_around

_LEAVES = (ast.Break, ast.Return, ast.Raise)
_DEPTH = 2  # a method that a method calls, which is called in a loop


def runs_again(stored: Value, use: ast.AST) -> bool:
    """Is a name or an attribute, stored once, used in a function that is called in a loop that does not store it
    anew?
    """
    module, function, maker = stored.module, enclosing_function(use), enclosing_function(stored.node)
    if not isinstance(function, ast.FunctionDef) or function is maker or not _always_runs(module, use):
        return False
    if isinstance(stored.node, ast.Attribute) and (getattr(maker, "name", "") != "__init__" or _changes(stored)):
        return False
    return _is_called_again(module, function, [stored], _DEPTH)


def _is_called_again(module: Module, function: ast.FunctionDef, made: list[Value], depth: int) -> bool:
    """Is it called in a loop, with none of what is made in it?"""
    for call in callers_of(module, function, method_class(module, function), everywhere=True):
        if not _always_runs(call.module, call.node):
            continue
        receiver = call.node.func.value if isinstance(call.node.func, ast.Attribute) else call.node.func
        older = [*made, *objects(call.at(receiver, ()))]
        if any(_goes_on(loop) and not _are_made_in(loop, call, older) for loop in loops_around(call.node)):
            return True
        outer = enclosing_function(call.node)
        if depth > 1 and isinstance(outer, ast.FunctionDef) and not _are_made_in(outer, call, older):
            if _is_called_again(call.module, outer, older, depth - 1):
                return True
    return False


def _are_made_in(part: ast.AST, place: Value, things: list[Value]) -> bool:
    return any(one.module is place.module and one.node is not None and within(one.node, part) for one in things)


def _goes_on(loop: ast.AST) -> bool:
    return not isinstance(loop.body[-1], _LEAVES)


def _always_runs(module: Module, place: ast.AST) -> bool:
    """Not in some rounds only, as `if epoch == 0:` is; an option, `if ema is not None:`, is the same in all."""
    function = enclosing_function(place)
    left = module.index.inside(function, ast.Return, ast.Raise) if function is not None else ()
    return all(_is_an_option(module, test) for test, _ in tests_around(place)) and all(
        end.lineno >= place.lineno or enclosing_function(end) is not function for end in left
    )


def _is_an_option(module: Module, test: ast.expr) -> bool:
    if isinstance(test, ast.Compare):
        is_of_none = all(isinstance(one, ast.Constant) and one.value is None for one in test.comparators)
        return is_of_none and _is_an_option(module, test.left)
    return isinstance(test, (ast.Name, ast.Attribute)) and not _changes(Value(module, test))


def _changes(place: Value) -> bool:
    """Is it set more than once?"""
    node = place.node
    if isinstance(node, ast.Attribute):
        return len(place.module.index.stored(node.attr)) > 1
    scope = node.at.lookup(node.id)
    return scope is not None and len(scope.bindings[node.id]) > 1
