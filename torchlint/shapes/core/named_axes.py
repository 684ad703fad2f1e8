"""A shape as an author writes it, in jaxtyping's annotations (`"batch 3 h w"`) and in comments (`(b, 3, h, w)`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NAME = re.compile(r"[A-Za-z][A-Za-z_0-9]*")
_COMMENT = re.compile(r"[\[(]\s*(\w+(?:(?:\s*,\s*\w+)+|(?:\s+[x×]\s+\w+)+))\s*,?\s*[\])]")  # one kind of sign
_MOST = 8  # dimensions of one tensor
_DIGITS = 9  # of a size


class Axes(NamedTuple):
    """The sizes of a shape: a number, a name, or None for any. Where `rest` is a position, any number of others may
    stand there.
    """

    sizes: tuple[int | str | None, ...]
    rest: int | None = None

    def misfit(self, shape: Sequence[int], names: dict[str, int]) -> str:
        """Why a tensor of this shape has not these sizes, in words; "" if it has, and then `names` learns from it."""
        if len(shape) < len(self.sizes) or self.rest is None and len(shape) > len(self.sizes):
            return f"{_dimensions(len(shape))} where {len(self.sizes)} are written"
        first = len(self.sizes) if self.rest is None else self.rest
        last = len(self.sizes) - first
        learned = {}
        for wanted, size in zip(self.sizes, (*shape[:first], *shape[len(shape) - last :])):
            if isinstance(wanted, int) and wanted != size:
                return f"{size} where {wanted} is written"
            if isinstance(wanted, str):
                if names.get(wanted, size) != size or learned.get(wanted, size) != size:
                    return f"`{wanted}` is {names.get(wanted, learned.get(wanted))} and {size}"
                learned[wanted] = size
        names.update(learned)
        return ""


def _dimensions(count: int) -> str:
    return f"{count} dimension{'s' * (count != 1)}"


def of_jaxtyping(text: str) -> Axes | None:
    """The axes in the text of an annotation; None where it says nothing, or what only a running program knows."""
    sizes: list[int | str | None] = []
    rest = None
    for part in text.split():
        word = part.partition("=")[2] or part  # `h=4` names a number
        if word == "..." or word.startswith("*"):
            if rest is not None:
                return None
            rest = len(sizes)
        elif word.isdecimal() and len(word) <= _DIGITS:
            sizes.append(int(word))
        elif _NAME.fullmatch(word):
            sizes.append(word)
        elif word.startswith(("_", "#", "?")) or set(word) & set("+-*/()"):
            sizes.append(None)  # any, or one that is computed or spread
        else:
            return None
    return Axes(tuple(sizes), rest) if len(sizes) <= _MOST else None


def of_comment(text: str) -> Axes | None:
    """The axes in a comment that is nothing but a shape of two dimensions or more."""
    found = _COMMENT.fullmatch(text.strip())
    parts = re.split(r"\s*,\s*|\s+[x×]\s+", found.group(1)) if found else []
    if not found or len(parts) > _MOST:
        return None
    if not all(part.isdecimal() and len(part) <= _DIGITS or _NAME.fullmatch(part) for part in parts):
        return None
    return Axes(tuple(int(part) if part.isdecimal() else part for part in parts))
