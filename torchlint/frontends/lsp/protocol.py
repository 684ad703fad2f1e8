"""The protocol with documents of our own, and with an answer to requests that make no sense."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method

from torchlint.frontends.lsp.documents import file_of


class Protocol(LanguageServerProtocol):
    """pygls splits lines where Python does not and fails on documents it does not know: the session keeps the texts."""

    _server: Any  # a server of ours, which has a session

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        if hasattr(self._server, "session"):
            raise JsonRpcInvalidRequest("there is a session already")
        if not file_of(params.root_uri or ""):
            params.root_uri = None
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.session.opened(self._server.session.files.open(params.text_document))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.session.changed(self._server.session.files.change(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.session.closed(self._server.session.files.close(params.text_document.uri))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._server.session.opened(self._server.session.files.open_notebook(params))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        unit, gone = self._server.session.files.change_notebook(params)
        self._server.session.changed(unit, gone)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._server.session.closed(self._server.session.files.close(params.notebook_document.uri))

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as an object. pygls only logs what it cannot read; whoever asked would wait for ever."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        if not hasattr(message, "jsonrpc"):
            raise JsonRpcInvalidRequest("this is no message")
        super().handle_message(message)
