"""Whether a decorator of the same file gives back what the function gives, or something else."""

from __future__ import annotations

import ast

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import last_word, parameters_of


def gives_something_else(module: Module | None, function: ast.AST | None) -> bool:
    """May what a function returns be changed by a decorator: `return torch.sigmoid(method(self, x))`?"""
    return module is not None and any(
        _changes(module, last_word(mark)) for mark in getattr(function, "decorator_list", ())
    )


@remembered
def _changes(module: Module, name: str) -> bool:
    return not all(_hands_back(module, one) for one in module.index.functions_called(name))


def _hands_back(module: Module, decorator: ast.FunctionDef) -> bool:
    """Does it, or what it defines, return what it is given, one of its functions, or what these return, and no more?"""
    index = module.index
    inside = [decorator, *index.inside(decorator, ast.FunctionDef)]
    own = {one.name for one in inside} | {p.arg for one in inside for p in parameters_of(one)}
    own |= {
        target.id
        for store in index.inside(decorator, ast.Assign)
        if _is_of(store.value, own)
        for target in store.targets
        if isinstance(target, ast.Name)
    }
    given = [value for one in inside for value in one.gives]
    return all(_is_of(value, own) for value in given) and not any(index.inside(decorator, ast.Lambda))


def _is_of(value: ast.expr, own: set[str]) -> bool:
    """`method`, `method(self, x)`, `functools.wraps(method)(run)`"""
    while isinstance(value, ast.Call):
        if last_word(value.func) in ("partial", "wraps", "update_wrapper") and value.args:
            return _is_of(value.args[-1], own)
        value = value.func
        if isinstance(value, ast.Call):
            return True
    return isinstance(value, ast.Name) and value.id in own
