"""`torchlint check --watch`: lints again whenever a file that is linted, or one that configures this, has changed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchlint.config import ConfigError
from torchlint.frontends.output import Failure, count, fail, put, say, wants_color
from torchlint.walk import Stamp, Walk, stamp

if TYPE_CHECKING:
    from torchlint.frontends.check import Check

_ONCE = ("diff", "fix", "fix_only", "write_baseline", "show_files", "show_settings", "add_noqa")
_PAUSE = 0.3  # seconds from one look to the next: at least these, and ten times what a look takes
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def watch(paths: tuple[str, ...], given: dict[str, Any], check: Callable[[], Check]) -> int:
    """Goes on until it is interrupted. What goes wrong with one run is one line, and the next may be better."""
    for name in _ONCE:
        if given[name] not in (None, False):
            raise Failure(f"--watch cannot be combined with --{name.replace('_', '-')}")
    if "-" in paths:
        raise Failure("--watch cannot be combined with `-`")
    before: dict[str, Stamp] | str | None = None
    try:
        while True:
            began = time.monotonic()
            now, current = look(check)
            looked = time.monotonic() - began
            if now != before:
                before = now
                if sys.stdout.isatty():
                    put(_CLEAR if wants_color() else "\n")
                if isinstance(now, str):
                    fail(now)
                else:
                    _run(current)
                if not given["quiet"]:
                    what = "" if isinstance(now, str) else f" {count(len(now), 'file')}"
                    say(f"[{time.strftime('%H:%M:%S')}] Watching{what}; Ctrl-C ends.")
            time.sleep(max(_PAUSE, 10 * looked))
    except KeyboardInterrupt:
        return 0


def look(check: Callable[[], Check]) -> tuple[dict[str, Stamp] | str, Check | None]:
    """What would be linted and what configures it, as they are on the disk; or why that cannot be said."""
    try:
        current = check()
        walk = Walk(current.paths, current.configurations)
    except (ConfigError, Failure) as error:
        return str(error), None
    seen = {path: known for group in walk.groups for path, known in group.files.items()}
    for path in current.configurations.sources():
        try:
            seen[path] = stamp(os.stat(path))
        except OSError:
            continue
    return seen, current


def _run(current: Check | None) -> None:
    try:
        if current:
            current.run()
    except (ConfigError, Failure) as error:
        fail(str(error))
