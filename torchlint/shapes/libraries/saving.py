"""What a program saves and loads again: `torch.load` gives what `torch.save` was given for the same path before."""

from __future__ import annotations

import collections
import pickle
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.libraries.path_texts import path_text
from torchlint.shapes.libraries.written_files import KEPT, Content

DEPTH = 6  # of dicts and lists within each other
LOADING = frozenset({"weights_only", "mmap"})  # the options of which it is known what they do
_MISSING = object()
REFUSES = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 6)  # objects of other classes, if not told otherwise


def save(machine, value=None, where=_MISSING, *args, **kwargs) -> None:
    """`torch.save`"""
    if where is _MISSING and not kwargs:
        machine.insist(TypeError("save() missing 1 required positional argument: 'f'"))
    machine.gone.discard(_key(where))
    machine.saved.pop(_key(where), None)
    if len(machine.saved) < KEPT:
        machine.saved[_key(where)] = where, _copy(value, DEPTH), machine.is_sure()


def load(machine, where=None, map_location=None, *args, **kwargs) -> Any:
    """`torch.load`, of what was saved before"""
    found = machine.saved.get(_key(where))
    if found is not None and not found[2]:
        machine.presume()  # what is in the file is in doubt, whatever its name
    elif found is not None and not machine.trusts and not args and _loads_weights_only(kwargs):
        kept = next(_own_classes(machine, found[1], DEPTH), None)
        if kept is not None:
            machine.refuse(pickle.UnpicklingError(f"Weights only load failed: it holds a {kept}"), torch.load, (where,))
    if found is None or isinstance(found[1], Content) or type(map_location) not in (type(None), str, torch.device):
        return Unknown("what is in a file")
    return _moved(machine, _copy(found[1], DEPTH), map_location)


def trust(machine, *args, **kwargs) -> Unknown:
    """The program says which of its classes may be loaded: `torch.serialization.add_safe_globals([Config])`."""
    machine.trusts = True
    return Unknown("classes that may be loaded")


def _loads_weights_only(options: dict[str, Any]) -> bool:
    return options.get("weights_only", REFUSES) is True and options.keys() <= LOADING


def _own_classes(machine, value: Any, depth: int) -> Iterator[str]:
    """The classes of the program of which there are objects in a file."""
    if type(value) in machine.codes:
        yield type(value).__name__
    elif depth and isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _own_classes(machine, part, depth - 1)


def _key(where: Any) -> Any:
    """A path by its text; one that is not known is at least the same as itself."""
    where = path_text(where)
    return where if type(where) is str else id(where)


def _copy(value: Any, depth: int) -> Any:
    if not depth:
        return Unknown("what is in a file")
    if isinstance(value, dict):
        return type(value)((k, _copy(v, depth - 1)) for k, v in value.items()) if type(value) in _DICTS else value
    if type(value) in (list, tuple):
        return type(value)(_copy(v, depth - 1) for v in value)
    return Unknown("a module in a file") if isinstance(value, nn.Module) else value


_DICTS = (dict, collections.OrderedDict)


def _moved(machine: Any, value: Any, device: Any) -> Any:
    if device is None:
        return value
    if isinstance(value, torch.Tensor):
        return machine.foreign(torch.Tensor.to, (value, device), {})
    if type(value) in _DICTS:
        return type(value)((k, _moved(machine, v, device)) for k, v in value.items())
    return type(value)(_moved(machine, v, device) for v in value) if type(value) in (list, tuple) else value
