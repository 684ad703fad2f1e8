"""The lines of methods that no object has: of a class that only others derive from, which all have their own."""

from __future__ import annotations

import ast

from torchlint.project import View
from torchlint.source.text.conditions import around_line
from torchlint.source.text.seen_uses import SeenUses, Situation


class Overridden:
    """Asked of some lines only: of what is found there. In a library anybody may derive from a class."""

    def __init__(self, view: View, uses: SeenUses):
        self._view = view
        self._uses = uses
        self._asked: dict[ast.AST, bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        tree = self._uses.tree(self._view.path)
        place = Situation(self._view.path, around_line(tree, line) if tree is not None else ())
        method, owner = place.function, place.owner
        if method is None or owner is None or method.decorator_list:
            return False
        if method not in self._asked:
            is_public = self._uses.is_public(self._view.path)
            self._asked[method] = not is_public and self._is_overridden(method.name, owner)
        return self._asked[method]

    def _is_overridden(self, name: str, owner: ast.ClassDef) -> bool:
        heirs = self._uses.heirs_alone(owner)
        return heirs is not None and all(_has_its_own(heir, name) for heir in heirs)


def _has_its_own(heir: ast.ClassDef, name: str) -> bool:
    """Does a class that derives from another have a method itself, and not take that of the other as well?"""
    if not any(isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == name for part in heir.body):
        return False
    return not any(_takes_that_of_another(node, name) for node in ast.walk(heir))


def _takes_that_of_another(node: ast.AST, name: str) -> bool:
    """`super().step`, `Base.step`"""
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return False
    return not (isinstance(node.value, ast.Name) and node.value.id == "self")
