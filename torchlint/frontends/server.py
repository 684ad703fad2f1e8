"""`torchlint server`: the language server for editors, over the standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

import click
from lsprotocol import types
from pygls.lsp.server import LanguageServer

import torchlint
from torchlint import safe_path
from torchlint.frontends.lsp.actions import KINDS, MANUAL, code_actions
from torchlint.frontends.lsp.client import CONFIGURATION_FILES, Client
from torchlint.frontends.lsp.documents import OpenFiles, encodable, file_of
from torchlint.frontends.lsp.hover import hover
from torchlint.frontends.lsp.pages import REQUEST, shapes_page
from torchlint.frontends.lsp.protocol import Protocol
from torchlint.frontends.lsp.session import Session
from torchlint.frontends.lsp.settings import Workspace, read
from torchlint.frontends.lsp.shapes import code_lenses, inlay_hints
from torchlint.frontends.output import Failure
from torchlint.reports.links import SITE

log = logging.getLogger(__name__)


class Server(LanguageServer):
    """Knows its client's session, and keeps errors of its own out of the user's way."""

    session: Session

    def report_server_error(self, error: Exception, source: type) -> None:
        log.error("%s: %s", source.__name__, error, exc_info=error)


def make_server(rule_paths: tuple[str, ...] = ()) -> Server:
    """A server whose features are registered."""
    cells = [types.NotebookCellLanguage("python")]
    notebooks = types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithCells(notebook="*", cells=cells)])
    server = Server(
        "torchlint", torchlint.__version__, notebook_document_sync=notebooks, protocol_cls=Protocol, max_workers=2
    )
    _lifecycle(server, rule_paths)
    _workspace(server)
    _documents(server)
    return server


def _lifecycle(server: Server, rule_paths: tuple[str, ...]) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = [path for folder in params.workspace_folders or () if (path := file_of(folder.uri))]
        root = folders[0] if folders else encodable(server.workspace.root_path or os.getcwd())
        safe_path.enter(root, *folders)
        workspace = Workspace(folders or [root], root, rule_paths)
        workspace.everywhere = read(params.initialization_options)
        client = Client(server)
        encoding = server.workspace.position_encoding
        files = OpenFiles(str(getattr(encoding, "value", encoding)), root)
        server.session = Session(client, files, workspace, rule_paths)
        if client.pulls:
            options = types.DiagnosticOptions(
                inter_file_dependencies=True, workspace_diagnostics=False, identifier="torchlint"
            )
            server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_pull)

    async def _pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        session = server.session
        uri = params.text_document.uri
        unit = session.files.unit(uri)
        if unit is None or unit.is_notebook:  # cells get theirs pushed: one analysis is the news of many documents
            return types.RelatedFullDocumentDiagnosticReport([])
        await session.text.result(unit)
        document = session.files.document(uri)
        return types.RelatedFullDocumentDiagnosticReport(session.diagnostics(document, unit) if document else [])

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        asyncio.ensure_future(server.session.text.lanes.quick.worker.warm_up())
        await _refresh_settings(server)
        server.session.has_settings.set()
        await server.session.client.watch()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        if params.settings:
            server.session.workspace.everywhere = read(params.settings)
        await _refresh_settings(server)

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.session.stop()


async def _refresh_settings(server: Server) -> None:
    """What the client says by now, in all of its folders."""
    workspace = server.session.workspace
    uris = [None, *(folder.uri for folder in server.workspace.folders.values())]
    first, *others = await server.session.client.configuration(uris)
    if first is not None:
        workspace.everywhere = read(first)
    workspace.by_folder = {
        path: read(section) for uri, section in zip(uris[1:], others) if section is not None and (path := file_of(uri))
    }
    server.session.reconsider()


def _workspace(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        paths = [file_of(folder.uri) for folder in server.workspace.folders.values()]
        server.session.workspace.folders = [path for path in paths if path]
        safe_path.enter(*server.session.workspace.folders)
        await _refresh_settings(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for event in params.changes if (path := file_of(event.uri))]
        if any(os.path.basename(path) in CONFIGURATION_FILES for path in paths):
            server.session.reconsider()
        else:
            server.session.touched(paths)


def _documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    async def on_code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await code_actions(server.session, params)

    @server.command(MANUAL)
    async def on_manual(address: str) -> None:
        if str(address).startswith(SITE):
            await server.session.client.show(address)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        return hover(server.session, params)

    @server.feature(REQUEST)
    async def on_shapes(params) -> dict[str, str]:
        return await shapes_page(server.session, str(getattr(params, "uri", "")))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def on_inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        return await inlay_hints(server.session, params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def on_code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        return await code_lenses(server.session, params)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--stdio", is_flag=True, help="Accepted because many clients say so; there is no other way.")
@click.option("--clientProcessId", hidden=True, help="Said by clients that end their servers themselves.")
@click.option("--rule-path", metavar="FOLDER", multiple=True, help="A folder with rules of your own.")
def server(stdio: bool, clientprocessid: str | None, rule_path: tuple[str, ...]) -> int:
    """Serve an editor over the standard input and output."""
    if os.environ.get("TORCHLINT_DEBUG"):
        logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    if sys.stdin is None:
        raise Failure("the standard input is closed")
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # what anybody prints must not stand between messages
    language_server = make_server(tuple(os.path.abspath(path) for path in rule_path))
    language_server.start_io(sys.stdin.buffer, output)
    return 0
