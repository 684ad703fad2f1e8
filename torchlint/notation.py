"""How a shape is written, in messages, tables, hints and pictures alike: `(2, 64)`, as Python shows a tuple."""

from __future__ import annotations

from collections.abc import Iterable


def shape_text(sizes: Iterable[object]) -> str:
    """The sizes as a tuple; one may be text, such as the letter of a batch."""
    words = list(map(str, sizes))
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


def guess_marked(text: str, guessed: bool) -> str:
    """`~` stands before what rests on a size that nobody gives."""
    return f"~{text}" if guessed else text
