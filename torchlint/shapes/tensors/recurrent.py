"""Recurrent layers in constant time: two steps show the shapes of a thousand, and packed sequences are full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

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
    """`_pack_padded_sequence`: every sequence is taken to be as long as the longest may be."""
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
    return data.flatten(0, 1), torch.full((steps,), batch)


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
    batch = data.shape[0] // steps
    data = data.unflatten(0, (batch, steps))
    if total_length > steps:
        data = data[:, :1].expand(batch, total_length, *data.shape[2:])
    return (data if batch_first else data.transpose(0, 1)).contiguous(), torch.full((batch,), steps)


HANDLERS = {
    **{getattr(torch, kind): _dense for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    torch._VF._pad_packed_sequence: _unpack,
}
