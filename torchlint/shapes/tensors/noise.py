"""Data that a program makes up: real numbers, each drawn by itself. Of these every column is somewhere the greatest,
and some lie above a number in their midst: `x[:, 1:5].argmax(1)` holds 0, 1, 2 and 3, `(x[:, 0] > 0).long()` 0 and 1.

The storage says so (`noise`): whether as many are below zero as above, and between which numbers they lie evenly.
What is made of each number alone, of sums of other numbers each time, and of products with weights that are drawn, too,
is such data again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from torchlint.shapes.tensors.ranges import OFTEN, Interval, keep


class Noise(NamedTuple):
    """How real numbers are drawn; of a mask, what is left is that either is often so."""

    even: bool  # above zero as often as below
    between: tuple[float, float] | None = None


_UNIT = Noise(False, (0.0, 1.0))


def follow(name: str, args: tuple, tensors: list, result: Any) -> None:
    """Say of the result of an operation what the data it was given make of it."""
    if name in ("randn", "randn_like", "rand", "rand_like"):
        result.untyped_storage().noise = Noise(True) if name.startswith("randn") else _UNIT
        return
    drawn = []
    for tensor in tensors:
        if (one := _noise(tensor)) is None:
            return
        drawn.append(one)
    if not drawn:
        return
    if name in ("argmax", "argmin", "max", "min", "topk"):
        _choose(tensors[0], args[1 + (name == "topk") :], result[-1] if isinstance(result, tuple) else result)
    elif not isinstance(result, torch.Tensor) or not result.numel():
        return
    elif result.dtype.is_floating_point:
        made = _made(name, args, tensors, drawn)
        if made is not None:
            result.untyped_storage().noise = made
    elif result.dtype is torch.bool:
        if name in ("gt", "lt", "ge", "le") and len(drawn) == 1 and _parts(drawn[0], args[1], result.numel()):
            result.untyped_storage().noise = drawn[0]
    elif name == "_to_copy":
        keep(result, _whole(tensors[0], drawn[0]))


def _noise(tensor: torch.Tensor) -> Noise | None:
    """How a tensor is drawn, if it shows each number once."""
    noise = tensor.untyped_storage().__dict__.get("noise")
    if noise is None or any(size > 1 and not stride for size, stride in zip(tensor.shape, tensor.stride())):
        return None
    return noise if tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes() else None


def _choose(scores: torch.Tensor, args: tuple, places: Any) -> None:
    """The place of the greatest of a few is each of them, somewhere."""
    axis = next((a for a in args if type(a) is int), None)
    if axis is not None and isinstance(places, torch.Tensor) and not places.dtype.is_floating_point:
        size = scores.shape[axis]
        if scores.numel() >= OFTEN * size * size:
            keep(places, Interval(0, size - 1, True, True))


def _parts(noise: Noise, border: Any, count: int) -> bool:
    """Whether some of the numbers are above a border, and some below."""
    if type(border) not in (int, float):
        return False
    if noise.between is None:
        return noise.even and border == 0 and count >= 2 * OFTEN
    low, high = noise.between
    return count * min(border - low, high - border) >= OFTEN * (high - low)


def _whole(tensor: torch.Tensor, noise: Noise) -> Interval | None:
    """The whole numbers that a mask becomes, or that are left of real ones: `(torch.rand(100) * 5).long()`."""
    if tensor.dtype is torch.bool:
        return Interval(0, 1, True, True)
    low, high = noise.between or (0.0, 0.0)
    if low != 0 or high != int(high) or not 0 < high <= tensor.numel() / OFTEN:
        return None
    return Interval(0, int(high) - 1, True, True)


def _made(name: str, args: tuple, tensors: list, drawn: list) -> Noise | None:
    """What an operation makes of data that are real numbers."""
    first = drawn[0]
    if name in ("clone", "_to_copy", "contiguous"):
        return first
    if name in ("mm", "bmm", "matmul"):
        return first if tensors[0].shape[-1] >= tensors[1].shape[-1] and all(d.even for d in drawn) else None
    if name in ("add", "sub", "mul") and len(drawn) == 2:
        apart = tensors[0].untyped_storage()._cdata != tensors[1].untyped_storage()._cdata
        same = tensors[0].shape == tensors[1].shape
        if not same or not apart and _overlap(*tensors):
            return None
        return Noise(all(d.even for d in drawn) or name == "mul" and any(d.even for d in drawn))
    if name in ("add", "sub", "mul", "div") and type(args[1]) in (int, float) and args[0] is tensors[0]:
        return _moved(name, first, float(args[1]))
    if name in ("sum", "mean"):
        return Noise(first.even) if len(args) > 1 else None
    return Noise(False) if name in ("abs", "exp", "sigmoid", "_softmax", "_log_softmax") else None


def _overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two views of the same memory, alike in shape, may show the same number in the same place."""
    return a.stride() != b.stride() or a.storage_offset() == b.storage_offset()


def _moved(name: str, noise: Noise, by: float) -> Noise | None:
    if name in ("mul", "div"):
        if not by:
            return None
        scale = by if name == "mul" else 1 / by
        ends = sorted(end * scale for end in noise.between or ())
        return Noise(noise.even, (ends[0], ends[1]) if ends else None)
    shift = by if name == "add" else -by
    return Noise(False, (noise.between[0] + shift, noise.between[1] + shift) if noise.between else None)
