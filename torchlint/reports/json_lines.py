"""The records of the JSON format, one a line."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.config import Settings
from torchlint.printable import json_text
from torchlint.reports.json import record
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    for finding in result.findings:
        write(json_text(record(finding)) + "\n")
