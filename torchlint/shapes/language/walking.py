"""Walking through syntax trees in time that tables do not cost: the constants in long displays say nothing to whoever
asks for names, calls and statements, and some files consist of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

TABLE = 64  # items from which on a display may be a table
MOST = 20_000  # nodes that one statement may have
_WITHOUT_NODES = frozenset(
    "ctx op ops id attr arg names name lineno level module is_async simple conversion kind type_comment"
    " type_ignores kwd_attrs rest tag".split()
)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class _Fields(dict):
    """The fields of each kind of node that may hold nodes; contexts and operators say nothing."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = tuple(field for field in kind._fields if field not in _WITHOUT_NODES)  # type: ignore[attr-defined]
        return self[kind]


_LEAVES = frozenset((ast.Constant, ast.Name, ast.Pass, ast.MatchSingleton))  # most nodes are one of these
_FIELDS = _Fields(dict.fromkeys(_LEAVES, ()))


def last_word(node: ast.AST | None) -> str:
    """`c` of `a.b.c`, the word by which a name or attribute goes; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, but for contexts, operators and the constants of long displays."""
    found: list[ast.AST] = []
    for field in _FIELDS[type(node)]:
        value = getattr(node, field, None)
        if type(value) is not list:
            if value is not None:
                found.append(value)
        elif len(value) > TABLE:
            found += [one for one in value if one is not None and type(one) is not ast.Constant]
        else:
            found += [one for one in value if one is not None] if None in value else value
    return found


def walk(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Some nodes and all below them, but for the constants of long displays, the outermost first."""
    level: Iterable[ast.AST] = nodes
    while level:
        yield from level
        level = [child for node in level if type(node) not in _LEAVES for child in children(node)]


def words_set_in(*nodes: ast.AST) -> set[str]:
    """The words of the names and attributes that are set there."""
    named = (n for n in walk(*nodes) if isinstance(n, (ast.Name, ast.Attribute)))
    return {last_word(n) for n in named if isinstance(n.ctx, ast.Store)}


def blocks(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a tree, with handlers and cases, without the expressions in them."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for field in _BLOCKS:
            below = getattr(node, field, None)
            if isinstance(below, list):
                stack += below


def is_endless(node: ast.stmt) -> bool:
    """Has one statement more parts than a dry run follows? Only what is very long is counted."""
    lines = (node.end_lineno or node.lineno) - node.lineno
    if lines < MOST // 20 and (lines or (node.end_col_offset or 0) - node.col_offset < MOST):
        return False
    return sum(1 for _ in islice(walk(node), MOST + 1)) > MOST
