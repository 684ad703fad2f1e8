"""Packed sequences of which nobody knows how long each is: how many steps they have together is open."""

from __future__ import annotations

from typing import Any

from torch.nn.utils.rnn import PackedSequence

from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.recurrent import are_taken_for_full
from torchlint.shapes.tensors.wild import SIZES, Free


def left_open(machine: Any, made: Any) -> Any:
    """The same sequences, with as many steps as the data say."""
    if not isinstance(made, PackedSequence) or not machine.wild or machine.example is not None:
        return made
    if not are_taken_for_full(made):
        return made
    both = wild.free_size()
    values = {(s,): made._replace(data=wild.resized(made.data, {0: both[s]})) for s in SIZES.left}
    return wild.join([SIZES], values, "as many steps as its sequences have", Free.COUNTED)
