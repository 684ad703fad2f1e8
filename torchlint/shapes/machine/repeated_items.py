"""Lists that are made longer by what nobody knows, `[pad] * missing`, `items += more`, and how long they are then."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import MORE, REST, is_open, part_of
from torchlint.shapes.language.lengths import Length
from torchlint.shapes.machine.any_items import in_common
from torchlint.shapes.tensors import wild

_TIMES = (operator.mul, operator.imul)
_PLUS = (operator.add, operator.iadd)
_MINUS = (operator.sub, operator.isub)
_LISTS = (list, tuple)
_LONGEST = 4096  # items that are made of what nobody knows


class RepeatedItems:
    """The part of the machine that fills lists up."""

    def filled_up(self, items: Any, least: int, item: Any) -> list | Unknown | None:
        """A list after `while len(items) < least: items.append(item)`, if that says how long it is."""
        if type(items) is not list and not _is_anything(items) or not self.wild:  # type: ignore[attr-defined]
            return None
        length = length_of(self, items).from_on(least)
        if length is None:
            return None
        changes = self.changes  # type: ignore[attr-defined]
        some = _mixed(changes.lengths.items_of(items), (item,))
        is_list = type(items) is list
        if length.exact is not None and 0 <= length.exact <= _LONGEST:
            made: Any = _so_many(self, length.exact, some, list)
            if is_list:
                items[:] = made
            return items if is_list else made
        made = items if is_list else Unknown(MORE)
        if is_list:
            changes.loosen(items)
        changes.lengths.keep(made, length, some)
        return made


def lengthened(machine: Any, apply: Callable, a: Any, b: Any) -> list | tuple | None:
    """A list or tuple by an operator with an unknown: its items, once more so many times; None for other things."""
    if type(a) is list and apply is operator.iadd:
        machine.changes.loosen(a)
        return a
    items, times = (b, a) if type(a) is Unknown else (a, b)
    if apply not in _TIMES or type(items) not in _LISTS or not items or not machine.wild:
        return None
    if type(times) is not Unknown or wild.kind_of_all([times]) is not int:
        return None
    if apply is operator.imul and items is a and type(a) is list:
        machine.changes.loosen(a)
        return a
    machine.budget.length(len(items) + 1)
    machine.changes.cut = True
    more = () if is_open(items) else (REST,)
    return [*items, *more] if type(items) is list else (*items, *more)


def counted(machine: Any, apply: Callable, a: Any, b: Any, operate: Callable | None = None) -> Any:
    """What an operator makes of numbers of items, and of lists of which nobody knows how many items they have."""
    lengths = machine.changes.lengths
    one, other = lengths.of_number(a), lengths.of_number(b)
    length, some = None, ()
    is_known = machine.wild and apply in _COUNTED
    if is_known and one is not None and other is not None:
        length = _computed(apply, one, other)
    elif is_known and (type(a) in _LISTS or type(b) in _LISTS) and (_is_uncounted(a) or _is_uncounted(b)):
        length, some = _together(machine, apply, a, b, one, other)
        if length is not None and length.exact is not None and 0 <= length.exact <= _LONGEST:
            made = _so_many(machine, length.exact, some, type(a) if type(a) in _LISTS else type(b))
            if type(a) is not list or apply not in (operator.iadd, operator.imul):
                return made
            a[:] = made
            return a
    made = apply(a, b) if operate is None else operate(apply, a, b)
    if length is None:
        return made
    if one is not None and other is not None:
        return lengths.number(made, length)
    lengths.keep(made, length, some)
    return made


def _computed(apply: Callable, one: Length, other: Length) -> Length | None:
    if apply in _TIMES:
        number, length = (one.exact, other) if one.exact is not None else (other.exact, one)
        return None if number is None else Length(0).plus(length, number)
    return one.plus(other, 1 if apply in _PLUS else -1)


def _together(
    machine: Any, apply: Callable, a: Any, b: Any, one: Length | None, other: Length | None
) -> tuple[Length | None, tuple]:
    """How long a list is made of others, or of one that is repeated; and some of its items."""
    lengths = machine.changes.lengths
    if apply in _PLUS:
        first, second = length_of(machine, a), length_of(machine, b)
        return first.plus(second), _mixed(lengths.items_of(a), lengths.items_of(b))
    items, times = (b, one) if one is not None else (a, other)
    if times is None or apply not in _TIMES or (often := times.from_on(0)) is None:
        return None, ()
    number = length_of(machine, items).exact
    return None if number is None else Length(0).plus(often, number), lengths.items_of(items)


def _is_uncounted(value: Any) -> bool:
    return type(value) is Unknown or is_open(value)


def length_of(machine: Any, items: Any) -> Length:
    """How long a list is: one that may miss items, or of which nothing is known, has as many as it has."""
    if _is_uncounted(items):
        return machine.changes.lengths.measured(items)
    return Length(len(items))


def cut(machine: Any, items: Any, key: Any, part: Any) -> Any:
    """A part of a list of which nobody knows how many items it has: `x[:40]` has no more of them."""
    lengths = machine.changes.lengths
    if not machine.wild or type(key) is not slice or key.step not in (None, 1):
        return part
    if type(part) is not Unknown and not is_open(part):
        return part
    length = _within(length_of(machine, items), key.start, key.stop)
    if length is None:
        return part
    some = lengths.items_of(items)
    is_list = type(items) in _LISTS or len(some) > 1
    if length.exact is not None and is_list and 0 <= length.exact <= _LONGEST:
        return _so_many(machine, length.exact, some, type(items) if type(items) in _LISTS else list)
    lengths.keep(part, length, some)
    return part


def _within(length: Length, start: Any, stop: Any) -> Length | None:
    if type(start) not in _BOUNDS or type(stop) not in _BOUNDS:
        return None
    first = start or 0
    if first < 0:  # the last ones
        return length.up_to(-first) if stop is None else None
    ends: Length | None = length
    if stop is not None:
        ends = length.up_to(stop) if stop >= 0 else length.plus(Length(stop))
    ends = None if ends is None else ends.plus(Length(-first))
    return None if ends is None else ends.from_on(0)


_BOUNDS = (int, type(None))


def cut_list(machine: Any, items: list | tuple, key: slice) -> list | tuple:
    """`items[2:]` of a list that misses some."""
    return cut(machine, items, key, part_of(items, key))


def _mixed(some: tuple, more: tuple) -> tuple:
    """Items of two lists; of each there are some among the first."""
    return (*some[:8], *more[:8])


def _so_many(machine: Any, number: int, some: Sequence[Any], kind: type) -> Any:
    """A list of so many items, of which nobody knows which they are."""
    machine.budget.length(number)
    known = [item for item in some if item is not REST]
    is_like = all(item is not REST or at and some[at - 1] is not REST for at, item in enumerate(some))
    if known and not any(type(item) in (Unknown, str, *wild.NUMBERS) for item in known):
        return kind(in_common(machine, known) if is_like else Unknown(MORE) for _ in range(number))
    item = _kind_of(known if is_like else [*known, REST])
    return kind(wild.unknown(MORE, item) for _ in range(number))


def _kind_of(some: list) -> str | None:
    """What the items of a list are that holds some: beside a number torch takes nothing but numbers."""
    if some and (kind := wild.kind_among(some)) is not None:
        return kind
    if all(type(item) is str or type(item) is Unknown and item.known == wild.TEXT for item in some):
        return wild.TEXT if some else None
    is_beside = any(type(item) in wild.NUMBERS for item in some)
    may_be = all(type(item) in wild.NUMBERS or wild.is_number(item) or _is_anything(item) for item in some)
    return wild.NUMBER if is_beside and may_be else None


def _is_anything(item: Any) -> bool:
    return type(item) is Unknown and item.known is None


_COUNTED = frozenset({*_TIMES, *_PLUS, *_MINUS})
