"""How far a script came: to its last statement, to a backward, to the second step; and what it was that nobody knew."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.values import Reason, Unknown


class ScriptProgress:
    """Kept by the machine while a script runs; `blind` is the first unknown that reached a layer, a loss, an index or
    a backward pass, and which of these it was.
    """

    __slots__ = ("ended", "abandoned", "backwards", "steps", "blind", "lost", "asks", "stop", "unmade")

    def __init__(self) -> None:
        self.ended = True  # whether each of its own statements did
        self.abandoned: Reason | None = None  # why a statement was left out, the first time
        self.backwards = 0
        self.steps = 0
        self.blind: tuple[str, Reason] | None = None
        self.lost: Reason | None = None  # what nobody knew where nothing was known of a layer's result either
        self.stop: tuple[Any, str] | None = None  # where Python would end the script before its first step, and why
        self.unmade: Reason | None = None  # why nobody knows what made what may have been a step of an optimizer
        self.asks = False  # whether a module was called, or a loss differentiated: then it is a program about tensors

    def reached(self, what: str, unknown: Unknown) -> None:
        """An unknown reached something that should have got a tensor."""
        self.asks = True
        if self.blind is None:
            self.blind = what, unknown.reason.here()

    def lose(self, unknown: Unknown) -> None:
        """A layer of which the result is unknown as well."""
        if self.lost is None:
            self.lost = unknown.reason.here()

    def ends(self, place: Any, why: str) -> None:
        """One of the script's own statements did not come to its end."""
        if self.stop is None and not self.steps:
            self.stop = place, why

    def steps_unknown(self, unknown: Unknown) -> None:
        """`….step()` of something that nobody knows."""
        if self.unmade is None:
            self.unmade = unknown.reason.here()

    def left_out(self, reason: str) -> None:
        """A statement was."""
        if self.abandoned is None:
            self.abandoned = (reason if type(reason) is Reason else Reason(reason)).here()

    @property
    def counts(self) -> dict[str, int]:
        """For the statistics of many files."""
        if not self.asks:
            return {}
        return {
            "scripts": 1,
            "scripts_ended": int(self.ended),
            "scripts_backward": int(self.backwards > 0),
            "scripts_stepped_twice": int(self.steps > 1),
        }

    @property
    def first_unknown(self) -> list[str]:
        """What nobody knew, for a script that did not come to a second step, or to its end, for it."""
        if not self.asks or self.steps > 1 or self.ended and self.blind is None:
            return []
        if self.blind is not None:
            return [f"{self.blind[0]}: {self.blind[1]}"]
        return [f"a statement: {self.abandoned}"] if self.abandoned is not None else []
