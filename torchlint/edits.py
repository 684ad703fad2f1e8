"""Edits put into a text."""

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
