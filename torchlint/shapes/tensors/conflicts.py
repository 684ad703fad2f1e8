"""The two sizes that do not fit in a refusal of torch: what was wanted and what was there."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import torch
from torch import nn

from torchlint.facts import named, named_of, words

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_NORMS = {
    nn.BatchNorm1d: (2, 3),
    nn.BatchNorm2d: (4,),
    nn.BatchNorm3d: (5,),
    nn.InstanceNorm1d: (2, 3),
    nn.InstanceNorm2d: (3, 4),
}
_TAKE_A_TENSOR = (nn.Linear, nn.LayerNorm, nn.GroupNorm, nn.Dropout, nn.Embedding, *_CONVOLUTIONS, *_NORMS)
_POINTWISE = words(named("broadcasts") | named_of("lerp", "addcmul", "addcdiv", "masked_fill", "mse_loss", "l1_loss"))
_POINTWISE |= {"smooth_l1_loss", *"truediv floordiv mod rsub iadd isub imul itruediv and or xor".split()}
# How torch words it; the last two groups are (wanted, there), or the other way round with a leading "-".
_WORDS = [
    (re.compile(r"to have (\d+) channels, but got (\d+) channels"), False),
    (re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"), True),
    (re.compile(r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"), True),
    (re.compile(r"same reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]"), True),
    (re.compile(r"Expected size (\d+) but got size (\d+)"), False),
    (re.compile(r"should contain (\d+) elements not (\d+)"), True),
    (re.compile(r"Expected (\d+), got (\d+)"), False),
    (re.compile(r"embedding dimension of (\d+), but got (\d+)"), False),
    (re.compile(r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"), False),
    (re.compile(r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"), True),
    (re.compile(r"expected input with shape \[\*, (\d+)\], but got input of size\[(?:\d+, )*(\d+)\]"), False),
    (re.compile(r"embed_dim(?:ension)? (?:must be|is) (\d+).*?got (\d+)"), False),
    (re.compile(r"batch2 tensor to be: \[(\d+), \d+\] but got: \[(?!\1,)(\d+), \d+\]"), True),
    (re.compile(r"batch2 tensor to be: \[\d+, (\d+)\] but got: \[\d+, (\d+)\]"), True),
    (re.compile(r"Shape mismatch, can't divide axis of length (\d+) in chunks of (\d+)"), True),
    (re.compile(r"[Ss]hape mismatch[^\d]*(\d+) != (\d+)"), True),
    (re.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)"), True),
    (re.compile(r"could not be broadcast together with shapes \[(\d+)\], \[(\d+)\]$"), True),
    (re.compile(r"Expected hidden(?:\[\d\])? size \(((?:\d+, )*)(\d+)[^)]*\), got \[\1(\d+)"), False),
    (re.compile(r"Number of indices \((\d+)\) should be equal to \w+\.size\(dim\):? \((\d+)\)"), True),
    (re.compile(r"Expected target size \[((?:\d+, )*)(\d+)[^\]]*\], got \[\1(\d+)"), True),
]
_MASK = re.compile(r"mask \[([\d, ]+)\] at index (\d+) does not match .* tensor \[([\d, ]+)\] at index (\d+)")
_OUT_OF_RANGE = re.compile(r"Dimension out of range \(expected to be in range of \[-\d+, (\d+)\], but got (-?\d+)\)")
_RANKS = re.compile(r"[Gg]ot (\d)D input, but \w+ mode needs (\d)D input")
Pair = tuple[Any, Any]


def pair_of(result: Any) -> Pair | None:
    """(wanted, there), as numbers, or as texts if it is not about sizes; None if the refusal is of another kind."""
    function, args = result.function, result.args
    if isinstance(function, nn.Module):
        found = of_layer(function, args)
    else:
        return of_call(function, args, result.kwargs, result.error)
    return found or _of_text(result.error)


def of_call(function: Any, args: tuple, kwargs: Any, text: str) -> Pair | None:
    """The two sizes that do not fit in a call of a function that torch refused with this text."""
    found = _of_function(getattr(function, "__name__", "").strip("_"), args, kwargs) or _of_text(text)
    return found or (_of_strides(function, args) if "input tensor's size and stride" in text else None)


def _of_strides(function: Any, args: tuple) -> Pair | None:
    """A view of what was turned round; what an input is may lie in memory as it likes, what was computed does not."""
    owner = getattr(function, "__self__", None)
    tensor = owner if isinstance(owner, torch.Tensor) else args[0] if args else None
    if not isinstance(tensor, torch.Tensor):
        return None
    whole = tensor._base if tensor._base is not None else tensor
    return ("one piece of memory", "several pieces") if whole.grad_fn is not None else None


def of_layer(layer: nn.Module, args: tuple) -> Pair | None:
    """What one of torch's layers takes and what it gets."""
    value = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if value is None:
        several = bool(args) and isinstance(args[0], (tuple, list)) and isinstance(layer, _TAKE_A_TENSOR)
        return ("a tensor", "several values") if several else None
    with torch._C.DisableTorchFunction():
        shape = tuple(value.shape)
    if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
        return ("whole numbers", "floats") if value.is_floating_point() else None
    if isinstance(layer, nn.Linear):
        return _differ(layer.in_features, shape[-1]) if shape else None
    if isinstance(layer, _CONVOLUTIONS):
        rank = len(layer.kernel_size)
        if len(shape) not in (rank + 1, rank + 2):
            return (f"{rank + 2} dimensions", f"{len(shape)} dimensions")
        return _differ(layer.in_channels, shape[-rank - 1])
    for kind, ranks in _NORMS.items():
        if isinstance(layer, kind):
            if len(shape) not in ranks:
                return (f"{ranks[-1]} dimensions", f"{len(shape)} dimensions")
            return _differ(layer.num_features, shape[1])
    if isinstance(layer, nn.LayerNorm):
        wanted = tuple(layer.normalized_shape)
        return next((_differ(w, s) for w, s in zip(reversed(wanted), reversed(shape)) if w != s), None)
    if isinstance(layer, nn.GroupNorm) and len(shape) > 1:
        return _differ(layer.num_channels, shape[1])
    if isinstance(layer, (nn.RNNBase, nn.MultiheadAttention)) and len(shape) not in (2, 3):
        return ("3 dimensions", f"{len(shape)} dimensions")
    if isinstance(layer, nn.RNNBase):
        return _differ(layer.input_size, shape[-1])
    if isinstance(layer, nn.MultiheadAttention):
        return _differ(layer.embed_dim, shape[-1])
    return None


def _of_function(name: str, args: tuple, kwargs: Any) -> Pair | None:
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if name == "linear" and len(tensors) > 1 and tensors[0].dim():
        return _differ(tensors[1].shape[-1], tensors[0].shape[-1])
    if name == "layer_norm" and tensors:
        wanted = kwargs.get("normalized_shape", args[1] if len(args) > 1 else ())
        wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
        return next((_differ(w, s) for w, s in zip(reversed(wanted), reversed(tensors[0].shape)) if w != s), None)
    if name in ("mm", "bmm") and len(tensors) == 2:
        rank = 2 if name == "mm" else 3
        other = next((t.dim() for t in tensors if t.dim() != rank), rank)
        if other != rank:
            return (f"{rank} dimensions", f"{other} dimensions")
    if name in ("matmul", "mm", "bmm", "rmatmul") and len(tensors) == 2 and min(t.dim() for t in tensors):
        left, right = tensors if name != "rmatmul" else tensors[::-1]
        inner = right.shape[-2] if right.dim() > 1 else right.shape[0]
        return _differ(inner, left.shape[-1]) or _broadcast(tuple(left.shape[:-2]), tuple(right.shape[:-2]))
    if name in _POINTWISE and len(tensors) > 1:
        return _broadcast(tuple(tensors[0].shape), tuple(tensors[1].shape))
    if name in ("cat", "concat", "concatenate", "stack") and args and isinstance(args[0], (list, tuple)):
        return _concatenated(name, args, kwargs)
    if name in ("view", "reshape") and tensors:
        return _viewed(tensors[0], args[1:])
    if name == "permute" and tensors:
        places = args[1] if len(args) == 2 else args[1:] or kwargs.get("dims", ())
        if isinstance(places, (list, tuple)) and len(places) != tensors[0].dim():
            return (f"{len(places)} dimensions", f"{tensors[0].dim()} dimensions")
    if name in ("split", "split_with_sizes") and tensors:
        sizes = next(
            (a for a in args[1:] if isinstance(a, (list, tuple))),
            kwargs.get("split_size", kwargs.get("split_size_or_sections")),
        )
        dim = kwargs.get("dim", args[2] if len(args) > 2 and isinstance(args[2], int) else 0)
        if (
            isinstance(sizes, (list, tuple))
            and all(isinstance(s, int) for s in sizes)
            and -tensors[0].dim() <= dim < tensors[0].dim()
        ):
            return _differ(sum(sizes), tensors[0].shape[dim])
    return None


def _differ(wanted: Any, there: Any) -> Pair | None:
    """The two, if they are numbers: a size may be a tensor, and then nobody can go by it."""
    are_known = isinstance(wanted, int) and isinstance(there, int)
    return (wanted, there) if are_known and wanted != there else None


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> Pair | None:
    for a, b in zip(reversed(left), reversed(right)):
        if a != b and 1 not in (a, b):
            return (b, a)
    return None


def _concatenated(name: str, args: tuple, kwargs: Any) -> Pair | None:
    tensors = [t for t in args[0] if isinstance(t, torch.Tensor)]
    dim = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else 0))
    for tensor in tensors[1:]:
        if tensor.dim() != tensors[0].dim():
            return (f"{tensors[0].dim()} dimensions", f"{tensor.dim()} dimensions")
        for position, (a, b) in enumerate(zip(tensors[0].shape, tensor.shape)):
            if a != b and (name == "stack" or position != dim % max(tensor.dim(), 1)):
                return (a, b)
    return None


def _viewed(tensor: torch.Tensor, sizes: tuple) -> Pair | None:
    """The product of the sizes asked for and the number of elements, both without the sizes they share at the front."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
    if not all(isinstance(s, int) for s in sizes):
        return None
    wanted, there = list(sizes), list(tensor.shape)
    while wanted and there and wanted[0] == there[0]:
        wanted, there = wanted[1:], there[1:]
    if wanted and wanted[0] == -1 and len(there) > 1:
        there = there[1:]  # `view(-1, 400)`: the first size is the batch
    return _differ(prod(w for w in wanted if w > 0), prod(there))


def _of_text(text: str) -> Pair | None:
    ranks = _RANKS.search(text)
    if ranks:
        return (f"{ranks.group(2)} dimensions", f"{ranks.group(1)} dimensions")
    beyond = _OUT_OF_RANGE.search(text)
    if beyond:
        last, asked = int(beyond[1]), int(beyond[2])
        return (f"{asked + 1 if asked >= 0 else -asked} dimensions", f"{last + 1} dimensions")
    mask = _MASK.search(text)
    if mask:
        there, wanted = ([int(size) for size in mask[number].split(", ")] for number in (1, 3))
        return (wanted[int(mask[4])], there[int(mask[2])]) if int(mask[4]) < len(wanted) else None
    for worded, swapped in _WORDS:
        match = worded.search(text)
        if match:
            first, second = (int(g) for g in match.groups()[-2:])
            return (second, first) if swapped else (first, second)
    return None
