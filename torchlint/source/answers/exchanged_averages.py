"""Averages of weights that take most of themselves from what is new each time: `ema.lerp_(p, 0.999)`."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from torchlint.facts import named_of, words
from torchlint.source.flow.callers import given_for
from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, DEFINITIONS, ancestors, block_of, last_word, statement_of
from torchlint.source.text.spelling import argument, receiver, unparsed

LEAST = 0.9  # of what is new: from there on nobody speaks of an average
_AVERAGED = re.compile(
    r"(?:^|[^a-z])(?:ema|ma|moving|avg|averaged?|target|tgt|shadow|teacher|polyak|mean_teacher|momentum|swa)(?:[^a-z]|$)"
    r"|_k\b|\bold\b|EMA|Ema|Average|Teacher|Momentum|Target|soft_?update"
)
_OF_WEIGHTS = re.compile(r"parameters\(|state_dict\(|buffers\(|\.items\(|\.keys\(|params|weights|shadow|zip\(")
_AVERAGES = re.compile(r"(?:^|_)(?:ema|average|averages|moving|soft|polyak)(?:_|$)|EMA|Ema|Averag")
_OTHERWISE = re.compile(r"federat|\bfed_?|client|reptile|lookahead|async", re.IGNORECASE)
_SAME_THING = words(named_of("detach", "clone", "float", "to", "cpu", "cuda", "half", "double", "type_as", "item")) | {
    "data"
}
_DEPTH = 4


class ExchangedAverage(NamedTuple):
    average: ast.expr
    new: ast.expr
    share: float  # of what is new, each time


def lerped(call: Value) -> ExchangedAverage | None:
    """`average.lerp_(p, decay)`"""
    word, of = last_word(call.node.func), receiver(call.node)
    is_function = of is None or isinstance(of, ast.Name) and of.id == "torch"
    average = argument(call.node, "input", 0) if is_function else of
    new, weight = (argument(call.node, name, at + is_function) for at, name in enumerate(("end", "weight")))
    if average is None or new is None or weight is None or not (word.endswith("_") or _goes_back(call, average)):
        return None
    return _told(call, average, new, _numbers(call.at(weight, ())))


def added(call: Value) -> ExchangedAverage | None:
    """`average.mul_(1 - decay).add_(p, alpha=decay)`, also in two statements; `average.add_(decay * (p - average))`"""
    of, new = receiver(call.node), argument(call.node, "other", 0)
    scaled = of if isinstance(of, ast.Call) and last_word(of.func) == "mul_" else _scaled_before(call, of)
    if new is None or of is None or scaled is None:
        return _drawn(call, of, new, ast.Add) if new is not None and of is not None else None
    kept = argument(scaled, "other", 0)
    weight = argument(call.node, "alpha")
    if weight is None and isinstance(new, ast.BinOp) and isinstance(new.op, ast.Mult):
        return _of_sum(call, receiver(scaled), [(kept, receiver(scaled)), *_factors(call, new)])
    if weight is None or kept is None:
        return None
    shares = _numbers(call.at(weight, ()))
    return _told(call, receiver(scaled), new, shares) if _make_one(_numbers(call.at(kept, ())), shares) else None


def taken_off(call: Value) -> ExchangedAverage | None:
    """`average.sub_(decay * (average - p))`"""
    of, off = receiver(call.node), argument(call.node, "other", 0)
    return _drawn(call, of, off, ast.Sub) if of is not None and off is not None else None


def changed(place: Value) -> ExchangedAverage | None:
    """`average += decay * (p - average)`"""
    return _drawn(place, place.node.target, place.node.value, type(place.node.op))


def summed(total: Value) -> ExchangedAverage | None:
    """`average = (1 - decay) * average + decay * p`, and what is copied or returned so"""
    node = total.node
    target = _target(node)
    if target is not None and _thing(node.left) == _thing(target):
        return _drawn(total, target, node.right, ast.Add)
    if not all(isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) for side in (node.left, node.right)):
        return None
    first, second = _factors(total, node.left), _factors(total, node.right)
    names = [one for one in (*first, *second) if _AVERAGED.search(_thing(one[1]))]
    if len(first) != 1 or len(second) != 1:
        return None
    if target is None:
        target = names[0][1] if len(names) == 1 else None
    return _of_sum(total, target, [*first, *second]) if target is not None else None


def _drawn(place: Value, average: ast.expr, by: ast.expr, kind: type[ast.operator]) -> ExchangedAverage | None:
    """An average that is drawn to what is new, by a part of the way."""
    for weight, way in _factors(place, by):
        if isinstance(way, ast.BinOp) and isinstance(way.op, ast.Sub) and kind in (ast.Add, ast.Sub):
            new, own = (way.left, way.right) if kind is ast.Add else (way.right, way.left)
            if _thing(own) == _thing(average):
                return _told(place, average, new, _numbers(place.at(weight, ())))
    return None


def _scaled_before(call: Value, of: ast.expr | None) -> ast.Call | None:
    """`average.mul_(1 - decay)` right before `average.add_(…)`"""
    statement = statement_of(call.node)
    block, at = block_of(statement)
    before = block[at - 1] if at else None
    scaled = before.value if isinstance(before, ast.Expr) else None
    is_one = isinstance(scaled, ast.Call) and last_word(scaled.func) == "mul_" and of is not None
    return scaled if is_one and unparsed(receiver(scaled)) == unparsed(of) else None


def _of_sum(place: Value, target: ast.expr, terms: list[tuple[ast.expr, ast.expr]]) -> ExchangedAverage | None:
    """Two weighted things, of which one is what is averaged."""
    own = [term for term in terms if _thing(term[1]) == _thing(target)]
    new = [term for term in terms if _thing(term[1]) != _thing(target)]
    if len(own) != 1 or len(new) != 1 or own[0][0] is None:
        return None
    shares = _numbers(place.at(new[0][0], ()))
    return _told(place, own[0][1], new[0][1], shares) if _make_one(_numbers(place.at(own[0][0], ())), shares) else None


def _factors(place: Value, node: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The weight and what is weighted, `(1 - decay, average)`; nothing of other things than a number times one."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return []
    for weight, thing in ((node.left, node.right), (node.right, node.left)):
        if _numbers(place.at(weight, ())) and not _numbers(place.at(thing, ())):
            return [(weight, thing)]
    return []


def _numbers(weight: Value, depth: int = _DEPTH) -> list[float]:
    """The numbers that a weight is, `1 - decay` among them; none where one of them is not known."""
    known = usual_number(weight)
    if known is not None:
        return [known]
    found: list[float] = []
    for one in origins(weight) if depth else ():
        node = one.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and usual_number(one.at(node.left, ())) == 1:
            numbers = [1 - number for number in _numbers(one.at(node.right, ()), depth - 1)]
        elif isinstance(node, ast.arg):
            given = given_for(one)
            numbers = [n for each in given if each is not None for n in _numbers(each, depth - 1) or [-1.0]]
            numbers = [] if None in given else numbers
        else:
            known = usual_number(one)
            numbers = [] if known is None else [known]
        if not numbers:
            return []
        found += numbers
    return found


def _make_one(kept: list[float], shares: list[float]) -> bool:
    return len(kept) == len(shares) and all(abs(first + second - 1) < 1e-6 for first, second in zip(kept, shares))


def _told(place: Value, average: ast.expr, new: ast.expr, shares: list[float]) -> ExchangedAverage | None:
    if not shares or not all(LEAST <= share < 1 for share in shares) or _works_otherwise(place.module):
        return None
    around = [one for one in ancestors(place.node) if isinstance(one, (*DEFINITIONS, ast.For, *COMPREHENSIONS))]
    names = [one.name for one in around if isinstance(one, DEFINITIONS)]
    rounds = [
        unparsed(_given_as(each.target, each.iter, _thing(average)))
        for one in around
        if not isinstance(one, DEFINITIONS)
        for each in ([one] if isinstance(one, ast.For) else one.generators)
    ]
    held = average.value if isinstance(average, ast.Subscript) else average
    made = [unparsed(one.node) for one in origins(place.at(held, ())) if isinstance(one.node, ast.Call)]
    is_average = any(map(_AVERAGED.search, (_thing(average), *names, *rounds, *made)))
    is_of_weights = any(map(_OF_WEIGHTS.search, (*rounds, *made))) or any(map(_AVERAGES.search, names))
    is_of_weights = is_of_weights or any(getattr(one, "arg", "") == "avg_fn" for one in ancestors(place.node))
    is_new_the_average = _AVERAGED.search(_thing(new)) and not _AVERAGED.search(_thing(average))
    return (
        ExchangedAverage(average, new, min(shares)) if is_average and is_of_weights and not is_new_the_average else None
    )


def _given_as(target: ast.expr, iterated: ast.expr, name: str) -> ast.expr:
    """`average.parameters()` of `for a, p in zip(average.parameters(), model.parameters())`, for `a`"""
    if isinstance(iterated, ast.Call) and last_word(iterated.func) == "zip" and isinstance(target, ast.Tuple):
        for one, given in zip(target.elts, iterated.args):
            if name in {n.id for n in ast.walk(one) if isinstance(n, ast.Name)}:
                return given
    return iterated


@remembered
def _works_otherwise(module: Module) -> bool:
    return _OTHERWISE.search(module.index.text) is not None


def _target(total: ast.AST) -> ast.expr | None:
    """What becomes of the sum: `average` of `average = …`, `average.copy_(…)`."""
    up = total.up
    if isinstance(up, ast.Assign) and len(up.targets) == 1:
        return up.targets[0]
    if isinstance(up, ast.Call) and last_word(up.func) in ("copy_", "set_") and total in up.args:
        return receiver(up)
    return None


def _goes_back(call: Value, average: ast.expr) -> bool:
    target = _target(call.node)
    return target is not None and _thing(target) == _thing(average)


def _thing(node: ast.expr) -> str:
    """`average` of `average.data.clone()`"""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_THING:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return unparsed(node)
