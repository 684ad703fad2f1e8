"""Who constructs a class: the arguments of its calls, in its own file and in others, and the functions and classes
around those calls.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from torchlint.shapes.core import standins
from torchlint.shapes.core.values import Stop, Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.expressions import expression
from torchlint.shapes.language.program import CompiledScope, Frame, Program, load
from torchlint.shapes.language.walking import last_word, walk
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.search.attempts import Assumption

_FILES = 4  # other files that are run for one class
_PROGRAMS = 32  # of which the calls are kept
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SITES = 6  # calls that are read, and places that are run


class Callers:
    """The callers of the classes of one file, looked for when a class is asked for.

    `names` are the globals of the file's own run.
    """

    def __init__(self, machine: Machine, program: Program, names: dict[str, Any]):
        self.machine = machine
        self.home = (program, names)
        self._others: dict[str, list[tuple[Program, dict[str, Any]]]] = {}

    def arguments(self, kind: type) -> Iterator[Assumption]:
        """What calls of the class give it, as far as it is plain from the file: numbers, texts, names of the module."""
        initialiser = functions.closure_of(getattr(kind, "__init__", None))
        if initialiser is None:
            return
        seen = 0
        for program, names in self._files(kind):
            for call in _Sites.of(program).calls[kind.__name__]:
                if seen < _SITES:
                    found = self._evaluated(call, initialiser.code, program, names)
                    if found:
                        seen += 1
                        yield found

    def leave_out(self, kind: type, names: set[str]) -> bool | None:
        """Whether a call of the class gives it nothing for some parameters; None if nobody calls it."""
        initialiser = functions.closure_of(getattr(kind, "__init__", None))
        found = None
        for program, _ in self._files(kind) if initialiser is not None else ():
            for call in _Sites.of(program).constructions[kind.__name__]:
                given = {*initialiser.code.positional[1 : 1 + len(call.args)], *(k.arg for k in call.keywords)}
                if not any(isinstance(a, ast.Starred) for a in call.args) and None not in given and not given & names:
                    return True
                found = False
        return found

    def may_give_nothing(self, kind: type) -> bool:
        """Whether the class may be made without arguments: nobody is seen to make one, or somebody does it so."""
        calls = [call for program, _ in self._files(kind) for call in _Sites.of(program).calls[kind.__name__]]
        return not calls or any(not call.args and not call.keywords for call in calls)

    def makers(self, kind: type) -> Iterator[Any]:
        """The functions and classes, at the top of a file, in whose bodies the class is named."""
        seen = 0
        for program, names in self._files(kind):
            for node in _Sites.of(program).users[kind.__name__]:
                if node.name != kind.__name__ and seen < _SITES:
                    maker = names.get(node.name)
                    if type(maker) is not Unknown and maker is not None:
                        seen += 1
                        yield maker

    def _evaluated(self, call: ast.Call, code: functions.Code, program: Program, names: dict[str, Any]) -> Assumption:
        """The arguments of a call by parameter; those that need more than the module's names are left out."""
        given: list[tuple[str, ast.expr]] = []
        for name, value in zip(code.positional[1:], call.args):
            if isinstance(value, ast.Starred):
                break
            given.append((name, value))
        known = {*code.positional[1:], *code.only_named}
        given += [(k.arg, k.value) for k in call.keywords if k.arg in known]
        scope, frame = CompiledScope("module", (), None, program), Frame(names, None, names, self.machine)
        made: Assumption = {}
        for name, value in given:
            try:
                result = expression(value, scope)(frame)
            except (Exception, Stop):
                continue
            if type(result) is not Unknown:
                made[name] = result
        return made

    def _files(self, kind: type) -> Iterator[tuple[Program, dict[str, Any]]]:
        yield self.home
        name, path = kind.__name__, self.home[0].path
        if name not in self._others:
            self._others[name], looked = [], 0
            folder = os.path.dirname(path)
            mentions = sorted(
                self.machine.view.mentions(name), key=lambda p: -len(os.path.commonprefix((p, folder + os.sep)))
            )
            for other in mentions:
                if looked < _FILES and self._imports(other, name):
                    looked += 1
                    self._others[name] += self._run(other) if self._names(other, name) else []
        yield from self._others[name]

    def _imports(self, other: str, name: str) -> bool:
        """Whether a file takes the name, or everything, from the class's own file, or from a package that may pass it
        on.
        """
        program = self._load(other)
        view, path = self.machine.view, self.home[0].path
        for node in program.imports if program is not None else ():
            if isinstance(node, ast.ImportFrom) and any(a.name in (name, "*", _stem(path)) for a in node.names):
                source = view.resolve(node.module or "", node.level, other)
                if source is not None and (source == path or source.endswith("__init__.py")):
                    return True
            elif isinstance(node, ast.Import) and any(a.name.rpartition(".")[2] == _stem(path) for a in node.names):
                return True
        return False

    def _names(self, other: str, name: str) -> bool:
        """Whether a file does more with a name than to pass it on, as packages do with all they have: only then is
        anything learned from running it, and whatever it imports.
        """
        program = self._load(other)
        return program is not None and _Sites.of(program).has(name)

    def _load(self, path: str) -> Program | None:
        text = self.machine.view.read(path)
        try:
            return load(path, text) if text is not None else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _run(self, path: str) -> list[tuple[Program, dict[str, Any]]]:
        program = self._load(path)
        try:
            module = self.machine.run_file(path, _stem(path))
        except Stop:
            return []
        return [(program, module.globals)] if program is not None and type(module) is standins.ImportedFile else []


def _stem(path: str) -> str:
    return os.path.basename(os.path.dirname(path) if path.endswith("__init__.py") else path).removesuffix(".py")


def _starts(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    """The parameters of a function, or of what makes a class, without `self`."""
    if isinstance(node, ast.ClassDef):
        return next((_starts(n) for n in node.body if isinstance(n, _FUNCTIONS) and n.name == "__init__"), [])
    names = [a.arg for a in node.args.args]
    return names[1:] if names[:1] == ["self"] else names


def _class_names(value: ast.expr) -> set[str]:
    """The classes that a value may be, going by their names."""
    if isinstance(value, ast.IfExp):
        return _class_names(value.body) | _class_names(value.orelse)
    return {value.id} if isinstance(value, ast.Name) and value.id[:1].isupper() else set()


class _Sites:
    """Where a file uses names as one uses classes, found in one walk for all of them."""

    def __init__(self, program: Program):
        self.calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self.constructions: defaultdict[str, list[ast.Call]] = defaultdict(list)  # also as the base of others
        self.users: defaultdict[str, list[ast.FunctionDef | ast.ClassDef]] = defaultdict(list)  # other than as a base
        for node in program.nodes:
            if isinstance(node, ast.Call):
                name = last_word(node.func)
                self.calls[name].append(node)
                self.constructions[name].append(node)
            elif isinstance(node, ast.ClassDef):
                calls = [n for n in walk(node) if isinstance(n, ast.Call)]
                starts = [call for call in calls if last_word(call.func) == "__init__"]
                for base in {last_word(base) for base in node.bases}:
                    self.constructions[base] += starts
                own = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "cls"]
                self.calls[node.name] += own
                self.constructions[node.name] += own
        self._through_variables(program.nodes)
        for node in program.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                inside = [n for part in node.body for n in walk(part)]
                for name in {last_word(n) for n in inside if isinstance(n, (ast.Name, ast.Attribute))}:
                    self.users[name].append(node)

    def _through_variables(self, nodes: list[ast.AST]) -> None:
        """`block = Basic if depth < 50 else Bottleneck`, `ResNet(Bottleneck)`: the calls of `block` make those."""
        functions = {node.name: _starts(node) for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
        held: defaultdict[str, set[str]] = defaultdict(set)
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                held[node.targets[0].id].update(_class_names(node.value))
            elif isinstance(node, ast.Call) and (names := functions.get(last_word(node.func))):
                for name, value in [*zip(names, node.args), *((k.arg, k.value) for k in node.keywords)]:
                    held[name or ""].update(_class_names(value))
        for variable, classes in held.items():
            for name in classes - {variable}:
                self.constructions[name] += self.calls[variable]

    def has(self, name: str) -> bool:
        """Whether the name stands anywhere here."""
        return any(found.get(name) for found in (self.calls, self.constructions, self.users))

    @staticmethod
    @lru_cache(maxsize=_PROGRAMS)
    def of(program: Program) -> _Sites:
        return _Sites(program)
