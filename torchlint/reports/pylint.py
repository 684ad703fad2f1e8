"""The parseable format of pylint: `model.py:12: [TL101] message`."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.config import Settings
from torchlint.reports.places import path_in_line, sentence, span_in_file
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    for finding in result.findings:
        line = span_in_file(finding).line
        write(f"{path_in_line(finding.path)}:{line}: [{finding.code}] {sentence(finding)}\n")
