"""Differences of a column and a row, which torch spreads to a table, and the losses by hand that are made of them."""

from __future__ import annotations

from typing import Any

from torchlint.facts import named_of, words

_POSITIVE = words(named_of("pow", "square", "abs", "cosh", "relu", "clamp"))
_EITHER = words(named_of("maximum", "max", "where"))  # of two that are made of one difference
_SUMS = words(named_of("add", "sub"))
_KEPT = words(named_of("mul", "div", "neg", "log", "sqrt")) | _SUMS


def column_of(first: Any, second: Any) -> int | None:
    """Which of two tensors is the other with an axis of one behind it."""
    shapes = getattr(first, "shape", None), getattr(second, "shape", None)
    if None in shapes:
        return None
    for column in (0, 1):
        if shapes[column] == (*shapes[1 - column], 1) and shapes[1 - column] and shapes[1 - column][-1] > 1:
            return column
    return None


def difference_of(tensor: Any, depth: int = 8) -> tuple[Any, bool]:
    """The one difference of a column and a row that a loss is made of, and whether that is made positive."""
    made = getattr(tensor, "made_by", None)
    if made is None or not depth:
        return None, False
    start = made.name == "where"  # behind its condition
    first, second = made.argument("input", start), made.argument("other", 1 + start)
    if made.name == "sub" and column_of(first, second) is not None:
        return made, False
    if made.name not in _POSITIVE | _EITHER | _KEPT:
        return None, False
    found = [difference_of(one, depth - 1) for one in (first, second)]
    below = [(one, is_positive) for one, is_positive in found if one is not None]
    if not below or any(one != below[0][0] for one, _ in below):
        return None, False
    squared, chosen = made.name == "mul" and first == second, made.name in _EITHER
    if (len(below) == 2) != (squared or chosen) and not (len(below) == 2 and made.name in _SUMS):
        return None, False
    return below[0][0], squared or chosen or made.name in _POSITIVE or any(is_positive for _, is_positive in below)
