"""Loops that end before they would: when their rounds have said enough, and what nobody knows after them.

Two rounds of training say all there is to say about shapes, and any loop that has taken most of the steps there were is
cut. What a cut loop leaves behind must not be believed: numbers that changed from round to round, tensors that changed
their shape, containers that grew. These become unknown, or hold an unknown that stands for all the items that are
missing.
"""

from __future__ import annotations

import ast
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from types import ModuleType, NoneType
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import work
from torchlint.shapes.core.doubts import Doubt
from torchlint.shapes.core.module_tables import TABLES
from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.language.counted_in_branches import leave_counters_open
from torchlint.shapes.language.counted_tests import FARTHEST, CountedTest, Course, Trail
from torchlint.shapes.language.counters import RoundBegins
from torchlint.shapes.language.found_in_rounds import (
    found_in_a_round,
    given_by_rounds,
    made_of_themselves,
    of_any_round,
)
from torchlint.shapes.language.growing import Growth
from torchlint.shapes.language.lengths import Lengths
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.rates import Rates
from torchlint.shapes.language.walking import last_word
from torchlint.shapes.language.written_windows import ends_within
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.ranges import FACTS
from torchlint.shapes.tensors.wild import is_truth, kind_among, unknown

MORE = "there would be more items, of rounds that were not run"
REST = Unknown(MORE)  # stands in a container for the items that are missing
FILLING = frozenset("append appendleft extend extendleft insert add".split())
CHANGING = FILLING | set("pop popleft popitem remove clear discard update setdefault".split())
_COUNTS = frozenset({"range", "trange", "count"})
NAMING = frozenset("setattr add_module register_module register_buffer register_parameter".split())
_OVERWRITTEN = "it may have been set under an unknown name"
ENOUGH = 3
IMPORTED = 8_000  # steps that a loop takes while a file is imported: it fills a table, of which the rest is open then
_SHORT = 64  # items of a list that are looked at when one is asked for
PERIOD = 16  # rounds in which an optimizer may make two steps, and a buffer may be filled
NUMBERS = (int, float, bool, type(None))
CONTAINERS = (list, dict, set, deque)
VIEWS = tuple(type(view) for view in ({}.keys(), {}.values(), {}.items()))
LAYERS = (nn.ModuleList, nn.Sequential, nn.ModuleDict)

Name = tuple[Callable[[Frame], Any], Callable[[Frame, Any], None]]  # how a name is read and set


class Changes:
    """What the loops that run just now have changed, for the part of the machine that changes things."""

    def __init__(self):
        self.loops = 0  # how many run within each other
        self.containers: list[Any] = []
        self.items: list[list | dict] = []  # of which any item may have been set
        self.fields: list[tuple[Any, Any, Any]] = []  # attributes, globals, items: of what, by name, with each value
        self.rates = Rates()
        self.counting: set[int] = set()  # which of these were counted up, wherever the function comes to its end
        self.growing: set[int] = set()  # and which containers got an item that way
        self.filled: dict[int, Any] = {}  # the containers that got items, by identity
        self.written: list[Any] = []  # tensors whose numbers were known
        self.early = False  # whether the source that was read last ended before it would
        self.last = False  # whether what was read last is the last batch, which no other is like
        self.running: list[Rounds] = []  # the loops, the innermost last
        self.cut = False  # whether any loop was: from then on containers may hold less than they would
        self.missed = 0  # how often something was not run that would be, or in another order: it may draw numbers
        self.lends = 0  # how often that was code that nobody knows
        self.graphs_in_turn = True  # whether no graph was made before what a program does between its parts
        self.lengths = Lengths()
        self.built = False  # whether layers or states may have been made, or changed, in what did not run

    def call(self, function: Any) -> None:
        """A method of a container may change it."""
        owner = getattr(function, "__self__", None)
        if type(owner) in _NO_CONTAINERS:
            return
        name = getattr(function, "__name__", "")
        if isinstance(owner, CONTAINERS) and name in CHANGING:
            self.containers.append(owner)
            if name in FILLING and self.loops:
                self.filled[id(owner)] = owner
            if name == "update" and isinstance(owner, dict):
                self.items.append(owner)  # whichever of those it has
        elif isinstance(owner, LAYERS) and (name in CHANGING or name == "add_module"):
            self.containers.append(owner)

    def put(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key] = value`: a dict may grow, and an item may be another one after more rounds."""
        if isinstance(owner, dict):
            if key not in owner:
                self.containers.append(owner)
            if not isinstance(value, nn.Module):
                self.fields.append((owner, key, value))
        elif isinstance(owner, list):
            self.items.append(owner)

    def operate(self, apply: Callable, owner: Any) -> None:
        """`items += more`"""
        if apply is operator.iadd and isinstance(owner, CONTAINERS):
            self.containers.append(owner)

    def miss(self) -> None:
        """Something of which nobody knows what it makes was not run."""
        self.cut = self.built = True
        self.missed += 1

    def give_at_once(self, items: list) -> None:
        """A generator has run to its end, and not in turn with what takes its items: a step of an optimizer between
        two of them comes after both.
        """
        self.missed += 1
        parts = [part for item in items for part in (item if isinstance(item, (tuple, list)) else (item,))]
        if len(items) > 1 and any(isinstance(part, torch.Tensor) and part.requires_grad for part in parts):
            self.graphs_in_turn = False

    def miss_items(self, made: Iterable) -> None:
        """More items of a comprehension were not made: they build something only if those do that were."""
        values = made.values() if isinstance(made, dict) else made
        self.cut = True
        self.missed += 1
        self.built = self.built or any(isinstance(value, (nn.Module, nn.Parameter)) for value in values)

    def asked_somewhere(self, container: dict) -> None:
        """A dict is asked for an unknown key: one that makes what it lacks has got it."""
        if getattr(container, "default_factory", None) is not None:
            self.loosen(container)

    def loosen(self, container: Any) -> None:
        """A container holds more than is known: it is filled under unknown names, or by a function never called."""
        self.miss()
        self.lengths.forget(container)
        if not is_open(container):
            loosen(container)

    def overwrite(self, container: Any, value: Any, but: Container[Any] = ()) -> None:
        """Something is set in a dict or a list under a name that nobody knows: it may be any of those it has, `but`
        some.
        """
        items = dict.items(container) if isinstance(container, dict) else enumerate(container)
        kind = kind_among((value,))
        for place, old in list(items):
            if type(old) is Unknown and old.known in (None, kind) and old.reason == _OVERWRITTEN:
                continue  # registries are filled under one unknown name after the other
            if place not in but and (
                type(value) is Unknown or type(old) is type(value) and not may_be_alike(old, value)
            ):
                container[place] = unknown(_OVERWRITTEN, kind_among((old, value)))

    def write(self, tensors: list[torch.Tensor]) -> None:
        """Tensors of which some numbers are known are written to in place."""
        if self.loops:
            self.written += [tensor.untyped_storage() for tensor in tensors]

    def recursion(self, args: tuple) -> Unknown:
        """A function is not called once more; what it was given to fill may get more."""
        for container in args:
            if isinstance(container, CONTAINERS):
                self.loosen(container)
        return Unknown("a function calls itself, and nobody knows how often")

    def short(self, items: Iterable) -> Iterator:
        """Items of a source that would have more."""
        yield from items
        self.early = True

    def ask(self, tests: list[CountedTest], frame: Frame) -> None:
        """Write down what tests of numbers compare, in all loops that run."""
        for test in tests:
            sides = test.read(frame)
            for loop in self.running if sides is not None else ():
                if loop.frame.machine is frame.machine:
                    loop.trails.setdefault(test, Trail(test)).note(loop.count, sides, frame)

    def waits(self) -> bool:
        """Whether the innermost loop makes a step of an optimizer in some rounds only, or fills up a buffer."""
        return bool(self.running) and self.running[-1].waits()

    def begins(self, frame: Frame) -> bool:
        """Whether the innermost loop of a function of a script is in its first round: it has a second one to say what
        follows from the first.
        """
        machine, loop = frame.machine, self.running[-1] if self.running else None
        return (
            loop is not None and loop.frame is frame and loop.count == 1 and machine.scripting and not machine.modules
        )

    def has_second_round(self, ends: Any) -> bool:
        """Whether the innermost loop does the same again and again until some numbers say that it `ends`: if they said
        so in its first round each time, it would be none.
        """
        loop = self.running[-1].node
        alike = isinstance(loop, ast.While) or isinstance(loop.iter, ast.Call) and last_word(loop.iter.func) in _COUNTS
        return alike and (is_truth(ends) or isinstance(ends, (torch.Tensor, Array)))


class Rounds:
    """The rounds of one loop while it runs."""

    __slots__ = (
        "node",
        "frame",
        "names",
        "filled",
        "changes",
        "budget",
        "began",
        "limit",
        "early",
        "worth",
        "evaluations",
        "updates",
        "decisions",
        "count",
        "before",
        "first",
        "containers",
        "items",
        "fields",
        "written",
        "stepped",
        "periodic",
        "steps",
        "counted",
        "counters",
        "marks",
        "trails",
        "courses",
        "growth",
        "marked",
    )

    def __init__(
        self,
        node: ast.For | ast.While,
        frame: Frame,
        names: list[Name],
        filled: list[Callable[[Frame], list[Any]]],
        periodic: bool = False,
        counters: Sequence[Name] = (),
    ):
        machine = frame.machine
        self.node = node
        self.frame = frame
        self.names = names
        self.filled = filled  # how containers are read that a round may change, behind a condition too
        self.changes = machine.changes
        self.budget = machine.budget
        left = self.budget.steps - self.budget.used
        self.began = self.budget.used
        self.limit = self.budget.used + left * 3 // 4
        self.early = self.budget.used + left // (4 if not machine.modules else 1)
        if machine.importing:
            around = [loop.early for loop in machine.changes.running[-1:] if loop.budget is self.budget]
            self.early = min(self.early, self.budget.used + IMPORTED, *around)
        self.worth = work.used + max(0, work.open_to_worlds - work.used) // 4
        self.evaluations = machine.evaluations
        self.updates = machine.updates
        self.decisions = machine.decisions
        self.periodic = periodic  # whether some rounds train, and others do not
        self.steps = machine.progress.steps
        self.counted: list[dict[int, int]] = []  # the steps of schedules at the beginning of each round
        self.count = 0
        self.before = self._values()
        self.first: list[Any] | None = None
        self.containers = len(self.changes.containers)
        self.items = len(self.changes.items)
        self.fields = len(self.changes.fields)
        self.written = len(self.changes.written)
        self.stepped = len(self.changes.rates.stepped)
        self.counters = counters  # how names are read and set with which the loop counts
        self.marks: list[RoundBegins] = []  # of the last three rounds, as they begin
        self.trails: dict[CountedTest, Trail] = {}
        self.growth = Growth(node)
        self.marked = 0  # the round whose beginning was marked last
        self.courses: dict[Any, Course | None] = {}  # how tests of what is counted come out in later rounds

    def __enter__(self) -> Rounds:
        self.changes.loops += 1
        self.changes.early = False
        self.changes.running.append(self)
        return self

    def __exit__(self, *error) -> None:
        self.changes.loops -= 1
        self.changes.early = False
        self.changes.running.pop()
        if not self.changes.loops:
            self.changes.containers.clear()
            self.changes.items.clear()
            self.changes.fields.clear()
            self.changes.counting.clear()
            self.changes.growing.clear()
            self.changes.filled.clear()
            self.changes.written.clear()
            self.changes.rates.stepped.clear()

    def trained(self) -> bool:
        """Count a round; whether two rounds have trained something before it, and this one has nothing new."""
        self.count += 1
        self.changes.early = False
        self.counted.append(self.frame.machine.schedules.steps())
        last, self.changes.last = self.changes.last, False
        if self.count == 2:
            self.first = self._values()
        self.growth.note(self.frame.vars)
        trains = self.frame.machine.updates > self.updates
        if self.count < 4 or trains:
            self.marked = self.count
            values = [read(self.frame) for read, _ in self.counters]
            self.marks.append(RoundBegins(values, len(self.changes.fields), len(self.changes.containers)))
            del self.marks[:-3]
        is_enough = self.count > 2 and trains and not last and not self.waits()
        if is_enough:
            self._foresee()
        return is_enough

    def _foresee(self) -> None:
        if not self.courses and not self.frame.machine.schedules.is_idle:
            self.courses = {test.written: trail.course() for test, trail in self.trails.items()}

    def skipped(self) -> None:
        """Count a round that was run after some that were not."""
        self.counted.append(self.frame.machine.schedules.steps())

    def waits(self) -> bool:
        """Whether the optimizer makes its step in some rounds only, and has not made two; or what a round writes into a
        buffer will not fit in before its end.
        """
        steps = self.periodic and self.frame.machine.progress.steps < self.steps + 2
        return self.count <= PERIOD and (steps or any(ends_within(t, self.count, PERIOD) for t in self.trails.values()))

    def whole_number(self, tests: list[CountedTest]) -> int | None:
        """How many rounds the tests of `while` let begin, if that is counted."""
        trails = [self.trails.pop(test) for test in tests if test in self.trails]
        return min((number for trail in trails for number in trail.turns(self.count)), default=None)

    def turn(self, rounds: int | None) -> tuple[int, Trail] | None:
        """The first round, from this one on, in which a test of what is counted comes out otherwise than before."""
        last = FARTHEST if rounds is None else rounds
        found = [(number, trail) for trail in self.trails.values() for number in trail.turns(self.count)]
        return min((turn for turn in found if turn[0] <= last), key=itemgetter(0), default=None)

    def rest_of(self, rounds: int | None) -> None:
        """The loop would have so many rounds; those that ran are the ones that `trained` let begin."""
        if rounds is not None and not self.frame.machine.schedules.is_idle:
            began = self.counted if self.changes.early else self.counted[:-1]
            self._foresee()
            self.frame.machine.schedules.leave_out(self.node, rounds, began, self.courses)

    def expensive(self) -> bool:
        """Whether the rounds so far took most of the steps that there were; outside a forward, where a loop's rounds
        are alike, a quarter; or the same of the work that may be done in several worlds.
        """
        used, machine = self.budget.used, self.frame.machine
        worlds = machine.evaluations > self.evaluations and not machine.modules
        many = self.count >= ENOUGH and (used > self.early or worlds and work.used > self.worth)
        return many or used > self.limit

    def affordable(self) -> bool:
        """Whether there are steps for one more round, and as many for what follows."""
        left = self.budget.steps - self.budget.used
        return 2 * (self.budget.used - self.began) // max(self.count - 1, 1) < left

    def has_decided(self) -> bool:
        """Whether a condition was met in its rounds that nobody knows."""
        return self.frame.machine.decisions > self.decisions

    def _values(self) -> list[Any]:
        return [read(self.frame) for read, _ in self.names]

    def broken(self) -> None:
        """`break`: on a condition that nobody knows, it may come in a later round."""
        if self.has_decided():
            self.leave_open(like_the_last=True)
            self._doubt_what_was_found()

    def _doubt_what_was_found(self) -> None:
        """`for n in sizes: if fits(n): found = n; break`, or `self.size = n` in its place."""
        names, fields = given_by_rounds(self.node)
        held = self.frame.vars
        for name in names & held.keys():
            held[name] = of_any_round(held[name])
        for owner, name, value in self.changes.fields[self.fields :]:
            if name in fields and of_any_round(value) is not value:
                _make_unknown(owner, name)

    def returned(self) -> None:
        """`return` on a condition that nobody knows: what it finds may be that of a later round."""
        frame = self.frame
        if frame.machine.decisions > self.decisions and frame.left is not None and frame.left.value is not None:
            bound = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            frame.returned = found_in_a_round(frame.returned, frame.left.value, bound, made_of_themselves(self.node))

    def leave_open(self, like_the_last: bool) -> None:
        """The loop ends before it would.

        `like_the_last` if the other rounds do what the last one did, else anything may follow.
        """
        earlier = self.before if self.first is None else self.first
        same = may_be_alike if like_the_last else operator.is_
        self.changes.cut = True
        self.changes.missed += 1
        self.changes.built = self.changes.built or not like_the_last or self.builds()
        if not like_the_last or _names_attributes(self.node):
            self.frame.machine.doubt(self.node, Doubt.CUT)
        for (read, keep), value in zip(self.names, earlier):
            if not same(value, read(self.frame)):
                keep(self.frame, Unknown("it changes from round to round"))
        first: dict[tuple[int, Any], Any] = {}
        for owner, name, value in self.changes.fields[self.fields :]:
            if not same(first.setdefault((id(owner), name), value), value):
                _make_unknown(owner, name)
        for owner in {id(o): o for o in self.changes.items[self.items :]}.values():
            for place, item in list(dict.items(owner) if isinstance(owner, dict) else enumerate(owner)):
                if type(item) in NUMBERS:
                    _make_unknown(owner, place)
        for container in {id(c): c for c in self.changes.containers[self.containers :]}.values():
            loosen(container)
        for storage in self.changes.written[self.written :]:
            for fact in FACTS:
                storage.__dict__.pop(fact, None)
        self.changes.rates.leave_open(self.stepped)
        leave_counters_open(self.node, self.frame)
        for container in [one for read in self.filled for one in read(self.frame)]:
            if isinstance(container, CONTAINERS) and not is_open(container):
                loosen(container)

    def builds(self) -> bool:
        """Whether the rounds make layers, or change them: training leaves a model as it was built."""
        changes, earlier = self.changes, self.before if self.first is None else self.first
        if any(isinstance(container, LAYERS) for container in changes.containers[self.containers :]):
            return True
        named = [(old, read(self.frame)) for (read, _), old in zip(self.names, earlier)]
        if any(old is not new and isinstance(old, nn.Module) for old, new in named):
            return True
        buffers: dict[tuple[int, str], Any] = {}
        return any(
            isinstance(owner, nn.Parameter)
            or isinstance(value, (nn.Module, nn.Parameter))
            or isinstance(owner, nn.Module)
            and any(name in owner.__dict__.get(held, ()) for held in TABLES)
            and not may_be_alike(buffers.setdefault((id(owner), name), value), value)  # else its old place has it
            for owner, name, value in changes.fields[self.fields :]
        )


def rounds_of(items: Any) -> int | None:
    """How many rounds a loop over something has, if that is known."""
    if isinstance(items, Unknown) or not hasattr(type(items), "__len__"):
        return None
    try:
        return len(items)
    except Exception:  # a loader of nobody knows how many batches
        return None


@lru_cache(256)
def _names_attributes(node: ast.AST) -> bool:
    """Whether each round of a loop may give an attribute, or a layer, a name of its own: `setattr(self, name, x)`."""
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return any(last_word(call.func) in NAMING for call in calls)


def _make_unknown(owner: Any, name: Any) -> None:
    held = owner if isinstance(owner, (dict, list)) else getattr(owner, "__dict__", None)
    if isinstance(held, list) or held is not None and name in held:
        kind = list if isinstance(held, list) else dict
        kind.__setitem__(held, name, Unknown("it changes from round to round"))


def may_be_alike(one: Any, other: Any, depth: int = 3) -> bool:
    """Whether two rounds left the same, as far as shapes go."""
    if one is other:
        return True
    if isinstance(one, Array) and isinstance(other, Array):
        one, other = one.tensor, other.tensor
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.layout is other.layout and one.dtype is other.dtype and one.shape == other.shape
    if type(one) is not type(other):
        return True
    if type(one) in NUMBERS or isinstance(one, (str, bytes, range)):
        return one == other
    if isinstance(one, (list, tuple)):
        return (
            len(one) == len(other) and depth > 0 and all(may_be_alike(a, b, depth - 1) for a, b in zip(one[:64], other))
        )
    if isinstance(one, dict):
        return (
            len(one) == len(other)
            and depth > 0
            and all(may_be_alike(one[k], other.get(k), depth - 1) for k in list(one)[:64])
        )
    return True


class More(nn.Module):
    """The layers that a container would have gained in rounds that were not run."""

    def forward(self, *args: Any, **kwargs: Any) -> Unknown:
        return REST

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattr__(name)
        return REST


def loosen(container: Any) -> None:
    """Let a container hold an unknown for the items that it would have gained, or lost."""
    if isinstance(container, nn.Module):
        if not is_open(container):
            container._modules[str(len(container._modules))] = More()
    elif isinstance(container, dict):
        (OrderedDict if isinstance(container, OrderedDict) else dict).__setitem__(container, REST, REST)
    elif isinstance(container, set):
        set.add(container, REST)
    elif isinstance(container, list):
        if not container or container[-1] is not REST:
            list.append(container, REST)
        else:
            machines[-1].changes.lengths.forget(container)
    else:
        deque.append(container, REST)


_NO_CONTAINERS = frozenset({NoneType, bool, int, float, str, ModuleType, torch.Tensor, nn.Parameter})


def is_open(container: Any) -> bool:
    """Whether a container may hold less than it would."""
    kind = type(container)
    if kind is list or kind is tuple:  # nothing is asked if it equals, and it is put at the end
        return bool(container) and (container[-1] is REST or id(REST) in map(id, container))
    if kind in _NO_CONTAINERS:
        return False
    if kind is dict or isinstance(container, dict):
        return dict.__contains__(container, REST)
    if kind is set or isinstance(container, set):
        return set.__contains__(container, REST)
    if isinstance(container, VIEWS):
        return REST in container.mapping
    if isinstance(container, LAYERS):
        return any(type(layer) is More for layer in container._modules.values())
    return isinstance(container, (list, tuple, deque)) and id(REST) in map(id, container)


def holds_the_rest_only(container: Any) -> bool:
    """Whether nobody knows what a list gives, from whichever end it is taken: `while stack: node = stack.pop()`."""
    is_list = isinstance(container, (list, deque)) and len(container) > 0 and is_open(container)
    return is_list and type(container[0]) is type(container[-1]) is Unknown


def item_at(items: list | tuple, key: int) -> Any:
    """`items[2]`: behind items that are missing nobody knows which one that is, nor before them from the end on."""
    if len(items) <= _SHORT and is_open(items[: key + 1] if key >= 0 else items[key:]):
        return Unknown(MORE)
    return items[key]


def part_of(items: list | tuple, key: slice) -> list | tuple:
    """`items[2:]`: where items are missing, the part may miss some too, unless it ends before them."""
    part = items[key]
    first = next((at for at, item in enumerate(items) if item is REST), None)
    if first is None or is_open(part):
        return part
    ends = key.stop is not None and 0 <= key.stop <= first and (key.start or 0) >= 0 and (key.step or 1) > 0
    return part if ends else [*part, REST] if isinstance(part, list) else (*part, REST)


def spread(items: Sequence[Any], count: int, star: int | None) -> list:
    """What so many names get of items of which some are missing; the one with a star gets all that is left."""
    known = [item for item in items if item is not REST]
    if star is None:
        return known + [Unknown(MORE) for _ in range(count - len(known))]
    ends = [Unknown(MORE) for _ in range(count - 1)]
    return [*known[:star], *ends[len(known) : star], [*known[star:], REST], *ends[star:]]


def may_be_longer(data: Any) -> bool:
    """Whether nested lists may miss items of a loop that was cut."""
    return isinstance(data, (list, tuple)) and (is_open(data) or any(may_be_longer(part) for part in data))
