"""The other ways of a module class that has run to its end: in evaluation mode, with a switch turned, beyond an unknown
condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from torchlint.facts import named, words
from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.language.walking import last_word, walk
from torchlint.shapes.machine.decisions import Way, turnable
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.search.attempts import Assumption
from torchlint.shapes.search.candidates import Attempt

MOST = 6  # ways of one class
_TOLD = words(named("random", "same_shape"))  # what may be told `training=self.training`, and gives the same sizes


def other_ways(attempt: Attempt) -> Iterator[FailedOperation]:
    """What torch refuses there, whatever the sizes are."""
    instance = attempt.instance
    if instance is None or not attempt.ended():
        return
    _, signature = attempt.runs(instance)
    asked = attempt.ran.last.asked
    switches = [p for p in signature.parameters if type(p.default) is bool and p.name not in attempt.ran.assumed]
    ways = [Way(evaluating=True)] if _asks_mode(type(instance), attempt.machine.codes) else []
    ways += [Way(switches={p.name: not p.default}) for p in switches]
    ways += [Way(answers={text: not asked[text]}) for text in turnable(asked)]
    for way in ways[:MOST]:
        other = Attempt(attempt.machine, attempt.kind, attempt.hints, attempt.depth, way, attempt.callers)
        failure = None if _goes_with_the_same(other, instance, attempt.ran.assumed) else other.judge()
        if failure is not None:
            yield failure


def _goes_with_the_same(other: Attempt, instance: nn.Module, assumed: Assumption) -> bool:
    """Whether the inputs that were found before do here, too: then no error is one for every input. Shapes that are
    written beside the inputs are compared with whatever comes of them.
    """
    closure = closure_of(instance.forward)
    if closure is None or closure.code.written is not None:
        return False
    run, _ = other.runs(instance)
    return run(assumed).stopped is None


def _asks_mode(kind: type, codes: Mapping[type, Any]) -> bool:
    """Whether the code of a class asks if it is in training mode, and does not only tell a layer of torch."""
    code = codes.get(kind)
    if code is None:
        return False
    asking = {n for n in walk(code.node) if isinstance(n, ast.Attribute) and n.attr == "training"}
    told = (
        keyword.value
        for call in (walk(code.node) if asking else ())
        if isinstance(call, ast.Call) and last_word(call.func) in _TOLD
        for keyword in call.keywords
        if keyword.arg == "training"
    )
    return not asking.issubset(told)
