"""Whether code looks at gradients, or at an optimizer's `step` in another way than by calling it."""

from __future__ import annotations

import ast

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module

_CLEARING = frozenset(
    "zero_grad no_grad set_grad_enabled requires_grad_ clip_grad_norm_ clip_grad_value_ clip_grad_norm clip_gradients"
    " unscale_gradients".split()
)


@remembered
def reads_gradients(module: Module, code: ast.AST) -> bool:
    """Does a loop or function itself, which may stand in another file than the one that asks?"""
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and any(isinstance(a, ast.Name) and a.id == "self" for a in node.args):
            return True  # a hook may do it
        if not isinstance(node, ast.Attribute):
            continue
        is_called = isinstance(node.up, ast.Call)
        if "grad" in node.attr and is_called and node.attr not in _CLEARING:  # `self.retrieve_grad()`
            return True
        if node.attr in ("grad", "param_groups") or "step" in node.attr and is_called != (node.attr == "step"):
            return True
    return False


@remembered
def may_read_gradients(module: Module, word: str) -> bool:
    """Does one of the functions of the file that go by a name?"""
    return any(reads_gradients(module, function) for function in module.index.functions if function.name == word)
