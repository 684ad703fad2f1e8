"""The lines of a file that a switch guards which nobody in its project turns on: `if self.use_checkpoint:`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchlint.project import View
from torchlint.source.text.conditions import conditions, parts
from torchlint.source.text.index import last_word
from torchlint.source.text.indexes import parsed
from torchlint.source.text.parse import CannotParse
from torchlint.source.text.reached import answer, reached

_MOST_FILES = 20  # in which a switch may be named
_PLAIN = re.compile(r"(?!training$)\w{4,}")  # torch sets that one; a shorter name may be anything's


class Switch(NamedTuple):
    """A name that what it guards asks for: whether it is true, or only whether there is anything."""

    name: str
    by_none: bool


class SwitchedOff:
    """Asked of some lines only: of what is found there. In a library anybody may turn everything on."""

    def __init__(self, view: View, tree: Callable[[], ast.Module]):
        self._view = view
        self._tree = tree
        self._asked: dict[Switch, bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        return any(map(self._stays_off, _switches_of(self._tree(), line)))

    def _stays_off(self, switch: Switch) -> bool:
        if switch not in self._asked:
            self._view.consult_reached(answer(self._view.project, self._view.path))
            known = reached(self._view.project)
            is_public = known is None or known.is_packaged(self._view.path)
            self._asked[switch] = not is_public and self._is_off_everywhere(switch)
        return self._asked[switch]

    def _is_off_everywhere(self, switch: Switch) -> bool:
        """Has it a default wherever it is a parameter, is it off, and does nobody give it anything else, be it as an
        option or in a file of settings?
        """
        name = switch.name
        paths = self._view.naming(name)
        trees = self._programs(paths) if all(path.endswith(".py") for path in paths) else None
        given = [value for tree in trees or () for value in _given(tree, name)]
        if not any(isinstance(value, ast.Constant) for value in given):
            return False
        if not all(_is_off(value, switch) for value in given):
            return False
        return all(self._is_left_out(*taker, switch) for tree in trees or () for taker in _takers(tree, name))

    def _programs(self, paths: list[str]) -> list[ast.Module] | None:
        """None where there are many, or notebooks."""
        programs = [path for path in paths if path.endswith(".py")]
        if len(programs) > _MOST_FILES or any(path.endswith(".ipynb") for path in paths):
            return None
        try:
            return [parsed(self._view.project, path, self._view.project.text(path) or "") for path in programs]
        except CannotParse:
            return None

    def _is_left_out(self, called: str, before: int, switch: Switch) -> bool:
        """Does no call give it by its place, as the one after some others? A function that is to be called by hand may
        be given what it can do without.
        """
        trees = self._programs(self._view.naming(called)) if called else None
        if trees is None:
            return False
        calls = [call for tree in trees for call in _calls_of(tree, called)]
        for call in calls:
            if any(isinstance(given, ast.Starred) for given in call.args):  # `**options` give it by name
                return False
            if len(call.args) > before and not _is_off(call.args[before], switch):
                return False
        return bool(calls) or not switch.by_none or called[:1].isupper()


def _calls_of(tree: ast.Module, called: str) -> Iterator[ast.Call]:
    """The calls of a function or a class, also by `partial`, and by the classes that derive from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and called in map(last_word, node.bases):
            calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
            yield from (call for call in calls if last_word(call.func) == "__init__")
        elif isinstance(node, ast.Call):
            name = last_word(node.func)
            of_its_class = name == "__init__" and isinstance(node.func, ast.Attribute)
            if name == called or of_its_class and last_word(node.func.value) == called:
                yield node
            elif name == "partial" and node.args and last_word(node.args[0]) == called:
                yield node


def _switches_of(tree: ast.Module, line: int) -> Iterator[Switch]:
    """What has to be true, or not to be None, for a line to run, of parameters and attributes of the object."""
    for condition in conditions(tree, line):
        for test, wanted in parts(condition.test, condition.wanted):
            switch = Switch(_name_of(test), False) if wanted else None
            if isinstance(test, ast.Compare) and _is_none(test.comparators[0]):
                if isinstance(test.ops[0], ast.IsNot if wanted else ast.Is):
                    switch = Switch(_name_of(test.left), True)
            if switch is not None and _PLAIN.fullmatch(switch.name):
                yield switch


def _name_of(test: ast.expr) -> str:
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == "self":
        return test.attr
    return test.id if isinstance(test, ast.Name) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _given(tree: ast.Module, name: str) -> Iterator[ast.AST | None]:
    """All that a program gives to a name: defaults, arguments, what is assigned. None is what nobody knows."""
    followed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            defaults = [*node.defaults[::-1], *[None] * len(plain)]
            pairs = [*zip(plain[::-1], defaults), *zip(node.kwonlyargs, node.kw_defaults)]
            yield from (default for parameter, default in pairs if parameter.arg == name)
        elif isinstance(node, ast.keyword) and node.arg == name:
            yield node.value
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if name in _names_of(target) and (isinstance(node, ast.AnnAssign) or len(node.targets) == 1):
                followed.add(target)
                yield node.value
        elif name in _names_of(node) and not isinstance(getattr(node, "ctx", None), ast.Load) and node not in followed:
            yield None
        elif isinstance(node, ast.Constant) and says(node, name):
            yield None


def says(node: ast.Constant, name: str) -> bool:
    """Does a text that is no manual say a name, as one of the command line, too?"""
    if not isinstance(node.value, str) or _is_a_manual(node):
        return False
    return re.search(rf"(?<![^\W_]){name}\b", node.value.replace("-", "_")) is not None


def _names_of(node: ast.AST) -> tuple[str | None, ...]:
    """What a node may name: a variable, an attribute, a function or class, or what an import brings."""
    says = node.__dict__.get  # asked of every node of many files
    return says("id"), says("attr"), says("name"), says("asname")


def _takers(tree: ast.Module, name: str) -> Iterator[tuple[str, int]]:
    """What is called to give a parameter, and after how many others; without a name where an object is."""
    owners: dict[ast.AST, ast.ClassDef] = {}
    for node in ast.walk(tree):  # from without to within
        if isinstance(node, ast.ClassDef):
            owners.update((part, node) for part in node.body)
            fields = (part for part in node.body if isinstance(part, ast.AnnAssign))
            yield from ((node.name, 0) for field in fields if name in _names_of(field.target))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and name in _parameters(node):
            yield _taker(owners.get(node), node, name)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]


def _taker(owner: ast.ClassDef | None, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> tuple[str, int]:
    called = {"__init__": owner.name if owner is not None else "", "forward": "", "__call__": ""}
    place = _parameters(function).index(name)
    return called.get(function.name, function.name), place - (owner is not None and place > 0)


def _is_a_manual(text: ast.Constant) -> bool:
    """Over several lines, as what explains a function is."""
    return text.lineno != text.end_lineno


def _is_off(value: ast.AST | None, switch: Switch) -> bool:
    """False, or None, or what comes from under the same name: of objects of others nobody knows what they have."""
    if isinstance(value, ast.Constant):
        return value.value is None if switch.by_none else not value.value
    if switch.by_none and isinstance(value, ast.Attribute) and last_word(value.value) != "self":
        return False
    return switch.name in (getattr(value, "id", ""), getattr(value, "attr", ""))
