"""What an option of the command line may be, where its parser names all choices: `args.mode`, `args["mode"]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from torchlint.project import View
from torchlint.source.text.index import last_word
from torchlint.source.text.reached import answer, reached
from torchlint.source.text.seen_uses import SeenUses

_MOST_FILES = 20  # in which an option may be named
_NO_SETTINGS = (".py", ".md", ".rst", ".txt", ".sh", ".bat", ".sbatch", ".slurm")  # a shell gives it to the parser
_READING = ("hasattr", "getattr", "get", "pop", "print")
_FILLING = frozenset({"Namespace", "SimpleNamespace", "dict", "update", "set_defaults", "EasyDict", "replace"})
_SETTINGS = re.compile("conf|opt|arg|param|setting|flag|cfg", re.IGNORECASE)  # a class of them


class _Said(NamedTuple):
    """What a program says of an option: the values a parser lets through, and what is put there otherwise; None for
    what nobody knows.
    """

    choices: list[ast.expr | None]
    others: list[ast.expr | None]


_NOTHING = _Said([], [])


class LetThrough:
    """Asked for a few names. What stands in a file of settings, or is put there by hand, may be anything."""

    def __init__(self, view: View, uses: SeenUses):
        self._view = view
        self._uses = uses
        self._known: dict[tuple[str, frozenset[str]], list[ast.expr] | None] = {}
        self._said: dict[str, dict[str, _Said] | None] = {}

    def values(self, name: str, homes: frozenset[str]) -> list[ast.expr] | None:
        """All that an option may be of an object that comes from some programs, and what they import: if they are not
        known, from any of the project. None where that is not known.
        """
        if (name, homes) not in self._known:
            self._known[name, homes] = self._values(name, homes)
        return self._known[name, homes]

    def _values(self, name: str, homes: frozenset[str]) -> list[ast.expr] | None:
        known = reached(self._view.project)
        if known is None:
            return None
        for path in homes:
            self._view.consult_reached(answer(self._view.project, path), path)
        behind = known.behind(homes) if homes and not any(map(known.is_imported, homes)) else None
        said = self._in_programs(name, behind)
        if said is None or not any(one.choices for one in said):
            return None
        found = [value for one in said for value in (*one.choices, *one.others)]
        plain = [value for value in found if value is not None]
        return plain if len(plain) == len(found) else None

    def _in_programs(self, name: str, among: Collection[str] | None) -> list[_Said] | None:
        """What programs say of an option; None where there are many, or where somebody else may say it."""
        paths = {path for word in {name, name.replace("_", "-")} for path in self._view.naming(word)}
        programs = [path for path in sorted(paths) if path.endswith(".py") and (among is None or path in among)]
        if len(programs) > _MOST_FILES or any(not path.endswith(_NO_SETTINGS) for path in paths):
            return None
        found = [self._said_at(path, name) for path in programs]
        return None if None in found else [one for one in found if one is not None]

    def _said_at(self, path: str, name: str) -> _Said | None:
        if path not in self._said:
            tree = self._uses.tree(path) if self._uses.spend_on(path) else None
            self._said[path] = None if tree is None else _said_in(tree)
        said = self._said[path]
        return None if said is None else said.get(name, _NOTHING)


def _said_in(tree: ast.Module) -> dict[str, _Said]:
    """What a program says of each option."""
    found: dict[str, _Said] = {}
    left: list[tuple[ast.AST, str]] = [(tree, "")]
    while left:
        node, owner = left.pop()
        owner = node.name if isinstance(node, ast.ClassDef) else owner
        if isinstance(node, ast.Call) and last_word(node.func) == "add_argument":
            found.setdefault(_goes_by(node), _Said([], [])).choices.extend(_let_through(node))
            continue
        for name, value in _put(node, owner):
            if not _is_the_same(value, name):
                found.setdefault(name, _Said([], [])).others.append(value)
        left += [(part, owner) for part in ast.iter_child_nodes(node)]
    return found


def _goes_by(call: ast.Call) -> str:
    """The name under which the value of an argument is found."""
    by_name = next((one.value for one in call.keywords if one.arg == "dest"), None)
    names = list(filter(None, map(_text, call.args)))
    if isinstance(by_name, ast.Constant):
        return _text(by_name)
    name = next((one for one in names if one.startswith("--")), names[0] if names else "")
    return name.lstrip("-").replace("-", "_")


def _let_through(call: ast.Call) -> list[ast.expr | None]:
    """What a parser takes for an argument, and what it is if it is not given."""
    given = {one.arg: one.value for one in call.keywords}
    choices = given.get("choices")
    if not isinstance(choices, (ast.List, ast.Tuple, ast.Set)) or "nargs" in given or None in given:
        return [None]
    is_asked_for = "required" in given or not call.args
    is_asked_for = is_asked_for or isinstance(call.args[0], ast.Constant) and not _text(call.args[0]).startswith("-")
    default = [] if is_asked_for else [given.get("default", ast.Constant(None))]
    return [*(one if isinstance(one, ast.Constant) else None for one in choices.elts), *default]


def _put(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.expr | None]]:
    """What is put under a name otherwise, in an object that holds options, or in a dict."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        of_class = isinstance(node, ast.AnnAssign) and bool(_SETTINGS.search(owner))
        is_plain = isinstance(node, ast.Assign) and len(targets) == 1
        for target in targets:
            names = {_place(target, owner), last_word(target) if of_class else ""} - {""}
            yield from ((name, node.value if is_plain else None) for name in names)
            if isinstance(target, (ast.Tuple, ast.List)):
                yield from ((name, None) for one in target.elts if (name := _place(one, owner)))
    elif isinstance(node, ast.Dict):
        yield from ((name, value) for key, value in zip(node.keys, node.values) if (name := _text(key)))
    elif isinstance(node, ast.Call):
        called = last_word(node.func)
        if called not in _READING:
            yield from ((name, None) for one in node.args if (name := _text(one)))
        if called in _FILLING:
            yield from ((one.arg, one.value) for one in node.keywords if one.arg)


def _place(target: ast.AST, owner: str) -> str:
    """The name of `args.name`, `args["name"]`, but not of what a class that holds no options has for itself."""
    if isinstance(target, ast.Subscript):
        return _text(target.slice)
    if isinstance(target, ast.Name):
        return target.id if _SETTINGS.search(owner) else ""
    if not isinstance(target, ast.Attribute):
        return ""
    return target.attr if last_word(target.value) != "self" or _SETTINGS.search(owner) else ""


def _text(node: ast.AST | None) -> str:
    """The text that is written; none for other things."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_the_same(value: ast.expr | None, name: str) -> bool:
    """Does it come from under the same name?"""
    return (
        isinstance(value, ast.Attribute)
        and value.attr == name
        or (isinstance(value, ast.Subscript) and _text(value.slice) == name)
    )
