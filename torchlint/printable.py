"""Text that others wrote, made harmless for whatever prints it, and short for whoever reads it."""

from __future__ import annotations

import json
import re
from typing import Any

_COMMAND = re.compile(r"(?<=#)#(?=\w*\[)")
_WIDEST = 80  # of what is quoted in a message
_QUOTE = re.compile("`([^`]*)`")
# Controls of a terminal, line separators, marks that are not seen or reorder what is, halves of characters; and what a
# build server takes for a command wherever it stands in a line: `##[…]`, `##vso[…]`, `##teamcity[…]`.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]|" + _COMMAND.pattern
)


def printable(text: str) -> str:
    """The text with everything escaped that a terminal or a build server would obey instead of showing."""
    return UNPRINTABLE.sub(_escaped, text)


def shortened(text: str, width: int) -> str:
    """The text, or as much of its beginning as there is room for."""
    return text if len(text) <= width else text[: max(width - 1, 1)].rstrip() + "…"


def with_short_quotes(message: str) -> str:
    """A message that quotes no expression longer than people read: one may go over a page."""
    return _QUOTE.sub(lambda quote: f"`{shortened(quote[1], _WIDEST)}`", message)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that means the same, written so that no build server obeys it either."""
    return _COMMAND.sub(r"\\u0023", json.dumps(value, indent=indent))


def _escaped(match: re.Match[str]) -> str:
    return r"\x23" if match[0] == "#" else match[0].encode("unicode_escape").decode()
