"""NumPy's functions that give as many items as the data say: places of what holds, distinct values, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

_MAKING = ("return_inverse", "return_counts")  # what `unique` is asked for besides


def as_many(machine, function: Callable, value: Any, *args: Any, **options: Any) -> Any:
    """What a function of torch gives for an array, as arrays."""
    if wild.known_of(value) is not None:
        return machine.in_worlds(
            lambda given: as_many(machine, function, given[0], *args, **options), [value], value.reason
        )
    if not isinstance(value, Array):
        return Unknown("positions where something holds")
    return _arrays(machine, machine.foreign(function, (value.tensor, *args), options))


def _arrays(machine, found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple([_arrays(machine, one) for one in found])
    if isinstance(found, torch.Tensor):
        return Array(found)
    if wild.known_of(found) is not None:
        return machine.in_worlds(lambda given: Array(given[0]), [found], found.reason)
    return found


def _nonzero(machine, value):
    return as_many(machine, torch.where, value)


def _flatnonzero(machine, value):
    return as_many(machine, torch.where, value.ravel())[0] if isinstance(value, Array) else Unknown("positions")


def _argwhere(machine, value):
    return as_many(machine, torch.nonzero, value)


def _unique(machine, value, return_index=False, return_inverse=False, return_counts=False, axis=None, **options):
    if return_index is not False or options:
        return Unknown("distinct values")
    asked = {name: True for name, given in zip(_MAKING, (return_inverse, return_counts)) if given is True}
    return as_many(machine, torch.unique, value, **asked, **({"dim": axis} if axis is not None else {}))


def _bincount(machine, value, weights=None, minlength=0):
    """As many counts as the largest number says, or as are asked for at least."""
    if not isinstance(value, Array) or value.ndim != 1 or type(minlength) is Unknown:
        return Unknown("counts of numbers")
    dtype = torch.int64 if weights is None else torch.float64
    return wild.tensor("counts of numbers", [minlength or None], dtypes=(dtype,), make=Array, free=wild.Free.COUNTED)


PLACES = {
    f"numpy.{function.__name__.strip('_')}": Special(function.__name__.strip("_"), function)
    for function in (_nonzero, _flatnonzero, _argwhere, _unique, _bincount)
}
