"""The editor at the other end: what it can do, what it is told, and what it is asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from torchlint.printable import printable

log = logging.getLogger(__name__)
CONFIGURATION_FILES = ("pyproject.toml", "torchlint.toml", ".torchlint.toml")


_NO_NEWS = 1.0  # seconds that work may take before anybody hears of it


class Client:
    """Speaks to the client as far as its capabilities go; whatever it answers, nothing here fails."""

    def __init__(self, server: LanguageServer):
        self._server = server
        capabilities = server.client_capabilities
        document, workspace = capabilities.text_document, capabilities.workspace
        refresh = workspace and workspace.diagnostics and workspace.diagnostics.refresh_support
        # Findings of the dry run come later: a client that cannot be told to ask again gets them pushed.
        self.pulls = bool(document and document.diagnostic and refresh)
        self.has_hint_refresh = bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support)
        self.has_lens_refresh = bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)
        self._has_configuration = bool(workspace and workspace.configuration)
        watching = workspace and workspace.did_change_watched_files
        self._can_watch = bool(watching and watching.dynamic_registration)
        settings = workspace and workspace.did_change_configuration
        self._can_tell_settings = bool(settings and settings.dynamic_registration)
        window = capabilities.window
        self.shows_documents = bool(window and window.show_document and window.show_document.support)
        self._shows_progress = bool(window and window.work_done_progress)
        edits = workspace and workspace.workspace_edit
        self.has_versioned_edits = bool(edits and edits.document_changes)

    def publish(self, uri: str, diagnostics: Sequence[types.Diagnostic], version: int | None = None) -> None:
        params = types.PublishDiagnosticsParams(uri, diagnostics, version)
        self._server.text_document_publish_diagnostics(params)

    def warn(self, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, printable(message)))

    def refresh_diagnostics(self) -> None:
        self._server.workspace_diagnostic_refresh(None)

    def refresh_shapes(self) -> None:
        if self.has_hint_refresh:
            self._server.workspace_inlay_hint_refresh(None)
        if self.has_lens_refresh:
            self._server.workspace_code_lens_refresh(None)

    @asynccontextmanager
    async def working(self, on: str) -> AsyncIterator[None]:
        """Shows that something is being worked on, once that has lasted a second."""
        showing = asyncio.ensure_future(self._progress(on)) if self._shows_progress else None
        try:
            yield
        finally:
            if showing is not None:
                showing.cancel()

    async def _progress(self, on: str) -> None:
        token, progress = str(uuid4()), self._server.work_done_progress
        await asyncio.sleep(_NO_NEWS)
        try:
            await progress.create_async(token)
        except Exception as error:
            log.warning("no progress is shown: %s", error)
            return
        progress.begin(token, types.WorkDoneProgressBegin(title="torchlint", message=on, cancellable=False))
        try:
            await asyncio.Event().wait()
        finally:
            progress.end(token, types.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)

    async def show(self, uri: str) -> None:
        """Have something of the web shown."""
        try:
            await self._server.window_show_document_async(types.ShowDocumentParams(uri, external=True))
        except Exception as error:
            log.warning("the client does not show %s: %s", printable(uri), error)

    async def configuration(self, folder_uris: Sequence[str | None]) -> list[Any]:
        """The client's settings in each folder, None where it has none to tell."""
        if not self._has_configuration:
            return [None] * len(folder_uris)
        items = [types.ConfigurationItem(scope_uri=uri, section="torchlint") for uri in folder_uris]
        try:
            answer = await self._server.workspace_configuration_async(types.ConfigurationParams(items))
        except Exception as error:
            log.warning("no settings from the client: %s", error)
            answer = []
        return [*answer, *[None] * len(folder_uris)][: len(folder_uris)]

    async def watch(self) -> None:
        """Ask to be told when configuration, Python files or settings change."""
        registrations = []
        if self._can_watch:
            globs = [*(f"**/{name}" for name in CONFIGURATION_FILES), "**/*.py"]
            watchers = [types.FileSystemWatcher(glob) for glob in globs]
            watched = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            name = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registrations.append(types.Registration("torchlint files", name, watched))
        if self._can_tell_settings:
            options = types.DidChangeConfigurationRegistrationOptions("torchlint")
            name = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            registrations.append(types.Registration("torchlint settings", name, options))
        if registrations:
            try:
                await self._server.client_register_capability_async(types.RegistrationParams(registrations))
            except Exception as error:
                log.warning("the client does not watch: %s", error)
