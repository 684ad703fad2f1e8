"""Tests of how much the rounds of a loop have gathered, `if len(memory) < batch: continue`, where nobody knows how many
rounds there were: it is enough in time, or what is behind the test would be there for nothing.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

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
