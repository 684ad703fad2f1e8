"""How many places of a mask hold by chance: `chosen == expert` of what a router chooses, `labels == 1` of labels that
are drawn. What such a mask takes has another length each time: to fit a certain size, it would have to be just that.

The storage of whole numbers that are drawn one by one, or that say which score is the greatest, says between which
these are (`chance`), and that of a mask that compares these with one of them is marked, too. An order, or numbers that
are counted off, are no such: of these, just so many are alike.
"""

from __future__ import annotations

from typing import Any

import torch

from torchlint.facts import named_of, words
from torchlint.shapes.tensors import ranges

_MANY = 16  # numbers of which some are alike by chance; of fewer all may be


def is_by_chance(value: Any) -> bool:
    """Whether what a tensor holds is so by chance."""
    return isinstance(value, torch.Tensor) and value.numel() >= _MANY and "chance" in value.untyped_storage().__dict__


def follow(name: str, args: tuple, tensors: list, result: Any) -> None:
    """Mark the result of an operation, if what it holds is so by chance."""
    if name not in _OPERATIONS:
        return
    if name in ("randint", "randint_like"):
        bounds = [a for a in args if type(a) is int]
        _mark(result, (bounds[-2] if len(bounds) > 1 else 0, bounds[-1] - 1) if bounds else None)
    elif name in ("topk", "max") and isinstance(result, tuple):
        _mark(result[-1], _places(tensors[0], args[1 + (name == "topk") :], result[-1]))
    elif name == "argmax" and isinstance(result, torch.Tensor):
        _mark(result, _places(tensors[0], args[1:], result))
    elif (shift := _shift(name)) and len(tensors) == 1 and type(args[1]) is int and (bounds := _bounds(tensors[0])):
        low, high = (bound + by for bound, by in zip(bounds, shift))
        _mark(result, bounds if low <= args[1] <= high and bounds[0] < bounds[1] else None)
    elif _keeps_chance(name) and tensors and (name not in ("any", "all") or tensors[0].dtype is torch.bool):
        _mark(result, _bounds(tensors[0]))


def _shift(name: str) -> tuple[int, int] | None:
    """By how much the bounds between which a comparison is open differ from those of the numbers."""
    if name in ("eq", "ne"):
        return 0, 0
    if name in ("lt", "ge"):
        return 1, 0
    return (0, -1) if name in ("le", "gt") else None


def _keeps_chance(name: str) -> bool:
    return name in _OF_MASKS or name in ranges.COPIES and name not in ("repeat", "expand_copy", "roll")


_OF_MASKS = words(named_of("bitwise_not", "logical_not", "index_select", "any", "all")) | {"index"}
_DRAWN = words(named_of("randint", "randint_like", "topk", "max", "argmax", "eq", "ne", "lt", "ge", "le", "gt"))
_OPERATIONS = _DRAWN | _OF_MASKS | ranges.COPIES


def _bounds(tensor: torch.Tensor) -> tuple[int, int] | None:
    return tensor.untyped_storage().__dict__.get("chance") if is_by_chance(tensor) else None


def _places(scores: torch.Tensor, args: tuple, places: torch.Tensor) -> tuple[int, int] | None:
    """Which numbers are among the places of the greatest scores, if a network computes these and some are smaller."""
    if not scores.requires_grad or scores.dim() != 2 or places.dim() == 0 or 2 * places.numel() > scores.numel():
        return None
    return 0, scores.shape[next((a for a in args if type(a) is int), -1)] - 1


def _mark(tensor: Any, bounds: tuple[int, int] | None) -> None:
    if bounds is not None and isinstance(tensor, torch.Tensor) and tensor.numel() >= _MANY:
        if not tensor.dtype.is_floating_point:
            tensor.untyped_storage().chance = bounds
