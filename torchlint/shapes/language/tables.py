"""Tables that a comprehension over many numbers makes for a tensor, `torch.tensor([[f(i, j) …] for i in range(5000)])`:
three of the rows are computed, and the tensor gets its size, as nobody asks for its numbers.
"""

from __future__ import annotations

import ast
from typing import Any

LONG = 512  # numbers that are computed all
MANY = 64  # rows of numbers that are
ROWS = 3
_EFFECTS = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_MAKERS = ("ensor", "array")  # `torch.as_tensor`, `torch.FloatTensor`, `np.asarray`


class SomeRows(ast.ListComp):
    """A comprehension of which the first, the middle and the last round run."""


def of_some_rows(node: ast.Call) -> ast.Call | None:
    """The same call with some rows only, if it makes a tensor or array of a comprehension over a range."""
    word = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    rows = node.args[0] if len(node.args) == 1 and word.endswith(_MAKERS) else None
    if not isinstance(rows, ast.ListComp) or len(rows.generators) != 1 or rows.generators[0].ifs:
        return None
    several = rows.generators[0].iter
    if not isinstance(several, ast.Call) or getattr(several.func, "id", "") != "range":
        return None
    if any(isinstance(part, _EFFECTS) for part in ast.walk(rows.elt)):
        return None
    some = ast.copy_location(SomeRows(rows.elt, rows.generators), rows)
    return ast.copy_location(ast.Call(node.func, [some], node.keywords), node)


def makes_rows(element: ast.expr, function: ast.AST | None) -> bool:
    """Is an element of the comprehension a row itself: written as one, or what a function with one `return` gives?"""
    if isinstance(element, ast.Call) and isinstance(function, ast.FunctionDef):
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        return len(function.body) == len(returned) == 1 and isinstance(returned[0], ast.ListComp)
    return isinstance(element, ast.ListComp)


def is_long(several: Any, of_rows: bool) -> bool:
    return type(several) is range and len(several) > (MANY if of_rows else LONG)


def some_of(several: Any) -> Any:
    return [several[0], several[len(several) // 2], several[-1]] if len(several) > ROWS else several
