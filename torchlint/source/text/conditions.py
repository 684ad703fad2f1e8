"""What has to hold for a line to run: the branches it stands in, and the ways out before it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from torchlint.source.text.index import DEFINITIONS

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEEPEST = 100  # blocks in each other: what is deeper stands in a chain of `elif`, which may be as long as the file
_MOST_BEFORE = 10  # statements of a block before a line: it may be as long as the file


class Condition(NamedTuple):
    """What a test has to be, in the definitions around it, from without to within. Those of an `if` and all its `elif`
    are asked at once, and are known by its line.
    """

    test: ast.expr
    wanted: bool
    around: tuple[Definition, ...]
    first: int


def conditions(tree: ast.Module, line: int) -> Iterator[Condition]:
    """Those of a line; each may be asked for by itself."""
    first, outer = 0, None
    for block, at, around in _blocks(tree, line):
        for before in block[max(0, at - _MOST_BEFORE) : at]:
            yield from (Condition(*left, around, before.lineno) for left in _ways_out(before))
        inside = block[at]
        if not (isinstance(outer, ast.If) and block is outer.orelse and len(block) == 1):
            first = inside.lineno
        if isinstance(inside, ast.If) and (wanted := _branch(inside, line)) is not None:
            yield Condition(inside.test, wanted, around, first)
        outer = inside


def blocks(tree: ast.Module, line: int) -> Iterator[tuple[list[ast.stmt], int]]:
    """The blocks around a line, from without to within, with the place of the statement that has it."""
    return ((block, at) for block, at, _ in _blocks(tree, line))


def around_line(tree: ast.Module, line: int) -> tuple[Definition, ...]:
    """The definitions a line stands in, from without to within."""
    found: tuple[Definition, ...] = ()
    for block, at, around in _blocks(tree, line):
        inside = block[at]
        found = (*around, inside) if isinstance(inside, DEFINITIONS) and line >= inside.body[0].lineno else around
    return found


def parts(test: ast.expr, wanted: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What has to hold of a test, each by itself: of both of `a and b`, if it has to be true."""
    left = [(test, wanted)]
    while left:
        test, wanted = left.pop()
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            left.append((test.operand, not wanted))
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if wanted else ast.Or):
            left += [(value, wanted) for value in test.values]
        else:
            yield test, wanted


def _blocks(tree: ast.Module, line: int) -> Iterator[tuple[list[ast.stmt], int, tuple[Definition, ...]]]:
    """The blocks around a line, from without to within, with the place of the statement that has it."""
    block: list[ast.stmt] | None = tree.body
    around: tuple[Definition, ...] = ()
    for _ in range(_DEEPEST):
        if not block or (at := _at(block, line)) < 0:
            return
        inside = block[at]
        yield block, at, around
        around = (*around, inside) if isinstance(inside, DEFINITIONS) else around
        inner = [getattr(inside, held, []) for held in ("body", "orelse", "finalbody")]
        inner += [_part_at(getattr(inside, held, []), line) for held in ("handlers", "cases")]
        block = next((held for held in inner if _at(held, line) >= 0), None)


def _at(block: list[ast.stmt], line: int) -> int:
    """The place of the statement of a block that has a line: asked of each finding, in blocks of any length."""
    at = bisect_right(block, line, key=attrgetter("lineno")) - 1
    return at if at >= 0 and line <= (block[at].end_lineno or 0) else -1


def _part_at(parts: list[ast.ExceptHandler] | list[ast.match_case], line: int) -> list[ast.stmt]:
    """The block of the handler or case that may have a line; there may be as many of them as well."""
    at = bisect_right(parts, line, key=lambda part: getattr(part, "pattern", part).lineno) - 1
    return parts[at].body if at >= 0 else []


def _branch(node: ast.If, line: int) -> bool | None:
    """The branch a line is in: that where the test holds, or the other one."""
    if node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
        return True
    return False if node.orelse and line >= node.orelse[0].lineno else None


def _ways_out(node: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """What has to be of a test for what stands behind a statement to run: where the last `else` leaves, one of those
    whose branches go on.
    """
    going_on: list[ast.expr] = []
    for _ in range(_MOST_BEFORE):
        if not isinstance(node, ast.If):
            return
        if not isinstance(node.body[-1], _LEAVING):
            going_on.append(node.test)
        elif not going_on:
            yield node.test, False
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            continue
        if going_on and node.orelse and isinstance(node.orelse[-1], _LEAVING):
            yield (going_on[0] if len(going_on) == 1 else ast.BoolOp(ast.Or(), going_on)), True
        return
