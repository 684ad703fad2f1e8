"""Whether gradients are cleared for a backward that follows: once in a round, or for each optimizer of several."""

from __future__ import annotations

from torchlint.source.training.acts import Act
from torchlint.source.training.cleared_each import is_for_each


def is_cleared_for(clear: Act, backward: Act | None, steps: list[Act]) -> bool:
    """`steps` are all that are taken around: which of several optimizers one belongs to is not told."""
    return backward is not None and (not clear.event.loops or not steps and is_for_each(clear, backward))
