"""How long sequences are, where the data say it: `torch.tensor([len(x) for x in batch])` holds a number for each, which
nobody knows but which is the same that the padded batch has for a size. In each world it may be compared with one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torchlint.shapes.core.values import machines

_MOST = 256  # numbers that are kept


class TooLong(RuntimeError):
    """Sequences are said to be longer than they are: no other size would make them fit."""


def in_both(rows: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    """The numbers of a row that was made with both sets of example sizes, if they are known there and differ."""
    if len(rows) != 2 or not all(isinstance(row, torch.Tensor) and row.dtype is torch.int64 for row in rows):
        return ()
    if any(row.dim() != 1 or len(row) > _MOST for row in rows):
        return ()
    known = [row.untyped_storage().__dict__.get("real") for row in rows]
    if any(real is None or real.shape != row.shape for real, row in zip(known, rows)):
        return ()
    first, second = (real.tolist() for real in known)
    return tuple(zip(first, second)) if first != second else ()


def hold(tensor: Any, numbers: tuple[tuple[int, int], ...]) -> None:
    """Say which numbers a row holds with both sets of example sizes."""
    if numbers:
        tensor.untyped_storage().lengths = numbers


def follow(name: str, tensors: list, result: Any) -> None:
    """A copy holds the same numbers, in whatever order."""
    result = result[0] if name == "sort" and isinstance(result, tuple) else result
    if (
        name in ("clone", "_to_copy", "contiguous", "alias", "lift_fresh", "flip", "sort")
        and isinstance(result, torch.Tensor)
        and len(tensors) == 1
    ):
        lengths = tensors[0].untyped_storage().__dict__.get("lengths")
        if lengths is not None and len(lengths) == result.numel():
            result.untyped_storage().lengths = lengths


def longest(tensor: Any) -> int:
    """The greatest of these numbers in the world that runs; 0 if they are not known, or none runs."""
    if not isinstance(tensor, torch.Tensor) or not machines or machines[-1].example is None:
        return 0
    lengths = tensor.untyped_storage().__dict__.get("lengths", ())
    return max((both[machines[-1].world] for both in lengths), default=0) if len(lengths) == tensor.numel() else 0
