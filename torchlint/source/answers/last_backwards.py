"""Whether anything can run through the graph of a backward after it."""

from __future__ import annotations

import ast
from itertools import islice

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of, within
from torchlint.source.training.graphs import graph, is_cut, is_model_call, loss_of, mark
from torchlint.source.training.regions import loops_around


def _is_made_within(node: Value, module: Module, body: ast.AST) -> bool:
    """Does it run in some code, itself or by the call that leads to it? What a caller has handed in was made before,
    and so was what a loop goes over.
    """
    while node.frame is not None and node.frame.call is not None:
        node = node.frame.call
    before = isinstance(body, ast.For) and within(node.node, body.iter)
    return node.module is module and within(node.node, body) and not before


def is_last_backward(module: Module, call: ast.Call) -> bool:
    """Is it plain that nothing runs through the graph of a backward after it: the loss is made in the same round, of a
    model's output?
    """
    loss = loss_of(module, call)
    function = enclosing_function(call)
    if loss is None or any(k.arg == "create_graph" for k in call.keywords):
        return False
    if len(_taking_gradients(module).get(id(function), ())) > 1 or isinstance(statement_of(call), ast.Return):
        return False
    behind = graph(loss)
    made = [node for node in behind.nodes.values() if is_model_call(node)]
    if behind.open or not made or _is_handed_out(module, function or module.tree, loss, made):
        return False
    here = _round(module, call)
    return all(_is_made_within(node, module, here) for node in made) or _is_last_of_caller(module, call, made)


def _round(module: Module, place: ast.AST) -> ast.AST:
    """The innermost loop around a place, or its function; the file around what a file runs itself."""
    around = loops_around(place)
    return around[0] if around else enclosing_function(place) or module.tree


def _is_last_of_caller(module: Module, call: ast.Call, made: list[Value]) -> bool:
    """Is it in a function that is called once, in the round which has made what it is handed and uses it no more?"""
    function = enclosing_function(call)
    owner = method_class(module, function) if function is not None else None
    callers = list(islice(callers_of(module, function, owner), 2)) if function is not None else []
    if len(callers) != 1 or loops_around(call) or callers[0].module is not module:
        return False
    caller = callers[0].node
    handed = {name.id for given in _given(caller) for name in module.index.inside(given, ast.Name)}
    later = (n for n in module.index.inside(_round(module, caller), ast.Name) if n.id in handed and n.pos > caller.pos)
    return (
        all(_is_made_within(node, module, _round(module, caller)) for node in made)
        and id(enclosing_function(caller)) not in _taking_gradients(module)
        and not any(_is_used(module, name) for name in later if not within(name, caller))
    )


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_used(module: Module, name: ast.Name) -> bool:
    """More than looked at: `loss.item()`, `loss.detach()`, `float(loss)`"""
    around: ast.AST = name
    while isinstance(around, (ast.expr, ast.keyword)):
        if is_cut(Value(module, around)):
            return False
        around = around.up
    return True


@remembered
def _taking_gradients(module: Module) -> dict[int, list[ast.Call]]:
    """The calls of `backward` and its kin, by the ids of the functions in which they stand."""
    found: dict[int, list[ast.Call]] = {}
    for word in ("backward", "manual_backward", "grad"):
        for call in module.index.callers(word):
            found.setdefault(id(enclosing_function(call)), []).append(call)
    return found


def _is_handed_out(module: Module, function: ast.AST, loss: Value, made: list[Value]) -> bool:
    """Does a `return` hand out the loss, or something else that comes from the same output of a model?"""
    shared = {mark(node) for node in made}
    return any(
        name.id == last_word(loss.node) or not shared.isdisjoint(graph(Value(module, name)).nodes)
        for name in _returned_names(module, function)
    )


@remembered
def _returned_names(module: Module, function: ast.AST) -> list[ast.Name]:
    """The names in what the `return` statements in a function (or file) hand out, but for those that are looked at."""
    returned = [node.value for node in module.index.inside(function, ast.Return) if node.value is not None]
    named = (name for value in returned for name in module.index.inside(value, ast.Name))
    return [name for name in named if _is_used(module, name)]
