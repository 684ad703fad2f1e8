"""What a recording writes down while a forward runs: its calls, and what is known of the tensors in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchlint.finding import Span
from torchlint.shapes.core.standins import Given
from torchlint.shapes.tensors import device_tags

Place = tuple[str, Span]


class TensorType(NamedTuple):
    """What is known of a tensor at one place."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: str


class RecordedCall(NamedTuple):
    """One call while a forward ran: a function or a layer, what it got and gave, where, and torch's error."""

    function: Any
    args: tuple
    kwargs: Mapping[str, Any]
    result: Any
    place: Place | None
    path: str
    scope: str
    error: str


class ModuleCall(NamedTuple):
    """A call of one of the program's own modules: which of the entries it made, where it was called and what it
    gave."""

    module: nn.Module
    path: str
    place: Place | None
    failed: bool
    first: int
    last: int
    inputs: dict[str, Any]
    result: Any


class Record:
    """The calls of one forward as they happened, in order."""

    def __init__(self, module: nn.Module, inputs: Mapping[str, Any], path: str = ""):
        self.module = module
        self.inputs = dict(inputs)
        self.path = path
        self.entries: list[RecordedCall] = []
        self.error = ""
        self.result: Any = None
        self.scopes: list[ModuleCall] = []


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a result that have a size, one level after the other."""
    if isinstance(value, torch.Tensor):
        if not is_lazy(value):
            yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)
    elif isinstance(value, (dict, Given)):
        for one in (value if isinstance(value, dict) else vars(value)).values():
            yield from tensors_in(one)


def value_of(tensor: torch.Tensor) -> TensorType:
    """The facts of a tensor."""
    with torch._C.DisableTorchFunction():
        return TensorType(tuple(tensor.shape), tensor.dtype, str(device_tags.device_of(tensor)))
