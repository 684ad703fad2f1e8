"""A softmax for which nothing says over which dimension it goes, as it happens in the dry run."""

from __future__ import annotations

# Where one of these stands, the first dimension may be time.
_TURNS = r"transpose|permute|swapaxes|movedim|einsum|rearrange|unbind|\.[tT]\b|\b(LSTM|GRU|RNN)\b|Transformer|Multihead"


def runs_over_samples(operation) -> bool:
    """Of a softmax that happens in the dry run, with no dimension given: does it take the batch, the first of three?"""
    shape = getattr(operation.argument("input", 0), "shape", ())
    is_left_open = len(shape) == 3 and operation.argument("dim", 1) is None and not operation.guessed
    return is_left_open and not operation.file_says(_TURNS)
