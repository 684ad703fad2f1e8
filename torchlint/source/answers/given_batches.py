"""Whether a loop over batches has moved a part of its batch to a device before somebody gets it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.facts import named, words
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, statement_of, within
from torchlint.source.text.spelling import constant_key
from torchlint.source.training import devices

RAW, MOVED = "raw", "moved"
MAX_STEPS = 12  # from what is given to the loop
_LEFT_THERE = words(named("same_numbers", home=".")) - devices.MOVES - {"cpu", "type", "type_as", "numpy"}
_COLLECTING = ("list", "tuple", "dict")
_ONLY_READING = frozenset("print len append extend update set_postfix set_description".split())


class GivenPart(NamedTuple):
    """What is given: `raw` or `moved`, the loop over the batches, and the move."""

    state: str
    node: ast.expr
    loop: ast.For
    move: ast.expr | None = None


def given(module: Module, node: ast.expr | None) -> GivenPart | None:
    """A part of the batch of a loop, as the loop got it or moved; None for anything else."""
    return _given(module, node, MAX_STEPS) if node is not None else None


@remembered(by=2)
def _given(module: Module, node: ast.expr, steps: int) -> GivenPart | None:
    if steps == 0:
        return None
    if isinstance(node, ast.Name):
        return _named(module, node, steps)
    if isinstance(node, ast.Subscript) and constant_key(node.slice) is not None or _is_plain_attribute(node):
        part = _given(module, node.value, steps - 1)
        return part._replace(node=node) if part is not None else None
    if isinstance(node, ast.IfExp):  # `x.cuda() if use_cuda else x`
        return _joined([_given(module, side, steps - 1) for side in (node.body, node.orelse)])
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
        return _each_moved(module, node, steps)
    return _called(module, node, steps) if isinstance(node, ast.Call) else None


def _is_plain_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr not in ("shape", "device", "dtype", "grad")


def _called(module: Module, call: ast.Call, steps: int) -> GivenPart | None:
    word = last_word(call.func)
    if word in (*_COLLECTING, "Variable") and call.args:
        return _given(module, call.args[0], steps - 1)
    if isinstance(call.func, ast.Attribute) and word in devices.MOVES:
        part = _given(module, call.func.value, steps - 1)
        return _moved_by(module, call, part) if part is not None else None
    if isinstance(call.func, ast.Attribute) and word in _LEFT_THERE:
        return _given(module, call.func.value, steps - 1)
    part = _given(module, call.args[0], steps - 1) if call.args else None
    if part is None:  # asked first, for what is called takes longer to say
        return None
    helpers = [callee for callee in callees(Value(module, call)) if callee.function is not None]
    return GivenPart(MOVED, call, part.loop, call) if any(_moves(c.module, c.function) for c in helpers) else None


@remembered
def _moves(module: Module, function: ast.AST) -> bool:
    """Is it a helper that gives back what it has moved: `def to_cuda(batch): return {k: v.cuda() for k, v in …}`?"""
    moves = (call for word in devices.MOVES for call in module.index.calls_of(word, inside=function))
    return any(isinstance(call.func, ast.Attribute) and devices.goes_away(Value(module, call)) for call in moves)


def _moved_by(module: Module, call: ast.Call, part: GivenPart) -> GivenPart | None:
    if not devices.goes_away(Value(module, call)):
        return None
    return GivenPart(MOVED, call, part.loop, call)


def _each_moved(module: Module, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, steps: int) -> GivenPart | None:
    """`[x.to(device) for x in batch]`, `{k: v.to(device) for k, v in batch.items()}`"""
    over = node.generators[0].iter
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr in ("items", "values"):
        over = over.func.value
    whole = _given(module, over, steps - 1) if len(node.generators) == 1 else None
    if whole is None:
        return None
    each = node.value if isinstance(node, ast.DictComp) else node.elt
    moves = [n for n in module.index.inside(each, ast.Call) if last_word(n.func) in devices.MOVES]
    return _moved_by(module, moves[0], whole) if moves else None


def _joined(parts: list[GivenPart | None]) -> GivenPart | None:
    """On one of the ways moved; on all raw."""
    moved = next((part for part in parts if part is not None and part.state == MOVED), None)
    if moved is not None or None in parts or len({part.loop for part in parts}) != 1:
        return moved
    return parts[0]


def _named(module: Module, name: ast.Name, steps: int) -> GivenPart | None:
    scope = name.at.lookup(name.id)
    is_elsewhere = scope is None or scope.node is module.tree and enclosing_function(name) is not None
    bound = [] if is_elsewhere else reaching(name, scope)
    part = _joined([_bound(module, one, steps) for one in bound]) if bound else None
    if part is None or not within(name, part.loop):
        return None
    change = _change(module, part.loop, name.id)
    if part.state == MOVED or change is None:
        return part._replace(node=name)
    is_move = isinstance(change, ast.Call) and last_word(change.func) in devices.MOVES
    return _moved_by(module, change, part) if is_move else None


def _bound(module: Module, bound: ast.AST, steps: int) -> GivenPart | None:
    """What a name is bound to: by the loop itself, or by an assignment in it."""
    if not isinstance(bound, ast.Name):
        return None
    target, place = bound, bound.up
    while isinstance(place, (ast.Tuple, ast.List)):
        target, place = place, place.up
    if isinstance(place, ast.For) and place.target is target:
        return GivenPart(RAW, bound, place)
    if not isinstance(place, ast.Assign) or len(place.targets) != 1 or place.targets[0] is not target:
        return None
    value = place.value
    if target is bound:
        return _given(module, value, steps - 1)
    if isinstance(value, (ast.Tuple, ast.List)) and bound.up is target and len(value.elts) == len(target.elts):
        return _given(module, value.elts[target.elts.index(bound)], steps - 1)
    return None if isinstance(value, (ast.Tuple, ast.List)) else _given(module, value, steps - 1)


@remembered
def _change(module: Module, loop: ast.For, name: str) -> ast.expr | None:
    """What may change in a loop the thing that a name stands for: `batch[k] = v.to(device)`, `move(batch)`."""
    for node in standing_in(loop, module.index.names(name)):
        holder = node
        while isinstance(holder.up, (ast.Subscript, ast.Attribute)) and holder.up.value is holder:
            holder = holder.up
        if holder is not node and isinstance(holder.ctx, ast.Store):
            statement = statement_of(node)
            return statement.value if isinstance(statement, ast.Assign) else holder
        call = holder.up if isinstance(holder.up, ast.Call) else None
        if call is not None and isinstance(call.up, ast.Expr):
            if call.func is not holder and last_word(call.func) not in _ONLY_READING:
                return holder
    moves = (call for word in devices.MOVES for call in module.index.calls_of(word, inside=loop))
    return next((call.func for call in moves if isinstance(call.up, ast.Expr)), None)  # of what moves where it stands
