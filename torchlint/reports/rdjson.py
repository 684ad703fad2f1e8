"""The diagnostic format of reviewdog, whose columns count UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlint.config import Settings
from torchlint.finding import Finding, Note, Span
from torchlint.printable import json_text
from torchlint.reports.change import change
from torchlint.reports.links import rule_url
from torchlint.reports.places import sentence, span_in_file
from torchlint.result import Result, shown

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}
LONGEST_SUGGESTION = 20  # lines; an import added far above would quote half the file


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    report = {
        "source": {"name": "torchlint"},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(finding, result) for finding in result.findings],
    }
    write(json_text(report, indent=2) + "\n")


def _diagnostic(finding: Finding, result: Result) -> dict[str, Any]:
    url = rule_url(finding.code, finding.name)
    diagnostic: dict[str, Any] = {
        "message": sentence(finding),
        "location": _location(result, finding),
        "severity": SEVERITIES[finding.severity],
        "code": {"value": finding.code, **({"url": url} if url else {})},
    }
    if finding.fix and not finding.cell:
        lines = result.lines(finding.path)
        changed = change(finding.fix, lines)
        # Several suggestions would be alternatives of each other: the edits of a fix have to be one.
        if changed and len(changed.before) <= LONGEST_SUGGESTION:
            last = changed.first + len(changed.before) - 1
            whole = Span(changed.first, 1, last, len(lines[last - 1]) + 1)
            diagnostic["suggestions"] = [{"range": _range(lines, whole), "text": "\n".join(changed.after)}]
    if finding.notes:
        diagnostic["relatedLocations"] = [
            {"message": note.message, "location": _location(result, note)} for note in finding.notes
        ]
    return diagnostic


def _location(result: Result, at: Finding | Note) -> dict[str, Any]:
    lines = [] if at.cell else result.lines(at.path)
    return {"path": shown(at.path), "range": _range(lines, span_in_file(at))}


def _range(lines: list[str], span: Span) -> dict[str, Any]:
    return {
        "start": {"line": span.line, "column": _bytes(lines, span.line, span.column)},
        "end": {"line": span.end_line, "column": _bytes(lines, span.end_line, span.end_column)},
    }


def _bytes(lines: list[str], line: int, column: int) -> int:
    """A column in code points as one in UTF-8 bytes, both from 1."""
    before = lines[line - 1][: column - 1] if 0 < line <= len(lines) else ""
    return column + len(before.encode("utf-8", "surrogatepass")) - len(before)
