"""Weights without data need no start values, but a start that cannot be computed is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd

from torchlint.shapes.core.values import Special, Unknown

_INITIALISERS = {n: f for n, f in vars(nn.init).items() if n.endswith("_") and not n.startswith("_") and callable(f)}
_CONSTRUCTED, _RESET = _NormBase.__init__, _NormBase.reset_running_stats
_LINEAR = {kind: kind.reset_parameters for kind in (nn.Linear, _ConvNd)}
_constructing = [0]  # layers of normalisation, within each other


@contextmanager
def no_initialisers() -> Iterator[None]:
    """While this lasts, torch's own layers leave their weights as they are, and statistics as they were made."""
    for name in _INITIALISERS:
        setattr(nn.init, name, _leave)
    _NormBase.__init__, _NormBase.reset_running_stats = _construct, _reset
    for kind, function in _LINEAR.items():
        kind.reset_parameters = _left_by(function)
    try:
        yield
    finally:
        for kind, function in _LINEAR.items():
            kind.reset_parameters = function
        for name, function in _INITIALISERS.items():
            setattr(nn.init, name, function)
        _NormBase.__init__, _NormBase.reset_running_stats = _CONSTRUCTED, _RESET


def _leave(tensor, *args, **kwargs):
    return tensor


def _left_by(reset: Callable[[nn.Module], None]) -> Callable[[nn.Module], None]:
    """The same for weights that have a fan in, of which the bias would be drawn: to compute it took longer than all the
    rest.
    """

    @wraps(reset)
    def start(self: nn.Module) -> None:
        weight = self._parameters.get("weight")
        if weight is None or weight.dim() < 2:
            reset(self)

    return start


@wraps(_CONSTRUCTED)
def _construct(self: _NormBase, *args: Any, **kwargs: Any) -> None:
    _constructing[0] += 1
    try:
        _CONSTRUCTED(self, *args, **kwargs)
    finally:
        _constructing[0] -= 1


@wraps(_RESET)
def _reset(self: _NormBase) -> None:
    """What was just made of zeros and ones holds zeros and ones: filling it again took longer than all the rest."""
    if not _constructing[0]:
        _RESET(self)


def initialiser(name: str) -> Special:
    """A function of `nn.init` as a program calls it."""
    asks_fans = name.startswith(("xavier", "kaiming", "orthogonal"))

    def initialise(machine, tensor=None, *args, **kwargs):
        if asks_fans and isinstance(tensor, torch.Tensor) and tensor.dim() < 2:
            return machine.foreign(_INITIALISERS[name], (torch.empty(tensor.shape), *args), kwargs)
        return Unknown("a number") if name == "calculate_gain" else tensor

    return Special(name, initialise)
