"""Values that a comma at the end of their line makes a tuple of one, where they are used as what stands before it:
`self.head = nn.Linear(8, 2),`.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads

_REFUSED = (ast.Sub, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv)


def stray_comma(module: Module, assigned: ast.Assign) -> ast.expr | None:
    """A use that a tuple of one is not fit for, of what is assigned as one without brackets."""
    value = assigned.value
    if not isinstance(value, ast.Tuple) or len(value.elts) != 1 or isinstance(value.elts[0], ast.Starred):
        return None
    if len(assigned.targets) != 1 or not module.segment(value).endswith(","):  # in brackets it is meant
        return None
    found = reads(module, assigned.targets[0])
    return next(filter(_is_refused, found), None) if all(map(_is_of_one_thing, found)) else None


def _is_of_one_thing(use: ast.expr) -> bool:
    """Not one that takes a tuple for what it is, `self.head[0](x)`, or asks what it is."""
    around = use.up
    if isinstance(around, ast.Call) and around.func is not use:
        return getattr(around.func, "id", "") not in ("len", "isinstance", "type", "list", "tuple", "iter", "zip")
    taking = (ast.Subscript, ast.Starred, ast.For, ast.comprehension, ast.Assign, ast.Compare, ast.YieldFrom)
    return not isinstance(around, taking)


def _is_refused(use: ast.expr) -> bool:
    around = use.up
    if isinstance(around, ast.Attribute):
        return around.attr not in ("count", "index") and not around.attr.startswith("__")
    if isinstance(around, ast.BinOp):
        return isinstance(around.op, _REFUSED)
    return isinstance(around, ast.Call) and around.func is use
