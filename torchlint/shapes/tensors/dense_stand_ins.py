"""The dense tensors that stand for sparse ones: a tensor without data cannot be sparse."""

from __future__ import annotations

from typing import Any

import torch


def in_place_of(made: Any) -> Any:
    """What torch made, or the dense tensor that stands for it if that is sparse."""
    if not isinstance(made, torch.Tensor) or made.layout is torch.strided:
        return made
    return mark(torch.empty(made.shape, dtype=made.dtype, device="meta"))


def mark(tensor: torch.Tensor) -> torch.Tensor:
    tensor.untyped_storage().stands_for_sparse = True
    return tensor


def is_sparse(tensor: torch.Tensor) -> bool:
    """Whether a tensor was made as a sparse one; what is computed of it does not say so."""
    return tensor.layout is not torch.strided or "stands_for_sparse" in tensor.untyped_storage().__dict__
