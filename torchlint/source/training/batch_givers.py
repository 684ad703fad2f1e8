"""Generators of the project that give a round its batches, and what they do between two of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import body_of, last_word, within
from torchlint.source.training.acts import CLEAR, Act, acts
from torchlint.source.training.events import own_events

MAX_PARTS = 20  # of what a loop goes through


@remembered
def is_cleared_between(module: Module, node: ast.AST) -> bool:
    """Does what gives a round its batches clear gradients before the next one: `for x in batches(optimizer)`?"""
    return any(
        act.role == CLEAR and (function.name == "__next__" or _is_between_yields(home, function, act))
        for given in _gone_through(module, node)
        for home, function in _givers(given)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for act in acts(home, function.body)
    )


def _gone_through(module: Module, node: ast.AST) -> Iterator[Value]:
    """What the round is given things from, and what that is made of: `zip(batches(optimizer), names)`."""
    over = [node.iter] if isinstance(node, (ast.For, ast.AsyncFor)) else []
    asked = (event.node for event in own_events(module, body_of(node)) if isinstance(event.node, ast.Call))
    over += [call.args[0] for call in asked if last_word(call.func) == "next" and call.args]
    for part in [part for whole in over for part in ast.walk(whole)][:MAX_PARTS]:
        if isinstance(part, (ast.Call, ast.Attribute)):
            yield Value(module, part)
        elif isinstance(part, ast.Name) and (scope := part.at.lookup(part.id)) is not None:
            yield Value(module, part)
            made = [bound.up.value for bound in scope.bindings[part.id] if isinstance(bound.up, ast.Assign)]
            yield from (Value(module, call) for call in made if isinstance(call, ast.Call))


def _givers(given: Value) -> Iterator[tuple[Module, ast.AST]]:
    for callee in callees(given) if isinstance(given.node, ast.Call) else ():
        if callee.module is not None and callee.function is not None:
            yield callee.module, callee.function
    for made in objects(given):
        owner = instance_class(made)
        methods = [owner.method(name) for name in ("__iter__", "__next__")] if owner is not None else []
        yield from ((method.module, method.node) for method in methods if method is not None)


def _is_between_yields(module: Module, generator: ast.AST, act: Act) -> bool:
    yields = module.index.inside(generator, ast.Yield, ast.YieldFrom)
    return any(within(given, loop) for loop in act.event.loops for given in yields)
