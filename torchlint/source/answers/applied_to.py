"""What an initialising function is given: `self.out.apply(self._quiet)` is about one layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import objects, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, within
from torchlint.source.text.spelling import receiver


def is_for_single_layers(module: Module, node: ast.AST, kinds: frozenset[str]) -> bool:
    """Is the function around a place used, in all that is seen, for layers of these kinds that are named one by one?"""
    function = enclosing_function(node)
    if not isinstance(function, ast.FunctionDef):
        return False
    others = filter(None, map(module.world.module, module.world.view.mentions(function.name)))
    given = [target for home in dict.fromkeys((module, *others)) for target in _given(home, function)]
    return bool(given) and all(target is not None and _is_single(target, kinds) for target in given)


def _given(home: Module, function: ast.FunctionDef) -> Iterator[Value | None]:
    """What each use of a function hands to it; None where it is used otherwise."""
    named = (*home.index.names(function.name), *home.index.attributes(function.name))
    for use in (n for n in named if isinstance(n.ctx, ast.Load) and not within(n, function)):
        call, meant = use.up, [origin.node for origin in origins(Value(home, use))]
        if function not in meant and all(isinstance(node, ast.FunctionDef) for node in meant):
            continue  # another one of that name
        if not isinstance(call, ast.Call):
            yield None
        elif call.func is use:
            yield Value(home, call.args[0]) if len(call.args) == 1 and not call.keywords else None
        else:
            is_apply = isinstance(call.func, ast.Attribute) and call.func.attr == "apply"
            yield Value(home, receiver(call)) if is_apply else None


def _is_single(target: Value, kinds: frozenset[str]) -> bool:
    made = objects(target)
    return bool(made) and all(
        isinstance(one.node, ast.Call) and not one.path and external_name(one.at(one.node.func, ())) in kinds
        for one in made
    )
