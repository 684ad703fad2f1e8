"""Room for the frames of calls.

Since 3.11 Python keeps them in pieces of 16 KiB and hands a piece back to the system as soon as the first call in it
ends: where a loop calls across the border of two pieces, each call costs a system call and four page faults. The dry
run is many calls deep, and meets such borders all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
SLOTS = (1 << 19) + 1  # of 8 bytes: a piece is a power of two, and what is not used of it is never touched


def with_room(function: Callable[[], Result]) -> Result:
    """Call a function by one that says it needs much room: what it calls has the rest of a large piece."""
    return function()


with_room.__code__ = with_room.__code__.replace(co_stacksize=SLOTS)
