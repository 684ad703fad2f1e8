"""A file in its project: its index, the files it imports, positions as spans."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from torchlint.columns import Columns
from torchlint.finding import Note, Span
from torchlint.installed import NEWEST
from torchlint.project import Project, View
from torchlint.source.text.index import FUNCTIONS, LOOPS, Index, within
from torchlint.source.text.parse import CannotParse, parse
from torchlint.source.text.surface import surface

MAX_FILES = 40  # that are parsed to judge one; a bound on time and memory
MAX_USERS = 8  # files that mention a function; a name that more of them mention is too common to ask them
MAX_KEPT = 2_000_000  # characters of files whose index is kept; a character takes about 50 bytes there

_TEST_LIBRARIES = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:pytest|unittest|absl\.testing)\b", re.MULTILINE)
_TEST_FILES = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_IN_A_FOLDER_OF_TESTS = re.compile(r"(^|.*/)tests?/test_[^/]*\.py")  # a script among them has no functions
_TEST_FUNCTIONS = re.compile(r"^[ \t]*(?:def test_|class Test|@pytest\b)", re.MULTILINE)


class World:
    """All files that were read to judge one file, and what was found out about them on the way."""

    def __init__(self, view: View, target: tuple[int, int] = NEWEST):
        self.view = view
        self.target = target  # the torch that the program is to run on
        self.modules: dict[str, Module | None] = {}
        self.memo: dict[Any, Any] = {}
        self.pending: set[Any] = set()  # what is being found out
        self.kept: list[Any] = []
        self.cuts = 0  # how often a search ended at a bound or at itself
        self.circles = 0  # how often at itself
        self.short: dict[Any, Any] = {}  # what searches found that ended at a bound, and how deep they were
        self.steps = 0  # of the question that is being answered
        self.depth = 0  # of the steps that wait for others
        self.deciding = 0  # tests that are being decided for others
        self.nesting = 0  # of questions that lead to questions, so that a recursion ends as an unknown
        self.rewritten_lines = 0  # given to libcst, for the statistics

    def module(self, path: str) -> Module | None:
        """Another file of the project, None where it cannot be read or too many were read before it."""
        if path not in self.modules:
            if len(self.modules) > MAX_FILES:
                self.cuts += 1
                return None
            text = self.view.read(path)
            index = None if text is None else shared_index(self.view.project, path, text)
            self.modules[path] = Module(index, self) if index else None
        return self.modules[path]

    def ends_at_itself(self) -> None:
        self.cuts += 1
        self.circles += 1

    def forget_searches(self) -> None:
        """A search was broken off by an error: the next one begins from nothing."""
        self.pending.clear()
        self.steps = self.depth = self.nesting = self.deciding = 0

    def imported_texts(self, path: str, text: str) -> Iterator[tuple[str, str]]:
        """The project files that a file imports, as far as its text tells, with their texts; nothing is parsed."""
        for name, level in surface(self.view.project, path, text).imports:
            found = self.view.resolve(name, level, path) if name or level else None
            read = self.view.read(found) if found else None
            if read is not None:
                yield found, read


def parsed(project: Project, path: str, text: str) -> ast.Module:
    """The tree of a file, parsed now if no other file has asked for its index before; raises CannotParse."""
    kept_text, index = _kept(project).get(path, ("", None))
    return index.tree if index is not None and kept_text == text else parse(text)


def shared_index(project: Project, path: str, text: str, tree: ast.Module | None = None) -> Index | None:
    """The index of a file, kept with the project because many files import the same ones; None where it cannot be
    parsed.
    """
    kept = _kept(project)
    if path in kept and kept[path][0] == text:
        kept[path] = kept.pop(path)  # the last one used is the last one to go
        return kept[path][1]
    try:
        index = Index(text, path, tree)
    except CannotParse:
        index = None
    kept[path] = (text, index)
    size = sum(len(text) for text, _ in kept.values())
    while size > MAX_KEPT and len(kept) > 1:
        size -= len(kept.pop(next(iter(kept)))[0])
    return index


def _kept(project: Project) -> dict[str, tuple[str, Index | None]]:
    return project.__dict__.setdefault("indexes", {})


class Module:
    """One file as the rules see it."""

    def __init__(self, index: Index, world: World):
        self.index = index
        self.world = world
        self.path = index.path
        self.tree = index.tree
        self._columns = Columns(index.lines)

    def __repr__(self) -> str:
        return f"<Module {self.path}>"

    @cached_property
    def is_test(self) -> bool:
        """Does the file test something: on a few samples, and nothing of it is kept?"""
        path = self.path.replace("\\", "/")
        return bool(
            _TEST_LIBRARIES.search(self.index.text)
            or _TEST_FILES.fullmatch(path.rsplit("/", 1)[-1])
            and (_TEST_FUNCTIONS.search(self.index.text) or _IN_A_FOLDER_OF_TESTS.fullmatch(path))
        )

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, in code points."""
        return Span(
            node.lineno,
            self._columns.of(node.lineno, node.col_offset),
            node.end_lineno,
            self._columns.of(node.end_lineno, node.end_col_offset),
        )

    def segment(self, node: ast.AST) -> str:
        """The source text of a node."""
        return self.text_of(self.span(node))

    def text_of(self, span: Span) -> str:
        lines = self.index.lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "".join(lines)

    def note(self, node: ast.AST, message: str) -> Note:
        return Note(message, self.path, self.span(node))

    def imported(self, module: str, level: int = 0) -> Module | None:
        """The project file that an import in this file means."""
        path = self.world.view.resolve(module, level, self.path)
        return self.world.module(path) if path else None

    def mentions(self, word: str) -> bool:
        """Does this file, a project file that it imports, one that uses its training code or what such a one imports
        contain the text `word` (alternatives divided by `|`)?"""
        memo, key = self.world.memo, ("mentions", self.path, word)
        if key not in memo:
            words = word.split("|")
            project = self.world.view.project
            memo[key] = any(w in self.index.text for w in words) or any(
                project.contains(path, w) for path in self._around() for w in words
            )
        return memo[key]

    def _around(self) -> Iterator[str]:
        yield from self._behind()
        yield from self._users()
        for path in self._users():
            user = self.world.module(path)
            yield from user._behind() if user else ()

    def _behind(self) -> list[str]:
        """The project files it imports. A package's `__init__.py` only passes on: what it imports counts too."""
        memo, key = self.world.memo, ("behind", self.path)
        if key not in memo:
            found: dict[str, None] = {}
            queue = list(self.imported_paths())
            while queue:
                path = queue.pop()
                if path in found or path == self.path:
                    continue
                found[path] = None
                self.world.view.read(path)  # so that it counts as consulted
                if path.endswith("__init__.py"):
                    module = self.world.module(path)
                    queue += module.imported_paths() if module else ()
            memo[key] = list(found)
        return memo[key]

    def users(self, name: str) -> list[Module]:
        """The other files that mention a function or class at the top of this file, none where too many do."""
        return [other for path in self._user_paths(name) if (other := self.world.module(path))]

    def trains(self, name: str) -> bool:
        """Is it training code of this file? `main.py` says which model and which loss `engine.py` is given."""
        return name in self._training_code()

    def _users(self) -> dict[str, None]:
        return {path: None for name in self._training_code() for path in self._user_paths(name)}

    def _user_paths(self, name: str) -> list[str]:
        memo, key = self.world.memo, ("users", self.path, name)
        if key not in memo:
            paths = self.world.view.users(self.path, name)
            memo[key] = paths if len(paths) <= MAX_USERS else []
        return memo[key]

    def _training_code(self) -> dict[str, None]:
        """What stands at the top of the file and runs `backward()`, or loops in the same file."""
        memo, key = self.world.memo, ("training code", self.path)
        if key not in memo:
            backwards = self.index.callers("backward")
            memo[key] = {
                node.name: None
                for node in (self.tree.body if self.index.says("backward(") else ())
                if (isinstance(node, FUNCTIONS) and any(self.index.holds(node, kind) for kind in LOOPS))
                or (isinstance(node, (*FUNCTIONS, ast.ClassDef)) and any(within(call, node) for call in backwards))
            }
        return memo[key]

    def imports(self) -> list[Module]:
        """The project files that this file imports."""
        return [other for path in self.imported_paths() if (other := self.world.module(path))]

    def imported_paths(self) -> list[str]:
        """Where they are, without reading them."""
        key = ("imports", self.path)
        if key not in self.world.memo:
            found: dict[str, None] = {}
            for node in self.index.nodes(ast.Import, ast.ImportFrom):
                if isinstance(node, ast.Import):
                    wanted = [(alias.name, 0) for alias in node.names]
                else:
                    base = node.module or ""
                    wanted = [(base, node.level)] + [
                        (f"{base}.{alias.name}" if base else alias.name, node.level)
                        for alias in node.names
                        if alias.name != "*"
                    ]
                for name, level in wanted:
                    path = self.world.view.resolve(name, level, self.path) if name or level else None
                    if path and path != self.path:
                        found[path] = None
            self.world.memo[key] = list(found)
        return self.world.memo[key]
