"""Quick fixes, fixing everything, and comments that silence a finding."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from lsprotocol import types

from torchlint.finding import Finding
from torchlint.frontends.lsp.documents import Document, Unit
from torchlint.frontends.lsp.session import Session
from torchlint.frontends.lsp.text import Text
from torchlint.frontends.lsp.turning_off import turn_off
from torchlint.source.text.notebook import Notebook
from torchlint.source.text.suppress import Suppressions

FIX = "quickfix"
UNSAFE = "quickfix.unsafe"
FIX_ALL = "source.fixAll.torchlint"
FIX_NOTEBOOK = "notebook.source.fixAll.torchlint"
MANUAL = "torchlint.manual"
NOT_RULES = ("TL000", "TL001", "TL002")  # about the file, not about torch
KINDS = [FIX, FIX_ALL, FIX_NOTEBOOK]
_MOST_SHOWN = 200  # diagnostics for which there are quick fixes: nobody looks through a menu of more


async def code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What can be done about the diagnostics of a range, and about the file."""
    uri = params.text_document.uri
    document, unit = session.files.document(uri), session.files.unit(uri)
    if document is None or unit is None:
        return []
    only = params.context.only
    actions: list[types.CodeAction] = []
    if _wanted(FIX, only) or _wanted(UNSAFE, only):
        chosen = [d for d in params.context.diagnostics if d.source == "torchlint"][:_MOST_SHOWN]
        current = (await _current(session, document, unit, chosen))[:_MOST_SHOWN] if chosen else []
        found = _shown(document, current)
        mended = await session.mended(unit, [f for f in found.values() if f and f.fix])
        for diagnostic in current:
            if found[id(diagnostic)] in mended:
                actions += _fixes(session, diagnostic)
        actions += _silence(session, document, [(diagnostic, found[id(diagnostic)]) for diagnostic in current])
        for diagnostic in {diagnostic.code: diagnostic for diagnostic in current}.values():
            actions += _about_rule(session, unit, diagnostic)
    for kind in (FIX_ALL, FIX_NOTEBOOK) if only else ():
        if _wanted(kind, only):
            actions += await _fix_all(session, unit, kind)
    return [action for action in actions if _wanted(action.kind, only)]


def _wanted(kind: str | None, only: Iterable[str] | None) -> bool:
    return only is None or any(kind == one or (kind or "").startswith(f"{one}.") for one in only)


async def _current(
    session: Session, document: Document, unit: Unit, diagnostics: list[types.Diagnostic]
) -> list[types.Diagnostic]:
    """The diagnostics as they are now: a client may show some of an older text, or keep no data."""
    if all(isinstance(d.data, dict) and d.data.get("revision") == unit.revision for d in diagnostics):
        return diagnostics
    await session.text.result(unit)
    asked = {(diagnostic.code, diagnostic.range.start.line) for diagnostic in diagnostics}
    return [d for d in session.diagnostics(document, unit) if (d.code, d.range.start.line) in asked]


def _shown(document: Document, diagnostics: list[types.Diagnostic]) -> dict[int, Finding | None]:
    """The finding that each diagnostic shows."""
    lines = {diagnostic.range.start.line + 1 for diagnostic in diagnostics}
    near = [finding for finding in document.all_findings() if finding.span.line in lines]
    known = {(finding.code, repr(document.range(finding.span))): finding for finding in reversed(near)}
    return {id(one): known.get((str(one.code), repr(one.range))) for one in diagnostics}


def _fixes(session: Session, diagnostic: types.Diagnostic) -> Iterable[types.CodeAction]:
    fix = (diagnostic.data or {}).get("fix")
    if not fix:
        return
    is_safe, message = fix["applicability"] == "safe", fix["message"]
    changes = {
        uri: [types.TextEdit(_range(edit["range"]), edit["newText"]) for edit in edits]
        for uri, edits in fix["changes"].items()
    }
    yield types.CodeAction(
        title=f"{message[:1].upper()}{message[1:]} ({diagnostic.code}{'' if is_safe else ', unsafe'})",
        kind=FIX if is_safe else UNSAFE,
        diagnostics=[diagnostic],
        is_preferred=is_safe,
        edit=workspace_edit(session, changes),
    )


def _silence(
    session: Session, document: Document, shown: Iterable[tuple[types.Diagnostic, Finding | None]]
) -> Iterator[types.CodeAction]:
    comments = None  # to read them takes as long as the text is
    for diagnostic, finding in shown:
        if finding is None or finding.code in NOT_RULES:
            continue
        comments = comments or Suppressions.to_extend(document.text)
        edits = [types.TextEdit(document.range(e.span), e.text) for e in comments.add_noqa([finding])]
        yield types.CodeAction(
            title=f"Silence {finding.code} on this line (# noqa)",
            kind=FIX,
            diagnostics=[diagnostic],
            edit=workspace_edit(session, {document.uri: edits}),
        )


def _about_rule(session: Session, unit: Unit, diagnostic: types.Diagnostic) -> Iterable[types.CodeAction]:
    code = str(diagnostic.code)
    if code in NOT_RULES or code not in session.rules:
        return
    if off := turn_off(session, unit, code):
        name, changes = off
        yield types.CodeAction(
            title=f"Turn {code} off in {name}",
            kind=FIX,
            diagnostics=[diagnostic],
            edit=workspace_edit(session, changes),
        )
    if diagnostic.code_description and session.client.shows_documents:
        command = types.Command("Show the manual", MANUAL, arguments=[diagnostic.code_description.href])
        yield types.CodeAction(title=f"Show the manual of {code}", kind=FIX, diagnostics=[diagnostic], command=command)


async def _fix_all(session: Session, unit: Unit, kind: str) -> list[types.CodeAction]:
    """All safe fixes, until there is nothing left to fix, as the edits that lead there."""
    before, fixed = unit.text(), ""
    settings = session.settings(unit)
    while settings and unit.is_open:
        fixed = await session.fixed(unit, settings)
        if unit.text() == before:
            break
        before = unit.text()  # somebody goes on typing: edits are for the text as it is
    if not fixed or fixed == before:
        return []
    texts = Notebook.parse(fixed).sources if unit.is_notebook else (fixed,)
    changes = {
        document.uri: _line_edits(document, new)
        for document, new in zip(unit.documents, texts)
        if new is not None and new != document.text
    }
    title = "Fix all safe problems (torchlint)"
    return [types.CodeAction(title=title, kind=kind, edit=workspace_edit(session, changes))] if changes else []


def _line_edits(document: Text, new: str) -> list[types.TextEdit]:
    """The lines that differ: the cursor stays where it is in the others."""
    before, after = _lines(document), _lines(Text(new))
    edits = []
    # Lines that a long text has everywhere are no landmarks: to pair each with each would take too long.
    for what, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if what != "equal":
            ends = types.Range(document.position(start + 1, 1), document.position(end + 1, 1))
            edits.append(types.TextEdit(ends, "".join(after[new_start:new_end])))
    return edits


def _lines(text: Text) -> list[str]:
    bounds = [*text.starts, len(text.text)]
    return [text.text[start:end] for start, end in zip(bounds, bounds[1:])]


def workspace_edit(session: Session, changes: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
    """Edits for the text as it is now: where the client can, it refuses them for another one."""
    if not session.client.has_versioned_edits:
        return types.WorkspaceEdit(changes=changes)
    edits = []
    for uri, of_document in changes.items():
        document = session.files.document(uri)
        at = types.OptionalVersionedTextDocumentIdentifier(uri, document.version if document else None)
        edits.append(types.TextDocumentEdit(at, of_document))
    return types.WorkspaceEdit(document_changes=edits)


def _range(plain: dict) -> types.Range:
    start, end = plain["start"], plain["end"]
    return types.Range(types.Position(start["line"], start["character"]), types.Position(end["line"], end["character"]))
