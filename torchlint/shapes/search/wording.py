"""A refusal in one line, as a person would say it: who takes what and gets what, and why torch does not take it."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.notation import shape_text
from torchlint.printable import shortened
from torchlint.shapes.core.held_parts import own_weights_of
from torchlint.shapes.core.standins import Samples
from torchlint.shapes.language import program
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.search import reasons
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.ranges import RangeError

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
_LIBRARIES = ("torch", "np", "numpy", "nn", "F")
LONGEST = 24  # of the texts of a program that stand in a message
_TENSORS = 3  # of a list that are shown


class WrittenCall(NamedTuple):
    """How the arguments of a call are written, as far as it is known which is which."""

    positional: tuple[ast.expr, ...] = ()
    named: Mapping[str, ast.expr] = {}

    def node(self, key: int | str) -> ast.expr | None:
        if isinstance(key, str):
            return self.named.get(key)
        return self.positional[key] if key < len(self.positional) else None

    def at(self, key: int | str) -> str | None:
        """The text of one argument, if it is a short one."""
        return text_of(self.node(key))

    def called(self, key: int | str) -> str | None:
        """The same where the program's own names are in it: `torch.zeros(2, 3)` says no more than a shape does."""
        node = self.node(key)
        names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name)) if node is not None else ()
        return text_of(node) if any(name not in _LIBRARIES for name in names) else None

    def after(self, count: int) -> WrittenCall:
        """The same without the first arguments."""
        return WrittenCall(self.positional[count:], self.named)


def text_of(node: ast.expr | None) -> str | None:
    """How an argument is written, if that is short."""
    if node is None:
        return None
    text = ast.unparse(node)
    text = text[1:-1] if isinstance(node, ast.Tuple) and any(isinstance(n, ast.Slice) for n in node.elts) else text
    return text if len(text) <= LONGEST and "\n" not in text else None


def written(failure: FailedOperation, count: int) -> WrittenCall:
    """The texts of what a failed call was given; with one argument more than stands there, the first is what stands
    before the dot.
    """
    node = program.node_at(failure.place)
    if isinstance(node, ast.BinOp):
        return WrittenCall((node.left, node.right))
    if isinstance(node, ast.AugAssign):
        return WrittenCall((node.target, node.value))
    if isinstance(node, ast.Subscript):
        return WrittenCall((node.value, node.slice))
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return WrittenCall()
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name_of_function(failure.function) == "backward" and called.startswith(("train", "fit")):
        return WrittenCall()  # `trainer.train()` takes the loss back
    owner = [node.func.value] if count == len(node.args) + 1 and called else []
    return WrittenCall((*owner, *node.args), {k.arg: k.value for k in node.keywords if k.arg})


def of_layer(layer: nn.Module, name: str, args: tuple, text: str, kind: str, texts: WrittenCall) -> str | None:
    """What a layer takes and what it gets."""
    given = texts.called(0)
    if args and isinstance(args[0], tuple) and any(isinstance(v, torch.Tensor) for v in args[0]):
        return f"{name} takes a tensor but gets {f'`{given}`, ' if given else ''}a tuple of {len(args[0])}"
    value = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if value is None:
        return None
    wanted, got = _conflict(layer, value, operand(value, given))
    if wanted is not None:
        return f"{name} takes {wanted} but gets {got}"
    weight = next((p for p in own_weights_of(layer)), None)
    if kind == "dtype" and weight is not None and weight.dtype != value.dtype:
        return f"{name} has {dtype_of(weight)} weights but gets {operand(value, given, kind)}"
    all_given = [_several(a, texts.called(i), kind) for i, a in enumerate(args) if a is not None]
    counted = Counter(all_given).items()
    shown = " and ".join(one if often == 1 else f"{one}, {often} times" for one, often in counted)
    kind_of_layer = type(layer).__name__
    title = name if name == kind_of_layer else f"{name} ({kind_of_layer})"
    return f"{title} cannot take {shown}: {reasons.in_words(text, kind_of_layer)}"


def _several(value: Any, text: str | None, kind: str) -> str:
    if _has_tensors(value) and not isinstance(value, torch.Tensor):
        return f"`{text}` {shape_of(value)}" if text else shape_of(value)[1:-1]
    return operand(value, text, kind)


def _conflict(layer: nn.Module, value: torch.Tensor, called: str) -> tuple[str | None, str]:
    """What a layer takes, and what it gets in a value that is `called` so."""
    shape = tuple(value.shape)
    match layer:
        case nn.Linear() if shape and shape[-1] != layer.in_features:
            return f"{layer.in_features} features", f"{shape[-1]} in {called}"
        case (
            nn.Conv1d() | nn.Conv2d() | nn.Conv3d() | nn.ConvTranspose1d() | nn.ConvTranspose2d() | nn.ConvTranspose3d()
        ):
            rank = len(layer.kernel_size)
            if value.dim() not in (rank + 1, rank + 2):
                return (f"{rank + 2} dimensions (batch, channels{', size' * rank})", f"{value.dim()} in {called}")
            if shape[-rank - 1] != layer.in_channels:
                return f"{layer.in_channels} channels", f"{shape[-rank - 1]} in {called}"
        case nn.BatchNorm1d() | nn.BatchNorm2d() | nn.BatchNorm3d() if (
            value.dim() > 1 and shape[1] != layer.num_features
        ):
            return f"{layer.num_features} features", f"{shape[1]} in {called}"
        case nn.LayerNorm() if shape[-len(layer.normalized_shape) :] != tuple(layer.normalized_shape):
            wanted = ", ".join(map(str, layer.normalized_shape))
            return f"{wanted} as last size", called
        case nn.GroupNorm() if value.dim() > 1 and shape[1] != layer.num_channels:
            return f"{layer.num_channels} channels", f"{shape[1]} in {called}"
        case nn.RNNBase() if value.dim() in (2, 3) and shape[-1] != layer.input_size:
            return f"{layer.input_size} features", f"{shape[-1]} in {called}"
        case nn.MultiheadAttention() if shape[-1:] != (layer.embed_dim,):
            return f"{layer.embed_dim} features", f"{shape[-1] if shape else 0} in {called}"
        case nn.Embedding() if value.dtype not in (torch.int64, torch.int32):
            return "whole numbers (long)", f"{called} {dtype_of(value)}"
    return None, ""


def of_function(function: Any, args: tuple, kwargs: dict[str, Any], text: str, kind: str, texts: WrittenCall) -> str:
    """What an operation or a constructor gets, and why that fails."""
    name, owner = name_of_function(function), getattr(function, "__self__", None)
    if function is bool and args and isinstance(args[0], torch.Tensor):
        return f"{operand(args[0], texts.called(0))} is neither true nor false: {reasons.in_words(text)}"
    if args and type(args[0]) is Samples:
        shapes = [tuple(sample.shape) for sample in args[0]]
        other = next((shape for shape in shapes if shape != shapes[0]), shapes[0])
        return f"samples that become one batch differ: one is {shapes[0]}, another {other}"
    if isinstance(function, type) or name == "__init__" and owner is not None:
        made = name if isinstance(function, type) else type(owner).__name__
        return f"{made}({_given(args, kwargs, texts, 'made')}) cannot be made: {reasons.in_words(text)}"
    if name in ("view", "reshape") and args and isinstance(args[0], torch.Tensor):
        wants = reasons.of_elements(args[0], args[1:], text)
        if wants is not None:
            return (
                f"{name}({_given(args[1:], kwargs, texts.after(1))}) {wants.format(operand(args[0], texts.called(0)))}"
            )
    if name == "backward" and "only for scalar outputs" in text and isinstance(args[0], torch.Tensor):
        return f"backward() wants one number but {operand(args[0], texts.called(0))} has {args[0].numel()}"
    symbol = SYMBOLS.get(name) or _PRODUCTS.get(name)
    called = tuple(
        f"`{texts.called(i)}`" if texts.called(i) else word for i, word in enumerate(("the first", "the second"))
    )
    why = reasons.of_sizes(name, function, args, kwargs, text, called, name in SYMBOLS)
    why = why or reasons.in_words(text, name)
    if symbol and len(args) == 2 and not kwargs:
        left, right = (operand(value, texts.called(i), kind) for i, value in enumerate(args))
        return f"{left} {symbol} {right} does not work: {why}"
    if function is operator.getitem:
        index = texts.at(1)
        index = f" by `[{index[1:-1] if index.startswith('(') else index}]`" if index else ""
        return f"{operand(args[0], texts.called(0))} cannot be indexed{index}: {why}"
    if function is operator.setitem:
        return f"items of {operand(args[0], texts.called(0))} cannot be set this way: {why}"
    if args and isinstance(args[0], torch.Tensor) and getattr(torch.Tensor, name, None) is function:
        given = _given(args[1:], kwargs, texts.after(1))
        return f"{name}({given}) fails on {operand(args[0], texts.called(0), kind)}: {why}"
    prefix = f"{type(owner).__name__}." if isinstance(owner, (nn.Module, torch.optim.Optimizer)) else ""
    written_out = _written_out(args, kwargs, texts, kind)
    if written_out is not None:
        return f"{prefix}{name}({written_out[0]}) fails on {written_out[1]}: {why}"
    return f"{prefix}{name}({_given(args, kwargs, texts, kind)}) fails: {why}"


def name_of_function(function: Any) -> str:
    """`linalg.inv` for `linalg_inv`, which torch has as one word."""
    name = getattr(function, "__name__", type(function).__name__)
    folder = next((f for f in _FOLDERS if name.startswith(f)), "")
    return f"{folder[:-1]}.{name.removeprefix(folder)}" if folder else name


def _written_out(args: tuple, kwargs: Mapping[str, Any], texts: WrittenCall, kind: str) -> tuple[str, str] | None:
    """The arguments of a call as they are written, and the shapes of their tensors, if all of them have names."""
    shown, shapes = [], []
    for key, value in (*enumerate(args), *kwargs.items()):
        text = _argument(value, texts.at(key), kind)
        if _has_tensors(value):
            shapes.append(text)
            text = texts.called(key)
            if text is None:
                return None
        shown.append(text if isinstance(key, int) else f"{key}={text}")
    return (", ".join(shown), " and ".join(shapes)) if shapes else None


def of_range(error: RangeError, name: str) -> str:
    """A number that is there, where fewer are counted."""
    known = f"0 to {error.size - 1}" if error.size > 1 else "0 alone"
    if name == "getitem":
        return f"an index reaches {error.number}, where there is {known}"
    return f"`{name}` takes {known}, and gets {error.number}"


def _has_tensors(value: Any) -> bool:
    several = isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value)
    return several or isinstance(value, torch.Tensor)


def _given(args: tuple, kwargs: Mapping[str, Any], texts: WrittenCall, kind: str = "") -> str:
    """The arguments of a call: values that say something, and for all others how they are written."""
    shown = [_argument(value, texts.at(position), kind) for position, value in enumerate(args)]
    return ", ".join([*shown, *(f"{name}={_argument(value, texts.at(name), kind)}" for name, value in kwargs.items())])


def _argument(value: Any, text: str | None, kind: str) -> str:
    if isinstance(value, torch.Tensor):
        return operand(value, kind=kind)
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


def shape_of(value: Any) -> str:
    """A value as messages show it: no stand-in, nothing that only we can read."""
    if isinstance(value, torch.Tensor):
        return shape_text(wild.sizes_of(value))
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return (
            "["
            + ", ".join(map(shape_of, value[:_TENSORS]))
            + (f", … {len(value)} tensors]" if len(value) > _TENSORS else "]")
        )
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, torch.Size):
        return str(tuple(value))
    if not _says_itself(value) and not isinstance(value, dict):
        return getattr(value, "__name__", None) or f"a {type(value).__name__}"
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes out
        text = "…"
    return shortened(text, 60)


def operand(value: Any, text: str | None = None, kind: str = "") -> str:
    """A tensor as the program calls it, with its shape, and its dtype where the dtype is what matters."""
    if not isinstance(value, torch.Tensor):
        return shape_of(value)
    shown = f"{shape_of(value)} {dtype_of(value)}" if kind == "dtype" else shape_of(value)
    return f"`{text}` {shown}" if text else shown


def dtype_of(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
