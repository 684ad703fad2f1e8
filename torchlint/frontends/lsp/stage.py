"""When what is analysed: each unit's latest text, once nobody has typed for a moment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from torchlint.frontends.lsp.documents import Unit
from torchlint.frontends.lsp.lanes import Lanes

log = logging.getLogger(__name__)


class Stage:
    """The units that are to be analysed, and the workers that do it.

    `analyse` does the work for a unit and says which revision it has dealt with. `quiet` seconds after the last change
    a unit's turn comes.
    """

    def __init__(self, name: str, lanes: Lanes, analyse: Callable[[Unit], Awaitable[int]], quiet: float):
        self.name = name
        self.lanes = lanes
        self.analyse = analyse
        self.quiet = quiet
        self._due: dict[Unit, asyncio.TimerHandle] = {}
        self._turns: dict[Unit, asyncio.Task] = {}
        self._again: set[Unit] = set()
        self._waiting: list[tuple[Unit, int, asyncio.Future]] = []

    def ask(self, unit: Unit, at_once: bool = False) -> None:
        """Have a unit analysed; asking again while nothing has happened starts the quiet time again."""
        self.hold(unit)
        loop = asyncio.get_running_loop()
        self._due[unit] = loop.call_later(0 if at_once else self.quiet, self._begin, unit)

    def hold(self, unit: Unit) -> None:
        """Not before somebody asks again."""
        if timer := self._due.pop(unit, None):
            timer.cancel()

    async def result(self, unit: Unit, at_once: bool = True) -> None:
        """Returns when the text the unit has now is analysed, or the unit is closed."""
        if unit.is_open and unit.done.get(self.name, -1) < unit.revision:
            if at_once or unit not in self._due:
                self.ask(unit, at_once)
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((unit, unit.revision, future))
            await future

    def forget(self, unit: Unit) -> None:
        """A unit was closed."""
        self.hold(unit)
        self.lanes.forget(unit)
        self._wake(unit)

    def stop(self) -> None:
        """The server ends."""
        for unit in list(self._due):
            self.hold(unit)
        for turn in self._turns.values():
            turn.cancel()
        self.lanes.stop()

    def _begin(self, unit: Unit) -> None:
        del self._due[unit]
        self._again.add(unit)
        if unit not in self._turns:
            self._turns[unit] = asyncio.ensure_future(self._turn(unit))

    async def _turn(self, unit: Unit) -> None:
        """Analyses a unit until nobody asks again. A turn that waits for a worker takes the text as it is then."""
        try:
            while unit in self._again:
                self._again.discard(unit)
                if unit.is_open and unit.done.get(self.name, -1) < unit.revision:
                    unit.done[self.name] = await self._analysed(unit)
                    self._wake(unit)
        finally:
            del self._turns[unit]

    async def _analysed(self, unit: Unit) -> int:
        revision = unit.revision
        try:
            return await self.analyse(unit)
        except Exception as error:
            log.error("%s was not analysed: %s", unit.path, error, exc_info=error)
            return revision

    def _wake(self, unit: Unit) -> None:
        done = unit.done.get(self.name, -1)
        ready = [entry for entry in self._waiting if entry[0] is unit and (not unit.is_open or entry[1] <= done)]
        self._waiting = [entry for entry in self._waiting if entry not in ready]
        for _, _, future in ready:
            if not future.done():
                future.set_result(None)
