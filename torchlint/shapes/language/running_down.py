"""Loops that make something smaller until it is within a limit, `while len(cache) > capacity`, which nobody knows.

How many rounds there are is a guess, and each has less than the one before it: what fails for want of more fails in a
round that a better limit would not have let begin.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.counted_tests import Read, parts_of
from torchlint.shapes.language.cut_short import CONTAINERS, is_open, loosen
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.walking import last_word, walk

_OF_NUMBERS = frozenset(function.__name__ for function in (len, min, max, sum, abs, int, float))
_ASKING = _OF_NUMBERS | {"size", "numel", "values", "keys", "items", "total_seconds", "qsize"}
_NUMBERS = (int, float)


class FallingSides:
    """What the test of a loop wants to become smaller, for one run of the loop."""

    __slots__ = ("sides", "frame", "before")

    def __init__(self, sides: list[FallingSide], frame: Frame):
        self.sides = sides
        self.frame = frame
        self.before: list[Any] = []  # what was left when the last round began

    def come_nearer(self) -> bool:
        """Whether the last round has left less than there was: the next one may be one too many."""
        before, self.before = self.before, [side.left(self.frame) for side in self.sides]
        pairs = [(old, new) for old, new in zip(before, self.before) if old is not None and new is not None]
        return any(new < old for old, new in pairs)

    def leave_more(self) -> None:
        """A round begins or ends that nobody knows of: had there been nothing to take, it would not have begun."""
        for side in self.sides:
            for container in side.containers(self.frame):
                if isinstance(container, CONTAINERS) and not container and not is_open(container):
                    loosen(container)


class FallingSide:
    """One side of a comparison, and the limit on the other one: how they are read, and the containers of the side."""

    __slots__ = ("read", "limit", "held")

    def __init__(self, side: ast.expr, limit: ast.expr, compile_: Callable[[ast.expr], Read]):
        self.read, self.limit = compile_(side), compile_(limit)
        self.held = [compile_(part) for part in walk(side) if isinstance(part, (ast.Name, ast.Attribute))]

    def left(self, frame: Frame) -> int | float | None:
        """The number that is to become smaller; None if it is not known, or the limit is."""
        try:
            number, limit = self.read(frame), self.limit(frame)
        except Exception:
            return None
        return number if type(number) in _NUMBERS and type(limit) is Unknown else None

    def containers(self, frame: Frame) -> Iterator[Any]:
        for read in self.held:
            try:
                yield read(frame)
            except Exception:  # it was asked for without a need
                continue


def limited(loop: ast.While, compile_: Callable[[ast.expr], Read]) -> list[FallingSide]:
    """The sides of the comparisons in its test that are to become smaller, where reading them again changes nothing."""
    return [
        FallingSide(side, limit, compile_)
        for part in parts_of(loop.test)
        if isinstance(part, ast.Compare) and len(part.ops) == 1
        for side, limit in _falling(part)
        if _only_asks(side) and _only_asks(limit)
    ]


def _falling(test: ast.Compare) -> list[tuple[ast.expr, ast.expr]]:
    left, right = test.left, test.comparators[0]
    match test.ops[0]:
        case ast.Gt() | ast.GtE():
            return [(left, right)]
        case ast.Lt() | ast.LtE():
            return [(right, left)]
        case ast.NotEq():
            return [(left, right), (right, left)]
    return []


def _only_asks(side: ast.expr) -> bool:
    calls = (part for part in walk(side) if isinstance(part, (ast.Call, ast.NamedExpr, ast.Await, ast.Yield)))
    return all(isinstance(call, ast.Call) and last_word(call.func) in _ASKING for call in calls)
