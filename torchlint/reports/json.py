"""A JSON array of ruff's records, with `notes` and `help` added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlint.config import Settings
from torchlint.finding import Finding, Span
from torchlint.printable import json_text
from torchlint.reports.links import rule_url
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    write(json_text([record(finding) for finding in result.findings], indent=2) + "\n")


def record(finding: Finding) -> dict[str, Any]:
    """One finding. In a notebook, lines count in the cell with the 1-based number `cell`, which counts all cells."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity,
        "url": rule_url(finding.code, finding.name),
        "filename": finding.path,
        "cell": finding.cell,
        **_places(finding.span),
        "fix": (
            finding.fix
            and {
                "applicability": finding.fix.applicability,
                "message": finding.fix.message,
                "edits": [{"content": edit.text, **_places(edit.span)} for edit in finding.fix.edits],
            }
        ),
        "notes": [
            {"message": note.message, "filename": note.path, "cell": note.cell, **_places(note.span)}
            for note in finding.notes
        ],
        "help": finding.help or None,
    }


def _places(span: Span) -> dict[str, dict[str, int]]:
    return {
        "location": {"row": span.line, "column": span.column},
        "end_location": {"row": span.end_line, "column": span.end_column},
    }
