"""Which parameters a training step does not reach: their layer runs, with gradients on, and nothing comes of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from torchlint.shapes.core.held_parts import modules_of, weights_of
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.program import Place
from torchlint.shapes.machine.idle_optimizers import IdleOptimizer, IdleOptimizers
from torchlint.shapes.tensors import device_tags

LOOKS = 3  # forwards of one model that are looked at
NODES = 20_000  # of one graph
_PARTS = 2_000  # values that a forward gives
# What is taken off a graph; a slope (`torch.autograd.grad`) hangs on all layers behind it, whatever the graph says.
_CUTS = frozenset({torch.Tensor.detach, torch.Tensor.detach_, torch.detach, torch.Tensor.data.__get__})
_PHASES = re.compile(r"epoch|step|iter|warm|stage|phase|progress|alpha|level|depth|count|pretrain", re.IGNORECASE)


class LostResult(NamedTuple):
    """A layer that ran for nothing: where it is called, and the model in whose forward."""

    layer: nn.Module
    called: Place | None
    model: nn.Module
    parameter: nn.Parameter


class Reach:
    """Kept by the machine while a script runs."""

    def __init__(self) -> None:
        self._looks: dict[int, int] = {}
        self._ran: dict[int, dict[int, tuple[nn.Module, Place | None]]] = {}  # by weight, layers from within outwards
        self._model: nn.Module | None = None
        self._is_cut = False
        self._lost: dict[int, LostResult] = {}
        self._reached: set[int] = set()
        self._fed: set[int] = set()  # parameters that had a gradient when their optimizer made a step
        self._stepped: dict[int, Place | None] = {}
        self._is_doubtful = False
        self._idle = IdleOptimizers()
        self.hooks: list[tuple[Any, int]] = []  # what a backward calls, and with how many arguments

    # A forward

    def begin(self, machine: Any, model: nn.Module) -> None:
        """The outermost forward of a model begins."""
        looks = self._looks.get(id(model), 0)
        if type(model) in machine.codes and looks < LOOKS and model.training and torch.is_grad_enabled():
            self._looks[id(model)] = looks + 1
            self._model, self._is_cut = model, not machine.is_sure()
            self._ran.clear()
            device_tags.listeners.append(self._hear)

    def run(self, machine: Any, layer: nn.Module) -> None:
        """A layer of torch came to its end within it."""
        if self._model is None or functions.closure_of(type(layer).forward) is not None:
            return
        if torch.is_grad_enabled():
            apart = _weights_apart(layer)
            for key in map(id, weights_of(layer)):
                if key in self._ran or key not in apart:
                    self._ran.setdefault(key, {})[id(layer)] = layer, machine.place
        elif next(weights_of(layer), None) is not None:
            self._is_cut = True  # gradients are off, and somebody wanted it so

    def end(self, machine: Any, model: nn.Module, result: Any) -> None:
        """The outermost forward ends, with what it gives; or with an error, and nothing."""
        if self._model is not model:
            return
        self._model = None
        device_tags.listeners.remove(self._hear)
        if self._is_cut or not machine.is_sure() or _has_phases(machine, model):
            return
        found = list(_tensors([result, *map(_kept, modules_of(model))]))
        if any(tensor is None for tensor in found):
            return
        reached = _leaves([tensor for tensor in found if tensor is not None])
        if reached is None or not reached:
            return
        self._reached |= reached
        for parameter in weights_of(model):
            ran = self._ran.get(id(parameter))
            if ran is not None and id(parameter) not in reached and parameter.requires_grad:
                layers = list(ran.values())
                lost = [one for one in layers if all(id(weight) not in reached for weight in weights_of(one[0]))]
                self._lost.setdefault(id(parameter), LostResult(*(lost or layers[:1])[-1], model, parameter))

    def _hear(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        is_cut = function in _CUTS and isinstance(args[0], torch.Tensor) and args[0].requires_grad
        self._is_cut |= is_cut or function is torch.autograd.grad

    # A step

    def doubt(self) -> None:
        """Something was done with gradients that nobody knows."""
        self._is_doubtful = True

    @contextmanager
    def watching(self, machine: Any) -> Iterator[None]:
        """While this lasts every step of an optimizer is seen, also one that a scheduler has wrapped."""
        handle = register_optimizer_step_pre_hook(lambda *step: self.step(machine, *step))
        try:
            yield
        finally:
            handle.remove()

    def step(self, machine: Any, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict[str, Any]) -> None:
        """An optimizer is about to make a step."""
        self._idle.step(machine, optimizer, has_closure=len(args) > 1 or bool(kwargs))
        machine.progress.steps += machine.scripting
        self._is_doubtful |= not machine.is_sure()
        for group in optimizer.param_groups if self._lost else ():
            for parameter in group["params"]:
                self._stepped.setdefault(id(parameter), machine.place)
                if parameter.grad is not None:
                    self._fed.add(id(parameter))

    def found(self) -> Iterator[tuple[LostResult, Place | None]]:
        """The layers that ran for nothing although an optimizer was to train them, and where it made its step."""
        said: set[int] = set()
        for key, lost in self._lost.items() if not self._is_doubtful else ():
            others = any(id(parameter) in self._fed for parameter in weights_of(lost.model))
            if key in self._stepped and key not in self._fed and key not in self._reached and others:
                if id(lost.layer) not in said:
                    said.add(id(lost.layer))
                    yield lost, self._stepped[key]

    def idle(self, machine: Any) -> list[IdleOptimizer]:
        """The optimizers that were given the parameters of another model."""
        return [] if self._is_doubtful else list(self._idle.found(machine))


def _weights_apart(layer: nn.Module) -> set[int]:
    """Those in parts of a layer that are the program's, as blocks in a `Sequential`: which of them run they tell
    themselves, and what a block inherits it need not use.
    """
    own = [part for part in modules_of(layer) if functions.closure_of(type(part).forward) is not None]
    return {id(weight) for part in own for weight in weights_of(part)}


def _kept(part: nn.Module) -> dict[str, Any]:
    """What a forward may have left in a module besides its result."""
    return {name: value for name, value in vars(part).items() if name[:1] != "_"}


def _has_phases(machine: Any, model: nn.Module) -> bool:
    """Whether a forward asks how far training has come: it may use other layers then."""
    codes = {machine.codes[kind] for part in modules_of(model) for kind in type(part).__mro__ if kind in machine.codes}
    return any(_asks_for_phases(code.node) for code in codes)


@lru_cache(maxsize=4096)  # asked after every forward, for every class above
def _asks_for_phases(node: ast.AST) -> bool:
    tests = (one.test for one in ast.walk(node) if isinstance(one, (ast.If, ast.IfExp, ast.While)))
    return any(_PHASES.search(ast.unparse(test)) for test in tests)


def _tensors(values: list) -> Iterator[torch.Tensor | None]:
    """The tensors in what a forward gives; None for what nobody knows."""
    stack, count = list(values), 0
    while stack:
        one = stack.pop()
        count += 1
        if count > _PARTS or type(one) is Unknown:
            yield None
            return
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, (list, tuple, set)):
            stack += one
        elif isinstance(one, dict):
            stack += one.values()
        elif not isinstance(one, (nn.Module, type)) and hasattr(one, "__dict__") and not callable(one):
            stack += vars(one).values()


def _leaves(tensors: list[torch.Tensor]) -> set[int] | None:
    """The leaves from which tensors are made, as autograd knows it; None if there are too many."""
    with torch._C.DisableTorchFunction():
        found = {
            id(tensor) for tensor in tensors if tensor.requires_grad and tensor.is_leaf and not _is_parameter(tensor)
        }
        stack: list[Any] = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
        seen: set[Any] = set()
        while stack:
            node = stack.pop()
            if node is None or node in seen:
                continue
            if len(seen) > NODES:
                return None
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None:
                found.add(id(variable))
            stack += [following for following, _ in node.next_functions]
        return found


def _is_parameter(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, nn.Parameter)
