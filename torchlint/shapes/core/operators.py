"""Python's operators, by the nodes of its syntax."""

from __future__ import annotations

import ast
import operator

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
IN_PLACE = {kind: getattr(operator, "i" + f.__name__.strip("_")) for kind, f in OPERATORS.items()}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# These grow what they are given, so that their result is estimated before it is made.
GROWING = frozenset(
    {
        operator.mul,
        operator.pow,
        operator.lshift,
        operator.mod,
        operator.imul,
        operator.ipow,
        operator.ilshift,
        operator.imod,
    }
)
