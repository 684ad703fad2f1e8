"""Whether two values are of one kind: what torch refuses for one of them it refuses for the other."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.wild import FREE, is_same


def is_like(value: Any, other: Any) -> bool:
    """Is a value a tensor or an array like another? An array that is read backwards allows less: it may stand for one
    that is not.
    """
    if not is_same(value, other):
        return False
    if isinstance(value, Array):
        return value.backwards or not other.backwards
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and _kept(value) == _kept(other)


def _kept(tensor: torch.Tensor) -> tuple:
    """How it lies in memory, what is behind it, and which of its sizes are open."""
    with torch._C.DisableTorchFunction():
        return tensor.stride(), tensor.requires_grad, tensor.is_leaf, getattr(tensor, FREE, ())
