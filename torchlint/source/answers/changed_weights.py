"""Weights that are changed between the forward that used them and the backward that still needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from torchlint.source.flow.calling import sequential_layers
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import may_follow
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function
from torchlint.source.training.acts import BACKWARD, STEP, Act
from torchlint.source.training.grads import is_stateless, requires_grad
from torchlint.source.training.graphs import backpropagated, graph, is_model_call
from torchlint.source.training.optimizers import holds
from torchlint.source.training.regions import loops_around, under_no_grad
from torchlint.source.training.sameness import is_same

MAX_CHANGES = 20  # in one round, the first ones, and the first backwards after each
_MANY = 3  # layers with weights in a class, of which one certainly gets its input from another one


class ChangedWeights(NamedTuple):
    """`change` changes the weights of `model` in place after `forward` and before `backward`."""

    change: ast.AST
    model: ast.expr
    forward: ast.Call
    backward: Act


def changed_weights(module: Module, acts: list[Act]) -> Iterator[ChangedWeights]:
    """Those of one round; each change once."""
    backwards = [act for act in acts if act.role == BACKWARD and act.event.value.frame is None]
    steps = [act for act in acts if act.role == STEP and act.on is not None and act.event.value.frame is None]
    if not backwards:
        return
    loops = _loops_over_weights(module)
    changes = [(step.node, step.node, step) for step in steps] + [(change, loop, None) for change, loop in loops]
    for change, around, step in changes[:MAX_CHANGES]:
        later = (act for act in backwards if _is_between(around, act.node))
        found = (hit for act in islice(later, MAX_CHANGES) for hit in _needed(module, around, step, act))
        if (hit := next(found, None)) is not None:
            yield hit._replace(change=change)


def _is_between(first: ast.AST, later: ast.AST) -> bool:
    """Do both run in the same rounds, one after the other?"""
    return (
        enclosing_function(first) is enclosing_function(later)
        and [id(loop) for loop in loops_around(first)] == [id(loop) for loop in loops_around(later)]
        and may_follow(first, later)
    )


def _needed(module: Module, change: ast.AST, step: Act | None, backward: Act) -> Iterator[ChangedWeights]:
    for loss in backpropagated(backward):
        for node in graph(loss, strict=True).nodes.values():
            call = node.node
            if (
                node.module is module
                and node.frame is None
                and isinstance(call, ast.Call)
                and isinstance(call.func, (ast.Name, ast.Attribute))
                and _is_between(call, change)
                and is_model_call(node)
                and _is_changed(Value(module, call.func), change, step)
                and _keeps_weights(node)
            ):
                yield ChangedWeights(change, call.func, call, backward)


def _is_changed(model: Value, change: ast.AST, step: Act | None) -> bool:
    if step is not None:
        return step.on is not None and holds(step.on, model) is True
    return is_same(model.at(change.iter.func.value, ()), model) is True


def _keeps_weights(call: Value) -> bool:
    """Does it certainly keep weights for its backward: those of a layer whose input has a gradient?"""
    given = call.node.args[:1]
    if given and not isinstance(given[0], ast.Starred) and requires_grad(call.at(given[0], ())) is True:
        return True
    made = [origin for origin in objects(call.at(call.node.func, ())) if isinstance(origin.node, ast.Call)]
    return bool(made) and all(_has_many_layers(origin) for origin in made)


@remembered
def _has_many_layers(made: Value) -> bool:
    """One after the other: two in a Sequential, or so many in a class that they are hardly all beside each other."""
    for callee in callees(made):
        if callee.name == "torch.nn.Sequential":
            return sum(map(_has_weights, sequential_layers(made))) > 1
        if callee.kind == "class" and callee.owner is not None:
            layers = [
                Value(entry.module, entry.value or getattr(entry.target.up, "value", None))
                for entries in callee.owner.attributes.values()
                for entry in entries
                if entry.value is not None or entry.target is not None
            ]
            return sum(_has_weights(layer) + _has_many_layers(layer) for layer in layers if layer.node) >= _MANY
    return False


def _has_weights(layer: Value) -> bool:
    names = {c.name for c in callees(layer)} if isinstance(layer.node, ast.Call) else set()
    return bool(names) and all(
        name.startswith("torch.nn.") and name.count(".") == 2 and not is_stateless(name) for name in names
    )


@remembered
def _loops_over_weights(module: Module) -> list[tuple[ast.AST, ast.For]]:
    """The changes in loops that change what they go over, `for p in net.parameters(): p.mul_(0.9)`, under `no_grad`."""
    found = []
    for call in module.index.callers("parameters"):
        loop = call.up
        if (
            isinstance(loop, ast.For)
            and loop.iter is call
            and isinstance(call.func, ast.Attribute)
            and isinstance(loop.target, ast.Name)
        ):
            changes = [node for node in ast.walk(loop) if _changes(node, loop.target.id)]
            found += [(node, loop) for node in changes[:1] if under_no_grad(module, node)]
    return found


def _changes(node: ast.AST, name: str) -> bool:
    """`p.mul_(2)`, `p -= 2`, `p.copy_(q)`; `p.data` has no part in it, and `p.grad.zero_()` changes no weight."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    on, word = node.func.value, node.func.attr
    return isinstance(on, ast.Name) and on.id == name and word.endswith("_") and word != "requires_grad_"
