"""Whether a GradScaler scales: `GradScaler(enabled=dtype is torch.float16)` does nothing for bfloat16."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.flow import objects, origins
from torchlint.source.flow.signatures import default_of
from torchlint.source.flow.values import Value
from torchlint.source.training.dtypes import named_dtype
from torchlint.source.training.keyword_values import keyword_values

_MACHINE = re.compile("cuda|gpu|mps|cpu")  # asked for, the machine decides
_SAME, _OTHER = (ast.Is, ast.Eq, ast.In), (ast.IsNot, ast.NotEq, ast.NotIn)
_DEPTH = 4  # how far it is looked for what a switch asks


def may_scale(scaler: Value) -> bool:
    """Is a scaler on, or on by a switch that a program's user has? Not one that is off in all that is seen, nor one
    that asks for a dtype or another word that nobody is seen to give.
    """
    calls = [origin for origin in objects(scaler) if isinstance(origin.node, ast.Call) and not origin.path]
    given = [keyword_values(call, "enabled") for call in calls]
    return all(any(_may_hold(value, _DEPTH) for value in values) for values in given if values)


def _may_hold(test: Value, depth: int, truth: bool = True) -> bool:
    """Is something seen with which a test goes this way? What compares nothing is a switch, and those go both ways."""
    node = test.node
    if depth == 0:
        return False
    if isinstance(node, ast.Constant):
        return bool(node.value) is truth
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _may_hold(test.at(node.operand, ()), depth, not truth)
    if isinstance(node, ast.BoolOp):
        parts = (_may_hold(test.at(part, ()), depth, truth) for part in node.values)
        return all(parts) if isinstance(node.op, ast.And) is truth else any(parts)
    if isinstance(node, ast.Compare):
        return _may_compare(test, truth)
    found = [origin for origin in origins(test) if origin.key != test.key]
    return any(_may_hold(origin, depth - 1, truth) for origin in found) if found else True


def _may_compare(test: Value, truth: bool) -> bool:
    """Are values seen that are compared so?"""
    node = test.node
    if len(node.ops) > 1 or not isinstance(node.ops[0], (*_SAME, *_OTHER)):
        return True
    [wanted] = node.comparators
    ones = list(_values(test.at(node.left, ())))
    others = [other for part in getattr(wanted, "elts", [wanted]) for other in _values(test.at(part, ()))]
    if any(isinstance(other, str) and _MACHINE.match(other) for other in others):
        return True
    same = isinstance(node.ops[0], _SAME) is truth
    return bool(others) and any((one in others) is same for one in ones)


def _values(asked: Value) -> Iterator[object]:
    """The constants and dtypes that it is seen to be, a parameter by its default."""
    for origin in origins(asked):
        node, at = origin.node, origin
        if isinstance(node, ast.arg) and (default := default_of(node.up.up, node)) is not None:
            at = origin.at(default, ())
        if isinstance(at.node, ast.Constant):
            yield at.node.value
        elif at.node is not None and (name := named_dtype(at)) is not None:
            yield f"torch.{name}"
