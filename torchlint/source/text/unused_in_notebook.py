"""The lines of a notebook's functions, classes and methods that none of its cells uses. The notebook is run as it is:
what it does not name, nobody calls.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import NamedTuple

from torchlint.project import View
from torchlint.source.text.index import DEFINITIONS, last_word
from torchlint.source.text.notebook_json import NotebookError, read
from torchlint.source.text.reached import is_found_by_name
from torchlint.source.text.seen_uses import SeenUses
from torchlint.source.text.sketch import WRAPPERS, without_comments

_WORD = re.compile(rb"[A-Za-z_]\w*")
_LEAST_DONE = 3  # statements of a notebook that is run, and is no collection of definitions
_EXPORTED = re.compile(
    r"^[ \t]*#[ \t]*(?:\|[ \t]*)?exports?\b|__all__|globals\(\)|locals\(\)|getattr\(\w+, *[^\"' ]", re.MULTILINE
)
_KINDS = {*WRAPPERS, "classmethod", "staticmethod"}


class _Part(NamedTuple):
    name: str
    first: int
    last: int


class UnusedInNotebook:
    """Asked of some lines only: of what is found there."""

    def __init__(self, view: View, text: str, uses: SeenUses):
        self._view = view
        self._text = text
        self._uses = uses

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        return self._view.path.endswith(".ipynb") and line in self._unused

    @cached_property
    def _unused(self) -> frozenset[int]:
        """All lines of what nobody uses."""
        tree, code = self._uses.tree(self._view.path), self._code
        if tree is None or not code or self._is_taken_up or _EXPORTED.search(code):
            return frozenset()
        parts = [part for node in tree.body if isinstance(node, DEFINITIONS) for part in _parts(node)]
        if sum(map(_does, tree.body)) < _LEAST_DONE:
            return frozenset()
        unused = _said_by_nobody(parts, code, self._text)
        return frozenset().union(*(range(part.first, part.last + 1) for part in parts if part.name in unused))

    @cached_property
    def _is_taken_up(self) -> bool:
        """Does another program run the notebook, or import it: `%run net.ipynb`?"""
        own = os.path.basename(self._view.path).removesuffix(".ipynb")
        word = re.escape(own.encode())
        taking = re.compile(rb"\b" + word + rb"\.ipynb\b|\b(?:import|from|%run)[ \t]+(?:\w+[/.])*" + word + rb"\b")
        others = (path for path in self._view.naming(own, (".py", ".ipynb", ".sh")) if path != self._view.path)
        return any(taking.search(self._view.project.bytes(path) or b"") for path in others)

    @cached_property
    def _code(self) -> str:
        """All that the code cells say, also those that are no Python."""
        try:
            cells = read(self._view.project.document(self._view.path) or "").cells
        except NotebookError:
            return ""
        return "\n".join(cell.source.text for cell in cells if cell.kind == "code")


def _parts(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[_Part]:
    """A definition and, of a class that nobody else calls methods of, its methods."""
    if all(map(_only_wraps, node.decorator_list)):
        yield _Part(node.name, node.lineno, node.end_lineno or node.lineno)
    if isinstance(node, ast.ClassDef) and all(last_word(base) in ("object", "Module") for base in node.bases):
        for inner in node.body:
            if isinstance(inner, DEFINITIONS) and not is_found_by_name(inner.name):
                if all(map(_only_wraps, inner.decorator_list)):
                    yield _Part(inner.name, inner.lineno, inner.end_lineno or inner.lineno)


def _does(node: ast.stmt) -> bool:
    """Does a statement do something, and not only say what there is?"""
    if isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)):
        return False
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _only_wraps(decorator: ast.expr) -> bool:
    return last_word(decorator.func if isinstance(decorator, ast.Call) else decorator) in _KINDS


def _said_by_nobody(parts: Collection[_Part], code: str, text: str) -> set[str]:
    """The names that are said nowhere but in what goes by them, or by other such names."""
    lines = [Counter(_words(line)) for line in _plain(text).split(b"\n")]
    own: dict[str, set[int]] = {}
    for part in parts:
        if not part.name.isascii():
            continue  # it may be written in several ways
        own.setdefault(part.name, set()).update(range(part.first - 1, min(part.last, len(lines))))
    said = Counter(_words(_plain(code)))
    elsewhere = {name: said[name] - sum(lines[line][name] for line in at) for name, at in own.items()}
    left = [name for name, times in elsewhere.items() if times <= 0]
    unused = set(left)
    while left:
        for line in own[left.pop()]:
            for word, times in lines[line].items():
                if word in own and line not in own[word]:
                    elsewhere[word] -= times
                    if elsewhere[word] <= 0 and word not in unused:
                        unused.add(word)
                        left.append(word)
            lines[line] = Counter()
    return unused


def _plain(text: str) -> bytes:
    return without_comments(text.encode(errors="replace"))


def _words(text: bytes) -> list[str]:
    return [word.decode() for word in _WORD.findall(text)]
