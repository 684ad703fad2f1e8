"""What a forward costs: its recorded graph is run once more, and multiply-adds and what autograd keeps are counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx, nn
from torch.nn.parameter import UninitializedTensorMixin
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from torchlint.shapes.core.held_parts import buffers_of, weights_of
from torchlint.shapes.core.table import Cost, ForwardCost
from torchlint.shapes.record.entries import tensors_in
from torchlint.shapes.record.graph import Recording
from torchlint.shapes.tensors import recurrent

_LONGEST = 256  # steps of a recurrent layer that are really done


def measure(recording: Recording) -> ForwardCost | None:
    """The costs of a forward that came to its end, step by step; None if its graph cannot be run again."""
    if recording.error or not recording.entries:
        return None
    known = [p for p in weights_of(recording.module) if not isinstance(p, UninitializedTensorMixin)]
    trainable = [p for p in known if p.requires_grad]
    held = [*known, *buffers_of(recording.module)]
    inputs = [
        tensor.detach().requires_grad_(tensor.requires_grad)
        for value in recording.inputs.values()
        for tensor in tensors_in(value)
    ]
    try:
        replay = _Replay(recording, {_storage(tensor) for tensor in held})
        with replay.listening(), recurrent.unrolled(_LONGEST):
            replay.run(*inputs)
    except Exception:  # an operation that depends on what the program did around it
        return None
    return ForwardCost(
        sum(p.numel() for p in trainable),
        sum(p.numel() for p in known) - sum(p.numel() for p in trainable),
        sum(map(_bytes, held)),
        sum(map(_bytes, trainable)),
        tuple(Cost(*cost) for cost in replay.costs),
        next((int(tensor.shape[0]) for tensor in inputs if tensor.dim()), 0),
    )


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


class _Replay(fx.Interpreter):
    """Runs a graph and knows which step each operation belongs to. `costs`: multiply-adds and kept bytes of each."""

    def __init__(self, recording: Recording, held: set[int]):
        super().__init__(recording.graph_module(), garbage_collect_values=False)
        self.extra_traceback = False
        self.costs = [[0, 0] for _ in recording.entries]
        self.fused = False
        self.factor = 1.0  # how many times what is made in a step is really made
        self._given: set[int] = set()  # what the step gets is there in full
        self._number = 0
        self._held = held
        self._alive: list[Any] = []  # a storage that is freed could give its place to another

    @contextmanager
    def listening(self) -> Iterator[None]:
        saved = torch.autograd.graph.saved_tensors_hooks(self.keep, lambda kept: kept)
        with torch.enable_grad(), saved, _Counter(self), _Fused(self):
            yield

    def run_node(self, node: fx.Node) -> Any:
        self._number = node.meta.get("number", self._number)
        layer = self.fetch_attr(str(node.target)) if node.op == "call_module" else None
        args = self.fetch_args_kwargs_from_env(node)[0] if isinstance(layer, nn.RNNBase) else ()
        self.factor = _unrolled(layer, args) if isinstance(layer, nn.RNNBase) else 1.0
        self._given = {_storage(tensor) for tensor in tensors_in(args)}
        return super().run_node(node)

    def count(self, flops: int) -> None:
        self.costs[self._number][0] += round(flops / 2 * self.factor)

    def keep(self, tensor: torch.Tensor) -> torch.Tensor:
        """What autograd keeps: each piece of memory once, and none that is there anyway."""
        storage = tensor.untyped_storage()
        if not self.fused and storage._cdata not in self._held:
            self._held.add(storage._cdata)
            self._alive.append(tensor)
            self.costs[self._number][1] += round(
                storage.nbytes() * (self.factor if storage._cdata not in self._given else 1)
            )
        return tensor


class _Fused(TorchFunctionMode):
    """Attention without dropout is one kernel, which keeps what it gets and gives, and a number for each row: without
    data torch does it in several operations, and would keep the scores, too.
    """

    def __init__(self, replay: _Replay):
        super().__init__()
        self.replay = replay

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        dropout = args[4] if len(args) > 4 else kwargs.get("dropout_p", 0.0)
        if function is not nn.functional.scaled_dot_product_attention or dropout:
            return function(*args, **kwargs)
        self.replay.fused = True
        try:
            result = function(*args, **kwargs)
            if (
                result.dim() == 4
            ):  # the heads of one row lie side by side in memory, so that joining them copies nothing
                result = result.transpose(1, 2).contiguous().transpose(1, 2)
        finally:
            self.replay.fused = False
        if result.requires_grad:
            for tensor in tensors_in((args, kwargs, result)):
                self.replay.keep(tensor)
            self.replay.keep(result.new_empty(result.shape[:-1], dtype=torch.float32))
        return result


class _Counter(TorchDispatchMode):
    """Hears every operation and adds up what torch's own formulas say of it."""

    def __init__(self, replay: _Replay):
        super().__init__()
        self.replay = replay

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        formula = flop_registry.get(function._overloadpacket)
        if formula is not None:
            self.replay.count(formula(*args, **(kwargs or {}), out_val=result))
        return result


def _unrolled(layer: nn.RNNBase, args: tuple) -> float:
    """How many times more steps a recurrent layer takes than are done here."""
    sequence = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if sequence is None or sequence.dim() != 3:
        return 1.0
    return max(sequence.shape[1 if layer.batch_first else 0] / _LONGEST, 1.0)
