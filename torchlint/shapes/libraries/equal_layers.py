"""Layers of torch that are made like one before: deep networks are many equal layers, and to put together again what a
constructor leaves takes a fifth of its time. Only what holds nothing but plain values and new tensors is remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as of_module

from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.tensors import device_tags

_MADE_BY = "torchlint_made_by"  # on a tensor: what somebody who listens knows of it
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


class _Call(NamedTuple):
    """A call of torch that a constructor made, and the name of the part that it gave; of what is not kept, no name."""

    function: Callable
    args: tuple
    kwargs: dict[str, Any]
    part: str


class _Layer(NamedTuple):
    """What a constructor left in its object, and the calls by which."""

    fields: dict[str, Any]
    calls: tuple[_Call, ...]
    closed: frozenset[Callable]  # those that cannot be told of again: what they were given or gave is there no more
    is_as_made: bool  # whether each tensor is what one call made of plain values, and nothing was done to it since

    def is_enough_for(self, listener: Callable) -> bool:
        """Whether somebody who listens can do with what is known of the calls."""
        is_patient = isinstance(listener, device_tags.PatientListener)
        return is_patient and self.is_as_made and not listener.minds(self.closed)  # type: ignore[attr-defined]

    def tell(self, made: nn.Module) -> None:
        """Tell those who listen how the parts of an object came about."""
        parts = {**made._parameters, **made._buffers}
        for listener in device_tags.listeners:
            for call in self.calls:
                if call.part:
                    listener(call.function, call.args, dict(call.kwargs), parts[call.part])
                else:
                    listener.miss()  # type: ignore[attr-defined]


class EqualLayers:
    """Those of one run."""

    def __init__(self) -> None:
        self._known: dict[tuple, _Layer] = {}
        self._cheap: set[Any] = {nn.Module.__init__}  # constructors that are as quick themselves, or make more

    def key(self, made: Any, init: Any, args: tuple, kwargs: dict[str, Any]) -> tuple | None:
        """By what an object that is to be initialised is equal to another; None if nobody can tell."""
        if init in self._cheap or not isinstance(made, nn.Module):
            return None
        kind = type(made)
        if made.__dict__ or _is_watched():
            return None
        if not kind.__module__.startswith("torch.") and any(closure_of(getattr(kind, name, None)) for name in _ASKED):
            return None
        given = [kind, init, torch.get_default_dtype(), len(args), *kwargs]
        for value in (*args, *kwargs.values()):
            if not _is_plain(value):
                return None
            given += (type(value), value)
        return tuple(given)

    def give(self, made: nn.Module, key: tuple | None, place: Any) -> bool:
        """Give a new object what another got that is equal to it; whether there is one."""
        found = self._known.get(key) if key is not None else None
        if found is None or not all(map(found.is_enough_for, device_tags.listeners)):
            return False
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            for name, value in found.fields.items():
                kind = type(value)
                if kind in _CONTAINERS:
                    value = kind(value)
                    if name in ("_parameters", "_buffers"):
                        value.update({n: part and part.made(place) for n, part in value.items()})
                made.__dict__[name] = value
        if device_tags.listeners:
            found.tell(made)
        return True

    def keep(self, made: nn.Module, key: tuple | None, calls: Sequence[tuple]) -> None:
        """Remember what the constructor of an object left in it, by these calls."""
        if key is not None and key not in self._known:
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():  # its known numbers are copied
                found = _left_in(made, calls)
            if found is None or not found.fields["_parameters"] and not found.fields["_buffers"]:
                self._cheap.add(key[1])
            else:
                self._known[key] = found


@contextmanager
def overheard(key: tuple | None) -> Iterator[list[tuple]]:
    """What is called while a layer is made; nothing where nobody can tell what it is equal to."""
    calls: list[tuple] = []

    def hear(*call: Any) -> None:
        calls.append(call)

    if key is None:
        yield calls
        return
    device_tags.listeners.append(hear)
    try:
        yield calls
    finally:
        device_tags.listeners.remove(hear)


def _is_watched() -> bool:
    """Whether anybody sees how layers are made, or has a say in it, and cannot be told afterwards."""
    tags = device_tags
    if tags.observers[-1] or tags._pending or tags._default[0] or torch.is_inference_mode_enabled():
        return True
    return any(_LISTENING) or not all(isinstance(one, tags.PatientListener) for one in tags.listeners)


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or type(value) is tuple and all(type(part) in (int, bool, str) for part in value)


def _left_in(made: nn.Module, calls: Sequence[tuple]) -> _Layer | None:
    """What an object holds; None if it is anything but what can be made again."""
    found: dict[str, Any] = {}
    tensors = {n: t for held in (made._parameters, made._buffers) for n, t in held.items() if t is not None}
    by = {id(tensor): name for name, tensor in tensors.items()}
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
    heard, is_as_made = [], all(tensor._version == 0 for tensor in tensors.values())
    for function, args, kwargs, result in calls:
        part = by.get(id(result), "")
        is_as_made = is_as_made and (not part or all(map(_is_plain, (*args, *kwargs.values()))))
        heard.append(_Call(function, args, kwargs, part) if part and is_as_made else _Call(function, (), {}, ""))
    return _Layer(found, tuple(heard), frozenset(call.function for call in heard if not call.part), is_as_made)


def _part_of(tensor: Any) -> _Part | None:
    if type(tensor) not in (torch.Tensor, nn.Parameter) or not tensor.is_meta or tensor.grad_fn is not None:
        return None
    facts = tensor.untyped_storage().__dict__
    if not tensor.__dict__.keys() <= {_MADE_BY} or tensor.storage_offset() or not facts.keys() <= {"real", "born_at"}:
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
