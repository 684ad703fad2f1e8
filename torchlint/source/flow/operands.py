"""The operands through which what an operation gives is followed."""

from __future__ import annotations

import ast

from torchlint.source.flow.values import EACH, Step
from torchlint.source.text.index import last_word

_LISTS = (ast.List, ast.ListComp, ast.Tuple)


def followed(operation: ast.BinOp, path: tuple[Step, ...], scales: bool) -> list[ast.expr]:
    """`[x]` of `[x] * 3`, both lists of `[stem] + list(blocks)` where each of their elements is asked for, `x` of
    `x / 2` if scaling does not count.
    """
    left, right = operation.left, operation.right
    if path and isinstance(operation.op, ast.Mult) and isinstance(left, ast.List):
        return [left]
    if path[:1] == (EACH,) and isinstance(operation.op, ast.Add) and any(map(_is_a_list, (left, right))):
        return [left, right]
    is_scaled = scales and isinstance(operation.op, (ast.Mult, ast.Div)) and isinstance(right, ast.Constant)
    return [left] if is_scaled and isinstance(right.value, (int, float)) else []


def _is_a_list(node: ast.expr) -> bool:
    return isinstance(node, _LISTS) or isinstance(node, ast.Call) and last_word(node.func) in ("list", "sorted")
