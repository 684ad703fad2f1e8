"""Which of the numbers 0, 1 and -1 a tensor holds, where a comparison, a choice or a fill makes it of nothing else."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named, named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.samples import samples
from torchlint.source.training.written_over import is_changed_by_name

_Numbers = frozenset[float] | None
_KEPT = SAME_NUMBERS | named("casts")
_COMPARED = named_of("eq", "ne", "gt", "ge", "lt", "le", "isin", "logical_and", "logical_or", "logical_not")
_ZEROS, _ONES = named_of("zeros", "zeros_like"), named_of("ones", "ones_like")
_FULL = named_of("full", "full_like")
_JOINS, _CHOICE = named("joins"), named_of("where") | {"numpy.where"}
_DRAWN = named_of("randint")
_WRAPS = re.compile(r"torch\.(?:(?:as_)?tensor|\w*Tensor|from_numpy)|numpy\.(?:as)?array")
_BOTH = frozenset((0.0, 1.0))
_STEPS = 8  # of expressions that make it


def numbers_in(value: Value, steps: int = _STEPS) -> _Numbers:
    """All numbers that may stand in it; None where one of them is not known, or another is put there in place."""
    made = origins(value, _KEPT) if steps else []
    found = [_numbers_of(origin, steps) for origin in made]
    if not found or None in found or is_changed_by_name(value, [one for one in made if one.node is not None]):
        return None
    return frozenset().union(*(one for one in found if one is not None))


def _numbers_of(one: Value, steps: int) -> _Numbers:
    node = one.node
    if one.path:
        parts = samples(one) if one.path[:1] == (EACH,) else []
        return _all_of(parts, steps)
    if isinstance(node, ast.Compare) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _BOTH
    if isinstance(node, ast.Constant):
        return frozenset((float(node.value),)) if isinstance(node.value, (bool, int, float)) else None
    if isinstance(node, ast.UnaryOp):
        inner = numbers_in(one.at(node.operand, ()), steps - 1)
        if isinstance(node.op, ast.USub):
            return frozenset(-each for each in inner) if inner is not None else None
        return inner if isinstance(node.op, ast.Invert) and inner == _BOTH else None
    if isinstance(node, ast.BinOp):
        return _of_two(one, node, steps)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _all_of([one.at(part, ()) for part in node.elts], steps)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return numbers_in(one.at(node.elt, ()), steps - 1)
    return _of_call(one, node, steps) if isinstance(node, ast.Call) else None


def _all_of(parts: list[Value], steps: int) -> _Numbers:
    found = [numbers_in(part, steps - 1) for part in parts]
    known = [one for one in found if one is not None]
    return frozenset().union(*known) if known and len(known) == len(found) else None


def _of_two(one: Value, node: ast.BinOp, steps: int) -> _Numbers:
    """`first & second`, `1 - same`"""
    right = numbers_in(one.at(node.right, ()), steps - 1)
    if isinstance(node.op, ast.Sub):
        return _BOTH if right == _BOTH and number(one.at(node.left, ())) == 1 else None
    is_both = isinstance(node.op, (ast.BitAnd, ast.BitOr)) and right == _BOTH
    return _BOTH if is_both and numbers_in(one.at(node.left, ()), steps - 1) == _BOTH else None


def _of_call(one: Value, call: ast.Call, steps: int) -> _Numbers:
    if is_call_of(one, _COMPARED):
        return _BOTH
    if is_call_of(one, _ZEROS | _ONES):
        return frozenset((float(is_call_of(one, _ONES)),))
    if is_call_of(one, _FULL):
        filling = argument(call, "fill_value", 1)
        return numbers_in(one.at(filling, ()), steps - 1) if filling is not None else None
    if is_call_of(one, _DRAWN):
        return _BOTH if [unparsed(part) for part in call.args[:2]] == ["0", "2"] else None
    given = call.args
    if is_call_of(one, _CHOICE):
        is_method = all(callee.kind == "method" for callee in callees(one))
        return None if is_method or len(given) != 3 else _all_of([one.at(part, ()) for part in given[1:]], steps)
    if is_call_of(one, _JOINS):
        return numbers_in(one.at(given[0], ()), steps - 1) if given else None
    is_number = isinstance(call.func, ast.Name) and call.func.id in ("float", "int")
    if len(given) == 1 and (is_number or _WRAPS.fullmatch(external_name(one.at(call.func, ())) or "")):
        return numbers_in(one.at(given[0], ()), steps - 1)
    return None
