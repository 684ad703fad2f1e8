"""The rates of an optimizer that nobody knows any more: its schedule makes steps in rounds that are not run, or by a
loss that is not known, or it is one of which nothing is known.
"""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from torchlint.shapes.core.values import Unknown

COUNTS = ("last_epoch", "_step_count")


class Rates:
    """The schedules that are stepped in one run. They count on as they are, for what they know of their end."""

    def __init__(self):
        self.stepped: list[LRScheduler] = []  # in the loops that run just now
        self.lost: dict[int, LRScheduler] = {}  # that would have made other steps than they did

    def step(self, schedule: LRScheduler, is_known: bool, loops: int) -> None:
        """A step was made, or would be, if it is not known what comes of it."""
        if loops:
            self.stepped.append(schedule)
        if not is_known or id(schedule) in self.lost:
            self.lose(schedule)

    def leave_open(self, since: int) -> None:
        """The loop in which these were stepped has other rounds."""
        for schedule in {id(one): one for one in self.stepped[since:]}.values():
            self.lose(schedule)

    def is_lost(self, owner: Any, name: str) -> bool:
        """Whether this is how often a schedule was stepped, which nobody knows."""
        return name in COUNTS and id(owner) in self.lost

    def lose(self, owner: LRScheduler | Optimizer) -> None:
        """Nobody knows what a schedule has made of the rates, or those who were given an optimizer."""
        reason, optimizer = "it is set in rounds that nobody knows", owner
        if isinstance(owner, LRScheduler):
            self.lost[id(owner)] = owner
            optimizer = vars(owner).get("optimizer")
        held = vars(optimizer).get("param_groups", []) if isinstance(optimizer, Optimizer) else []
        groups = [group for group in held if isinstance(group, dict)]
        if isinstance(owner, LRScheduler):
            owner._last_lr = [Unknown(reason) for _ in groups]
        names = ("lr", "momentum") if hasattr(owner, "cycle_momentum") else ("lr",)
        for group in groups:
            group.update((name, Unknown(reason)) for name in names if name in group)
