"""Files of its own project that a program imports and that are not there: renamed, moved, or never kept. Only names of
files and texts are asked.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from torchlint.project import View, beginning
from torchlint.source.answers.names_of_files import asks_what_is_there, is_made_later
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import imported_name
from torchlint.source.flow.uses import is_tried
from torchlint.source.text.surface import surface

_OTHER_ENDS = (".pyx", ".pyi", ".so", ".pyd", ".cpp", ".cu", ".c", ".proto", ".ipynb", ".py.in", ".py.example")
# What says that a file is made, ignored or brought by somebody.
_MAKING = (
    *("setup.py", "setup.cfg", "pyproject.toml", "CMakeLists.txt", "Makefile", "meson.build"),
    *(".gitignore", ".gitmodules", "README.md", "README.rst", "README.txt", "readme.md", "README"),
)
_COMPILING = ("pyximport", "cppimport")  # with these, what is imported may be no Python
_OF_ITS_USER = re.compile(r"conf|setting|secret|credential|token|password|path|local|key|private", re.IGNORECASE)
_MOST = 20  # absent files of one program that are said
_FEW = 2


class Absent(NamedTuple):
    node: ast.AST  # where it is said
    path: str  # where it would be
    alike: str | None  # the one file that goes by its name elsewhere, or by its letters beside it


def absent_files(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[Absent]:
    """The files that an import takes for parts of the project, in folders which have no such part."""
    nodes = (statement, *statement.names)
    for node, stem in _absent(module):
        if any(node is one for one in nodes):
            yield Absent(node, f"{stem}.py", _alike(module, stem))


@remembered
def _absent(module: Module) -> tuple[tuple[ast.AST, str], ...]:
    """The first import of each absent file, with the file's path up to its end; some of very many."""
    view = module.world.view
    if not module.path.endswith(".py") or any(module.index.says(w) or view.mentions(w) for w in _COMPILING):
        return ()
    found: dict[str, ast.AST] = {}
    for statement in sorted(module.index.nodes(ast.Import, ast.ImportFrom), key=lambda one: one.pos):
        if len(found) == _MOST:
            break
        wanted = [*_wanted(module, statement)]
        if wanted and not is_tried(statement) and not asks_what_is_there(module, statement):
            for node, stem in wanted:
                found.setdefault(stem, node)
    return tuple((node, stem) for stem, node in found.items())


def _wanted(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[ast.AST, str]]:
    """What a statement takes from files that are not there."""
    if isinstance(statement, ast.ImportFrom) and statement.module:
        stem = _Wanted(module, statement.module, statement.level).stem
        if stem is not None:
            yield statement, stem
        return
    for alias in statement.names:
        name, level = imported_name(alias)
        stem = _Wanted(module, name, level).stem if alias.name != "*" else None
        if stem is not None and not (level and _is_said(module, level, alias.name)):
            yield alias, stem


class _Wanted:
    """What an import names."""

    def __init__(self, module: Module, name: str, level: int):
        self._module = module
        self._view: View = module.world.view
        self._name = name
        self._level = level

    @cached_property
    def stem(self) -> str | None:
        """The first part of the name that is no file and no folder, if all before it are folders of the project."""
        parts = self._name.split(".")
        if self._view.resolve(self._name, self._level) is not None or (base := self._base(parts)) is None:
            return None
        for at, part in enumerate(parts):
            stem = os.path.join(base, *parts[: at + 1])
            if not _is_folder(self._view, stem):
                return stem if self._is_missing(stem, part) else None
        return None

    def _base(self, parts: list[str]) -> str | None:
        """The folder in which the first part is looked for."""
        project = self._view.project
        if self._level:
            folder = beginning(self._module.path, self._level)
            is_package = self._view.read(os.path.join(folder, "__init__.py")) is not None  # not for another's folder
            return folder if is_package and _has_most_beside(self._module) else None
        if len(parts) < 2 or self._module.index.says("sys.path.insert"):
            return None
        for base in dict.fromkeys((beginning(self._module.path, 0), *project.folders)):
            folder = os.path.join(base, parts[0])
            if _is_folder(self._view, folder):
                return base if self._is_meant(folder, parts) else None
        return None

    def _is_meant(self, folder: str, parts: list[str]) -> bool:
        """Does somebody take another part of that folder by its name, and is no other folder in the project meant?"""
        view = self._view
        is_package = view.read(os.path.join(folder, "__init__.py")) is not None
        if not is_package and self._module.index.says("sys.path"):
            return False
        end = os.sep + os.path.join(*parts)
        alike = (*_called(view, f"{parts[-1]}.py"), *_called(view, parts[-1]))
        if any(path.endswith((f"{end}.py", f"{end}{os.sep}__init__.py")) for path in alike):
            return False
        return _has_most_of(self._module, folder)

    def _is_missing(self, stem: str, part: str) -> bool:
        if is_made_later(part) or _OF_ITS_USER.search(part) or part.startswith("__"):
            return False
        if any(self._view.read(stem + end) is not None for end in (".py", *_OTHER_ENDS)):
            return False
        said = re.compile(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])")
        places = dict.fromkeys((self._view.project.folders[0], os.path.dirname(stem)))
        texts = (self._view.document(os.path.join(place, name)) for place in places for name in _MAKING)
        return not any(text and said.search(text) for text in texts)


@remembered
def _has_most_of(module: Module, folder: str) -> bool:
    """Is something there of what programs import of a package by its whole name, and most of it?"""
    view, word = module.world.view, os.path.basename(folder)
    found: dict[str, bool] = {}
    for path in (module.path, *view.mentions(word)):
        for one in surface(view.project, path).imports:
            if not one.level and one.module.startswith(f"{word}.") and one.module not in found:
                home = view.resolve(one.module, 0, path)
                if home is None or home.startswith(folder + os.sep):
                    beside = os.path.join(os.path.dirname(folder), *one.module.split("."))
                    found[one.module] = home is not None or _is_folder(view, beside)
    return any(found.values()) and _are_most_there(found)


@remembered
def _has_most_beside(module: Module) -> bool:
    """Is most of what a program imports of the folders around it there?"""
    view, found = module.world.view, {}
    for one in surface(view.project, module.path).imports:
        if one.level and one.module:
            folder = os.path.join(beginning(module.path, one.level), *one.module.split("."))
            found[folder] = view.resolve(one.module, one.level) is not None or _is_folder(view, folder)
    return _are_most_there(found)


def _are_most_there(found: dict[str, bool]) -> bool:
    """Are not more files missing than there are? Where so many are, the program is to be put into another project."""
    missing = sum(not is_there for is_there in found.values())
    return missing <= max(_FEW, len(found) - missing)


def _is_said(module: Module, level: int, name: str) -> bool:
    """May a package have a name by itself?"""
    path = os.path.join(beginning(module.path, level), "__init__.py")
    view: View = module.world.view
    if view.read(path) is None:
        return False
    return not surface(view.project, path).says_all or any(view.project.saying(name, (path,)))


def _is_folder(view: View, path: str) -> bool:
    return path in _folders(view)


def _folders(view: View) -> frozenset[str]:
    """The folders of the project that have programs, in them or below."""
    known = view.project.closures
    if "folders" not in known:
        found: set[str] = set()
        for path in view.project.files():
            folder = os.path.dirname(path)
            while folder not in found and folder.startswith(view.project.folders[0]):
                found.add(folder)
                folder = os.path.dirname(folder)
        known["folders"] = frozenset(found)
    return known["folders"]


def _called(view: View, name: str) -> list[str]:
    """The programs that go by a name, whatever its case, or that lie in a folder of that name."""
    known = view.project.closures
    if "called" not in known:
        found: dict[str, list[str]] = {}
        for path in view.project.files():
            folder, file = os.path.split(path)
            for word in (file, os.path.basename(folder)):
                found.setdefault(word.lower(), []).append(path)
        known["called"] = found
    return known["called"].get(name.lower(), [])


def _alike(module: Module, stem: str) -> str | None:
    """Another file that may be meant: one that differs in case only, else the only one of that name."""
    file = f"{os.path.basename(stem)}.py"
    named = [path for path in _called(module.world.view, file) if path.lower().endswith(file.lower())]
    beside = [path for path in named if path.lower() == f"{stem}.py".lower()]
    found = beside or [path for path in named if os.path.basename(path) == file]
    return found[0] if len(found) == 1 else None
