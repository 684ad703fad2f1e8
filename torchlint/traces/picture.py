"""The graph of a forward as SVG: a row for each box, a lane for each branch, the failing edge in red.

A box of many steps is a link to a picture of its own, which the page shows when it is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from torchlint.printable import printable, shortened
from torchlint.shapes.core.table import Table
from torchlint.traces.boxes import Box, boxes_of, grouped, places_of

_ROW, _BOX, _HEIGHT, _MARGIN = 60, 224, 36, 14
_GUTTER = 32  # between lanes: what passes other boxes passes here
_TRACKS = 4  # edges that run beside each other in a gutter
_DEEPEST = 6  # pictures in pictures


def pictures(table: Table, name: str) -> Iterator[tuple[str, str, str]]:
    """Name, title and drawing of a whole forward, then of each box that opens."""
    boxes = boxes_of(table)
    drawing = _Drawing(name, table.path)
    yield name, table.name, drawing.svg(boxes, table.name)
    yield from drawing.inner(boxes, _DEEPEST)


class _Drawing(NamedTuple):
    """How the boxes of one forward are called in the page; which of their steps are of its file."""

    name: str
    path: str

    def svg(self, boxes: list[Box], title: str) -> str:
        at = places_of(boxes)
        width = _MARGIN * 2 + max(lane for _, lane in at.values()) * (_BOX + _GUTTER) + _BOX + _GUTTER
        height = _MARGIN * 2 + (len(boxes) - 1) * _ROW + _HEIGHT
        edges = (
            _edge(at[source], at[box.name], track % _TRACKS, box.kind == "failed")
            for box in boxes
            for track, source in enumerate(s for s in box.sources if s in at)
        )
        drawn = (self._drawn(box, *at[box.name]) for box in boxes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" '
            f'aria-label="graph of {escape(printable(title))}" '
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">{"".join(edges)}{"".join(drawn)}</svg>'
        )

    def inner(self, boxes: list[Box], depth: int) -> Iterator[tuple[str, str, str]]:
        """The pictures in some boxes, and in the boxes of those."""
        for box in boxes if depth else ():
            if len(box.steps) > 1:
                opened = grouped(box.steps)
                yield self._target(box), box.title, self.svg(opened, box.title)
                yield from self.inner(opened, depth - 1)

    def _target(self, box: Box) -> str:
        return f"{self.name}-{box.steps[0].number}-{box.steps[-1].number}"

    def _drawn(self, box: Box, row: int, lane: int) -> str:
        x, y = _place(row, lane)
        title, shape = shortened(box.title, 31), shortened(box.shape, 33)
        lines = {s.span.line for s in box.steps if s.span is not None and s.path == self.path}
        classes = " ".join([box.kind, *(f"{self.name}-line-{line}" for line in sorted(lines))])
        drawn = (
            f'<g class="{classes}"><title>{escape(printable(box.tip))}</title>'
            f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_HEIGHT}" rx="6"/>'
            f'<text x="{x + 10}" y="{y + 15}">{escape(printable(title))}</text>'
            f'<text class="shape" x="{x + 10}" y="{y + 29}">{escape(shape)}</text></g>'
        )
        return f'<a href="#{self._target(box)}">{drawn}</a>' if len(box.steps) > 1 else drawn


def _place(row: int, lane: int) -> tuple[int, int]:
    return _MARGIN + lane * (_BOX + _GUTTER), _MARGIN + row * _ROW


def _edge(source: tuple[int, int], target: tuple[int, int], track: int, failed: bool) -> str:
    """A line between two boxes: a curve to the next row; further down through the gutter beside the source and the gap
    above the target, where there is no box to cross."""
    (x, y), (end_x, end_y) = _place(*source), _place(*target)
    end_x += _BOX // 2
    if target[0] - source[0] == 1:
        aside, down = end_x - x - _BOX // 2, _ROW - _HEIGHT
        path = f"M{x + _BOX // 2},{y + _HEIGHT} c0,{down // 2} {aside},{down // 2} {aside},{down}"
    else:
        away = 1 if target[1] >= source[1] else -1
        start = x + _BOX if away > 0 else x
        gutter, turn = start + away * (6 + 6 * track), end_y - (_ROW - _HEIGHT) // 2
        back = 6 if end_x > gutter else -6
        path = (
            f"M{start},{y + _HEIGHT // 2} Q{gutter},{y + _HEIGHT // 2} {gutter},{y + _HEIGHT // 2 + 6} V{turn - 6} "
            f"Q{gutter},{turn} {gutter + back},{turn} H{end_x - back} Q{end_x},{turn} {end_x},{end_y}"
        )
    style, marker = (' class="failed"', "bad") if failed else ("", "good")
    return f'<path{style} d="{path}" marker-end="url(#{marker})"/>'
