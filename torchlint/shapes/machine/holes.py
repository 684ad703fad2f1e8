"""Which unknown inputs a value was computed of, as long as it has as many dimensions as they have."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchlint.facts import named, named_of, words
from torchlint.shapes.core.values import Unknown, joined_of, made_of, on_use
from torchlint.shapes.machine.fitting import is_of_torch

_SAME_SHAPE = words(named("same_shape"))
_JOINS = words(named_of("cat"))


def of_call(function: Any, args: tuple) -> str | None:
    """The hole of what a function of torch makes of unknown inputs."""
    name = getattr(function, "__name__", "")
    if not on_use or not args or not is_of_torch(function):
        return None
    if name in _JOINS and type(args[0]) in (list, tuple) and all(type(part) is Unknown for part in args[0]):
        return joined_of(*args[0])
    return made_of(args[0]) if name in _SAME_SHAPE and type(args[0]) is Unknown else None


def of_layer(module: nn.Module, unknown: Unknown) -> str | None:
    """The hole of what one of torch's layers makes of an unknown input."""
    return made_of(unknown) if on_use and type(module).__name__ in _SAME_SHAPE else None
