"""What nothing in a program names: a function that nobody calls, an old copy of a class, a file of such that nobody
imports. What is wrong there does no harm until somebody takes it up.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from torchlint.project import View
from torchlint.source.text.index import last_word

_MOST = 1000  # programs
# Whose parts anybody may call:
_PACKAGED = re.compile(rb"\bsetup\(|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
# What takes something by a name that is put together or given, of everything, or of one thing.
_TAKERS = ("globals", "locals", "eval", "__import__", "import_module", "__dict__", "getattr")
_BY_ANY_NAME = re.compile(rb"(?<![.\w])(?:globals\(\)|locals\(\)|eval\(|__import__\()|\bimport_module\(|__dict__\[")
_BY_A_NAME = re.compile(rb"\bgetattr\([ \t\n]*([\w.\[\]]+)[ \t\n]*,[ \t\n]*[^\"' \t\n]")
_BRINGS = re.compile(rb"[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*\(?[\w, \t]+\Z")
_RENAMED = re.compile(rb"[ \t]+as\b")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FOUND_BY_NAME = re.compile(r"_.*|main|test.*|.*[tT]est|forward|extra_repr")  # by Python, torch or pytest


_FOUND_BY_FILE = frozenset({"hubconf.py", "conftest.py"})  # by torch.hub or pytest
_NEIGHBOURS = 3  # files beside one that nobody imports, which somebody does
_MOST_NEIGHBOURS = 50  # are looked at
_MOST_ASKED = 40  # names of one file: each is looked for in the whole project


class Definition(NamedTuple):
    """A function, a class or a method in its file: by its name, from line to line."""

    name: str
    first: int
    last: int
    is_taken: bool  # by a decorator


class _Outline(NamedTuple):
    """What a file defines at its top, and the methods of it that no base but `nn.Module` may call."""

    top: tuple[Definition, ...]
    methods: tuple[Definition, ...]
    only_defines: bool  # to run the file by hand does nothing


def _outline(tree: ast.Module) -> _Outline:
    """What a file defines."""
    top = [part for part in tree.body if isinstance(part, _DEFINITIONS)]
    plain = [part for part in top if isinstance(part, ast.ClassDef) and all(map(_is_plain, part.bases))]
    methods = [inner for part in plain for inner in part.body if isinstance(inner, _DEFINITIONS)]
    only_defines = bool(top) and all(map(_only_binds, tree.body))
    return _Outline(tuple(map(_definition, top)), tuple(map(_definition, methods)), only_defines)


def _only_binds(part: ast.stmt) -> bool:
    """A definition, an import, a constant or a text."""
    kinds = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Pass)
    if isinstance(part, ast.Try):
        return all(map(_only_binds, part.body))
    return isinstance(part, kinds) or isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Definition:
    return Definition(node.name, node.lineno, node.end_lineno or node.lineno, bool(node.decorator_list))


def _is_plain(base: ast.expr) -> bool:
    return last_word(base) in ("object", "Module")


class Unnamed:
    """The lines of a file that stand in what no other line of the project's texts names. Of a file that is imported,
    and so meant to be used, that may be a function, a class or a method; one that nobody imports has to be left over as
    a whole.
    """

    def __init__(self, view: View, tree: ast.Module):
        self._view = view
        self._known = _outline(tree)
        self._asked: dict[Definition, bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        if not self._view.is_imported():
            return self._is_left_over
        around = [part for part in (*self._known.top, *self._known.methods) if part.first <= line <= part.last]
        nameable = [part for part in around if not _FOUND_BY_NAME.fullmatch(part.name)]
        if not nameable or any(part.is_taken for part in around) or _may_be_asked_for(self._view):
            return False
        return any(map(self._says_nobody, nameable))

    @cached_property
    def _is_left_over(self) -> bool:
        return (
            _may_be_left_over(self._view, self._known)
            and not _may_be_asked_for(self._view)
            and _says_nobody(self._view, _as_a_whole(self._view))
        )

    def _says_nobody(self, part: Definition) -> bool:
        if part not in self._asked and len(self._asked) < _MOST_ASKED:
            self._asked[part] = _says_nobody(self._view, part)
        return self._asked.get(part, False)


def _may_be_left_over(view: View, known: _Outline) -> bool:
    """Is it a file of definitions alone, in a folder of which others are imported? A script may be called by hand, and
    what stands alone, or beside others like it, is to be read.
    """
    file = os.path.basename(view.path)
    if not known.only_defines or file in _FOUND_BY_FILE or _FOUND_BY_NAME.fullmatch(file.removesuffix(".py")):
        return False
    if any(part.is_taken or _FOUND_BY_NAME.fullmatch(part.name) for part in known.top):
        return False
    return sum(map(view.is_imported, islice(view.beside(), _MOST_NEIGHBOURS))) >= _NEIGHBOURS


def _as_a_whole(view: View) -> Definition:
    """A file as something that goes by a name, too."""
    return Definition(os.path.basename(view.path).removesuffix(".py"), 0, 0, is_taken=False)


def _may_be_asked_for(view: View) -> bool:
    """May a program take parts of the file by names that it puts together?"""
    asked = _asked_for_by_name(view)
    folder, file = os.path.split(view.path)
    homes = {"self", "__name__]", os.path.basename(folder), file.removesuffix(".py")}
    return asked is None or not homes.isdisjoint(asked)


def _asked_for_by_name(view: View) -> set[str] | None:
    """Of what a program takes parts by names that are not written down: `getattr(losses, args.loss)`. None if that may
    be everything, if the project is a library, and where there is too much of it.
    """
    packaging = [os.path.join(view.project.root, name) for name in ("setup.py", "setup.cfg", "pyproject.toml")]
    if any(_PACKAGED.search((view.document(path) or "").encode()) for path in packaging):
        return None
    if len(view.project.files()) > _MOST or view.project.documents() is None:
        return None
    programs = {path: None for word in _TAKERS for path in view.naming(word) if path.endswith(".py")}
    known = view.project.closures
    if "asked for by name" not in known:
        known["asked for by name"] = _asked(view.project.bytes(path) or b"" for path in programs)
    return known["asked for by name"]


def _asked(programs: Iterable[bytes]) -> set[str] | None:
    found = set()
    for text in programs:
        if _BY_ANY_NAME.search(text):
            return None
        found.update(name.rpartition(b".")[2].decode() for name in _BY_A_NAME.findall(text))
    return found


def _says_nobody(view: View, node: Definition) -> bool:
    """Does its name stand nowhere but where things are so called, in itself, in comments, and where it is brought under
    this name for nobody?
    """
    name = node.name.encode()
    own = range(node.first, node.last + 1)
    pattern = re.compile(rb"\b" + name + rb"\b")
    defined = re.compile(rb"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+" + name + rb"\b")
    for path in view.naming(node.name):
        data = view.project.bytes(path) or b""
        if not path.endswith(".py"):
            return False
        for match in pattern.finditer(data):  # few lines have it: no other is looked at
            start = data.rfind(b"\n", 0, match.start()) + 1
            text = data[start : match.end()]
            if not _is_comment(text) and not defined.match(text) and not _is_brought(data, start, match.end()):
                if path != view.path or data.count(b"\n", 0, start) + 1 not in own:
                    return False
    return True


def _is_brought(data: bytes, start: int, end: int) -> bool:
    """Is a name one of those that an import in a line brings as they are?"""
    return _BRINGS.match(data, start, end) is not None and _RENAMED.match(data, end) is None


def _is_comment(beginning: bytes) -> bool:
    """Has a comment begun in a line, and no string that holds the hash?"""
    before, has_hash, _ = beginning.partition(b"#")
    return bool(has_hash) and not (before.count(b'"') % 2 or before.count(b"'") % 2)
