"""From the list that a recording keeps to torch.fx nodes, and to the words for each of them."""

from __future__ import annotations

import functools
import inspect
import operator
import re
import types
from typing import Any

import torch
from torch import fx, nn

from torchlint.printable import shortened
from torchlint.shapes.core.held_parts import named_buffers_of, named_modules_of, named_weights_of
from torchlint.shapes.core.layer_settings import settings_of
from torchlint.shapes.record.entries import Record, RecordedCall, tensors_in, value_of

_PLAIN = (int, float, complex, str, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout, type(...))
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "floordiv": "//", "mod": "%",
    "and": "&", "or": "|", "xor": "^", "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "invert": "~",
    "truediv": "/", "radd": "+", "rsub": "-", "rmul": "*", "rtruediv": "/", "rdiv": "/", "rpow": "**",
}  # fmt: skip


_USUAL = (
    ("padding", 0),
    ("dilation", 1),
    ("stride", None),
    ("ceil_mode", False),
    ("return_indices", False),
    ("inplace", False),
)


class Built:
    """A graph, with the layers and constants that its nodes name."""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.attributes: dict[str, Any] = {}
        self._module: fx.GraphModule | None = None

    def module(self) -> fx.GraphModule:
        if self._module is None:
            self._module = fx.GraphModule(self.attributes, self.graph, "Forward")
        return self._module


def build(recording: Record) -> Built:
    """The torch.fx graph of a recording."""
    return _Builder(recording).run()


class _Builder:
    def __init__(self, recording: Record):
        self.recording = recording
        self.built = Built()
        self.graph = self.built.graph
        self.nodes: dict[int, fx.Node] = {}
        self.known = {
            **{id(t): name for name, t in named_weights_of(recording.module)},
            **{id(t): name for name, t in named_buffers_of(recording.module)},
        }
        self.modules = {id(m): name for name, m in named_modules_of(recording.module)}

    def run(self) -> Built:
        for name, value in self.recording.inputs.items():
            if isinstance(value, torch.Tensor):
                self._placeholder(name, value)
            else:
                for position, tensor in enumerate(tensors_in(value)):
                    self._placeholder(f"{name}_{position}", tensor)
        for number, entry in enumerate(self.recording.entries):
            node = self._call(entry)
            node.meta.update(number=number, place=entry.place, path=entry.path, scope=entry.scope, label=label(entry))
            if entry.error:
                node.meta["error"] = entry.error
                return self.built
            self._give(node, entry.result)
        if not self.recording.error:
            self.graph.output(self._argument(self.recording.result))
        return self.built

    def _placeholder(self, name: str, tensor: torch.Tensor) -> None:
        node = self.graph.placeholder(re.sub(r"\W", "_", name))
        node.meta["val"] = value_of(tensor)
        self.nodes[id(tensor)] = node

    def _give(self, node: fx.Node, result: Any) -> None:
        """Say which node a result comes from; the items of a tuple get nodes of their own."""
        if isinstance(result, torch.Tensor):
            node.meta["val"] = value_of(result)
            self.nodes[id(result)] = node
        elif isinstance(result, (tuple, list)):
            node.meta["val"] = [value_of(r) for r in result if isinstance(r, torch.Tensor)]
            for position, item in enumerate(result):
                if isinstance(item, (torch.Tensor, tuple, list)):
                    part = self.graph.call_function(operator.getitem, (node, position))
                    part.meta.update({k: v for k, v in node.meta.items() if k != "val"})
                    self._give(part, item)

    def _call(self, entry: RecordedCall) -> fx.Node:
        args = tuple([self._argument(a) for a in entry.args])
        kwargs = {name: self._argument(value) for name, value in entry.kwargs.items()}
        function = entry.function
        if isinstance(function, nn.Module):
            return self.graph.call_module(self._attribute(function, self.modules.get(id(function))), args, kwargs)
        name = getattr(function, "__name__", "")
        if name == "__get__":
            return self.graph.call_function(getattr, (args[0], function.__self__.__name__))
        if isinstance(entry.args[0] if entry.args else None, torch.Tensor) and _is_method(function, name):
            return self.graph.call_method(name, args, kwargs)
        return self.graph.call_function(function, args, kwargs)

    def _argument(self, value: Any) -> Any:
        """An argument as fx takes it: nodes for tensors, constants for the rest."""
        if isinstance(value, torch.Tensor):
            return self.nodes.get(id(value)) or self._constant(value, self.known.get(id(value)))
        if isinstance(value, torch.Size):
            return list(value)
        if (
            isinstance(value, tuple)
            and hasattr(value, "_fields")
            or type(value) not in (list, tuple, dict, slice)
            and not isinstance(value, _PLAIN)
        ):
            return self._constant(value, None)
        if type(value) in (list, tuple):
            return type(value)([self._argument(v) for v in value])
        if type(value) is dict and all(isinstance(k, str) for k in value):
            return {k: self._argument(v) for k, v in value.items()}
        return value if type(value) is not dict else self._constant(value, None)

    def _constant(self, value: Any, name: str | None) -> fx.Node:
        node = self.graph.create_node("get_attr", self._attribute(value, name))
        if isinstance(value, torch.Tensor):
            node.meta["val"] = value_of(value)
            self.nodes[id(value)] = node
        return node

    def _attribute(self, value: Any, name: str | None) -> str:
        attributes = self.built.attributes
        if not name:
            kind = "layer" if isinstance(value, nn.Module) else "constant"
            name = next((n for n, v in attributes.items() if v is value), None) or f"_{kind}_{len(attributes)}"
        attributes[name] = value
        return name


def _is_method(function: Any, name: str) -> bool:
    return (
        isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType))
        or getattr(torch.Tensor, name, None) is function
    )


# Words


def label(entry: RecordedCall) -> str:
    """What a table calls an operation: `Linear(10, 20, bias=True)`, `flatten(1)`, `+`."""
    function = entry.function
    if isinstance(function, nn.Module):
        return f"{type(function).__name__}({_settings(function)})"
    name = getattr(function, "__name__", type(function).__name__)
    if name == "__get__":
        return function.__self__.__name__
    if name == "__getitem__" or name == "__setitem__":
        return f"[{_index(entry.args[1])}]" + (" =" if name == "__setitem__" else "")
    sign = _SIGNS.get(name.strip("_"))
    if sign and not entry.kwargs and all(isinstance(a, (torch.Tensor, int, float)) for a in entry.args):
        return " ".join([sign, *[_text(a) for a in entry.args if not isinstance(a, torch.Tensor)]])
    usual = _defaults(function)
    named = {n: v for n, v in entry.kwargs.items() if not (n in usual and v is usual[n] or (n, v) in _USUAL)}
    rest = [_text(a) for a in entry.args] + [f"{n}={_text(v)}" for n, v in named.items() if _text(v)]
    return f"{name}({', '.join(t for t in rest if t)})"


@functools.lru_cache(maxsize=1000)
def _defaults(function: Any) -> dict[str, Any]:
    """What the arguments of a function of torch are unless they are given."""
    if not isinstance(function, types.FunctionType):
        return {}
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if isinstance(p.default, (int, float, str, type(None)))}


def _settings(module: nn.Module) -> str:
    said = settings_of(module)
    if said or not module._modules:
        return said
    facts = [(n, getattr(module, n, None)) for n in ("embed_dim", "d_model", "num_heads", "nhead", "num_layers")]
    return ", ".join(f"{n}={v}" for n, v in facts if isinstance(v, int))


def _index(value: Any) -> str:
    """An index as it is written between brackets."""
    if isinstance(value, tuple):
        return ", ".join(map(_index, value))
    if isinstance(value, slice):
        parts = ["" if p is None else str(p) for p in (value.start, value.stop, value.step)]
        return ":".join(parts if parts[2] else parts[:2])
    return "…" if value is ... else "tensor" if isinstance(value, torch.Tensor) else _text(value)


def _text(value: Any) -> str:
    """An argument in a label; tensors stand in columns of their own."""
    if (
        isinstance(value, torch.Tensor)
        or isinstance(value, (list, tuple))
        and any(isinstance(v, torch.Tensor) for v in value)
    ):
        return ""
    if isinstance(value, _PLAIN) or isinstance(value, (list, tuple)):
        return shortened(repr(tuple(value) if isinstance(value, torch.Size) else value), 60)
    return type(value).__name__
