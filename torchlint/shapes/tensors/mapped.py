"""Which tensors stand for one of many samples, as functions under `torch.func.vmap` see them: what may not be asked.

A function that is mapped runs once, on the first sample. What is made of a sample is another one for each of them, and
torch refuses what would need one number, or make as many as the data say. The marks lie on the storages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from torchlint.shapes.tensors import ranges


class Level(NamedTuple):
    """A call of a function that is mapped; `is_random` if it may draw numbers."""

    number: int
    is_random: bool


class MappedError(RuntimeError):
    """What torch refuses because a function is mapped."""


levels: list[Level] = []  # those that run just now, the outermost first
_count = [0]
_BY_NUMBER = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor,"
    " please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch"
    " internals, please file a bug report."
)
_BY_TRUTH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that"
    " yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different'"
    " randomness flags on vmap or perform the randomness operation out of vmap"
)
_AS_MANY = "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}."
_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with"
    " a boolean mask."
)
_QUESTIONS: dict[Any, str] = {
    torch.Tensor.item: _BY_NUMBER,
    torch.Tensor.__float__: _BY_NUMBER,
    torch.Tensor.__int__: _BY_NUMBER,
    torch.Tensor.__bool__: _BY_TRUTH,
}


def begin(is_random: bool) -> Level:
    """A function that is mapped begins to run."""
    _count[0] += 1
    levels.append(Level(_count[0], is_random))
    return levels[-1]


def end(level: Level) -> None:
    """It is done."""
    del levels[levels.index(level) :]


def forget() -> None:
    """Nothing is mapped."""
    levels.clear()


def mark(tensor: torch.Tensor, level: Level) -> None:
    """A tensor, made for this, is a sample; its numbers are those of another one as well."""
    ranges.forget(tensor)
    held = tensor.untyped_storage().__dict__
    held["mapped"] = held.get("mapped", frozenset()) | {level.number}


def _marks(tensor: torch.Tensor) -> frozenset[int]:
    return (
        tensor.untyped_storage().__dict__.get("mapped", frozenset()) if tensor.layout is torch.strided else frozenset()
    )


def _is_mapped(tensors: Iterable[torch.Tensor]) -> frozenset[int]:
    """The levels that run now of which one of these is a sample."""
    found: frozenset[int] = frozenset().union(*map(_marks, tensors))
    return found & {level.number for level in levels} if found else found


def check_question(function: Callable, args: tuple) -> None:
    """Raise torch's error where the program asks a sample for its number."""
    text = _QUESTIONS.get(function)
    if text is not None and args and isinstance(args[0], torch.Tensor):
        with torch._C.DisableTorchFunction():
            if _is_mapped(args[:1]):
                raise MappedError(text)


def check_random(tensors: list[torch.Tensor], in_place: bool) -> None:
    """Raise torch's error where a mapped function draws numbers."""
    if all(level.is_random for level in levels) or in_place and not _is_mapped(tensors):
        return
    raise MappedError(_RANDOM)


def check_length(name: str, tensors: list[torch.Tensor], masks: Iterable[Any]) -> None:
    """Raise torch's error for what makes as many items as the data say."""
    if name in ("nonzero", "_unique2") and _is_mapped(tensors):
        raise MappedError(_AS_MANY.format(name))
    if _is_mapped(mask for mask in masks if isinstance(mask, torch.Tensor) and mask.dtype is torch.bool):
        raise MappedError(_MASK)


def follow(tensors: list[torch.Tensor], result: Any) -> None:
    """What is made of samples is one of each."""
    marks = _is_mapped(tensors)
    for one in (result if isinstance(result, (list, tuple)) else (result,)) if marks else ():
        if isinstance(one, torch.Tensor) and one.layout is torch.strided:
            held = one.untyped_storage().__dict__
            held["mapped"] = held.get("mapped", frozenset()) | marks
