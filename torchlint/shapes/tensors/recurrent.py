"""Recurrent layers in constant time: two steps show the shapes of a thousand, and packed sequences are full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.nn.utils.rnn import PackedSequence

from torchlint.shapes.core.values import machines
from torchlint.shapes.tensors import open_lengths

STEPS = 2  # that are done of a long sequence
_steps = STEPS


@contextmanager
def unrolled(steps: int) -> Iterator[None]:
    """Inside, so many steps are done: where more is asked for than shapes."""
    global _steps
    before, _steps = _steps, steps
    try:
        yield
    finally:
        _steps = before


def _dense(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`lstm(input, hx, flat_weights, has_biases, layers, dropout, train, bidirectional, batch_first)`, and its packed
    twin."""
    if isinstance(args[3], (list, tuple)):
        return _packed(function, args, kwargs)
    sequence, batch_first = args[0], args[8]
    time = 1 if batch_first else 0
    steps = sequence.shape[time] if sequence.dim() == 3 else 0
    if steps <= _steps:
        return function(*args, **kwargs)
    output, *state = function(sequence.narrow(time, 0, _steps), *args[1:], **kwargs)
    size = list(output.shape)
    size[time] = steps
    return (output.narrow(time, 0, 1).expand(size).contiguous(), *state)


def _packed(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`lstm(data, batch_sizes, hx, flat_weights, has_biases, layers, dropout, train, bidirectional)`"""
    data, batch_sizes, state, *rest = args
    _check(function, args, batch_sizes)
    first = state[0] if isinstance(state, (list, tuple)) else state
    if data.dim() != 2 or first.dim() != 3:
        return function(*args, **kwargs)  # which refuses it
    rows = data[:1].unsqueeze(0).expand(STEPS, first.shape[1], data.shape[1])  # a batch as wide as the hidden state
    output, *state = function(rows, state, *rest, False, **kwargs)
    return (output[0, :1].expand(data.shape[0], output.shape[2]).contiguous(), *state)


def pack(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`_pack_padded_sequence`: each sequence is as long as is said; where the numbers are not known, as the longest may
    be.
    """
    data, lengths, batch_first = args
    if lengths.dim() != 1 or lengths.dtype is not torch.int64:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    if not batch_first:
        data = data.transpose(0, 1)
    batch, steps = data.shape[:2]
    if lengths.shape[0] != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.shape[0]} (batch_size={batch})"
        )
    known = _numbers(lengths)
    if known and 0 < min(known) and max(known) <= steps:
        sizes = torch.tensor([sum(length > step for length in known) for step in range(max(known))])
        rows = data.flatten(0, 1).narrow(0, 0, sum(known))
    else:
        sizes = torch.full((min(open_lengths.longest(lengths) or steps, steps),), batch)
        rows, known = data.flatten(0, 1), []
    sizes.untyped_storage().packed = Packed(batch, known)
    return rows, sizes


class Packed(NamedTuple):
    """How many sequences were packed, and how long each is, if that is known."""

    batch: int
    lengths: list[int]


def _numbers(lengths: torch.Tensor) -> list[int]:
    known = lengths.untyped_storage().__dict__.get("real")
    return known.tolist() if known is not None and known.shape == lengths.shape else []


def are_taken_for_full(packed: PackedSequence) -> bool:
    """Whether nobody knows how long its sequences are."""
    held = packed.batch_sizes.untyped_storage().__dict__.get("packed")
    return held is not None and not held.lengths


def overrun(packed: tuple[torch.Tensor, torch.Tensor], text: str) -> None:
    """Sequences were packed that are shorter than what is said of them: torch refuses that where somebody goes through
    them.
    """
    packed[1].untyped_storage().overrun = text


def _check(function: Callable, args: tuple, batch_sizes: torch.Tensor) -> None:
    text = batch_sizes.untyped_storage().__dict__.get("overrun")
    if text and machines:
        machines[-1].refuse(open_lengths.TooLong(text), function, args)


def _unpack(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`_pad_packed_sequence`"""
    data, batch_sizes, batch_first, _, total_length = args
    _check(function, args, batch_sizes)
    steps = max(batch_sizes.shape[0], 1)
    held = batch_sizes.untyped_storage().__dict__.get("packed") or Packed(data.shape[0] // steps, [])
    data = data[:1].unsqueeze(0).expand(held.batch, max(total_length, steps), *data.shape[1:])
    lengths = torch.tensor(held.lengths) if held.lengths else torch.full((held.batch,), steps)
    return (data if batch_first else data.transpose(0, 1)).contiguous(), lengths


HANDLERS = {
    **{getattr(torch, kind): _dense for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    torch._VF._pad_packed_sequence: _unpack,
}
