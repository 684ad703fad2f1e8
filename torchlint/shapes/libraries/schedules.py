"""How often a schedule is stepped in all rounds of its loops, of which a few are run: some refuse more than they know.

A step counts for the rounds that are left out if nothing on its way can leave one: it stands right in its loops, and
in functions that are called right in them; or behind a test of what a loop counts, `if (i + 1) % 4 == 0`.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from torch.optim.lr_scheduler import OneCycleLR

from torchlint.shapes.language.counted_tests import Course, answers
from torchlint.shapes.language.program import source_of
from torchlint.shapes.language.touching import text_of
from torchlint.shapes.language.walking import last_word, walk, words_set_in

_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Try, ast.While, ast.Yield, ast.YieldFrom, ast.Await)
_AROUND = (ast.For, ast.With, ast.FunctionDef, ast.ClassDef)
_CALLING = (ast.Expr, ast.Assign, ast.AugAssign)
_ROUNDS = 2  # that must have been alike


Test = tuple[ast.For, ast.expr]


class Schedule:
    """One that has an end: the steps that it made, and those of the rounds that were left out."""

    def __init__(self, scheduler: OneCycleLR, first: int):
        self.scheduler = scheduler
        self.first = first  # where it stood when it was seen first
        self.made = 0
        self.left_out = 0
        self.regular = True
        self.tests: dict[ast.For, ast.expr] = {}  # the test in a loop that says in which of its rounds a step is made
        self.place: Any = None

    @property
    def steps(self) -> int:
        return self.first + self.made + self.left_out


class Schedules:
    """Those of one run, and the loops around their steps."""

    def __init__(self, machine: Any):
        self.machine = machine
        self.seen: dict[int, Schedule] = {}

    @property
    def is_idle(self) -> bool:
        return not self.seen

    def stepped(self, scheduler: OneCycleLR) -> None:
        """One step was made."""
        found = self.seen.setdefault(id(scheduler), Schedule(scheduler, scheduler.last_epoch - 1))
        found.made += 1
        found.place = self.machine.place
        tests = self._tests()
        found.regular &= scheduler.last_epoch == found.first + found.made and tests is not None
        for loop, test in tests or ():
            found.regular &= found.tests.setdefault(loop, test) is test

    def steps(self) -> dict[int, int]:
        """What was counted so far, for each."""
        return {key: one.steps for key, one in self.seen.items()}

    def leave_out(
        self, loop: ast.For | ast.While, rounds: int, before: list[dict[int, int]], courses: dict[Any, Course | None]
    ) -> None:
        """A loop of so many rounds ends before its end; `before` is what was counted at the beginning of each round
        that was run, and `courses` are the answers of its tests in all of them.
        """
        missing = rounds - len(before)
        if len(before) < _ROUNDS or missing <= 0:
            return
        now = self.steps()
        ends = [*before[1:], now]
        for key, one in self.seen.items():
            made = [end.get(key, 0) - start.get(key, one.first) for start, end in zip(before, ends)]
            kinds = set(made)
            test = one.tests.get(loop) if isinstance(loop, ast.For) else None
            said = answers(test, courses, rounds) if test is not None else None
            if not one.regular or test is not None and said is None:
                continue
            if said is not None and kinds == {0, 1}:  # in some of its rounds
                if all(steps == is_chosen for steps, is_chosen in zip(made[:_ROUNDS], said)):
                    one.left_out += max(0, sum(said) - sum(made))
                    self._judge(one)
            elif len(kinds) == 1 and test is None:
                one.left_out += missing * made[0]
                self._judge(one)

    def _judge(self, one: Schedule) -> None:
        most = getattr(one.scheduler, "total_steps", None)
        if type(most) is not int or one.steps <= most:
            return
        place, self.machine.place = self.machine.place, one.place
        one.regular = False
        self.machine.protest(
            ValueError(f"Tried to step {most + 1} times. The specified number of total steps is {most}"),
            f"the schedule is made for {most} steps, and its loops make at least {one.steps}",
        )
        self.machine.place = place

    def _tests(self) -> list[Test] | None:
        """The tests that choose the rounds in which what runs now is done; None if anything else on the way to it may
        leave a loop or be left out in one.
        """
        found: list[Test] = []
        for at in (self.machine.place, *(caller for _, caller in self.machine.stack)):
            tests = _tests_at(at)
            if tests is None:
                return None
            found += tests
        return found


def _tests_at(place: Any) -> list[Test] | None:
    source = source_of(place[0]) if place is not None else None
    if source is None:
        return None
    around = text_of(source.tree).statements_at(place[1].line, place[1].column - 1)
    if around and isinstance(around[0], ast.If) and ast.unparse(around[0].test) == "__name__ == '__main__'":
        around = around[1:]
    is_plain = bool(around) and isinstance(around[-1], _CALLING) and _is_whole(around)
    return _chosen_by(around) if is_plain else None


def _is_whole(around: list[ast.stmt]) -> bool:
    """Whether the loops and functions around a statement run to their ends; a function may return at its end."""
    for one in around:
        if isinstance(one, (ast.For, ast.FunctionDef)):
            leaving = _leaving(one)
            at_end = one.body[-1] if isinstance(one, ast.FunctionDef) else None
            if any(node is not at_end for node in leaving) or getattr(one, "orelse", ()):
                return False
    return True


@lru_cache(256)
def _leaving(node: ast.For | ast.FunctionDef) -> list[ast.AST]:
    return [inner for inner in ast.walk(node) if isinstance(inner, _LEAVING)]


def _chosen_by(around: list[ast.stmt]) -> list[Test] | None:
    """The test right around a statement that is answered otherwise in other rounds of the loop right around that."""
    loops = [one for one in around if isinstance(one, ast.For)]
    found: list[Test] = []
    for position, one in enumerate(around[:-1]):
        if isinstance(one, _AROUND) or isinstance(one, ast.If) and _is_settled(one.test, loops):
            continue
        is_last = position == len(around) - 2 and isinstance(one, ast.If) and around[-1] in one.body
        loop = around[position - 1] if position else None
        if not is_last or not isinstance(loop, ast.For) or not _is_counted(loop, one.test):
            return None
        found.append((loop, one.test))
    return found


@lru_cache(256)
def _is_counted(loop: ast.For, test: ast.expr) -> bool:
    """Whether what a test compares grows by as much in every round: `(i + 1) % 4`, but no `i * i` and no `min(i, 3)`,
    which do so only in the first.
    """
    moving, changed = set(map(_name, walk(loop.target))) - {""}, set()
    for node in walk(*loop.body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            changed.add(node.id)
    for one in loop.body:
        if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and isinstance(one.value, ast.Constant):
            stores = [n for n in walk(*loop.body) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
            if sum(n.id == _name(one.target) for n in stores) == 1:
                changed.discard(_name(one.target))
                moving.add(_name(one.target))
    return changed.isdisjoint(map(_name, walk(test))) and _is_even(test, moving)


def _is_even(node: ast.expr, moving: set[str]) -> bool:
    match node:
        case ast.BoolOp(values=parts):
            return all(_is_even(part, moving) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _is_even(inner, moving)
        case ast.Compare(left=left, comparators=rest):
            return all(_is_even(part, moving) for part in (left, *rest))
        case ast.BinOp(op=ast.Mod(), left=left, right=right):
            return _grows(left, moving) and _stays(right, moving)
    return _grows(node, moving)


def _grows(node: ast.expr, moving: set[str]) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        is_product = isinstance(node.op, ast.Mult)
        if is_product and not _stays(node.left, moving) and not _stays(node.right, moving):
            return False
        return _grows(node.left, moving) and _grows(node.right, moving)
    return isinstance(node, ast.Name) or _stays(node, moving)


def _stays(node: ast.expr, moving: set[str]) -> bool:
    return moving.isdisjoint(map(_name, walk(node)))


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_settled(test: ast.expr, loops: list[ast.For]) -> bool:
    """Whether a test is answered alike in all rounds: `if train:`, which no loop around it gives anew."""
    asked = list(walk(test))
    is_plain = not any(isinstance(node, (ast.Call, ast.Subscript)) for node in asked)
    return is_plain and words_set_in(*loops).isdisjoint(map(last_word, asked))
