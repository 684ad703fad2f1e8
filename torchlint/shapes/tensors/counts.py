"""How many places of a mask hold, where its values are not kept: `mask = zeros(2708, dtype=bool)`, `mask[order[:140]] =
True`. A mask then takes just so many items, and its opposite the others.

The storage of a mask says how many of all its places hold (`held`), that of a row of numbers whether no two of them are
alike (`distinct`): the places of the greatest, an order, all numbers up to one.
"""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.tensors import ranges

_SAME = frozenset("clone _to_copy contiguous alias lift_fresh".split())


def held_by(mask: Any) -> int | None:
    """In how many places a mask holds, if that is known."""
    if not isinstance(mask, torch.Tensor) or mask.dtype is not torch.bool:
        return None
    facts = mask.untyped_storage().__dict__
    real = facts.get("real")
    if real is not None and real.dtype is torch.bool and ranges.covers(mask):
        return int(real.sum())
    return facts.get("held") if ranges.covers(mask) else None


def is_distinct(tensor: torch.Tensor) -> bool:
    """Whether no two numbers of a row are alike."""
    if tensor.dim() != 1 or tensor.dtype is not torch.int64 or len(tensor) > 1 and not tensor.stride(0):
        return False
    return "distinct" in tensor.untyped_storage().__dict__


def follow(name: str, args: tuple, tensors: list, result: Any) -> None:
    """What an operation gives holds in as many places as what it is made of says."""
    if isinstance(result, torch.Tensor):
        if result.dtype is torch.bool:
            _hold(name, args, tensors, result)
        elif result.dtype is torch.int64:
            _order(name, args, tensors, result)
    elif _ranks(name) and result[-1].dim() == 1:
        result[-1].untyped_storage().distinct = True


def _ranks(name: str) -> bool:
    """Is the last of what it gives where each was?"""
    return name in ("topk", "sort", "argsort")


def _hold(name: str, args: tuple, tensors: list, result: torch.Tensor) -> None:
    held = None
    is_opposite = name in ("bitwise_not", "logical_not")
    if (kind := name.removeprefix("new_").removesuffix("_like")) in ("zeros", "ones"):
        held = result.numel() * (kind == "ones")
    elif name in ("full", "full_like", "new_full"):
        value = next((a for a in args if type(a) is bool), None)
        held = result.numel() * value if value is not None else None
    elif len(tensors) == 1 and (is_opposite or name in _SAME) and tensors[0].numel() == result.numel():
        held = held_by(tensors[0])
        held = result.numel() - held if held is not None and is_opposite else held
    if held is not None:
        result.untyped_storage().held = held


def _order(name: str, args: tuple, tensors: list, result: torch.Tensor) -> None:
    if result.dim() == 0 and name == "sum" and (held := held_by(args[0])) is not None:
        result.untyped_storage().real = torch.tensor(held)
    elif result.dim() == 1 and (
        name in ("randperm", "arange")
        and not any(type(a) in (int, float) and a < 0 for a in args)  # place -1 is another way to say the last
        or _ranks(name)
        or name in _SAME | {"flip"}
        and is_distinct(tensors[0])
        or name in ("index", "index_select")
        and len(tensors) == 2
        and all(map(is_distinct, tensors))
    ):
        result.untyped_storage().distinct = True


def written(name: str, args: tuple) -> int | None:
    """In how many places the memory of a mask holds after something was written, if that is known."""
    if not isinstance(args[0], torch.Tensor) or args[0].dtype is not torch.bool or len(args) < 2:
        return None
    mask, total = args[0], args[0].untyped_storage().nbytes()
    before = _in_all(mask)
    value = _truth(args[1 if name == "copy_" else 2 if name == "index_put_" else -1])
    if value is None:
        return None
    if name in ("fill_", "copy_"):
        many = mask.numel() if all(mask.stride()) else None
    elif (
        mask.dim() == 1 and ranges.covers(mask) and (places := _places(name, args)) is not None and is_distinct(places)
    ):
        many = len(places)
    else:
        return None
    if many is None or before not in (0, total) and many != total:
        return None
    if many == total:
        return total * value
    return before if value == (before == total) else many if value else total - many


def rewrite(tensors: list[torch.Tensor], held: int | None) -> None:
    """Some tensors were written to, of which the only one holds in so many places then."""
    for tensor in tensors:
        facts = tensor.untyped_storage().__dict__
        facts.pop("distinct", None)
        facts.pop("held", None)
        if held is not None:
            facts["held"] = held


def _places(name: str, args: tuple) -> torch.Tensor | None:
    """Where something is written."""
    if name == "index_put_":
        return args[1][0] if len(args[1]) == 1 else None
    return args[2] if name in ("index_fill_", "scatter_") and len(args) == 4 else None


def _in_all(mask: torch.Tensor) -> int | None:
    facts = mask.untyped_storage().__dict__
    real = facts.get("real")
    return int(real.sum()) if real is not None and real.dtype is torch.bool else facts.get("held")


def _truth(value: Any) -> bool | None:
    if isinstance(value, torch.Tensor):
        real = value.untyped_storage().__dict__.get("real")
        return bool(real) if real is not None and real.numel() == 1 else None
    return bool(value) if type(value) in (bool, int) else None


def chosen(name: str, args: tuple) -> tuple | None:
    """An index in which places stand for a mask that takes so many; None if nobody knows how many it takes."""
    if name not in ("index", "_unsafe_index"):
        return None
    indices = list(args[1])
    masks = [(at, index) for at, index in enumerate(indices) if isinstance(index, torch.Tensor)]
    if len(masks) != 1 or (held := held_by(masks[0][1])) is None:
        return None
    at, mask = masks[0]
    if not mask.dim():
        return None
    places = torch.empty((held,), dtype=torch.int64, device="meta")
    return args[0], [*indices[:at], *[places] * mask.dim(), *indices[at + 1 :]]
