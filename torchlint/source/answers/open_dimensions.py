"""A softmax for which nothing says over which dimension it goes, as it happens in the dry run."""

from __future__ import annotations

from torchlint.facts import named_of, words

# Where one of these stands, the first dimension may be time.
_TURNING = words(named_of("transpose", "permute", "swapaxes", "movedim", "unbind", "einsum", "LSTM", "GRU", "RNN"))
_TURNS = "|".join((*sorted(_TURNING), "rearrange", "Transformer", "Multihead", r"\.[tT]\b"))


def runs_over_samples(operation) -> bool:
    """Of a softmax that happens in the dry run, with no dimension given: does it take the batch, the first of three?"""
    shape = getattr(operation.argument("input", 0), "shape", ())
    is_left_open = len(shape) == 3 and operation.argument("dim", 1) is None and not operation.guessed
    return is_left_open and not operation.file_says(_TURNS)
