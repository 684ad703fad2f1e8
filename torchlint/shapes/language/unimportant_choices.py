"""A condition that nobody knows and that makes no difference: `if random.random() < 0.5: image = image.flip(-1)`.

Whether it holds or not, the name stands for a tensor of the same kind. What torch refuses later does not depend on it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch

from torchlint.shapes.core.standins import Library
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.language.counted_tests import is_read_only
from torchlint.shapes.language.cut_short import CHANGING
from torchlint.shapes.language.program import CompiledScope, Frame
from torchlint.shapes.language.walking import walk
from torchlint.shapes.tensors.alike import is_like
from torchlint.shapes.tensors.arrays import Array

Evaluate = Callable[[Frame], Any]
Compile = Callable[[ast.expr, CompiledScope], Evaluate]
_MISSING = object()


def changed_alike(node: ast.If, scope: CompiledScope, body: Evaluate, compile_: Compile) -> Evaluate:
    """The body of an `if` without `else`. Where it only makes names anew, by what changes nothing else, and these
    are of the same kind as before, the condition is no longer in doubt.
    """
    if not node.orelse and (filled := _fills(node.body)):
        return _filled_anyhow(node, [(compile_(one.value, scope), compile_(one.slice, scope)) for one in filled], body)
    made = _makes(node.body) if not node.orelse else None
    if not made or any(scope.find(name) != 0 for name in made) and scope.kind != "module":
        return body
    owners = _owners(node.body)
    if owners is None:
        return body

    def run(frame: Frame) -> Any:
        if not _is_in_doubt(frame, node.test) or not all(_changes_nothing(frame, name) for name in owners):
            return body(frame)
        before = [(old := frame.vars.get(name, _MISSING), _has_graph(old)) for name in made]
        jump = body(frame)
        now = (frame.vars.get(name) for name in made)
        if jump is None and all(is_like(one, old) and _has_graph(one) is had for one, (old, had) in zip(now, before)):
            frame.machine.settle(node.test)
        return jump

    return run


def _filled_anyhow(node: ast.If, filled: list[tuple[Evaluate, Evaluate]], body: Evaluate) -> Evaluate:
    """`if word not in numbers: numbers[word] = len(numbers)`: a dict that gets an item under a key that nobody knows
    may have got it or not, from then on.
    """

    def run(frame: Frame) -> Any:
        if not _is_in_doubt(frame, node.test) or "len" in frame.vars or "len" in frame.globals:
            return body(frame)
        are_open = all(type(owner(frame)) is dict and type(key(frame)) is Unknown for owner, key in filled)
        jump = body(frame)
        if jump is None and are_open:
            frame.machine.settle(node.test)
        return jump

    return run


def _fills(body: list[ast.stmt]) -> list[ast.Subscript] | None:
    """`numbers[word]`, where statements do nothing but give items to dicts."""
    found = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Name()) as target], value=value) if is_read_only(
                target.value
            ) and all(_is_plain(part) for part in walk(value)):
                found.append(target)
            case _:
                return None
    return found


def _is_plain(part: ast.AST) -> bool:
    """Is it a part of an expression that changes nothing when it is evaluated?"""
    if isinstance(part, ast.Call):
        return isinstance(part.func, ast.Name) and part.func.id == "len"
    return not isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))


def chosen_alike(node: ast.IfExp, scope: CompiledScope, yes: Evaluate) -> Evaluate:
    """`image.flip(-1) if random.random() < 0.5 else image`, where it holds."""
    owners = _owners([ast.Expr(node.body)])
    if not isinstance(node.orelse, ast.Name) or not owners:
        return yes
    name = node.orelse.id

    def run(frame: Frame) -> Any:
        is_free = _is_in_doubt(frame, node.test) and all(_changes_nothing(frame, owner) for owner in owners)
        made = yes(frame)
        if is_free and is_like(made, frame.vars.get(name)):
            frame.machine.settle(node.test)
        return made

    return run


def _has_graph(value: Any) -> bool:
    """Asked of what may have been changed in place, too: `x += self.bias`."""
    return getattr(value, "requires_grad", False)


def _is_in_doubt(frame: Frame, test: ast.expr) -> bool:
    """Was a condition answered just now that was not in doubt before?"""
    newest, frame.machine.newest_doubt = frame.machine.newest_doubt, None
    return newest is test


def _makes(body: list[ast.stmt]) -> list[str] | None:
    """The names that some statements make anew, if they do nothing else."""
    found = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
                found.append(name)
            case _:
                return None
    return found


def _owners(body: list[ast.stmt]) -> set[str] | None:
    """The names on which something is called there; None where a call may change what it is given."""
    calls = [one for statement in body for one in walk(statement) if isinstance(one, ast.Call)]
    found = {_owner(call.func) for call in calls}
    return None if None in found else {name for name in found if name}


def _owner(function: ast.expr) -> str | None:
    """`image` of `image.clone().flip`, `np` of `np.flip`, `flip` itself."""
    if isinstance(function, ast.Attribute) and (function.attr in CHANGING or function.attr.endswith("_")):
        return None
    while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
        function = function.func if isinstance(function, ast.Call) else function.value
    return function.id if isinstance(function, ast.Name) else None


def _changes_nothing(frame: Frame, name: str) -> bool:
    """Is it a library, or a function of one, or a tensor, whose methods make others?"""
    value = frame.vars.get(name, _MISSING)
    value = frame.globals.get(name, _MISSING) if value is _MISSING else value
    if type(value) is FunctionType:
        return value.__module__.startswith("torch.")
    return isinstance(value, (Library, Special, Array, torch.Tensor, BuiltinFunctionType))
