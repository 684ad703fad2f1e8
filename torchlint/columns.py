"""Where characters stand in lines: Python's parser counts bytes, everybody else counts characters."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Sequence


def lines_with_ends(text: str) -> list[str]:
    """Lines as Python counts them: `str.splitlines` would also split at form feeds and Unicode separators."""
    return list(io.StringIO(text, newline=""))


class Columns:
    """The columns of a text's lines, from 1; each line is looked through once, however many columns are asked for."""

    def __init__(self, lines: Sequence[str]):
        self._lines = lines
        self._inner: dict[int, list[int]] = {}  # of lines that are not ASCII: the bytes that begin no character

    def of(self, line: int, offset: int) -> int:
        """The column of a byte of a line."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        if text.isascii():
            return offset + 1
        if line not in self._inner:
            self._inner[line] = [i for i, byte in enumerate(text.encode()) if byte & 0xC0 == 0x80]
        return offset + 1 - bisect_left(self._inner[line], offset)
