"""The lines of a file that a switch guards which nobody in its project turns on: `if self.use_checkpoint:`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.project import View
from torchlint.source.text.indexes import parsed
from torchlint.source.text.parse import CannotParse, parse
from torchlint.source.text.reached import answer, reached

_MOST_FILES = 20  # in which a switch may be named
_PLAIN = re.compile(r"\w{4,}")  # a shorter name may be anything's


class SwitchedOff:
    """Asked of some lines only: of what is found there. In a library anybody may turn everything on."""

    def __init__(self, view: View, text: str):
        self._view = view
        self._text = text
        self._asked: dict[str, bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        return any(self._stays_off(name) for name in _switches_of(self._tree, line))

    @cached_property
    def _tree(self) -> ast.Module:
        """Made anew: that of the file has been let go when all is found."""
        return parse(self._text)

    def _stays_off(self, name: str) -> bool:
        if name not in self._asked:
            self._view.consult_reached(answer(self._view.project, self._view.path))
            self._asked[name] = reached(self._view.project) is not None and self._is_off_everywhere(name)
        return self._asked[name]

    def _is_off_everywhere(self, name: str) -> bool:
        """Has it a default wherever it is a parameter, is it off, and does nobody give it anything else, be it as an
        option or in a file of settings?
        """
        paths = self._view.naming(name)
        if len(paths) > _MOST_FILES or not all(path.endswith(".py") for path in paths):
            return False
        trees = []
        for path in paths:
            try:
                trees.append(parsed(self._view.project, path, self._view.project.text(path) or ""))
            except CannotParse:
                return False
        given = [value for tree in trees for value in _given(tree, name)]
        return bool(given) and all(_is_off(value, name) for value in given)


def _switches_of(tree: ast.Module, line: int) -> Iterator[str]:
    """The names of what has to be true for a line to run, of parameters and attributes of the object."""
    body: list[ast.stmt] = tree.body
    while body:
        around = next((s for s in body if s.lineno <= line <= (s.end_lineno or s.lineno)), None)
        if isinstance(around, ast.If) and around.body[0].lineno <= line <= (around.body[-1].end_lineno or 0):
            tests = around.test.values if isinstance(around.test, ast.BoolOp) else [around.test]
            if not isinstance(getattr(around.test, "op", None), ast.Or):
                yield from filter(_PLAIN.fullmatch, map(_name_of, tests))
        parts = [getattr(around, part, ()) for part in ("body", "orelse", "finalbody", "handlers", "cases")]
        body = [statement for part in parts for statement in part]


def _name_of(test: ast.expr) -> str:
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == "self":
        return test.attr
    return test.id if isinstance(test, ast.Name) else ""


def _given(tree: ast.Module, name: str) -> Iterator[ast.AST | None]:
    """All that a program gives to a name: defaults, arguments, what is assigned. None is what nobody knows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(plain[::-1], [*node.defaults[::-1], *[None] * len(plain)]),
                *zip(node.kwonlyargs, node.kw_defaults),
            ]
            yield from (default for parameter, default in pairs if parameter.arg == name)
        elif isinstance(node, ast.keyword) and node.arg == name:
            yield node.value
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(
                name in (getattr(t, "id", ""), getattr(t, "attr", "")) for target in targets for t in ast.walk(target)
            ):
                yield node.value if len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute)) else None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_a_manual(node):
            if re.search(rf"(?<![^\W_]){name}\b", node.value.replace("-", "_")):
                yield None


def _is_a_manual(text: ast.Constant) -> bool:
    """Over several lines, as what explains a function is."""
    return text.lineno != text.end_lineno


def _is_off(value: ast.AST | None, name: str) -> bool:
    """False, or what comes from under the same name."""
    if isinstance(value, ast.Constant):
        return not value.value
    return name in (getattr(value, "id", ""), getattr(value, "attr", ""))
