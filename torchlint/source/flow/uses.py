"""Where a stored value is used later: loads of a name or attribute, and which place certainly may run after which."""

from __future__ import annotations

import ast

from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.text.index import (
    FUNCTIONS,
    LOOPS,
    ancestors,
    block_of,
    enclosing_class,
    enclosing_function,
    is_in,
    last_word,
    standing_in,
    within,
)
from torchlint.source.text.spelling import dumped

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_RAISING = ("raises", "assertRaises", "assertRaisesRegex", "suppress")


def reads(module: Module, stored: ast.AST) -> list[ast.expr]:
    """The places that may read what is stored in a name, or in an attribute of `self`; none for other targets."""
    if isinstance(stored, ast.Name):
        return uses(module, stored)
    return attribute_uses(module, stored) if isinstance(stored, ast.Attribute) else []


def uses(module: Module, stored: ast.Name | ast.arg) -> list[ast.Name]:
    """The places that may read what a store of a name put there, in source order."""
    return _reads(module, stored.arg if isinstance(stored, ast.arg) else stored.id).get(id(stored), [])


@remembered
def _reads(module: Module, name: str) -> dict[int, list[ast.Name]]:
    """The places that read a name, by the ids of what may have bound it there."""
    found: dict[int, list[ast.Name]] = {}
    for node in module.index.names(name):
        if isinstance(node.ctx, ast.Load) and (scope := node.at.lookup(name)) is not None:
            for binding in reaching(node, scope):
                found.setdefault(id(binding), []).append(node)
    return found


def attribute_uses(module: Module, stored: ast.Attribute) -> list[ast.Attribute]:
    """The reads of `self.x` in the class whose method stores it."""
    function = enclosing_function(stored)
    owner = enclosing_class(function) if function is not None else None
    return [] if owner is None else _attribute_reads(module, owner, stored.attr).get(_text(stored.value), [])


@remembered
def _attribute_reads(module: Module, owner: ast.ClassDef, name: str) -> dict[str, list[ast.Attribute]]:
    """The places in a class that read an attribute, by the text of what it is an attribute of."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in standing_in(owner, module.index.attributes(name)):
        if isinstance(node.ctx, ast.Load):
            found.setdefault(_text(node.value), []).append(node)
    return found


def _text(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else dumped(node).replace("Store()", "Load()")


def may_follow(first: ast.AST, later: ast.AST) -> bool:
    """May the later place run after the first in one run through their function: not in the other branch, nor after a
    return?
    """
    if (first.lineno, first.col_offset) >= (later.lineno, later.col_offset) or exclusive(first, later):
        return False
    child = first
    for parent in ancestors(first):
        if within(later, parent):
            if isinstance(parent, (ast.If, ast.Try, ast.Match)):
                return _part(parent, child) == _part(parent, later)
            return not isinstance(parent, ast.IfExp) or child is parent.test
        if isinstance(parent, FUNCTIONS):
            return False
        if isinstance(child, ast.stmt) and isinstance(block_of(child)[0][-1], _LEAVES):
            return False
        child = parent
    return True


def is_tried(use: ast.AST) -> bool:
    """Is there somebody around it who catches what fails, or a test that awaits it?"""
    return any(isinstance(one, ast.Try) and one.handlers or awaits_error(one) for one in ancestors(use))


def awaits_error(node: ast.AST) -> bool:
    """`with pytest.raises(ImportError):`"""
    items = [item.context_expr for item in node.items] if isinstance(node, (ast.With, ast.AsyncWith)) else []
    return any(last_word(getattr(item, "func", item)) in _RAISING for item in items)


def repeats(use: ast.AST, made: ast.AST) -> bool:
    """Does a use stand in a loop that does not make the value anew, nor gives its name another one?"""
    child = use
    scope = use.at.lookup(use.id) if isinstance(use, ast.Name) else None
    bindings = scope.bindings[use.id] if scope is not None else ()
    for parent in ancestors(use):
        if isinstance(parent, FUNCTIONS) or within(made, parent):
            return False
        if (
            isinstance(parent, LOOPS)
            and is_in(child, parent.body)
            and not isinstance(parent.body[-1], (ast.Break, ast.Return))
        ):
            return not any(within(binding, parent) for binding in bindings)
        child = parent
    return False


def _part(parent: ast.AST, place: ast.AST) -> int:
    """Which part of a compound statement holds a place: its test, or one of its blocks."""
    child = place
    while child.up is not parent:
        child = child.up
    return id(block_of(child)[0]) if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)) else 0
