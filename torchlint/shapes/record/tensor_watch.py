"""Watches a dry run for editors: which tensors were at which expressions, and which sizes follow the batch.

It looks at the first run of a file only, and what it does to learn more (running a forward again with a bigger batch)
comes when that is over: the findings are the same with and without it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.finding import ForwardHint, Hint, Span
from torchlint.notation import shape_text
from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.held_parts import weights_of
from torchlint.shapes.core.values import Stop, Unknown, UnknownUsed, on_use
from torchlint.shapes.language.program import CompiledScope, Frame, Program
from torchlint.shapes.tensors import device_tags

# Where a tensor may be looked at. Names are looked at where they are read; where they are bound, `bound` does it.
WATCHED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Name)
MOST_RECORDS = 20_000
AGAIN_STEPS = 150_000


class Seen(NamedTuple):
    """A tensor."""

    shape: tuple[int, ...]
    dtype: str
    device: str


class Sighting(NamedTuple):
    """Something seen at a place: a value of an expression or a name, or what went in and out of a forward."""

    span: Span
    name: str
    value: Any


class WatchedForward:
    """One forward that nobody's forward called, with all that ran within. Outside of forwards there is one, too."""

    def __init__(self, machine: Any = None, module: Any = None, arguments: dict[str, Any] | None = None):
        self.machine = machine
        self.module = module
        self.arguments = arguments or {}
        self.is_training = isinstance(module, nn.Module) and module.training
        self.records: list[Sighting] = []
        self.finished = False
        self.guessed = False

    def parts(self) -> set[type]:
        """The classes of modules whose forward ran within this one."""
        forwards = [record.value[0] for record in self.records if not isinstance(record.value, Seen)]
        return {kind for kind in forwards if kind is not type(self.module)}

    @property
    def rank(self) -> tuple:
        """What the script did is worth more than a guess, and a forward that came to its end more than another."""
        return (not self.guessed, self.finished, len(self.records))


class Watch:
    """Given to a program before it is compiled. `looking` is set while there is something to see, `guessing` when the
    script is over.
    """

    in_part = False  # whether sizes may be free in the run: who reads code wants whole shapes

    def __init__(self):
        self.looking = False
        self.outside = WatchedForward()
        self.best: dict[type, WatchedForward] = {}
        self.guessing = False
        self.found: list[Hint | ForwardHint] = []
        self._session = self.outside
        self._depth = 0

    # What the compiler puts around its closures

    def expression(self, node: ast.expr, evaluate: Callable, scope: CompiledScope) -> Callable:
        """The same closure; a tensor that comes out is written down."""
        if not isinstance(node, WATCHED) or scope.kind == "class":
            return evaluate
        span = scope.program.span(node)

        def watched(frame: Frame) -> Any:
            value = evaluate(frame)
            if self.looking and isinstance(value, torch.Tensor):
                self._write(span, "", value)
            return value

        return watched

    def bound(self, node: ast.Name, store: Callable, scope: CompiledScope) -> Callable:
        """The same closure; a tensor that a name gets is written down."""
        if scope.kind == "class":
            return store
        span, name = scope.program.span(node), node.id

        def watched(frame: Frame, value: Any) -> None:
            store(frame, value)
            if self.looking and isinstance(value, torch.Tensor):
                self._write(span, name, value)

        return watched

    def body(self, node: ast.AST, run: Callable, names: list[str], program: Program) -> Callable:
        """The same closure of a function's body; a forward begins a session, and its ends are written down."""
        if getattr(node, "name", "") != "forward" or not names:
            return run
        whole = program.span(node)
        head = Span(whole.line, whole.column, whole.line, whole.column + len("def forward"))

        def watched(frame: Frame) -> None:
            if not self.looking:
                run(frame)
                return
            module = frame.vars.get(names[0])
            arguments = {name: frame.vars.get(name) for name in names[1:]}
            began = self._begin(frame.machine, module, arguments)
            at = len(self._session.records)
            inputs = {name: facts(value) for name, value in arguments.items()}
            self._depth += 1
            try:
                run(frame)
                self._session.records.insert(
                    at, Sighting(head, "", (type(module), module, inputs, facts(frame.returned)))
                )
                if began:
                    began.finished = type(frame.returned) is not Unknown
            finally:
                self._depth -= 1
                if began:
                    self._end(began)

        return watched

    def _write(self, span: Span, name: str, value: torch.Tensor) -> None:
        if len(self._session.records) < MOST_RECORDS:
            self._session.records.append(Sighting(span, name, seen(value)))

    def _begin(self, machine: Any, module: Any, arguments: dict[str, Any]) -> WatchedForward | None:
        if self._depth or not isinstance(module, nn.Module):
            return None
        self._session = WatchedForward(machine, module, arguments)
        self._session.guessed = self.guessing
        return self._session

    def _end(self, session: WatchedForward) -> None:
        self._session = self.outside
        kind = type(session.module)
        if kind not in self.best or session.rank >= self.best[kind].rank:
            self.best[kind] = session

    @contextmanager
    def looking_on(self, looking: bool) -> Iterator[None]:
        """While this lasts, everything is seen, or nothing."""
        before, self.looking = self.looking, looking
        try:
            yield
        finally:
            self.looking = before

    # What came of it

    def finish(self) -> None:
        """Find everything, each thing once, in the order of the text; while tensors are still dry, and when the run
        that was watched has nothing to do any more.
        """
        found: dict[Hint | ForwardHint, None] = {}
        inside = {part for session in self.best.values() for part in session.parts()}
        # How a larger module calls a part is better than sizes guessed for the part alone.
        chosen = [s for kind, s in self.best.items() if not (s.guessed and kind in inside)]
        for session in [*chosen, self.outside]:
            twin = self._again(session)
            for record, other in zip(session.records, twin.records if twin else session.records):
                found[_hint(record, other, session, _batch(twin) - _batch(session) if twin else 0)] = None
        self.found = sorted(found, key=lambda thing: (thing.span, isinstance(thing, ForwardHint)))
        self.best.clear()  # the program is kept, and this with it
        self.outside.records.clear()

    def _again(self, session: WatchedForward) -> WatchedForward | None:
        """The same forward with a bigger batch: None if it did something else then, or failed."""
        batch = _batch(session)
        if batch is None or not session.finished:
            return None
        bigger = {name: _with_batch(value, batch, batch + 2) for name, value in session.arguments.items()}
        machine, listeners = session.machine, on_use[:]
        machine.budget = Budget(AGAIN_STEPS)
        machine.stack.clear()
        machine.modules.clear()
        on_use.clear()
        kept, self.best = self.best, {}
        self.looking = True
        try:
            if session.module.training != session.is_training:  # another way was tried since
                nn.Module.train(session.module, session.is_training)
            machine.call(session.module, [], bigger)
        except (Exception, Stop):
            return None
        finally:
            self.looking = False
            on_use[:] = listeners
            others, self.best = self.best, kept
        twin = others.get(type(session.module))
        same = twin is not None and twin.finished and [r[:2] for r in twin.records] == [r[:2] for r in session.records]
        return twin if same else None


def seen(tensor: torch.Tensor) -> Seen:
    """The facts of a tensor."""
    with torch._C.DisableTorchFunction():
        return Seen(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), str(device_tags.device_of(tensor)))


def facts(value: Any, depth: int = 3) -> Any:
    """What a lens shows of a value: tensors within lists and dicts, else a word."""
    if isinstance(value, torch.Tensor):
        return seen(value)
    if depth and isinstance(value, (list, tuple)):
        # What a class of the program says of its items would be run.
        items = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
        return [facts(one, depth - 1) for one in islice(items, 4)]
    if depth and isinstance(value, dict):
        return {str(key): facts(one, depth - 1) for key, one in islice(dict.items(value), 4)}
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    return "?" if type(value) is Unknown else type(value).__name__


def count(module: Any) -> int:
    """How many numbers a module learns."""
    if not isinstance(module, nn.Module):
        return 0
    try:
        parameters = list(weights_of(module))
    except UnknownUsed:  # one has a name that nobody knows
        return 0
    return sum(p.numel() for p in parameters if not isinstance(p, nn.parameter.UninitializedTensorMixin))


def _tensors(values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())


def _batch(session: WatchedForward) -> int | None:
    """The first size of the first input."""
    return next((tensor.shape[0] for tensor in _tensors(session.arguments.values()) if tensor.dim()), None)


def _with_batch(value: Any, old: int, new: int) -> Any:
    if isinstance(value, torch.Tensor):
        bigger = value.dim() and value.shape[0] == old
        return value.new_empty((new, *value.shape[1:])) if bigger else value
    if type(value) in (list, tuple):
        return type(value)([_with_batch(one, old, new) for one in value])
    if type(value) is dict:
        return {key: _with_batch(one, old, new) for key, one in value.items()}
    return value


def _hint(record: Sighting, other: Sighting, session: WatchedForward, growth: int) -> Hint | ForwardHint:
    batch = _batch(session) or 0
    if isinstance(record.value, Seen):
        shape = in_batches(record.value.shape, other.value.shape, batch, growth)
        return Hint(record.span, shape, record.value.dtype, record.value.device, record.name, guessed=session.guessed)
    kind, module, inputs, output = record.value
    _, _, other_inputs, other_output = other.value
    texts = [(name, text(value, other_inputs[name], batch, growth)) for name, value in inputs.items()]
    given = tuple((name, value) for name, value in texts if value != "None")
    result = text(output, other_output, batch, growth)
    return ForwardHint(record.span, kind.__name__, given, result, count(module), session.guessed)


def text(value: Any, other: Any, batch: int, growth: int) -> str:
    """A value of a lens in words."""
    if isinstance(value, Seen):
        return in_batches(value.shape, other.shape, batch, growth) if isinstance(other, Seen) else "?"
    if isinstance(value, list):
        return f"({', '.join(text(one, two, batch, growth) for one, two in zip(value, other))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text(one, other.get(key), batch, growth)}" for key, one in value.items()) + "}"
    return value


def in_batches(shape: tuple[int, ...], other: tuple[int, ...], batch: int, growth: int) -> str:
    """`(B, 64, 56, 56)`: `other` is the same shape when the batch is bigger by `growth`."""
    if len(other) != len(shape):
        other = shape
    return shape_text(size_text(one, two, batch, growth) for one, two in zip(shape, other))


def size_text(size: int, other: int, batch: int, growth: int) -> str:
    """A size in terms of the batch `B`, where it grows with it."""
    if size == other or not growth or (other - size) % growth:
        return str(size)
    times = (other - size) // growth
    rest = size - times * batch
    text = "B" if times == 1 else f"{times}*B"
    return f"{text}+{rest}" if rest > 0 else f"{text}-{-rest}" if rest else text
