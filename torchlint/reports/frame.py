"""Source lines with marks below them: the picture that the full report draws of a finding."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from torchlint.finding import Span
from torchlint.printable import printable

CONTEXT = 2  # lines shown around the finding; a note shows its line alone
WIDEST = 160  # columns of a source line; longer ones are cut around the mark


class Mark(Struct, frozen=True):
    """A place to underline: with `^` and no words if it is the finding's own, else with `-` and the note's."""

    span: Span
    label: str = ""
    main: bool = False


Piece = tuple[str, str]  # a style ("edge", "main", "note" or "" for code) and text


def frame(lines: list[str], marks: list[Mark]) -> Iterator[list[Piece]]:
    """The rows of one file's picture, as styled pieces."""
    marks = [mark for mark in marks if 0 < mark.span.line <= len(lines)]
    shown = sorted({number for mark in marks for number in _around(mark, lines)})
    if not shown:
        return
    gutter = len(str(shown[-1]))
    empty = ("edge", " " * gutter + " |")
    yield [empty]
    for previous, number in zip([shown[0] - 1, *shown], shown):
        if number > previous + 1:
            yield [("edge", "." * max(gutter, 3))]
        here = [mark for mark in marks if mark.span.line == number]
        offset = _cut(lines[number - 1], here)
        code = _display(lines[number - 1][offset : offset + WIDEST])
        code = ("..." if offset else "") + code + ("..." if len(lines[number - 1]) > offset + WIDEST else "")
        yield [("edge", f"{number:>{gutter}} |"), ("", f" {code}".rstrip())]
        for mark in sorted(here, key=lambda mark: (not mark.main, mark.span)):
            before, under = _measure(lines[number - 1], mark.span, offset)
            label = f" {printable(mark.label)}" if mark.label else ""
            style, sign = ("main", "^") if mark.main else ("note", "-")
            yield [empty, ("", " " * (before + 1)), (style, sign * under + label)]
    yield [empty]


def _around(mark: Mark, lines: list[str]) -> range:
    if not mark.main:
        return range(mark.span.line, mark.span.line + 1)
    first, last = max(1, mark.span.line - CONTEXT), min(len(lines), mark.span.line + CONTEXT)
    while first < mark.span.line and not lines[first - 1].strip():
        first += 1
    while last > mark.span.line and not lines[last - 1].strip():
        last -= 1
    return range(first, last + 1)


def _cut(line: str, marks: list[Mark]) -> int:
    """How much of a very long line is left out at its start, so that its first mark is seen."""
    column = min((mark.span.column for mark in marks), default=1) - 1
    return max(0, column - WIDEST // 2) if len(line) > WIDEST else 0


def _measure(line: str, span: Span, offset: int) -> tuple[int, int]:
    """Where a mark starts and how wide it is on the screen; of a span over several lines the first is marked."""
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    before = _width(line[offset : span.column - 1]) + (3 if offset else 0)
    return before, max(1, _width(line[span.column - 1 : min(end, offset + WIDEST)]))


def _display(text: str) -> str:
    return printable(text.replace("\t", "    "))


def _width(text: str) -> int:
    """Cells on a terminal: East Asian wide characters take two, combining ones none."""
    if text.isascii() and text.isprintable():
        return len(text)
    width = 0
    for char in text:
        written = _display(char)
        if len(written) > 1:
            width += len(written)
        elif not unicodedata.combining(char):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width
