"""Traces a model that is imported: the child process behind `torchlint shapes --import`, asked for by name only.

It reads a request as JSON from the standard input and writes a table as JSON to the standard output,
behind a zero byte.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from typing import Any

import msgspec
import torch
from torch import nn

import torchlint
from torchlint.finding import Span
from torchlint.shapes.core.table import Table
from torchlint.shapes.core.values import Unknown, report_use
from torchlint.shapes.record.entries import Place
from torchlint.shapes.record.graph import Recorder
from torchlint.shapes.record.traces import named_inputs, tabulate
from torchlint.shapes.search.attempts import Assumption, OpenParameter, RunResult, ShapePattern, TensorGuess
from torchlint.shapes.search.sizes import solve_forward
from torchlint.shapes.search.taken_arguments import value_of
from torchlint.shapes.tensors.dispatch import dry_tensors

_OURS = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.abspath(torchlint.__file__)) + os.sep, "<")


class ImportRequest(msgspec.Struct):
    """What to import and what to call it with."""

    module: str
    name: str
    inputs: dict[str, Any]
    path: list[str]


class ItsOwnFolders(MetaPathFinder):
    """Finds modules for the imported program as if it had been started in its folders. For everybody else, as for
    torch, which goes on importing, these folders come last: a `random.py` in one of them is no business of theirs."""

    def __init__(self, asked: str, folders: list[str]):
        self.asked = asked.partition(".")[0]
        self.folders = folders
        self.others = [entry for entry in sys.path if entry not in folders]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if path is not None or name != self.asked and not self._holds(_importer()):
            if path is None and name in sys.stdlib_module_names and not self._is_in_python(name):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)  # it is of another platform
            return None
        spec = PathFinder.find_spec(name, self.folders)
        return spec if spec and spec.loader else None  # a mere folder is no package if there is a real one elsewhere

    def _is_in_python(self, name: str) -> bool:
        found = (
            BuiltinImporter.find_spec(name),
            FrozenImporter.find_spec(name),
            PathFinder.find_spec(name, self.others),
        )
        return any(found)

    def _holds(self, file: str) -> bool:
        """A `.venv` in such a folder holds what is in it."""
        around = [folder for folder in (*self.folders, *self.others) if file.startswith(os.path.join(folder, ""))]
        return max(around, key=len, default="") in self.folders


def _importer() -> str:
    """The file whose code imports something now."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(("<frozen importlib", importlib.__file__)):
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else ""


def main() -> None:
    """Answer one request."""
    atexit.register(gc.freeze)  # the end of a process looks through all that was ever made, several times
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=ImportRequest)
    sys.meta_path.insert(0, ItsOwnFolders(request.module, request.path))
    sys.path += request.path
    sys.dont_write_bytecode = (
        True  # reading leaves nothing behind, and a file edited within the second would be run as it was
    )
    try:
        table = _trace(request)
    except Exception as error:
        sys.exit(" ".join(f"{type(error).__name__}: {error}".split()))
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\x00" + msgspec.json.encode(table))
    sys.stdout.buffer.flush()


def _trace(request: ImportRequest) -> Table:
    found = getattr(importlib.import_module(request.module), request.name)
    with dry_tensors():
        model = found if isinstance(found, nn.Module) else found()
        if not isinstance(model, nn.Module):
            raise TypeError(f"{request.name} gives a {type(model).__name__}, not a model")
    model = model.to("meta") if isinstance(found, nn.Module) else model
    with dry_tensors():
        hints = {name: [_guess(value)] for name, value in request.inputs.items()}
        solution = solve_forward(lambda assumption: _run(model, assumption)[0], _parameters(model), hints)
        _, recording = _run(model, solution.assumed)
        path, span = _definition(type(model))
        guessed = not set(solution.assumed) <= set(request.inputs)
        assumed = {name: why for name, why in solution.why.items() if name not in request.inputs}
        return tabulate(recording, type(model).__name__, path, span, assumed, guessed=guessed and not solution.certain)


def _guess(value: Any) -> Any:
    """A shape came through JSON as [sizes, dtype]."""
    if not isinstance(value, list):
        return value
    kind = ShapePattern if any(isinstance(size, str) for size in value[0]) else TensorGuess
    return kind(tuple(value[0]), value[1])


def _parameters(model: nn.Module) -> list[OpenParameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(model.forward).parameters.values()
    return [OpenParameter(p.name, "", p.default is not p.empty) for p in found if p.kind in kinds]


def _run(model: nn.Module, assumption: Assumption) -> tuple[RunResult, Any]:
    """The forward once, recorded; the number of operations says how far it came."""
    inputs = {name: value_of(guess) for name, guess in assumption.items()}
    if not inputs:
        inputs = {p.name: Unknown("an input", p.name) for p in _parameters(model) if not p.has_default}
    recorder = Recorder(_where)
    error: Exception | None = None
    before = nn.Module.__call__
    if not assumption and inputs:
        nn.Module.__call__ = _reporting(before, model)
    try:
        with recorder.watch(model, named_inputs(model, (), inputs)) as recording:
            recording.result = model(**inputs)
    except Exception as caught:
        error = caught
    finally:
        nn.Module.__call__ = before
    steps = len(recording.entries)
    if error is None:
        return RunResult(steps), recording
    last = recording.entries[-1] if steps and recording.entries[-1].error else None
    text = f"{type(error).__name__}: {error}"
    if last is None:
        return RunResult(steps, "own" if isinstance(error, AssertionError) else "python", None, text), recording
    return (
        RunResult(
            steps, "torch", last.place, text, last.function, last.args, last.kwargs, visit=(last.scope, last.path)
        ),
        recording,
    )


def _reporting(before: Any, model: nn.Module) -> Any:
    """Layers that say what unknown input they got."""

    def call(module, *args, **kwargs):
        unknown = next((a for a in args if type(a) is Unknown), None)
        if unknown is None or module is model or not type(module).__module__.startswith("torch.nn."):
            return before(module, *args, **kwargs)
        report_use(unknown, "layer", module)
        return Unknown(unknown.reason)

    return call


def _where() -> Place | None:
    """The innermost line that is neither torch's nor ours."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OURS):
            line = frame.f_lineno
            return frame.f_code.co_filename, Span(line, 1, line, 1)
        frame = frame.f_back
    return None


def _definition(kind: type) -> tuple[str, Span | None]:
    try:
        lines, first = inspect.getsourcelines(kind)
        return inspect.getsourcefile(kind) or "", Span(first, 1, first + len(lines) - 1, 1)
    except (OSError, TypeError):
        return "", None
