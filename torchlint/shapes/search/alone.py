"""Functions that nobody is seen to call: called with what their defaults say, and unknowns for the rest."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.values import Overworked, Stop, Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search import varied
from torchlint.shapes.search.taken_arguments import parameters_of

FUNCTION_STEPS = 100_000


def call_alone(machine: Machine, function: Any, required: list[str]) -> FailedOperation | None:
    """What torch refuses in a function that nobody is seen to call, whatever is given in place of None or -1."""
    closure = functions.closure_of(function)
    if closure is not None and closure.code.rest is not None:
        return None  # of `*sizes` nobody knows how many there are
    failure = _call(machine, function, required)
    if failure is None or closure is None:
        return failure
    doubted = [p.name for p in parameters_of(closure, skip=0) if p.has_default and varied.says_nothing(p.default)]
    return _call(machine, function, [*required, *doubted]) if doubted else failure


def _call(machine: Machine, function: Any, required: list[str]) -> FailedOperation | None:
    """Call a function with what its defaults say, and unknowns for the rest; what torch refuses in it."""
    machine.budget = Budget(max(0, min(FUNCTION_STEPS, machine.left)))
    machine.failures.clear()
    machine.stack.clear()
    machine.modules.clear()
    machine.forget_answers()
    machine.decided_here = False
    machine.guessing = bool(required)
    try:
        machine.call(function, [], {name: Unknown(f"the argument {name}") for name in required})
    except Overworked:
        raise
    except (Stop, RecursionError, MemoryError):
        return None
    except Exception as error:
        return machine.failures.get(id(error))
    finally:
        machine.guessing = False
        machine.left -= machine.budget.used
    return None
