"""Features and labels that are shuffled one after the other, each in an order of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of, is_result_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import block_of, enclosing_function, last_word
from torchlint.source.text.spelling import dotted, paired
from torchlint.source.training.graphs import mark

_IN_PLACE = frozenset(("numpy.random.shuffle", "random.shuffle"))
_ORDERS = named_of("randperm") | {"numpy.random.permutation"}
_TIED = re.compile(r"seed|rng|state|generator|determin", re.IGNORECASE)  # who draws the same order twice
_SAMPLES = re.compile(r"xs?|data|inputs?|features?|feats?|images?|imgs?|samples?|texts?|sentences?|docs?")
_LABELS = re.compile(r"(?P<sure>labels?|lbls?)|ys?|targets?")
_SPLIT = re.compile(r"tr|train(ing)?|te|tests?|testing|val|valid|validation|dev")
_JOINING = ("TensorDataset", "zip", "train_test_split", "fit")
_KINDS = re.compile(r"set|unique|keys|a?range")
_MOST_JOINED = 8  # arguments of one call
_NEAR = 4  # statements of a block that may belong together


class Order(NamedTuple):
    """What gets another order, under which name, and the draw."""

    name: str
    draw: tuple
    node: ast.AST


def shuffled_before(module: Module, statement: ast.stmt) -> tuple[Order, Order] | None:
    """What a statement shuffles, and what belongs to it and was shuffled in another order right before."""
    found = list(_orders(module, statement))
    if not found:
        return None
    block, place = block_of(statement)
    others = [*found]
    for sibling in reversed(block[max(place - _NEAR, 0) : place]):
        before = list(_orders(module, sibling))
        if not before and _TIED.search(module.segment(sibling)):
            break
        others += reversed(before)
    last = {order.name: order for order in reversed(others)}  # the nearest of each name
    later = [order for sibling in block[place + 1 : place + 1 + _NEAR] for order in _orders(module, sibling)]
    for one in found:
        follows = {order.name for order in later if order.draw == one.draw}  # what gets this order next
        for other in last.values():
            if other.draw != one.draw and other.name not in follows and _belong_together(module, one, other):
                return other, one
    return None


def _orders(module: Module, statement: ast.stmt) -> Iterator[Order]:
    """`np.random.shuffle(x)`, `x = x[torch.randperm(n)]`, and a function that does the latter"""
    if isinstance(statement, ast.Expr):
        call = statement.value
        is_plain = isinstance(call, ast.Call) and last_word(call.func) == "shuffle" and len(call.args) == 1
        name = dotted(call.args[0]) if is_plain and not call.keywords else None
        if name is not None and is_call_of(Value(module, call), _IN_PLACE) and not _are_kinds(module, call.args[0]):
            yield Order(name, mark(Value(module, call)), call)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        for target, value in paired(statement.targets[0], statement.value):
            name, of = dotted(target), _of(value)
            draw = _draw(module, value) if name is not None and of is not None and name == dotted(of) else None
            if draw is not None:
                yield Order(name, draw, value)


def _are_kinds(module: Module, shuffled: ast.expr) -> bool:
    """Is it a list of the labels that there are, or of places, and not what each sample has?"""
    made = (origin for origin in origins(Value(module, shuffled)) if isinstance(origin.node, (ast.Call, ast.ListComp)))
    calls = (call for one in made for call in one.module.index.inside(one.node, ast.Call))
    return any(_KINDS.fullmatch(last_word(call.func)) for call in calls)


def _of(value: ast.expr) -> ast.expr | None:
    """`x` of `x[order]` and of `mixed(x)`"""
    if isinstance(value, ast.Subscript):
        return value.value
    return value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords else None


def _draw(module: Module, value: ast.expr) -> tuple | None:
    """The draw of the order in which an expression puts something."""
    made = origins(Value(module, value))
    if len(made) != 1 or not isinstance(made[0].node, ast.Subscript) or made[0].path:
        return None
    function = enclosing_function(made[0].node)
    if isinstance(value, ast.Call) and (function is None or _TIED.search(made[0].module.segment(function))):
        return None
    drawn = origins(made[0].at(made[0].node.slice, ()))
    if len(drawn) != 1 or not is_result_of(drawn[0], _ORDERS) or len(drawn[0].node.args) != 1:
        return None
    return mark(drawn[0]) if all(keyword.arg == "device" for keyword in drawn[0].node.keywords) else None


def _belong_together(module: Module, one: Order, other: Order) -> bool:
    """Are these `x_train` and `y_train`, or do they go into a dataset together?"""
    sure = {_pair(one.name, other.name), _pair(other.name, one.name)}
    return True in sure or False in sure and _are_joined(module, one, other)


def _pair(samples: str, labels: str) -> bool | None:
    """Are these names of samples and of their labels: certainly, or perhaps? None if not."""
    first, second = (re.split(r"[_.]", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) for name in (samples, labels))
    apart = [(a, b) for a, b in zip(first, second) if a != b]
    if len(first) != len(second) or len(apart) != 1 or not _SAMPLES.fullmatch(apart[0][0]):
        return None
    said = _LABELS.fullmatch(apart[0][1])
    if said is None:
        return None
    return said["sure"] is not None or any(map(_SPLIT.fullmatch, first))


def _are_joined(module: Module, one: Order, other: Order) -> bool:
    scope = enclosing_function(one.node) or module.tree
    return _joined(module, scope).get(frozenset((one.name, other.name)), 0) > one.node.lineno


@remembered
def _joined(module: Module, scope: ast.AST) -> dict[frozenset[str], int]:
    """Which names are given together to a dataset or a `zip`, and the last line where they are."""
    found: dict[frozenset[str], int] = {}
    for call in module.index.calls_of(*_JOINING, inside=scope):
        names = filter(None, map(dotted, call.args[:_MOST_JOINED]))
        for pair in map(frozenset, combinations(names, 2)):
            found[pair] = max(found.get(pair, 0), call.lineno)
    return found
