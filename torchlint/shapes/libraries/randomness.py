"""Python's `random`: what is drawn is unknown, but for what all that may be drawn have in common."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language.cut_short import REST, may_be_alike
from torchlint.shapes.tensors import wild

_PLAIN = (int, float, str, bool)
_LOOKED_AT = 1000  # items that are compared


def _choice(machine, items, **options):
    if not isinstance(items, (list, tuple, range, str)) or not items:
        return Unknown("a random choice")
    return any_of(items)


def any_of(items: Any) -> Any:
    """What is known of one of some items, whichever it is: plain values only if all are equal, of other things the
    first stands for all.
    """
    first, some = items[0], items[:_LOOKED_AT]
    if isinstance(first, _PLAIN):
        if len(some) == len(items) and all(type(one) is type(first) and one == first for one in some):
            return first
        return _one_of(some)
    if type(first) in (tuple, list) and all(type(one) is type(first) and len(one) == len(first) for one in some):
        return type(first)(map(any_of, zip(*some)))
    return first


def in_any_order(items: list) -> list | None:
    """What is known of some items in an order that nobody knows; None where they have too little in common."""
    found = [item for item in items if item is not REST]
    numbers = all(type(item) in (int, float) or wild.is_number(item) for item in found)
    texts = all(map(wild.is_text, found))
    if not found or not numbers and not texts and not all(may_be_alike(found[0], item) for item in found[:_LOOKED_AT]):
        return None
    kind = wild.kind_among(found)
    if numbers and kind is None:
        kind = wild.NUMBER
    one = wild.unknown("it is sorted by unknown keys", kind) if kind is not None else any_of(found)
    return [one] * len(found) + [REST] * (len(found) < len(items))


def _one_of(values: Sequence[Any]) -> Unknown:
    """An unknown one of some plain values."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return wild.unknown("a random choice", wild.TEXT)
    known = wild.WHOLE if kinds == {int} else wild.NUMBER if kinds and kinds <= {int, float, bool} else None
    return wild.unknown("a random choice", known)


def _shuffle(machine, items):
    """Plain values, and tuples of them, are no longer where they were."""
    if type(items) is list and items and isinstance(items[0], (*_PLAIN, tuple)):
        machine.budget.length(len(items))
        items[:] = [any_of(items)] * len(items)


def _drawn(machine):
    return wild.unknown("a random number", wild.DRAWN)


def _uniform(machine, low=0, high=1):
    plain = type(low) in (int, float) and type(high) in (int, float)
    return wild.unknown("a random number", wild.DRAWN if plain and (low, high) == (0, 1) else wild.REAL)


def _number(machine, *args, **kwargs):
    return wild.unknown("a random number", wild.REAL)


def _whole(machine, *args, **kwargs):
    return wild.drawn()


def _sample(machine, items, k):
    """The first items stand for random ones."""
    if machine.wild and wild.is_number(k) and isinstance(items, (list, tuple, range)) and items:
        machine.changes.cut = True
        return [any_of(items[:_LOOKED_AT]), REST]
    if type(k) is int and type(items) in (list, tuple, range) and k > len(items) and machine.is_whole(items):
        machine.insist(ValueError("Sample larger than population or is negative"), items)
    if type(k) is not int or not 0 <= k < 100_000:
        return Unknown("a random sample")
    if type(items) is Unknown:
        return _some_of(machine, k)
    found = [item for item in machine.iterate(items) if item is not REST]
    machine.budget.length(k)
    if not found or isinstance(found[0], _PLAIN):
        return [_one_of(found[:_LOOKED_AT]) if found else Unknown("a random choice")] * k
    if type(found[0]) is tuple:
        return [any_of(found)] * k
    return [found[i % len(found)] for i in range(k)]


def _some_of(machine, k: int) -> list:
    """So many items of which nothing is known."""
    machine.budget.length(k)
    return [Unknown("a random choice")] * k


def _choices(machine, items, weights=None, *, cum_weights=None, k=1):
    """So many, each of them any of the items."""
    if type(items) is Unknown and type(k) is int and 0 <= k < 100_000:
        return _some_of(machine, k)
    if not isinstance(items, (list, tuple, range, str)) or not items or REST in [*items[:_LOOKED_AT]]:
        return Unknown("random choices")
    if machine.wild and wild.is_number(k):
        machine.changes.cut = True
        return [any_of(items[:_LOOKED_AT]), REST]
    if type(k) is not int or not 0 <= k < 100_000:
        return Unknown("random choices")
    machine.budget.length(k)
    return [any_of(items)] * k


RANDOM: dict[str, Any] = {
    f"random.{name}": Special(name, function)
    for name, function in {
        "choice": _choice,
        "choices": _choices,
        "sample": _sample,
        "shuffle": _shuffle,
        "random": _drawn,
        "uniform": _uniform,
        "randint": _whole,
        "randrange": _whole,
        "gauss": _number,
        "normalvariate": _number,
    }.items()
}


class OwnRandom(StandIn):
    """`random.Random(seed)`: it draws as the module does, and just the numbers of its seed until something may have
    drawn that was not run.
    """

    def __init__(self, seed: Any = None):
        self._source = Random(seed) if type(seed) in (int, str) else None
        self._missed = _missed(machines[-1])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        known = RANDOM.get(f"random.{name}")
        if known is None:
            self._source = None
            return Special(name, lambda machine, *_, **__: Unknown("what a generator gives"))

        def draw(machine, *args, **kwargs):
            if self._source is not None and not self._draws(machine, name, args, kwargs):
                self._source = None
            if self._source is None:
                return known.function(machine, *args, **kwargs)
            return getattr(self._source, name)(*args, **kwargs)

        return Special(name, draw)

    def _draws(self, machine, name: str, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Whether it is known which number comes next, and among which."""
        if self._missed != _missed(machine) or not machine.scripting or machine.example is not None:
            return False
        given = [*args, *kwargs.values()]
        items = next((value for value in given if type(value) in (list, tuple, range, str)), ())
        many = next((value for value in given[1:] if type(value) is int), 1) if name in _OF_MANY else 1
        if not all(type(v) in (int, float) or type(v) in (list, tuple, range, str) for v in given):
            return False
        if len(items) > _LOOKED_AT or not 0 <= many <= _LOOKED_AT or not machine.is_whole(items):
            return False
        machine.budget.length(many)
        machine.budget.spend(len(items))
        if name == "shuffle" and machine.changes.loops:
            machine.changes.put(items, slice(None), items)
        return True


def _missed(machine) -> tuple:
    """What grows if something was not run, or on a guess."""
    return machine.changes.missed, machine.decisions, machine.presumed


_OF_MANY = ("choices", "sample")
RANDOM["random.Random"] = Special("Random", lambda machine, seed=None: OwnRandom(seed))
