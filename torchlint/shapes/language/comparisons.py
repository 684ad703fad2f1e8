"""What comparisons give: most have two sides, and need no loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from torchlint.shapes.core.operators import COMPARE
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import Frame, Place
from torchlint.shapes.tensors.wild import NUMBERS, unknown

Evaluate = Callable[[Frame], Any]
Ask = Callable[[Any, Any, Any], Any]  # of a machine, what is on the left, and on the right


def comparison(left: Evaluate, rest: Sequence[tuple[type, Evaluate]], place: Place) -> Evaluate:
    """`a < b`, `a is b`, `a < b < c`: the operators with what is on the right of each."""
    asked = [(_ASKED[kind], right) for kind, right in rest]
    (kind, right), (ask, _) = rest[0], asked[0]

    def compare_in_turn(frame):
        machine, a, result = frame.machine, left(frame), True
        for ask, right in asked:
            b = right(frame)
            machine.place = place
            result = ask(machine, a, b)
            if type(result) is Unknown or not machine.truth(result, place):
                return result
            a = b
        return result

    def compare(frame):
        a, b = left(frame), right(frame)
        frame.machine.place = place
        return ask(frame.machine, a, b)

    def compare_numbers(frame):
        a, b = left(frame), right(frame)
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return apply(a, b)
        frame.machine.place = place
        return frame.machine.compare(apply, a, b)

    if len(rest) > 1:
        return compare_in_turn
    apply = COMPARE.get(kind)
    return compare if apply is None else compare_numbers


def _is_not(machine: Any, a: Any, b: Any) -> Any:
    result = machine.same(a, b)
    return result if type(result) is Unknown else not result


def _not_in(machine: Any, a: Any, b: Any) -> Any:
    result = machine.contains(b, a)
    return unknown(result.reason, result.known) if type(result) is Unknown else not result


def _by(apply: Callable) -> Ask:
    return lambda machine, a, b: machine.compare(apply, a, b)


_ASKED: dict[type, Ask] = {
    ast.Is: lambda machine, a, b: machine.same(a, b),
    ast.IsNot: _is_not,
    ast.In: lambda machine, a, b: machine.contains(b, a),
    ast.NotIn: _not_in,
    **{kind: _by(apply) for kind, apply in COMPARE.items()},
}
