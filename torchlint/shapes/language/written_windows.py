"""Windows that are written one after the other into a buffer, `self.keys[:, start : start + n] = keys.t()`, and the
first round in which one does not fit between where it begins and the end: nothing that a ring does makes room for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.language.counted_tests import CountedTest, Read, Trail, is_read_only, place_of
from torchlint.shapes.language.program import Frame


class WrittenWindow(CountedTest):
    """Whether a window is cut off by the end of its buffer: asked like a test of what rounds count."""

    __slots__ = ("axis",)
    often = False

    def __init__(self, node: ast.Subscript, axis: int, part: ast.Slice, compile_: Callable[[ast.expr], Read]):
        self.written = place_of(node)
        self.axis = axis
        self.sides = [compile_(side) for side in (node.value, part.lower, part.upper) if side is not None]

    def read(self, frame: Frame) -> tuple | None:
        """Where it begins, where the buffer ends, and how long it is."""
        try:
            buffer, start, stop = [side(frame) for side in self.sides if side is not None]
        except Exception:
            return None
        if not isinstance(buffer, torch.Tensor) or buffer.dim() <= self.axis or type(start) is not type(stop) is int:
            return None
        return start, buffer.shape[self.axis], stop - start

    def holds(self, x: int, divisor: int | None, y: int) -> bool:
        return divisor is not None and 0 <= x < divisor < x + y


def ends_within(trail: Trail, now: int, rounds: int) -> bool:
    """Whether a window is cut off from this round on, and before so many have been run."""
    return isinstance(trail.test, WrittenWindow) and any(number <= rounds for number in trail.turns(now))


def compiled(node: ast.Subscript, compile_: Callable[[ast.expr], Read]) -> WrittenWindow | None:
    """The window of an assignment, if all that says where it is can be read twice."""
    parts: list[Any] = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not all(isinstance(part, ast.Slice) for part in parts) or not is_read_only(node.value):
        return None
    for axis, part in enumerate(parts):
        if part.lower is not None and part.upper is not None and part.step is None:
            if not isinstance(part.lower, ast.Constant) and is_read_only(part.lower) and is_read_only(part.upper):
                return WrittenWindow(node, axis, part, compile_)
    return None
