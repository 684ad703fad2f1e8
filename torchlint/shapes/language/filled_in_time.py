"""Tests of how much there is in a container, where nobody knows.

`if len(memory) < batch: continue`: the rounds of a loop gather enough in time, or what is behind the test would be
there for nothing. `if len(ids) > 40: ids = ids[:40]`, `while len(ids) < 40: ids.append(0)`: what is done changes
nothing where it need not be done.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.counted_tests import Read, is_left_early, is_read_only
from torchlint.shapes.language.cut_short import CONTAINERS, is_open
from torchlint.shapes.language.program import Frame

_MIRRORED: dict[type, type] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_LEAVING = (ast.Continue, ast.Return)


def fills_in_time(node: ast.If, compile_: Callable[[ast.expr], Read]) -> FillingTest | None:
    """The test of a branch that leaves the round while there is too little in a container, or waits for enough."""
    test = node.test
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    compared = test.operand if negated else test
    if not isinstance(compared, ast.Compare) or len(compared.ops) > 1 or type(compared.ops[0]) not in _MIRRORED:
        return None
    held, operator, limit = compared.left, type(compared.ops[0]), compared.comparators[0]
    if _measured(held) is None:
        held, operator, limit = limit, _MIRRORED[operator], held
    measured = _measured(held)
    if measured is None or not is_read_only(limit):
        return None
    has_enough = (operator in (ast.Gt, ast.GtE)) is not negated
    if has_enough and is_left_early(node) or not has_enough and not isinstance(node.body[-1], _LEAVING):
        return None
    least = 0 if operator in (ast.Lt, ast.GtE) else 1  # more than the limit
    return FillingTest(compile_(measured), compile_(limit), least, has_enough)


def fitted_anyway(node: ast.If, test: Callable, body: Callable, orelse: Callable, branch: Callable) -> Callable:
    """`if len(ids) < 40: ids += [0] * (40 - len(ids))`, `else: ids = ids[:40]`: nothing depends on the answer."""
    if not _fits(node):
        return branch

    def fit(frame: Frame) -> Any:
        if type(test(frame)) is not Unknown:
            return branch(frame)
        body(frame)
        return orelse(frame)

    return fit


def _fits(node: ast.If) -> bool:
    """Whether both sides of a branch do what changes nothing on the other side."""
    match node.test:
        case ast.Compare(left=left, ops=[operator], comparators=[limit]) if type(operator) in _MIRRORED:
            is_less = isinstance(operator, (ast.Lt, ast.LtE))
        case _:
            return False
    measured = _measured(left)
    if measured is None:  # `missing > 0`
        is_missing = isinstance(left, ast.Name) and isinstance(limit, ast.Constant) and limit.value == 0
        return (
            is_missing and not is_less and not node.orelse and len(node.body) == 1 and _adds(node.body[0], left, None)
        )
    if not is_read_only(limit):
        return False

    def fits(side: list[ast.stmt], is_less: bool) -> bool:
        if len(side) != 1 or isinstance(side[0], ast.If):
            return not side or len(side) == 1 and isinstance(side[0], ast.If) and _fits(side[0])
        is_short = ast.BinOp(limit, ast.Sub(), ast.Call(ast.Name("len", ast.Load()), [measured], []))
        return _adds(side[0], is_short, measured) if is_less else _cuts(side[0], measured, limit)

    return fits(node.body, is_less) and fits(node.orelse, not is_less)


def _adds(node: ast.stmt, often: ast.expr, owner: ast.expr | None) -> bool:
    """`x = x + [0] * often`, on either side, `x += …` and `x.extend(…)`"""
    match node:
        case ast.Assign(targets=[target], value=ast.BinOp(op=ast.Add(), left=left, right=right)):
            more = right if _is_same(left, target) else left if _is_same(right, target) else None
        case ast.AugAssign(target=target, op=ast.Add(), value=more):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr="extend"), args=[more], keywords=[])):
            pass
        case _:
            return False
    match more:
        case (
            ast.BinOp(op=ast.Mult(), left=ast.List(), right=times)
            | ast.BinOp(op=ast.Mult(), left=times, right=ast.List())
        ):
            return _is_same(times, often) and (owner is None or _is_same(target, owner))
    return False


def _cuts(node: ast.stmt, owner: ast.expr, limit: ast.expr) -> bool:
    """`x = x[:limit]` or `x = x[-limit:]`"""
    match node:
        case ast.Assign(targets=[target], value=ast.Subscript(value=value, slice=ast.Slice(lower, upper, None))):
            is_bound = lower is None and upper is not None and _is_same(upper, limit)
            last = isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) and _is_same(lower.operand, limit)
            return (is_bound or last and upper is None) and _is_same(target, owner) and _is_same(value, owner)
    return False


def _is_same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def padded_in_rounds(
    node: ast.While, compile_: Callable[[ast.expr], Read], store: Callable[[str], Callable], loop: Callable
) -> Callable:
    """`while len(ids) < 40: ids.append(0)`: how long a list is then, also if nobody knows how long it was."""
    match node:
        case ast.While(
            test=ast.Compare(left=ast.Call() as side, ops=[ast.Lt()], comparators=[limit]), body=[single], orelse=[]
        ) if isinstance(measured := _measured(side), ast.Name) and is_read_only(limit):
            item = _one_more(single, measured.id)
        case _:
            return loop
    if item is None:
        return loop
    read, least, more, keep = compile_(measured), compile_(limit), compile_(item), store(measured.id)

    def pad(frame: Frame) -> Any:
        items, enough = read(frame), least(frame)
        if type(enough) is not int or not (type(items) is Unknown or type(items) is list and is_open(items)):
            return loop(frame)
        made = frame.machine.filled_up(items, enough, more(frame))
        if made is None:
            return loop(frame)
        keep(frame, made)
        return None

    return pad


def _one_more(node: ast.stmt, name: str) -> ast.expr | None:
    """`0` of `ids.append(0)`, `ids += [0]` and the like."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="append" | "insert" as method),
                args=[*before, item],
                keywords=[],
            )
        ) if owner == name and len(before) == (method == "insert"):
            return item
        case ast.AugAssign(target=ast.Name(id=owner), op=ast.Add(), value=ast.List(elts=[item])) if owner == name:
            return None if isinstance(item, ast.Starred) else item
    return None


def _measured(side: ast.expr) -> ast.expr | None:
    """`memory` of `len(memory)`"""
    match side:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as measured], keywords=[]):
            return measured if is_read_only(measured) else None
    return None


class FillingTest:
    """`len(memory) < batch`, and how it comes out once there is enough."""

    __slots__ = ("measured", "limit", "least", "answer")

    def __init__(self, measured: Read, limit: Read, least: int, answer: bool):
        self.measured = measured
        self.limit = limit
        self.least = least
        self.answer = answer

    def will_be_enough(self, frame: Frame) -> bool:
        """Whether the loops that run put more and more into what is measured, and there is room for as much."""
        try:
            measured, limit = self.measured(frame), self.limit(frame)
        except Exception:
            return False
        if type(limit) is not int:
            return False
        filled = frame.machine.changes.filled
        return any(
            id(one) in filled and is_open(one) and self._has_room(one, limit + self.least)
            for one in _containers_of(measured, frame)
        )

    def _has_room(self, container: Any, needed: int) -> bool:
        most = container.maxlen if isinstance(container, deque) else None
        return most is None or most >= needed


def _containers_of(measured: Any, frame: Frame) -> list[Any]:
    """A container itself, or those that an object of the program keeps."""
    if isinstance(measured, CONTAINERS):
        return [measured]
    held = getattr(measured, "__dict__", {}) if frame.machine.is_own(measured) else {}
    return [one for one in held.values() if isinstance(one, CONTAINERS)]
