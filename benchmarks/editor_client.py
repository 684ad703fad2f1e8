"""A bare client for language servers: as little as possible between a keystroke and the answer to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any


class Client:
    """Speaks to one server over its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process):
        self.process = process
        self.published: dict[str, dict] = {}
        self.published_at: dict[str, float] = {}
        self.notices: list[str] = []
        self._answers: dict[int, asyncio.Future] = {}
        self._next = 0
        self._news = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, command: list[str], root: str, settings: Any = None, **options: Any) -> Client:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        client = cls(process)
        capabilities = {
            "textDocument": {"publishDiagnostics": {"versionSupport": True}},
            "workspace": {"inlayHint": {"refreshSupport": True}},
        }
        root_uri = "file://" + root
        folders = [{"uri": root_uri, "name": "root"}]
        await client.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root_uri,
                "workspaceFolders": folders,
                "capabilities": capabilities,
                "initializationOptions": settings,
            },
        )
        client.tell("initialized", {})
        return client

    def tell(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Any) -> Any:
        self._next += 1
        future = self._answers[self._next] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        return await asyncio.wait_for(future, 60)

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def edit(self, uri: str, version: int, start: tuple[int, int], end: tuple[int, int], new: str) -> None:
        ends = {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}
        document = {"uri": uri, "version": version}
        self.tell(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"range": ends, "text": new}]}
        )

    def close(self, uri: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def until(self, condition: Callable[[], Any], timeout: float = 60) -> Any:
        """Waits for a message that makes something true."""
        deadline = perf_counter() + timeout
        while not (result := condition()):
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), max(0.001, deadline - perf_counter()))
            except asyncio.TimeoutError:
                raise TimeoutError("the server says nothing") from None
        return result

    async def stop(self) -> int:
        """Ends the server as the protocol wants it; its exit code."""
        try:
            await self.ask("shutdown", None)
            self.tell("exit", None)
            return await asyncio.wait_for(self.process.wait(), 20)
        finally:
            self._reader.cancel()
            if self.process.returncode is None:
                self.process.kill()

    def _send(self, message: dict) -> None:
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        stream = self.process.stdout
        while True:
            size = 0
            while line := (await stream.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            if not size:
                return
            self._receive(json.loads(await stream.readexactly(size)))

    def _receive(self, message: dict) -> None:
        if "method" not in message:
            future = self._answers.pop(message["id"], None)
            if future and not future.done():
                future.set_result(message.get("result"))
        elif message["method"] == "textDocument/publishDiagnostics":
            uri = message["params"]["uri"]
            self.published[uri] = message["params"]
            self.published_at[uri] = perf_counter()
        else:
            self.notices.append(message["method"])
        if "method" in message and "id" in message:
            result = [{}] * len(message["params"]["items"]) if message["method"] == "workspace/configuration" else None
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self._news.set()
