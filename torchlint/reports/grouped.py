"""The findings of each file below its name: `38:20  TL101  message`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from torchlint.config import Settings
from torchlint.printable import printable
from torchlint.reports.paint import painter
from torchlint.reports.places import is_fixable, path_in_line
from torchlint.result import Result


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    paint = painter(color)
    for path, findings in groupby(result.findings, key=lambda finding: finding.path):
        rows = [
            (f"{f'cell {f.cell}:' if f.cell else ''}{f.span.line}:{f.span.column}", f, is_fixable(f, settings))
            for f in findings
        ]
        width = max(len(where) for where, _, _ in rows)
        write(f"{paint([('title', path_in_line(path)), ('', ':')])}\n")
        for where, f, fixable in rows:
            star = ("star", "[*] " if fixable else "")
            row = [("", f"  {where:<{width}}  "), ("code", f.code), ("", "  "), star, ("", printable(f.message))]
            write(f"{paint(row)}\n")
        write("\n")
