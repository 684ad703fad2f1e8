"""How many items lists have that nobody has counted: sums such as `40 - n`, in which what nobody knows may cancel.

`x[:40]` has `min(n, 40)` items if `x` has `n`, and `[0] * (40 - n)` has `40 - min(n, 40)`: together they are 40.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from torchlint.shapes.core.values import Unknown

_MOST = 8  # counts in one sum
_MIRRORED = {operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt, operator.ge: operator.le}
_FEW = 16  # items that stand for all


class Count:
    """A number of items that nobody knows, and the bounds that are known of it."""

    __slots__ = ("least", "most", "whole", "cuts")

    def __init__(self, least: int = 0, most: int | None = None, whole: Count | None = None):
        self.least = least
        self.most = most
        self.whole = whole  # the one of which it is the smaller one, of that and `most`
        self.cuts: dict[int, Length] = {}  # the smaller one of it and a number

    def cut(self, most: int) -> Length:
        """`min(count, most)`"""
        if self.most is not None and self.most <= most:
            return Length(0, {self: 1})
        if self.least >= most:
            return Length(most)
        return self.cuts.setdefault(most, Length(0, {Count(self.least, most, self): 1}))


class Length:
    """A whole number, and how often some counts are added to it."""

    __slots__ = ("number", "counts")

    def __init__(self, number: int, counts: dict[Count, int] | None = None):
        self.number = number
        self.counts = counts or {}

    @property
    def exact(self) -> int | None:
        return None if self.counts else self.number

    @property
    def least(self) -> int | None:
        """It is no smaller, if that is known."""
        return _sum(self.number, [(low if times > 0 else high, times) for low, high, times in self._bounds()])

    @property
    def most(self) -> int | None:
        """It is no larger, if that is known."""
        return _sum(self.number, [(high if times > 0 else low, times) for low, high, times in self._bounds()])

    def _bounds(self) -> Iterator[tuple[int, int | None, int]]:
        """Between which numbers each part of the sum is; what a count has more than its cut is one part."""
        counts = dict(self.counts)
        for cut in [count for count in counts if count.whole is not None]:
            if counts.get(cut.whole) == -counts[cut] and cut.most is not None:
                times, whole = -counts.pop(cut), cut.whole
                del counts[whole]
                yield max(whole.least - cut.most, 0), whole.most and max(whole.most - cut.most, 0), times
        for count, times in counts.items():
            yield count.least, count.most, times

    def plus(self, other: Length, times: int = 1) -> Length | None:
        """The sum with so many times another one; None if it is of too many parts."""
        counts = dict(self.counts)
        for count, often in other.counts.items():
            counts[count] = counts.get(count, 0) + times * often
        counts = {count: often for count, often in counts.items() if often}
        return Length(self.number + times * other.number, counts) if len(counts) <= _MOST else None

    def up_to(self, most: int) -> Length | None:
        """`min(length, most)`"""
        if (bound := self.most) is not None and bound <= most:
            return self
        if (bound := self.least) is not None and bound >= most:
            return Length(most)
        if len(self.counts) != 1:
            return None
        [(count, times)] = self.counts.items()
        if times == 1:
            return Length(self.number).plus(count.cut(most - self.number))
        if times == -1:  # what is taken away is at least so much
            return Length(most).plus(count.cut(self.number - most)).plus(Length(0, {count: 1}), -1)  # type: ignore[union-attr]
        return None

    def from_on(self, least: int) -> Length | None:
        """`max(length, least)`"""
        smaller = self.up_to(least)
        return None if smaller is None else Length(self.number + least, self.counts).plus(smaller, -1)


def _sum(number: int, bounds: Iterable[tuple[int | None, int]]) -> int | None:
    for bound, times in bounds:
        if bound is None:
            return None
        number += times * bound
    return number


class _Kept(NamedTuple):
    value: Any  # which is held, so that no other one gets its identity
    length: Length
    size: int | None  # how many items it seemed to have: another number of them says that it was changed
    items: tuple


class Lengths:
    """The lengths of lists, and the numbers that were computed of them, in one run."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self.numbers: dict[int, tuple[Unknown, Length]] = {}  # by identity
        self._tests: dict[int, tuple[Unknown, Callable, Length]] = {}

    def clear(self) -> None:
        """Another run begins, in which other things are answered."""
        self._kept.clear()
        self.numbers.clear()
        self._tests.clear()

    def of_number(self, value: Any) -> Length | None:
        """What a number is, as far as that is known."""
        if type(value) is int:
            return Length(value)
        found = self.numbers.get(id(value))
        return None if found is None else found[1]

    def number(self, value: Unknown, length: Length | None) -> Any:
        """A number that nobody knows, of which this is known: itself, or which one it is."""
        if length is None:
            return value
        if length.exact is not None:
            return length.exact
        self.numbers[id(value)] = value, length
        return value

    def extreme(self, best: Callable, values: list[Any], made: Unknown) -> Any:
        """`max(0, length)`, `min(length, 40)`"""
        known = [self.of_number(value) for value in values]
        if len(known) != 2 or None in known or not self.numbers:
            return made
        [bound, length] = sorted(known, key=lambda one: one.exact is None)
        if bound.exact is None:
            return made
        return self.number(made, length.up_to(bound.exact) if best is min else length.from_on(bound.exact))

    def of(self, items: Any) -> Length | None:
        """How long something is that nobody has counted, if anything is known of that."""
        kept = self._kept.get(id(items))
        return None if kept is None or kept.size != _size(items) else kept.length

    def items_of(self, items: Any) -> tuple:
        """Some that stand for all of them."""
        if type(items) is not Unknown:
            return tuple(items[:_FEW])
        kept = self._kept.get(id(items))
        return (items,) if kept is None else kept.items

    def measured(self, items: Any) -> Length:
        """The same, where that is asked for."""
        length = self.of(items)
        return self.keep(items, Length(0, {Count(): 1}), self.items_of(items)) if length is None else length

    def keep(self, items: Any, length: Length, some: tuple = ()) -> Length:
        """Remember how long something is, until it is changed."""
        self._kept[id(items)] = _Kept(items, length, _size(items), some[:_FEW])
        return length

    def as_long_as(self, items: Any, made: Any) -> Any:
        """A list with an item for each one of another."""
        if type(items) in (Unknown, list, tuple):
            self.keep(made, self.measured(items), self.items_of(made))
        return made

    def forget(self, items: Any) -> None:
        """Something has been made longer or shorter."""
        if self._kept:
            self._kept.pop(id(items), None)

    def forget_unknown(self) -> None:
        """Something was made longer of which nobody knows what else it may be called."""
        for key in [key for key, kept in self._kept.items() if type(kept.value) is Unknown]:
            del self._kept[key]

    def ask(self, apply: Callable, a: Any, b: Any, answer: Unknown) -> Any:
        """A comparison of two numbers: how it comes out, or an answer that tells of them when it is decided."""
        one, other = self.of_number(a), self.of_number(b)
        if not self.numbers or one is None or other is None or (apart := one.plus(other, -1)) is None:
            return answer
        ends = [end for end in (apart.least, apart.most) if end is not None]
        if apply in _MIRRORED and len(ends) == 2 and len({apply(end, 0) for end in ends}) == 1:
            return apply(ends[0], 0)
        if apply in _MIRRORED and len(apart.counts) == 1 and type(answer) is Unknown:
            self._tests[id(answer)] = answer, apply, apart
        return answer

    def decided(self, answer: Unknown, holds: bool) -> bool:
        """A condition was decided, and what it says of a count holds from now on."""
        found = self._tests.pop(id(answer), None) if self._tests else None
        if found is not None:
            _, apply, apart = found
            [(count, times)] = apart.counts.items()
            if abs(times) == 1:
                _bound(count, apply if times == 1 else _MIRRORED[apply], -times * apart.number, holds)
        return holds


def _bound(count: Count, apply: Callable, number: int, holds: bool) -> None:
    """`count < number`, or not."""
    is_below = (apply in (operator.lt, operator.le)) is holds
    is_strict = (apply in (operator.lt, operator.gt)) is holds
    if is_below:
        most = number - is_strict
        count.most = max(most if count.most is None else min(most, count.most), count.least)
    else:
        count.least = max(count.least, number + is_strict)
        if count.most is not None:
            count.most = max(count.most, count.least)


def _size(items: Any) -> int | None:
    return None if type(items) is Unknown else len(items)
