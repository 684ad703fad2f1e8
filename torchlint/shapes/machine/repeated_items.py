"""Lists that are made longer by what nobody knows: `[pad] * missing`, `items += more`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import REST, is_open
from torchlint.shapes.tensors import wild

_TIMES = (operator.mul, operator.imul)


def lengthened(machine: Any, apply: Callable, a: Any, b: Any) -> list | tuple | None:
    """A list or tuple by an operator with an unknown: its items, once more so many times; None for other things."""
    if type(a) is list and apply is operator.iadd:
        machine.changes.loosen(a)
        return a
    items, times = (b, a) if type(a) is Unknown else (a, b)
    if apply not in _TIMES or type(items) not in (list, tuple) or not items or not machine.wild:
        return None
    if type(times) is not Unknown or wild.kind_of_all([times]) is not int:
        return None
    if apply is operator.imul and items is a and type(a) is list:
        machine.changes.loosen(a)
        return a
    machine.budget.length(len(items) + 1)
    machine.changes.cut = True
    more = () if is_open(items) else (REST,)
    return [*items, *more] if type(items) is list else (*items, *more)
