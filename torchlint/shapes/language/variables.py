"""Which variable a name in a text stands for: that of a function is another one than the same name elsewhere."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Variables:
    """Words for the variables of a text, of which `parents` holds all nodes: `x` of the file, `x@17` of a function."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST]):
        self._parents = parents
        self._words: dict[ast.AST, str] = {}
        self._bound: dict[ast.AST | None, set[str]] = defaultdict(set)
        outer: list[ast.Global | ast.Nonlocal] = []
        for node in parents:
            if isinstance(node, ast.arg):
                self._bound[self._scope_of(node)].add(node.arg)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._bound[self._scope_of(node)].add(node.id)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                outer.append(node)
        for declared in outer:
            self._bound[self._scope_of(declared)].difference_update(declared.names)
        self.of_the_file = frozenset(self._bound[None].union(*(one.names for one in outer)))

    def word(self, node: ast.Name | ast.arg) -> str:
        """The word of the variable that a name stands for."""
        if node not in self._words:
            self._words[node] = self._word(node, node.id if isinstance(node, ast.Name) else node.arg)
        return self._words[node]

    def of_function(self, function: ast.AST) -> str:
        """How the words of all its variables end."""
        return f"@{id(function)}"

    def _word(self, node: ast.AST, name: str) -> str:
        scope = self._scope_of(node)
        if isinstance(scope, ast.ClassDef) and name in self._bound[scope]:
            return name  # `self.name` is the same
        while scope is not None:
            if not isinstance(scope, ast.ClassDef) and name in self._bound[scope]:
                return name + self.of_function(scope)
            scope = self._scope_of(scope)
        return name

    def _scope_of(self, node: ast.AST) -> ast.AST | None:
        """The function or class that a node is in; its defaults, decorators and bases stand outside of it."""
        within, inside, default = node, self._parents.get(node), False
        while inside is not None:
            if isinstance(inside, ast.arguments):
                default = isinstance(within, ast.expr)
            elif isinstance(inside, (*FUNCTIONS, ast.ClassDef)):
                if isinstance(within, ast.stmt) or isinstance(within, ast.arguments) and not default:
                    return inside
            within, inside = inside, self._parents.get(inside)
        return None
