"""Slices that end nobody knows where: `x[:n]`, `x[i : i + width]`, and `x[mask][:10]`, which may hold fewer."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.machine.worlds import are_tensors
from torchlint.shapes.tensors import as_many, ranges, wild
from torchlint.shapes.tensors.arrays import Array

WHOLE = slice(None)
_MANY = 32  # items


def part(machine: Any, owner: Any, key: Any) -> Any:
    """`owner[key]` of a tensor or an array, if a slice in the key is open; else None."""
    parts = list(key) if type(key) is tuple else [key]
    if not any(type(one) is slice for one in parts) or machine.example is not None:
        return None
    if not isinstance(owner, (torch.Tensor, Array)) and not are_tensors(owner):
        return None
    known, counted = wild.known_of(owner), wild.is_counted(owner)
    free = wild.free_dimensions(known) if known is not None else {}
    cut = [number for number, one in enumerate(parts) if type(one) is slice and _is_open(one)]
    short = [number for number, one in enumerate(parts) if type(one) is slice and _is_short(one, counted)]
    short = short if free else []
    if not cut and not short:
        return None
    rest = [one if type(one) is not slice or number not in cut else WHOLE for number, one in enumerate(parts)]

    def run(given: list) -> Any:
        owner, rest = given[0], list(given[1])
        tensor = owner.tensor if isinstance(owner, Array) else owner
        if not isinstance(tensor, torch.Tensor):
            return machine.item(owner, tuple(rest))
        for number in sorted({*cut, *short}):
            dimension = as_many.dimension_at(rest, number, tensor.dim())
            if number in cut or dimension in free.get(tensor.dim(), ()):
                tensor = as_many.chosen(tensor, dimension, machine.size_by_data(number))
                rest[number] = WHOLE
        return machine.item(Array(tensor) if isinstance(owner, Array) else tensor, tuple(rest))

    found = machine.in_worlds(run, [owner, rest], "a slice of unknown length")
    if isinstance(owner, (torch.Tensor, Array)):  # something may be written through the part
        ranges.forget(owner.tensor if isinstance(owner, Array) else owner)
    return found


def at_any_place(owner: Any, key: Any) -> Any:
    """`x[:, t]` of what is known in part: whichever place a whole number names, what is there looks alike."""
    if wild.known_of(owner) is None or not any(map(_is_place, parts := key if type(key) is tuple else (key,))):
        return key
    if not are_tensors(owner):
        return key
    made = tuple([0 if _is_place(one) else one for one in parts])
    return made if type(key) is tuple else made[0]


def _is_place(one: Any) -> bool:
    return type(one) is Unknown and one.known == wild.WHOLE


def _is_open(one: slice) -> bool:
    return any(
        type(bound) is Unknown and (type(bound.known) is not wild.Known or wild.is_counted(bound))
        for bound in (one.start, one.stop, one.step)
    )


def _is_short(one: slice, counted: bool) -> bool:
    """Whether a slice leaves out so many that an example of a size may have no more; or takes so many at most, where it
    is said how many there are.
    """
    start, stop = [bound if type(bound) is int else 0 for bound in (one.start, one.stop)]
    return start >= _MANY or stop <= -_MANY or counted and (start < 0 or type(one.stop) is int and stop >= 0)
