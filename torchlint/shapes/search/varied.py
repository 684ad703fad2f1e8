"""Guessed constructor arguments, changed one at a time: whether a fault is one of the class or of what was guessed for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.search.advice import Through
from torchlint.shapes.search.attempts import Assumption, RunResult, Solution
from torchlint.shapes.search.constructors import by_name, is_heads
from torchlint.shapes.search.sizes import reach_the_end_without_ones
from torchlint.shapes.search.verdict import keeps_apart
from torchlint.shapes.tensors.conflicts import pair_of

# One run of the class with other arguments: what the search for inputs comes to, until it is at the line, or another
# search that is given.
Try = Callable[..., RunResult | None]
_OF_RANKS = tuple(
    tuple(getattr(nn, f"{kind}{rank}d") for rank in (3, 1, 2))
    for kind in ("Conv", "ConvTranspose", "BatchNorm", "InstanceNorm", "MaxPool", "AvgPool")
)


def stays(first: Solution, arguments: Assumption, attempt: Try) -> bool:
    """Whether the two sizes of a fault stay apart in the same way when each argument is changed alone.

    Then both come from the same arguments, or from none. Where only one of them changes they come from different
    arguments, which a caller may make fit each other; but if that is one argument, and no whole number makes them meet,
    no caller can. An argument of which no other value comes to the line says nothing.
    """
    pair, place = pair_of(first.last), first.last.place
    alone = 0
    for name, value in arguments.items():
        for alternatives in _others(name, value):
            met = []  # (value, pair) at the line
            tried = True
            for other in alternatives:
                result = attempt({**arguments, name: other})
                tried &= result is None or result.stopped != "budget"
                if result is None or result.stopped == "budget":
                    continue
                if _runs(result, first, place):
                    return False
                if result.place == place:
                    met.append((other, pair_of(result)))
                    if len(met) == 2 or keeps_apart(first.certain, pair, met[-1][1]):
                        break
            if not met and not tried:
                return False  # there was no time to see
            next_one = _one_more(value)
            if next_one is not None and _runs(attempt({**arguments, name: next_one}), first, place):
                return False  # what is guessed is even
            if type(value) is int and attempt({**arguments, name: 1}, reach_the_end_without_ones) is not None:
                return False  # what is guessed is more than one
            if met and not all(keeps_apart(first.certain, pair, p) for _, p in met):
                alone += 1
                if alone > 1 or not _never_meet(name, [(value, pair), *met]):
                    return False
    return True


def comes_of_several(first: Solution, arguments: Assumption, attempt: Try) -> bool:
    """Whether the two sizes of a fault come of more than one whole number among the arguments: what is given for one
    may have to suit another, as callers know.
    """
    pair, place = pair_of(first.last), first.last.place
    moving = []
    for name, value in arguments.items():
        results = (attempt({**arguments, name: other}) for others in _others(name, value) for other in others[:1])
        if any(one is None or one.place != place or pair_of(one) != pair for one in results):
            moving.append(value)
    return len(moving) > 1 or any(type(value) is not int for value in moving)


def _one_more(value: Any) -> Any:
    """An odd number for an even one, for each of several; None for what is not made of whole numbers."""
    if type(value) in (list, tuple) and value and all(type(v) is int for v in value):
        return type(value)(v + 1 for v in value)
    return value + 1 if type(value) is int else None


def _runs(result: RunResult | None, first: Solution, place: Any) -> bool:
    """Whether a run comes to its end, or further than the line."""
    return (
        result is not None
        and result.stopped != "budget"
        and (result.stopped is None or result.place != place and result.steps > first.last.steps)
    )


def _never_meet(name: str, met: list[tuple[Any, Any]]) -> bool:
    """Whether two sizes that are multiples of one argument, or of one over it, or constants, are equal for no value of
    it.

    A number of heads is more than one: what is right for one head only is wrong.
    """
    if len(met) < 3 or not all(
        type(v) is int and v > 0 and p is not None and all(type(n) is int and n > 0 for n in p) for v, p in met
    ):
        return False
    ratios = [(value, pair[0] / pair[1]) for value, pair in met]
    for power in (1, -1):
        factors = [ratio / value**power for value, ratio in ratios]
        if max(factors) - min(factors) < 1e-9:
            meeting = factors[0] ** -power
            return abs(meeting - round(meeting)) > 1e-6 or round(meeting) < (2 if is_heads(name) else 1)
    return False


def says_nothing(default: Any) -> bool:
    """Whether a default says no more than that there is something to be given: None, 0, -1, -1.0, an empty list."""
    return (
        default is None
        or type(default) is int
        and default <= 0
        or type(default) is float
        and default < 0
        or type(default) in (str, list, tuple)
        and not default
    )


def otherwise(value: Any, turned: bool) -> Any:
    """What a default may be instead, as far as it cannot matter to sizes; a number or a layer that does is unknown."""
    if isinstance(value, bool):
        return value != turned
    return (
        value / 2
        if isinstance(value, float)
        else value
        if isinstance(value, str)
        else Unknown("an argument that may be given")
    )


def _others(name: str, value: Any) -> Iterator[list[Any]]:
    """Other values for one argument, of each list the first that comes to the line.

    Sizes must often be divisible, so that they are doubled.
    """
    if isinstance(value, bool):
        yield [not value]
    elif value is None:
        yield [by_name(name)]
    elif isinstance(value, int):
        yield [value * 2, value // 2, value * 3, value + 1] if value > 3 else [value * 2, value * 3, value + 1]
    elif isinstance(value, float):
        yield [value / 2]
    elif isinstance(value, type):  # a layer made by what is given: it may be one for signals or volumes, or any other
        ranks = next((ranks for ranks in _OF_RANKS if value in ranks), ())
        yield [kind for kind in ranks if kind is not value]
        yield [Through] if issubclass(value, nn.Module) else []
    elif isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        yield [type(value)([v * 2 for v in value])]
        for count in range(1, max(len(value), 4) + 1):  # how many there are is guessed as well
            yield [type(value)((list(value) * 4)[:count])] if count != len(value) else []
        for position in range(min(len(value), 4)):
            yield [type(value)([v * 2 if i == position else v for i, v in enumerate(value)])]
