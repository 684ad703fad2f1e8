"""A file in its project: its index, the files it imports, positions as spans."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from torchlint.columns import Columns
from torchlint.facts import named, words
from torchlint.finding import Note, Span
from torchlint.installed import NEWEST
from torchlint.project import TEST_FILES, View
from torchlint.source.flow.memory import remembered
from torchlint.source.text.behind import Behind, behind, imported
from torchlint.source.text.index import FUNCTIONS, LOOPS, Index, last_word
from torchlint.source.text.indexes import let_go, shared_index
from torchlint.source.text.spelling import constant_truth

MAX_FILES = 40  # that are parsed to judge one; a bound on time and memory
MANY_BEHIND = 500  # files; the start of a library passes on what all others have
MAX_USERS = 8  # files that mention a function; a name that more of them mention is too common to ask them

_OF_PARAMETERS = frozenset(("parameters", "named_parameters"))
_LOSSES = words(name for name in named("reduces") if name.startswith("torch.nn."))
_TEST_LIBRARIES = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:pytest|unittest|absl\.testing)\b", re.MULTILINE)
_IN_A_FOLDER_OF_TESTS = re.compile(r"(^|.*/)tests?/test_[^/]*\.py")  # a script among them has no functions
_BELOW_TESTS = re.compile(r"(^|.*/)tests?/.*")  # what tests use: models to try, scripts that print
_TEST_FUNCTIONS = re.compile(r"^[ \t]*(?:def test_|class Test|@pytest\b)", re.MULTILINE)


class World:
    """All files that were read to judge one file, and what was found out about them on the way."""

    def __init__(self, view: View, target: tuple[int, int] = NEWEST):
        self.view = view
        self.target = target  # the torch that the program is to run on
        self.modules: dict[str, Module | None] = {}
        self.memo: dict[Any, Any] = {}
        self.pending: dict[Any, int] = {}  # what is being found out, and how many searches were open then
        self.gathered: dict[Any, tuple[int, dict]] = {}  # calls so far, and the search for them
        self.kept: list[Any] = []
        self.classes: dict[ast.ClassDef, Any] = {}  # what is known of each; it inherits from itself first
        self.cuts = 0  # how often a search ended at a bound or at itself
        self.circles = 0  # how often at itself
        self.open = 0  # searches that have begun
        self.outermost = 0  # of those that circles ended at, by its number among the open ones
        self.short: dict[Any, Any] = {}  # what searches found that ended at a bound, and how deep they were
        self.steps = 0  # of the question that is being answered
        self.most_steps = 0  # that it may take
        self.spent = 0  # steps of all questions before
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

    def end(self) -> None:
        """What was found out is let go at once: it refers to itself in circles, and would else wait for a search for
        garbage that takes longer than most files."""
        for module in self.modules.values():
            if module is not None:
                module.index.readers -= 1
                let_go(module.index)
                module.__dict__.clear()
        for known in self.classes.values():
            known.__dict__.clear()
        for kept in (self.modules, self.memo, self.kept, self.classes, self.short):
            kept.clear()
        self.forget_searches()

    def ends_at_itself(self, search: int = 0) -> None:
        """A search ends at an open one. What is found within that depends on it; what it finds itself does not."""
        self.cuts += 1
        self.circles += 1
        self.outermost = min(self.outermost, search)

    def forget_searches(self) -> None:
        """A search was broken off by an error: the next one begins from nothing."""
        self.pending.clear()
        self.gathered.clear()
        self.steps = self.depth = self.nesting = self.deciding = self.open = self.outermost = 0


class Module:
    """One file as the rules see it."""

    def __init__(self, index: Index, world: World):
        self.index = index
        self.world = world
        self.path = index.path
        self.tree = index.tree
        self._columns = Columns(index.lines)
        self._meant: dict[tuple[str, int], str | None] = {}  # by its imports
        index.readers += 1

    def __repr__(self) -> str:
        return f"<Module {self.path}>"

    @cached_property
    def is_test(self) -> bool:
        """Does the file test something: on a few samples, and nothing of it is kept?"""
        path = self.path.replace("\\", "/")
        return bool(
            any(map(self.index.says, ("pytest", "unittest", "absl")))
            and _TEST_LIBRARIES.search(self.index.text)
            or _BELOW_TESTS.fullmatch(self.path_in_project)
            or TEST_FILES.fullmatch(path.rsplit("/", 1)[-1])
            and (_TEST_FUNCTIONS.search(self.index.text) or _IN_A_FOLDER_OF_TESTS.fullmatch(path))
        )

    @property
    def path_in_project(self) -> str:
        """Where the whole project lies says nothing of its files."""
        root = str(self.world.view.project.root)
        return self.path.removeprefix(root).replace("\\", "/").lstrip("/") if self.path.startswith(root) else ""

    @cached_property
    def skipped(self) -> tuple[tuple[int, int], ...]:
        """The lines of tests that are marked as skipped, or as failing: what goes wrong there is known. And those that
        are switched off: `if False:`, the `else` of `if x or True:`.
        """
        words, found = ("skip", "xfail", "expectedFailure"), []
        if any(map(self.index.says, words)):
            found = [
                (node.lineno, node.end_lineno)
                for node in (*self.index.functions, *self.index.classes)
                for mark in node.decorator_list
                if last_word(mark.func if isinstance(mark, ast.Call) else mark) in words
            ]
        for node in self.index.nodes(ast.If):
            truth = constant_truth(node.test)
            off = node.orelse if truth else node.body if truth is False else []
            found += [(off[0].lineno, off[-1].end_lineno)] if off else []
        return tuple(found)

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
        if (module, level) not in self._meant:
            self._meant[module, level] = self.world.view.resolve(module, level, self.path)
        path = self._meant[module, level]
        return self.world.module(path) if path else None

    @remembered
    def finds(self, pattern: re.Pattern[str]) -> bool:
        """Does the file's text have what a pattern looks for? It is searched once, whoever asks, and how often."""
        return pattern.search(self.index.text) is not None

    @remembered
    def mentions(self, word: str) -> bool:
        """Does this file, a project file that stands behind it, one that uses its training code or what stands behind
        such a one contain the text `word` (alternatives divided by `|`)?"""
        words = word.split("|")
        return any(map(self.index.says, words)) or self.others_mention(words)

    def others_mention(self, words: Sequence[str]) -> bool:
        """Does one of those other files contain one of these texts?"""
        return any(self.world.view.project.is_in_one(word, self._around) for word in words)

    def others_that_mention(self, word: str) -> list[Module | None]:
        """Those of them that do; None stands for one that is not read."""
        contains = self.world.view.project.contains
        return [self.world.module(path) for path in self._around if contains(path, word)]

    @cached_property
    def behind(self) -> Behind:
        """The project files that it imports, and what packages pass on to it."""
        return self._consulted(behind(self.world.view.project, self.path, self.index.text))

    @property
    def leads_anywhere(self) -> bool:
        """Do so many files stand behind it that to look for a name in all of them takes longer than to follow it?"""
        return len(self.behind.paths) > MANY_BEHIND

    def imported_paths(self) -> tuple[str, ...]:
        """The project files that its imports name."""
        return self._consulted(imported(self.world.view.project, self.path, self.index.text)).paths

    def _consulted(self, found: Behind) -> Behind:
        self.world.view.consulted.update(found.consulted)
        return found

    @cached_property
    def _around(self) -> list[str]:
        view, found = self.world.view, dict.fromkeys(self.behind.paths)
        for user in self._users():
            if (text := view.read(user)) is not None:
                found.update(dict.fromkeys((user, *self._consulted(behind(view.project, user, text)).paths)))
        return list(found)

    @remembered
    def users(self, name: str, calling: str = "") -> list[Module]:
        """The other files that mention a function or class at the top of this file, none where too many do; of those
        the ones that seem to call something that goes by the second name, if there is one: others are not parsed.
        """
        return self._read(self._user_paths(name), calling)

    def deriving(self, name: str, calling: str = "") -> list[Module]:
        """Those of them in which a class derives from a class of this file."""
        derived = set(self.world.view.deriving(name)) - {self.path}
        others = self._read([path for path in self._user_paths(name) if path in derived] if derived else [], calling)
        return [other for other in others if any(name in map(last_word, cls.bases) for cls in other.index.classes)]

    def _read(self, paths: list[str], calling: str) -> list[Module]:
        project = self.world.view.project
        wanted = [path for path in paths if project.seems_to_call(path, calling)] if calling else paths
        return [other for path in wanted if (other := self.world.module(path))]

    def trains(self, name: str) -> bool:
        """Is it training code or a loss of this file, or does it freeze what it is given? `main.py` says which model
        and which loss `engine.py` is given, what `losses.py`, and what `freezing.py`.
        """
        return name in self._training_code or name in self._losses or name in self._freezing_code

    def _users(self) -> dict[str, None]:
        names = self._training_code or self._losses or self._code_for_models()
        return {path: None for name in names for path in self._user_paths(name)}

    def _code_for_models(self) -> dict[str, None]:
        """What stands at the top of a file without torch and evaluates a model that is given, takes its weights, or
        freezes it.
        """
        if self.index.says("torch"):
            return {}
        taken = [call for word in ("state_dict", "eval") for call in self.index.callers(word)]
        return self._at_the_top(taken) | self._freezing_code

    @cached_property
    def _freezing_code(self) -> dict[str, None]:
        """What stands at the top of the file and sets `requires_grad` of what it is given, not of its parameters."""
        if not self.index.says("requires_grad"):
            return {}
        told = [call for call in self.index.callers("setattr") if _sets_whether_it_learns(call)]
        return self._at_the_top([*self.index.stored("requires_grad"), *told], but=_OF_PARAMETERS)

    def _at_the_top(self, inside: Sequence[ast.AST], but: frozenset[str] = frozenset()) -> dict[str, None]:
        """The functions and classes at the top of the file in which one of some nodes stands, and no such word."""
        kinds, tops = (*FUNCTIONS, ast.ClassDef), self._tops(inside)
        return {
            node.name: None
            for node in (self.tree.body if tops else ())
            if isinstance(node, kinds) and node in tops and not self.index.stands(but, node)
        }

    @remembered
    def _user_paths(self, name: str) -> list[str]:
        paths = self.world.view.users(self.path, name)
        return paths if len(paths) <= MAX_USERS else []

    @cached_property
    def _training_code(self) -> dict[str, None]:
        """What stands at the top of the file and runs `backward()`, or loops in the same file."""
        backwards = self._tops_calling(("backward",))
        return {
            node.name: None
            for node in (self.tree.body if self.index.says("backward(") else ())
            if (isinstance(node, FUNCTIONS) and any(self.index.holds(node, kind) for kind in LOOPS))
            or (isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node in backwards)
        }

    @cached_property
    def _losses(self) -> dict[str, None]:
        """What stands at the top of the file and computes a loss of what it is given, without layers of its own."""
        if not self.index.says("torch"):
            return {}
        by_hand = self._tops_calling(("log_softmax", "logsumexp"))
        losses = self._tops_calling(_LOSSES) | (by_hand and by_hand & self._tops_calling(("mean", "sum")))
        return {
            node.name: None
            for node in (self.tree.body if losses else ())
            if node in losses
            if (isinstance(node, FUNCTIONS) and not any(self.index.holds(node, kind) for kind in LOOPS))
            or (isinstance(node, ast.ClassDef) and _is_called(node) and not self._makes_parts(node))
        }

    def _tops_calling(self, words: Iterable[str]) -> set[ast.AST]:
        """The statements at the top of the file in which something is called by one of some words."""
        return self._tops(call for word in words for call in self.index.callers(word))

    def _tops(self, nodes: Iterable[ast.AST]) -> set[ast.AST]:
        """The statements at the top of the file in which some nodes stand."""
        found: set[ast.AST] = set()
        passed: set[ast.AST] = set()
        for node in nodes:
            while node.up is not self.tree and node not in passed:
                passed.add(node)
                node = node.up
            if node.up is self.tree:
                found.add(node)
        return found

    def _makes_parts(self, node: ast.ClassDef) -> bool:
        """`self.layer = Layer(…)`, of a class that is no loss"""
        return any(
            isinstance(target, ast.Attribute) and isinstance(assigned.value, ast.Call) and _is_a_part(assigned.value)
            for assigned in self.index.inside(node, ast.Assign)
            for target in assigned.targets
        )


def _sets_whether_it_learns(setattr_call: ast.Call) -> bool:
    return [getattr(name, "value", None) for name in setattr_call.args[1:2]] == ["requires_grad"]


def _is_called(node: ast.ClassDef) -> bool:
    return any(isinstance(part, FUNCTIONS) and part.name in ("forward", "__call__") for part in node.body)


def _is_a_part(made: ast.Call) -> bool:
    word = last_word(made.func)
    return word[:1].isupper() and word not in _LOSSES
