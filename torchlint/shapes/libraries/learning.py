"""Methods that a step of training consists of: of losses, optimizers and schedulers."""

from __future__ import annotations

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import is_open
from torchlint.shapes.tensors.supposed import is_supposed_in_part


def backward(machine, method, /, *args, **kwargs):
    machine.updates += 1
    if machine.step is not None:
        machine.step.backward(method.__self__)
    if is_supposed_in_part(method.__self__):
        machine.gradients.doubt()  # more may be behind it than is seen
    try:
        made = machine.foreign(method, args, kwargs)
    except RuntimeError as error:
        if machine.changes.graphs_in_turn or "modified by an inplace operation" not in str(error):
            raise
        made = machine.gradients.doubt()  # the step of the part before comes before this part was made
    machine.progress.backwards += machine.scripting
    return made


def hook(machine, method, /, *args, **kwargs):
    """What is to be called in a backward, where it is not known whether there is one, too."""
    hook = args[0] if args else kwargs.get("hook")
    given = 1 if isinstance(method.__self__, torch.Tensor) else 2 if "_pre_" in method.__name__ else 3
    machine.reach.hooks.append((hook, given))
    return machine.foreign(method, args, kwargs)


def step(machine, method, closure=None, *args, **kwargs):
    machine.updates += 1
    if closure is None:
        return _plain_step(machine, method)
    made = machine.call(closure, [], {})
    if made is None and isinstance(method.__self__, torch.optim.LBFGS):
        error = TypeError("float() argument must be a string or a real number, not 'NoneType'")
        machine.protest(error, "the closure returns nothing, and LBFGS needs the loss: it ends with `return loss`")
    machine.progress.steps += machine.scripting
    return made


def _plain_step(machine, method):
    optimizer = method.__self__
    if not isinstance(optimizer, torch.optim.SparseAdam):
        return machine.foreign(method, (), {})
    kept = [(parameter, parameter.grad) for group in optimizer.param_groups for parameter in group["params"]]
    _give(kept, hidden=True)  # it refuses the dense gradients that stand for sparse ones here
    try:
        return machine.foreign(method, (), {})
    finally:
        _give(kept)


def _give(gradients: list[tuple[torch.Tensor, torch.Tensor | None]], hidden: bool = False) -> None:
    """Give parameters their gradients, or none. Nobody hears of it."""
    with torch._C.DisableTorchFunction():
        for parameter, gradient in gradients:
            parameter.grad = None if hidden else gradient


def clear(machine, method, /, *args, **kwargs):
    """`zero_grad()`: whatever was missed before, there are no gradients now."""
    made = machine.foreign(method, args, kwargs)
    if all(value is True for value in (*args, *kwargs.values())):
        machine.gradients.clear(machine, method.__self__)
    return made


def schedule_step(machine, method, /, *args, **kwargs):
    made = machine.foreign(method, args, kwargs)
    machine.changes.rates.step(method.__self__, type(made) is not Unknown, machine.changes.loops)
    if isinstance(method.__self__, torch.optim.lr_scheduler.OneCycleLR):
        machine.schedules.stepped(method.__self__)
    return made


def load(machine, method, state=None, *args, **kwargs):
    """Its groups have to be as large as those that were saved, and get the options of those."""
    saved = state.get("param_groups") if isinstance(state, dict) and not is_open(state) else None
    if isinstance(saved, list) and all(isinstance(g, dict) and type(g.get("params")) is list for g in saved):
        own = [len(group["params"]) for group in method.__self__.param_groups]
        theirs = [len(group["params"]) for group in saved]
        if own != theirs and not machine.incomplete:
            words = (
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                if len(own) == len(theirs)
                else "loaded state dict has a different number of parameter groups"
            )
            machine.protest(ValueError(words), f"{words}: {theirs} parameters were saved, {own} are here")
        for group, other in zip(method.__self__.param_groups, saved):
            group.update({option: value for option, value in other.items() if option != "params"})
    else:
        machine.presume()  # nobody knows its options from here on
