"""Edits put into a text, and where its places are afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from torchlint.finding import Edit, Span

Edits = tuple[Edit, ...]
Position = tuple[int, int]
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


def between(old: str, new: str, line: int, column: int = 1) -> Edits:
    """The edits that make a new text of the old one, which begins at a place: whole lines that come and go, what is put
    before lines that stay, or the part that is different.
    """
    before, after = _LINE.findall(old)[:-1], _LINE.findall(new)[:-1]
    start = _common(before, after)
    kept = _common(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - kept], after[start : len(after) - kept]
    at = line + start, 1 if start else column
    above = len(come) - len(gone)
    if not gone or not come:
        return (Edit(Span(*at, *_end_of("".join(gone), *at)), "".join(come)),) if gone or come else ()
    if above >= 0 and all(n.endswith(o) for o, n in zip(gone[1:], come[above + 1 :])) and come[above].endswith(gone[0]):
        edits = [Edit(Span(*at, *at), "".join(come[:above]) + come[above].removesuffix(gone[0]))]
        for i, (o, n) in enumerate(zip(gone[1:], come[above + 1 :]), line + start + 1):
            if o != n:
                edits.append(Edit(Span(i, 1, i, 1), n.removesuffix(o)))
        return tuple(edits)
    was, becomes = "".join(gone), "".join(come)
    start = _common(was, becomes)
    kept = _common(was[start:][::-1], becomes[start:][::-1])
    left, stop = was[:start], was[: len(was) - kept]
    span = Span(*_end_of(left, *at), *_end_of(stop, *at))
    return (Edit(span, becomes[start : len(becomes) - kept]),)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How much of two sequences is the same from the start."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _end_of(text: str, line: int, column: int) -> Position:
    """Where a text ends that begins at a place."""
    lines = _LINE.findall(text)[:-1]
    if lines and lines[-1].endswith(("\n", "\r")):
        return line + len(lines), 1
    return line + max(len(lines) - 1, 0), len(lines[-1]) + (column if len(lines) == 1 else 1) if lines else column


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
