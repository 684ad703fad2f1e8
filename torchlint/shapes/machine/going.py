"""Whether a script goes on behind a statement that failed: it does where only the dry run knows too little, and where
torch refused something that the program has no answer to.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import ProgramError, UnknownUsed, words_of
from torchlint.shapes.language.cut_short import CONTAINERS
from torchlint.shapes.libraries import guards
from torchlint.shapes.machine.failures import FailedOperation

AGAIN = 2  # times that a script goes on behind the same place on the same way: two rounds of training say all
_ASSIGNS = re.compile("cannot assign '.*' as parameter")
WAYS = 12  # the same on all ways


class Going:
    """The part of the machine that decides it."""

    def goes_on(self, error: Exception) -> bool:
        """Whether a statement is left out for an error and the next one runs: the program neither raised it nor has an
        answer to it. It may be one of what the dry run knows only; what torch refuses is heard here, and the rest of
        the script is worth a look all the same.
        """
        if not self.scripting or isinstance(error, (StopIteration, RecursionError, MemoryError, ProgramError)):
            return False
        if isinstance(error, KeyError) and self.stack and self.stack[-1][0].name == "__getitem__":
            return False  # `in`, `get` and `setdefault` of a mapping ask so, and have an answer
        failure = self.failures.get(id(error))
        if not isinstance(error, UnknownUsed):
            if self.trying or self.expected or id(error) in self.raised:
                return False
            if failure is not None and not self._goes_on_behind(failure):
                return False
        if failure is None:
            self.progress.left_out(words_of(error))
        self.changes.miss()
        self.incomplete = True
        return True

    def _goes_on_behind(self, failure: FailedOperation) -> bool:
        """The same for what torch refuses; it is told to who waits for it."""
        way = (failure.place, *(at for _, at in failure.stack))
        times, again = (self.refused.get(key, 0) + 1 for key in (failure.place, way))
        if times > WAYS or again > AGAIN or self.failed is None:
            return False
        self.refused[way] = again
        self.refused[failure.place] = times
        self.progress.ended = False
        self.progress.ends(failure.place, words_of(failure.error))
        if times == 1:
            place, last = self.place, self.last_place
            self.failed(failure)
            self.place, self.last_place = place, last
        return True

    def keeps_parameter(self, error: Exception) -> bool:
        """Whether a statement that fails would have put a plain tensor where a parameter of the same shape is: there
        will be one, whoever mends it.
        """
        failure = self.failures.get(id(error))
        if failure is None or not _ASSIGNS.match(str(error)) or len(failure.args) != 3:
            return False
        owner, name, value = failure.args
        held = owner.__dict__.get("_parameters", {}).get(name) if isinstance(owner, nn.Module) else None
        return isinstance(value, torch.Tensor) and held is not None and held.shape == value.shape

    def may_have_changed(self, container: Any) -> None:
        """A statement that would have filled a container was left out."""
        if isinstance(container, CONTAINERS):
            self.changes.loosen(container)
        elif isinstance(container, nn.Module):
            guards.leave_unfinished(self, container)
