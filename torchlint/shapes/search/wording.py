"""A refusal in one line, as a person would say it: who takes what and gets what, and why torch does not take it."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.shapes.language import program
from torchlint.shapes.machine.machine import Failure
from torchlint.shapes.search.conflicts import of_call

SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "iadd": "+=",
    "isub": "-=",
    "imul": "*=",
    "itruediv": "/=",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "pow": "**",
    "floordiv": "//",
    "mod": "%",
}
_PRODUCTS = {"matmul": "@", "__matmul__": "@", "mm": "@", "bmm": "@"}
_FOLDERS = ("linalg_", "fft_", "special_")  # of functions that torch itself calls `linalg_inv`
_LONGEST = 24  # of the texts of a program that stand in a message
_REASON = 150  # characters that are quoted of torch
_TENSORS = 3  # of a list that are shown


class Written(NamedTuple):
    """How the arguments of a call are written, as far as it is known which is which."""

    positional: tuple[str, ...] = ()
    named: Mapping[str, str] = {}

    def at(self, key: int | str) -> str | None:
        """The text of one argument, if it is a short one."""
        text = (
            self.named.get(key)
            if isinstance(key, str)
            else self.positional[key]
            if key < len(self.positional)
            else None
        )
        return text if text is not None and len(text) <= _LONGEST and "\n" not in text else None


def written(failure: Failure, count: int) -> Written:
    """The texts of what a failed call was given; with one argument more than stands there, the first is what stands
    before the dot.
    """
    node = program.node_at(failure.place)
    if isinstance(node, ast.BinOp):
        return Written((ast.unparse(node.left), ast.unparse(node.right)))
    if isinstance(node, ast.Subscript):
        return Written((ast.unparse(node.value), ast.unparse(node.slice)))
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return Written()
    owner = [node.func.value] if count == len(node.args) + 1 and isinstance(node.func, ast.Attribute) else []
    return Written(
        tuple(map(ast.unparse, [*owner, *node.args])), {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg}
    )


def of_layer(layer: nn.Module, name: str, args: tuple, text: str, kind: str) -> str | None:
    """What a layer takes and what it gets."""
    value = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if value is None:
        return None
    wanted, got = _conflict(layer, value)
    if wanted is not None:
        return f"{name} takes {wanted} but gets {got}"
    weight = next((p for p in layer.parameters(recurse=False)), None)
    if kind == "dtype" and weight is not None and weight.dtype != value.dtype:
        return f"{name} has {dtype_of(weight)} weights but gets {dtype_of(value)} of shape {shape_of(value)}"
    others = "".join(f" and {_several(a)}" for a in args[1:] if a is not None)
    kind_of_layer = type(layer).__name__
    title = name if name == kind_of_layer else f"{name} ({kind_of_layer})"
    return f"{title} cannot take {_operand(value, kind)}{others}: {_reason(text)}"


def _several(value: Any) -> str:
    return (
        shape_of(value)[1:-1]
        if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value)
        else shape_of(value)
    )


def _conflict(layer: nn.Module, value: torch.Tensor) -> tuple[str | None, str]:
    shape = tuple(value.shape)
    match layer:
        case nn.Linear() if shape and shape[-1] != layer.in_features:
            return f"{layer.in_features} features", f"{shape[-1]} in {shape_of(value)}"
        case (
            nn.Conv1d() | nn.Conv2d() | nn.Conv3d() | nn.ConvTranspose1d() | nn.ConvTranspose2d() | nn.ConvTranspose3d()
        ):
            rank = len(layer.kernel_size)
            if value.dim() not in (rank + 1, rank + 2):
                return (
                    f"{rank + 2} dimensions (batch, channels{', size' * rank})",
                    f"{value.dim()} in {shape_of(value)}",
                )
            if shape[-rank - 1] != layer.in_channels:
                return f"{layer.in_channels} channels", f"{shape[-rank - 1]} in {shape_of(value)}"
        case nn.BatchNorm1d() | nn.BatchNorm2d() | nn.BatchNorm3d() if (
            value.dim() > 1 and shape[1] != layer.num_features
        ):
            return f"{layer.num_features} features", f"{shape[1]} in {shape_of(value)}"
        case nn.LayerNorm() if shape[-len(layer.normalized_shape) :] != tuple(layer.normalized_shape):
            wanted = ", ".join(map(str, layer.normalized_shape))
            return f"{wanted} as last size", shape_of(value)
        case nn.GroupNorm() if value.dim() > 1 and shape[1] != layer.num_channels:
            return f"{layer.num_channels} channels", f"{shape[1]} in {shape_of(value)}"
        case nn.RNNBase() if value.dim() in (2, 3) and shape[-1] != layer.input_size:
            return f"{layer.input_size} features", f"{shape[-1]} in {shape_of(value)}"
        case nn.MultiheadAttention() if shape[-1:] != (layer.embed_dim,):
            return f"{layer.embed_dim} features", f"{shape[-1] if shape else 0} in {shape_of(value)}"
        case nn.Embedding() if value.dtype not in (torch.int64, torch.int32):
            return "whole numbers (long)", f"{dtype_of(value)} of shape {shape_of(value)}"
    return None, ""


def of_function(function: Any, args: tuple, kwargs: dict[str, Any], text: str, kind: str, texts: Written) -> str:
    """What an operation or a constructor gets, and why that fails."""
    name, owner = name_of_function(function), getattr(function, "__self__", None)
    if isinstance(function, type) or name == "__init__" and owner is not None:
        made = name if isinstance(function, type) else type(owner).__name__
        return f"{made}({_given(args, kwargs, texts, 'made')}) cannot be made: {_reason(text)}"
    why = _disagreement(name, function, args, kwargs, text) or _reason(text, name)
    symbol = SYMBOLS.get(name) or _PRODUCTS.get(name)
    if symbol and len(args) == 2 and not kwargs:
        return f"{_operand(args[0], kind)} {symbol} {_operand(args[1], kind)} does not work: {why}"
    if function is operator.getitem:
        return f"a tensor of shape {shape_of(args[0])} cannot be indexed this way: {why}"
    if function is operator.setitem:
        return f"items of a tensor of shape {shape_of(args[0])} cannot be set this way: {why}"
    if args and isinstance(args[0], torch.Tensor) and getattr(torch.Tensor, name, None) is function:
        given = _given(args[1:], kwargs, Written(texts.positional[1:], texts.named))
        return f"{name}({given}) fails on {_operand(args[0], kind)}: {why}"
    prefix = f"{type(owner).__name__}." if isinstance(owner, (nn.Module, torch.optim.Optimizer)) else ""
    return f"{prefix}{name}({_given(args, kwargs, texts, kind)}) fails: {why}"


def name_of_function(function: Any) -> str:
    """`linalg.inv` for `linalg_inv`, which torch has as one word."""
    name = getattr(function, "__name__", type(function).__name__)
    folder = next((f for f in _FOLDERS if name.startswith(f)), "")
    return f"{folder[:-1]}.{name.removeprefix(folder)}" if folder else name


def _given(args: tuple, kwargs: Mapping[str, Any], texts: Written, kind: str = "") -> str:
    """The arguments of a call: values that say something, and for all others how they are written."""
    shown = [_argument(value, texts.at(position), kind) for position, value in enumerate(args)]
    return ", ".join([*shown, *(f"{name}={_argument(value, texts.at(name), kind)}" for name, value in kwargs.items())])


def _argument(value: Any, text: str | None, kind: str) -> str:
    if isinstance(value, torch.Tensor):
        return _operand(value, kind)
    says = _says_itself(value) and not (
        kind == "made" and isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value)
    )
    return shape_of(value) if says or text is None else text


def _says_itself(value: Any) -> bool:
    """Whether a value is what a person would write there: a number, a text, a list of them."""
    if isinstance(value, (list, tuple)):
        return all(map(_says_itself, value))
    return value is None or isinstance(
        value, (bool, int, float, str, torch.dtype, torch.device, torch.Tensor, slice, type(...))
    )


def _disagreement(name: str, function: Any, args: tuple, kwargs: dict[str, Any], text: str) -> str | None:
    """Which sizes do not fit, where that can be said better than torch does."""
    if name in ("view", "reshape") and args and isinstance(args[0], torch.Tensor):
        return _elements(args[0], args[1:], text)
    pair = of_call(function, args, kwargs, text)
    if pair is None or not all(isinstance(size, int) for size in pair):
        return None
    if name.strip("_") in ("matmul", "mm", "bmm") and len(args) == 2:
        left, right = args
        inner = left.shape[-1], right.shape[-2] if right.dim() > 1 else right.shape[0]
        return (
            f"{inner[0]} columns meet {inner[1]} rows"
            if inner[0] != inner[1]
            else f"batches of {pair[1]} and {pair[0]}"
        )
    if SYMBOLS.get(name) or name in ("cat", "concat", "concatenate"):
        first, second = pair if "cat" in name else pair[::-1]
        kept = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else 0)) if "cat" in name else None
        return f"sizes {first} and {second} disagree" + (
            f", only those of dimension {kept} may" if isinstance(kept, int) else ""
        )
    return None


def _elements(tensor: torch.Tensor, sizes: tuple, text: str) -> str | None:
    """How many elements a shape wants, and how many there are."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
    if "not compatible" in text:
        return (
            "its elements lie in another order in memory, since it was transposed, permuted or sliced: `reshape` copies"
            " them"
        )
    if not sizes or not all(isinstance(s, int) for s in sizes):
        return None
    wanted, there = prod(s for s in sizes if s != -1), tensor.numel()
    if -1 in sizes and wanted > 0 and there % wanted:
        return f"{there} elements are no multiple of {wanted}"
    return f"{there} elements for {wanted}" if -1 not in sizes and wanted != there else None


def _reason(text: str, name: str = "") -> str:
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
    return first if len(first) <= _REASON else first[:_REASON].rsplit(" ", 1)[0] + " …"


def shape_of(value: Any) -> str:
    """A value as messages show it: no stand-in, nothing that only we can read."""
    if isinstance(value, torch.Tensor):
        return "(" + ", ".join(map(str, value.shape)) + ("," if value.dim() == 1 else "") + ")"
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return (
            "["
            + ", ".join(map(shape_of, value[:_TENSORS]))
            + (f", … {len(value)} tensors]" if len(value) > _TENSORS else "]")
        )
    if isinstance(value, type):
        return value.__name__
    if not _says_itself(value) and not isinstance(value, (dict, torch.Size)):
        return getattr(value, "__name__", None) or f"a {type(value).__name__}"
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes out
        text = "…"
    return text if len(text) < 60 else text[:57] + "…"


def _operand(value: Any, kind: str = "") -> str:
    """A shape, with its dtype where the dtype is what matters."""
    return (
        f"{shape_of(value)} {dtype_of(value)}"
        if kind == "dtype" and isinstance(value, torch.Tensor)
        else shape_of(value)
    )


def dtype_of(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
