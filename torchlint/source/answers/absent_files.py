"""Files of its own project that a program imports and that are not there: renamed, moved, or never kept. Only names of
files and texts are asked.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
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
_OF_ITS_USER = re.compile(r"conf|setting|secret|credential|token|password|path|local|key|private", re.IGNORECASE)
_MOST_IMPORTS = 500
_FEW = 2


class Absent(NamedTuple):
    node: ast.AST  # where it is said
    path: str  # where it would be
    alike: str | None  # the one file that goes by its name elsewhere, or by its letters beside it


def absent_files(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[Absent]:
    """The files that an import takes for parts of the project, in folders which have no such part."""
    if not module.path.endswith(".py") or is_tried(statement) or asks_what_is_there(module, statement):
        return
    for node, stem in _absent(module, statement):
        if not any(stem == earlier for other in _before(module, statement) for _, earlier in _absent(module, other)):
            yield Absent(node, f"{stem}.py", _alike(module, stem))


def _before(module: Module, statement: ast.stmt) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports above, up to a number that nobody writes: each file is said to be absent once."""
    above = (one for one in module.index.nodes(ast.Import, ast.ImportFrom) if one.lineno < statement.lineno)
    return islice((one for one in above if not is_tried(one)), _MOST_IMPORTS)


@remembered
def _absent(module: Module, statement: ast.Import | ast.ImportFrom) -> tuple[tuple[ast.AST, str], ...]:
    """What a statement takes from files that are not there, with their paths up to the end."""
    is_from = isinstance(statement, ast.ImportFrom)
    if is_from and statement.module:
        stem = _Wanted(module, statement.module, statement.level).stem
        return () if stem is None else ((statement, stem),)
    found = []
    for alias in statement.names:
        name, level = imported_name(alias)
        stem = _Wanted(module, name, level).stem if alias.name != "*" else None
        if stem is not None and not (is_from and _is_said(module, statement.level, alias.name)):
            found.append((alias, stem))
    return tuple(found)


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
        base = self._base(parts)
        if base is None or self._view.resolve(self._name, self._level) is not None:
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
            return folder if is_package and _are_most_there(self._imports_beside()) else None
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
        if any(path.endswith((f"{end}.py", f"{end}{os.sep}__init__.py")) for path in view.project.files()):
            return False
        found = list(self._imports_of(folder))
        return any(is_there for _, is_there in found) and _are_most_there(found)

    def _imports_of(self, folder: str) -> Iterator[tuple[str, bool]]:
        """What programs import of a package by its whole name, and whether it is there."""
        view, word = self._view, os.path.basename(folder)
        for path in (self._module.path, *view.mentions(word)):
            for one in surface(view.project, path).imports:
                if not one.level and one.module.startswith(f"{word}."):
                    found = view.resolve(one.module, 0, path)
                    if found is None or found.startswith(folder + os.sep):
                        yield one.module, found is not None or self._is_folder_beside(folder, one.module)

    def _is_folder_beside(self, folder: str, module: str) -> bool:
        return _is_folder(self._view, os.path.join(os.path.dirname(folder), *module.split(".")))

    def _imports_beside(self) -> Iterator[tuple[str, bool]]:
        """What the program itself imports of the folders around it."""
        view, path = self._view, self._module.path
        for one in surface(view.project, path).imports:
            if one.level and one.module:
                folder = os.path.join(beginning(path, one.level), *one.module.split("."))
                yield folder, view.resolve(one.module, one.level) is not None or _is_folder(view, folder)

    def _is_missing(self, stem: str, part: str) -> bool:
        if is_made_later(part) or _OF_ITS_USER.search(part) or part.startswith("__"):
            return False
        if any(self._view.read(stem + end) is not None for end in (".py", *_OTHER_ENDS)):
            return False
        said = re.compile(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])")
        places = dict.fromkeys((self._view.project.folders[0], os.path.dirname(stem)))
        texts = (self._view.document(os.path.join(place, name)) for place in places for name in _MAKING)
        return not any(text and said.search(text) for text in texts)


def _are_most_there(imports: Iterable[tuple[str, bool]]) -> bool:
    """Are not more files missing than there are? Where so many are, the program is to be put into another project."""
    found = dict(imports)
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


def _alike(module: Module, stem: str) -> str | None:
    """Another file that may be meant: one that differs in case only, else the only one of that name."""
    files = module.world.view.project.files()
    beside = [path for path in files if path.lower() == f"{stem}.py".lower()]
    end = f"{os.sep}{os.path.basename(stem)}.py"
    found = beside or [path for path in files if path.endswith(end)]
    return found[0] if len(found) == 1 else None
