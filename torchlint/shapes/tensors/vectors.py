"""A row of numbers that a program writes down and computes with by NumPy, as sizes and paddings are: its values are
known until something is set in it.
"""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from torchlint.shapes.tensors.arrays import COMPARISONS, Array, fresh

LONGEST = 64
_LARGEST = 2**40
_OPERATORS = COMPARISONS | {op.add, op.sub, op.mul, op.truediv, op.floordiv, op.mod}
_REDUCED: tuple[Callable, ...] = (any, all, sum, max, min)


class Vector(Array):
    """An array of one dimension with its values."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]):
        whole = all(isinstance(value, int) for value in values)
        truths = whole and all(isinstance(value, bool) for value in values)
        dtype = torch.bool if truths else torch.int64 if whole else torch.float64
        super().__init__(fresh((len(values),), dtype).tensor)
        self.values: list[Any] | None = list(values)

    def copy(self, *args: Any, **options: Any) -> Array:
        return Vector(self.values) if self.values is not None else super().copy()

    def tolist(self) -> list:
        return list(self.values) if self.values is not None else super().tolist()

    def _apply(self, function: Callable, other: Any, swapped: bool) -> Any:
        theirs = other.values if isinstance(other, Vector) else [other] * len(self)
        are_numbers = theirs is not None and all(type(value) in (int, float, bool) for value in theirs)
        if self.values is None or not are_numbers or function not in _OPERATORS or len(theirs) != len(self):
            return super()._apply(function, other, swapped)
        pairs = zip(theirs, self.values) if swapped else zip(self.values, theirs)
        try:
            made = [function(a, b) for a, b in pairs]
        except ZeroDivisionError:
            return super()._apply(function, other, swapped)
        small = all(abs(value) < _LARGEST for value in made)
        return Vector(made) if small else super()._apply(function, other, swapped)

    def __getitem__(self, key: Any) -> Any:
        if self.values is not None and type(key) is int and -len(self) <= key < len(self):
            return self.values[key]
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values = None

    def fill(self, *args: Any) -> None:
        self.values = None

    sort = fill

    def __iter__(self) -> Iterator:
        return iter(self.values) if self.values is not None else super().__iter__()


def _reduced(function: Callable) -> Callable:
    def reduce(self: Vector, axis: Any = None, *rest: Any, **options: Any) -> Any:
        if self.values and axis is None and not rest and not options:
            return function(self.values)
        return getattr(Array, function.__name__)(self, axis, *rest, **options)

    return reduce


def _in_place(self: Vector, other: Any) -> Vector:
    """`row += 1` changes it for all who have it."""
    self.values = None
    return self


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Vector, f"__i{_name}__", _in_place)
for _function in _REDUCED:
    setattr(Vector, _function.__name__, _reduced(_function))
Vector.__hash__ = object.__hash__  # type: ignore[method-assign]
