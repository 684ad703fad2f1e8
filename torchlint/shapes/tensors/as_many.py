"""What has as many items as the data say: what a mask takes, the places of what holds, distinct values.

Nobody knows how many these are; for any number, all else of the shape is known. `maker` says who makes it for one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.tensors.arrays import Array

_MASKS = (torch.bool, torch.uint8)
_AT_ONCE = (int, slice, type(None), type(...))  # beside a mask in an index, these choose nothing that must fit it
_MADE: dict[str, Callable] = {}  # by the name of a function of torch


def _of(*names: str) -> Callable[[Callable], Callable]:
    """Says that a function makes what these functions of torch give."""

    def register(make: Callable) -> Callable:
        _MADE.update(dict.fromkeys(names, make))
        return make

    return register


def _owner(function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, tuple]:
    """The tensor of a method or a function, and its other arguments."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.Tensor):
        return owner, args
    return (args[0], args[1:]) if args else (kwargs.get("input"), ())


def _positions(tensor: torch.Tensor, many: int) -> torch.Tensor:
    return tensor.new_empty((many,), dtype=torch.int64)


def _item(many: int, owner: Any, key: Any) -> Any:
    if isinstance(owner, Array):
        made = _item(many, owner.tensor, _of_tensors(key))
        return Array(made) if made is not None else None
    parts = list(key) if type(key) is tuple else [key]
    masks = [part for part in parts if isinstance(part, torch.Tensor) and part.dtype in _MASKS]
    if len(masks) != 1 or not all(part is masks[0] or type(part) in _AT_ONCE for part in parts):
        return None
    at, mask = next((number, part) for number, part in enumerate(parts) if part is masks[0])
    return owner[(*parts[:at], *[_positions(mask, many)] * mask.dim(), *parts[at + 1 :])] if mask.dim() else None


def dimension_at(parts: list, number: int, rank: int) -> int:
    """Which dimension of a tensor of so many a part of an index is for."""
    taken = sum(_taken_by(part) for part in parts if part is not ...)
    return sum(rank - taken if part is ... else _taken_by(part) for part in parts[:number])


def _taken_by(part: Any) -> int:
    mask = part.tensor if isinstance(part, Array) else part
    if isinstance(mask, torch.Tensor) and mask.dtype in _MASKS:
        return mask.dim()
    return 0 if part is None or type(part) is bool else 1


def chosen(tensor: torch.Tensor, dimension: int, many: int) -> torch.Tensor:
    """So many parts of a tensor in one of its dimensions, whichever they are."""
    if not 0 <= dimension < tensor.dim():
        raise IndexError(f"too many indices for tensor of dimension {tensor.dim()}")
    return tensor.index_select(dimension, _positions(tensor, many))


def check_masks(tensor: torch.Tensor, indices: Any) -> None:
    """Raise what torch raises for a mask that is not as large as what it is laid on."""
    first = 0
    for index in indices:
        if not isinstance(index, torch.Tensor) or index.dtype not in _MASKS:
            first += 1
            continue
        for number, size in enumerate(index.shape, first):
            if number >= tensor.dim() or tensor.shape[number] != size:
                raise IndexError(
                    f"The shape of the mask {list(index.shape)} at index {number - first} does not match the shape of"
                    f" the indexed tensor {list(tensor.shape)} at index {number}"
                )
        first += index.dim()


def _of_tensors(key: Any) -> Any:
    if type(key) is tuple:
        return tuple([_of_tensors(part) for part in key])
    return key.tensor if isinstance(key, Array) else key


@_of("nonzero", "argwhere")
def _nonzero(many: int, tensor: torch.Tensor, as_tuple: bool = False) -> Any:
    if as_tuple:
        return _where(many, tensor)
    return tensor.new_empty((many, tensor.dim()), dtype=torch.int64)


@_of("where")
def _where(many: int, test: torch.Tensor) -> Any:
    return tuple([_positions(test, many) for _ in range(max(test.dim(), 1))])


@_of("masked_select")
def _masked_select(many: int, tensor: torch.Tensor, mask: torch.Tensor) -> Any:
    return tensor.broadcast_to(torch.broadcast_shapes(tensor.shape, mask.shape)).reshape(-1)[_positions(mask, many)]


@_of("unique_consecutive")
def _unique_consecutive(many, tensor, return_inverse=False, return_counts=False, dim=None) -> Any:
    size = tensor.shape if dim is None else (tensor.shape[dim],)
    shape = (many,) if dim is None else [many if i == dim % tensor.dim() else n for i, n in enumerate(tensor.shape)]
    inverse = [tensor.new_empty(size, dtype=torch.int64)] if return_inverse else []
    counts = [_positions(tensor, many)] if return_counts else []
    values = tensor.new_empty(shape)
    return (values, *inverse, *counts) if inverse or counts else values


@_of("unique")
def _unique(many, tensor, sorted=True, return_inverse=False, return_counts=False, dim=None) -> Any:
    return _unique_consecutive(many, tensor, return_inverse, return_counts, dim)


@_of("repeat_interleave")
def _repeat_interleave(many, tensor, repeats=None, dim=None, output_size=None) -> Any:
    if repeats is None:
        return _positions(tensor, many)
    tensor, dim = (tensor.reshape(-1), 0) if dim is None else (tensor, dim)
    if not isinstance(repeats, torch.Tensor) or repeats.numel() not in (1, tensor.shape[dim]):
        return None
    return chosen(tensor, dim % tensor.dim(), many)


@_of("bincount")
def _bincount(many, tensor, weights=None, minlength=0) -> Any:
    """Who asks for so many counts at least knows of no more."""
    if type(minlength) is not int:
        return None
    if tensor.is_floating_point() or tensor.dtype is torch.bool:
        raise NotImplementedError(f"bincount is not implemented for {str(tensor.dtype).removeprefix('torch.')}")
    if tensor.dim() != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    dtype = torch.int64 if weights is None else torch.float32 if weights.dtype is torch.float32 else torch.float64
    return tensor.new_empty((minlength or many,), dtype=dtype)


def masks_in(function: Any, args: tuple) -> list[torch.Tensor]:
    """The masks of which a call asks where they hold."""
    owner = getattr(function, "__self__", None)
    parts = [part for arg in (owner, *args) for part in (arg if type(arg) is tuple else (arg,))]
    return [part for part in parts if isinstance(part, torch.Tensor) and part.dtype in _MASKS]


def maker(function: Any, args: tuple, kwargs: dict[str, Any]) -> Callable[[int, tuple, dict], Any] | None:
    """How to make what a call gives, if it gives as many items as the data say; None if it is no such call. What is
    made is None if it cannot be told after all.
    """
    if function is operator.getitem:
        return lambda many, args, kwargs: _item(many, *args)
    make = _MADE.get(getattr(function, "__name__", ""))
    if make is None or not isinstance(_owner(function, args, kwargs)[0], torch.Tensor):
        return None

    def of_call(many: int, args: tuple, kwargs: dict[str, Any]) -> Any:
        owner, rest = _owner(function, args, kwargs)
        try:
            return make(many, owner, *rest, **{name: value for name, value in kwargs.items() if name != "input"})
        except TypeError:  # arguments that only torch knows
            return None

    return of_call
