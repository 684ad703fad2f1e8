"""Definitions that another one of their name replaces before anything uses them: a copied test that kept its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.text.index import DEFINITIONS, last_word
from torchlint.source.text.sketch import WRAPPERS

_KEEPS_NONE = {*WRAPPERS, "staticmethod", "classmethod"}
_FOR_PYTEST = frozenset({"parametrize", "skip", "skipif", "xfail", "usefixtures", "slow"})


def replaced_in(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Those of a block that a later one replaces, of which nothing that the block does before may have hold."""
    open_ones: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = {}
    for statement in body:
        if isinstance(statement, DEFINITIONS):
            earlier = open_ones.pop(statement.name, None)
            for name in _used(_around(statement)) & open_ones.keys():
                del open_ones[name]
            if earlier is not None and statement.name not in _used(_around(statement)):
                yield earlier
            if all(map(_keeps_none, statement.decorator_list)):
                open_ones[statement.name] = statement
        elif open_ones:
            for name in _used([statement]) & open_ones.keys():
                del open_ones[name]


def _around(made: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.AST]:
    """What runs when a definition is made."""
    if isinstance(made, ast.ClassDef):
        return [*made.decorator_list, *made.bases, *made.keywords, *made.body]
    return [*made.decorator_list, made.args, *([made.returns] if made.returns else [])]


def _used(nodes: list[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _keeps_none(decorator: ast.expr) -> bool:
    name = last_word(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name in _KEEPS_NONE or name in _FOR_PYTEST
