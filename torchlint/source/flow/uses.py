"""Where a stored value is used later: loads of a name or attribute, and which place certainly may run after which."""

from __future__ import annotations

import ast

from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import exclusive, reaching
from torchlint.source.text.index import FUNCTIONS, LOOPS, ancestors, enclosing_class, enclosing_function, within

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def uses(module: Module, stored: ast.Name) -> list[ast.Name]:
    """The places that may read what a store of a name put there, in source order."""
    scope = stored.at.lookup(stored.id)
    if scope is None:
        return []
    return [n for n in module.index.names(stored.id) if isinstance(n.ctx, ast.Load) and n.at.lookup(n.id) is scope and stored in reaching(n, scope)]


def attribute_uses(module: Module, stored: ast.Attribute) -> list[ast.Attribute]:
    """The reads of `self.x` in the class whose method stores it."""
    function = enclosing_function(stored)
    owner = enclosing_class(function) if function is not None else None
    if owner is None:
        return []
    text = ast.dump(stored.value).replace("Store()", "Load()")
    return [n for n in module.index.attributes(stored.attr) if isinstance(n.ctx, ast.Load) and within(n, owner) and ast.dump(n.value) == text]


def may_follow(first: ast.AST, later: ast.AST) -> bool:
    """May the later place run after the first in one run through their function: not in the other branch, nor after a return?"""
    if (first.lineno, first.col_offset) >= (later.lineno, later.col_offset) or exclusive(first, later):
        return False
    child = first
    for parent in ancestors(first):
        if within(later, parent):
            if isinstance(parent, (ast.If, ast.Try, ast.Match)):
                return _part(parent, child) == _part(parent, _child_with(parent, later))
            return True
        if isinstance(parent, FUNCTIONS):
            return False
        for field in ("body", "orelse", "handlers", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block and block and isinstance(block[-1], _LEAVES):
                return False
        child = parent
    return True


def repeats(use: ast.AST, made: ast.AST) -> bool:
    """Does a use stand in a loop that does not make the value anew?"""
    child = use
    for parent in ancestors(use):
        if isinstance(parent, FUNCTIONS) or within(made, parent):
            return False
        if isinstance(parent, LOOPS) and child in parent.body and not isinstance(parent.body[-1], (ast.Break, ast.Return)):
            return True
        child = parent
    return False


def _part(parent: ast.AST, child: ast.AST) -> str:
    return next((f for f in ("test", "body", "orelse", "handlers", "finalbody", "cases") if _holds(getattr(parent, f, None), child)), "")


def _holds(field, child: ast.AST) -> bool:
    return child in field if isinstance(field, list) else field is child


def _child_with(parent: ast.AST, node: ast.AST) -> ast.AST:
    while node.up is not parent:
        node = node.up
    return node
