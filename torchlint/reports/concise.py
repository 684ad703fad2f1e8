"""One line for each finding: `model.py:12:5: TL101 [*] message`."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.config import Settings
from torchlint.printable import printable
from torchlint.reports.paint import painter
from torchlint.reports.places import is_fixable, place
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    paint = painter(color)
    for finding in result.findings:
        star = "[*] " if is_fixable(finding, settings) else ""
        row = [("title", place(finding)), ("", ": "), ("code", finding.code), ("", " "), ("star", star)]
        write(f"{paint([*row, ('', printable(finding.message))])}\n")
