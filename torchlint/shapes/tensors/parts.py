"""Which part of a tensor an index takes."""

from __future__ import annotations

from typing import Any

import torch


def is_beyond(tensor: torch.Tensor, index: Any) -> bool:
    """Whether a part of a tensor is asked for that is behind its end; to leave out the first row says nothing."""
    parts = index if isinstance(index, tuple) else (index,)
    for part, size in zip(parts, tensor.shape):
        if type(part) is slice and type(part.start) is int and part.start > 1:
            if part.start >= size or type(part.stop) is int and part.stop > size:
                return True
        elif type(part) is not int and type(part) is not slice:
            break
    return False
