"""Collects the forwards of a dry run, the best of each class, and makes tables of them.

Those of the file's own classes are always wanted; `called` are other models that its script calls: of classes in other
files, and what torch's own containers hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from msgspec.structs import replace
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin

from torchlint.notation import shape_text
from torchlint.printable import shortened
from torchlint.shapes.core import table
from torchlint.shapes.core.faults import Trace
from torchlint.shapes.core.held_parts import modules_of, weights_of
from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language import functions
from torchlint.shapes.language.program import Place
from torchlint.shapes.record import graph, graph_nodes
from torchlint.shapes.record.entries import RecordedCall, tensors_in
from torchlint.shapes.record.forward_costs import measure
from torchlint.shapes.record.graph import Recorder, Recording, named_inputs
from torchlint.shapes.tensors.replay import confirm


class _Session:
    """A recorded forward and what is known of the run."""

    def __init__(self, recording: Recording, origin: str, finished: bool):
        self.recording = recording
        self.origin = origin  # given by the user, from the script, or guessed
        self.finished = finished

    @property
    def rank(self) -> tuple:
        """What the user gave is worth more than what the script ran, and that more than a guess; then, what came
        furthest."""
        return (("guess", "script", "user").index(self.origin), self.finished, len(self.recording.entries))


class Traces:
    """Given to a dry run. `only` is the class that is asked for, `given` what its forward is to get; `used` whether
    one took it."""

    def __init__(
        self,
        path: str,
        only: str | None = None,
        given: Mapping[str, Any] = {},
        report: bool = False,
        called: bool = False,
    ):
        self.path = path
        self.only = only
        self.given = given
        self.used = False
        self.guessing = False
        self.report = report  # what each forward costs is wanted, too
        self.tables: list[table.Table] = []
        self._made: dict[Any, table.Table] = {}  # the same by what `_best` has them by
        self._best: dict[Any, _Session] = {}  # by class; of a container, which has none of its own, by itself
        self._failed: dict[Any, _Session] = {}  # the last that did not end
        self._called: dict[Any, Place | None] | None = {} if called else None  # and where the class or the call stands
        self._seen: set[nn.Module] = set()  # modules that have run, with their parts
        self._attempts: dict[type, Any] = {}

    def inputs_for(self, kind: type) -> dict[str, list]:
        """What the user gave for the forward of a class; it is then run even if the script ran it."""
        closure = functions.closure_of(kind.forward)
        if not self.given or closure is None or self.only not in (None, kind.__name__):
            return {}
        names = (*closure.code.positional[1:], *closure.code.only_named)
        return {name: [value] for name, value in self.given.items()} if set(self.given) <= set(names) else {}

    @contextmanager
    def collecting(self, machine: Any) -> Iterator[None]:
        """Record every forward of a module that is wanted and that no other forward calls."""
        before = nn.Module.__call__

        def call(module, *args, **kwargs):
            code = machine.codes.get(type(module))
            is_own = code is not None and code.path == self.path
            is_wanted = is_own or self._is_called(module)
            if self._called is not None and module not in self._seen:
                self._seen.update(modules_of(module))
            if any(type(a) is Unknown for a in (*args, *kwargs.values())) or not is_wanted:
                return before(module, *args, **kwargs)
            key = type(module) if code is not None else module
            if not is_own:
                self._called.setdefault(key, code.place if code is not None else machine.place)
            return self._record(machine, key, module, args, kwargs)

        nn.Module.__call__ = call
        try:
            yield
        finally:
            nn.Module.__call__ = before

    def _is_called(self, module: nn.Module) -> bool:
        """Whether a module that is not of this file is one of the models that its script calls."""
        if self._called is None or self.guessing or self.only not in (None, type(module).__name__):
            return False
        if module in self._seen and module not in self._called and type(module) not in self._called:
            return False  # a part of another one
        return next(weights_of(module), None) is not None

    def _record(self, machine: Any, key: Any, module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> Any:
        recorder = Recorder(lambda: machine.place)
        session = None
        try:
            with recorder.watch(module, named_inputs(module, args, kwargs)) as recording:
                origin = "script" if not self.guessing else "user" if self.inputs_for(type(module)) else "guess"
                session = _Session(recording, origin, False)
                result = recording.result = module(*args, **kwargs)
                session.finished = type(result) is not Unknown
                return result
        except UnknownUsed as unknown:
            recording.error = f"it depends on something unknown: {unknown}"
            raise
        finally:
            best = self._best.get(key)
            # Of runs of equal worth the first is kept: a loader's last batch is smaller than the others, and guessed
            # runs that fail are repeated with other sizes to see whether the error stays. Guesses that work get better.
            last = session is not None and session.finished and self.guessing
            if session is not None and (best is None or session.rank > best.rank or session.rank == best.rank and last):
                self._best[key] = session
            if session is not None and not session.finished:
                self._failed[key] = session

    def attempted(self, kind: type, attempt: Any) -> None:
        """Remember how a class was constructed and called, for the words that explain it. What fails as it is written
        is shown, although it runs with other sizes.
        """
        self._attempts[kind] = attempt
        failed, best = self._failed.get(kind), self._best.get(kind)
        if failed is not None and best is not None and best.origin == failed.origin == "guess" and best.finished:
            if attempt.ran is not None and attempt.ran.certain:
                self._best[kind] = failed
        self.used = self.used or bool(self.inputs_for(kind))

    def finish(self, machine: Any) -> None:
        """Make the tables, while tensors are still dry: the classes of the file, in the order of the text."""
        kinds = [k for k in machine.classes if issubclass(k, nn.Module) and machine.codes[k].path == self.path]
        for session in list(self._best.values()):
            for part in session.recording.parts():
                kind = type(part.module)
                better = _Session(part, "script" if session.origin == "script" else "guess", not part.error)
                if kind in machine.codes and (kind not in self._best or better.rank > self._best[kind].rank):
                    self._best[kind] = better
        for kind in sorted(kinds, key=lambda k: machine.codes[k].place[1]):
            if self.only is None or kind.__name__ == self.only:
                self._keep(kind, self._table(machine, kind))
        for key, place in (self._called or {}).items():
            recording, (path, span) = self._best[key].recording, place or ("", None)
            self._keep(key, tabulate(recording, type(recording.module).__name__, path, span))

    def _keep(self, key: Any, made: table.Table) -> None:
        session = self._best.get(key)
        if self.report and session is not None:
            made = replace(made, report=measure(session.recording))
        self._made[key] = made
        self.tables.append(made)

    def table_of(self, module: nn.Module) -> table.Table | None:
        """What the forward of a module's class, or of a container, was."""
        return self._made.get(type(module), self._made.get(module))

    def graphs(self, machine: Any) -> Iterator[Trace]:
        """The forwards that came to their end as torch.fx graphs, made while tensors are still dry."""
        for kind, session in self._best.items():
            if session.finished and session.origin != "user" and kind in machine.codes:
                code, inputs = machine.codes[kind], session.recording.inputs
                described = {argument: _described(value) for argument, value in inputs.items()}
                guessed = session.origin == "guess"
                yield Trace(
                    kind.__name__, self.path, code.place[1], session.recording.graph_module(), described, guessed
                )

    def _table(self, machine: Any, kind: type) -> table.Table:
        _, span = machine.codes[kind].place
        attempt, session = self._attempts.get(kind), self._best.get(kind)
        built, ran = (attempt.built, attempt.ran) if attempt is not None else (None, None)
        if session is None:
            reason = attempt.reason() if attempt is not None else "nothing called its forward"
            return table.Table(kind.__name__, self.path, span, {}, arguments=arguments_of(built), error=reason)
        if session.origin == "script":
            return tabulate(session.recording, kind.__name__, self.path, span)
        if session.origin == "user":
            assumed = dict(_letters(self.given, session.recording.inputs))
        else:
            assumed = {name: ran.why.get(name, "") for name in ran.assumed} if ran is not None else {}
        guessed = session.origin == "guess" or bool(built and built.assumed)
        return tabulate(session.recording, kind.__name__, self.path, span, assumed, arguments_of(built), guessed)


def _letters(given: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """By the inputs what their letters stand for: `B = 2, T = 12`."""
    for name, one in given.items():
        sizes = zip(getattr(one, "sizes", ()), getattr(inputs.get(name), "shape", ()))
        letters = {size: now for size, now in sizes if isinstance(size, str)}
        if letters:
            yield name, ", ".join(f"{letter} = {size}" for letter, size in letters.items())


def arguments_of(built: Any) -> dict[str, str]:
    """The guessed arguments of a constructor in words."""
    if built is None:
        return {}
    return {
        name: f"{_short(value)} ({built.why[name]})" if built.why.get(name) else _short(value)
        for name, value in built.assumed.items()
    }


def _short(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    parts = value if isinstance(value, (list, tuple)) else [value]
    text = (
        repr(value) if all(isinstance(p, (int, float, str, type(None))) for p in parts) else f"a {type(value).__name__}"
    )
    return shortened(text, 60)


# Recordings as tables


def tabulate(
    recording: Recording,
    name: str,
    path: str,
    span: Any,
    assumed: Mapping[str, str] = {},
    arguments: Mapping[str, str] = {},
    guessed: bool = False,
) -> table.Table:
    """A recording as plain data."""
    made_by: dict[int, int | str] = {}
    for argument, value in recording.inputs.items():
        for tensor in tensors_in(value):
            made_by[id(tensor)] = argument
    steps = []
    for number, entry in enumerate(recording.entries, 1):
        steps.append(_step(number, entry, made_by, recording.path))
        for tensor in tensors_in(entry.result):
            made_by[id(tensor)] = number
    parameters = sum(p.numel() for p in weights_of(recording.module) if not isinstance(p, UninitializedTensorMixin))
    error = recording.error
    if steps and steps[-1].error:
        error = steps[-1].error
    result = _described(recording.result)
    inputs = {argument: _described(value) for argument, value in recording.inputs.items()}
    return table.Table(
        name,
        path,
        span,
        inputs,
        tuple(steps),
        _calls(recording),
        parameters,
        {argument: why or _taken(argument, steps, path) for argument, why in assumed.items()},
        dict(arguments),
        error,
        result,
        guessed,
    )


def _taken(argument: str, steps: list[table.Step], path: str) -> str:
    """The layer that takes an input first, and where it does."""
    first = next((step for step in steps if argument in step.sources), None)
    if first is None or not first.layer or first.span is None:
        return ""
    return f"self.{first.module} takes it" + (f" in line {first.span.line}" if first.path == path else "")


def _calls(recording: Recording) -> tuple[table.LayerCall, ...]:
    """The modules of the program that ran within, where they were called."""
    calls = []
    for scope in recording.scopes:
        if scope.place is not None:
            outputs = tuple(_value(graph.value_of(t)) for t in tensors_in(scope.result))
            calls.append(table.LayerCall(*scope.place, scope.path, outputs, scope.failed))
    return tuple(calls)


def _step(number: int, entry: RecordedCall, made_by: Mapping[int, int | str], prefix: str) -> table.Step:
    row = graph.row_of(entry)
    given = list(tensors_in((entry.args, dict(entry.kwargs))))
    sources = tuple(dict.fromkeys(made_by[id(t)] for t in given if id(t) in made_by))
    error = entry.error and (confirm(entry.function, entry.args, entry.kwargs) or entry.error)
    path, span = entry.place or ("", None)
    module = entry.path.removeprefix(prefix + ".") if prefix and entry.path != prefix else "" if prefix else entry.path
    return table.Step(
        number, path, span, module, graph_nodes.label(entry), isinstance(entry.function, nn.Module),
        tuple(map(_value, row.inputs)), tuple(map(_value, row.outputs)), row.parameters, sources, error,
    )  # fmt: skip


def _value(value: Any) -> table.ShownValue:
    return table.ShownValue(value.shape, str(value.dtype).removeprefix("torch."), value.device)


def _described(value: Any, depth: int = 3) -> str:
    """A result or an input in words."""
    if isinstance(value, torch.Tensor):
        fact = _value(graph.value_of(value))
        return shape_text(fact.shape) + f" {fact.dtype}" if fact.shape else f"scalar {fact.dtype}"
    if isinstance(value, (list, tuple)) and depth:
        return "(" + ", ".join(_described(v, depth - 1) for v in value[:6]) + (", …)" if len(value) > 6 else ")")
    if isinstance(value, dict) and depth:
        return "{" + ", ".join(f"{k}: {_described(v, depth - 1)}" for k, v in list(value.items())[:6]) + "}"
    if type(value) is Unknown:
        return f"unknown ({value.reason})"
    return repr(value) if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__
