"""The graph of a forward as an SVG picture: a row for each step, a lane for each branch, the failing edge in red."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from torchlint.printable import printable
from torchlint.shapes.core.table import Step, Table
from torchlint.traces import words

_ROW, _LANE, _BOX, _HEIGHT, _MARGIN = 58, 244, 224, 36, 12
_MOST_BOXES, _MOST_LANES = 90, 5


class _Box(NamedTuple):
    """One or several steps drawn as one: `first` and `last` are their numbers."""

    first: int
    last: int
    title: str
    shape: str
    layer: bool
    failed: bool
    sources: tuple[int | str, ...]
    tip: str


def svg(table: Table) -> str:
    """The picture; empty if there is nothing to draw."""
    if not table.steps:
        return ""
    boxes = [*_inputs(table), *_boxes(table)]
    lanes = _lanes(boxes)
    at = {}
    for row, (box, lane) in enumerate(zip(boxes, lanes)):
        for number in [box.title.partition(":")[0]] if not box.first else range(box.first, box.last + 1):
            at[number] = (row, lane)
    width = _MARGIN * 2 + max(lanes) * _LANE + _BOX
    height = _MARGIN * 2 + (len(boxes) - 1) * _ROW + _HEIGHT
    edges = [
        _edge(at[s], (row, lane), box.failed)
        for row, (box, lane) in enumerate(zip(boxes, lanes))
        for s in box.sources
        if s in at
    ]
    drawn = [_drawn(box, row, lane) for row, (box, lane) in enumerate(zip(boxes, lanes))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" aria-label="graph of {escape(table.name)}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">{"".join(edges)}{"".join(drawn)}</svg>'
    )


def _inputs(table: Table) -> list[_Box]:
    used = {s for step in table.steps for s in step.sources if isinstance(s, str)}
    return [
        _Box(0, 0, f"{name}: input", value, False, False, (), f"{name}: {value}")
        for name, value in table.inputs.items()
        if name in used
    ]


def _boxes(table: Table) -> list[_Box]:
    """All steps; in long forwards the steps of one module in a row are one box, coarser until there are few enough."""
    boxes = [_box([step], "") for step in table.steps]
    for depth in (3, 2, 1):
        if len(boxes) <= _MOST_BOXES:
            break
        runs: list[tuple[str, list[Step]]] = []
        for step in table.steps:
            module = ".".join(step.module.split(".")[:depth])
            if runs and runs[-1][0] == module and not step.error:
                runs[-1][1].append(step)
            else:
                runs.append((module, [step]))
        boxes = [_box(run, module) for module, run in runs]
    return boxes


def _box(steps: list[Step], module: str) -> _Box:
    first, last = steps[0], steps[-1]
    title = words.title(last) if len(steps) == 1 else f"{module or 'forward'} ({len(steps)} steps)"
    sources = dict.fromkeys(s for step in steps for s in step.sources if isinstance(s, str) or s < first.number)
    where = f"line {first.span.line}: " if first.span else ""
    return _Box(
        first.number, last.number, title, words.shapes(last.outputs, 2) or ("fails" if last.error else "in place"),
        any(s.layer for s in steps), bool(last.error), tuple(sources), where + (last.error or last.label),
    )  # fmt: skip


def _lanes(boxes: list[_Box]) -> list[int]:
    """A box stands below its first source, unless another continues there: then it opens a lane, as branches in a
    history do."""
    last_use: dict[int | str, int] = {}
    for row, box in enumerate(boxes):
        for source in box.sources:
            last_use[source] = row
    lanes: list[int] = []
    heads: dict[int, tuple[int | str, int]] = {}  # lane -> (what stands at its end, the row where that is used last)
    for row, box in enumerate(boxes):
        own = next((lane for lane, (name, _) in heads.items() if name in box.sources), None)
        if own is None or heads[own][1] > row and own + 1 < _MOST_LANES:
            free = [lane for lane in range(_MOST_LANES) if lane not in heads or heads[lane][1] <= row]
            own = free[0] if free else _MOST_LANES - 1
        name = box.last or box.title.partition(":")[0]
        uses = (
            max((last_use.get(n, row) for n in range(box.first, box.last + 1)), default=row)
            if box.last
            else last_use.get(name, row)
        )
        heads[own] = (name, uses)
        lanes.append(own)
    return lanes


def _place(row: int, lane: int) -> tuple[int, int]:
    return _MARGIN + lane * _LANE, _MARGIN + row * _ROW


def _edge(source: tuple[int, int], target: tuple[int, int], failed: bool) -> str:
    """A curve from the bottom of one box to the top of another; around the boxes between if they share a lane."""
    (x1, y1), (x2, y2) = _place(*source), _place(*target)
    style = ' class="failed"' if failed else ""
    marker = "url(#bad)" if failed else "url(#good)"
    start, end = (x1 + _BOX // 2, y1 + _HEIGHT), (x2 + _BOX // 2, y2)
    if source[1] == target[1] and target[0] - source[0] > 1:
        side = x1 + _BOX
        start, end = (side, y1 + _HEIGHT // 2), (side, y2 + _HEIGHT // 2)
        path = f"M{start[0]},{start[1]} C{side + 20},{start[1]} {side + 20},{end[1]} {end[0]},{end[1]}"
    else:
        bend = (end[1] - start[1]) // 2
        path = f"M{start[0]},{start[1]} C{start[0]},{start[1] + bend} {end[0]},{end[1] - bend} {end[0]},{end[1]}"
    return f'<path{style} d="{path}" marker-end="{marker}"/>'


def _drawn(box: _Box, row: int, lane: int) -> str:
    x, y = _place(row, lane)
    kind = "failed" if box.failed else "layer" if box.layer else "input" if not box.first else "operation"
    title, shape = words.short(box.title, 31), words.short(box.shape, 33)
    return (
        f'<g class="{kind}"><title>{escape(printable(box.tip))}</title>'
        f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_HEIGHT}" rx="6"/>'
        f'<text x="{x + 10}" y="{y + 15}">{escape(printable(title))}</text>'
        f'<text class="shape" x="{x + 10}" y="{y + 29}">{escape(shape)}</text></g>'
    )
