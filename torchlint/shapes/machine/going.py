"""Whether a script goes on behind a statement that failed: it does where only the dry run knows too little."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchlint.shapes.core.values import ProgramError, UnknownUsed, words_of
from torchlint.shapes.language.rounds import CONTAINERS
from torchlint.shapes.libraries import guards


class Going:
    """The part of the machine that decides it."""

    def goes_on(self, error: Exception) -> bool:
        """Whether an error is only one of what the dry run knows, so that the statement is left out and the next one
        runs: torch did not refuse anything, and the program neither raised it nor has an answer to it.
        """
        if not self.scripting or isinstance(error, (StopIteration, RecursionError, MemoryError, ProgramError)):
            return False
        if not isinstance(error, UnknownUsed) and (
            self.trying or self.expected or id(error) in self.failures or id(error) in self.raised
        ):
            return False
        self.progress.left_out(words_of(error))
        self.changes.cut = self.incomplete = True
        return True

    def may_have_changed(self, container: Any) -> None:
        """A statement that would have filled a container was left out."""
        if isinstance(container, CONTAINERS):
            self.changes.loosen(container)
        elif isinstance(container, nn.Module):
            guards.leave_unfinished(self, container)
