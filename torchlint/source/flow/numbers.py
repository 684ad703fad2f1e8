"""Plain numbers: what an expression certainly is."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value


def number(value: Value) -> int | float | None:
    """The number that an expression is, whichever way it came there; None if it may be several or is no plain one."""
    found = {_constant(origin) for origin in origins(value)}
    return found.pop() if len(found) == 1 else None


def _constant(origin: Value) -> int | float | None:
    node = origin.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        plain = _constant(origin.at(node.operand, ()))
        return None if plain is None else -plain
    plain = node.value if isinstance(node, ast.Constant) and not origin.path else None
    return plain if isinstance(plain, (int, float)) and not isinstance(plain, bool) else None
