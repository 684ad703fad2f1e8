"""Sparse tensors: a dense one of the same shape stands for each, for tensors without data cannot be sparse. What is
asked of the places and numbers that are kept is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.facts import named, named_of, words
from torchlint.shapes.core.values import Special, Unknown, unknown_in
from torchlint.shapes.tensors import dense_stand_ins


def _maker(name: str) -> Special:
    def make(machine, *args, **kwargs):
        unknown = unknown_in((*args, *kwargs.values()))
        if unknown is not None or kwargs.get("size", args[-1] if args else None) is None:
            return Unknown(unknown.reason if unknown is not None else "as large a tensor as its places say")
        made = machine.foreign(getattr(torch, name), args, kwargs)
        if isinstance(made, torch.Tensor):
            dense_stand_ins.mark(made)
        return made

    return Special(name, make)


def mm(machine, mat1, mat2, *options):
    """`torch.sparse.mm(adjacency, x)`"""
    return machine.foreign(torch.mm, (mat1, mat2), {})


def addmm(machine, mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    return machine.foreign(torch.addmm, (mat, mat1, mat2), {"beta": beta, "alpha": alpha})


def _same(machine, method: Callable, *args: Any, **kwargs: Any) -> Any:
    """`coalesce()`, `to_dense()`: the same numbers, whatever keeps them."""
    dtype = kwargs.get("dtype", args[0] if args else None)
    return machine.foreign(method.__self__.to, (dtype,), {}) if isinstance(dtype, torch.dtype) else method.__self__


def _sparse(machine, method: Callable, *args: Any, **kwargs: Any) -> Any:
    made = machine.foreign(method.__self__.clone, (), {})
    if isinstance(made, torch.Tensor):
        dense_stand_ins.mark(made)
    return made


def _part(machine, method: Callable, *args: Any, **kwargs: Any) -> Unknown:
    return Unknown("a part of a sparse tensor")


_MADE = [name for name in words(named("creates", home="torch")) if name.startswith("sparse")]
FOUND = {
    **{f"torch.sparse.{product.__name__}": Special(product.__name__, product) for product in (mm, addmm)},
    **{f"torch.{name}": _maker(name) for name in _MADE},
}
METHODS: dict[str, Callable] = {
    **dict.fromkeys(words(named_of("coalesce", "to_dense")), _same),
    **dict.fromkeys([name for name in dir(torch.Tensor) if name.startswith("to_sparse")], _sparse),
    **dict.fromkeys(words(named_of("is_coalesced", "indices", "values", "crow_indices", "col_indices")), _part),
    **dict.fromkeys(words(named_of("sparse_mask", "sparse_dim", "dense_dim", "ccol_indices", "row_indices")), _part),
}
