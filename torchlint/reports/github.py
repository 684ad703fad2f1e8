"""Workflow commands that GitHub Actions turns into annotations of a pull request."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.config import Settings
from torchlint.printable import printable
from torchlint.reports.places import place, span_in_file
from torchlint.result import Result

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    for finding in result.findings:
        span = span_in_file(finding)
        properties = {
            "title": f"torchlint ({finding.code})",
            "file": printable(finding.path),
            "line": span.line,
            "endLine": span.end_line,
        }
        # The runner drops columns of an annotation that spans lines; a notebook's columns would be wrong.
        if span.line == span.end_line and not finding.cell:
            properties |= {"col": span.column, "endColumn": span.end_column}
        head = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        lines = [f"{place(finding)}: {finding.code} {printable(finding.message)}"]
        lines += [f"  {place(note)}: {printable(note.message)}" for note in finding.notes]
        if finding.help:
            lines.append(f"  help: {printable(finding.help)}")
        text = "\n".join(lines)
        write(f"::{LEVELS[finding.severity]} {head}::{_data(text)}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
