"""Edits put into a text, and where its places are afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable

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


def landings(places: Iterable[Position], edits: Iterable[Edit]) -> dict[Position, tuple[Position, Position]]:
    """Where lines and columns of a text are after edits of it: all that was written there if an edit touches the
    place.
    """
    ordered, found = sorted(edits), {}
    done, shift = 0, (0, 0, 0)  # so many lines further, and in this line of the old text so many columns
    for place in sorted(set(places)):
        while done < len(ordered) and _ends(ordered[done]) < place:
            _, _, shift = _written(ordered[done], shift)
            done += 1
        at, now, touched = done, shift, None
        while at < len(ordered) and (ordered[at].span.line, ordered[at].span.column) <= place:
            first, last, now = _written(ordered[at], now)
            if place <= _ends(ordered[at]):
                touched = (touched[0] if touched else first, last)
            at += 1
        found[place] = touched or (_shifted(place, now), _shifted(place, now))
    return found


def _ends(edit: Edit) -> Position:
    return edit.span.end_line, edit.span.end_column


def _written(edit: Edit, shift: tuple[int, int, int]) -> tuple[Position, Position, tuple[int, int, int]]:
    """The first and last place of what an edit writes, and how what comes after it is shifted."""
    first = _shifted((edit.span.line, edit.span.column), shift)
    lines = edit.text.split("\n")
    last = (first[0] + len(lines) - 1, len(lines[-1]) + (first[1] if len(lines) == 1 else 1))
    return first, last, (last[0] - edit.span.end_line, edit.span.end_line, last[1] - edit.span.end_column)


def _shifted(place: Position, shift: tuple[int, int, int]) -> Position:
    return place[0] + shift[0], place[1] + (shift[2] if place[0] == shift[1] else 0)
