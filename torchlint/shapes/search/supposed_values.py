"""Forwards whose result depends on numbers that nobody knows, run with examples of them: it is a search for a run that
comes to its end, and what is refused on its way is no error for every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from torchlint.shapes.core.undone import undone
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.search.attempts import OpenParameter, Run, RunResult, Solution
from torchlint.shapes.search.sizes import find
from torchlint.shapes.tensors import examples

_RUNS = 24


def with_supposed_values(
    run: Run, parameters: Sequence[OpenParameter], solution: Solution, instance: nn.Module, machine: Any
) -> Solution:
    """The same forward with an example of each value that is unknown, if it comes to its end with it."""
    with undone(instance), examples.supposed() as asked:
        again = run(solution.assumed)
        if _is_known(again) or not asked.given:
            found = solution._replace(last=again, certain=None)
        else:
            found = find(run, [p for p in parameters if not p.has_default], _RUNS)
    return found if _is_known(found.last) else solution


def _is_known(result: RunResult) -> bool:
    return result.stopped is None and type(result.detail) is not Unknown
