"""Sees the first training step of a script as it happens: what models get, the loss, moves, gradients, memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.nn.parameter import is_lazy
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from torchlint.shapes.core.held_parts import named_weights_of, weights_of
from torchlint.shapes.core.table import ShownValue, Table
from torchlint.shapes.core.training_step import Ending, Forward, KeptForBackward, Loss, Moved, TrainingStep, Where
from torchlint.shapes.record.entries import tensors_in, value_of
from torchlint.shapes.tensors import device_tags


class StepWatch:
    """Collects what comes together until an optimizer makes its first step; `optimizer` is empty if none does, and
    `ended` says why.
    """

    def __init__(self) -> None:
        self.optimizer = ""
        self.ended: Ending | None = None
        self._forwards: list[tuple[nn.Module, Forward]] = []
        self._losses: list[Loss] = []
        self._moved: dict[tuple[Where | None, str, str], list[int]] = defaultdict(list)
        self._kept: Counter[tuple[nn.Module | None, Where | None]] = Counter()  # by the model, and the line
        self._where: Where | None = None
        self._example: int | None = None  # of the calls that ran on several examples, the one that was seen last
        self._fed: list[str] = []  # parameters by name: those with a gradient
        self._starved: list[str] = []  # and those that require one and got none
        self._parameters = self._gradients = self._state = 0  # bytes
        self._running: list[nn.Module] = []
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

    def made(self, table_of: Callable[[nn.Module], Table | None]) -> TrainingStep:
        """The step as data. What a forward costs is taken from the table of its model, where it could be measured:
        a recurrent layer does not take all of its steps in a dry run.
        """
        is_known = all(forward.result for _, forward in self._forwards)
        kept: Counter[Where | None] = Counter()
        multiply_adds, told = 0, set()  # models whose costs need not be taken from what was heard
        for model, _ in self._forwards:
            made = table_of(model)
            if made is None or made.report is None or made.guessed:
                continue
            told.add(model)
            multiply_adds += made.report.multiply_adds
            for step, cost in zip(made.steps, made.report.costs):
                kept[Where(step.path, step.span.line) if step.span else None] += cost.kept
        for (model, where), taken in self._kept.items():
            kept[where] += taken if model not in told else 0
        moves = (Moved(*key, len(sizes), sum(sizes)) for key, sizes in self._moved.items())
        return TrainingStep(
            tuple(forward for _, forward in self._forwards),
            tuple(self._losses),
            self.optimizer if self.ended is None else "",
            self._where if self.ended is None else None,
            tuple(sorted(moves, key=lambda move: -move.tensors)),
            tuple(self._fed) if is_known else (),
            tuple(self._starved) if is_known else (),
            self._parameters,
            self._gradients if is_known else None,
            self._state if is_known else None,
            tuple(KeptForBackward(where, taken) for where, taken in kept.most_common() if taken and is_known),
            multiply_adds,
            self.ended,
        )

    def backward(self, loss: Any) -> None:
        """`loss.backward()` is called."""
        if not self.optimizer and isinstance(loss, torch.Tensor):
            self._losses.append(Loss(self._here(), _value(loss)))

    def _here(self) -> Where | None:
        place = self._machine.place
        return Where(place[0], place[1].line) if place is not None else None

    def _enter(self, module: nn.Module, args: Any) -> None:
        if not self._running:
            self._storages.update(p.untyped_storage()._cdata for p in weights_of(module) if not is_lazy(p))
        self._running.append(module)

    def _leave(self, module: nn.Module, args: Any, result: Any) -> None:
        self._running.pop()
        if self._running or self.optimizer or result is None or not torch.is_grad_enabled() or self._is_seen():
            return
        given, found = (tuple(map(_value, tensors_in(value))) for value in (args, result))
        if next(weights_of(module), None) is not None:
            self._example = self._machine.example
            one = Forward(type(module).__name__, self._here(), given, found, guessed=self._example is not None)
            self._forwards.append((module, one))

    def _is_seen(self) -> bool:
        """Is it one more example of a call that was seen?"""
        return self._machine.example is not None and self._machine.example == self._example

    def _hear(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        if self.optimizer or not isinstance(result, torch.Tensor) or not args or not isinstance(args[0], torch.Tensor):
            return
        start, end = (str(device_tags.device_of(tensor)) for tensor in (args[0], result))
        if start != end:
            self._moved[self._here(), start, end].append(_bytes(result))

    def _keep(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if not self.optimizer and storage._cdata not in self._storages and not self._is_seen():
            self._storages.add(storage._cdata)
            self._alive.append(tensor)
            self._kept[self._running[0] if self._running else None, self._here()] += storage.nbytes()
        return tensor

    def _before(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self.optimizer:
            return
        self.optimizer, self._where = type(optimizer).__name__, self._here()
        for model in dict.fromkeys(model for model, _ in self._forwards):
            for name, parameter in named_weights_of(model):
                if is_lazy(parameter):
                    continue
                self._parameters += _bytes(parameter)
                if parameter.grad is not None:
                    self._gradients += _bytes(parameter.grad)
                    self._fed.append(name)
                elif parameter.requires_grad:
                    self._starved.append(name)

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._state:
            self._state = sum(map(_bytes, tensors_in([dict(held) for held in optimizer.state.values()])))


def _value(tensor: torch.Tensor) -> ShownValue:
    shape, dtype, device = value_of(tensor)
    return ShownValue(shape, str(dtype).removeprefix("torch."), device)


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
