"""`ctc_loss`, which has no kernel without data: it looks at the lengths first, and its result has the shape of the
batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import machines
from torchlint.shapes.tensors import open_lengths, ranges

_NAMES = ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction", "zero_infinity")
_PLACE = " (while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The function of torch and that of `nn.functional`, which the layer calls."""
    given = dict(zip(_NAMES, args)) | kwargs
    scores, targets = given["log_probs"], given["targets"]
    if not all(isinstance(one, torch.Tensor) for one in (scores, targets)) or scores.dim() not in (2, 3):
        return function(*args, **kwargs)
    batch = scores.shape[1] if scores.dim() == 3 else 1
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        text = _refusal(scores, targets, batch, given["input_lengths"], given["target_lengths"])
        longest = open_lengths.longest(given["input_lengths"])
    if machines and machines[-1].is_sure():
        if text:
            machines[-1].refuse(RuntimeError(text), function, args)
        if longest > len(scores):
            text = f"Expected input_lengths to have value at most {len(scores)}, but got value {longest}{_PLACE}"
            machines[-1].refuse(open_lengths.TooLong(text), function, args)
    each = scores.sum(tuple({0, scores.dim() - 1}))
    return each if given.get("reduction", 1) in (0, "none") else each.sum()


def _refusal(scores: torch.Tensor, targets: torch.Tensor, batch: int, steps: Any, marks: Any) -> str:
    """What torch says of lengths that are known."""
    for name, lengths in (("input_lengths", steps), ("target_lengths", marks)):
        if _number_of(lengths) not in (batch, None):
            return f"{name} must be of size batch_size"
    low, high = _ends_of(steps)
    if low < 0 or high > len(scores):
        bound, there = ("least 0", low) if low < 0 else (f"most {len(scores)}", high)
        return f"Expected input_lengths to have value at {bound}, but got value {there}{_PLACE}"
    low, high = _ends_of(marks)
    if low < 0:
        return f"Expected target_lengths to have value at least 0, but got value {low}{_PLACE}"
    if targets.dim() == 2 and scores.dim() == 3 and high > targets.shape[1]:
        found = f"at least {high} at dimension 1, but got size {targets.shape[1]} for argument #2 'targets'"
        return f"Expected tensor to have size {found}{_PLACE}"
    return ""


def _number_of(lengths: Any) -> int | None:
    if isinstance(lengths, torch.Tensor):
        return lengths.shape[0] if lengths.dim() == 1 else 1 if not lengths.dim() else None
    return len(lengths) if isinstance(lengths, (list, tuple)) else None


def _ends_of(lengths: Any) -> tuple[int, int]:
    """The least and the greatest of some lengths, as far as they are known."""
    if isinstance(lengths, torch.Tensor):
        span = ranges.span_of(lengths)
        return (span.low, span.high) if span is not None else (0, 0)
    known = [one for one in lengths if type(one) is int] if isinstance(lengths, (list, tuple)) else []
    return min(known, default=0), max(known, default=0)
