"""A GradScaler as the automaton it is: scale, unscale, step and update in their order; nothing is scaled."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, machines

UNSCALED, STEPPED = "unscaled", "stepped"


class Scaler(StandIn):
    """`torch.amp.GradScaler`; it does nothing where it is off, or nobody knows whether it is on."""

    takes_unknown = frozenset({"step", "unscale_"})

    def __init__(self, enabled: bool):
        self._on = enabled
        self._scaled = False
        self._found: set[int] = set()  # the optimizers whose gradients were looked at since the last update
        self._stages: dict[int, str] = {}

    def scale(self, loss):
        self._scaled = True
        return loss

    def unscale_(self, optimizer):
        if not self._on or self._is_strange(optimizer):
            return
        self._check("unscale_")
        stage = self._stages.get(id(optimizer))
        if stage == UNSCALED:
            self._refuse(RuntimeError("unscale_() has already been called on this optimizer since the last update()."))
        if stage == STEPPED:
            self._refuse(RuntimeError("unscale_() is being called after step()."))
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(gradient.dtype == torch.float16 for gradient in gradients):
            self._refuse(ValueError("Attempting to unscale FP16 gradients."))
        if gradients:
            self._found.add(id(optimizer))
        self._stages[id(optimizer)] = UNSCALED

    def step(self, optimizer, *args, **kwargs):
        if self._is_strange(optimizer):
            return None
        if self._on:
            self._check("step")
            if self._stages.get(id(optimizer)) == STEPPED:
                self._refuse(RuntimeError("step() has already been called since the last update()."))
            if self._stages.get(id(optimizer)) != UNSCALED:
                self.unscale_(optimizer)
            if id(optimizer) not in self._found:
                self._refuse(AssertionError("No inf checks were recorded for this optimizer."))
            self._stages[id(optimizer)] = STEPPED
        machine = machines[-1]
        return machine.call(machine.get(optimizer, "step"), [], {})

    def update(self, *args):
        if self._on:
            self._check("update")
            if not self._found and not args:
                self._refuse(AssertionError("No inf checks were recorded prior to update."))
            self._found.clear()
            self._stages.clear()

    def load_state_dict(self, state):
        pass

    def state_dict(self):
        return {}

    def get_scale(self):
        return Unknown("a scale")

    def is_enabled(self):
        return self._on

    def _is_strange(self, optimizer) -> bool:
        """Is it one that nobody knows? It may have gradients, which are then looked at."""
        if isinstance(optimizer, torch.optim.Optimizer):
            return False
        self._found.add(id(optimizer))
        return True

    def _check(self, name: str) -> None:
        if not self._scaled:
            self._refuse(
                AssertionError(
                    f"Attempted {name} but _scale is None. This may indicate your script did not use"
                    " scaler.scale(loss or outputs) earlier in the iteration."
                )
            )

    def _refuse(self, error: Exception) -> None:
        """What torch says, if all the calls before are known."""
        machines[-1].protest(error)


def make_scaler(machine: Any, *args, enabled=True, **kwargs) -> Scaler:
    """`GradScaler("cuda", …)` and the older one without a device, which are off without a GPU."""
    device = args[0] if args and isinstance(args[0], str) else kwargs.get("device", "cuda")
    if type(enabled) is Unknown or device is Unknown:
        return Scaler(False)
    return Scaler(bool(enabled) and (device == "cpu" or machine.cuda))
