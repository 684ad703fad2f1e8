"""Tensors of lists that miss items, of nobody knows how many: `torch.tensor(ids)`, `torch.tensor([ids, others])`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.language.cut_short import REST, is_open, may_be_longer
from torchlint.shapes.tensors import ranges, wild
from torchlint.shapes.tensors.wild import Free

LENGTH = "a tensor of unknown length"
_DTYPES = {int: torch.int64, bool: torch.bool}


def of_open_list(make: Callable, machine: Any, data: Any, dtype: Any, device: Any) -> Any:
    """What `make` makes of the items that are known, in a length that is not; None if too little is known of them."""
    known = [item for item in data if item is not REST]
    if not machine.wild or not known or not _are_like_others(data):
        return None
    if may_be_longer(known):
        return _of_open_rows(make, machine, known, dtype, device) if not is_open(data) else None
    return machine.freed(make(machine, known, dtype, device), 0, LENGTH, Free.COUNTED)


def _of_open_rows(make: Callable, machine: Any, rows: list, dtype: Any, device: Any) -> Any:
    """Rows of numbers, all of one length, for torch takes no others: that of one which misses nothing."""
    if not all(type(row) in (list, tuple) and _are_like_others(row) for row in rows):
        return None
    kind = wild.kind_of_all([item for row in rows for item in row if item is not REST])
    if kind is None:
        return None
    whole = next((row for row in rows if not is_open(row)), None)
    dtype = dtype or _DTYPES.get(kind, torch.get_default_dtype())
    made = make(machine, [[0] * (1 if whole is None else len(whole))] * len(rows), dtype, device)
    return machine.freed(made, 1, LENGTH, Free.COUNTED) if whole is None else _forgotten(made)


def _forgotten(made: Any) -> Any:
    """The same, of which nobody knows the numbers."""
    if isinstance(made, torch.Tensor):
        ranges.forget(made)
    return made


def _are_like_others(items: Any) -> bool:
    """Whether a known item stands before each that is missing: those are of its kind."""
    return not any(item is REST and (at == 0 or items[at - 1] is REST) for at, item in enumerate(items))
