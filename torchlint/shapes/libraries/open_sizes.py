"""torch's functions that make a tensor of a size: of one that nobody knows, they make a tensor whose size is free."""

from __future__ import annotations

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown, unknown_in
from torchlint.shapes.tensors import device_tags, wild
from torchlint.shapes.tensors.wild import Free

_FLOATS = (wild.REAL, wild.FLOAT, wild.DRAWN)


def sized(machine, given, dtype, device=None, make=None):
    """A tensor of sizes of which some are unknown, or an array, as `make` says."""
    sizes = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
    if not machine.wild or not all(type(n) in (int, Unknown) for n in sizes):
        return from_unknown(unknown_in(sizes), "a tensor of unknown size")
    reason = unknown_in(sizes).reason
    open_to_all = sizes is given and len(sizes) == 1 and sizes[0].known is None  # a size, or all of them
    shape = None if open_to_all else [n if type(n) is int else _both(machine, n) for n in sizes]
    are_numbers = all(type(n) is int or wild.is_number(n) or wild.known_of(n) is not None for n in sizes)
    return _made(reason, shape, (dtype,), device, make, are_numbers)


def _both(machine, number):
    """The two example sizes of a number: the same each time that it is a size."""
    if not wild.is_number(number):
        return None
    held, both = machine.sizes.get(id(number), (None, None))
    if held is not number:
        both = wild.free_size()
        machine.sizes[id(number)] = number, both
    return both


def _made(reason, shape, dtypes, device, make=None, are_numbers=True):
    if make is None:
        device, make = (None, device_tags.anywhere) if type(device) is Unknown else (device, lambda made: made)
    free = Free.GIVEN if shape is None or not are_numbers else Free.DRAWN if reason.drawn else Free.COUNTED
    return wild.tensor(reason, shape, dtypes=dtypes, device=device, make=make, free=free)


def factory(name, first=0):
    """`torch.zeros` and its kin, `torch.full` and `torch.randint`: the sizes stand where `first` says, or are the first
    sequence there.
    """
    function = getattr(torch, name)

    def make(machine, *args, **kwargs):
        sizes = (kwargs["size"],) if "size" in kwargs else args[first:]
        if first or name == "full":
            sizes = next(([one] for one in sizes if isinstance(one, (list, tuple))), [])
        flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
        dtype, device = kwargs.get("dtype"), kwargs.get("device")
        if kwargs.get("requires_grad", False) is not False or "out" in kwargs:
            return machine.foreign(function, args, kwargs)
        if unknown_in(flat) is None or not machine.wild:
            return machine.foreign(function, args, kwargs)
        if wild.choices_in(flat)[1] is None and unknown_in((dtype, device)) is None:
            return machine.call_known(function, args, kwargs, unknown_in(flat).reason)
        if name == "full" and dtype is None:
            value = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
            if type(value) not in (int, float, bool):
                return from_unknown(unknown_in(flat), "a tensor of unknown numbers")
            dtype = torch.tensor(value).dtype
        dtype = dtype or (torch.int64 if name == "randint" else torch.get_default_dtype())
        return sized(machine, flat, dtype, device)

    return Special(name, make)


def arange(machine, *bounds, **options):
    """`torch.arange` up to a number that nobody knows."""
    dtype, device = options.get("dtype"), options.get("device")
    if not machine.wild or type(dtype) is Unknown or unknown_in([*options.values()]) is not None:
        return machine.foreign(torch.arange, bounds, options)
    values = [machine.call(b.item, [], {}) if isinstance(b, torch.Tensor) and b.numel() == 1 else b for b in bounds]
    open_bounds = [b for b in values if type(b) is Unknown]
    if not open_bounds:
        return machine.foreign(torch.arange, bounds, options)
    if all(map(wild.is_number, open_bounds)):
        of_float = dtype is None and any(type(b) is float or type(b) is Unknown and b.known in _FLOATS for b in values)
        kind = dtype or (torch.get_default_dtype() if of_float else torch.int64)
        return _made(open_bounds[0].reason, [None], (kind,), device)
    return machine.foreign(torch.arange, tuple(values), options)


def randperm(machine, n=None, dtype=torch.int64, device=None, **options):
    """`torch.randperm` of so many numbers."""
    if machine.wild and wild.is_number(n) and type(dtype) is not Unknown:
        return _made(n.reason, [None], (dtype,), device)
    place = {"device": device} if device is not None else {}
    return machine.foreign(torch.randperm, (n,), {"dtype": dtype, **place, **options})
