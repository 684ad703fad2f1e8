"""What the client has open: documents, the files and notebooks they make up, and what was last found in them."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from msgspec.structs import replace
from pygls.uris import to_fs_path

from torchlint.finding import Finding, ForwardHint, Hint
from torchlint.frontends.lsp.text import Replacement, Text, moved, written
from torchlint.project import WORDS
from torchlint.reading import limit_of

# Lines from which on a file is judged in parts: shorter ones take less time than it does to see a difference.
LONG = 300
# Changes of one message that findings are moved along with one by one. Of more it is not known which lines they left.
FOLLOWED = 500


class Document(Text):
    """One text that is open: a file, or a cell of a notebook. What was found in it moves with its text.

    `findings` are what the text says, `dry` what the dry run adds, `hints` and `signatures` the shapes it saw. `broken`
    says why the text as it is cannot be read; then the others are what was last known. `edits` are the changes that
    nobody has judged.
    """

    def __init__(self, item: types.TextDocumentItem, encoding: str):
        super().__init__(item.text, encoding)
        self.uri = item.uri
        self.version = item.version
        self.is_python = item.language_id == "python" or _path_in(item.uri).endswith((".py", ".pyi"))
        self.findings: list[Finding] = []
        self.dry: list[Finding] = []
        self.hints: list[Hint] = []
        self.signatures: list[ForwardHint] = []
        self.broken: list[Finding] = []
        self.edits: list[Replacement] = []
        self._recorders: list[list[Replacement]] = []

    def all_findings(self) -> list[Finding]:
        """What all stages found; what ended several is said once."""
        return sorted({*self.broken, *self.findings, *self.dry}, key=lambda finding: finding.order)

    def edit(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> None:
        """Apply the client's changes in their order. Of very many it is said at once what moved."""
        events = list(changes)
        if len(events) > FOLLOWED:
            before = Text(self.text, self.encoding)
            self._applied(events)
            made = [before.replace(None, self.text)]
        else:
            made = self._applied(events)
        for recorder in [*self._recorders, self.edits]:
            recorder.extend(made)
        self.broken, self.findings, self.dry = (after(them, made) for them in (self.broken, self.findings, self.dry))
        self.hints, self.signatures = after(self.hints, made), after(self.signatures, made)
        self.version = version

    def _applied(self, events: list[types.TextDocumentContentChangeEvent]) -> list[Replacement]:
        return [self.replace(getattr(event, "range", None), event.text) for event in events]

    @contextmanager
    def recorded(self) -> Iterator[list[Replacement]]:
        """Collects the changes made while somebody works on the text as it is now."""
        changes: list[Replacement] = []
        self._recorders.append(changes)
        try:
            yield changes
        finally:
            self._recorders = [recorder for recorder in self._recorders if recorder is not changes]


def after(things: Iterable, changes: list[Replacement]) -> list:
    """Findings or hints where they are after some changes."""
    kept = list(things)
    for change in changes:
        places = [(thing, moved(thing.span, change)) for thing in kept]
        kept = [thing if span == thing.span else replace(thing, span=span) for thing, span in places if span]
    return kept


def without_fixes(findings: Iterable[Finding]) -> list[Finding]:
    """What is left of findings about an older text: the edits of their fixes may be wrong by now."""
    return [replace(finding, fix=None) if finding.fix else finding for finding in findings]


class Unit:
    """What is linted as one module: a file, or a notebook with its cells as documents. `revision` counts changes.

    `consulted` are the other files that the last answers depend on, `done` the revision that each stage has dealt with,
    `heard` the one that its worker has spoken about, `judged` the last one of which all is known, `afar` the codes of
    what is not known of lines alone, `tried` of which revision it is known whether the fix of a finding mends it.
    `news` says that findings may change although the client has not changed the text.
    """

    def __init__(self, uri: str, folder: str, documents: list[Document], cells: list[types.NotebookCell] | None = None):
        self.uri = uri
        self.is_notebook = cells is not None
        self.path = path_of(uri, folder, ".ipynb" if self.is_notebook else ".py")
        self.documents = documents
        self.cells = cells or []
        self.revision = 0
        self.is_open = True
        self.news = False
        self.consulted: frozenset[str] = frozenset()
        self.done: dict[str, int] = {}
        self.heard: dict[str, int] = {}
        self.judged = -1
        self.afar: frozenset[str] = frozenset()
        self.tried: dict[Finding, tuple[int, bool]] = {}
        self.trying = asyncio.Lock()

    def text(self) -> str:
        """The file, or the notebook as the file it would be. What no file can hold is replaced."""
        if not self.is_notebook:
            return encodable(self.documents[0].text)
        cells = [
            {"cell_type": "code", "metadata": {}, "source": encodable(document.text) if document.is_python else ""}
            for document in self.documents
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False)

    @property
    def is_too_large(self) -> bool:
        """As large as no file may be that is linted."""
        return sum(len(document.text) for document in self.documents) > limit_of(self.path)

    def changed(self) -> tuple[int, int] | None:
        """The lines of a long file that nobody has judged since they changed; None where all is to be judged."""
        document = self.documents[0]
        if self.is_notebook or self.news or self.judged < 0 or len(document.starts) < LONG:
            return None
        return written(document.edits)

    def mentions_torch(self) -> bool:
        """Files that never say so are not looked at, as on the command line."""
        return any(word in document.text for word in WORDS for document in self.documents)


class Reading:
    """A unit's texts as they were when somebody began to work on them, and what has changed since.

    It may begin again.
    """

    def __init__(self, unit: Unit):
        self.unit = unit
        self._recording = ExitStack()

    def __enter__(self) -> Reading:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._recording.close()

    def begin(self) -> None:
        self._recording.close()
        self.revision = self.unit.revision
        self.documents = list(self.unit.documents)
        self.changes = [self._recording.enter_context(document.recorded()) for document in self.documents]

    @property
    def is_current(self) -> bool:
        return self.unit.revision == self.revision


class OpenFiles:
    """All that is open. Messages about what is not are ignored: a client may be confused, the server must not be."""

    def __init__(self, encoding: str, folder: str):
        self.encoding = encoding
        self.folder = folder
        self.units: dict[str, Unit] = {}
        self._documents: dict[str, tuple[Document, Unit]] = {}

    def document(self, uri: str) -> Document | None:
        return self._documents[uri][0] if uri in self._documents else None

    def unit(self, uri: str) -> Unit | None:
        """The unit that has this document."""
        return self._documents[uri][1] if uri in self._documents else None

    def by_path(self, path: str) -> Unit | None:
        return next((unit for unit in self.units.values() if unit.path == path), None)

    def files(self) -> list[Unit]:
        """The units whose text other files may import."""
        return [unit for unit in self.units.values() if not unit.is_notebook and not unit.is_too_large]

    def open(self, item: types.TextDocumentItem) -> Unit | None:
        document = Document(item, self.encoding)
        if not document.is_python:
            return None
        self.close(item.uri)
        return self._add(Unit(item.uri, self.folder, [document]))

    def change(self, params: types.DidChangeTextDocumentParams) -> Unit | None:
        document, unit = self._documents.get(params.text_document.uri, (None, None))
        if document and unit:
            document.edit(params.content_changes, params.text_document.version)
            unit.revision += 1
        return unit

    def close(self, uri: str) -> Unit | None:
        unit = self.units.pop(uri, None)
        if unit:
            unit.is_open = False
            for document in unit.documents:
                self._documents.pop(document.uri, None)
        return unit

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> Unit:
        uri = params.notebook_document.uri
        self.close(uri)
        texts = {item.uri: Document(item, self.encoding) for item in params.cell_text_documents}
        cells = list(params.notebook_document.cells)
        return self._add(Unit(uri, self.folder, [texts[uri] for uri in _code(cells) if uri in texts], cells))

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> tuple[Unit | None, list[Document]]:
        """The notebook, and the cells that are gone."""
        unit = self.units.get(params.notebook_document.uri)
        changes = params.change.cells
        gone: list[Document] = []
        if unit and changes:
            if changes.structure:
                gone = self._restructure(unit, changes.structure)
            for content in changes.text_content or ():
                document = self.document(content.document.uri)
                if document:
                    document.edit(content.changes, content.document.version)
            unit.revision += 1
        return unit, gone

    def _restructure(self, unit: Unit, structure: types.NotebookDocumentCellChangeStructure) -> list[Document]:
        array = structure.array
        for item in structure.did_open or ():
            document = Document(item, self.encoding)
            self._documents[item.uri] = (document, unit)
        unit.cells[array.start : array.start + array.delete_count] = array.cells or ()
        found = [self.document(uri) for uri in _code(unit.cells)]
        unit.documents = [document for document in found if document]
        closed = [item.uri for item in structure.did_close or () if item.uri in self._documents]
        return [self._documents.pop(uri)[0] for uri in closed]

    def _add(self, unit: Unit) -> Unit:
        self.units[unit.uri] = unit
        for document in unit.documents:
            self._documents[document.uri] = (document, unit)
        return unit


def _code(cells: list[types.NotebookCell]) -> list[str]:
    return [cell.document for cell in cells if cell.kind == types.NotebookCellKind.Code]


def path_of(uri: str, folder: str, suffix: str) -> str:
    """The file of a document. One that was never saved gets a name in the workspace."""
    if path := file_of(uri):
        return os.path.abspath(path)
    name = re.sub(r"\W+", "_", unquote(_path_in(uri))) or "untitled"
    return os.path.join(folder, name.removesuffix(suffix.replace(".", "_")) + suffix)


def file_of(uri: str) -> str:
    """The file or folder that an address names, empty if it names none. Half a character is in no name that a worker
    can be told.
    """
    return encodable(to_fs_path(uri) or "") if _path_in(uri) else ""


def _path_in(uri: str) -> str:
    """The path that a URI names, empty if it is none that can be read."""
    try:
        return urlsplit(uri).path
    except ValueError:
        return ""


def encodable(text: str) -> str:
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)
