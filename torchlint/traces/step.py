"""The first training step of a script as text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torchlint.notation import shape_text
from torchlint.traces.report import size

if TYPE_CHECKING:
    from torchlint.shapes.record.step import Step

_MOST = 8  # lines, and names, of a kind


def render(step: Step, name: str, path: str) -> list[str]:
    """The lines of a step, with the part they are about in front."""
    return [f"{what:<10}{text}" for what, text in _lines(step, name, path)]


def _lines(step: Step, name: str, path: str) -> Iterator[tuple[str, str]]:
    def at(place: Any) -> str:
        if place is None:
            return ""
        file = "" if place[0] == path else f"{os.path.relpath(place[0], os.path.dirname(path))}:"
        return f"line {file}{place[1].line}"

    yield "step", f"the first of {name}"
    for forward in step.forwards[:_MOST]:
        given, result = (", ".join(map(_said, values)) or "nothing known" for values in (forward.given, forward.result))
        yield "forward", f"{forward.name}: {given} -> {result}, {at(forward.place)}"
    for place, loss in step.losses[:_MOST]:
        yield "backward", f"of {_said(loss)}, {at(place)}"
    yield "optimizer", f"{step.optimizer}, {at(step.place)}"
    moved = Counter((at(m.place), m.start, m.end) for m in step.moves)
    for (where, start, end), count in moved.most_common(_MOST):
        moved_bytes = sum(m.bytes for m in step.moves if (at(m.place), m.start, m.end) == (where, start, end))
        yield "move", f"{count} tensor{'s' * (count > 1)} from {start} to {end}, {size(moved_bytes)}, {where}"
    yield "gradients", f"{len(step.fed)} of {len(step.fed) + len(step.starved)} parameters that require one have one"
    if step.starved:
        more = f" and {len(step.starved) - _MOST} more" if len(step.starved) > _MOST else ""
        yield "", f"none: {', '.join(step.starved[:_MOST])}{more}"
    kept = sum(step.kept.values())
    parts = (("parameters", step.parameters), ("gradients", step.gradients), ("optimizer state", step.state))
    said = [f"{what} {size(taken)}" for what, taken in (*parts, ("kept for the backward pass", kept))]
    yield "memory", ", ".join(said)
    by_line: Counter[str] = Counter()
    for place, taken in step.kept.items():
        by_line[at(place)] += taken
    for where, taken in by_line.most_common(_MOST):
        yield "", f"{size(taken)} kept, {where}"


def _said(tensor: Any) -> str:
    return f"{shape_text(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')} on {tensor.device}"
