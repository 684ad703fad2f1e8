"""The text of an open document: positions in the client's units, changes, and where a place is after them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from lsprotocol import types

from torchlint.finding import Span

# The protocol's line ends are Python's; `str.splitlines` knows more of them.
_NEWLINE = re.compile(r"\r\n|\r|\n")


class Replacement(NamedTuple):
    """One replacement: where it begins and ended before and ends now, as (line, column) from 1 in code points."""

    start: tuple[int, int]
    old_end: tuple[int, int]
    new_end: tuple[int, int]


class Text:
    """Some text and its lines. `encoding` is how the client counts columns; our own columns count code points."""

    def __init__(self, text: str, encoding: str = "utf-16"):
        self.text = text
        self.encoding = encoding
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The offsets at which lines begin."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]
        return self._starts

    def line(self, index: int) -> str:
        """A line by its index from 0, without its end."""
        if not 0 <= index < len(self.starts):
            return ""
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[index] : end].rstrip("\r\n")

    def offset(self, position: types.Position) -> int:
        """Where a position is in the text; one beyond the end of a line or of the text is at that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line(max(position.line, 0))
        return self.starts[max(position.line, 0)] + from_units(line, max(position.character, 0), self.encoding)

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column, from 1, of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def place_of(self, position: types.Position) -> tuple[int, int]:
        """The line and column, from 1, of a position."""
        return self.place(self.offset(position))

    def position(self, line: int, column: int) -> types.Position:
        """The protocol's position of a line and a column from 1; beyond the text it is the text's end."""
        if line > len(self.starts):
            line, column = len(self.starts), len(self.text) + 1
        return types.Position(line - 1, to_units(self.line(line - 1), column - 1, self.encoding))

    def range(self, span: Span) -> types.Range:
        """The protocol's range of a span."""
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def whole(self) -> types.Range:
        """The range of everything."""
        return types.Range(types.Position(0, 0), self.position(*self.place(len(self.text))))

    def replace(self, range: types.Range | None, new: str) -> Replacement:
        """Put `new` in the place of a range, or of everything, and say what moved."""
        if range is None:
            start, end, new_end = _difference(self.text, new)
            first, old_end = self.place(start), self.place(end)
            self.text = new
            self._starts = None
        else:
            start, end = sorted((self.offset(range.start), self.offset(range.end)))
            first, old_end = self.place(start), self.place(end)
            self.text = self.text[:start] + new + self.text[end:]
            new_end = start + len(new)
            self._renew(first[0] - 1, old_end[0] - 1, new_end - end)
        return Replacement(first, old_end, self.place(new_end))

    def _renew(self, first: int, last: int, longer: int) -> None:
        """Finds lines anew where some were replaced, from the line before, whose end may go on, to the one behind: a
        client may change a long text a thousand times.
        """
        starts = self.starts
        first, behind = max(first - 1, 0), last + 2
        end = starts[behind] + longer if behind < len(starts) else len(self.text)
        found = [match.end() for match in _NEWLINE.finditer(self.text, starts[first], end)]
        rest = starts[behind + 1 :]
        starts[first + 1 :] = found + ([start + longer for start in rest] if longer else rest)


def to_units(line: str, column: int, encoding: str) -> int:
    """How many of the client's units stand before a column from 0."""
    before = line[:column]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    return sum(_width(character, encoding) for character in before)


def from_units(line: str, units: int, encoding: str) -> int:
    """The column from 0 before which so many of the client's units stand; inside of a character it is before that."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    for column, character in enumerate(line):
        units -= _width(character, encoding)
        if units < 0:
            return column
    return len(line)


def _width(character: str, encoding: str) -> int:
    point = ord(character)
    if encoding == "utf-16":
        return 2 if point > 0xFFFF else 1
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point <= 0xFFFF else 4


def moved(span: Span, change: Replacement) -> Span | None:
    """Where a span is after a change; None if the change cut into it."""
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    if end <= change.start:
        return span
    if start >= change.old_end:
        return Span(*_shift(start, change), *_shift(end, change))
    if start <= change.start and change.old_end <= end:
        return Span(*start, *_shift(end, change))
    return None


def written(changes: Iterable[Replacement]) -> tuple[int, int] | None:
    """The first and the last line that some changes have written; None if there was no change."""
    lines = None
    for change in changes:
        new = change.start[0], change.new_end[0]
        lines = moved_lines(lines, [change]) if lines else new
        lines = min(lines[0], new[0]), max(lines[1], new[1])
    return lines


def moved_lines(lines: tuple[int, int], changes: Iterable[Replacement]) -> tuple[int, int]:
    """Where some lines are after changes; of those that are gone, the line where they were."""
    for change in changes:
        start, more = change.start[0], change.new_end[0] - change.old_end[0]
        first, last = (line if line < start else max(line + more, start) for line in lines)
        lines = first, last
    return lines


def _shift(place: tuple[int, int], change: Replacement) -> tuple[int, int]:
    (line, column), (old_line, old_column), (new_line, new_column) = place, change.old_end, change.new_end
    return line + new_line - old_line, column + new_column - old_column if line == old_line else column


def _difference(old: str, new: str) -> tuple[int, int, int]:
    """Where two texts begin to differ, and where, in the old and in the new one, they are the same again."""
    start = _common(len(old), len(new), lambda n: old[:n] == new[:n])
    longest = min(len(old), len(new)) - start
    tail = _common(longest, longest, lambda n: old[len(old) - n :] == new[len(new) - n :])
    return start, len(old) - tail, len(new) - tail


def _common(first: int, second: int, same) -> int:
    low, high = 0, min(first, second)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(middle) else (low, middle - 1)
    return low
