"""Findings a project has agreed to live with: written once, left out of later reports although lines move."""

from __future__ import annotations

import json
import os

from torchlint import atomic
from torchlint.config import ConfigError
from torchlint.reading import RECORDS, read
from torchlint.result import Result, fingerprints, shown

VERSION = 1


def write(path: str, result: Result) -> None:
    """All findings of a run. One entry a line, in order, so that the file is pleasant under version control."""
    prints = fingerprints(result.findings, result.lines, os.path.dirname(os.path.abspath(path)))
    entries = [
        {"fingerprint": print_, "code": f.code, "path": shown(f.path).replace(os.sep, "/"), "message": f.message}
        for print_, f in zip(prints, result.findings)
    ]
    body = ",".join(f"\n  {json.dumps(entry)}" for entry in entries)
    text = f'{{"version": {VERSION}, "findings": [{body}\n]}}\n'
    try:
        atomic.write(path, text.encode(), result.trees)
    except OSError as error:
        raise ConfigError(f"{path}: cannot write the baseline: {error.strerror or error}") from None


def subtract(path: str, result: Result) -> int:
    """Takes the findings a baseline knows out of a result; says how many."""
    known = _read(path)
    prints = fingerprints(result.findings, result.lines, os.path.dirname(os.path.abspath(path)))
    before = len(result.findings)
    result.findings = [f for f, print_ in zip(result.findings, prints) if print_ not in known]
    return before - len(result.findings)


def _read(path: str) -> set[str]:
    try:
        table = json.loads(read(path, RECORDS))
        if table["version"] != VERSION:
            raise ConfigError(f"{path}: this baseline has version {table['version']!r}, {VERSION} is understood")
        return {entry["fingerprint"] for entry in table["findings"]}
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the baseline: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigError(f"{path}: this is not a baseline of torchlint") from None
