"""Why torch refuses an operation, in words: which sizes disagree and in which dimension, or else what torch says."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import torch

from torchlint.shapes.search import phrases
from torchlint.shapes.tensors.conflicts import of_call

_REASON = 150  # characters that are quoted of torch
_PLACES = {-1: "last", -2: "second-last", -3: "third-last"}
_LIST = re.compile(
    r"(?<!range of )(?<!between )(?:torch\.Size\(|')?\[(\d+(?:, ?\d+)*)\](?:\)|')?"
)  # a shape in torch's words
_PRODUCTS = ("matmul", "mm", "bmm", "rmatmul")


def of_sizes(
    name: str, function: Any, args: tuple, kwargs: dict[str, Any], text: str, called: tuple[str, str], pointwise: bool
) -> str | None:
    """Which sizes do not fit, where that can be said better than torch does. `called` is what the program calls the
    two operands of an operator, `pointwise` whether it takes them number by number.
    """
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if name == "stack" and args and isinstance(args[0], (list, tuple)):
        return _stacked(args[0])
    pair = of_call(function, args, kwargs, text)
    if pair is None or not all(isinstance(size, int) for size in pair):
        return None
    if name.strip("_") in _PRODUCTS and len(tensors) == 2:
        left, right = tensors if name.strip("_") != "rmatmul" else tensors[::-1]
        return _product(left, right, *called, pair)
    if name in ("cat", "concat", "concatenate"):
        kept = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else 0))
        only = f", only those of dimension {kept} may" if isinstance(kept, int) else ""
        return f"sizes {pair[0]} and {pair[1]} disagree{only}"
    if pointwise and len(tensors) == 2:
        return _pointwise(*tensors)
    return None


def _listed(sizes: str) -> str:
    return sizes if "," in sizes else f"{sizes},"


def _product(left: torch.Tensor, right: torch.Tensor, first: str, second: str, pair: tuple[int, int]) -> str:
    inner = left.shape[-1], right.shape[-2] if right.dim() > 1 else right.shape[0]
    if inner[0] == inner[1]:
        return f"batches of {pair[1]} and {pair[0]}"
    which = "second-last" if right.dim() > 1 else "only"
    return f"the last size of {first} is {inner[0]}, the {which} of {second} is {inner[1]}"


def _pointwise(left: torch.Tensor, right: torch.Tensor) -> str | None:
    for position, (a, b) in enumerate(zip(reversed(left.shape), reversed(right.shape)), 1):
        if a != b and 1 not in (a, b):
            where = f"the {_PLACES[-position]} sizes" if -position in _PLACES else f"the sizes {position} from the end"
            return f"{where} are {a} and {b}"
    return None


def _stacked(tensors: Any) -> str | None:
    shapes = [tuple(t.shape) for t in tensors if isinstance(t, torch.Tensor)]
    other = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
    return (
        f"all must have one shape, but the first is {shapes[0]} and number {other} is {shapes[other]}"
        if other
        else None
    )


def of_elements(tensor: torch.Tensor, sizes: tuple, text: str) -> str | None:
    """What a shape wants of a tensor, with a hole for what the tensor is called."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
    if "not compatible" in text:
        return (
            "fails on {}: its elements lie in another order in memory, since it was transposed, permuted or sliced:"
            " `reshape` copies them"
        )
    if not sizes or not all(isinstance(s, int) for s in sizes):
        return None
    wanted, there = prod(s for s in sizes if s != -1), tensor.numel()
    if -1 in sizes and wanted > 0 and there % wanted:
        return f"wants a multiple of {wanted} elements but {{}} has {there}"
    return f"wants {wanted} elements but {{}} has {there}" if -1 not in sizes and wanted != there else None


def in_words(text: str, name: str = "") -> str:
    """Our sentence for what torch says, or the first line of its own."""
    return phrases.said(text, name) or of_torch(text, name)


def of_torch(text: str, name: str = "") -> str:
    """The first line of what torch says, without the name of the function and what only repeats the shapes."""
    first = (
        text.splitlines()[0]
        .partition(", but expected one of")[0]
        .partition("  Target sizes:")[0]
        .partition(" i.e. ")[0]
        if text
        else ""
    )
    first = re.sub(rf"^(torch\.)?{re.escape(name)}(\(\))?: ", "", first) if name else first
    first = _LIST.sub(lambda found: f"({_listed(found[1])})", first)
    return first if len(first) <= _REASON else first[:_REASON].rsplit(" ", 1)[0] + " …"
