"""Targets that the network which is trained computes for itself: `reward + gamma * q(next_state)` with its graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import class_info
from torchlint.source.flow.flow import SAME_NUMBERS, SAME_WEIGHTS, callees, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import LookedThrough, Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import dumped
from torchlint.source.training.grads import is_leaf
from torchlint.source.training.graphs import graph, is_model_call, loss_of, returned_losses
from torchlint.source.training.regions import under_no_grad
from torchlint.source.training.sameness import identity

_DISCOUNT = re.compile(r"gamma|discount|^γ$")
_FACTOR = re.compile(r"\b0?\.[89]\d* \*|\* 0?\.[89]\d*\b")  # a discount that has no name
_VALUES = re.compile(r"(^|_)(q|v|value|critic|dqn)(_|\d|$|net)|(^|_)(net|model)$")
_LOSSES = re.compile(r"loss|criterion|mse|huber|l1|error|objective|distance")
_DEPTH = 4  # sums of sums
_MAX_BACKWARDS = 30  # of one file


class Bootstrap(NamedTuple):
    """`call` computes part of `target`, `prediction` is the call of the same network that the target is for."""

    call: Value
    target: Value
    prediction: Value


def bootstraps(module: Module) -> Iterator[Bootstrap]:
    """The calls of a network in a target through which a backward would train it, too."""
    losses = list(_losses(module))
    if not losses or not _discounts(module):
        return
    seen: set[int] = set()
    for loss in losses:
        behind = graph(loss).nodes
        for target in list(behind.values()):
            for value, reward in _discounted(target):
                if _network_calls(graph(reward).nodes.values()) or not _is_aimed_at(target, behind.values()):
                    continue  # a weighted sum of two losses; a term of an objective that needs both gradients
                inside = graph(value).nodes
                used = _network_calls(node for key, node in inside.items() if key in behind)
                others = _network_calls(node for key, node in behind.items() if key not in inside)
                found = {}
                for made in used:
                    other = next((o for o in others if o.module is module and _is_same_network(made, o)), None)
                    if other is not None and made.module is module:
                        found[id(made.node)] = Bootstrap(made, target, other)
                for key, one in found.items():
                    if key not in seen and found.keys().isdisjoint(_calls_around(one.call)):
                        seen.add(key)
                        yield one


def _discounts(module: Module) -> bool:
    """Does a file say that what comes later counts less? Asked where there is a loss: it is read from end to end."""
    text = module.index.text
    return _DISCOUNT.search(text.lower()) is not None or _FACTOR.search(text) is not None


def _calls_around(call: Value) -> Iterator[int]:
    """The calls through which an expression runs: `self(x)` of `self.q(x)` in its forward."""
    while call.frame is not None and call.frame.call is not None:
        call = call.frame.call
        yield id(call.node)


def _losses(module: Module) -> Iterator[Value]:
    """What goes backward: by a call of the file's own, or by Lightning's."""
    calls = [*module.index.callers("backward"), *module.index.callers("manual_backward")]
    for call in calls[:_MAX_BACKWARDS]:
        loss = loss_of(module, call)
        if loss is not None and not under_no_grad(module, call):
            yield loss
    if module.index.says("training_step") and not module.index.says("automatic_optimization"):
        for node in module.index.classes:
            yield from returned_losses(class_info(module, node))


def _is_aimed_at(target: Value, behind: Iterable[Value]) -> bool:
    """Does a loss measure how far something is from a target: `F.mse_loss(q, target)`, `(target - q) ** 2`?"""
    return any(target.node in _terms(node.at(side, ()), _DEPTH) for node in behind for side in _measured(node.node))


def _measured(node: ast.AST) -> list[ast.expr]:
    """What a distance is measured of, or between."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return [node.left]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [node.left] if dumped(node.left) == dumped(node.right) else []
    if not isinstance(node, ast.Call):
        return []
    word = last_word(node.func)
    if word in ("pow", "square", "abs", "norm"):
        return [node.func.value, *node.args[:1]] if isinstance(node.func, ast.Attribute) else node.args[:1]
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return given if _LOSSES.search(word.lower()) else []


def _terms(value: Value, depth: int) -> Iterator[ast.AST]:
    """What something is the sum or the difference of."""
    for origin in origins(value, SAME_NUMBERS):
        yield origin.node
        sides = (origin.node.left, origin.node.right) if _is_sum(origin.node) else ()
        for side in sides if depth else ():
            yield from _terms(origin.at(side, ()), depth - 1)


def _is_sum(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))


def _network_calls(nodes: Iterable[Value]) -> list[Value]:
    """The calls of networks among some expressions, or around them where a class was looked into."""
    found: dict[int, Value] = {}
    for node in nodes:
        if not isinstance(node.node, ast.Call) or not (is_model_call(node) or _sounds_like_values(node)):
            continue
        while node is not None:
            found.setdefault(id(node.node), node)
            node = node.frame.call if node.frame else None
    return list(found.values())


def _sounds_like_values(node: Value) -> bool:
    """`q(s)` where nobody knows what `q` is."""
    return not callees(node) and bool(_VALUES.search(last_word(node.node.func).lower()))


def _discounted(target: Value) -> Iterator[tuple[Value, Value]]:
    """`gamma * q(s)` and `r` of `r + gamma * q(s)`."""
    node = target.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            factors = _factors(side)
            if any(_is_discount(target.at(factor, ())) for factor in factors):
                for factor in factors:
                    yield target.at(factor, ()), target.at(other, ())


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _factors(node.left) + _factors(node.right)
    return [node]


def _is_discount(factor: Value) -> bool:
    """Is it a number that goes by that name, or looks like one? What is learned is a scale, as in FiLM or attention."""
    node = factor.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):  # gamma ** n
        node = node.left
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0.8 <= node.value < 1
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or not _DISCOUNT.search(last_word(node).lower()):
        return False
    named = factor.at(node, ())
    return not any(is_leaf(origin) for origin in origins(named)) and not _network_calls(graph(named).nodes.values())


def _is_same_network(made: Value, other: Value) -> bool:
    """Two calls of one object, of one method, with different inputs."""
    a, b = made.node, other.node
    if dumped(a.func) != dumped(b.func) or _are_given_the_same(made, other):
        return False
    is_one = bool(identity(made.at(a.func, ())).keys() & identity(other.at(b.func, ())).keys())
    return is_one and _are_of_one(made, other)


def _are_of_one(made: Value, other: Value) -> bool:
    """Is it one object whose methods make both calls, and no copy of it, as far as both are seen?"""
    frames = made.frame, other.frame
    if any(frame is None or frame.call is None for frame in frames):
        return True
    one, two = ({(id(o.node), o.path) for o in origins(_asked(frame), SAME_WEIGHTS)} for frame in frames)
    return not one or not two or not one.isdisjoint(two)


def _asked(frame: LookedThrough) -> Value:
    """The object of which a method is called: `net` of `net(x)` and of `net.best(x)`; a function itself."""
    func = frame.call.node.func
    is_method = isinstance(func, ast.Attribute) and func.attr == frame.function.name
    return frame.call.at(func.value if is_method else func, ())


def _are_given_the_same(made: Value, other: Value) -> bool:
    """`x` of one function need not be `x` of another one."""
    a, b = made.node.args, other.node.args
    if dumped(ast.Tuple(a, ast.Load())) != dumped(ast.Tuple(b, ast.Load())):
        return False
    return all(_sources(made.at(one, ())) & _sources(other.at(two, ())) for one, two in zip(a, b))


def _sources(value: Value) -> set[tuple]:
    return {(id(origin.node), origin.path) for origin in origins(value)}
