"""Loops of a training: what a loop counts and how often it runs."""

from __future__ import annotations

import ast
from itertools import islice

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import origins
from torchlint.source.flow.kinds import LOADER, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, LOOPS, ancestors, enclosing_function, last_word, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.events import iterated
from torchlint.source.training.regions import loops_around

_TRAINING = ("backward", "manual_backward", "step")
EPOCHS, BATCHES = "epochs", "batches"
MAX_SUMS = 4  # in the number of rounds of a loop
MAX_CALLS = 4  # through which a loop is reached
MAX_CALLERS = 20  # of one function


def counts(loop: Value) -> str | None:
    """Does a loop count epochs or batches? None where neither is plain."""
    node = loop.node
    if not isinstance(node, (ast.For, ast.AsyncFor)):
        return None
    if "epoch" in f"{unparsed(node.target)} {unparsed(node.iter)}".lower() or unparsed(node.target) in ("ep", "e"):
        return EPOCHS
    return BATCHES if kinds(loop.at(iterated(node), ())) == {LOADER} else None


def trains_once(module: Module, loop: ast.AST) -> bool:
    """Does the first round that trains leave the loop, to look at one batch? Rounds may be passed over before that."""
    if not isinstance(loop.body[-1], (ast.Break, ast.Return, ast.Raise)):
        return False
    steps = [call.pos for call in module.index.inside(loop, ast.Call) if last_word(call.func) in _TRAINING]
    first = min(steps, default=loop.pos)
    return not any(node.pos > first and _loop_of(node) is loop for node in module.index.inside(loop, ast.Continue))


def _loop_of(node: ast.AST) -> ast.AST | None:
    return next((around for around in ancestors(node) if isinstance(around, LOOPS)), None)


def length(loop: Value) -> int | None:
    """How often a loop runs, if it says so: `range(30)`, `range(1, epochs + 1)`, whose numbers may have names."""
    over = gone_through(loop.node)
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or not over.args:
        return None
    if last_word(over.func) not in ("range", "trange"):
        return None
    bounds = [whole(loop.at(bound, ())) for bound in over.args[:3]]
    try:
        return None if None in bounds else len(range(*bounds))
    except (ValueError, OverflowError):  # a step of 0, or more rounds than there can be
        return None


def gone_through(loop: ast.AST) -> ast.expr | None:
    """What gives a loop as many rounds as it has things: `range(3)` of `enumerate(tqdm(range(3)))`."""
    over = getattr(loop, "iter", None)
    while isinstance(over, ast.Call) and last_word(over.func) in ("tqdm", "enumerate") and over.args:
        over = over.args[0]
    return over


def whole(value: Value, depth: int = MAX_SUMS) -> int | None:
    """A whole number, or a sum of some."""
    plain = number(value)
    found = origins(value) if plain is None and depth else []
    if len(found) == 1 and isinstance(found[0].node, ast.BinOp) and isinstance(found[0].node.op, (ast.Add, ast.Sub)):
        left, right = (whole(found[0].at(side, ()), depth - 1) for side in (found[0].node.left, found[0].node.right))
        if left is not None and right is not None:
            return left + right if isinstance(found[0].node.op, ast.Add) else left - right
    return plain if isinstance(plain, int) else None


def is_of_one_epoch(place: Value, calls: int = MAX_CALLS) -> bool:
    """Is a loop over data gone through once, as far as all who call its function say: in a loop of one round, or in
    none?
    """
    around = loops_around(place.node)
    if any(length(place.at(loop, ())) == 1 for loop in around):
        return True
    function = enclosing_function(place.node)
    if around or any(isinstance(node, COMPREHENSIONS) and within(place.node, node) for node in ancestors(place.node)):
        return False
    if function is None:
        return True
    if isinstance(function, ast.Lambda) or not calls or _is_handed_on(place.module, function):
        return False
    callers = list(islice(callers_of(place.module, function, method_class(place.module, function)), MAX_CALLERS + 1))
    return 0 < len(callers) <= MAX_CALLERS and all(is_of_one_epoch(call, calls - 1) for call in callers)


def _is_handed_on(module: Module, function: ast.FunctionDef) -> bool:
    """Is it given to somebody who may call it as often as he likes?"""
    reads = (*module.index.names(function.name), *module.index.attributes(function.name))
    return any(not (isinstance(read.up, ast.Call) and read.up.func is read) for read in reads)


def bound(loop: Value) -> ast.expr:
    """What a loop counts to: `epochs` of `for epoch in range(start, epochs + 1)`, else what it iterates over."""
    over = loop.node.iter
    while _calls(over, "tqdm", "trange", "enumerate"):
        over = over.args[0]
    stop = over.args[-1] if _calls(over, "range") else over
    while isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add):
        stop = stop.left
    return stop


def _calls(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and isinstance(node.func, ast.Name) and node.func.id in names
