"""Tests of what rounds count, `if len(self.history) % 10 == 0`, and the first round that answers one otherwise.

Two rounds of training are like all others until such a test comes out otherwise. What was compared is written down in
each round; where it grows by the same number from round to round, the round can be said, and what the rounds have
counted up to then can be set (`Counters`).
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.shapes.language.leanings import raises
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.walking import children, walk

Read = Callable[[Frame], Any]
Course = Callable[[int], bool]
FARTHEST = 1_000_000  # rounds, where nobody knows how many there are
_TRIED = 5_000  # rounds that are asked one by one whether they are a multiple
_COMPARED = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OPERATORS = (ast.Add, ast.Sub, ast.Mult)
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


class CountedTest:
    """`x % m == y` or `x >= y` in a test: how its sides are read."""

    __slots__ = ("compare", "sides", "written")
    often = True  # whether it is foretold where a round asks it several times

    def __init__(self, node: ast.Compare, compile_: Callable[[ast.expr], Read]):
        self.written = place_of(node)
        self.compare = _COMPARED[type(node.ops[0])]
        left, divisor = node.left, None
        if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            left, divisor = left.left, left.right
        self.sides = [compile_(side) if side is not None else None for side in (left, divisor, node.comparators[0])]

    def read(self, frame: Frame) -> tuple | None:
        """Both sides and the divisor as they are now; None if they are no numbers."""
        try:
            found = [side(frame) if side is not None else None for side in self.sides]
        except Exception:
            return None
        x, divisor, y = found
        are_numbers = type(x) is int and type(y) is int and (divisor is None or type(divisor) is int and divisor > 0)
        return (x, divisor, y) if are_numbers else None

    def holds(self, x: int, divisor: int | None, y: int) -> bool:
        return self.compare(x if divisor is None else x % divisor, y)


class Trail:
    """What was compared in the last rounds of one loop: `(round, sides, how often)`."""

    __slots__ = ("test", "seen", "frame")

    def __init__(self, test: CountedTest):
        self.test = test
        self.seen: list[tuple[int, tuple, int]] = []
        self.frame: Frame | None = None  # where it was asked last

    def note(self, number: int, sides: tuple, frame: Frame) -> None:
        self.frame = frame
        if self.seen and self.seen[-1][0] == number:
            _, first, times = self.seen[-1]
            self.seen[-1] = number, first, times + 1
        else:
            self.seen = [*self.seen[-1:], (number, sides, 1)]

    def course(self) -> Course | None:
        """The answer in each round, by its number, if what is compared grows as it did in the last two."""
        if len(self.seen) < 2:
            return None
        (before, (x0, *rest0), first), (last, (x, divisor, y), times) = self.seen
        if rest0 != [divisor, y] or last != before + 1 or first + times > 2:
            return None
        return lambda number: self.test.holds(x + (x - x0) * (number - last), divisor, y)

    def is_known(self) -> bool:
        """Whether what is compared is still known, after a loop has left open what it may have changed."""
        return self.frame is not None and self.test.read(self.frame) is not None

    def turns(self, now: int) -> Iterator[int]:
        """The first round, from `now` on, whose answer is another one than that of the last two."""
        if len(self.seen) < 2:
            return
        (before, (x0, *rest0), _), (last, (x, divisor, y), times) = self.seen
        if rest0 != [divisor, y] or last != before + 1 or x == x0 or now - last > 1:
            return
        if times > 1 and not self.test.often:
            return
        step, answer = x - x0, self.test.holds(x, divisor, y)
        if self.test.holds(x0, divisor, y) is not answer:
            return
        more = abs(step) if times > 1 else 1  # of loops in this one, each number in between is taken to come
        for number in _candidates(x, step, divisor, y, now - last):
            start = x + step * number
            numbers = range(start, start + (more if step > 0 else -more), 1 if step > 0 else -1)
            if any(self.test.holds(n, divisor, y) is not answer for n in numbers[:_TRIED]):
                yield last + number
                return


def answers(test: ast.expr, courses: dict[Any, Course | None], rounds: int) -> list[bool] | None:
    """How a test comes out in each of so many rounds; None if that is not told by what they count."""
    match test:
        case ast.BoolOp(op=op, values=values):
            each = [answers(value, courses, rounds) for value in values]
            known = [one for one in each if one is not None]
            join = all if isinstance(op, ast.And) else any
            return [join(said) for said in zip(*known)] if len(known) == len(each) else None
        case ast.UnaryOp(op=ast.Not(), operand=operand) if not isinstance(operand, ast.BinOp):
            said = answers(operand, courses, rounds)
            return [not one for one in said] if said is not None else None
    course = courses.get(place_of(test))
    turned = isinstance(test, ast.UnaryOp)  # `not step % 10`, which is written down as what `step % 10` comes to
    return [course(n) is not turned for n in range(1, rounds + 1)] if course and rounds <= _TRIED else None


def place_of(node: ast.expr) -> tuple[int, int]:
    """Where a test is written; of `not step % 10` the part that counts."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return inner.lineno, inner.col_offset


def _candidates(x: int, step: int, divisor: int | None, y: int, first: int) -> Iterator[int]:
    """By how many rounds later an answer may change."""
    if divisor is not None:
        yield from range(first, first + min(divisor + 1, _TRIED))
        return
    distance = (y - x) // step
    yield from (n for n in range(max(first, distance - 1), distance + 3))


def compiled(node: ast.If | ast.While, compile_: Callable[[ast.expr], Read]) -> list[CountedTest]:
    """The tests of numbers that decide a statement; none if what it leads to ends the program."""
    if isinstance(node, ast.If) and raises(node.body):
        return []
    compares = [part for part in parts_of(node.test) if isinstance(part, ast.Compare)]
    return [CountedTest(part, compile_) for part in compares if _is_counted(part)]


def parts_of(test: ast.expr) -> Iterator[ast.expr]:
    """What `and`, `or` and `not` put together in a test."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from parts_of(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from parts_of(test.operand)
    elif isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod):  # `if not step % 10`
        yield ast.copy_location(ast.Compare(test, [ast.NotEq()], [ast.copy_location(ast.Constant(0), test)]), test)
    else:
        yield test


def _is_counted(test: ast.Compare) -> bool:
    if len(test.ops) != 1 or type(test.ops[0]) not in _COMPARED:
        return False
    left, right = test.left, test.comparators[0]
    sides = [left.left, left.right] if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) else [left]
    return all(is_read_only(side) for side in (*sides, right)) and not isinstance(left, ast.Constant)


def is_read_only(node: ast.expr) -> bool:
    """Names, attributes, lengths and sizes of them, and sums: to read them twice changes nothing."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=value):
            return is_read_only(value)
        case ast.BinOp(left=left, op=op, right=right):
            return isinstance(op, _OPERATORS) and is_read_only(left) and is_read_only(right)
        case (
            ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as inner], keywords=[])
            | ast.Call(func=ast.Attribute(value=inner, attr="size"), args=[ast.Constant()], keywords=[])
            | ast.Subscript(value=ast.Attribute(value=inner, attr="shape"), slice=ast.Constant())
        ):
            return is_read_only(inner)
    return False


def is_left_early(node: ast.stmt) -> bool:
    """May a statement end the function or the round, so that what follows it does not always run?"""
    return any(isinstance(part, _JUMPS) for part in walk(node))


def counts(node: ast.AugAssign) -> bool:
    """`self.steps += 1`"""
    return (
        isinstance(node.op, (ast.Add, ast.Sub))
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    )


def counted_names(loop: ast.For | ast.While) -> set[str]:
    """The names that each round of a loop counts up, itself or in loops of its own, and nothing else sets in it."""
    found = set(_counted(loop.body))
    stores = (
        Counter(n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)) if found else {}
    )
    return {name for name in found if stores[name] == 1}


def _counted(body: list[ast.stmt]) -> Iterator[str]:
    if any(map(_leaves_round, body)):
        return
    for statement in body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and counts(statement):
            yield statement.target.id
        elif isinstance(statement, (ast.For, ast.While, ast.With)):
            yield from _counted(statement.body)


def _leaves_round(node: ast.AST) -> bool:
    """The same of a round, which the jumps of a loop in it do not end."""
    if isinstance(node, (ast.For, ast.While)):
        return any(isinstance(part, (ast.Return, ast.Raise)) for part in walk(node))
    return isinstance(node, _JUMPS) or any(map(_leaves_round, children(node)))
