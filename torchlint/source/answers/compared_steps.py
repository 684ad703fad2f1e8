"""Masks of the steps themselves, `steps[None, :] <= steps[:, None]`: which triangle of a square is True."""

from __future__ import annotations

import ast

from torchlint.facts import named, named_of
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.flow import origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver, unparsed

_COUNTS = named_of("arange")
_KEPT = named("casts") | named("moves")
_PUTS_IN, _SHAPES = named_of("unsqueeze"), named_of("view", "reshape")
_ROW, _COLUMN = -1, -2
# Of `steps <op> steps` with the columns on the left: is the upper triangle True, and from which diagonal on?
_TRIANGLES = {ast.LtE: (False, 0), ast.Lt: (False, -1), ast.Gt: (True, 1), ast.GtE: (True, 0)}
_TURNED: dict[type, type] = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE}


def compared_steps(left: Value, kind: type, right: Value) -> tuple[bool, int] | None:
    """Whether the upper triangle is True where steps are compared with themselves, and from which diagonal on."""
    sides = _steps(left), _steps(right)
    if sides[0] is None or sides[1] is None or kind not in _TRIANGLES:
        return None
    (first, axis), (second, other) = sides
    if first != second or {axis, other} != {_ROW, _COLUMN}:
        return None
    return _TRIANGLES[kind if axis == _ROW else _TURNED[kind]]


def _steps(value: Value) -> tuple[str, int] | None:
    """How many steps are counted, as it is written, and along which axis of a square: plain ones along the last."""
    found = origins(value, _KEPT)
    if len(found) != 1 or found[0].path:
        return None
    one, node = found[0], found[0].node
    if is_result_of(one, _COUNTS):
        given = [argument(node, "end", 0)] if len(node.args) < 2 else []
        return (unparsed(given[0]), _ROW) if given and given[0] is not None else None
    if isinstance(node, ast.Subscript):
        axis, of = _of_places(node.slice), node.value
    elif is_result_of(one, _PUTS_IN) and len(node.args) == 1 and receiver(node) is not None:
        axis, of = {0: _ROW, 1: _COLUMN, -1: _COLUMN, -2: _ROW}.get(number(one.at(node.args[0], ()))), receiver(node)
    elif is_result_of(one, _SHAPES) and len(node.args) == 2 and receiver(node) is not None:
        sizes = [number(one.at(size, ())) for size in node.args]
        axis, of = _ROW if sizes[0] == 1 else _COLUMN if sizes[1] == 1 else None, receiver(node)
    else:
        return None
    inner = _steps(one.at(of, ())) if axis is not None else None
    return (inner[0], axis) if inner is not None and inner[1] == _ROW else None


def _of_places(slices: ast.expr) -> int | None:
    """`[None, :]` and `[None]` lay the steps along the columns, `[:, None]` along the rows."""
    places = slices.elts if isinstance(slices, ast.Tuple) else [slices]
    kept = [at for at, place in enumerate(places) if _is_whole(place)]
    rest = [place for place in places if not _is_whole(place)]
    if len(kept) > 1 or any(not isinstance(place, ast.Constant) or place.value is not None for place in rest):
        return None
    axis = kept[0] - len(places) if kept else _ROW
    return axis if axis in (_ROW, _COLUMN) else None


def _is_whole(place: ast.expr) -> bool:
    return isinstance(place, ast.Slice) and (place.lower, place.upper, place.step) == (None, None, None)
