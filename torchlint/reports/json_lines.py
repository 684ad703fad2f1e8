"""The records of the JSON format, one a line."""

from __future__ import annotations

import json
from typing import Callable

from torchlint.config import Settings
from torchlint.reports.json import record
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    for finding in result.findings:
        write(json.dumps(record(finding)) + "\n")
