"""Whether of a result only numbers are read, so that its graph was recorded for nothing."""

from __future__ import annotations

import ast

from torchlint.facts import fact
from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.training.grads import STOPS

_READ = frozenset("data shape dtype device ndim size dim item tolist numpy detach".split())
_PRINTS = frozenset("print float int bool str len round".split())
_DEPTH = 10


def is_dropped(module: Module, result: ast.AST, depth: int = _DEPTH) -> bool:
    """Does a graph plainly end wherever the result of an expression goes? Each of its uses must be understood."""
    parent = result.up
    if depth == 0:
        return False
    if isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr)):
        return True
    if isinstance(parent, ast.Attribute):
        if parent.attr in _READ:
            return True
        called = parent.up
        return isinstance(called, ast.Call) and called.func is parent and _of_call(module, called, depth)
    if isinstance(parent, (ast.Call, ast.keyword)):
        call = parent.up if isinstance(parent, ast.keyword) else parent
        return isinstance(call, ast.Call) and call.func is not result and _of_call(module, call, depth)
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)) or isinstance(parent, ast.Subscript) and parent.value is result:
        return is_dropped(module, parent, depth - 1)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        return all(isinstance(name, ast.Name) for name in names) and all(
            is_dropped(module, use, depth - 1) for name in names for use in uses(module, name)
        )
    return False


def _of_call(module: Module, call: ast.Call, depth: int) -> bool:
    """Does the graph end in a call that is given the result, or wherever what it returns goes?"""
    names = {callee.name for callee in callees(Value(module, call))}
    if names and names <= STOPS or isinstance(call.func, ast.Name) and call.func.id in _PRINTS:
        return True
    if isinstance(call.func, ast.Attribute) and last_word(call.func) in _READ:
        return True
    known = bool(names) and all(name.startswith("torch.nn.") or fact(name) is not None for name in names)
    sounds = any(word in last_word(call.func).lower() for word in ("loss", "criterion"))
    return (known or sounds) and is_dropped(module, call, depth - 1)
