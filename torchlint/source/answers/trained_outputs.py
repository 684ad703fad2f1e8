"""Outputs that a backward has gone through: whatever the model is, what it gave belongs to a graph."""

from __future__ import annotations

import ast

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, is_static
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import FUNCTIONS, enclosing_function, standing_in
from torchlint.source.text.spelling import dumped, receiver, unparsed
from torchlint.source.training.grads import is_stateless
from torchlint.source.training.graphs import graph, loss_of, mark
from torchlint.source.training.naming import LOSS, sounds_like
from torchlint.source.training.regions import runs_without_grad, tests_around, under_no_grad

_MAX_BACKWARDS = 20  # of one file
_MAX_CALLERS = 20
_TYPES = ("isinstance", "is_tensor", "hasattr")
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Constant)


def trained_output(tensor: Value) -> Value | None:
    """The call of a model that gave a tensor, here or in a caller that hands it in, where a backward of the same
    function can only have gone through that call.
    """
    for given in [tensor, *_handed_in(tensor)]:
        made = origins(given, SAME_NUMBERS)
        if made and all(map(_is_trained, made)):
            return made[0]
    return None


def is_asked_about(tensor: Value) -> bool:
    """Does the function look whether a name is a tensor, or one that requires gradients, and so know what it does?"""
    function = enclosing_function(tensor.node)
    names = {node.id for node in ast.walk(tensor.node) if isinstance(node, ast.Name)}
    return function is not None and not names.isdisjoint(_asked_about(tensor.module, function))


@remembered
def _asked_about(module: Module, function: ast.AST) -> set[str]:
    index = module.index
    read = (
        node
        for word in ("requires_grad", "grad_fn", "is_leaf")
        for node in standing_in(function, index.attributes(word))
    )
    asked = [node.value for node in read if isinstance(node.ctx, ast.Load)]
    asked += [call.args[0] for call in index.calls_of(*_TYPES, inside=function) if call.args]
    return {node.id for node in asked if isinstance(node, ast.Name)}


def _handed_in(tensor: Value) -> list[Value]:
    """What the callers of a function give a parameter that is all a tensor is made of: `p` of `p.cpu()`."""
    node = tensor.node
    while isinstance(node, ast.Call) and {c.name for c in callees(tensor.at(node, ()))} <= SAME_NUMBERS:
        node = receiver(node)
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = reaching(node, scope) if scope is not None else []
    function = enclosing_function(node) if node is not None else None
    if len(bound) != 1 or not isinstance(bound[0], ast.arg) or not isinstance(function, FUNCTIONS):
        return []
    if bound[0].up.up is not function or isinstance(function, ast.Lambda):
        return []
    owner = method_class(tensor.module, function)
    is_bound = owner is not None and not is_static(function)
    calls = [call for call, _ in zip(callers_of(tensor.module, function, owner), range(_MAX_CALLERS))]
    given = [bound_argument(function, bound[0], call, is_bound) for call in calls]
    return [argument for argument in given if argument is not None and argument.node is not None]


def _is_trained(origin: Value) -> bool:
    module, node = origin.module, origin.node
    if not isinstance(node, ast.Call) or _is_of_torch(origin) or runs_without_grad(origin):
        return False
    function, tests = enclosing_function(node), {(dumped(test), truth) for test, truth in tests_around(node)}
    for call in module.index.callers("backward")[:_MAX_BACKWARDS]:
        if enclosing_function(call) is not function or under_no_grad(module, call):
            continue
        if any((dumped(test), truth) not in tests for test, truth in tests_around(call)):
            continue
        loss = loss_of(module, call)
        if loss is not None and _leads_only_to(loss, origin):
            return True
    return False


def _leads_only_to(loss: Value, origin: Value) -> bool:
    """Can what a backward runs through have its graph from one call alone? The other parts are arithmetic, functions of
    torch without weights, and data.
    """
    behind, mine = graph(loss), mark(origin)
    if mine not in behind.nodes or behind.nodes[mine].path != origin.path:
        return False
    inside, is_trained = graph(origin).nodes, _is_put_in_train_mode(origin)
    return all(key in inside or _has_no_graph_itself(node, is_trained) for key, node in behind.nodes.items())


def _is_put_in_train_mode(output: Value) -> bool:
    """`model.train()` in the function that calls the model: so it is no frozen one, below a loss that learns alone."""
    function, model = enclosing_function(output.node), unparsed(output.node.func)
    return any(
        enclosing_function(call) is function and receiver(call) is not None and unparsed(receiver(call)) == model
        for call in output.module.index.callers("train")
    )


def _has_no_graph_itself(node: Value, is_trained: bool) -> bool:
    if isinstance(node.node, ast.Call):
        is_handed_in = is_trained and not callees(node) and sounds_like(node.node.func, LOSS)
        return EACH in node.path or is_handed_in or _is_of_torch(node)
    is_data = isinstance(node.node, (ast.arg, ast.Name)) or EACH in node.path
    return is_data or isinstance(node.node, _ARITHMETIC)


def _is_of_torch(call: Value) -> bool:
    """A function of torch, a method of a tensor, or a loss or activation: nothing with weights of its own."""
    known = callees(call)
    return bool(known) and all(
        callee.kind in ("external", "method")
        and callee.name.startswith(("torch.", "."))
        or callee.kind == "instance"
        and callee.name.startswith("torch.nn.")
        and is_stateless(callee.name)
        for callee in known
    )
