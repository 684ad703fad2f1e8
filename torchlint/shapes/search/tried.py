"""Suggestions are tried before they are shown: one that does not cure what it stands beside is none."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from torchlint.edits import apply
from torchlint.shapes.core.faults import DryRun, Fault

MOST = 3  # suggestions of a file that are tried


def cured(path: str, text: str, result: DryRun, again: Callable[[str], DryRun]) -> DryRun:
    """The same result with the suggestions that help; `again` runs another text of the file. What is changed in other
    files is tried when those are run.
    """
    with_fix = [fault for fault in result.faults if fault.fix is not None and fault.path == path]
    helpful = [fault for fault in with_fix[:MOST] if _helps(text, fault, result, again)]
    kept = tuple(f if f.fix is None or f in helpful else msgspec.structs.replace(f, fix=None) for f in result.faults)
    return msgspec.structs.replace(result, faults=kept)


def _helps(text: str, fault: Fault, result: DryRun, again: Callable[[str], DryRun]) -> bool:
    """Whether a fault is gone once its suggestion is followed, and nothing new is said of the lines that changed."""
    after = again(apply(text, fault.fix.edits))
    if len(after.notices) > len(result.notices):
        return False  # nobody knows: it was not run to its end
    changed = {edit.span.line for edit in fault.fix.edits}
    before = {(f.kind, f.span.line) for f in result.faults if f is not fault}
    new = [f for f in after.faults if f.path == fault.path and (f.kind, f.span.line) not in before]
    return not any(f.span == fault.span or changed & _lines(f) for f in new)


def _lines(fault: Fault) -> set[int]:
    return {fault.span.line, *(note.span.line for note in fault.notes if note.path == fault.path)}
