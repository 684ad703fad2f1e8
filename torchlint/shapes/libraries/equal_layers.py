"""Layers of torch that are made like one before: deep networks are many equal layers, and to put together again what a
constructor leaves takes a fifth of its time. Only what holds nothing but plain values and new tensors is remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as of_module

from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.tensors import device_tags

_PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype})
_CONTAINERS = frozenset({list, dict, set, OrderedDict})
# What a constructor of torch asks of its object: a class of the program may do something else there.
_ASKED = "__setattr__ register_parameter register_buffer register_module reset_parameters reset_running_stats".split()
_LISTENING = [hooks for name, hooks in vars(of_module).items() if name.endswith("_registration_hooks")]


class _Part(NamedTuple):
    """A parameter or a buffer; `real` are its numbers, if they are known."""

    is_parameter: bool
    trained: bool
    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    real: torch.Tensor | None

    def made(self, place: Any) -> torch.Tensor:
        work.spend(Work.OPERATION)
        tensor = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")
        held = tensor.untyped_storage()
        held.born_at = place
        if self.real is not None:
            held.real = self.real.clone()
        return torch.Tensor._make_subclass(nn.Parameter, tensor, self.trained) if self.is_parameter else tensor


class EqualLayers:
    """Those of one run."""

    def __init__(self) -> None:
        self._known: dict[tuple, dict[str, Any]] = {}
        self._cheap: set[Any] = {nn.Module.__init__}  # constructors that are as quick themselves, or make more

    def key(self, made: Any, init: Any, args: tuple, kwargs: dict[str, Any]) -> tuple | None:
        """By what an object that is to be initialised is equal to another; None if nobody can tell."""
        if init in self._cheap or not isinstance(made, nn.Module):
            return None
        if made.__dict__ or _is_watched() or any(closure_of(getattr(type(made), name, None)) for name in _ASKED):
            return None
        given = [type(made), init, torch.get_default_dtype(), len(args), *kwargs]
        for value in (*args, *kwargs.values()):
            if not _is_plain(value):
                return None
            given += (type(value), value)
        return tuple(given)

    def give(self, made: nn.Module, key: tuple | None, place: Any) -> bool:
        """Give a new object what another got that is equal to it; whether there is one."""
        found = self._known.get(key) if key is not None else None
        if found is None:
            return False
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            for name, value in found.items():
                kind = type(value)
                if kind in _CONTAINERS:
                    value = kind(value)
                    if name in ("_parameters", "_buffers"):
                        value.update({n: part and part.made(place) for n, part in value.items()})
                made.__dict__[name] = value
        return True

    def keep(self, made: nn.Module, key: tuple | None) -> None:
        """Remember what the constructor of an object left in it."""
        if key is not None and key not in self._known:
            with torch._C.DisableTorchFunction():
                found = _left_in(made)
            if found is None or not found["_parameters"] and not found["_buffers"]:
                self._cheap.add(key[1])
            else:
                self._known[key] = found


def _is_watched() -> bool:
    """Whether anybody sees how layers are made, or has a say in it."""
    tags = device_tags
    if tags.listeners or tags.observers[-1] or tags._pending or tags._default[0] or torch.is_inference_mode_enabled():
        return True
    return any(_LISTENING)


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or type(value) is tuple and all(type(part) in (int, bool, str) for part in value)


def _left_in(made: nn.Module) -> dict[str, Any] | None:
    """What an object holds; None if it is anything but what can be made again."""
    found: dict[str, Any] = {}
    for name, value in made.__dict__.items():
        if name in ("_parameters", "_buffers"):
            parts = {n: part if part is None else _part_of(part) for n, part in value.items()}
            if any(part is None for n, part in parts.items() if value[n] is not None):
                return None
            value = parts
        elif type(value) in _CONTAINERS:
            if not all(map(_is_plain, value)) or isinstance(value, dict) and value:
                return None
            value = value.copy()
        elif not _is_plain(value):
            return None
        found[name] = value
    return found


def _part_of(tensor: Any) -> _Part | None:
    if type(tensor) not in (torch.Tensor, nn.Parameter) or not tensor.is_meta or tensor.grad_fn is not None:
        return None
    facts = tensor.untyped_storage().__dict__
    if tensor.__dict__ or tensor.storage_offset() or not facts.keys() <= {"real", "born_at"}:
        return None  # who knows what other facts mean
    real = facts.get("real")
    return _Part(
        type(tensor) is nn.Parameter,
        tensor.requires_grad,
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
        real if real is None else real.clone(),
    )
