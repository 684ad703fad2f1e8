"""When what is analysed: one unit at a time, its latest text, once nobody has typed for a moment."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Awaitable, Callable

from torchlint.frontends.lsp.documents import Unit
from torchlint.frontends.lsp.worker import Worker

log = logging.getLogger(__name__)


class Stage:
    """A queue before one worker. `analyse` does the work for a unit and the revision it has then.

    `quiet` seconds after the last change a unit's turn comes. Work on a text that has changed since is cut off after
    `patience` seconds, any work after `limit`.
    """

    def __init__(
        self,
        name: str,
        worker: Worker,
        analyse: Callable[[Unit, int], Awaitable[None]],
        quiet: float,
        patience: float,
        limit: float,
    ):
        self.name = name
        self.worker = worker
        self.analyse = analyse
        self.quiet = quiet
        self.patience = patience
        self.limit = limit
        self._due: dict[Unit, float] = {}
        self._news = asyncio.Event()
        self._waiting: list[tuple[Unit, int, asyncio.Future]] = []
        self._current: tuple[Unit, int] | None = None
        self._loop: asyncio.Task | None = None

    def ask(self, unit: Unit, at_once: bool = False) -> None:
        """Have a unit analysed; asking again while nothing has happened starts the quiet time again."""
        now = monotonic()
        self._due[unit] = min(now, self._due.get(unit, now)) if at_once else now + self.quiet
        self._news.set()
        if self._loop is None:
            self._loop = asyncio.get_running_loop().create_task(self._run())

    async def result(self, unit: Unit, at_once: bool = True) -> None:
        """Returns when the text the unit has now is analysed, or the unit is closed."""
        if unit.is_open and unit.done.get(self.name, -1) < unit.revision:
            if self._current != (unit, unit.revision) and (at_once or unit not in self._due):
                self.ask(unit, at_once)
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((unit, unit.revision, future))
            await future

    def forget(self, unit: Unit) -> None:
        """A unit was closed."""
        self._due.pop(unit, None)
        self._wake(unit)

    def stop(self) -> None:
        """The server ends."""
        if self._loop:
            self._loop.cancel()
        self.worker.kill()

    async def _run(self) -> None:
        while True:
            if not self._due:
                self._news.clear()
                await self._news.wait()
            unit = min(self._due, key=self._due.__getitem__)
            wait = self._due[unit] - monotonic()
            if wait > 0:
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), wait)
                except asyncio.TimeoutError:
                    pass
                continue
            del self._due[unit]
            self._current = (unit, unit.revision)
            await self._watched(asyncio.ensure_future(self.analyse(*self._current)))
            unit.done[self.name] = self._current[1]
            self._current = None
            self._wake(unit)

    async def _watched(self, work: asyncio.Future) -> None:
        """Waits for the work, and kills the worker when that takes too long; the work then ends by itself."""
        unit, revision = self._current
        while not work.done():
            await asyncio.wait({work}, timeout=self.patience / 4)
            elapsed = monotonic() - (self.worker.busy_since or monotonic())
            allowed = self.limit if unit.revision == revision else self.patience
            if not work.done() and elapsed > allowed:
                self.worker.kill()
        if not work.cancelled() and (error := work.exception()):
            log.error("%s was not analysed: %s", unit.path, error, exc_info=error)

    def _wake(self, unit: Unit) -> None:
        done = unit.done.get(self.name, -1)
        ready = [entry for entry in self._waiting if entry[0] is unit and (not unit.is_open or entry[1] <= done)]
        self._waiting = [entry for entry in self._waiting if entry not in ready]
        for _, _, future in ready:
            if not future.done():
                future.set_result(None)
