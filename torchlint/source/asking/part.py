"""The part of a file that an editor asks about after a key: the definitions that the changed lines touch."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.text.index import DEFINITIONS


class Part(NamedTuple):
    """Some lines, from 1, both included."""

    first: int
    last: int

    def has(self, line: int) -> bool:
        return self.first <= line <= self.last

    def touches(self, node: ast.AST) -> bool:
        """Does a node reach into these lines? That of a whole file is more than a part."""
        if getattr(node, "end_lineno", 0) < self.first:
            return False
        if node.lineno <= self.last:
            return True
        decorators = getattr(node, "decorator_list", ())  # they stand before the line of what they decorate
        return bool(decorators) and decorators[0].lineno <= self.last


def around(tree: ast.Module, changed: Part) -> Part:
    """The lines of the statements that some lines touch; in a class, of the method that has all of them."""
    body: list[ast.stmt] = tree.body
    while True:
        touched = [statement for statement in body if changed.touches(statement)]
        if not touched:
            return changed
        inner = touched[0].body if len(touched) == 1 and isinstance(touched[0], ast.ClassDef) else []
        methods = [statement for statement in inner if changed.touches(statement)]
        if not (len(methods) == 1 and isinstance(methods[0], DEFINITIONS) and _holds(methods[0], changed)):
            return Part(min(changed.first, lines_of(touched[0]).first), max(changed.last, lines_of(touched[-1]).last))
        body = inner


def _holds(node: ast.AST, part: Part) -> bool:
    lines = lines_of(node)
    return lines.first <= part.first and part.last <= lines.last


def lines_of(node) -> Part:
    """The lines of a node, with the decorators of a definition; none of a whole file."""
    if not hasattr(node, "lineno"):
        return Part(0, 0)
    return Part(min(one.lineno for one in (node, *getattr(node, "decorator_list", ()))), node.end_lineno)
