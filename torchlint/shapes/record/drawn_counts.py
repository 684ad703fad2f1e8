"""How many of what was drawn are counted: `(torch.rand(99, 24) < 0.1).sum(1)` is likely to be 0 somewhere, and so is
the number of edges to each of many nodes that are drawn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from torchlint.facts import named, named_of, words

if TYPE_CHECKING:
    from torchlint.shapes.record.listening import Operand, Operation

_LIKELY = 0.1  # counts of nothing, of all that are made at once
_FILLING = words(named_of("index_add", "scatter_add"))
_NOTHING = words(named_of("zeros", "zeros_like", "new_zeros"))
_VIEWS = words(named("same_numbers", but="cuts"))
_BEHIND = 8  # views of what was counted


def likely_empty_draw(count: Operand) -> Operation | None:
    """The draw of which a tensor counts nothing at all somewhere, if the numbers say that this is likely."""
    summed = count.source()
    mask = summed.argument("input", 0) if summed is not None and summed.name == "sum" else None
    drawn = mask.source(("new_empty",)) if hasattr(mask, "source") else None  # a loader's batch of samples
    if summed is None or summed.guessed or drawn is None or drawn.guessed or mask.is_open or drawn.result.is_open:
        return None
    counts = math.prod(summed.result.shape)
    lengths, share = _lengths(drawn), _share(drawn)
    if lengths is not None:
        return drawn if lengths.rows == counts and lengths.rows / lengths.kinds >= _LIKELY else None
    if share is None:
        return None
    length = math.prod(mask.shape) / max(counts, 1)
    return drawn if counts * (1 - share) ** length >= _LIKELY else None


def likely_left_out(count: Operand) -> Operation | None:
    """`torch.zeros(60).index_add(0, nodes, ones)`, where `nodes` are 90 that are drawn."""
    counting = filling(count)
    cells, places = (counting and counting.argument(name, at) for name, at in (("input", 0), ("index", 2)))
    drawn = places.source() if hasattr(places, "source") else None
    if counting is None or drawn is None or drawn.name != "randint" or counting.guessed or drawn.guessed:
        return None
    made = cells.made_by
    bounds = [arg for arg in drawn.args[:2] if type(arg) is int]
    if made is None or made.name not in _NOTHING or not bounds or counting.argument("dim", 1) != 0:
        return None
    if made.version is None or cells.tensor._version - (cells == counting.result) != made.version:
        return None  # filled with something else before
    if places.is_open or drawn.result.is_open or cells.is_open:
        return None
    kinds = bounds[-1] - sum(bounds[:-1])
    return drawn if kinds > 1 and kinds * (1 - 1 / kinds) ** math.prod(places.shape[:1]) >= _LIKELY else None


def filling(count: Operand) -> Operation | None:
    """What added something up at given places, behind views of it."""
    for _ in range(_BEHIND):
        made = count.changed_by or count.made_by
        if made is None or made.name in _FILLING:
            return made
        taken = made.argument("input", 0) if made.name in _VIEWS or _is_whole(made) else None
        if not hasattr(taken, "made_by"):
            return None
        count = taken
    return None


def _is_whole(made: Operation) -> bool:
    """`count[:, None]`"""
    places = made.args[1] if made.name == "getitem" else ()
    return isinstance(places, tuple) and bool(places) and all(one in (None, ..., slice(None)) for one in places)


class _Lengths(NamedTuple):
    rows: int
    kinds: int  # numbers that a length may be, 0 among them


def _lengths(compared: Operation) -> _Lengths | None:
    """Of `torch.arange(9) < torch.randint(0, 10, (99,))[:, None]`: of how many rows of a mask the lengths are drawn."""
    sides = [compared.argument("input", 0), compared.argument("other", 1)]
    places, lengths = sides if compared.name == "lt" else sides[::-1]
    if compared.name not in ("lt", "gt") or not hasattr(places, "source") or not hasattr(lengths, "source"):
        return None
    counted, drawn = places.source(), lengths.source()
    if counted is None or drawn is None or (counted.name, drawn.name) != ("arange", "randint") or drawn.guessed:
        return None
    bounds = [arg for arg in drawn.args[:2] if type(arg) is int]
    starts = [arg for arg in counted.args if type(arg) is int][:-1]
    named = {"start", "step"} & counted.kwargs.keys() | {"low", "high"} & drawn.kwargs.keys()
    if not bounds or any(bounds[:-1]) or any(starts) or named:
        return None
    return _Lengths(math.prod(drawn.result.shape), bounds[-1])


def _share(drawn: Operation) -> float | None:
    """The share of random numbers that a comparison lets through."""
    numbers, level = drawn.argument("input", 0), drawn.argument("other", 1)
    made = getattr(numbers, "made_by", None)
    if made is None or made.name not in ("rand", "rand_like") or type(level) is not float or not 0 < level < 1:
        return None
    return level if drawn.name in ("lt", "le") else 1 - level if drawn.name in ("gt", "ge") else None
