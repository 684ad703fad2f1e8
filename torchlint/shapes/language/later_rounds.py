"""How many rounds a loop has, and which of a training loop do what its first two did not: `if epoch >= warmup`.

A loop that trains is cut after two rounds, and then those few are run in which a test of its counter is answered
otherwise: `if (epoch + 1) % 5 == 0`. Only tests are looked at that are told by the counter and by what the rounds
leave as it is. Where there are none and the counter is handed on, the last round is run; of a few settings that are
tried one after the other, two more, and all of those of which each builds a model anew.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import torch

from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language.counters import Counters
from torchlint.shapes.language.cut_short import VIEWS, Rounds, is_open, may_be_alike, rounds_of
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.walking import children, last_word, walk, words_set_in
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

_LISTED = (list, tuple, dict, *VIEWS)
_PLAIN_FIELDS = {int, float, str, bool, tuple, type(None)}
_SAME_LENGTH = ("enumerate", "tqdm")
MOST = 2  # rounds that are run for it
SETTINGS = 6  # the same where each round builds what it trains
BATCHES = 48  # of an iterator that are asked for to see the last one
_SIDES = (ast.Name, ast.Attribute, ast.Constant)
_PLAIN = (ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Set, *_SIDES)
_LOOPS = (ast.For, ast.While)
_EACH_ROW = frozenset({"real", "rest", "lengths", "rows"})  # what is known of the numbers in each row of a tensor
_ELSEWHERE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Read = Callable[[Frame], Any]


class LaterRounds:
    """The rounds of one loop that are run besides the first two. What they depend on is compiled when the loop is cut
    for the first time: most loops never are.
    """

    def __init__(self, node: ast.For | ast.While, compile_: Callable[[ast.expr], Read]):
        self.node = node
        self.compile = compile_

    @cached_property
    def counter(self) -> str:
        """The name that counts the rounds, if one does."""
        return last_word(self.node.target)

    @cached_property
    def may_end(self) -> bool:
        return any(_leaves(self.node))

    @cached_property
    def tests(self) -> list[ast.expr]:
        changed = words_set_in(self.node) - {self.counter}
        return [test for test in _tests(self.node.body) if _is_told_by(test, self.counter, changed)]

    @cached_property
    def asked(self) -> list[Read]:
        return [self.compile(test) for test in self.tests]

    @cached_property
    def sides(self) -> list[Read]:
        """What the counter may be compared with."""
        sides = [side for test in self.tests for side in walk(test) if isinstance(side, _SIDES)]
        return [self.compile(side) for side in sides if last_word(side) != self.counter]

    @cached_property
    def hands_on(self) -> bool:
        """Whether what a round does may depend on its number: `step(epoch)`, `x[i : i + 16]`."""
        return any(_hands_on(node, self.counter) for node in walk(*self.node.body))

    def turn(
        self,
        frame: Frame,
        rounds: Rounds,
        items: Any,
        third: Any,
        total: int | None,
        target: Callable[[Frame, Any], None],
        body: Callable[[Frame], Any],
    ) -> int | None:
        """Run the round in which what is counted answers a test otherwise, with all that is counted as it is then. Its
        number, if it ran.
        """
        turn = None if self.may_end else rounds.turn(total)
        if turn is None:
            return None
        number, trail = turn
        if any(earlier < number - 1 for earlier in self._otherwise(frame, items, None, target)):
            return None  # in their order
        counters = Counters(rounds)
        rounds.leave_open(like_the_last=True)
        counters.go_on(number - rounds.count)
        target(frame, self._item(items, third, number, number - rounds.count))
        if not trail.is_known() or not rounds.affordable():
            return None
        body(frame)
        rounds.skipped()
        return number

    def grow(
        self,
        frame: Frame,
        rounds: Rounds,
        items: Any,
        item: Any,
        total: int | None,
        target: Callable[[Frame, Any], None],
        body: Callable[[Frame], Any],
    ) -> bool:
        """Run the last round of a loop that makes tensors longer, `ids = torch.cat([ids, token])`, with these as they
        are then; whether that could be told.
        """
        growth, number = rounds.growth, rounds.count
        steps = growth.steps()
        if not steps or total is None or total < number or self.may_end or rounds.has_decided() or rounds.turn(total):
            return False
        counters, later = Counters(rounds), total - rounds.marked
        rounds.leave_open(like_the_last=True)
        counters.go_on(later)
        growth.go_on(frame.vars, total - number)
        if rounds.affordable():
            growth.note(frame.vars)
            target(frame, self._item(items, item, total, total - number))
            body(frame)
            was = growth.seen[-1]
            growth.note(frame.vars)
            for name, (dimension, step) in steps.items():
                now = growth.seen[-1][name]
                if not isinstance(now, torch.Tensor) or now.shape[dimension] != was[name].shape[dimension] + step:
                    rounds.leave_open(like_the_last=False)  # the rounds between may have made less or more of it
        return True

    def end(self, rounds: Rounds, total: int | None) -> None:
        """What a loop leaves that was cut: open, but for what its rounds count."""
        counters = (
            None if total is None or self.may_end or rounds.has_decided() or rounds.turn(total) else Counters(rounds)
        )
        rounds.rest_of(total)
        rounds.leave_open(like_the_last=True)
        if counters is not None and total is not None:
            counters.go_on(total - rounds.count + 1)

    def any_item(self, items: Any, item: Any) -> Any:
        """What stands for the items of all rounds that cost too much, where `item` comes next: the rows of a tensor are
        all alike, and a range holds whole numbers. Nothing is known of other items.
        """
        items = vars(items).get("items") if isinstance(items, StandIn) else items
        rows = items.tensor if isinstance(items, Array) else items
        if isinstance(rows, torch.Tensor) and not _EACH_ROW & rows.untyped_storage().__dict__.keys():
            return item
        return wild.unknown("an item of a later round", wild.WHOLE if type(items) is range else None)

    def _item(self, items: Any, third: Any, number: int, later: int) -> Any:
        """The item of a round, as far as it is known: that of the third stands for it, but for a number of its own."""
        if isinstance(items, StandIn):
            items = vars(items).get("items")
        if type(items) is range or type(items) in (list, tuple) and not is_open(items):
            return items[number - 1] if number <= len(items) else third
        is_numbered = type(third) is tuple and len(third) == 2 and type(third[0]) is int
        if is_numbered and any(last_word(getattr(n, "func", None)) == "enumerate" for n in walk(self.node.iter)):
            return third[0] + later, third[1]
        return third

    def among(
        self, frame: Frame, items: Any, third: Any, turn: int | None, builds: bool, count: Callable[[Frame, Any], None]
    ) -> list[Any]:
        """Their items, in their order; `count` sets the counter. The first that did not run is the `third`, that of the
        round `turn` has run, and a round `builds` modules or does not.
        """
        if self.may_end:
            return []
        whole = _range_in(items)
        if len(whole) < 3 or not isinstance(self.node.target, ast.Name):
            items = vars(items).get("items") if isinstance(items, StandIn) else items  # of a progress bar
            return _other_settings(items, third, builds) or _last_batch(frame, items, third)
        found = [whole[place] for place in self._otherwise(frame, items, turn, count)]
        return found or [whole[-1]] * (self.hands_on and turn != len(whole))

    def _otherwise(self, frame: Frame, items: Any, turn: int | None, count: Callable[[Frame, Any], None]) -> list[int]:
        """The places of the first numbers for which a test is answered as in none of the rounds before."""
        whole = _range_in(items)
        if len(whole) < 3 or not isinstance(self.node.target, ast.Name):
            return []
        numbers = {number for side in self.sides for number in _numbers(_value(side, frame))}
        turned = whole[turn - 1 : turn] if turn is not None else ()  # once more a period later: `if epoch % 4 == 3`
        near = {n + by for n in numbers for by in (-1, 0, 1)} | {item + n for item in turned for n in numbers}
        wanted = sorted({whole[-1], *near} - {*whole[:2], *turned}, reverse=whole.step < 0)
        answers = {}
        for item in (*whole[:2], *(n for n in wanted if n in whole)):
            count(frame, item)
            answers[item] = [_value(test, frame) for test in self.asked]
        known = {(i, truth) for item in whole[:2] for i, truth in enumerate(answers.pop(item))}
        found = []
        for item, said in answers.items():
            new = {(i, truth) for i, truth in enumerate(said) if type(truth) is bool} - known
            if new and len(found) < MOST:
                found.append(whole.index(item))
                known |= new
        return found


def _range_in(items: Any) -> range:
    """The numbers that a loop goes through, behind a progress bar too; none where it goes through other things."""
    items = vars(items).get("items") if isinstance(items, StandIn) else items
    return items if type(items) is range else range(0)


def _numbers(value: Any) -> list[int]:
    """What a counter may be compared with: a number, or one of a few."""
    few = value[:BATCHES] if type(value) in (list, tuple) and not is_open(value) else [value]
    return [number for number in few if type(number) is int]


def _other_settings(items: Any, third: Any, builds: bool) -> list[Any]:
    """The third and the fourth of a few things by which trainings differ: names, settings, pairs of them."""
    if not _is_setting(third, builds):
        return []  # a batch: what makes the next ones is left alone
    most = SETTINGS if builds else MOST
    if isinstance(items, Iterator):
        listed = [third, *itertools.islice(items, 2 * most)]
    elif type(items) in _LISTED and not is_open(items):
        listed = list(items)[2:]
    else:
        return []
    few = len(listed) <= 2 * most
    return listed[:most] if few and all(_is_setting(item, builds) for item in listed) else []


def _last_batch(frame: Frame, items: Any, third: Any) -> list[Any]:
    """The last item, where it is smaller than the others: `x.split(16)`, a generator that cuts its data into pieces."""
    if isinstance(items, Iterator):
        last = _last_of(items, third, frame.machine.budget)
    else:
        last = items[-1] if type(items) in (list, tuple) and items and not is_open(items) else None
    if last is None or type(last) is Unknown or last is not third and may_be_alike(last, third):
        return []
    return [last]


def _last_of(items: Iterator, last: Any, budget: Budget) -> Any:
    """What an iterator gives last; None if that takes long."""
    limit = budget.used + (budget.steps - budget.used) // 8
    try:
        for item in itertools.islice(items, BATCHES):
            last = item
            if budget.used > limit:
                return None
        return last if next(items, None) is None else None
    except UnknownUsed:
        return None


def _is_setting(item: Any, builds: bool) -> bool:
    """Where a round builds, numbers are settings too, but not the number that stands before a part of the data."""
    if type(item) is tuple:
        return any(_is_setting(part, False) for part in item) or builds and all(_is_setting(p, True) for p in item)
    if type(item) is list:
        return 0 < len(item) <= BATCHES and all(_is_setting(part, builds) for part in item)
    return type(item) in (str, dict) or builds and type(item) in (int, float) or _is_record(item)


def _is_record(item: Any) -> bool:
    """`Stage(width=8, rounds=2)`: an object of the program that says how, and holds no data."""
    fields = () if isinstance(item, StandIn) else getattr(item, "__dict__", None)
    return type(fields) is dict and 0 < len(fields) <= BATCHES and {type(v) for v in fields.values()} <= _PLAIN_FIELDS


def _value(read: Read, frame: Frame) -> Any:
    try:
        return read(frame)
    except Exception as error:
        return Unknown(str(error))


def _tests(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for node in _own(body):
        if isinstance(node, (ast.If, ast.IfExp)):
            yield node.test
        elif isinstance(node, ast.Compare):
            yield node


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in some statements, but for functions and classes."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        yield node
        todo += () if isinstance(node, _ELSEWHERE) else children(node)


def _hands_on(call: ast.AST, counter: str) -> bool:
    """Does a call give the counter to what may ask it, not `print(epoch)`, or is it where data are cut?"""
    if isinstance(call, ast.Slice):
        return any(isinstance(n, ast.Name) and n.id == counter for n in walk(call))
    if not isinstance(call, ast.Call) or isinstance(call.func, ast.Name) and call.func.id in vars(builtins):
        return False
    return any(isinstance(a, ast.Name) and a.id == counter for a in (*call.args, *(k.value for k in call.keywords)))


def _is_told_by(test: ast.expr, counter: str, changed: set[str]) -> bool:
    parts = list(walk(test))
    words = set(map(last_word, parts))
    return counter in words and not words & changed and all(isinstance(part, _PLAIN) for part in parts)


def _leaves(loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """What may end the loop before: nobody knows whether it comes to its later rounds."""
    ended = {id(n) for one in _own(loop.body) if isinstance(one, _LOOPS) for n in _own(one.body)}
    for node in _own(loop.body):
        if isinstance(node, ast.Return) or isinstance(node, ast.Break) and id(node) not in ended:
            yield node


def trains_in_some_rounds(node: ast.For) -> bool:
    """`if (number + 1) % 4 == 0: optimizer.step()`"""
    return any(
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("step", "backward")
        for branch in ast.walk(node)
        if isinstance(branch, ast.If)
        and any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(branch.test))
        for statement in branch.body
        for call in ast.walk(statement)
    )


def number_of_rounds(iterated: ast.expr, compile_: Callable[[ast.expr], Read]) -> Callable[[Frame, Any], int | None]:
    """How many rounds a loop has over what was evaluated; `enumerate(loader)` has as many as the loader."""
    inner = iterated.args[0] if isinstance(iterated, ast.Call) and len(iterated.args) in (1, 2) else None
    named = isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id in _SAME_LENGTH
    asked = compile_(inner) if named and isinstance(inner, ast.Name) else None
    return lambda frame, items: rounds_of(items if asked is None else asked(frame))
