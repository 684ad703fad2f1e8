"""The indexes of a project's files: made once, kept while they are of use to others, and taken apart when nobody needs
them.
"""

from __future__ import annotations

import ast

from torchlint.project import Project
from torchlint.source.text.index import SCOPED, Index
from torchlint.source.text.parse import CannotParse, parse

_LEAVES = (ast.Name, ast.Constant)
MAX_KEPT = 600_000  # nodes of the trees whose index is kept; each takes about 540 bytes


class Indexes:
    """Those of one project. What many files asked for stays longest: each model of a library is read by a few that
    stand beside it, and its base classes by all. What stays has to be asked for again and again, for those that go
    raise the mark that others are measured from.
    """

    def __init__(self) -> None:
        self.of: dict[str, tuple[str, Index | None]] = {}  # text and index
        self._asked: dict[str, int] = {}  # how often
        self._worth: dict[str, int] = {}  # of what is kept: the lowest goes, of several the one that was used first
        self._mark = 0
        self._size = 0

    def get(self, project: Project, path: str, text: str, tree: ast.Module | None) -> Index | None:
        """The index of a text, made of its tree if there is one; None where it cannot be parsed."""
        self._asked[path] = self._asked.get(path, 0) + 1
        if path not in self.of or self.of[path][0] != text:
            self.drop(path)
            try:
                index = Index(text, path, tree, project.words(path, text))
            except CannotParse:
                index = None
            self.of[path] = text, index
            self._size += _nodes(text, index)
        self._worth.pop(path, None)
        self._worth[path] = self._mark + self._asked[path]  # the last one used is the last one of its worth to go
        while self._size > MAX_KEPT and len(self.of) > 1:
            last = min((other for other in self._worth if other != path), key=self._worth.__getitem__)
            self._mark = self._worth[last]
            self.drop(last)
        return self.of[path][1]

    def size_of(self, path: str) -> int:
        return _nodes(*self.of[path]) if path in self.of else 0

    def drop(self, path: str) -> None:
        if path not in self.of:
            return
        text, index = self.of.pop(path)
        self._worth.pop(path)
        self._size -= _nodes(text, index)
        if index is not None:
            index.is_kept = False
            let_go(index)


def _nodes(text: str, index: Index | None) -> int:
    """What an index takes, or in its place a text that has none."""
    return index.size if index is not None else len(text) // 500


def parsed(project: Project, path: str, text: str) -> ast.Module:
    """The tree of a file, parsed now if no other file has asked for its index before; raises CannotParse."""
    kept_text, index = _kept(project).of.get(path, ("", None))
    return index.tree if index is not None and kept_text == text else parse(text)


def shared_index(project: Project, path: str, text: str, tree: ast.Module | None = None) -> Index | None:
    """The index of a file, kept with the project because many files import the same ones; None where it cannot be
    parsed.
    """
    return _kept(project).get(project, path, text, tree)


def let_go_if_large(project: Project, path: str) -> None:
    """Does not keep the index of a file that takes most of the room, before another tree is made of it."""
    kept = _kept(project)
    if kept.size_of(path) > MAX_KEPT // 2:
        kept.drop(path)


def let_go(index: Index) -> None:
    """Takes an index apart that nobody needs any more."""
    if not (index.readers or index.is_kept):
        _take_apart(index)


def _take_apart(index: Index) -> None:
    """Nodes know what is around them: without this they would be garbage that refers to itself. Those that hold no
    others, most of all, go when no other and no scope holds them.
    """
    for kind, nodes in index.by_kind.items():
        if kind in SCOPED:
            for node in nodes:
                node.scope.bindings.clear()
                node.scope.paths.clear()
        for node in nodes if kind not in _LEAVES else ():
            node.__dict__.clear()
    index.__dict__.clear()


def _kept(project: Project) -> Indexes:
    return project.__dict__.setdefault("indexes", Indexes())
