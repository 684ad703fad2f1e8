"""A client for the tests of the language server: an editor that opens, types, asks and waits."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest_asyncio
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

PATIENCE = 120.0  # seconds; waiting ends as soon as there is something
REFRESHES = (types.WORKSPACE_DIAGNOSTIC_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH)

QUIET = {"dryRun": False}
LOSS = """\
import torch
from torch.nn import functional as F


def loss(x, y):
    p = F.softmax(x, dim=1)
    return F.cross_entropy(p, y)
"""
PULLS = {
    "textDocument": {"diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}, "configuration": True},
}


class Editor:
    """What a test does, in the words of somebody at a keyboard. Positions are (line, character) from 0."""

    def __init__(self, client: LanguageClient, root: Path):
        self.client = client
        self.root = root
        self.versions: dict[str, int] = {}
        self.notebooks: dict[str, list[str]] = {}  # with the addresses of their cells
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.refreshed: list[str] = []
        self.registered: list[types.Registration] = []
        self.messages: list[str] = []
        self.progress: dict[int | str, list[Any]] = {}
        self.settings: dict[str, Any] = {"": {}}
        self.capabilities: types.ServerCapabilities = types.ServerCapabilities()

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str, language: str = "python") -> str:
        uri = name if ":" in name else self.uri(name)
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def open_notebook(self, name: str, *cells: str) -> tuple[str, list[str]]:
        """Its address, and those of its cells."""
        uri = self.uri(name)
        uris = [f"{uri.replace('file', 'vscode-notebook-cell')}#{number}" for number in range(len(cells))]
        self.versions.update(dict.fromkeys(uris, 1))
        self.notebooks[uri] = uris
        kept = [types.NotebookCell(types.NotebookCellKind.Code, one) for one in uris]
        texts = [types.TextDocumentItem(one, "python", 1, text) for one, text in zip(uris, cells)]
        opened = types.NotebookDocument(uri, "jupyter-notebook", 1, kept)
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(opened, texts))
        return uri, uris

    def close_notebook(self, uri: str) -> None:
        cells = [types.TextDocumentIdentifier(cell) for cell in self.notebooks.pop(uri)]
        closed = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(uri), cells)
        self.client.notebook_document_did_close(closed)

    def type(self, uri: str, new: str, start: tuple[int, int], end: tuple[int, int] | None = None) -> None:
        self._change(uri, types.TextDocumentContentChangePartial(span(start, end or start), new))

    def replace_all(self, uri: str, text: str) -> None:
        self._change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def _change(self, uri: str, event: types.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [event]))

    def configure(self, settings: dict[str, Any]) -> None:
        """The user changes the settings; those of single folders go."""
        if self.settings != {"": settings}:
            self.settings = {"": settings}
            self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))

    def move_to(self, root: Path) -> None:
        """Another folder is opened in place of the one before, and nothing is left of what was open in that."""
        cells = {cell for uri in self.notebooks for cell in self.notebooks[uri]}
        for uri in list(self.notebooks):
            self.close_notebook(uri)
        for uri in set(self.versions) - cells:
            self.close(uri)
        for kept in (self.versions, self.published, self.refreshed, self.messages, self.progress):
            kept.clear()
        gone, come = (types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in (self.root, root))
        self.root = root
        event = types.WorkspaceFoldersChangeEvent(added=[come], removed=[gone])
        self.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def shown(self, uri: str) -> list[types.Diagnostic]:
        """What was last published for the version the editor has now, None of an older one."""
        params = self.published.get(uri)
        return list(params.diagnostics) if params else []

    async def until(self, condition: Callable[[], Any], what: str = "") -> Any:
        """Waits for something to become true."""
        deadline = monotonic() + PATIENCE
        while not (result := condition()):
            assert monotonic() < deadline, f"waited too long{what and ' for ' + what}"
            await asyncio.sleep(0.01)
        return result

    async def until_async(self, ask: Callable[[], Any], wanted: Any) -> None:
        """Asks until the answer is the wanted one."""
        deadline = monotonic() + PATIENCE
        while (answer := await ask()) != wanted:
            assert monotonic() < deadline, f"waited too long: {answer}"
            await asyncio.sleep(0.02)

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What is published for the version the editor has now."""
        await self.until(lambda: uri in self.published and self.published[uri].version == self.versions.get(uri))
        return self.shown(uri)

    async def codes(self, uri: str) -> list[tuple[str, int]]:
        return [(str(d.code), d.range.start.line) for d in await self.diagnostics(uri)]

    async def pull(self, uri: str) -> list[types.Diagnostic]:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        return list((await self.client.text_document_diagnostic_async(params)).items)

    async def actions(
        self, uri: str, diagnostics: list[types.Diagnostic], only: list[str] | None = None
    ) -> list[types.CodeAction]:
        place = diagnostics[0].range if diagnostics else span((0, 0), (0, 0))
        context = types.CodeActionContext(diagnostics, only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        return list(await self.client.text_document_code_action_async(params) or [])

    async def hover(self, uri: str, line: int, character: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        answer = await self.client.text_document_hover_async(params)
        return answer.contents.value if answer else ""

    async def inlays(self, uri: str, first: int = 0, last: int = 1000) -> list[tuple[int, int, str]]:
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), span((first, 0), (last, 0)))
        answer = await self.client.text_document_inlay_hint_async(params) or []
        return [(hint.position.line, hint.position.character, str(hint.label)) for hint in answer]

    async def page(self, uri: str) -> dict[str, str]:
        """The page of shapes, or why there is none."""
        answer = await self.client.protocol.send_request_async("torchlint/shapes", {"uri": uri})
        return {"page": answer.page, "reason": answer.reason}

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        answer = await self.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        return [(lens.range.start.line, lens.command.title) for lens in answer or []]


async def shapes(at: Editor, uri: str) -> list[tuple[int, int, str]]:
    """The inlay hints, once there are some."""
    deadline = monotonic() + PATIENCE
    while not (found := await at.inlays(uri)):
        assert monotonic() < deadline, "no shapes"
        await asyncio.sleep(0.05)
    return found


def span(start: tuple[int, int], end: tuple[int, int]) -> types.Range:
    return types.Range(types.Position(*start), types.Position(*end))


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text after edits, for text in which one character is one unit."""
    lines = text.splitlines(keepends=True)

    def offset(position: types.Position) -> int:
        return sum(map(len, lines[: position.line])) + position.character

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def capabilities(**more: Any) -> types.ClientCapabilities:
    """Those of a client that can do most things but pull, with parts replaced: `capabilities(general={…})`."""
    plain = {
        "textDocument": {"publishDiagnostics": {"relatedInformation": True, "dataSupport": True}},
        "notebookDocument": {"synchronization": {}},
        "workspace": {
            "configuration": True,
            "workspaceEdit": {"documentChanges": True},
            "inlayHint": {"refreshSupport": True},
            "codeLens": {"refreshSupport": True},
            "didChangeWatchedFiles": {"dynamicRegistration": True},
            "didChangeConfiguration": {"dynamicRegistration": True},
        },
    }
    for part, values in more.items():
        plain[part] = {**plain.get(part, {}), **values}
    return get_converter().structure(plain, types.ClientCapabilities)


@asynccontextmanager
async def editor(
    root: Path,
    client_capabilities: types.ClientCapabilities | None = None,
    folders: list[Path] | None = None,
    settings: dict[str, Any] | None = None,
    folder_settings: dict[str, Any] | None = None,
    arguments: Sequence[str] = (),
    broken: str = "",
    **initialization: Any,
) -> AsyncIterator[Editor]:
    """An editor with a server of its own, which gets further `arguments`. The address `broken` is its root, and that
    of another folder.
    """
    client = LanguageClient(converter_factory=default_converter)
    one = Editor(client, root)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        one.published[params.uri] = params

    @client.feature(types.WORKSPACE_CONFIGURATION)
    def configuration(params: types.ConfigurationParams) -> list[Any]:
        return [one.settings.get(item.scope_uri or "", one.settings[""]) for item in params.items]

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def shown(params: types.ShowMessageParams) -> None:
        one.messages.append(params.message)

    @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    def progress(params: types.WorkDoneProgressCreateParams) -> None:
        one.progress[params.token] = []

    @client.feature(types.PROGRESS)
    def progressed(params: types.ProgressParams) -> None:
        one.progress[params.token].append(params.value)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(params: types.RegistrationParams) -> None:
        one.registered += params.registrations

    for method in REFRESHES:
        client.feature(method)(lambda params, method=method: one.refreshed.append(method))
    one.settings = {"": settings or {}, **(folder_settings or {})}
    await client.start_io(sys.executable, "-m", "torchlint", "server", "--stdio", *arguments)
    opened = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders or [root]]
    params = types.InitializeParams(
        capabilities=client_capabilities or capabilities(),
        root_uri=broken or None,
        workspace_folders=[types.WorkspaceFolder(broken, "broken"), *opened] if broken else opened,
        initialization_options=initialization or None,
    )
    try:
        one.capabilities = (await client.initialize_session(params)).capabilities
        yield one
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
    finally:
        if client._server.returncode is None:  # a test has failed; its server must not hold up the others
            client._server.kill()
        await client.stop()


_shared: dict[str, tuple[Editor, AsyncExitStack]] = {}


@asynccontextmanager
async def same_editor(root: Path, settings: dict[str, Any], **able: Any) -> AsyncIterator[Editor]:
    """An editor with the server that other tests have used with these settings, and with a client that is able to do
    the same: starting one takes longer than what most of them ask.
    """
    key = json.dumps([settings, able])
    if key not in _shared:
        stack = AsyncExitStack()
        _shared[key] = await stack.enter_async_context(editor(root, capabilities(**able), settings=settings)), stack
    else:
        _shared[key][0].configure(settings)
        _shared[key][0].move_to(root)
    try:
        yield _shared[key][0]
    except BaseException:
        await _shared.pop(key)[1].aclose()  # what has failed once is nobody else's
        raise


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def shared_servers_end() -> AsyncIterator[None]:
    """For the modules of tests that import it."""
    yield
    while _shared:
        await _shared.popitem()[1][1].aclose()
