"""einops patterns, evaluated on tensors without einops being installed; errors are worded as einops words them.

`NAMES` is what the interpreter binds: functions, and layers that are real nn.Modules. Errors are `EinopsError`, as in
einops a RuntimeError.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from math import prod
from typing import Any

import torch
from torch import nn
from torch.overrides import handle_torch_function, has_torch_function

_ELLIPSIS, _INSIDE = "…", "(…)"  # the dots as dimensions of their own, and joined in brackets
Groups = list[list[str]]


class EinopsError(RuntimeError):
    """What einops raises."""


# Patterns


def _groups(side: str) -> Groups:
    """One side of a pattern: a list of axes for every dimension; `1` is a dimension without axes."""
    side = side.replace("...", f" {_ELLIPSIS} ").replace("(", " ( ").replace(")", " ) ")
    groups: Groups = []
    inside: list[str] | None = None
    for word in side.split():
        if word == "(":
            if inside is not None:
                raise EinopsError("brackets inside brackets are not allowed")
            inside = []
        elif word == ")":
            if inside is None:
                raise EinopsError("Brackets are not balanced")
            groups.append(inside)
            inside = None
        elif not (word == _ELLIPSIS or word.isdigit() or word.isidentifier()):
            raise EinopsError(f"Invalid axis identifier: {word}")
        elif inside is not None:
            inside += [] if word == "1" else [_INSIDE if word == _ELLIPSIS else word]
        else:
            groups.append([] if word == "1" else [word])
    if inside is not None:
        raise EinopsError(f'Imbalanced parentheses in expression: "{side}"')
    names = [a for g in groups for a in g if not a.isdigit()]
    for name in names:
        if names.count(name) > 1:
            raise EinopsError(f'Indexing expression contains duplicate dimension "{name}"')
    return groups


def _sides(pattern: str) -> tuple[Groups, Groups]:
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise EinopsError(f"Pattern should contain '->': {pattern}")
    return _groups(left), _groups(right)


def _spread(groups: Groups, names: list[str]) -> Groups:
    """The same groups with the dimensions that `...` stands for."""
    spread: Groups = []
    for group in groups:
        if group == [_ELLIPSIS]:
            spread.extend([name] for name in names)
        else:
            spread.append([n for axis in group for n in (names if axis == _INSIDE else [axis])])
    return spread


def _written_set(names: Iterable[str]) -> str:
    """A set as Python writes it, but always in the same order."""
    return "{" + ", ".join(map(repr, sorted(names))) + "}"


def _flat(groups: Groups) -> list[str]:
    return [axis for group in groups for axis in group]


def _lengths(groups: Groups, shape: tuple[int, ...], given: dict[str, int]) -> dict[str, int]:
    """The length of every axis on the left."""
    lengths = dict(given)
    for group, size in zip(groups, shape):
        for axis in group:
            if axis.isdigit():
                lengths[axis] = int(axis)
        unknown = [a for a in group if a not in lengths]
        known = prod(lengths[a] for a in group if a in lengths)
        if len(unknown) > 1:
            raise EinopsError(f"Could not infer sizes for {_written_set(unknown)}")
        if unknown:
            if known == 0 or size % known:
                raise EinopsError(f"Shape mismatch, can't divide axis of length {size} in chunks of {known}")
            lengths[unknown[0]] = size // known
        elif size != known:
            raise EinopsError(f"Shape mismatch, {size} != {known}")
    return lengths


def _transform(tensor: torch.Tensor, pattern: str, reduction: Any, given: dict[str, Any]) -> torch.Tensor:
    left, right = _sides(pattern)
    shape = tuple(tensor.shape)
    fixed = len([g for g in left if g != [_ELLIPSIS]])
    extra = len(shape) - fixed
    if [_ELLIPSIS] in left:
        if extra < 0:
            raise EinopsError(f"Wrong shape: expected >={fixed} dims. Received {len(shape)}-dim tensor.")
    elif extra:
        raise EinopsError(f"Wrong shape: expected {fixed} dims. Received {len(shape)}-dim tensor.")
    names = [f"{_ELLIPSIS}{i}" for i in range(extra)]
    left, right = _spread(left, names), _spread(right, names)
    used = set(_flat(left)) | set(_flat(right))
    for name in given:
        if name not in used:
            raise EinopsError(f"Axis {name} is not used in transform")
    only_left, only_right = set(_flat(left)) - set(_flat(right)), set(_flat(right)) - set(_flat(left))
    if reduction == "rearrange" and (only_left | only_right):
        raise EinopsError(
            f"Identifiers only on one side of expression (should be on both): {_written_set(only_left | only_right)}"
        )
    if reduction == "repeat" and only_left:
        raise EinopsError(f"Unexpected identifiers on the left side of repeat: {_written_set(only_left)}")
    if reduction not in ("rearrange", "repeat") and only_right:
        raise EinopsError(f"Unexpected identifiers on the right side of reduce {reduction}: {_written_set(only_right)}")
    missing = {a for a in only_right if a not in given and not a.isdigit()}
    if missing:
        raise EinopsError(f"Specify sizes for new axes in repeat: {_written_set(missing)}")
    lengths = _lengths(left, shape, {k: int(v) for k, v in given.items()})
    lengths.update({a: int(a) for a in _flat(right) if a.isdigit()})
    source, target = _flat(left), _flat(right)
    tensor = tensor.reshape([lengths[a] for a in source])
    gone = [i for i, a in enumerate(source) if a not in target]
    if gone:
        tensor = _reduced(tensor, reduction, gone)
        source = [a for a in source if a in target]
    tensor = tensor.permute([source.index(a) for a in target if a in source])
    for position, axis in enumerate(target):
        if axis not in source:
            tensor = tensor.unsqueeze(position)
    tensor = tensor.expand([lengths[a] for a in target]) if target else tensor
    return tensor.reshape([prod(lengths[a] for a in group) for group in right])


def _reduced(tensor: torch.Tensor, reduction: Any, dims: list[int]) -> torch.Tensor:
    if callable(reduction):
        return reduction(tensor, tuple(dims))
    if reduction == "mean" and not (tensor.is_floating_point() or tensor.is_complex()):
        raise EinopsError("reduce_mean is not available for non-floating tensors")
    if reduction not in ("min", "max", "sum", "mean", "prod", "any", "all"):
        raise EinopsError(
            f"Unknown reduction {reduction}. Expect one of ('min', 'max', 'sum', 'mean', 'prod', 'any', 'all')."
        )
    if reduction in ("min", "max"):
        return tensor.amin(dims) if reduction == "min" else tensor.amax(dims)
    if reduction in ("sum", "mean"):
        return getattr(tensor, reduction)(dims)
    for dim in reversed(dims):
        tensor = getattr(tensor, reduction)(dim)
    return tensor


def _apply(function: Any, tensor: Any, pattern: Any, reduction: Any, given: dict[str, Any]) -> torch.Tensor:
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(tuple(tensor))
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is a text, not {type(pattern).__name__}")
    try:
        return _transform(tensor, pattern, reduction, given)
    except EinopsError as error:
        kind = "rearrange" if reduction == "rearrange" else "repeat" if reduction == "repeat" else reduction
        raise EinopsError(
            f' Error while processing {kind}-reduction pattern "{pattern}".\n Input tensor shape: {tensor.shape}. '
            f"Additional info: {given}.\n {error}"
        ) from None


# Functions


def rearrange(tensor, pattern, **axes_lengths):
    """`rearrange(x, "b c h w -> b (h w) c")`"""
    if has_torch_function(_among(tensor)):
        return handle_torch_function(rearrange, _among(tensor), tensor, pattern, **axes_lengths)
    return _apply(rearrange, tensor, pattern, "rearrange", axes_lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    """`reduce(x, "b c h w -> b c", "mean")`"""
    if has_torch_function(_among(tensor)):
        return handle_torch_function(reduce, _among(tensor), tensor, pattern, reduction, **axes_lengths)
    return _apply(reduce, tensor, pattern, reduction, axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    """`repeat(x, "1 n d -> b n d", b=8)`"""
    if has_torch_function(_among(tensor)):
        return handle_torch_function(repeat, _among(tensor), tensor, pattern, **axes_lengths)
    return _apply(repeat, tensor, pattern, "repeat", axes_lengths)


def _among(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def einsum(*tensors_and_pattern):
    """`einsum(a, b, "batch i d, batch j d -> batch i j")`: names of any length become letters."""
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise ValueError(
            "The last argument passed to `einops.einsum` must be a string, representing the einsum pattern."
        )
    if "->" not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    letters: dict[str, str] = {}

    def short(side: str) -> str:
        words = list(side.replace("...", " ... ").split())
        return "".join(w if w == "..." else letters.setdefault(w, string.ascii_letters[len(letters)]) for w in words)

    left, _, right = pattern.partition("->")
    return torch.einsum(",".join(map(short, left.split(","))) + "->" + short(right), *tensors)


def _around_star(pattern: str) -> tuple[int, int]:
    words = pattern.split()
    if words.count("*") != 1:
        raise EinopsError(f'No *-axis in pattern "{pattern}"')
    return words.index("*"), len(words) - words.index("*") - 1


def pack(tensors, pattern):
    """`pack([a, b], "b * d")`: the joined tensor, and the shapes that the star stood for."""
    before, after = _around_star(pattern)
    pieces, shapes = [], []
    for position, tensor in enumerate(tensors):
        if tensor.dim() < before + after:
            raise EinopsError(
                f"packed tensor #{position} (enumeration starts with 0) has shape {tuple(tensor.shape)}, "
                f"while pattern {pattern} assumes at least {before + after} axes"
            )
        end = tensor.dim() - after
        shapes.append(torch.Size(tensor.shape[before:end]))
        pieces.append(tensor.reshape([*tensor.shape[:before], prod(tensor.shape[before:end]), *tensor.shape[end:]]))
    return torch.cat(pieces, before), shapes


def unpack(tensor, packed_shapes, pattern):
    """The inverse of `pack`; one shape may hold a -1."""
    before, after = _around_star(pattern)
    if tensor.dim() != before + 1 + after:
        raise EinopsError(f"unpack(..., {pattern}) received input of wrong dim with shape {tuple(tensor.shape)}")
    sizes = [-1 if -1 in tuple(shape) else prod(shape) for shape in packed_shapes]
    if -1 in sizes:
        sizes[sizes.index(-1)] = tensor.shape[before] - sum(s for s in sizes if s != -1)
    if sum(sizes) != tensor.shape[before]:
        raise EinopsError(
            f'Error during unpack(..., "{pattern}"): '
            f"could not split axis of length {tensor.shape[before]} into requested shapes"
        )
    pieces = torch.split(tensor, sizes, before)
    return [p.reshape([*p.shape[:before], *shape, *p.shape[before + 1 :]]) for p, shape in zip(pieces, packed_shapes)]


def parse_shape(tensor, pattern):
    """`parse_shape(x, "b _ h w")`: a dict of sizes."""
    names = pattern.split()
    shape = tuple(tensor.shape)
    if "..." in names:
        position = names.index("...")
        names[position : position + 1] = ["_"] * (len(shape) - len(names) + 1)
    if len(names) != len(shape):
        raise RuntimeError(f"Can't parse shape with different number of dimensions: {pattern} {shape}")
    return {name: size for name, size in zip(names, shape) if name != "_" and not name.isdigit()}


# Layers


class _Layer(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths
        _sides(pattern)

    def extra_repr(self) -> str:
        return ", ".join([repr(self.pattern), *(f"{k}={v}" for k, v in self.axes_lengths.items())])


class Rearrange(_Layer):
    """`rearrange` as a layer."""

    def forward(self, input):
        return rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(_Layer):
    """`reduce` as a layer."""

    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__(pattern, **axes_lengths)
        self.reduction = reduction

    def forward(self, input):
        return reduce(input, self.pattern, self.reduction, **self.axes_lengths)


class EinMix(_Layer):
    """A linear layer over named axes."""

    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__(pattern, **axes_lengths)
        missing = {
            a for a in (*weight_shape.split(), *(bias_shape or "").split()) if a not in axes_lengths and not a.isdigit()
        }
        if missing:
            raise EinopsError(f"Missing axes sizes: {_written_set(missing)}")
        self.weight_axes = weight_shape.split()
        self.bias_axes = None if bias_shape is None else bias_shape.split()
        self.weight = nn.Parameter(torch.empty([axes_lengths[a] for a in self.weight_axes]))
        self.bias = None if bias_shape is None else nn.Parameter(torch.empty([axes_lengths[a] for a in self.bias_axes]))

    def forward(self, input):
        left, right = _sides(self.pattern)
        source, target = _flat(left), _flat(right)
        known = {k: v for k, v in self.axes_lengths.items() if k in source}
        if any(len(g) != 1 for g in left):
            input = rearrange(input, f"{_written(left)} -> {' '.join(source)}", **known)
        lengths = {**self.axes_lengths, **dict(zip(source, input.shape))}
        made = einsum(input, self.weight, f"{' '.join(source)}, {' '.join(self.weight_axes)} -> {' '.join(target)}")
        if self.bias is not None:
            made = made + self.bias.reshape([lengths[a] if a in self.bias_axes else 1 for a in target])
        if any(len(g) != 1 for g in right):
            made = made.reshape([prod(lengths[a] for a in g) for g in right])
        return made


def _written(groups: Groups) -> str:
    return (
        " ".join(g[0] if len(g) == 1 else f"({' '.join(g)})" for g in groups)
        .replace(_INSIDE, "...")
        .replace(_ELLIPSIS, "...")
    )


NAMES: dict[str, Any] = {
    "einops.rearrange": rearrange,
    "einops.reduce": reduce,
    "einops.repeat": repeat,
    "einops.einsum": einsum,
    "einops.pack": pack,
    "einops.unpack": unpack,
    "einops.parse_shape": parse_shape,
    "einops.EinopsError": EinopsError,
    "einops.layers.torch.Rearrange": Rearrange,
    "einops.layers.torch.Reduce": Reduce,
    "einops.layers.torch.EinMix": EinMix,
}

# Unknown inputs

_USUAL = {"b": 2, "n": 12, "t": 12, "f": 4, "c": 3, "d": 64, "h": 8, "w": 8, "heads": 4, "i": 12, "j": 12}


def shape_for(pattern: Any, given: dict[str, Any]) -> tuple[int, ...] | None:
    """A shape that a pattern takes, as far as its sizes are given; None if it does not say how many dimensions there
    are."""
    try:
        left = _groups(str(pattern).partition("->")[0])
    except EinopsError:
        return None
    if [_ELLIPSIS] in left:
        left = [[] if g == [_ELLIPSIS] else g for g in left]
    sizes = {k: v for k, v in given.items() if isinstance(v, int)}
    return tuple(prod(sizes.get(a, int(a) if a.isdigit() else _USUAL.get(a, 8)) for a in group) for group in left)
