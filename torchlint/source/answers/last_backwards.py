"""Whether anything can run through the graph of a backward after it."""

from __future__ import annotations

import ast

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of, within
from torchlint.source.training.graphs import graph, is_model_call, loss_of
from torchlint.source.training.regions import loops_around


def _is_made_within(node: Value, module: Module, body: ast.AST) -> bool:
    """Does it run in some code, itself or by the call that leads to it? What a caller has handed in was made before."""
    while node.frame is not None and node.frame.call is not None:
        node = node.frame.call
    return node.module is module and within(node.node, body)


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
    around = loops_around(call)
    within_what = around[0] if around else function or module.tree
    behind = graph(loss)
    made = [node for node in behind.nodes.values() if is_model_call(node)]
    if behind.open or not made or not all(_is_made_within(node, module, within_what) for node in made):
        return False
    return last_word(loss.node) not in _returned_names(module, function or module.tree)


@remembered
def _taking_gradients(module: Module) -> dict[int, list[ast.Call]]:
    """The calls of `backward` and its kin, by the ids of the functions in which they stand."""
    found: dict[int, list[ast.Call]] = {}
    for word in ("backward", "manual_backward", "grad"):
        for call in module.index.callers(word):
            found.setdefault(id(enclosing_function(call)), []).append(call)
    return found


@remembered
def _returned_names(module: Module, function: ast.AST) -> set[str]:
    """The names in what the `return` statements in a function (or file) hand out."""
    returned = [node.value for node in module.index.inside(function, ast.Return) if node.value is not None]
    return {name.id for value in returned for name in module.index.inside(value, ast.Name)}
