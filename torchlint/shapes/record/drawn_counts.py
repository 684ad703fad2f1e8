"""How many of what was drawn are counted: `(torch.rand(99, 24) < 0.1).sum(1)` is likely to be 0 somewhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.shapes.record.listening import Operand, Operation

_LIKELY = 0.1  # counts of nothing, of all that are made at once


def likely_empty_draw(count: Operand) -> Operation | None:
    """The draw of which a tensor counts nothing at all somewhere, if the numbers say that this is likely."""
    summed = count.source()
    mask = summed.argument("input", 0) if summed is not None and summed.name == "sum" else None
    drawn = mask.source(("new_empty",)) if hasattr(mask, "source") else None  # a loader's batch of samples
    share = _share(drawn) if drawn is not None else None
    if share is None or summed is None or summed.guessed or drawn is None or drawn.guessed:
        return None
    if mask.is_open or drawn.result.is_open:
        return None
    counts = math.prod(summed.result.shape)
    length = math.prod(mask.shape) / max(counts, 1)
    return drawn if counts * (1 - share) ** length >= _LIKELY else None


def _share(drawn: Operation) -> float | None:
    """The share of random numbers that a comparison lets through."""
    numbers, level = drawn.argument("input", 0), drawn.argument("other", 1)
    made = getattr(numbers, "made_by", None)
    if made is None or made.name not in ("rand", "rand_like") or type(level) is not float or not 0 < level < 1:
        return None
    return level if drawn.name in ("lt", "le") else 1 - level if drawn.name in ("gt", "ge") else None
