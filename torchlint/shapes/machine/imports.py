"""Imports: files of the project are run like the program, known libraries are looked up, the rest is unknown."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from torchlint.shapes.core import standins
from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.doubts import Doubt
from torchlint.shapes.core.values import Exhausted, ProgramExit, Reason, Stop, Unknown, named, words_of
from torchlint.shapes.language.abandoned import whole
from torchlint.shapes.language.program import CompiledScope, Frame, Program, load, source_of
from torchlint.shapes.language.statements import Run
from torchlint.shapes.libraries import world

MAX_FILES = 1000
MAX_TEXT = 8_000_000  # characters of them all
MOST_NESTED = 40
DEFINITIONS = 20_000  # steps for what a script defines behind its end


class Imports:
    """The part of the machine that imports."""

    def import_module(self, name: str, level: int, importer: str, guarded: bool, whole: bool) -> Any:
        """The module `name`, or its top package when `import a.b` binds only `a`."""
        known = None if level else world.library(name)
        if known is not None and f"/{name.split('.')[0]}/" not in importer.replace("\\", "/"):
            return known if whole else world.library(name.split(".")[0])
        path = self.view.resolve(name, level, importer)
        if path is not None:
            if whole or level:
                return self.run_file(path, name)
            top = self.view.resolve(name.split(".")[0], 0, importer)
            self.run_file(path, name)
            return self.run_file(top, name.split(".")[0]) if top else _folder_above(path, name)
        if level:
            folder = self.view.resolve("__init__", level, importer)
            return standins.ImportedFile(name, folder or importer, {})
        if guarded:
            raise ImportError(f"No module named '{name}'")
        return named(f"the module {name} is not known")

    def is_there(self, name: str, importer: str) -> bool:
        """Is a module one of the project, or of a library that we know?"""
        return world.library(name) is not None or self.view.resolve(name, 0, importer) is not None

    def is_unread(self, name: str, level: int, importer: str) -> bool:
        """Is a module a file of the project that has not been run so far?"""
        path = self.view.resolve(name, level, importer)
        return path is not None and path not in self.files

    def import_name(self, module: Any, name: str, guarded: bool) -> Any:
        """`from module import name`"""
        if type(module) is standins.ImportedFile:
            if name in module.globals:
                return module.globals[name]
            if name == "__dict__":
                return self._names_of(module)
            path = (
                self.view.resolve(name, 1, module.path)
                if module.path.endswith("__init__.py") or not module.globals
                else None
            )
            if path is not None:
                return self.run_file(path, name)
            if self._runs_on(module, name):
                return module.globals[name]
            if "__getattr__" in module.globals:
                return self.call(module.globals["__getattr__"], [name], {})
            found = self._for_type_checkers(module, name)
            if found is not None:
                return found
            if guarded and module.complete:
                raise ImportError(f"cannot import name '{name}'")
            program = source_of(module.path)
            if module.complete and not self.trying and program is not None and not program.may_define(name):
                self.never = True  # Python ends there
            return named(f"{module.name}.{name} is not found")
        if type(module) is standins.Library:
            if not guarded and f"{module.name}.{name}" not in sys.modules:
                self.ask_torch(module, name, f"cannot import name '{name}' from '{module.name}'", ImportError)
            return self.of_library(module, name)
        return named(f"{name}: {module.reason}" if type(module) is Unknown else name)

    def _for_type_checkers(self, module: standins.ImportedFile, name: str) -> Any:
        """What a package that loads its parts when they are asked for shows type checkers under a name."""
        program = source_of(module.path)
        taken = _shown(program).get(name) if program is not None else None
        if taken is None:
            return None
        node, original = taken
        source = self.import_module(node.module or "", node.level, module.path, False, whole=True)
        if source is module:
            return None
        found = module.globals[name] = self.import_name(source, original, False)
        return found

    def _names_of(self, module: standins.ImportedFile) -> dict[str, Any]:
        """`module.__dict__`"""
        found = dict(module.globals)
        if not module.complete:
            self.changes.loosen(found)
        return found

    def import_star(self, module: Any, names: dict[str, Any]) -> None:
        """`from module import *`"""
        if type(module) is standins.ImportedFile:
            public = module.globals.get("__all__")
            if not isinstance(public, (list, tuple)):
                public = [n for n in module.globals if not n.startswith("_")]
            for name in public:
                if isinstance(name, str):
                    names[name] = self.import_name(module, name, False)
        elif type(module) is standins.Library:
            names.update(world.public(module))

    def run_file(self, path: str, name: str) -> standins.ImportedFile:
        """A file of the project, run once as a module. What goes wrong in it leaves its later names unknown."""
        if path in self.files:
            return self.files[path]
        module = self.files[path] = standins.ImportedFile(
            name, path, {"__name__": name, "__file__": path, "__doc__": None}
        )
        self.presumed |= path == self.script  # it runs a second time, and what it keeps lists of meets itself there
        text = self.view.read(path)
        if text is None or len(self.files) > MAX_FILES or self.importing > MOST_NESTED:
            return module
        self.imported_text += len(text)
        if self.imported_text > MAX_TEXT:
            return module
        try:
            module.program = load(path, text)
            module.globals["__doc__"] = module.program.doc
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return module
        before, self.importing = self.place, self.importing + 1
        budget, self.budget = self.budget, self.import_budget
        self.budget.depth = budget.depth
        try:
            self.run_program(module)
            module.complete = True
        except Exhausted:
            raise
        except (Exception, Stop):
            self.presumed = True
        finally:
            self.place, self.importing, self.budget = before, self.importing - 1, budget
        return module

    def is_without_its_package(self, path: str) -> bool:
        """Does a package around a file import something, and was not run? Files are run without their packages."""
        folder = os.path.dirname(path)
        while (text := self.view.read(package := os.path.join(folder, "__init__.py"))) is not None:
            run = self.files.get(package)
            if package != path and (run is None or not run.complete) and "import" in text:
                return True
            folder = os.path.dirname(folder)
        return False

    def run_program(self, module: standins.ImportedFile, wanted: str = "") -> None:
        """Run a file's statements from where it is, until it has the name that is wanted; one that fails leaves its
        names unknown, the next ones run.
        """
        frame = Frame(module.globals, None, module.globals, self)
        program, body = module.program, module.program.tree.body
        while module.position < len(body) and wanted not in module.globals:
            at, module.position = module.position, module.position + 1
            try:
                compiled(program, at)(frame)
            except Exception:
                self.doubt(body[at], Doubt.LEFT_OUT)

    def _runs_on(self, module: standins.ImportedFile, name: str) -> bool:
        """Whether a file that imports itself in a circle gets a name if what stands behind its import runs first: it
        would, had Python run the packages around it before, which are left out here.
        """
        if (
            module.complete
            or module.program is None
            or self.importing > MOST_NESTED
            or (module.path, name) in self.awaited
        ):
            return False
        before, self.importing = self.place, self.importing + 1
        self.awaited.add((module.path, name))
        try:
            if not self._gets_imported(module, name):
                self.run_program(module, name)
        finally:
            self.awaited.remove((module.path, name))
            self.place, self.importing = before, self.importing - 1
        return name in module.globals

    def _gets_imported(self, module: standins.ImportedFile, wanted: str) -> bool:
        """What the imports of a file bring that still run, as far as it is there; whether a name is among it."""
        for node in module.program.tree.body[: module.position]:
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                name = alias.asname or alias.name
                if name != "*" and name not in module.globals:
                    source = self.import_module(node.module or "", node.level, module.path, False, whole=True)
                    found = self.import_name(source, alias.name, False)
                    if type(found) is not Unknown:
                        module.globals[name] = found
                if name == wanted:
                    return name in module.globals
        return False

    def own_file(self, program: Program, names: dict[str, Any]) -> None:
        """Whoever imports the file that was run as a script gets the classes that it made."""
        module = self.files.setdefault(program.path, standins.ImportedFile("__main__", program.path, names))
        module.complete = True

    def _define(self, program: Program, position: int, frame: Frame) -> None:
        """The functions and classes behind the statement that ended a script."""
        budget, self.budget = self.budget, Budget(DEFINITIONS)
        for at, node in enumerate(program.tree.body[position:], position):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
                try:
                    compiled(program, at)(frame)
                except (Exception, Stop):
                    continue
        self.budget = budget

    def run_script(self, program: Program, names: dict[str, Any]) -> Iterator[Any]:
        """Run a file as a script and yield what torch refuses; what cannot be run is left out."""
        self.names = names
        self.script = program.path
        self.scripting = True
        try:
            yield from self._statements(program, Frame(names, None, names, self))
        finally:
            self.scripting = False

    def _statements(self, program: Program, frame: Frame) -> Iterator[Any]:
        for position, node in enumerate(program.tree.body):
            try:
                if not self._is_made(program, node, frame):
                    compiled(program, position)(frame)
            except Exception as error:
                failure = self.failures.get(id(error))
                self.progress.ended = False
                if failure is not None:
                    self.progress.ends(failure.place, words_of(error))
                    yield failure
                else:
                    says = words_of(error)
                    self.progress.left_out(says)
                    known = type(says) is Reason and says.place is not None
                    place = self.last_place if error is self.last_error else self.place
                    self.progress.ends(says.place if known else place, says)
                self.doubt(node, Doubt.LEFT_OUT)
            except Stop as end:
                self.progress.ended = isinstance(end, ProgramExit)
                self.progress.ends(end.place, str(end))
                self._define(program, position + 1, frame)
                raise

    def _is_made(self, program: Program, node: ast.stmt, frame: Frame) -> bool:
        """Whether a function or class was made when the file's own package imported the file, as its imports may do:
        then there is no other, and nothing is registered twice. Files that ask for their name are told apart by it.
        """
        module = self.files.get(program.path)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or program.asks_its_name:
            return False
        if module is None or module.program is not program or not module.complete:
            return False
        if node.name in module.globals:
            frame.globals[node.name] = module.globals[node.name]
        return node.name in module.globals


def _folder_above(path: str, name: str) -> standins.ImportedFile:
    """The top package of a module at a path, if it is a folder without a file of its own."""
    folder = path.removesuffix(".py").removesuffix(f"{os.sep}__init__")
    for _ in name.split(".")[1:]:
        folder = os.path.dirname(folder)
    return standins.ImportedFile(name.split(".")[0], os.path.join(folder, "__init__.py"), {})


@lru_cache(maxsize=64)
def _shown(program: Program) -> dict[str, tuple[ast.ImportFrom, str]]:
    """The names that a file imports for type checkers only, each with its import and what it is called there."""
    return {
        alias.asname or alias.name: (node, alias.name)
        for test in program.tree.body
        if isinstance(test, ast.If) and any(getattr(n, "id", "") == "TYPE_CHECKING" for n in ast.walk(test.test))
        for part in test.body
        for node in ast.walk(part)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def compiled(program: Program, position: int) -> Run:
    """The closure of one of a file's statements, made when its turn has come: a run may end long before the file."""
    if program.body is None:
        program.scope = CompiledScope("module", (), None, program)
        program.body = [None] * len(program.tree.body)
    step = program.body[position]
    if step is None:
        step = program.body[position] = whole(program.tree.body[position], program.scope)
    return step
