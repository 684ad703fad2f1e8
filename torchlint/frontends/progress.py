"""How far a run is, while there is something to wait for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchlint.frontends.output import count, say


class Progress:
    """A bar on the terminal's error stream, once there has been something to wait for during a second; where there is
    no terminal, as in CI, a line every half minute.
    """

    PATIENCE = 1.0  # seconds before the bar
    LINES = 30.0  # seconds from one line to the next

    def __init__(self, quiet: bool = False, what: str = "file", plural: str = ""):
        self.began = self.said = time.monotonic()
        self.quiet = quiet
        self.what, self.plural = what, plural
        self.state = 0, 0, 0
        self.bar: Any = None  # of rich, which is imported when it is shown
        self.timer: threading.Timer | None = None  # nothing may be done for longer than anybody waits for a sign
        self.lock = threading.RLock()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.timer:
            self.timer.cancel()
        with self.lock:
            self.timer = None
            if self.bar:
                self.bar.stop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While something else is written to the same terminal."""
        with self.lock:
            if self.bar:
                self.bar.stop()
            yield
            if self.bar:
                self.bar.start()

    def __call__(self, done: int, total: int, found: int = 0) -> None:
        self.state = done, total, found
        if not sys.stderr.isatty():
            self._line(time.monotonic())
        elif self.bar:
            self._update()
        elif self.timer is None:
            self.timer = threading.Timer(self.PATIENCE - (time.monotonic() - self.began), self._show)
            self.timer.daemon = True
            self.timer.start()

    def _line(self, now: float) -> None:
        done, total, found = self.state
        if not self.quiet and now - self.said >= self.LINES and done < total:
            self.said = now
            files = count(total, self.what, self.plural)
            say(f"{done:,} of {files} done after {now - self.began:.0f} seconds{_so_far(found)}")

    def _show(self) -> None:
        with self.lock:
            if self.timer is None:
                return  # the run has ended
            from rich.console import Console
            from rich.progress import Progress as Bar

            bar = Bar(console=Console(stderr=True), transient=True)
            self.task = bar.add_task("Linting", total=None)
            bar.start()
            self.bar = bar
            self._update()

    def _update(self) -> None:
        done, total, found = self.state
        self.bar.update(self.task, completed=done, total=total, description=f"Linting{_so_far(found)}")


def _so_far(found: int) -> str:
    return f", {count(found, 'finding')} so far" if found else ""
