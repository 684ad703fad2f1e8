"""What is known of an item of a list at a place that nobody knows, of a dict under such a key: what all of its items
have in common.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Unknown, one_of
from torchlint.shapes.language.cut_short import REST
from torchlint.shapes.tensors import ranges, wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.dispatch import value_of
from torchlint.shapes.tensors.vectors import Vector

MOST = 1000  # items that are compared
_DEPTH = 3
_ANYWHERE = "an item at an unknown position"


def is_unknown_place(key: Any) -> bool:
    """Whether it is a whole number that nobody knows: of Python, or in a tensor or an array."""
    if isinstance(key, Array):
        return not key.shape and not key.tensor.is_floating_point()
    if isinstance(key, torch.Tensor):
        is_place = not key.dim() and not key.is_floating_point() and key.dtype is not torch.bool
        return is_place and value_of(key) is None
    return type(key) is Unknown


def any_item(machine: Any, items: Any, key: Any) -> Any:
    """`items[key]`"""
    is_place = type(key) is not Unknown or key.known == wild.WHOLE
    if is_place and len(items) <= MOST and id(items) not in machine.lent:
        machine.budget.spend(len(items) >> 2)
        found = _common(machine, [item for item in items if item is not REST], _DEPTH)
        if type(found) in machine.codes:
            machine.lend([item for item in items if item is not REST])  # what is set of one may be set of any
        for one in items if type(found) in (list, dict) else ():
            if type(one) is type(found):
                machine.changes.loosen(one)
        if type(found) not in (list, dict) and (type(found) is not Unknown or found.known is not None):
            return found  # what is put into a list or dict would be in none of them
    item = one_of(items, _ANYWHERE)
    item.known = wild.kind_among(items)
    return item


def in_common(machine: Any, items: list) -> Any:
    """One of some items, of which is known what all have in common."""
    return _common(machine, items, _DEPTH)


def any_value(machine: Any, table: dict, key: Unknown) -> Any:
    """`table[key]`: whichever of its keys it is, for with another one Python ends there."""
    is_key = key.known in (wild.TEXT, wild.WHOLE) and type(table) in (dict, OrderedDict)
    if is_key and len(table) <= MOST and id(table) not in machine.lent:
        machine.budget.spend(len(table) >> 2)
        found = _common(machine, [value for known, value in table.items() if known is not REST], _DEPTH)
        if isinstance(found, (torch.Tensor, Array, tuple)):
            return found
    item = one_of(table, "the value of an unknown key")
    item.known = wild.kind_among(value for value in table.values() if value is not REST)
    return item


def _common(machine: Any, items: list, depth: int) -> Any:
    if not items or not depth:
        return Unknown(_ANYWHERE)
    first, kind = items[0], type(items[0])
    if isinstance(first, (torch.Tensor, Array)) and all(wild.is_same(first, one) for one in items):
        return _without_values(machine, first)
    if first is None or any(type(one) is not kind for one in items):
        return None if not any(one is not None for one in items) else _one_of(items)
    if kind is str:
        return first if all(one == first for one in items) else wild.unknown(_ANYWHERE, wild.TEXT)
    if kind is Unknown:
        is_known = all(wild.known_of(one) is not None for one in items)
        return first if is_known and wild.are_known_alike(items) else _one_of(items)
    if kind is dict:
        same = all(one.keys() == first.keys() for one in items)
        return _parts(machine, items, depth) if same else _one_of(items)
    if kind is list or issubclass(kind, tuple):
        if any(len(one) != len(first) for one in items):
            return _one_of(items)
        parts = [_common(machine, list(part), depth - 1) for part in zip(*items)]
        return parts if kind is list else kind(*parts) if hasattr(kind, "_fields") else tuple(parts)
    if kind in machine.codes and not issubclass(kind, nn.Module) and not machine.is_open(kind):
        return _object(machine, kind, items, depth)
    return _one_of(items)


def _one_of(items: list) -> Unknown:
    return wild.unknown(_ANYWHERE, wild.kind_among(items))


def _parts(machine: Any, items: list[dict], depth: int) -> dict:
    return {key: _common(machine, [one[key] for one in items], depth - 1) for key in items[0]}


def _object(machine: Any, kind: type, items: list, depth: int) -> Any:
    """One of some objects of a class of the program, `graphs[i]`, which have the same attributes."""
    held = [getattr(one, "__dict__", {}) for one in items]
    if not held[0] or any(one.keys() != held[0].keys() for one in held):
        return Unknown(_ANYWHERE)
    made = object.__new__(kind)
    made.__dict__.update(_parts(machine, held, depth))
    return made


def _without_values(machine: Any, one: Any) -> Any:
    """The same, of which nobody knows the numbers: those of the others are others."""
    tensor = one.tensor if isinstance(one, Array) else one
    if isinstance(tensor, nn.Parameter) or not ranges.is_known(tensor) and type(one) is not Vector:
        return one
    made = machine.foreign(torch.clone, (tensor,), {})
    ranges.forget(made)
    return Array(made) if isinstance(one, Array) else made
