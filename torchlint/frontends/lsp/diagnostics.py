"""Findings become the protocol's diagnostics."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from torchlint.finding import Edit, Finding, Note
from torchlint.frontends.lsp.documents import Document, OpenFiles, Unit
from torchlint.frontends.lsp.text import Text
from torchlint.printable import printable
from torchlint.project import NotText, decode
from torchlint.reading import read
from torchlint.reports.links import rule_url
from torchlint.rule import Rule

SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
# Words in a rule's name that say how an editor should show the text it is about.
TAGS = {
    types.DiagnosticTag.Deprecated: {"deprecated", "removed"},
    types.DiagnosticTag.Unnecessary: {"unused", "useless", "redundant", "unnecessary"},
}


def diagnostic(
    finding: Finding, document: Document, unit: Unit, files: OpenFiles, rules: dict[str, Rule]
) -> types.Diagnostic:
    """One finding of one document, with all that its quick fix needs in `data`."""
    link = address(finding, rules)
    return types.Diagnostic(
        range=document.range(finding.span),
        message="\n".join(map(printable, filter(None, (finding.message, *finding.help.split("\n"))))),
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(link) if link else None,
        source="torchlint",
        tags=[tag for tag, words in TAGS.items() if words & set(finding.name.split("_"))] or None,
        related_information=[_related(note, unit, files) for note in finding.notes] or None,
        data=_data(finding, document, unit),
    )


def address(finding: Finding | Rule, rules: dict[str, Rule]) -> str | None:
    """Where the rule's manual is: on the web, else in the file of the rule itself."""
    rule = rules.get(finding.code)
    return rule_url(finding.code, finding.name) or (from_fs_path(str(rule.path)) if rule and rule.path else None)


def _data(finding: Finding, document: Document, unit: Unit) -> dict[str, Any]:
    data: dict[str, Any] = {"name": finding.name, "revision": unit.heard.get("text", -1)}
    fix = finding.fix
    if fix and fix.applicability != "display":
        changes: dict[str, list] = {}
        for edit in fix.edits:
            at = cell_document(edit, document, unit)
            if at is None:
                return data
            changes.setdefault(at.uri, []).append({"range": _plain(at.range(edit.span)), "newText": edit.text})
        data["fix"] = {"message": fix.message, "applicability": fix.applicability, "changes": changes}
    return data


def _plain(range: types.Range) -> dict[str, dict[str, int]]:
    ends = {"start": range.start, "end": range.end}
    return {name: {"line": at.line, "character": at.character} for name, at in ends.items()}


def cell_document(thing: Edit | Finding | Note, document: Document, unit: Unit) -> Document | None:
    """The document that an edit or a note with this cell number is for."""
    if thing.cell is None:
        return document
    return unit.documents[thing.cell - 1] if thing.cell <= len(unit.documents) else None


def _related(note: Note, unit: Unit, files: OpenFiles) -> types.DiagnosticRelatedInformation:
    other = unit if note.path == unit.path else files.by_path(note.path)
    if other:
        document = cell_document(note, other.documents[0], other) or other.documents[0]
        location = types.Location(document.uri, document.range(note.span))
    else:
        location = types.Location(from_fs_path(note.path) or "", on_disk(note.path, files.encoding).range(note.span))
    return types.DiagnosticRelatedInformation(location, printable(note.message))


def on_disk(path: str, encoding: str) -> Text:
    """The text of a file that is not open, empty if it is gone."""
    try:
        return _read(path, encoding, os.stat(path).st_mtime_ns)
    except (OSError, NotText):
        return Text("", encoding)


@lru_cache(maxsize=16)
def _read(path: str, encoding: str, changed: int) -> Text:
    return Text(decode(read(path)), encoding)
