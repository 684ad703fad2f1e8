"""How much work something is, in calls of functions: the same number on every machine, however slow or busy."""

from __future__ import annotations

import cProfile
import signal
from collections.abc import Callable
from typing import Any

LOOK = 0.5  # CPU seconds between two looks at how much it is by now


def calls_of(function: Callable[[], Any], limit: int) -> int:
    """How many functions, of Python and of C, a call of `function` calls; it is broken off when there are more than
    `limit`.

    A loop that calls nothing is not seen.
    """
    # A clock that stands still: nobody asks how long they took, and reading the time twice for each is most of the cost.
    counting, is_broken_off = cProfile.Profile(timer=bool, timeunit=1, subcalls=False), False

    def look(signum, frame):
        nonlocal is_broken_off
        counting.disable()
        is_broken_off = count(counting) > limit
        if is_broken_off:
            raise TimeoutError("too many calls")
        counting.enable()

    handler = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, LOOK, LOOK)
    try:
        counting.enable()
        function()
    except TimeoutError:
        if not is_broken_off:
            raise
    finally:
        counting.disable()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    return limit + 1 if is_broken_off else count(counting)


def count(counting: cProfile.Profile) -> int:
    return sum(entry.callcount for entry in counting.getstats())
