"""The other party of a fault: the layer from which a size comes that the next one does not take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.held_parts import modules_of, own_weights_of, weights_of
from torchlint.shapes.record.entries import tensors_in

STEPS = 30  # operations that are followed back


def giver(modules: Sequence[nn.Module], tensor: torch.Tensor, size: int) -> nn.Module | None:
    """The layer whose weights made a size of a tensor, followed back through operations that let it through; None if
    there is no such layer.

    Tensors know what made them while somebody listens (`listening`).
    """
    owners = {id(p): m for root in modules[:1] for m in modules_of(root) for p in own_weights_of(m)}
    for _ in range(STEPS):
        made = getattr(tensor, "torchlint_made_by", None)
        if made is None or size not in tensor.shape:
            return None
        for value in _parameters(made.args, made.kwargs):
            if id(value) in owners and size in value.shape:
                return owners[id(value)]
        before = next(tensors_in(made.args), None)
        if before is None or before is tensor:
            return None
        tensor = before
    return None


def owners(modules: Sequence[nn.Module], values: Any) -> Iterator[nn.Module]:
    """The layers whose parameters are among some values: `F.linear(x, self.qkv.weight)`."""
    given = {id(p) for p in _parameters((), {"": values})}
    for layer in modules_of(modules[0]) if modules and given else ():
        if any(id(p) in given for p in own_weights_of(layer)):
            yield layer


def taker(modules: Sequence[nn.Module], size: int) -> nn.Module | None:
    """The first layer of the module that runs which takes a size: where an input gets its size from, if nobody knows
    it.
    """
    found = (
        (layer for layer in modules_of(modules[-1]) if any(getattr(layer, name, None) == size for name in _TAKES))
        if modules
        else iter(())
    )
    return next(found, None)


def is_of_layer(modules: Sequence[nn.Module], function: Any, values: Any, size: Any) -> bool:
    """Whether a size among the arguments of a call is one that a layer of torch gives or takes, its own or
    another's.
    """
    if isinstance(function, nn.Module) and any(size in p.shape for p in weights_of(function)):
        return True
    for tensor in tensors_in(values) if isinstance(size, int) else ():
        if size in tensor.shape:
            if isinstance(tensor, nn.Parameter):
                found = next(owners(modules, [tensor]), None)
            else:
                found = giver(modules, tensor, size)
                if found is None and getattr(tensor, "torchlint_made_by", None) is None:
                    found = taker(modules, size)
            if any(kind.__module__.startswith("torch.nn.") for kind in type(found).__mro__ if kind is not nn.Module):
                return True
    return False


def sibling(called: Any, layer: nn.Module, size: int) -> nn.Module | None:
    """The layer before another in one Sequential that gives it a size, if nothing between them changes sizes: then no
    input fits.

    `called` is what the program calls: the container, or one around it.
    """
    if not isinstance(called, nn.Module):
        return None
    for container in modules_of(called):
        parts = list(container) if type(container) is nn.Sequential else []
        position = next((i for i, part in enumerate(parts) if part is layer), 0)
        for part in reversed(parts[:position]):
            given = next((getattr(part, name) for name in _GIVES if hasattr(part, name)), None)
            if given is not None:
                return part if given == size else None
            if not isinstance(part, _KEEP):
                return None
    return None


# What layers call the size that they take, that which they give, and those that leave the last size and the channels as
# they are.
_TAKES = ("in_features", "in_channels", "input_size", "embed_dim")
_GIVES = ("out_features", "out_channels", "embedding_dim")
_KEEP = (
    nn.ReLU,
    nn.ReLU6,
    nn.LeakyReLU,
    nn.GELU,
    nn.SiLU,
    nn.ELU,
    nn.SELU,
    nn.PReLU,
    nn.Sigmoid,
    nn.Tanh,
    nn.Softplus,
    nn.Hardswish,
    nn.Mish,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.Identity,
    nn.LayerNorm,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
    nn.GroupNorm,
    nn.InstanceNorm2d,
)


def _parameters(args: tuple, kwargs: dict[str, Any]) -> Iterator[nn.Parameter]:
    for value in tensors_in((args, kwargs)):
        if isinstance(value, nn.Parameter):
            yield value
