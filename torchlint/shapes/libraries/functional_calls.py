"""`torch.func.functional_call`: a module runs with other tensors in the place of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.utils import stateless

from torchlint.shapes.core.values import Special, Unknown


def _call(machine, module, parameters_and_buffers, args=None, kwargs=None, tie_weights=True, strict=False):
    given = parameters_and_buffers
    several = given if isinstance(given, (list, tuple)) else (given,)
    known = isinstance(module, nn.Module) and all(isinstance(one, dict) for one in several)
    if not known or type(kwargs) is Unknown:
        return Unknown("a module called with other tensors")
    own = {name for name, _ in (*module.named_parameters(remove_duplicate=False), *module.named_buffers())}
    tensors = {name: value for one in several for name, value in one.items() if isinstance(value, torch.Tensor)}
    swapped = {name: value for name, value in tensors.items() if name in own}
    arguments = list(args) if isinstance(args, tuple) else [] if args is None else [args]
    machine.walk(module)
    with stateless._reparametrize_module(module, swapped):
        return machine.call(module, arguments, dict(kwargs or {}))


FUNCTIONAL_CALLS: dict[str, Any] = {
    f"{home}.functional_call": Special("functional_call", _call) for home in ("torch.func", "torch.nn.utils.stateless")
}
