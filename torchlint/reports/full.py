"""The report for people: each finding with the code it is about, the other places that belong to it, help and fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from torchlint.config import Settings
from torchlint.finding import Finding, Note
from torchlint.printable import printable
from torchlint.reports.change import change
from torchlint.reports.frame import Mark, Piece, frame
from torchlint.reports.paint import painter
from torchlint.reports.places import is_fixable, place
from torchlint.result import Result

LONGEST_FIX = 12  # changed lines that are shown; what a longer fix does is better read with --diff


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    paint = painter(color)
    for finding in result.findings:
        for row in _rows(finding, result, settings):
            write(paint(row) + "\n")


def _rows(finding: Finding, result: Result, settings: Settings) -> Iterator[list[Piece]]:
    star = ("star", "[*] ") if is_fixable(finding, settings) else ("", "")
    yield [("code", finding.code), ("", " "), star, ("title", printable(finding.message))]
    yield [("edge", " --> "), ("", place(finding))]
    yield from _code(finding, result)
    if finding.help:
        yield [("help", "help"), ("", f": {printable(finding.help)}")]
    if finding.fix:
        yield from _fix(finding, result)
    yield []


def _code(finding: Finding, result: Result) -> Iterator[list[Piece]]:
    """One frame for the finding's file or cell with its notes there, then one for each other."""
    own = [Mark(finding.span, main=True)]
    others: dict[tuple, list[Note]] = {}
    for note in finding.notes:
        if (note.path, note.cell) == (finding.path, finding.cell):
            own.append(Mark(note.span, note.message))
        else:
            others.setdefault((note.path, note.cell), []).append(note)
    yield from frame(result.lines(finding.path, finding.cell), own)
    for (path, cell), notes in others.items():
        yield [("edge", " ::: "), ("", place(notes[0]))]
        rows = list(frame(result.lines(path, cell), [Mark(note.span, note.message) for note in notes]))
        yield from rows or [[("note", f"     {printable(note.message)}")] for note in notes]


def _fix(finding: Finding, result: Result) -> Iterator[list[Piece]]:
    """What the fix does in words and, if it is short, in lines."""
    fix = finding.fix
    assert fix
    kind = {"safe": "fix", "unsafe": "unsafe fix", "display": "suggestion"}[fix.applicability]
    yield [("help", kind), ("", f": {printable(fix.message)}")]
    changed = change(fix, result.lines(finding.path, finding.cell))
    if changed is None:
        return
    rows = []
    gutter = len(str(changed.first + len(changed.before)))
    for tag, i, j, k, m in SequenceMatcher(None, changed.before, changed.after, autojunk=False).get_opcodes():
        if tag != "equal":
            rows += [("gone", changed.first + at, "-", changed.before[at]) for at in range(i, j)]
            rows += [("new", changed.first + at, "+", changed.after[at]) for at in range(k, m)]
    if 0 < len(rows) <= LONGEST_FIX:
        edge = ("edge", " " * gutter + " |")
        yield [edge]
        for style, number, sign, line in rows:
            text = printable(line.expandtabs(4))
            yield [("edge", f"{number:>{gutter}} "), (style, f"{sign} {text}".rstrip())]
        yield [edge]
