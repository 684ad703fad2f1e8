"""What a call of torch may make of its arguments, paid for before it is made: several tensors from one, or something
from many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.core.values import Exhausted

_SINGLE = frozenset(
    {torch.Tensor, torch.nn.Parameter, torch.dtype, torch.device, torch.Size, int, float, bool, str, type(None)}
)
PIECES = 20_000  # tensors that one call may give
FEW = 16  # tensors, given as a list, that any function may do with them what it likes
# What is known to look at each tensor of a list once; what others do with n of them may take n³ steps, as the best
# order of a chain of products does.
_ONCE = frozenset(
    "cat concat concatenate stack hstack vstack dstack column_stack row_stack tensor as_tensor asarray"
    " broadcast_tensors atleast_1d atleast_2d atleast_3d pad_sequence pack_sequence __getitem__ __setitem__"
    " _foreach_add_ _foreach_norm broadcast_shapes backward grad flatten_dense_tensors".split()
)


def pay(function: Callable, args: tuple, kwargs: dict[str, Any]) -> None:
    """Pay for a call of a torch function by its arguments, or refuse it."""
    work.spend(Work.CALL)
    name = getattr(function, "__name__", "")
    for value in args:
        kind = type(value)
        if kind in _SINGLE:
            continue
        if kind is list or kind is tuple:
            count = len(value)
            if count > FEW:
                work.spend(
                    count
                    if name in _ONCE
                    or name.startswith("_foreach")
                    or not any(isinstance(v, torch.Tensor) for v in value)
                    else count**3 >> 6
                )
        elif isinstance(value, range):
            work.spend(len(value))
    if len(args) > FEW:
        work.spend(len(args) ** 3 >> 6 if isinstance(args[-1], torch.Tensor) else len(args) ** 2 >> 4)
    if args and _gives_several(name) and isinstance(args[0], torch.Tensor):
        found = pieces(name, args[0], args[1:], kwargs)
        if found > PIECES:
            raise Exhausted(f"it makes {found} tensors of one")
        work.spend(found * Work.OPERATION // 2)


def pay_rounds(args: tuple) -> None:
    """Pay for `_trilinear(a, b, c, added_to_a, added_to_b, added_to_c, summed, dim)`, to which `bilinear` comes: torch
    multiplies once for each place of that dimension, in code that nobody interrupts.
    """
    at, rounds = args[7] if len(args) > 7 else 1, 0
    for tensor, added in zip(args[:3], args[3:6]):
        sizes = list(tensor.shape)
        for place in sorted(added):
            sizes.insert(place, 1)
        rounds = max(rounds, *sizes[at : at + 1], 0)
    work.spend(rounds * Work.OPERATION)


def pieces(name: str, tensor: torch.Tensor, args: tuple, kwargs: dict[str, Any]) -> int:
    """How many tensors one may be taken apart into."""
    rest, longest = [*args, *kwargs.values()], max(tensor.shape, default=1)
    if name == "unbind" or name.endswith(("split", "chunk")) and name not in ("hsplit", "vsplit", "dsplit"):
        place = 0 if name == "unbind" else 1  # of the dimension among its arguments
        dim = kwargs.get("dim", args[place] if len(args) > place else 0)
        longest = tensor.shape[dim] if type(dim) is int and -tensor.dim() <= dim < tensor.dim() else longest
    numbers = [value for value in rest[:1] if type(value) is int and value > 0]
    for several in (value for value in rest if isinstance(value, (list, tuple))):
        return len(several) + 1
    if "tensor_split" in name or name in ("hsplit", "vsplit", "dsplit", "chunk", "unsafe_chunk"):
        return numbers[0] if numbers else longest
    if "split" in name:
        return longest // numbers[0] + 1 if numbers else longest
    return longest


@cache
def _gives_several(name: str) -> bool:
    """Whether a function gives tensors of a number that depends on its arguments, as its schema says."""
    found = getattr(torch.ops.aten, name, None) if name and not name.startswith("__") else None
    if name in ("meshgrid", "broadcast_tensors", "where", "nonzero_numpy", "histogramdd") or name.startswith(
        ("_foreach", "lstm", "gru", "rnn")
    ):
        return False
    return (
        name in ("split", "chunk")
        or found is not None
        and any(
            str(result.type) == "List[Tensor]"
            for overload in found.overloads()
            for result in getattr(found, overload)._schema.returns
        )
    )
