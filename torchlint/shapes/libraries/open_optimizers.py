"""Optimizers of which a part is not known: they are made of the parameters that are, and may hold more."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import work
from torchlint.shapes.core.values import Unknown, unknown_in
from torchlint.shapes.language.cut_short import is_open


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


def holds_unknown(owner: Any) -> bool:
    """Whether an optimizer, or that of a schedule, holds what a loop that was cut or left out would have put there:
    torch's own code looks for it.
    """
    optimizer = owner.optimizer if isinstance(owner, torch.optim.lr_scheduler.LRScheduler) else owner
    if not isinstance(optimizer, torch.optim.Optimizer):
        return False
    states, groups = (optimizer.__dict__.get(name) for name in ("state", "param_groups"))
    held = [states, groups]
    held += [*(states.values() if isinstance(states, dict) else ()), *(groups if isinstance(groups, list) else ())]
    held += [part for one in held[2:] if isinstance(one, dict) for part in one.values()]
    work.spend(len(held))
    return any(type(part) is Unknown or is_open(part) for part in held)


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
