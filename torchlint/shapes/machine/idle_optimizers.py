"""Optimizers whose parameters never have a gradient, while those of a model that no optimizer has do: they got the
parameters of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.shapes.core.held_parts import weights_of
from torchlint.shapes.language.program import Place

STEPS = 2  # without any gradient, before it is no accident of the first one


class IdleOptimizer(NamedTuple):
    """Where it makes its step, a module that has gradients instead, and one whose parameters it has."""

    stepped: Place | None
    learning: nn.Module
    kept: nn.Module | None


class IdleOptimizers:
    """Kept by the machine while a script runs."""

    def __init__(self) -> None:
        self._steps: dict[int, int] = {}  # without any gradient, by the optimizer
        self._places: dict[int, Place | None] = {}
        self._optimizers: dict[int, torch.optim.Optimizer] = {}
        self._learning: dict[int, tuple[nn.Parameter, nn.Module]] = {}
        self._fed: set[int] = set()

    def step(self, machine: Any, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        """An optimizer is about to make a step; with a closure the gradients come later. Nobody hears us ask."""
        with torch._C.DisableTorchFunction():
            self._look_at(machine, optimizer, has_closure)

    def _look_at(self, machine: Any, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        key, parameters = id(optimizer), _parameters(optimizer)
        self._optimizers[key] = optimizer
        if has_closure or any(p.grad is not None or not p.requires_grad for p in parameters):
            self._fed.add(key)
        elif machine.scripting and key not in self._fed:
            self._steps[key] = self._steps.get(key, 0) + 1
            if self._steps[key] == STEPS:
                self._places[key] = machine.place
                for module, _ in machine.made_at.values():
                    for parameter in weights_of(module) if isinstance(module, nn.Module) else ():
                        if parameter.grad is not None:
                            self._learning[id(parameter)] = parameter, module  # the outermost is made last

    def found(self, machine: Any) -> Iterator[IdleOptimizer]:
        """Those that never had a gradient, if some other parameters have them for nothing, and nobody else had them."""
        owned = {id(p) for optimizer in self._optimizers.values() for p in _parameters(optimizer)}
        others = [module for key, (_, module) in self._learning.items() if key not in owned]
        for key, place in self._places.items() if others else ():
            if key not in self._fed:
                mine = {id(p) for p in _parameters(self._optimizers[key])}
                made = [m for m, _ in machine.made_at.values() if isinstance(m, nn.Module)]
                keep = [m for m in made if any(id(p) in mine for p in weights_of(m))]
                if key not in machine.lent and all(id(module) not in machine.lent for module in keep):
                    yield IdleOptimizer(place, others[-1], keep[-1] if keep else None)


def _parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
