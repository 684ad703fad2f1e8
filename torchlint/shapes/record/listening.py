"""Operations of a dry run as rules see them: each one that an `@on_op` check names is given to it while it happens."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import torch

from torchlint.facts import named, words
from torchlint.finding import Edit, Finding, Fix, Note, Severity, Span
from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.language.program import last_call_in, node_at, source_of
from torchlint.shapes.record.drawn_counts import filling, likely_empty_draw, likely_left_out
from torchlint.shapes.tensors import device_tags, wild
from torchlint.shapes.tensors.arrays import Array

_SAME = words(named("same_numbers", but="cuts") | named("joins") | named("picks")) | {"getitem"}
_REPEATS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
REMEMBERED = 20_000  # operations whose results know what made them
BEHIND = 16  # operations that leave numbers as they are, between the one that made them and the one that takes them
HAPPENS_HERE = "it happens here"  # beside what is said of the call that leads to it from another file
CHANGES = 24  # runs with other sizes that must lead to the same finding


class Operand:
    """A tensor that an operation takes or gives: `shape`, `dtype` ("float32"), `device` ("cuda:0"), and the operation
    that `made_by` it. Two are equal that are one tensor.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def dtype(self) -> str:
        return str(self.tensor.dtype).removeprefix("torch.")

    @property
    def device(self) -> str:
        return str(device_tags.device_of(self.tensor))

    @property
    def requires_grad(self) -> bool:
        return self.tensor.requires_grad

    @property
    def made_by(self) -> Operation | None:
        return getattr(self.tensor, "torchlint_made_by", None)

    @property
    def changed_by(self) -> Operation | None:
        """The operation that changed it in place, if nobody did since."""
        changed = getattr(self.tensor, "torchlint_changed_by", None)
        return changed if changed is not None and changed.version == self.tensor._version else None

    def source(self, also: Container[str] = ()) -> Operation | None:
        """The operation that made its numbers: what only moves, casts, picks or joins them is looked behind, and what
        goes by one of these names too. None if nobody knows, or if they have been changed in place since.
        """
        made = self.made_by
        for _ in range(BEHIND):
            if made is None or made.version is not None and made.returned._version != made.version:
                return None
            if made.name not in _SAME and made.name not in also:
                return made
            taken = made.argument("input", 0)
            if isinstance(taken, (list, tuple)):
                return _common(taken, also)
            made = taken.made_by if isinstance(taken, Operand) else None
        return None

    @property
    def is_open(self) -> bool:
        """Does it stand for tensors of other sizes, too?"""
        return bool(getattr(self.tensor, wild.FREE, ()))

    @property
    def may_count_none(self) -> Operation | None:
        """The draw of which it counts nothing at all somewhere, if the numbers say that this is likely."""
        return likely_empty_draw(self)

    @property
    def may_leave_some_out(self) -> Operation | None:
        """The draw of places at which it was counted, if some place is likely not to be among them."""
        return likely_left_out(self)

    @property
    def filled_by(self) -> Operation | None:
        """The `index_add` or `scatter_add` that filled it, behind views of that."""
        return filling(self)

    def behind(self) -> Iterator[Operation]:
        """The operations that made it, and what they took, the last ones first."""
        left = [self]
        for one in left:
            made = one.made_by
            if made is not None:
                yield made
                taken = (arg for arg in map(_seen, made.args) if isinstance(arg, Operand) and len(left) < BEHIND)
                left.extend(arg for arg in taken if arg not in left)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Operand) and other.tensor is self.tensor

    def __hash__(self) -> int:
        return id(self.tensor)


class Operation:
    """One call of torch. `name` is that of the function or method without underscores (`sub` for `x - y`), `path` and
    `span` say where in the program; `guessed`: whether its sizes were guessed (a finding is then kept only if other
    guesses lead to it as well).
    """

    __slots__ = ("function", "args", "kwargs", "returned", "place", "guessed", "version")

    def __init__(self, function: Any, args: tuple, kwargs: dict[str, Any], returned: Any, place: Any, guessed: bool):
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.returned = returned
        self.place = place
        self.guessed = guessed
        counts = isinstance(returned, torch.Tensor) and not returned.is_inference()
        self.version = returned._version if counts else None

    def __deepcopy__(self, memo: dict) -> Operation:
        """It has happened once, however often its result is copied."""
        return self

    @property
    def name(self) -> str:
        return _word_of(self.function)

    @property
    def path(self) -> str:
        return self.place[0]

    @property
    def span(self) -> Span:
        return self.place[1]

    @property
    def runs_once(self) -> bool:
        """Does it stand in no function and no loop of its file?"""
        program, line = source_of(self.path), self.span.line
        around = ast.walk(program.tree) if program is not None else ()
        return not any(isinstance(one, _REPEATS) and one.lineno <= line <= (one.end_lineno or 0) for one in around)

    def argument(self, name: str, position: int) -> Any:
        """A tensor as an Operand, everything else as it is; None if it was not given, or is not known."""
        value = self.args[position] if position < len(self.args) else self.kwargs.get(name)
        return _seen(value)

    def arrays(self, position: int) -> tuple[tuple[int, ...], ...]:
        """The shapes of the arrays of NumPy of which a list or tuple consists; none where something else is in it."""
        parts = self.args[position] if position < len(self.args) else ()
        is_all = isinstance(parts, (list, tuple)) and all(isinstance(part, Array) for part in parts)
        return tuple(tuple(part.shape) for part in parts) if is_all else ()

    @property
    def result(self) -> Any:
        return _seen(self.returned)

    def file_says(self, pattern: str) -> bool:
        """Does the text of its file match a regular expression somewhere?"""
        program = source_of(self.path)
        return program is not None and program.says(pattern)

    def file_writes(self, pattern: str) -> set[str]:
        """What the one group of a regular expression is, wherever that matches the text of its file."""
        program = source_of(self.path)
        return program.written_as(pattern) if program is not None else set()

    def text(self, position: int) -> str:
        """How the program writes an argument; empty if it is not seen at this place."""
        node = self._argument_node(position)
        return ast.unparse(node) if node is not None else ""

    def with_suffix(self, position: int, suffix: str, message: str) -> Fix | None:
        """The fix that puts something (`.squeeze(-1)`) behind an argument; None if it is not seen at this place."""
        node = self._argument_node(position)
        if not isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
            return None
        span = source_of(self.path).span(node)
        end = Span(span.end_line, span.end_column, span.end_line, span.end_column)
        return Fix(message, (Edit(end, suffix),), "unsafe")

    def _argument_node(self, position: int) -> ast.expr | None:
        node = node_at(self.place)
        if isinstance(node, ast.BinOp):
            given = (
                [node.right, node.left]
                if getattr(self.function, "__name__", "").startswith("__r")
                else [node.left, node.right]
            )
        elif isinstance(node, ast.Call):
            owner = isinstance(node.func, ast.Attribute) and getattr(torch.Tensor, self.name, None) == self.function
            given = [*([node.func.value] if owner else []), *node.args]
        else:
            return None
        return given[position] if position < len(given) and not any(isinstance(n, ast.Starred) for n in given) else None

    def note(self, message: str) -> Note:
        return Note(message, *self.place)

    def finding(
        self,
        message: str,
        help: str = "",
        fix: Fix | None = None,
        notes: Sequence[Note] = (),
        severity: Severity = "warning",
    ) -> Finding:
        return Finding("", "", self.path, self.span, message, help, severity, fix, tuple(notes))


def _has_changed(tensor: torch.Tensor, made: Operation) -> bool:
    """Did an operation change the tensor that it gives back, as `x.to(device)` of what is there does not?"""
    last = getattr(tensor, "torchlint_changed_by", None) or getattr(tensor, "torchlint_made_by", None)
    return (made.version or 0) > ((last and last.version) or 0)


def _common(tensors: Sequence[Any], also: Container[str]) -> Operation | None:
    """The source of several tensors if they have one each, of the same name."""
    made = [Operand(t).source(also) if isinstance(t, torch.Tensor) else None for t in tensors[:BEHIND]]
    if not made or None in made or len({one.name for one in made if one}) > 1:
        return None
    return made[0]


def _seen(value: Any) -> Any:
    return Operand(value) if isinstance(value, torch.Tensor) else None if type(value) is Unknown else value


class OperationCheck(NamedTuple):
    """The operations that a rule asks for, what it says about one, and the last words of others, of which one must have
    come before.
    """

    names: Sequence[str]
    says: Callable[[Operation], Sequence[Finding]]
    called: Sequence[str] = ()


class Listener(device_tags.PatientListener):
    """Gives operations to checks and keeps what they say of a file. Nothing is heard unless `hearing` is open."""

    def __init__(self, checks: Sequence[OperationCheck], path: str = ""):
        self.findings: dict[Any, Finding] = {}
        self.guessing = False
        self._path = path
        self._led: dict[Any, Any] = {}  # which call led to what lies in another file
        self._wanted: dict[Any, list[Callable]] = {}
        self._said: set[Any] = set()
        self._count = 0
        self._asked: list[tuple[set[Callable], set[str]]] = []  # of both, one must be called for a check
        for check in checks:
            functions = {f for name in check.names for f in functions_named(name)}
            self._asked.append((functions, set(check.called)))
            for function in functions:
                self._wanted.setdefault(function, []).append(check.says)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """While this lasts, operations are heard."""
        device_tags.listeners.append(self)
        try:
            yield
        finally:
            device_tags.listeners.remove(self)

    def __call__(self, function: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> None:
        place = machines[-1].place if machines else None
        if place is None:
            return
        result = args[0] if function is torch.Tensor.__setitem__ else result
        made = Operation(function, args, kwargs, result, place, self.guessing)
        if self._count < REMEMBERED:
            self._count += 1
            for tensor in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(tensor, torch.Tensor) and id(tensor) not in map(id, args):
                    tensor.torchlint_made_by = made
                elif isinstance(tensor, torch.Tensor) and _has_changed(tensor, made):
                    tensor.torchlint_changed_by = made
        checks = self._wanted.get(function)
        if checks:
            key = (function, place, self.guessing, *[tuple(a.shape) for a in args if isinstance(a, torch.Tensor)])
            if key not in self._said or self.guessing:
                self._said.add(key)
                for check in checks:
                    for finding in filter(None, map(self._here, check(made))):
                        self.findings.setdefault((finding.path, finding.span, finding.code), finding)

    def minds(self, functions: frozenset[Callable]) -> bool:
        return not self._wanted.keys().isdisjoint(functions)

    def miss(self) -> None:
        self._count += self._count < REMEMBERED and bool(machines) and machines[-1].place is not None

    def _here(self, finding: Finding) -> Finding | None:
        """The same finding at the first call in the file that leads to it, if it lies in another one."""
        if finding.path == self._path or not self._path:
            return finding
        caller = last_call_in(self._path, machines[-1].stack)
        if caller is None or self._led.setdefault((finding.path, finding.span, finding.code), caller) != caller:
            return None
        notes = (Note(HAPPENS_HERE, finding.path, finding.span), *finding.notes)
        return msgspec.structs.replace(finding, path=caller[0], span=caller[1], notes=notes, fix=None)

    def during(self, run: Callable[[], Any]) -> tuple[Any, dict[Any, Finding]]:
        """What a run with guessed sizes returns, and what is said about it and not yet kept."""
        kept, self.findings, self.guessing = self.findings, {}, True
        try:
            with self.hearing():
                return run(), self.findings
        finally:
            self.findings, self.guessing = kept, False

    def _may_say(self) -> bool:
        """Was anything called of late that a check asks for?"""
        called = {_word_of(function) for function in device_tags.called}
        return any(
            not functions.isdisjoint(device_tags.called) and not (before and before.isdisjoint(called))
            for functions, before in self._asked
        )

    def keep(self, attempt: Any, changes: Callable) -> None:
        """Keep what is said about a class that ran with guessed sizes, if it is said with other guesses as well:
        `changes` makes them.
        """
        if not self._may_say():
            return
        if attempt.ran is None or attempt.ran.last.stopped is not None or attempt.instance is None:
            return
        assumed = attempt.ran.assumed
        run, _ = attempt.runs(attempt.instance)
        _, found = self.during(lambda: run(assumed))
        for change, _ in list(changes(assumed))[:CHANGES] if found else ():
            result, others = self.during(lambda: run(change))
            if result.stopped is None:
                found = {key: f for key, f in found.items() if key in others}
        if found and attempt.built is not None and attempt.built.assumed:
            other = type(attempt)(attempt.machine, attempt.kind, attempt.hints)
            other.rebuild(second=True)
            if not other.ended():
                return
            run, _ = attempt.runs(other.instance)
            _, others = self.during(lambda: run(other.ran.assumed))
            found = {key: f for key, f in found.items() if key in others}
        for key, finding in found.items():
            self.findings.setdefault(key, finding)


def _word_of(function: Any) -> str:
    """`sub` of `torch.sub`, `.sub_` and `-`"""
    return getattr(function, "__name__", "").strip("_")


def functions_named(name: str) -> list[Any]:
    """The functions of torch that a name means; `.sub` is the method and the operator, `torch.sub` the function."""
    if name.startswith("."):
        word = name[1:]
        found = [getattr(torch.Tensor, form, None) for form in (word, f"__{word}__", f"__r{word}__")]
        return [f for f in found if f is not None]
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return [value] if value is not None else []
