"""The lines of a program behind what always leaves: after a `raise`, an `assert False` or an `exit()` in a block around
them nothing runs, in a library neither; nor does anything after an import that fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from functools import cached_property

from torchlint.source.text.conditions import blocks
from torchlint.source.text.index import DEFINITIONS

_IMPORTS = (ast.Import, ast.ImportFrom)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXITS = frozenset({"exit", "quit"})  # of Python itself, where the file gives these names to nothing
_EXITS_OF_SYSTEM = frozenset({"sys.exit", "os._exit", "os.abort"})
_CELLS = ("# %%", "#%%", "# In[")  # a program of which parts are run by hand


class LeftBefore:
    """Asked of some lines only: of what is found there. The cells of a notebook are run one by one, whatever stands
    before.
    """

    def __init__(self, path: str, text: str, tree: Callable[[], ast.Module], failing: Collection[int] = ()):
        self._failing = failing  # lines at which an import fails
        self._is_run_in_parts = not path.endswith(".py") or any(mark in text for mark in _CELLS)
        self._text = text
        self._tree = tree
        self._left_at: dict[int, int] = {}  # the tree keeps its blocks
        self._left_by_all: dict[ast.If, bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them? A definition there is never made."""
        return any(at > self._first_leaving(block) for block, at in blocks(self._tree(), line))

    def _first_leaving(self, block: list[ast.stmt]) -> int:
        """The place of the first statement of a block behind which nothing runs; each block is looked through once."""
        if id(block) not in self._left_at:
            is_open = self._is_run_in_parts and block is self._tree().body
            leaving = () if is_open else (at for at, node in enumerate(block) if self._leaves(node))
            self._left_at[id(block)] = next(iter(leaving), len(block))
        return self._left_at[id(block)]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names for leaving that the file gives to something of its own."""
        if not any(word in self._text for word in _EXITS):
            return frozenset()
        found: set[str] = set()
        for node in ast.walk(self._tree()):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, DEFINITIONS):
                found.add(node.name)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
        return _EXITS & found

    def _leaves(self, node: ast.stmt) -> bool:
        """Does nothing behind a statement run, whatever happens in it?"""
        if isinstance(node, _IMPORTS):
            return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in self._failing)
        if isinstance(node, ast.Assert):
            return isinstance(node.test, ast.Constant) and not node.test.value
        if isinstance(node, ast.If):
            return self._leaves_by_all(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return self._exits(node.value.func)
        return isinstance(node, _LEAVING)

    def _leaves_by_all(self, node: ast.If) -> bool:
        """Does each branch leave? All of a chain of `elif`, which may be long, are asked at once."""
        chain = []
        while (found := self._left_by_all.get(node)) is None:
            chain.append(node)
            if not node.orelse or not any(map(self._leaves, node.body)):
                found = False
            elif len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            else:
                found = any(map(self._leaves, node.orelse))
            break
        self._left_by_all.update(dict.fromkeys(chain, found))
        return found

    def _exits(self, called: ast.expr) -> bool:
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            return f"{called.value.id}.{called.attr}" in _EXITS_OF_SYSTEM
        return isinstance(called, ast.Name) and called.id in _EXITS and called.id not in self._own
