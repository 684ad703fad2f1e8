"""`torch.distributions` where torch needs data, or keeps a table for the whole process: samples that are drawn until
they fit, divergences that a program adds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.distributions import Distribution, Independent, TransformedDistribution, VonMises, Wishart, kl

from torchlint.shapes.core.values import Special, Unknown, unknown_in

# What each run has registered itself: for which two classes which function.
_own: WeakKeyDictionary[Any, dict[tuple[type, type], Callable]] = WeakKeyDictionary()
_MADE_OF_OTHERS = (Independent, TransformedDistribution)  # torch asks for the divergence of what these hold
_LAYER = 10  # steps for each of these around another


class _Divergence:
    """torch's divergence of two distributions, which a failure is told of and tried again by."""

    def __init__(self, p: Distribution, q: Distribution):
        self.pair = p, q

    def kl_divergence(self) -> Any:
        again = not torch._C._is_torch_function_enabled()  # and now with numbers, for the words
        return kl.kl_divergence(*[_with_numbers(one) if again else one for one in self.pair])


def _with_numbers(value: Any) -> Any:
    """The same distribution of tensors that hold numbers; of large ones one number is seen everywhere."""
    if isinstance(value, torch.Tensor):
        return torch.ones((), dtype=value.dtype).expand(value.shape)
    if not isinstance(value, Distribution):
        return value
    made = copy.copy(value)
    made.__dict__.update({name: _with_numbers(part) for name, part in vars(value).items()})
    return made


def _divergence(machine, p, q):
    if not isinstance(p, Distribution) or not isinstance(q, Distribution):
        unknown = unknown_in((p, q))
        return Unknown(unknown.reason if unknown is not None else "a divergence of what is no distribution")
    own = _own.get(machine, {})
    if (type(p), type(q)) in own:
        return machine.call(own[type(p), type(q)], [p, q], {})
    if own and (
        isinstance(p, _MADE_OF_OTHERS)
        or isinstance(q, _MADE_OF_OTHERS)
        or any(isinstance(p, one) and isinstance(q, other) for one, other in own)
    ):
        return Unknown("a divergence that the program adds")
    if any(machine.is_open(type(one)) for one in (p, q)):
        return Unknown("a divergence of a class that is not known")
    inner = p
    while isinstance(inner, _MADE_OF_OTHERS):
        machine.budget.spend(_LAYER)
        inner = inner.base_dist
    return machine.foreign(_Divergence(p, q).kl_divergence, (), {})


def _register(machine, one, other):
    known = isinstance(one, type) and isinstance(other, type)

    def decorate(machine, function):
        _own.setdefault(machine, {})[(one, other) if known else (Distribution, Distribution)] = function
        return function

    return Special("register_kl", decorate)


def _draw_angles(machine, method, /, sample_shape=()):
    """Angles are drawn again until all fit."""
    owner = method.__self__
    if unknown_in([sample_shape]) is not None:
        return Unknown("a sample of unknown shape")
    shape = machine.foreign(owner._extended_shape, (torch.Size(sample_shape),), {})
    return machine.foreign(owner.loc.new_empty, (shape,), {})


def _draw_matrices(machine, method, /, sample_shape=(), max_try_correction=None):
    """Singular matrices are drawn again."""
    owner = method.__self__
    if unknown_in([sample_shape]) is not None:
        return Unknown("a sample of unknown shape")
    made = machine.foreign(owner._bartlett_sampling, (torch.Size(sample_shape),), {})
    return made.detach() if method.__name__ == "sample" and isinstance(made, torch.Tensor) else made


METHODS: list[tuple[Any, dict[str, Callable]]] = [
    (VonMises, {"sample": _draw_angles}),
    (Wishart, {"sample": _draw_matrices, "rsample": _draw_matrices}),
]
DIVERGENCES: dict[str, Any] = {
    f"torch.distributions.{home}{name}": Special(name, function)
    for home in ("", "kl.")
    for name, function in {"kl_divergence": _divergence, "register_kl": _register}.items()
}
for _home in ("", "kl."):
    DIVERGENCES[f"torch.distributions.{_home}kl_divergence"].__dict__["pure"] = True
