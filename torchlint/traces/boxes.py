"""The steps of a forward as boxes of a picture: which steps are one box, and in which lane each box stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchlint.shapes.core.table import Step, Table
from torchlint.traces import words

MOST_LANES = 5
_MOST_BOXES = 40
_FEWEST_BOXES = 3  # fewer say nothing: a model whose only child holds everything


class Box(NamedTuple):
    """An input, one step, or several steps in a row that belong to one module."""

    name: int | str  # what an edge to it says: the number of its last step, or the name of the input
    title: str
    shape: str
    kind: str  # how it is drawn
    sources: tuple[int | str, ...]
    tip: str
    steps: tuple[Step, ...] = ()


def boxes_of(table: Table) -> list[Box]:
    """The inputs that are used, and all steps."""
    used = {s for step in table.steps for s in step.sources if isinstance(s, str)}
    inputs = [
        Box(name, f"{name}: input", value, "input", (), f"{name}: {value}")
        for name, value in table.inputs.items()
        if name in used
    ]
    return [*inputs, *grouped(table.steps)]


def grouped(steps: Sequence[Step]) -> list[Box]:
    """Each step a box; where that is too many, the steps of one module in a row are one, as fine as still fits."""
    runs = [[step] for step in steps]
    deepest = max(step.module.count(".") for step in steps) + 1
    for depth in range(deepest, 0, -1):
        if len(runs) <= _MOST_BOXES:
            break
        coarser = _runs(steps, depth)
        if len(coarser) < _FEWEST_BOXES:
            break
        runs = coarser
    return [_box(run) for run in runs]


def _runs(steps: Sequence[Step], depth: int) -> list[list[Step]]:
    runs: list[list[Step]] = []
    for step in steps:
        if runs and not step.error and _outer(runs[-1][0], depth) == _outer(step, depth):
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs


def _outer(step: Step, depth: int) -> str:
    return ".".join(step.module.split(".")[:depth])


def _box(steps: list[Step]) -> Box:
    first, last = steps[0], steps[-1]
    sources = dict.fromkeys(s for step in steps for s in step.sources if isinstance(s, str) or s < first.number)
    where = f"line {first.span.line}: " if first.span else ""
    kind = "failed" if last.error else "layer" if any(s.layer for s in steps) else "operation"
    shape = words.shapes(last.outputs, 2) or ("fails" if last.error else "in place")
    return Box(
        last.number, _title(steps), shape, kind, tuple(sources), where + (last.error or last.label), tuple(steps)
    )


def _title(steps: list[Step]) -> str:
    if len(steps) == 1:
        return words.title(steps[0])
    names = [step.module.split(".") for step in steps]
    common = []
    for parts in zip(*names):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return f"{'.'.join(common) or 'forward'} ({len(steps)} steps)"


def lanes_of(boxes: list[Box]) -> list[int]:
    """A box stands below its first source, unless another continues there: then it opens a lane, as branches in a
    history do."""
    rows = {name: row for row, box in enumerate(boxes) for name in _names(box)}
    last_use = dict.fromkeys(range(len(boxes)), -1)
    for row, box in enumerate(boxes):
        for source in box.sources:
            if source in rows:
                last_use[rows[source]] = row
    lanes: list[int] = []
    heads: dict[int, int] = {}  # lane -> the row of what stands at its end
    for row, box in enumerate(boxes):
        sources = {rows[s] for s in box.sources if s in rows}
        own = next((lane for lane, head in heads.items() if head in sources), None)
        if own is None or (last_use[heads[own]] > row and own + 1 < MOST_LANES):
            free = [lane for lane in range(MOST_LANES) if lane not in heads or last_use[heads[lane]] <= row]
            own = free[0] if free else MOST_LANES - 1
        heads[own] = row
        lanes.append(own)
    return lanes


def places_of(boxes: list[Box]) -> dict[int | str, tuple[int, int]]:
    """Row and lane of every step and input."""
    lanes = lanes_of(boxes)
    return {name: (row, lane) for row, (box, lane) in enumerate(zip(boxes, lanes)) for name in _names(box)}


def _names(box: Box) -> list[int | str]:
    return [step.number for step in box.steps] or [box.name]
