"""The other ways of a module class that has run to its end: in evaluation mode, with a switch turned, beyond an unknown
condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from torchlint.shapes.machine.decisions import Way, turnable
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.search.candidates import Attempt

MOST = 6  # ways of one class


def other_ways(attempt: Attempt) -> Iterator[FailedOperation]:
    """What torch refuses there, whatever the sizes are."""
    instance = attempt.instance
    if instance is None or not attempt.ended():
        return
    run, signature = attempt.runs(instance)
    run(attempt.ran.assumed)
    asked = dict(attempt.machine.asked)
    switches = [p for p in signature.parameters if type(p.default) is bool and p.name not in attempt.ran.assumed]
    ways = [Way(evaluating=True)] if _asks_mode(type(instance), attempt.machine.codes) else []
    ways += [Way(switches={p.name: not p.default}) for p in switches]
    ways += [Way(answers={text: not asked[text]}) for text in turnable(asked)]
    for way in ways[:MOST]:
        failure = Attempt(attempt.machine, attempt.kind, attempt.hints, attempt.depth, way, attempt.callers).judge()
        if failure is not None:
            yield failure


def _asks_mode(kind: type, codes: Mapping[type, Any]) -> bool:
    """Whether the code of a class asks if it is in training mode."""
    code = codes.get(kind)
    return code is not None and any(isinstance(n, ast.Attribute) and n.attr == "training" for n in ast.walk(code.node))
