"""What a fix makes of the lines it touches, for reports that show it."""

from __future__ import annotations

from msgspec import Struct, structs

from torchlint.edits import apply
from torchlint.finding import Edit, Fix


class ChangedLines(Struct, frozen=True):
    """Whole lines from number `first` on, before and after."""

    first: int
    before: list[str]
    after: list[str]


def change(fix: Fix, lines: list[str]) -> ChangedLines | None:
    """The smallest run of whole lines that holds all edits; None if the fix does not fit these lines."""
    edits = sorted(fix.edits)
    if not edits or any(_overlap(one, other) for one, other in zip(edits, edits[1:])):
        return None
    first, last = edits[0].span.line, max(edit.span.end_line for edit in edits)
    if not 1 <= first <= last <= len(lines):
        return None
    before = lines[first - 1 : last]
    text = apply("\n".join(before), [_moved(edit, first - 1) for edit in edits])
    return ChangedLines(first, before, text.split("\n"))


def _overlap(one: Edit, other: Edit) -> bool:
    return (one.span.end_line, one.span.end_column) > (other.span.line, other.span.column)


def _moved(edit: Edit, lines: int) -> Edit:
    span = structs.replace(edit.span, line=edit.span.line - lines, end_line=edit.span.end_line - lines)
    return Edit(span, edit.text)
