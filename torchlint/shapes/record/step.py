"""The first training step of a script as it happens: what the model gets, the loss, moves, gradients, memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from torchlint.shapes.language.program import Place
from torchlint.shapes.record.entries import TensorType, tensors_in, value_of
from torchlint.shapes.tensors import device_tags


class Forward(NamedTuple):
    """One call of a model."""

    name: str
    place: Place | None
    given: tuple[TensorType, ...]
    result: tuple[TensorType, ...]


class Move(NamedTuple):
    """A tensor that went to another device."""

    place: Place | None
    start: str
    end: str
    bytes: int


class Step:
    """What came together until an optimizer made its first step; `optimizer` is empty if none did."""

    def __init__(self) -> None:
        self.forwards: list[Forward] = []
        self.moves: list[Move] = []
        self.losses: list[tuple[Place | None, TensorType]] = []
        self.kept: dict[Place | None, int] = {}  # bytes that autograd keeps, by line
        self.optimizer = ""
        self.place: Place | None = None
        self.fed: list[str] = []  # parameters by name: those with a gradient
        self.starved: list[str] = []  # and those that require one and got none
        self.parameters = self.gradients = self.state = 0  # bytes
        self._models: dict[int, nn.Module] = {}
        self._depth = 0
        self._storages: set[int] = set()  # which are counted already, or are those of parameters
        self._alive: list[torch.Tensor] = []  # a storage that is freed could give its place to another

    @contextmanager
    def watching(self, machine: Any) -> Iterator[None]:
        """While the script runs."""
        self._machine = machine
        machine.step = self
        handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]
        device_tags.listeners.append(self._hear)
        try:
            with torch.autograd.graph.saved_tensors_hooks(self._keep, lambda kept: kept):
                yield
        finally:
            device_tags.listeners.remove(self._hear)
            for handle in handles:
                handle.remove()
            machine.step = None

    def backward(self, loss: Any) -> None:
        """`loss.backward()` is called."""
        if not self.optimizer and isinstance(loss, torch.Tensor):
            self.losses.append((self._machine.place, value_of(loss)))

    def _enter(self, module: nn.Module, args: Any) -> None:
        if not self._depth:
            self._storages.update(p.untyped_storage()._cdata for p in module.parameters())
        self._depth += 1

    def _leave(self, module: nn.Module, args: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth or self.optimizer or result is None or not torch.is_grad_enabled():
            return
        given, found = (tuple(map(value_of, tensors_in(value))) for value in (args, result))
        if next(module.parameters(), None) is not None:
            self._models.setdefault(id(module), module)
            self.forwards.append(Forward(type(module).__name__, self._machine.place, given, found))

    def _hear(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        if self.optimizer or not isinstance(result, torch.Tensor) or not args or not isinstance(args[0], torch.Tensor):
            return
        start, end = (str(device_tags.device_of(tensor)) for tensor in (args[0], result))
        if start != end:
            self.moves.append(Move(self._machine.place, start, end, _bytes(result)))

    def _keep(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if not self.optimizer and storage._cdata not in self._storages:
            self._storages.add(storage._cdata)
            self._alive.append(tensor)
            place = self._machine.place
            self.kept[place] = self.kept.get(place, 0) + storage.nbytes()
        return tensor

    def _before(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self.optimizer:
            return
        self.optimizer, self.place = type(optimizer).__name__, self._machine.place
        for model in self._models.values():
            for name, parameter in model.named_parameters():
                self.parameters += _bytes(parameter)
                if parameter.grad is not None:
                    self.gradients += _bytes(parameter.grad)
                    self.fed.append(name)
                elif parameter.requires_grad:
                    self.starved.append(name)

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self.state:
            self.state = sum(map(_bytes, tensors_in([dict(held) for held in optimizer.state.values()])))


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
