"""Optimizers of parameters of which some are not known: they are made of the others."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Unknown, unknown_in


def make(machine, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
    """An optimizer of torch."""
    args = [_listed(machine, a) for a in args]
    given = args[0] if args else kwargs.get("params")
    if type(given) is not list:
        return machine.foreign(kind, tuple(args), kwargs)
    known, unknown = _known_part(machine, given)
    if unknown is not None and not known:
        return Unknown(unknown.reason)
    if not given and machine.incomplete:  # a module whose parameters have sizes that nobody knows
        known = [nn.Parameter(torch.empty(1))]
    machine.budget.spend(sum(type(one) is dict for one in known) ** 2 >> 3)  # each group is compared with all others
    args, kwargs = ([known, *args[1:]], kwargs) if args else ([], {**kwargs, "params": known})
    return machine.foreign(kind, tuple(args), kwargs)


def initialise(machine, method, /, *args, **kwargs):
    """`super().__init__(params, …)` of an optimizer of the program's own."""
    return machine.foreign(
        method, tuple(_listed(machine, a) for a in args), {name: _listed(machine, a) for name, a in kwargs.items()}
    )


def add_group(machine, method, group=None, *args, **kwargs):
    """`optimizer.add_param_group({"params": …})`"""
    if type(group) is not dict:
        return machine.foreign(method, (group, *args), kwargs)
    known, unknown = _known_part(machine, [group])
    if unknown is not None and not known:
        return Unknown(unknown.reason)
    machine.budget.spend(len(method.__self__.param_groups) >> 2)
    return machine.foreign(method, (*known, *args), kwargs)


def _listed(machine, parameters: Any) -> Any:
    """What gives parameters one by one as a list."""
    return list(machine.iterate(parameters)) if hasattr(type(parameters), "__next__") else parameters


def _known_part(machine, given: list) -> tuple[list, Unknown | None]:
    """The parameters, or groups of them, of which none is unknown, and one that is."""
    found, first = [], None
    for one in given:
        parts = _listed(machine, one.get("params")) if type(one) is dict else one  # torch refuses other generators
        unknown = unknown_in([parts])
        if unknown is not None:
            first, machine.incomplete = unknown, True
            parts = [part for part in parts if type(part) is not Unknown] if type(parts) is list else []
        if unknown is None or parts:
            found.append({**one, "params": parts} if type(one) is dict else parts)
    return found, first
