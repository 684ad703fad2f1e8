"""Inputs of the shapes that their author wrote: jaxtyping's annotations are tried first, and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import nn

from torchlint.shapes.language import functions, written
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.attempts import Assumption, Pattern, Run, Solution, TensorGuess
from torchlint.shapes.search.signatures import Signature
from torchlint.shapes.search.sizes import solve_forward

_DTYPES = {"Int": "long", "Integer": "long", "UInt": "long", "Bool": "bool"}  # jaxtyping's words; all else are floats


def solved_as_written(run: Run, signature: Signature, instance: nn.Module, machine: Machine) -> Solution | None:
    """What came of the shapes that are written beside the inputs of a module; None if none are, or if its constructor
    was guessed: then it is no wonder that they do not fit. Where no others run either, it is not they that are wrong.
    """
    closure = functions.closure_of(instance.forward)
    if closure is None or closure.code.written is None:
        return None
    if machine.instances.get(type(instance), (None, False)) != (instance, False):
        return None
    inputs = _patterns(closure.code.written)
    solution = solve_forward(run, signature.parameters, inputs)
    solution = solution._replace(why={**solution.why, **dict.fromkeys(inputs, "its annotation")})
    if solution.last.stopped is None:
        machine.comparing = closure.code
        run(solution.assumed)
        machine.comparing = None
        return solution
    free = solve_forward(run, signature.parameters)
    return solution if free.last.stopped is None and _otherwise(inputs, free.assumed) else free


def _patterns(written: written.Signature) -> dict[str, list]:
    """What jaxtyping's annotations say of inputs, as far as their number of dimensions is known."""
    found = {}
    for name, one in written.taken.items():
        axes, dtype = one.axes, _DTYPES.get(re.sub(r"\d+$", "", one.kind), "float")
        if axes.rest is None:
            sizes = tuple(f"_{number}" if size is None else size for number, size in enumerate(axes.sizes))
            found[name] = [
                Pattern(sizes, dtype) if any(isinstance(s, str) for s in sizes) else TensorGuess(sizes, dtype)
            ]
    return found


def _otherwise(written: Mapping[str, list], assumed: Assumption) -> bool:
    """Whether a size that is written as a number is another one in what was found to run."""
    for name, (pattern,) in written.items():
        sizes = pattern.sizes if isinstance(pattern, Pattern) else pattern.shape
        found = assumed.get(name)
        if isinstance(found, TensorGuess) and len(found.shape) == len(sizes):
            if any(isinstance(size, int) and size != now for size, now in zip(sizes, found.shape)):
                return True
    return False
