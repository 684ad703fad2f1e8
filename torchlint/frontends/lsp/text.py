"""The text of an open document: positions in the client's units, changes, and where a place is after them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
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
    """Some text and its lines. `encoding` is how the client counts columns; our own columns count code points.

    What was made last is kept, the text or its lines, and the other is made when asked: a client may change a long text
    ten thousand times before anyone reads it.
    """

    def __init__(self, text: str, encoding: str = "utf-16"):
        self.encoding = encoding
        self._text: str | None = text
        self._lines: list[str] | None = None
        self._starts: list[int] | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self.lines)
        return self._text

    @property
    def lines(self) -> list[str]:
        """The lines with their ends. The last one has none, and may be empty."""
        if self._lines is None:
            self._lines = _split(self.text)
        return self._lines

    @property
    def starts(self) -> list[int]:
        """The offsets at which lines begin."""
        if self._starts is None:
            self._starts = [0, *accumulate(map(len, self.lines[:-1]))]
        return self._starts

    def line(self, index: int) -> str:
        """A line by its index from 0, without its end."""
        return self.lines[index].rstrip("\r\n") if 0 <= index < len(self.lines) else ""

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column, from 1, of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def place_of(self, position: types.Position) -> tuple[int, int]:
        """The line and column, from 1, of a position; one beyond the end of a line or of the text is at that end."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        index = max(position.line, 0)
        return index + 1, from_units(self.line(index), max(position.character, 0), self.encoding) + 1

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
        if range is not None:
            first, last = sorted((self.place_of(range.start), self.place_of(range.end)))
            return self._put(first, last, new)
        start, end, new_end = _difference(self.text, new)
        first, old_end = self.place(start), self.place(end)
        self._text, self._lines, self._starts = new, None, None
        return Replacement(first, old_end, self.place(new_end))

    def _put(self, start: tuple[int, int], end: tuple[int, int], new: str) -> Replacement:
        """What `replace` does between two places. Only the new text is split: what is left of a line has no end."""
        lines = self.lines
        first, head = start[0] - 1, lines[start[0] - 1][: start[1] - 1]
        tail = lines[end[0] - 1][end[1] - 1 :]
        if not head and first and lines[first - 1].endswith("\r") and (new + tail).startswith("\n"):
            first, head, new = first - 1, lines[first - 1][:-1], f"\r{new}"  # both are one end
        put = _split(new)
        put[0] = head + put[0]
        if tail == "\n" and len(put) > 1 and not put[-1] and put[-2].endswith("\r"):
            put.pop()  # here as well
        new_end = first + len(put), len(put[-1]) + 1
        put[-1] += tail
        lines[first : end[0]] = put
        self._text = self._starts = None
        return Replacement(start, end, new_end)


def _split(text: str) -> list[str]:
    """The lines of a text with their ends, and what follows the last end."""
    ends = [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def to_units(line: str, column: int, encoding: str) -> int:
    """How many of the client's units stand before a column from 0."""
    before = line[:column]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    if encoding == "utf-16":
        return len(before.encode("utf-16-le", "surrogatepass")) // 2
    return len(before.encode("utf-8", "surrogatepass"))


def from_units(line: str, units: int, encoding: str) -> int:
    """The column from 0 before which so many of the client's units stand; inside of a character it is before that."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    low, high = 0, min(units, len(line))
    while low < high:
        middle = (low + high + 1) // 2
        more = to_units(line[low:middle], middle - low, encoding)
        low, high, units = (middle, high, units - more) if more <= units else (low, middle - 1, units)
    return low


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
