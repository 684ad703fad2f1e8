"""Each forward becomes a torch.fx graph while it runs: operations and torch's own layers, with values and places.

    recorder = Recorder(where=lambda: machine.place)
    with recorder.watch(model, {"x": x}) as recording:     # inside dry_tensors()
        recording.result = model(x)
    recording.graph          torch.fx.Graph, made on demand; what raised is its last node, node.meta["error"] the text
    recording.graph_module() the same as a torch.fx.GraphModule
    recording.rows()         the same as a table
    recording.parts()        the recordings of the program's own modules within

`node.meta` holds `val` (TensorType, or a list of them), `place` (path, Span), `path` (the module's name,
`layers.0.attn`) and `scope` (the class).
Calls of torch-native layers are `call_module`, everything else `call_function` or `call_method`. A recording only
keeps a list while it runs (a microsecond an operation); without a recorder nothing is kept.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.nn.parameter import UninitializedTensorMixin

from torchlint.shapes.core.held_parts import named_modules_of, weights_of
from torchlint.shapes.core.values import Stop, UnknownUsed, words_of
from torchlint.shapes.language import functions
from torchlint.shapes.record import graph_nodes
from torchlint.shapes.record.entries import ModuleCall, Place, Record, RecordedCall, TensorType, tensors_in, value_of
from torchlint.shapes.tensors import device_tags

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_original_call = nn.Module.__call__


class GraphRow(NamedTuple):
    """One operation or layer of a forward, as `torchlint shapes` shows it."""

    place: Place | None
    path: str  # of the module that did it; of the layer itself if it is one
    label: str  # "Conv2d(3, 64, kernel_size=(7, 7))", "flatten(1)"
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    parameters: int
    error: str


class Recording(Record):
    """What one forward did, and the torch.fx graph of it."""

    def __init__(self, module: nn.Module, inputs: Mapping[str, Any], path: str = ""):
        super().__init__(module, inputs, path)
        self._graph: graph_nodes.Built | None = None

    @property
    def graph(self) -> fx.Graph:
        """The forward as a torch.fx graph."""
        return self._build().graph

    def graph_module(self) -> fx.GraphModule:
        """The forward as a module that torch.fx can transform and run."""
        return self._build().module()

    def _build(self) -> graph_nodes.Built:
        if self._graph is None:
            self._graph = graph_nodes.build(self)
        return self._graph

    def rows(self) -> list[GraphRow]:
        """The forward as a table, in the order it ran."""
        return [row_of(entry) for entry in self.entries]

    def parts(self) -> list[Recording]:
        """The recordings of the program's own modules that ran within, in the order they ended."""
        return [self._part(scope) for scope in self.scopes]

    def _part(self, scope: ModuleCall) -> Recording:
        part = Recording(scope.module, scope.inputs, scope.path)
        part.entries = self.entries[scope.first : scope.last]
        part.result = scope.result
        part.scopes = [
            inner._replace(first=inner.first - scope.first, last=inner.last - scope.first)
            for inner in self.scopes
            if inner is not scope
            and scope.first <= inner.first
            and inner.last <= scope.last
            and inner.path != scope.path
        ]
        part.error = part.entries[-1].error if part.entries else ""
        return part

    def producer(self, tensor: torch.Tensor) -> GraphRow | None:
        """The operation that made a tensor: the other party of an error."""
        for entry in reversed(self.entries):
            if not entry.error and any(t is tensor for t in tensors_in(entry.result)):
                return row_of(entry)
        return None


class Recorder:
    """Records forwards; `where` tells the place in the source that runs just now."""

    def __init__(self, where: Callable[[], Place | None]):
        self.where = where
        self._recordings: list[Recording] = []
        self._names: list[dict[int, str]] = []
        self._paths: list[tuple[str, str]] = []

    @contextmanager
    def watch(self, module: nn.Module, inputs: Mapping[str, Any]) -> Iterator[Recording]:
        """Record what runs inside. Within another `watch` this starts a recording of its own, and the outer one goes
        on."""
        recording = Recording(module, inputs)
        self._recordings.append(recording)
        self._names.append({id(m): name for name, m in named_modules_of(module)})
        self._paths.append(("", type(module).__name__))
        before = nn.Module.__call__
        if len(self._recordings) == 1:
            nn.Module.__call__ = self._patched()
        device_tags.observers.append(self._observe)
        try:
            yield recording
        except Exception as error:
            recording.error = words_of(error)
            raise
        finally:
            device_tags.observers.pop()
            nn.Module.__call__ = before
            for stack in (self._recordings, self._names, self._paths):
                stack.pop()

    def _observe(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Run a torch function and write it down if tensors come of it."""
        return self._write(function, args, kwargs, device_tags.run, self._paths[-1][0])

    def _write(self, function: Any, args: tuple, kwargs: dict[str, Any], run: Callable, path: str) -> Any:
        place = self.where()
        try:
            result = run(function, args, kwargs)
        except (UnknownUsed, AttributeError, Stop):
            raise
        except Exception as error:
            if not getattr(error, "torchlint_recorded", False):
                self._append(
                    RecordedCall(function, args, kwargs, None, place, path, self._paths[-1][1], words_of(error))
                )
                error.torchlint_recorded = True
            raise
        if (
            isinstance(result, (torch.Tensor, tuple, list))
            and type(result) is not torch.Size
            or function is torch.Tensor.__setitem__
        ):
            self._append(RecordedCall(function, args, kwargs, result, place, path, self._paths[-1][1], ""))
        return result

    def _append(self, entry: RecordedCall) -> None:
        for recording in self._recordings:
            recording.entries.append(entry)

    def _patched(self) -> Callable:
        """What stands in for `nn.Module.__call__` while something is recorded."""

        def call(module, *args, **kwargs):
            if device_tags.observers[-1] is None:
                return _original_call(module, *args, **kwargs)
            path = self._names[-1].get(id(module), "")
            if _is_native(module) and not isinstance(module, _CONTAINERS):
                return self._write(module, args, kwargs, _call_hidden, path)
            if module is self._recordings[-1].module:
                return _original_call(module, *args, **kwargs)
            return self._call_inside(module, path, args, kwargs)

        return call

    def _call_inside(self, module: nn.Module, path: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        recording = self._recordings[-1]
        first, result, place, failed = len(recording.entries), None, self.where(), True
        self._paths.append((path or self._paths[-1][0], type(module).__name__))
        try:
            result = _original_call(module, *args, **kwargs)
            failed = False
            return result
        finally:
            self._paths.pop()
            if not isinstance(module, _CONTAINERS):
                inputs = named_inputs(module, args, kwargs)
                recording.scopes.append(
                    ModuleCall(module, path, place, failed, first, len(recording.entries), inputs, result)
                )


def named_inputs(module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a forward by their names."""
    closure = functions.closure_of(type(module).forward)
    if closure is not None:
        names = closure.code.positional[1:]
    else:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = inspect.signature(type(module).forward).parameters.values()
        names = [p.name for p in parameters if p.kind in kinds][1:]
    named = {names[i] if i < len(names) else f"input_{i}": value for i, value in enumerate(args)}
    return {**named, **kwargs}


def _call_hidden(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> Any:
    device_tags.observers.append(None)
    try:
        return _original_call(module, *args, **kwargs)
    finally:
        device_tags.observers.pop()


def _is_native(module: nn.Module) -> bool:
    """Whether a module, and all within it, is torch's own."""
    return type(module).__module__.startswith(("torch.nn.", "torchlint.shapes.libraries.einops")) and all(
        map(_is_native, module._modules.values())
    )


def row_of(entry: RecordedCall) -> GraphRow:
    """What a table says of a call."""
    module = entry.function if isinstance(entry.function, nn.Module) else None
    inputs = tuple(value_of(t) for t in tensors_in((entry.args, dict(entry.kwargs))))
    parameters = (
        sum(p.numel() for p in weights_of(module) if not isinstance(p, UninitializedTensorMixin))
        if module is not None
        else 0
    )
    outputs = tuple(value_of(t) for t in tensors_in(entry.result))
    return GraphRow(entry.place, entry.path, graph_nodes.label(entry), inputs, outputs, parameters, entry.error)


def repropagate(graph_module: fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
    """Run a recorded graph on inputs of other sizes; the nodes get their new `val`. Raises what torch raises.

    Numbers that the program took from shapes are constants of the graph: where an operation refuses them, sizes of the
    old inputs
    are replaced by those of the new ones.
    """
    return _Propagation(graph_module, inputs).run(*inputs)


class _Propagation(fx.Interpreter):
    def __init__(self, module: fx.GraphModule, inputs: list[torch.Tensor]):
        super().__init__(module, garbage_collect_values=False)
        self.extra_traceback = False
        self._sizes: dict[int, int] = {}  # an old size -> what it is now

    def run_node(self, node: fx.Node) -> Any:
        before = node.meta.setdefault("recorded", node.meta.get("val"))
        result = super().run_node(node)
        found = [value_of(t) for t in tensors_in(result)]
        node.meta["val"] = found[0] if isinstance(result, torch.Tensor) else found
        if isinstance(before, TensorType) and isinstance(result, torch.Tensor) and len(before.shape) == result.dim():
            self._learn(before.shape, tuple(result.shape))
        return result

    def _learn(self, before: tuple[int, ...], now: tuple[int, ...]) -> None:
        """Remember sizes, and products of neighbouring sizes, that have changed."""
        for first in range(len(before)):
            for last in range(first + 1, len(before) + 1):
                old, new = math.prod(before[first:last]), math.prod(now[first:last])
                if old != new:
                    self._sizes[old] = new

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return self._adapting(super().call_function, target, args, kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return self._adapting(super().call_method, target, args, kwargs)

    def _adapting(self, call: Callable, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        try:
            return call(target, args, kwargs)
        except RuntimeError:
            other = fx.node.map_aggregate(args[1:], lambda v: self._sizes.get(v, v) if type(v) is int else v)
            if other == args[1:]:
                raise
            return call(target, (*args[:1], *other), kwargs)
