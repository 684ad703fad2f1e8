"""Loop variables that are given a new tensor, which nobody reads: `for a, p in pairs: a = 0.9 * a + 0.1 * p`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from torchlint.facts import fact
from torchlint.source.flow.flow import callees
from torchlint.source.flow.kinds import LOADER, is_tensor
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, within
from torchlint.source.text.spelling import receiver
from torchlint.source.training.regions import loops_around
from torchlint.source.training.roles import seems

_COMPUTING = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)
_TENSORS = frozenset("parameters buffers".split())
_NAMED = frozenset("named_parameters named_buffers".split())


def is_rebound(module: Module, assign: ast.Assign) -> bool:
    """Is a tensor that a loop goes through only replaced under its name in the loop, and the new one never read?"""
    name = assign.targets[0]
    loop = next(iter(loops_around(assign)), None)
    if len(assign.targets) > 1 or not isinstance(name, ast.Name) or not isinstance(loop, ast.For):
        return False
    of_loop = next((one for one in _names(loop.target) if one.id == name.id), None)
    if of_loop is None or uses(module, name):
        return False
    read = [one for one in module.index.inside(assign.value, ast.Name) if one.id == name.id]
    if not read or name.at.lookup(name.id) is not of_loop.at.lookup(name.id):
        return False
    return _makes_another(module, assign.value, read) and _is_of_tensors(module, loop, of_loop, read[0])


def _names(target: ast.expr) -> Iterator[ast.Name]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def _makes_another(module: Module, value: ast.expr, read: list[ast.Name]) -> bool:
    """Is it computed, moved or cast, and not changed in place?"""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, _COMPUTING) and not any(
            last_word(call.func).endswith("_") for call in module.index.inside(value, ast.Call)
        )
    if not isinstance(value, ast.Call):
        return False
    of = receiver(value)
    changed = of if of in read else value.args[0] if value.args and value.args[0] in read else None
    rows = [fact(callee.name) for callee in callees(Value(module, value))]
    is_told = any(keyword.arg in ("inplace", "out") or keyword.arg is None for keyword in value.keywords)
    is_new = bool(rows) and all(
        row is not None and row.gives == "tensor" and not row.in_place and not row.inplace for row in rows
    )
    return changed is not None and is_new and not is_told


def _is_of_tensors(module: Module, loop: ast.For, name: ast.Name, read: ast.Name) -> bool:
    given = _given_for(loop.iter, loop.target, name)
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
        word, of = given.func.attr, given.func.value
        is_second = isinstance(name.up, ast.Tuple) and name.up.elts[-1] is name
        if word in _TENSORS or word in _NAMED and is_second:
            return True
        if word in ("values", "items") and isinstance(of, ast.Call) and last_word(of.func) == "state_dict":
            return word == "values" or is_second
        given = of if word in ("values", "items") else given
    return _is_kept(module, loop, given) and is_tensor(Value(module, read))


def _is_kept(module: Module, loop: ast.For, given: ast.expr | None) -> bool:
    """Is what the loop goes through read afterwards? A loader makes other tensors each time."""
    if not isinstance(given, ast.Name) or seems(Value(module, given), LOADER):
        return False
    function = enclosing_function(loop) or module.tree
    named = standing_in(function, module.index.names(given.id))
    later = takewhile(lambda one: one.pos > loop.pos, reversed(named))
    return any(isinstance(one.ctx, ast.Load) and not within(one, loop) for one in later)


def _given_for(given: ast.expr, target: ast.expr, name: ast.Name) -> ast.expr | None:
    """What the loop takes that name from: `b` of `for i, (x, y) in enumerate(zip(a, b))` for `y`"""
    while isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and isinstance(target, ast.Tuple):
        places = [i for i, part in enumerate(target.elts) if part is name or within(name, part)]
        if given.func.id == "zip" and places and len(given.args) == len(target.elts):
            given, target = given.args[places[0]], target.elts[places[0]]
        elif given.func.id == "enumerate" and places == [1] and given.args:
            given, target = given.args[0], target.elts[1]
        else:
            return None
    while isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id in ("list", "tqdm"):
        given = given.args[0] if given.args else None
    return given
