"""Findings laid out for somebody who reads them against the code."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from sources import Source


def sample(fresh: list[tuple[Source, dict]], most: int) -> list[tuple[Source, dict]]:
    """At most so many of each rule: first one from every source, then a second from each, and so on."""
    turns: dict[str, list] = defaultdict(list)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for source, finding in fresh:
        at = (finding["code"], source.name)
        turns[finding["code"]].append((seen[at], source, finding))
        seen[at] += 1
    chosen = []
    for code in sorted(turns):
        chosen += [pair for _, *pair in sorted(turns[code], key=lambda turn: turn[0])[:most]]
    return chosen


def passage(finding: dict, folder: Path, around: int) -> str:
    """A finding and the lines it stands among."""
    path = folder / finding["path"]
    cell = finding.get("cell")
    where = f"{path}:{f'cell {cell}:' if cell else ''}{finding['line']}"
    lines = _cell(path, cell) if cell else path.read_text(encoding="utf-8", errors="replace").splitlines()
    first = max(finding["line"] - around, 1)
    shown = [
        f"{'>' if number == finding['line'] else ' '}{number:5} {line}"
        for number, line in enumerate(lines[first - 1 : finding["line"] + around], first)
    ]
    return "\n".join([f"── {finding['code']} {where}", f"   {finding['message']}", *shown, ""])


def _cell(path: Path, number: int) -> list[str]:
    """The lines of a notebook's code cell, counted from 1."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    return "".join(cells[number - 1]["source"]).splitlines()
