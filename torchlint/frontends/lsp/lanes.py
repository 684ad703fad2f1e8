"""The workers of a stage: one for everybody, and a second one for those who take long, so that nobody else waits for
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from torchlint.frontends.lsp.documents import OpenFiles, Unit
from torchlint.frontends.lsp.work import Answer, Request
from torchlint.frontends.lsp.worker import Worker, WorkerDied


class Lane:
    """A worker and those who wait for it."""

    def __init__(self, is_dry: bool):
        self.worker = Worker(is_dry)
        self.lock = asyncio.Lock()
        self.waiting: list[Unit] = []


class Lanes:
    """Requests that take longer than `patience` while another unit waits begin again in the slow lane, and later ones
    of their unit begin there. So units that hang wait for each other only. Work on a text that has changed since ends
    after `patience` seconds, any after `limit`.
    """

    def __init__(self, is_dry: bool, patience: float, limit: float):
        self.patience = patience
        self.limit = limit
        self.quick = Lane(is_dry)
        self.slow = Lane(is_dry)
        self._slow_units: set[Unit] = set()

    async def run(self, unit: Unit, files: OpenFiles, begin: Callable[[], Request | None]) -> Answer | None:
        """The answer to what `begin` gives when its turn has come, None if it gives nothing; raises WorkerDied."""
        while True:
            lane = self._lane(unit)
            lane.waiting.append(unit)
            try:
                await lane.lock.acquire()
            finally:
                lane.waiting.remove(unit)
            try:
                if lane is self._lane(unit):
                    request = begin()
                    if request is None:
                        return None
                    return await self._watched(lane, unit, asyncio.ensure_future(lane.worker.run(request, files)))
            except WorkerDied:
                if lane is self._lane(unit):
                    raise
            finally:
                lane.lock.release()
                if not self._slow_units and not self.slow.lock.locked():
                    self.slow.worker.kill()

    def forget(self, unit: Unit) -> None:
        """A unit was closed."""
        self._slow_units.discard(unit)

    def refresh(self) -> None:
        """Files on the disk may have changed."""
        self.quick.worker.is_fresh = self.slow.worker.is_fresh = True

    def stop(self) -> None:
        self.quick.worker.kill()
        self.slow.worker.kill()

    def _lane(self, unit: Unit) -> Lane:
        return self.slow if unit in self._slow_units else self.quick

    async def _watched(self, lane: Lane, unit: Unit, work: asyncio.Future[Answer]) -> Answer:
        """Waits for the work, and kills the worker when that takes too long; the work then ends by itself."""
        revision, elapsed = unit.revision, 0.0
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=self.patience / 4)
                elapsed = monotonic() - (lane.worker.busy_since or monotonic()) if not work.done() else elapsed
                is_wanted = unit.is_open and unit.revision == revision
                if elapsed > (self.limit if is_wanted else self.patience):
                    lane.worker.kill(is_late=True)
                elif (
                    elapsed > self.patience and lane is self.quick and any(other is not unit for other in lane.waiting)
                ):
                    self._slow_units.add(unit)
                    lane.worker.kill()
        except BaseException:
            work.cancel()
            raise
        if elapsed <= self.patience:
            self._slow_units.discard(unit)
        return work.result()
