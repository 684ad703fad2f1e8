"""Which parameters have no gradient for sure: no backward has reached them since they were made, or it was cleared."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.held_parts import named_weights_of, weights_of
from torchlint.shapes.language.program import Place

_FROM_THE_START = (0, 0, False, False, 0)


class Gradients:
    """Kept by the machine while a script runs."""

    def __init__(self) -> None:
        self._cleared: dict[int, tuple] = {}  # by the tensor: what was missed by then
        self._blind = 0  # backward passes of which nobody knows whom they reached
        self.missing: dict[Place, torch.Tensor] = {}  # where one was read that is None, and of what

    def clear(self, machine: Any, owner: nn.Module | torch.optim.Optimizer) -> None:
        """What a module or an optimizer holds has none, whatever was missed before."""
        if isinstance(owner, nn.Module):
            tensors = list(weights_of(owner))
        else:
            tensors = [tensor for group in owner.param_groups for tensor in group["params"]]
        self._cleared.update(dict.fromkeys(map(id, tensors), self._missed(machine)))

    def doubt(self) -> None:
        """Something was differentiated, and nobody knows what got gradients."""
        self._blind += 1

    def is_none(self, machine: Any, tensor: torch.Tensor) -> bool:
        """Whether a gradient that is not there is none in the program either."""
        if not machine.scripting:
            return machine.wild and not machine.updates and machine.progress.blind is None
        if self._cleared.get(id(tensor), _FROM_THE_START) != self._missed(machine):
            return False
        self.missing[machine.place] = tensor
        return True

    def missing_at(self, machine: Any, place: Place) -> str | None:
        """What has none where one was read, by its name in a model."""
        tensor = self.missing.get(place)
        if tensor is None:
            return None
        modules = [made for made, _ in machine.made_at.values() if isinstance(made, nn.Module)]
        for module in reversed(modules):  # the outermost is made last
            for name, weight in named_weights_of(module):
                if weight is tensor:
                    return f"`{name}` of {type(module).__name__}"
        return "this tensor"

    def _missed(self, machine: Any) -> tuple:
        return machine.changes.missed, machine.decisions, machine.presumed, machine.incomplete, self._blind
