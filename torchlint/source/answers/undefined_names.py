"""Names that nothing binds where they are read, `criterion(x)` without `self.`: the line fails when it runs."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import class_info
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import ancestors, enclosing_class, enclosing_function, is_in
from torchlint.source.text.spelling import unparsed

_THERE = frozenset(
    (*dir(builtins), "__file__", "__path__", "__builtins__", "exit", "quit", "copyright", "credits", "license", "_")
    + ("__annotations__", "WindowsError", "reveal_type", "profile", "display")
)
# Of Python 2: whoever has them is left with more than a name.
_ONCE = frozenset("unicode xrange raw_input basestring long reduce unichr cmp file execfile reload".split())
_OTHERWISE = ("exec(", "globals()", "locals()", "get_ipython", "builtins", "__dict__.update", "f_globals", "{{")
_ASKING = re.compile(r"TYPE_CHECKING|available|version|\bhas_|\bis_", re.IGNORECASE)  # whether something is there
_OF_TEXTS = re.compile(r"(^|[/\\])(docs?|documentation|snippets?|templates?)[/\\]")  # parts of pages
_MOST = 5  # names of one file: with more it is part of a text, or of another file


class Undefined(NamedTuple):
    name: ast.Name  # its first read
    is_of_self: bool  # the object around it has one


def undefined_names(module: Module) -> Iterator[Undefined]:
    """Each once."""
    index = module.index
    if index.stars or module.path.endswith(".ipynb") or _OF_TEXTS.search(module.path_in_project):
        return
    if any(map(index.says, _OTHERWISE)):
        return
    known = _THERE | _ONCE | module.tree.scope.bindings.keys()
    found: dict[str, ast.Name] = {}
    for name in index.nodes(ast.Name):
        if name.id not in known and name.id not in found and name.at.lookup(name.id) is None and _fails(module, name):
            found[name.id] = name
            if len(found) > _MOST:
                return
    yield from (Undefined(name, _is_of_self(module, name)) for name in found.values())


def _is_of_self(module: Module, name: ast.Name) -> bool:
    function = enclosing_function(name)
    owner = enclosing_class(function) if function is not None else None
    own = class_info(module, owner) if owner is not None else None
    return own is not None and (name.id in own.attributes or name.id in own.methods)


def _fails(module: Module, name: ast.Name) -> bool:
    """Is it evaluated where somebody comes to, and nobody catches that it is not there?"""
    if name.id.startswith("__") or not isinstance(name.ctx, ast.Load):
        return False
    child: ast.AST = name
    for around in ancestors(name):
        if isinstance(around, ast.Try) and around.handlers and is_in(child, around.body):
            return False
        if child in (getattr(around, "annotation", None), getattr(around, "returns", None)):
            return False  # which may never be evaluated
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test and _asks(module, around.test):
            return False
        child = around
    return _is_reached(module, name)


@remembered
def _asks(module: Module, test: ast.expr) -> bool:
    """Is it asked whether something is there?"""
    return _ASKING.search(unparsed(test)) is not None


def _is_reached(module: Module, name: ast.Name) -> bool:
    """Does anybody say the name of the function around it?"""
    function = enclosing_function(name)
    while function is not None and (outer := enclosing_function(function)) is not None:
        function = outer
    if function is None or isinstance(function, ast.Lambda):
        return True
    is_run = function.name == "forward" or function.name.startswith(("__", "test_")) or bool(function.decorator_list)
    owner = enclosing_class(function)
    if is_run and (owner is None or owner.bases or owner.name in _said(module, owner.name)):
        return True
    return bool(_said(module, function.name) or module.world.view.mentions(function.name))


def _said(module: Module, name: str) -> list[ast.AST]:
    index = module.index
    return [one for one in (*index.names(name), *index.attributes(name)) if isinstance(one.ctx, ast.Load)]
