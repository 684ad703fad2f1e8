"""What an operator gives although one side is not known: a number beside a tensor, one that is drawn, containers with
unknown values, arrays of texts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.expressions import PLAIN
from torchlint.shapes.machine.worlds import are_tensors
from torchlint.shapes.tensors import ranges
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.text_arrays import places_of, with_places
from torchlint.shapes.tensors.wild import DRAWN, TEXT, any_number, is_text, known_of, unknown

MIRRORED = {operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt, operator.ge: operator.le}


def all_the_same(machine: Any, operate: Callable, apply: Callable, a: Any, b: Any) -> Any:
    """What is known of the result of an operator, although a side is not known; None where nothing is."""
    made = _of_texts(machine, a, b) if apply in (operator.eq, operator.ne) else None
    return made if made is not None else _with_any_number(machine, operate, apply, a, b)


def _of_texts(machine: Any, a: Any, b: Any) -> Any:
    """An array of texts that is compared, `split == "train"`: a truth for each of them."""
    places = [found for found in map(places_of, (a, b)) if found is not None]
    if not places or len(places) < 2 and not (is_text(a) or is_text(b)):
        return None
    return machine.compare(operator.eq, places[0], places[-1])


def part_of_texts(machine: Any, owner: Any, key: Any) -> Any:
    """`texts[key]` of an array of texts; None of other things."""
    places = places_of(owner)
    if places is None:
        return None
    part = machine.item(places, key)
    if isinstance(part, Array) and not part.ndim:
        return unknown("a text of an array", TEXT)
    return with_places(part) if isinstance(part, Array) or are_tensors(part) else Unknown("a part of an array of texts")


def _with_any_number(machine: Any, operate: Callable, apply: Callable, a: Any, b: Any) -> Any:
    """An operator on a tensor and a number that nobody knows, `x <= steps`: all but the values is known."""
    one, other = (a, b) if type(a) is Unknown and not are_tensors(a) else (b, a)
    known = known_of(other)
    number = any_number(one, known.example if known is not None else other)
    if number is None or apply is operator.matmul or known is not None and not are_tensors(other):
        return None

    def run(tensor: Any) -> Any:
        made = operate(apply, *((number, tensor) if one is a else (tensor, number)))
        if isinstance(made, (torch.Tensor, Array)):
            ranges.forget(made.tensor if isinstance(made, Array) else made)
        return made

    if known is None:
        return run(other)
    return machine.in_worlds(lambda given: run(given[0]), [other], other.reason) if machine.wild else None


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
