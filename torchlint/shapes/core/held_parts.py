"""The parts of a module as they are held. torch's own methods can be asked for them too, unless a program has put
something else in their place: `self.modules = layers`, `def parameters(self, group)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn


def named_modules_of(root: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """A module and all in it, each once, in the order of torch's `named_modules`."""
    seen: set[int] = set()
    stack: list[tuple[str, nn.Module]] = [("", root)]
    while stack:
        name, module = stack.pop()
        if id(module) not in seen:
            seen.add(id(module))
            yield name, module
            held = reversed(vars(module).get("_modules", {}).items())
            stack += [(_joined(name, key), part) for key, part in held if isinstance(part, nn.Module)]


def modules_of(root: nn.Module) -> Iterator[nn.Module]:
    return (module for _, module in named_modules_of(root))


def named_weights_of(root: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return _tensors_of(root, "_parameters")


def weights_of(root: nn.Module) -> Iterator[nn.Parameter]:
    return (parameter for _, parameter in _tensors_of(root, "_parameters"))


def number_of_weights(root: nn.Module) -> int:
    """How many parameters are in a module."""
    held = vars(root)
    if held.get("_modules"):
        return sum(1 for _ in weights_of(root))
    return len({id(weight) for weight in held.get("_parameters", {}).values() if isinstance(weight, torch.Tensor)})


def own_weights_of(module: nn.Module) -> list[nn.Parameter]:
    """Those of its own, without what its parts have."""
    return [weight for weight in vars(module).get("_parameters", {}).values() if isinstance(weight, torch.Tensor)]


def own_buffers_of(module: nn.Module) -> list[torch.Tensor]:
    return [buffer for buffer in vars(module).get("_buffers", {}).values() if isinstance(buffer, torch.Tensor)]


def named_buffers_of(root: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    return _tensors_of(root, "_buffers")


def buffers_of(root: nn.Module) -> Iterator[torch.Tensor]:
    return (buffer for _, buffer in _tensors_of(root, "_buffers"))


def _tensors_of(root: nn.Module, table: str) -> Iterator[tuple[str, torch.Tensor]]:
    seen: set[int] = set()
    for name, module in named_modules_of(root):
        for key, tensor in vars(module).get(table, {}).items():
            if isinstance(tensor, torch.Tensor) and id(tensor) not in seen:
                seen.add(id(tensor))
                yield _joined(name, key), tensor


def _joined(prefix: str, name: str) -> str:
    """As torch does it: a name that is unknown raises what says so."""
    return prefix + ("." if prefix else "") + name
