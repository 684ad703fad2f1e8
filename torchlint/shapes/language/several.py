"""Expressions that are evaluated one after the other, as arguments and displays are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def in_order(parts: list[Callable[[Any], Any]]) -> Callable[[Any], list]:
    """The values of some expressions, one after the other; most calls have few arguments, and need no loop."""
    if not parts:
        return lambda frame: []
    if len(parts) == 1:
        (one,) = parts
        return lambda frame: [one(frame)]
    if len(parts) == 2:
        first, second = parts
        return lambda frame: [first(frame), second(frame)]
    return lambda frame: [part(frame) for part in parts]
