"""Inputs of the shapes that their author wrote: jaxtyping's annotations are tried first, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from torchlint.shapes.language import functions, written
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.attempts import Assumption, Run, ShapePattern, Solution, TensorGuess, written_dtype
from torchlint.shapes.search.sizes import solve_forward
from torchlint.shapes.search.taken_arguments import Signature


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
    if not inputs:
        return None
    solution = solve_forward(run, signature.parameters, inputs)
    solution = solution._replace(why={**solution.why, **dict.fromkeys(inputs, "its annotation")})
    if solution.last.stopped is None:
        if all(parameter.has_default or parameter.name in inputs for parameter in signature.parameters):
            _compare(run, solution.assumed, inputs, machine, closure.code)
        return solution
    free = solve_forward(run, signature.parameters)
    if free.last.stopped is not None or not _otherwise(inputs, free.assumed):
        return free
    run(solution.assumed)  # once more, so that what is shown is what is said
    return solution


def _compare(run: Run, assumed: Assumption, inputs: dict[str, list], machine: Machine, code: functions.Code) -> None:
    """Say where what it gives is not what is written, whatever the sizes are that names stand for."""
    found = _misfits(run, assumed, machine, code)
    if not found:
        return
    names = {
        size for (one,) in inputs.values() if isinstance(one, ShapePattern) for size in one.sizes if type(size) is str
    }
    changed: set[int | str] = set()
    for name in sorted(names):
        if run(_doubled(assumed, inputs, {*changed, name})).stopped is None:
            changed.add(name)
    still = _misfits(run, _doubled(assumed, inputs, changed), machine, code)
    for key in found.keys() & still.keys():
        machine.tell(found[key])


def _misfits(run: Run, assumed: Assumption, machine: Machine, code: functions.Code) -> dict[Any, FailedOperation]:
    """Where one run gave what is not written."""
    machine.comparing, machine.misfits = code, {}
    try:
        run(assumed)
    finally:
        machine.comparing = None
    return machine.misfits


def _doubled(assumed: Assumption, inputs: dict[str, list], names: set[int | str]) -> Assumption:
    """What is assumed, with twice the size for these names."""
    made = dict(assumed)
    for name, (pattern,) in inputs.items():
        if isinstance(pattern, ShapePattern):
            sizes = zip(pattern.sizes, assumed[name].shape)
            shape = tuple(size * 2 if written in names else size for written, size in sizes)
            made[name] = assumed[name]._replace(shape=shape)
    return made


def _patterns(written: written.WrittenShapes) -> dict[str, list]:
    """What jaxtyping's annotations say of inputs, as far as their number of dimensions is known."""
    found = {}
    for name, one in written.taken.items():
        axes, dtype = one.axes, written_dtype(one.kind)
        if axes.rest is None:
            sizes = tuple(f"_{number}" if size is None else size for number, size in enumerate(axes.sizes))
            found[name] = [
                ShapePattern(sizes, dtype) if any(isinstance(s, str) for s in sizes) else TensorGuess(sizes, dtype)
            ]
    return found


def _otherwise(written: Mapping[str, list], assumed: Assumption) -> bool:
    """Whether a size that is written as a number is another one in what was found to run."""
    for name, (pattern,) in written.items():
        sizes = pattern.sizes if isinstance(pattern, ShapePattern) else pattern.shape
        found = assumed.get(name)
        if isinstance(found, TensorGuess) and len(found.shape) == len(sizes):
            if any(isinstance(size, int) and size != now for size, now in zip(sizes, found.shape)):
                return True
    return False
