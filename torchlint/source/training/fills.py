"""What hides a score before a softmax: -inf, or a number as low as nothing a layer gives."""

from __future__ import annotations

import ast
import math
import re

from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word

LOW = -1e4  # a mask of half precision goes to -65504, one of whole numbers to -1e9
_INFINITE = re.compile(r"(?:math|numpy|torch)\.(?:[Ii]nf|infty|PINF)")


def fill(value: Value) -> float | None:
    """The number, -inf among them, that a value is in all ways it may come; the largest of several, None if one is not
    plain.
    """
    found = [_number(origin) for origin in origins(value, SAME_NUMBERS)]
    known = [one for one in found if one is not None]
    return max(known) if known and len(known) == len(found) else None


def hides(value: Value) -> bool:
    """Does nothing come through a softmax where this stands?"""
    number = fill(value)
    return number is not None and number <= LOW


def _number(origin: Value) -> float | None:
    node = origin.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = fill(origin.at(node.operand, ()))
        return None if inner is None else -inner
    if isinstance(node, ast.Constant):
        return float(node.value) if type(node.value) in (int, float) and not origin.path else None
    if isinstance(node, ast.Attribute) and node.attr == "min" and isinstance(node.value, ast.Call):
        return -math.inf if last_word(node.value.func) == "finfo" else None
    if isinstance(node, ast.Attribute):
        name = external_name(origin.at(node, ())) or ""
        return math.inf if _INFINITE.fullmatch(name) else -math.inf if name == "numpy.NINF" else None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "float"
        and len(node.args) == 1
    ):
        text = getattr(node.args[0], "value", None)
        return _infinity(text.strip().lower()) if isinstance(text, str) else None
    return None


def _infinity(text: str) -> float | None:
    is_infinite = text.lstrip("+-") in ("inf", "infinity")
    return (-math.inf if text.startswith("-") else math.inf) if is_infinite else None
