"""Functions of the project that give back what they are given, on another device: `def put(x): return x.to(device)`."""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Value


def move_inside(call: Value) -> Value | None:
    """The call by which the one function that is called moves its first argument, where it does nothing else."""
    called = callees(call)
    function = called[0].function if len(called) == 1 else None
    module = called[0].module if len(called) == 1 else None
    if not isinstance(function, ast.FunctionDef) or module is None or method_class(module, function) is not None:
        return None
    statements = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    moved = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Return) else None
    if not isinstance(moved, ast.Call) or not isinstance(moved.func, ast.Attribute):
        return None
    given, first = moved.func.value, first_parameter(function)
    is_first = isinstance(given, ast.Name) and first is not None and given.id == first.arg
    return Value(module, moved) if is_first and moved.func.attr in ("to", "cuda") else None
