"""Names that a file takes from another one of its project, which has no such word: renamed, moved, or never
written. Only texts are asked, so that no file is taken apart for it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.project import beginning, imported_as
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import imported_name
from torchlint.source.flow.uses import is_tried
from torchlint.source.text.index import Scope, enclosing_function
from torchlint.source.text.spelling import unparsed
from torchlint.source.text.surface import surface
from torchlint.source.training.regions import tests_around

_MADE_LATER = re.compile(r"_[A-Z]\w{0,3}|.*(?:_pb2|_pb2_grpc|_cuda|_cpp|_ext|_cy|version)$")  # generated, or compiled
_ASKS_WHAT_IS_THERE = re.compile(r"TYPE_CHECKING|available|version|\bhas_|\bis_|hasattr", re.IGNORECASE)
_PUT = re.compile(r"\.(\w+)(?=\s*(?::[^=\n]{0,200})?=(?!=))")
_PUTS_ANY = re.compile(r"setattr\(|\bcreate\s*=\s*True")  # the latter of `mock.patch`
_ABOVE = re.compile(r"""^sys\.path\.append\(["']\.\./?["']\)""", re.MULTILINE)
_MOST_READS = 2000


class Missing(NamedTuple):
    node: ast.AST  # where it is said
    names: tuple[str, ...]
    path: str  # of the file that has none of these
    home: str | None  # of one that has the first


def missing_from_files(module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[Missing]:
    """The names that an import takes from a file of the project which does not have them, and those that are read of
    files which it brings as a whole.
    """
    if is_tried(statement) or asks_what_is_there(module, statement):
        return
    is_from = isinstance(statement, ast.ImportFrom)
    home = _meant(module, statement.module or "", statement.level) if is_from else None
    lacking = []
    for alias in statement.names:
        name, level = imported_name(alias)
        if alias.name == "*" or not _is_bound_here_only(module, alias):
            continue
        if module.world.view.resolve(name, level) is not None:
            yield from _read_of(module, alias, _meant(module, name, level))
        elif home is not None and _lacks(module, home, alias.name) and not _may_be_a_part(module, home, alias.name):
            lacking.append(alias)
    if lacking and home is not None:
        names = tuple(alias.name for alias in lacking)
        yield Missing(lacking[0], names, home, _defined_in(module, names[0]))


def _meant(module: Module, name: str, level: int) -> str | None:
    """The file that an import names, if no other can be meant: of a library that goes by the same name."""
    if not name:
        return None  # `from . import part`: what is missing is a file
    view = module.world.view
    path = view.resolve(name, level)
    if path is None or view.read(os.path.join(path.removesuffix(".py"), "__init__.py")) is not None:
        return None  # a folder of the same name comes first
    if level:
        return path
    stem = os.path.join(*name.split("."))
    own = beginning(module.path, 0)
    package = os.path.dirname(path)
    if path.endswith(f"{os.sep}__init__.py") and f"{own}{os.sep}".startswith(f"{package}{os.sep}"):
        is_part = view.read(os.path.join(os.path.dirname(package), "__init__.py")) is not None
        is_bare = package == own and not (view.read(path) or "").strip()  # examples of a library, in a folder named so
        return None if is_part or is_bare else path  # as a package calls itself; a part does so by its whole name
    if "." in name:
        roots = view.project.folders
    else:
        roots = (os.path.dirname(own),) if _ABOVE.search(module.index.text) else ()
    is_of_others = module.index.says("sys.path.insert") or view.read(os.path.join(own, "__init__.py")) is not None
    begins = (
        roots if is_of_others else (own, *roots)
    )  # what is beside the file comes first, unless others are put there
    ends = (".py", f"{os.sep}__init__.py")
    return path if any(path == os.path.join(root, stem) + end for root in begins for end in ends) else None


def _lacks(module: Module, path: str, name: str) -> bool:
    """Does a name stand nowhere in a file that says all it has, nor in those of which it takes everything?"""
    homes, project = _homes(module, path), module.world.view.project
    if not homes or name.startswith("__") or is_made_later(name):
        return False
    if project.is_in_one(name, homes) and any(project.saying(name, homes)):
        return False
    if any(imported_as(other) == imported_as(path) for other in module.world.view.mentions(name)):
        return False
    return not _is_filled(module, imported_as(path))


@remembered
def _homes(module: Module, path: str) -> tuple[str, ...]:
    """The files whose names a file has, itself and those of which it takes everything; none if others may add names."""
    view = module.world.view
    found, waiting = {path: None}, [path]
    while waiting:
        home = waiting.pop()
        if view.read(home) is None or (says := surface(view.project, home)).is_filled_otherwise:
            return ()
        starred = says.bound.get("*", ())
        if says.takes_all and not starred:
            return ()
        for one in starred:
            taken = view.resolve(one.module, one.level, home)
            if taken is None:
                return ()
            if taken not in found:
                found[taken] = None
                waiting.append(taken)
    return tuple(found)


@remembered
def _is_filled(module: Module, word: str) -> bool:
    """Does anybody put names into a file that are written nowhere, `vars(config).update(values)`?"""
    view = module.world.view
    others = (surface(view.project, path) for path in view.mentions(word) if view.read(path) is not None)
    own = surface(view.project, module.path, module.index.text)
    return any(word in one.filled for one in (own, *others))


def _may_be_a_part(module: Module, path: str, name: str) -> bool:
    """May a name of a package be one of its files, which need not be Python, or be there yet?"""
    if os.path.basename(path) != "__init__.py":
        return False
    folder = os.path.join(os.path.dirname(path), name, "")
    is_folder = any(one.startswith(folder) for one in module.world.view.project.files())
    return is_folder or name.islower() and _defined_in(module, name) is None


def _defined_in(module: Module, name: str) -> str | None:
    """Another file at whose top a function or class goes by the name, if there is one."""
    view = module.world.view
    found = [path for path in view.mentions(name) if view.project.defines(path, name)]
    return found[0] if len(found) == 1 else None


def _read_of(module: Module, alias: ast.alias, path: str | None) -> Iterator[Missing]:
    """What is read of a file that an import brings as a whole."""
    bound = alias.asname or alias.name
    if path is None or "." in bound:
        return
    is_package = os.path.basename(path) == "__init__.py"  # its parts may be brought in by anybody, and are not called
    scope, seen = _scope(module, alias), set()
    for use in module.index.names(bound)[:_MOST_READS]:
        read = use.up
        if not isinstance(read, ast.Attribute) or read.attr in seen or use.at.lookup(bound) is not scope:
            continue
        if is_package and not (isinstance(read.up, ast.Call) and read.up.func is read):
            continue
        seen.add(read.attr)
        if not isinstance(read.ctx, ast.Load) or is_tried(read) or asks_what_is_there(module, read):
            continue
        if _lacks(module, path, read.attr) and not _is_put_there(module, read.attr):
            yield Missing(read, (read.attr,), path, _defined_in(module, read.attr))


def _is_put_there(module: Module, name: str) -> bool:
    """Does any file set an attribute of that name, of whatever?"""
    found = (_puts(module, path) for path in (module.path, *module.world.view.mentions(name)))
    return any(names is None or name in names for names in found)


@remembered
def _puts(module: Module, path: str) -> frozenset[str] | None:
    """The names of the attributes that a file sets; None where it may set any."""
    text = module.world.view.read(path) or ""
    return None if _PUTS_ANY.search(text) else frozenset(_PUT.findall(text))


def _is_bound_here_only(module: Module, alias: ast.alias) -> bool:
    bound = (alias.asname or alias.name).split(".")[0]
    return len(_scope(module, alias).bindings.get(bound, ())) == 1


def _scope(module: Module, alias: ast.alias) -> Scope:
    function = enclosing_function(alias)
    return module.tree.scope if function is None else function.scope


def is_made_later(name: str) -> bool:
    """Does a name sound like what is generated, or compiled?"""
    return _MADE_LATER.fullmatch(name) is not None


def asks_what_is_there(module: Module, node: ast.AST) -> bool:
    """Does it stand below a question of what is installed, or of who reads it?"""
    return any(_is_of_what_is_there(module, test) for test, _ in tests_around(node))


@remembered
def _is_of_what_is_there(module: Module, test: ast.expr) -> bool:
    return _ASKS_WHAT_IS_THERE.search(unparsed(test)) is not None
