"""Edits put into a text, and where its places are afterwards."""

from __future__ import annotations

import re
from typing import Iterable

from torchlint.finding import Edit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap. New lines in them take the text's own line ending."""
    starts, at = [], 0
    for match in _LINE.finditer(text):
        starts.append(match.start())
    ending = "\r\n" if "\r\n" in text else "\n"
    parts = []
    for edit in sorted(edits):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        parts += [text[at:start], edit.text.replace("\r\n", "\n").replace("\n", ending)]
        at = starts[edit.span.end_line - 1] + edit.span.end_column - 1
    return "".join([*parts, text[at:]])


Position = tuple[int, int]


def landing(place: Position, edits: Iterable[Edit]) -> tuple[Position, Position]:
    """Where a line and column of a text are after edits of it: all that was written there if an edit touches the place."""
    shift, found = (0, 0, 0), None  # so many lines further, and in this line of the old text so many columns
    for edit in sorted(edits):
        start, end = (edit.span.line, edit.span.column), (edit.span.end_line, edit.span.end_column)
        if place < start:
            break
        first = _shifted(start, shift)
        lines = edit.text.split("\n")
        last = (first[0] + len(lines) - 1, len(lines[-1]) + (first[1] if len(lines) == 1 else 1))
        if place <= end:
            found = (found[0] if found else first, last)
        shift = (last[0] - end[0], end[0], last[1] - end[1])
    return found or (_shifted(place, shift), _shifted(place, shift))


def _shifted(place: Position, shift: tuple[int, int, int]) -> Position:
    return place[0] + shift[0], place[1] + (shift[2] if place[0] == shift[1] else 0)
