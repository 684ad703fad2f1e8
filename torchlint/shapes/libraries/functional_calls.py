"""Modules whose tensors are others for a while, or are seen as one row: `torch.func.functional_call` and its kin."""

from __future__ import annotations

import operator
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


def _as_vector(machine, parameters):
    """`parameters_to_vector`: all numbers of a model in one row."""
    given = list(machine.iterate(parameters))
    if not given or not all(isinstance(one, torch.Tensor) for one in given) or machine.may_miss(parameters):
        return Unknown("the numbers of parameters")
    rows = [machine.foreign(torch.Tensor.view, (one, -1), {}) for one in given]
    return machine.foreign(torch.cat, (rows,), {})


def _from_vector(machine, vec, parameters):
    """`vector_to_parameters`: they get their numbers back, of which there must be enough."""
    given = list(machine.iterate(parameters))
    if not isinstance(vec, torch.Tensor) or not all(isinstance(one, torch.Tensor) for one in given):
        return None
    pointer = 0
    for one in given:
        part = machine.foreign(operator.getitem, (vec, slice(pointer, pointer + one.numel())), {})
        machine.foreign(torch.Tensor.view_as, (part, one), {})
        pointer += one.numel()
    return None


FUNCTIONAL_CALLS: dict[str, Any] = {
    "torch.nn.utils.parameters_to_vector": Special("parameters_to_vector", _as_vector),
    "torch.nn.utils.vector_to_parameters": Special("vector_to_parameters", _from_vector),
}
FUNCTIONAL_CALLS |= {
    f"{home}.functional_call": Special("functional_call", _call) for home in ("torch.func", "torch.nn.utils.stateless")
}
