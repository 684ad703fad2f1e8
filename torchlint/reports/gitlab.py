"""GitLab's code quality report."""

from __future__ import annotations

import os
from collections.abc import Callable

from torchlint.config import Settings
from torchlint.printable import json_text
from torchlint.reports.places import sentence, span_in_file
from torchlint.result import Result, shown

SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    records = []
    for finding, fingerprint in zip(result.findings, result.fingerprints):
        span = span_in_file(finding)
        records.append(
            {
                "check_name": finding.code,
                "description": f"{finding.code}: {sentence(finding)}",
                "severity": SEVERITIES[finding.severity],
                "fingerprint": fingerprint,
                "location": {
                    "path": _path(finding.path),
                    "positions": {
                        "begin": {"line": span.line, "column": span.column},
                        "end": {"line": span.end_line, "column": span.end_column},
                    },
                },
            }
        )
    write(json_text(records, indent=2) + "\n")


def _path(path: str) -> str:
    """GitLab wants paths from the repository's root, also when the job works in a folder below it."""
    root = os.environ.get("CI_PROJECT_DIR")
    relative = os.path.relpath(path, root) if root and os.path.isabs(path) else shown(path)
    return relative.replace(os.sep, "/")
