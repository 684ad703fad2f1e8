"""Lists of losses that end with their epoch: backward has freed what stood behind each, and little is kept."""

from __future__ import annotations

import ast
import re

from torchlint.source.answers.dropped_graphs import PRINTS
from torchlint.source.answers.forgetting import Collecting, is_started_anew
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, enclosing_function, last_word
from torchlint.source.training.acts import Act
from torchlint.source.training.grads import STOPS
from torchlint.source.training.loops import EPOCHS, counts
from torchlint.source.training.ranks import is_reduced
from torchlint.source.training.regions import loops_around, tests_around

_GROWS = ("append", "extend", "insert", "clear")
_LOSS = re.compile(r"(_loss|Loss\(\)|\.cross_entropy|\.kl_div|_with_logits)$")
MAX_NAMES = 3  # through which a list is followed


def ends_with_epoch(module: Module, place: Collecting, loop: ast.AST, act: Act) -> bool:
    """Does a list get single numbers only whose graphs a backward of the same round has freed, and is it made anew for
    each epoch and gone with it?
    """
    name = place.into if isinstance(place.into, ast.Name) else None
    if name is None or isinstance(place.place, ast.Assign) or counts(Value(module, loop)) == EPOCHS:
        return False
    if place.held or isinstance(place.place, ast.AugAssign) and not isinstance(place.place.value, ast.List):
        return False  # a sum is a graph of its own
    return (
        _is_made_for_an_epoch(module, place, name, loop)
        and _frees(place.place, act)
        and all(_is_one_number(Value(module, part), act) for part in _elements(place.added))
        and _is_gone(module, name, MAX_NAMES)
    )


def _is_made_for_an_epoch(module: Module, place: Collecting, name: ast.Name, loop: ast.AST) -> bool:
    outer, function = loops_around(loop), enclosing_function(loop)
    if outer:
        return counts(Value(module, outer[0])) == EPOCHS and is_started_anew(module, place, outer[0].body)
    if not isinstance(function, ast.FunctionDef) or "epoch" not in function.name:
        return False
    scope = name.at.lookup(name.id)
    return scope is not None and scope.node is function and is_started_anew(module, place, function.body)


def _frees(place: ast.AST, act: Act) -> bool:
    """Does the backward run in each round that adds something, and let go of the graph?"""
    call = act.event.node
    if any(k.arg not in ("gradient", "inputs") for k in call.keywords) or len(call.args) > 1:
        return False
    asked = {id(test) for test, _ in tests_around(place)}
    return all(id(test.node) in asked for test, _ in act.event.tests)


def _elements(added: list[ast.expr]) -> list[ast.expr]:
    """What stands in the tuples, lists and tables that are added."""
    found = []
    for node in added:
        inside = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", None)
        found += [node] if inside is None else _elements(inside)
    return found


def _is_one_number(part: Value, act: Act) -> bool:
    """Is it what backward ran through without a gradient, a term of that, or a mean, a sum or a loss?"""
    receiver = act.event.receiver
    terms = _terms(receiver, 6) if receiver is not None and not act.event.node.args else set()
    found = origins(part)
    return bool(found) and all(o.key in terms or _is_scalar(o) for o in found)


def _terms(value: Value, depth: int) -> set[tuple]:
    """What a number is and what it is computed from, number by number."""
    found = {o.key: o for o in origins(value)}
    sums = [o for o in found.values() if isinstance(o.node, ast.BinOp) and depth]
    return set(found).union(
        *(_terms(o.at(side, ()), depth - 1) for o in sums for side in (o.node.left, o.node.right) if not _is_matmul(o))
    )


def _is_matmul(origin: Value) -> bool:
    return isinstance(origin.node.op, ast.MatMult)


def _is_scalar(origin: Value) -> bool:
    node = origin.node
    if isinstance(node, ast.Constant):
        return True
    if not isinstance(node, ast.Call) or origin.path:
        return False
    names = {callee.name for callee in callees(origin)}
    is_loss = bool(names) and all(map(_LOSS.search, names)) and not any(k.arg == "reduction" for k in node.keywords)
    return is_reduced(node) or is_loss


def _is_gone(module: Module, name: ast.Name, names: int) -> bool:
    """Is nothing that has a graph of it handed on: returned, put into something else, given to somebody?"""
    scope = name.at.lookup(name.id)
    if scope is None or not names:
        return False
    reads = [n for n in module.index.names(name.id) if isinstance(n.ctx, ast.Load) and n.at.lookup(name.id) is scope]
    home = enclosing_function(name)
    return all(enclosing_function(read) is home and _ends(module, read, names) for read in reads)


def _ends(module: Module, node: ast.expr, names: int) -> bool:
    if isinstance(node.up, ast.Attribute) and node.up.attr in _GROWS and isinstance(node.up.up, ast.Call):
        return node.up.up.func is node.up
    child: ast.AST = node
    while (parent := child.up) is not None:
        if isinstance(parent, ast.Call) and (last_word(parent.func) in PRINTS or f".{last_word(parent.func)}" in STOPS):
            return True
        if isinstance(parent, (ast.Compare, ast.FormattedValue)):
            return True
        if isinstance(parent, (ast.For, ast.comprehension)):
            return isinstance(parent.target, ast.Name) and _is_gone(module, parent.target, names - 1)
        if isinstance(parent, (ast.If, ast.While)):
            return True
        if isinstance(parent, ast.Assign):
            [target, *others] = parent.targets
            return not others and isinstance(target, ast.Name) and _is_gone(module, target, names - 1)
        if isinstance(parent, (ast.stmt, *FUNCTIONS)):
            return False
        child = parent
    return False
