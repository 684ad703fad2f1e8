"""Whether anybody takes what a function returns: `best = trainer.fit()`, where nobody reads `best`, does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.text.index import enclosing_class, enclosing_function
from torchlint.source.text.reached import answer, reached

_MANY = 50  # files that say a word: then more may


def is_taken(module: Module, read: ast.expr) -> bool:
    """Does what is read go anywhere but out of a function of which every call, by whatever object, drops it?"""
    if isinstance(read.up, ast.Return):
        return _is_anyone_taking(module, enclosing_function(read), None)
    if isinstance(read.up, ast.Tuple) and isinstance(read.up.up, ast.Return):
        return _is_anyone_taking(module, enclosing_function(read), read.up.elts.index(read))
    return True


@remembered
def _is_anyone_taking(module: Module, function: ast.AST, at: int | None) -> bool:
    """Is a function, or that part of what it returns, taken by a call, or may it be by others than the project's?"""
    view = module.world.view
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return True
    known = reached(view.project)
    view.consult_reached(answer(view.project, view.path))
    if known is None or known.is_packaged(module.path):
        return True
    others = view.mentions(function.name)
    homes = (module, *filter(None, map(module.world.module, others)))
    named = [(home, use) for home in homes for use in _namings(home, function.name)]
    if len(others) >= _MANY or not named or any(_is_used(home, use, at) for home, use in named):
        return True
    taking = re.compile(rf"= *[\w.]*\b{function.name}\(")
    owner = enclosing_class(function)
    texts = map(view.document, view.naming(owner.name if owner is not None else function.name, (".ipynb",)))
    return any(text is None or taking.search(text) for text in texts)


def _namings(home: Module, name: str) -> Iterator[ast.AST]:
    """Where a function may be named: not by another import, which calls of that name follow."""
    for node in (*home.index.names(name), *home.index.attributes(name)):
        if isinstance(node.ctx, ast.Load):
            yield node
    yield from (alias for alias in home.index.nodes(ast.alias) if alias.name == name and alias.asname)


def _is_used(home: Module, use: ast.AST, at: int | None) -> bool:
    """Is what goes by the name taken as it is, or what a call of it returns?"""
    call = use.up
    if not isinstance(call, ast.Call) or call.func is not use:
        return True
    if isinstance(call.up, ast.Expr):
        return False
    if not isinstance(call.up, ast.Assign) or len(call.up.targets) != 1:
        return True
    [target] = call.up.targets
    if isinstance(target, ast.Tuple) and at is not None and at < len(target.elts):
        target = target.elts[at]
    return not isinstance(target, ast.Name) or bool(uses(home, target))
