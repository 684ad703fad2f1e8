"""Loops of a training: what a loop counts and how often it runs."""

from __future__ import annotations

import ast

from torchlint.source.flow.kinds import LOADER, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import LOOPS, ancestors, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.events import iterated

_TRAINING = ("backward", "manual_backward", "step")
EPOCHS, BATCHES = "epochs", "batches"


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
    """How often a loop runs, if it says so: `range(30)`, whose number may have a name."""
    over = getattr(loop.node, "iter", None)
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or not over.args:
        return None
    if last_word(over.func) not in ("range", "trange"):
        return None
    stop = number(loop.at(over.args[min(len(over.args), 2) - 1], ()))
    return stop if isinstance(stop, int) else None


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
