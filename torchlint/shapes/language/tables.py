"""Tables that a comprehension over many numbers makes for a tensor, `torch.tensor([[f(i, j) …] for i in range(5000)])`:
three of the rows are computed, and the tensor gets its size, as nobody asks for its numbers.
"""

from __future__ import annotations

import ast
from typing import Any

import torch

LONG = 512  # rows that are computed all, if they are short
MANY = 64  # the same of rows of any length
WIDE = 4096  # numbers that are computed all
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


def has_many_rows(several: Any) -> bool:
    return type(several) is range and len(several) > MANY


def is_large(made: torch.Tensor, rows: int) -> bool:
    """Whether a tensor of so many rows, of which some were made, has more numbers than are computed."""
    return made.dim() > 0 and len(made) == ROWS and (rows > LONG or made.numel() // ROWS * rows > WIDE)


def some_of(several: Any) -> Any:
    return [several[0], several[len(several) // 2], several[-1]] if has_many_rows(several) else several
