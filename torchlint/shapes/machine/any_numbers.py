"""Numbers that nobody knows among the arguments of torch's functions: where a few numbers make the same of it, whatever
number it is does: `x.roll(shift, 1)`, `torch.full((4, 6), value)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torchlint.facts import fact
from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.tensors import ranges, wild

_FEW = 4  # numbers in one call
_WHOLE = (1, -1, 2, 3, 0)  # a dimension, or a place, that is the last is another one than the first
_REAL = (0.5, 0.25)
_TRIED = {wild.WHOLE: _WHOLE, wild.TRUTH: (True, False), wild.NUMBER: (*_WHOLE, *_REAL)}


class SomeNumber:
    """Stands for a number that nobody knows, at one place of a call."""

    __slots__ = ("number", "place")

    def __init__(self, number: Unknown, place: int):
        self.number = number
        self.place = place

    def tried(self, round_: int, apart: bool) -> Any:
        """A number of its kind, another one in each round, and at each place if they are to be `apart`."""
        numbers = _TRIED.get(self.number.known, _REAL)
        return numbers[(round_ + self.place * apart) % len(numbers)]


def marked(given: Any) -> Any:
    """The same arguments with a mark for each unknown number; None if there is none, or anything else is unknown."""
    blind = [value for value in _leaves(given) if type(value) is Unknown and wild.known_of(value) is None]
    if not 0 < len(blind) <= _FEW or not all(map(wild.is_number, blind)):
        return None
    places = itertools.count()
    return _changed(given, lambda v: SomeNumber(v, next(places)) if type(v) is Unknown and wild.is_number(v) else v)


def agreed(run: Callable[[Any], Any], given: Any, name: str, reason: str) -> Any:
    """What a function of torch makes of arguments with such marks. It is not known if numbers make different things of
    it, or if it is refused. What changes a tensor in place is called once.
    """
    once = name.endswith("_") and not name.endswith("__")
    if once and (name in ("resize_", "resize_as_", "set_") or not _keeps_shape(name)):
        raise UnknownUsed(reason)
    several = sum(type(value) is SomeNumber for value in _leaves(given)) > 1 and not once
    made = _made(run, given, False, once)
    alike = len(made) > 1 and all(wild.is_same(made[0], other) for other in made[1:])
    if alike and several:  # `x.transpose(a, b)` where both are the same leaves all as it is
        others = _made(run, given, True, once)
        alike = bool(others) and all(wild.is_same(made[0], other) for other in others)
        made += others
    tensors = [tensor for value in made for _, tensor in wild.leaves(value)]
    if not tensors or not (alike or made and once):
        raise UnknownUsed(reason)
    before = {tensor.untyped_storage()._cdata for _, tensor in wild.leaves(given)}
    for tensor in tensors:
        if tensor.untyped_storage()._cdata in before and not once and ranges.is_known(tensor):
            raise UnknownUsed(reason)  # a part whose numbers are known, nobody knows which
        ranges.forget(tensor)
    return made[-1]


def _made(run: Callable[[Any], Any], given: Any, apart: bool, once: bool) -> list[Any]:
    """What several numbers make of it, until one makes something else."""
    made: list[Any] = []
    for round_ in range(len(_WHOLE) + len(_REAL)):
        try:
            made.append(run(_changed(given, lambda v, n=round_: v.tried(n, apart) if type(v) is SomeNumber else v)))
        except UnknownUsed:
            raise
        except Exception:
            continue
        if once or not wild.is_same(made[0], made[-1]):
            break
    return made


def _keeps_shape(name: str) -> bool:
    known = fact(f".{name.rstrip('_')}")
    fills = ("fill_", "normal_", "uniform_", "random_", "bernoulli_", "masked_fill_", "index_fill_", "exponential_")
    return name in fills or known is not None and known.same_shape


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        for part in value:
            yield from _leaves(part)
    elif type(value) is dict:
        yield from _leaves(list(value.values()))
    else:
        yield value


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_changed(part, change) for part in value)
    return {key: _changed(part, change) for key, part in value.items()} if type(value) is dict else change(value)
