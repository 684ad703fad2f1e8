"""Values of tensors that are only an example: while somebody looks for a run that comes to its end, every number that
nobody knows is one. A mask then takes all, an index names the second of its kind, and each count is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_MOST = 1_000_000  # numbers of one tensor
_lasting: list[Examples] = []
wanted = [0]  # how often values were asked for that an example could stand for, by now


class Examples:
    """Those of one search."""

    def __init__(self):
        self.given = 0  # how many were asked for


@contextmanager
def supposed() -> Iterator[Examples]:
    """While this lasts, what depends on unknown values has an example of a result."""
    _lasting.append(Examples())
    try:
        yield _lasting[-1]
    finally:
        _lasting.pop()


def has_example(function: Any, tensors: list[torch.Tensor]) -> bool:
    """Whether an operation that depends on values may be done with examples now. A truth value never has one: which
    way a program goes is decided by others.
    """
    wanted[0] += 1
    if not _lasting or any(tensor.numel() > _MOST for tensor in tensors):
        return False
    if function in (torch.ops.aten.index.Tensor, torch.ops.aten._unsafe_index.Tensor):
        return True  # by a mask
    one = function is torch.ops.aten._local_scalar_dense.default
    return _counts(tensors[0]) if one else torch.Tag.dynamic_output_shape in function.tags


def _counts(tensor: torch.Tensor) -> bool:
    return tensor.dtype in (torch.int64, torch.int32, torch.int16, torch.uint8)


def example(tensor: torch.Tensor) -> Any:
    """The values of a tensor that has none."""
    _lasting[-1].given += 1
    return torch.ones(tensor.shape, dtype=tensor.dtype, device="cpu")
