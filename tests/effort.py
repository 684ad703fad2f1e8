"""How much work something is, in calls of functions: the same number on every machine, however slow or busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def calls_of(function: Callable[[], Any], limit: int) -> int:
    """How many functions, of Python and of C, a call of `function` calls; it is broken off when there are more than
    `limit`.

    A loop that calls nothing is not seen.
    """
    events, most = 0, 2 * limit  # a call and its end are an event each

    def profile(frame, event, argument):
        nonlocal events
        events += 1
        if events > most:
            raise TimeoutError("too many calls")  # Python stops profiling then, whoever catches it

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    except TimeoutError:
        if events <= most:
            raise
    finally:
        sys.setprofile(before)
    return (events + 1) // 2
