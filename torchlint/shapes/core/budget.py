"""What a dry run may cost: the steps of one run, the work of all runs of a file, and what native code touches of the
values it is given.

Nothing is timed: the same program always ends at the same place. What the interpreter does itself is counted as it
goes. Code that is not interpreted (Python's own types, torch) is paid for before it is called, by what it may touch or
make.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Iterable
from typing import Any

import torch

from torchlint.shapes.core.values import Exhausted, Overworked, Special, Unknown

TORCH_STEPS = 30  # what one call of torch costs, in steps
TOO_MUCH = "all its runs together take too much work"


class Work:
    """What all runs of one file have cost, in units of about a microsecond. Below `begin` there is no limit."""

    __slots__ = ("used", "limit")

    LIMIT = 2_000_000
    SHARE = 4  # of all of it
    NODES = 2  # expressions and statements that are evaluated for a unit
    OPERATION = 30  # one operation of torch on tensors without data
    NEW = 60  # one whose answer is not known from the same run
    WRITE = 250  # one that writes what others read
    FUNCTION = 6  # of the program, called
    DEEPER = 3  # as a shift: calls within each other for which one costs a unit more, for no cache holds them all
    RAISED = 6  # an error of the program's own, and each function that it leaves
    NATIVE = 3  # of Python's own, called, or of what nobody knows
    CALL = 3  # of a torch function around it
    REFUSED = 100  # an operation that raises
    REPLAY = 300  # trying a refused operation on real zeros
    PART = 3  # one module, parameter or buffer that is walked through
    REAL = 2_000  # elements that are filled with zeros for a unit
    PRODUCTS = 20_000  # multiplications

    def __init__(self):
        self.used, self.limit = 0, float("inf")

    def begin(self, used: int = 0) -> None:
        """A new file, or another run of one on which so much work was done before."""
        self.used, self.limit = used, self.LIMIT

    def end(self) -> None:
        """What follows is no program's."""
        self.limit = float("inf")

    def spend(self, units: int) -> None:
        """Count some work and end the run when the file has had all there is."""
        self.used += units
        if self.used > self.limit:
            raise Overworked(TOO_MUCH)

    @property
    def is_over(self) -> bool:
        return self.used > self.limit

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def open_to_worlds(self) -> int:
        """The work after which values that are known in part are no longer carried through several worlds."""
        return self.LIMIT // self.SHARE


work = Work()  # of the file that is looked at just now


class Budget:
    """Steps and sizes a run may use."""

    __slots__ = ("steps", "depth", "used")

    LENGTH = 1_000_000  # items of a sequence, characters of a text
    BITS = 4_000  # of an integer
    DEPTH = 120  # calls of the program's own functions within each other

    def __init__(self, steps: int):
        self.steps = steps
        self.used = 0
        self.depth = 0

    def spend(self, steps: int = 1, more: int = 0) -> None:
        """Count some steps and end the run when there are none left; they are `more` work than most."""
        self.used += steps
        if self.used > self.steps:
            raise Exhausted(f"it takes more than {self.steps:,} steps")
        work.used += steps + more
        if work.used > work.limit:
            raise Overworked(TOO_MUCH)

    def length(self, items: int) -> None:
        """Refuse a sequence or text that would get longer than a dry run holds; pay for one that would not."""
        if items > self.LENGTH:
            raise Exhausted(f"it makes a sequence of {items if items < 10**30 else 'too many'} items")
        if items > 64:
            self.spend(items >> 4)

    def touch(self, value: Any) -> None:
        """Pay for code that may walk through a value, and through what it holds as often as it holds it."""
        kind = type(value)
        if kind in _BARE or kind is str and len(value) < _SHORT or not holds(kind):
            return
        found = weight(value, self.LENGTH)
        if found > self.LENGTH:
            raise Exhausted("it walks through a structure that is too large")
        if found > 64:
            self.spend(found >> 4)

    def touch_all(self, values: Iterable[Any]) -> None:
        """Pay for each of several values."""
        for value in values:
            kind = type(value)
            if kind not in _BARE and (kind is not str or len(value) >= _SHORT):
                self.touch(value)


_SHORT = 480  # characters of a text that are touched for nothing


# What is the same to touch whatever its value is; integers are never long here.
LIGHT = frozenset({int, float, bool, complex, type(None), type(...), type, type(len), type(lambda: 0)})
# What holds nothing to be touched: these, and others that are met all the time.
_BARE = LIGHT | {types.ModuleType, types.MethodType, torch.Tensor, torch.nn.Parameter, torch.dtype, Unknown, Special}
_ITEMS = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    collections.deque: collections.deque.__iter__,
}
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
_OF_ITEMS = 0b11111 << 25  # Python marks lists, tuples, bytes, texts and dicts, and what derives from them
_NO_LISTS = frozenset({range, slice, functools.partial, *_VIEWS})
_SETS = (set, frozenset, collections.deque)


def holds(kind: type) -> bool:
    """Whether what is of a kind has items or characters, which are touched with it."""
    return bool(kind.__flags__ & _OF_ITEMS) or kind in _NO_LISTS or issubclass(kind, _SETS)


def weight(value: Any, most: int) -> int:
    """How many items and characters are reached from a value, counted as often as they are reached; the count ends soon
    after `most`. What holds more costs more to look at than plain items.

    What holds itself has no end, and what doubles twenty times a million items: comparing, hashing and copying do not
    know better.
    """
    total, stack = 0, [value]
    bare: set[type] = set()  # kinds of objects that hold nothing: most registries are full of one of them
    while stack and total <= most:
        one = stack.pop()
        kind = type(one)
        total += 1
        if kind in LIGHT:
            continue
        total += 3
        items: Iterable[Any] = ()
        if kind is list or kind is tuple:
            total += len(one)
            items = one if total <= most else ()
        elif not holds(kind):
            continue
        elif isinstance(one, (str, bytes)):
            total += len(one) >> 3
        elif isinstance(one, dict):
            total += 3 * len(one)
            if total <= most:
                keys = [key for key in dict.keys(one) if type(key) is not str]
                items = (*dict.values(one), *keys) if keys else dict.values(one)
        elif kind is range:
            total += len_of(one)
        elif kind is slice:
            stack += (one.start, one.stop, one.step)
        elif kind is functools.partial:
            stack += (one.func, one.args, one.keywords)
        elif kind in _VIEWS:
            total += len(one)
            stack.append(dict(one.mapping))
        else:
            for base, items_of in _ITEMS.items():
                if isinstance(one, base):
                    total += len_of(one) * (3 if base in (set, frozenset) else 1)
                    items = items_of(one) if total <= most else ()
                    break
        for item in items:
            kind = type(item)
            if kind in bare:
                total += 4
            elif kind is str:
                total += 4 + (len(item) >> 3)
            elif kind in LIGHT:
                continue
            elif kind is list or kind is tuple or holds(kind):
                stack.append(item)
            else:
                bare.add(kind)
                total += 4
    return total


_KINDS = frozenset({*_ITEMS, dict, str, bytes})
PYTHON = LIGHT | _KINDS  # kinds of which nobody but Python says whether a value is true


def len_of(items: Any) -> int:
    """The length of a container or a range of any size, whatever class the program made of it."""
    kind = type(items)
    if kind in _KINDS:
        return len(items)
    if kind is range:
        return max(0, -((items.start - items.stop) // items.step)) if items.step else 0
    for base in (*_ITEMS, dict, str, bytes):
        if isinstance(items, base):
            return base.__len__(items)
    return 0


# How much of itself a method touches, where that is not all of it and all of its arguments.
_STORES, _LOOKS_UP, _SHIFTS = "stores", "looks up", "shifts"
_METHODS: dict[type, dict[str, str]] = {
    list: {"append": _STORES, "clear": _STORES, "insert": _SHIFTS, "pop": _SHIFTS},
    dict: {
        **dict.fromkeys(("keys", "values", "items", "popitem", "clear"), _STORES),
        **dict.fromkeys(("get", "pop", "setdefault", "move_to_end"), _LOOKS_UP),
    },
    set: {"clear": _STORES, "pop": _STORES, **dict.fromkeys(("add", "discard", "remove"), _LOOKS_UP)},
    collections.deque: dict.fromkeys(("append", "appendleft", "pop", "popleft", "clear"), _STORES),
    str: {"split": "makes items", "rsplit": "makes items", "splitlines": "makes items"},
}


def pay(budget: Budget, function: Any, args: tuple | list, kwargs: dict[str, Any]) -> None:
    """Pay for a call of Python's own code: all that it can reach, unless it is known to touch less."""
    owner = getattr(function, "__self__", None)
    kind = type(owner)
    if kind not in _BARE and holds(kind):
        base = kind if kind in _METHODS else next((base for base in _METHODS if issubclass(kind, base)), None)
        how = _METHODS[base].get(function.__name__) if base is not None else None
        if how == _STORES:
            return
        if how == _LOOKS_UP:
            return budget.touch_all(args[:1])
        if how == _SHIFTS:
            return budget.spend(len_of(owner) >> 10)
        if base is str:
            budget.length(len_of(owner) if how else len_of(owner) >> 3)
        budget.touch(owner)
    budget.touch_all(args)
    if kwargs:
        budget.touch_all(kwargs.values())
