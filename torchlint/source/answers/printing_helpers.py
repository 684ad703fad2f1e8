"""Functions that are there to print what they are given, and the statements that call them."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import ancestors, enclosing_function

_ONLY_SOMETIMES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Match, ast.ExceptHandler, ast.comprehension)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Assert)


def calls_that_print(module: Module, function: ast.AST) -> list[ast.Call]:
    """The statements `describe(x, y)` in a function that print whenever they run, each the call of one function of the
    project that is no method.
    """
    statements = (s.value for s in module.index.inside(function, ast.Expr) if isinstance(s.value, ast.Call))
    return [call for call in statements if (call.args or call.keywords) and _prints(module, call)]


def _prints(module: Module, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    found = callees(Value(module, call))
    return bool(found) and all(
        isinstance(one.function, ast.FunctionDef) and one.kind == "function" and _only_prints(one.module, one.function)
        for one in found
    )


@remembered
def _only_prints(module: Module, function: ast.FunctionDef) -> bool:
    """Does it print on all ways through it, with nothing that ends it before, and change nothing?"""
    inside = module.index.inside
    if function.decorator_list or next(inside(function, ast.Global, ast.Nonlocal, ast.Delete), None) is not None:
        return False  # `@rank_zero_only`, `@once`
    first = next((call for call in inside(function, ast.Call) if _is_print(module, call, function)), None)
    if first is None or any(leave.pos < first.pos for leave in inside(function, *_LEAVES)):
        return False
    done = (s.value for s in inside(function, ast.Expr) if not isinstance(s.value, ast.Constant))
    kept = (node for node in inside(function, ast.Attribute, ast.Subscript) if not isinstance(node.ctx, ast.Load))
    return next(kept, None) is None and all(isinstance(one, ast.Call) and _named_print(one) for one in done)


def _named_print(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"


def _is_print(module: Module, call: ast.Call, function: ast.FunctionDef) -> bool:
    if not _named_print(call) or enclosing_function(call) is not function:
        return False
    above = list(ancestors(call))
    inside = above[: above.index(function)]
    return (
        not any(isinstance(one, _ONLY_SOMETIMES) for one in inside)
        and all(keyword.arg != "file" for keyword in call.keywords)
        and {callee.name for callee in callees(Value(module, call))} == {"builtins.print"}
    )
