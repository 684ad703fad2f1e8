"""Whether two values are of one kind: what torch refuses for one of them it refuses for the other."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.tensors import device_tags
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.wild import FREE


def is_like(value: Any, other: Any) -> bool:
    """Is a value a tensor or an array like another, or the same thing? An array that is read backwards allows less: it
    may stand for one that is not.
    """
    if value is other:
        return True
    if type(value) is Array and type(other) is Array:
        return (value.backwards or not other.backwards) and _is_like(value.tensor, other.tensor, with_places=False)
    return type(value) is type(other) and isinstance(value, torch.Tensor) and _is_like(value, other)


def _is_like(tensor: torch.Tensor, other: torch.Tensor, with_places: bool = True) -> bool:
    with torch._C.DisableTorchFunction():
        if tensor.layout is not torch.strided or other.layout is not torch.strided:
            return False
        if tensor.shape != other.shape or tensor.dtype != other.dtype:
            return False
        if with_places and tensor.stride() != other.stride():
            return False
        if tensor.requires_grad != other.requires_grad or tensor.is_leaf != other.is_leaf:
            return False
        same_place = (device_tags.tag_of(tensor) or "cpu") == (device_tags.tag_of(other) or "cpu")
        return same_place and getattr(tensor, FREE, ()) == getattr(other, FREE, ())
