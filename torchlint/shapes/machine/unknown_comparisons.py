"""What a comparison gives although one side is not known: a number that is drawn, containers with unknown values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.expressions import PLAIN
from torchlint.shapes.tensors import ranges
from torchlint.shapes.tensors.wild import DRAWN

MIRRORED = {operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt, operator.ge: operator.le}


def against_draw(apply: Callable, a: Any, b: Any) -> bool | None:
    """Whether a number drawn between 0 and 1 is on one side of another number: certain for 0 and 1, as in
    `random.random() < ratio` where the ratio is 0 in evaluation.
    """
    if type(a) in (int, float, bool):
        a, b, apply = b, a, MIRRORED[apply]
    drawn = a.known is DRAWN if type(a) is Unknown else isinstance(a, torch.Tensor) and ranges.is_drawn(a)
    if not drawn or 0 < b < 1:
        return None
    return (apply in (operator.lt, operator.le)) == (b >= 1)


def differ(a: Any, b: Any) -> bool:
    """Whether two containers differ, whatever the unknown values in them are."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return True
        pairs = [(value, b[key]) for key, value in a.items()]
    elif not any(isinstance(a, kind) and isinstance(b, kind) for kind in (list, tuple)) or len(a) != len(b):
        return True
    else:
        pairs = list(zip(a, b))
    return any(type(x) in PLAIN and type(y) in PLAIN and x != y for x, y in pairs)
