"""SARIF 2.1.0, as code scanning services and editors read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from torchlint import __version__
from torchlint.config import Settings
from torchlint.finding import Finding, Fix, Note, Span
from torchlint.printable import json_text
from torchlint.reports.links import rule_url
from torchlint.reports.places import sentence
from torchlint.result import Result, shown

LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render(result: Result, settings: Settings, write: Callable[[str], object], color: bool = False) -> None:
    codes = sorted({finding.code for finding in result.findings})
    names = {finding.code: finding.name for finding in result.findings}
    driver: dict[str, Any] = {"name": "torchlint", "version": __version__, "semanticVersion": __version__}
    driver["rules"] = [_rule(result, code, names[code]) for code in codes]
    run = {
        "tool": {"driver": driver},
        # The folder torchlint ran in: every relative address below starts there.
        "originalUriBaseIds": {"SRCROOT": {"uri": Path.cwd().as_uri().rstrip("/") + "/"}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(result)],
        "results": [
            _result(finding, codes.index(finding.code), fingerprint)
            for finding, fingerprint in zip(result.findings, result.fingerprints)
        ],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    write(json_text(log, indent=2) + "\n")


def _invocation(result: Result) -> dict[str, Any]:
    """What could not be done belongs to the record: a file that was not read is not a clean file."""
    notes = [("error", failure) for failure in result.failures] + [("note", notice) for notice in result.notices]
    return {
        "executionSuccessful": not result.failures,
        "toolExecutionNotifications": [{"level": level, "message": {"text": text}} for level, text in notes],
    }


def _rule(result: Result, code: str, name: str) -> dict[str, Any]:
    rule, url = result.rules.get(code), rule_url(code, name)
    summary = rule.summary if rule else name.replace("_", " ")
    described: dict[str, Any] = {"id": code, "name": name, "shortDescription": {"text": summary}}
    if rule:
        described["fullDescription"] = {"text": summary}
        described["help"] = {"text": rule.manual, "markdown": rule.manual}
        described["defaultConfiguration"] = {"enabled": rule.default}
        described["properties"] = {"tags": [rule.group]}
    if url:
        described["helpUri"] = url
    return described


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    message = sentence(finding) + (f"\n{finding.help}" if finding.help else "")
    said: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [_place(finding)],
        "partialFingerprints": {"torchlint/v1": fingerprint},
    }
    if finding.notes:
        said["relatedLocations"] = [
            {"id": number, **_place(note), "message": {"text": note.message}}
            for number, note in enumerate(finding.notes)
        ]
    if finding.fix and finding.fix.edits and not finding.cell:
        said["fixes"] = [_fix(finding.path, finding.fix)]
    return said


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in sorted(fix.edits)
    ]
    change = {"artifactLocation": _artifact(path), "replacements": replacements}
    return {"description": {"text": f"{fix.message} ({fix.applicability})"}, "artifactChanges": [change]}


def _place(at: Finding | Note) -> dict[str, Any]:
    artifact = {"artifactLocation": _artifact(at.path)}
    if at.cell:
        # Lines of a cell are not lines of the file: the cell is a logical place, the file the physical one.
        cell = {"name": f"cell {at.cell}", "kind": "module"}
        return {"physicalLocation": artifact, "logicalLocations": [cell]}
    return {"physicalLocation": {**artifact, "region": _region(at.span)}}


def _artifact(path: str) -> dict[str, str]:
    relative = shown(path)
    if os.path.isabs(relative):
        return {"uri": Path(relative).as_uri()}
    uri = quote(relative.replace(os.sep, "/").encode("utf-8", "surrogateescape"))
    return {"uri": uri, "uriBaseId": "SRCROOT"}


def _region(span: Span) -> dict[str, int]:
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}
