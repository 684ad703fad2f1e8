"""Tensors of no dimensions that are indexed: `loss.data[0]`, as it was written before torch 0.4."""

from __future__ import annotations

import ast

from torchlint.facts import fact
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import is_tensor
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import is_tried
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars
from torchlint.source.text.pinned import Pinned
from torchlint.source.training.ranks import is_reduced

_DEEPEST = 4  # of sums of losses
_KEEPS_ALL = frozenset(("reduction", "reduce", "size_average"))


def indexed_number(module: Module, picked: ast.Subscript) -> ast.expr | None:
    """What is one number for certain, and is indexed by 0."""
    index = picked.slice
    if not isinstance(index, ast.Constant) or type(index.value) is not int or not isinstance(picked.ctx, ast.Load):
        return None
    held = picked.value
    is_data = isinstance(held, ast.Attribute) and held.attr == "data"
    held = held.value if is_data else held  # type: ignore[attr-defined]
    if not isinstance(held, (ast.Name, ast.Attribute, ast.Call)) or is_tried(picked):
        return None
    is_one = _is_one_number(Value(module, held), is_data, _DEEPEST)
    return held if is_one and not Pinned(module.world.view).runs_otherwise else None


def _is_one_number(value: Value, is_of_torch: bool, depth: int) -> bool:
    found = origins(value) if depth else []
    return bool(found) and all(not o.unknown and not o.path and _gives_one(o, is_of_torch, depth) for o in found)


def _gives_one(origin: Value, is_of_torch: bool, depth: int) -> bool:
    node = origin.node
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        return bool(sides) and all(_is_one_number(origin.at(side, ()), is_of_torch, depth - 1) for side in sides)
    if not isinstance(node, ast.Call):
        return False
    if is_reduced(node):
        return is_of_torch or is_tensor(origin)
    return _is_loss(origin)


def _is_loss(call: Value) -> bool:
    """A loss of torch that gives its mean, as all do that are not told otherwise."""
    rows = [fact(callee.name) for callee in callees(call)]
    if not rows or not all(row is not None and row.reduces and row.home in ("nn", "F") for row in rows):
        return False
    made = [call.node] if all(row.home == "F" for row in rows if row) else _constructors(call)
    return bool(made) and all(_is_told_nothing(one) for one in made)


def _constructors(call: Value) -> list[ast.Call]:
    made = [one.node for one in objects(call.at(call.node.func, ()))]
    calls = [node for node in made if isinstance(node, ast.Call)]
    return calls if len(calls) == len(made) else []


def _is_told_nothing(call: ast.Call) -> bool:
    given = [keyword.arg for keyword in call.keywords]
    flags = any(isinstance(arg, ast.Constant) and isinstance(arg.value, (bool, str)) for arg in call.args)
    return not flags and not has_stars(call) and _KEEPS_ALL.isdisjoint(given)
