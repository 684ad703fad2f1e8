"""A worker process as the server sees it: one request at a time, and it can be killed."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

import msgspec
from msgspec.structs import replace

from torchlint import safe_path
from torchlint.config import Settings
from torchlint.frontends.lsp.documents import OpenFiles
from torchlint.frontends.lsp.work import Answer, Request

log = logging.getLogger(__name__)
# A worker that has grown by so much since its first request is replaced by a new one.
_MEMORY_GROWTH = 120 << 20


WARM_UP = "import torch\ntorch.nn.functional.relu(torch.zeros(1))\n"


class WorkerDied(Exception):
    """The process ended before it answered: it was killed, or it crashed. `is_late` says that it had run out of
    time.
    """

    def __init__(self, is_late: bool = False):
        super().__init__("out of time" if is_late else "died")
        self.is_late = is_late


class Worker:
    """Starts a process when there is a request, and again when it has died or grown too much.

    `busy_since` is when the request under way was given out.
    """

    def __init__(self, is_dry: bool):
        self.is_dry = is_dry
        self.is_fresh = False
        self.busy_since: float | None = None
        self.is_late = False
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._sent: dict[str, tuple[int, int]] = {}
        self._memory = 0
        self._decode = msgspec.msgpack.Decoder(Answer).decode

    async def warm_up(self) -> None:
        """Start before there is a request."""
        async with self._lock:
            try:
                await self._started()
            except WorkerDied as error:
                log.error("a worker does not start: %s", error)

    async def run(self, request: Request, files: OpenFiles) -> Answer:
        """The answer; raises WorkerDied. The unsaved texts of `files` go along."""
        async with self._lock:
            process = await self._started()
            request = replace(request, unsaved=self._news(files), is_fresh=self.is_fresh)
            self.is_fresh = self.is_late = False
            self.busy_since = monotonic()
            try:
                answer = await self._exchange(process, request)
            finally:
                self.busy_since = None
        self._memory = self._memory or answer.memory
        if answer.memory > self._memory + _MEMORY_GROWTH:
            self.kill()
        return answer

    async def _exchange(self, process: asyncio.subprocess.Process, request: Request) -> Answer:
        try:
            data = msgspec.msgpack.encode(request)
            assert process.stdin is not None and process.stdout is not None  # they are pipes
            process.stdin.write(len(data).to_bytes(4, "big") + data)
            await process.stdin.drain()
            size = int.from_bytes(await process.stdout.readexactly(4), "big")
            return self._decode(await process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            self.kill(self.is_late)
            raise WorkerDied(self.is_late) from None
        except BaseException:
            self.kill()  # cancelled in the middle: what it says next would be the answer to this request
            raise

    def kill(self, is_late: bool = False) -> None:
        """Ends the process, whatever it does. The next request gets a new one."""
        self.is_late = is_late
        if self._process is not None:
            try:
                self._process.kill()
            except ProcessLookupError:
                pass
        self._process = None
        self._memory = 0

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._sent.clear()
            command = safe_path.command("torchlint.frontends.lsp.work", *(["--dry"] if self.is_dry else []))
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
            # Importing torch takes seconds, which no request should be blamed for.
            await self._exchange(self._process, Request("/warm_up.py", WARM_UP, Settings(dry_run=self.is_dry), "/", ()))
        return self._process

    def _news(self, files: OpenFiles) -> dict[str, str | None]:
        """What the worker does not know yet about unsaved texts."""
        now = {unit.path: (id(unit), unit.revision) for unit in files.files()}
        news: dict[str, str | None] = {path: None for path in self._sent if path not in now}
        news.update({u.path: u.text() for u in files.files() if self._sent.get(u.path) != now[u.path]})
        self._sent = now
        return news
