"""Whether a result is a raw score: a sum weighted by what is learned, which nothing bounds."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.facts import named, named_of
from torchlint.source.flow.changed import pieces
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.grads import is_leaf, is_set_later

_WEIGHED = named("affine") | named_of("Bilinear")
_PRODUCTS = named_of("matmul", "mm", "bmm", "spmm") | {"torch.sparse.mm"}
_SUMS = named_of("sum")
_CONTRACTIONS = named_of("einsum")
_SIGNED = named_of("tanh", "Tanh")
_JOINS = named("joins")
_TABLES = frozenset(("torch.nn.Embedding()",))
_DEPTH = 4  # of arithmetic


def is_raw_score(value: Value) -> bool:
    """A layer's output, `x @ w + b` of parameters, `adjacency @ fc(x)`, `(user * item).sum(1)` of two embeddings or
    towers.
    """
    return _is_raw(value, _DEPTH)


@remembered
def _is_raw(value: Value, depth: int) -> bool:
    node = value.node
    if isinstance(node, ast.Call):
        names = {callee.name for callee in callees(value)}
        if value.path == ("applied",):  # the last layer of a Sequential
            return bool(names) and {f"{name}()" for name in names} <= _WEIGHED
        if not names or value.path:
            return False
        if names <= _PRODUCTS:
            return _is_a_product((_first(value), _second(value)), depth)
        if names <= _SUMS:
            return _is_of_products(_first(value), depth)
        if names <= _CONTRACTIONS:
            return _is_contracted(value, depth)
        if names <= _JOINS:
            return depth > 0 and _are_raw_parts(_first(value), depth)
        return names <= _WEIGHED
    if not isinstance(node, ast.BinOp) or value.path or depth == 0:
        return False
    sides = (value.at(node.left, ()), value.at(node.right, ()))
    if isinstance(node.op, ast.MatMult):
        return _is_a_product(sides, depth)
    if isinstance(node.op, (ast.Add, ast.Sub)) and all(_are_raw(side, depth) or _are_rows(side) for side in sides):
        return True  # `(user * item).sum(1) + bias(user)`
    if isinstance(node.op, (ast.Add, ast.Mult, ast.Div)):
        return any(
            (_is_learned(other) or _is_number(other)) and _are_raw(one, depth) for one, other in (sides, sides[::-1])
        )
    return False


def _are_raw(value: Value, depth: int) -> bool:
    found = origins(value, SAME_NUMBERS)
    return bool(found) and all(_is_raw(origin, depth - 1) for origin in found)


def _is_of_raw(side: Value | None, depth: int) -> bool:
    """Is a side of a product raw scores, as in `adjacency @ self.linear(x)`? Weighted sums of them are raw, too."""
    return side is not None and depth > 0 and _are_raw(side, depth)


def _are_raw_parts(value: Value | None, depth: int) -> bool:
    """Each of what is joined: `torch.cat([net(a), net(b)])`, or a list that one `append` fills."""
    found = origins(value) if value is not None else []
    return bool(found) and all(map(_parts_of(depth), found))


def _parts_of(depth: int) -> Callable[[Value], bool]:
    def are_raw(made: Value) -> bool:
        parts = pieces(made)
        return bool(parts) and all(_are_raw(part, depth) for part in parts)

    return are_raw


def _is_learned(value: Value | None) -> bool:
    found = origins(value) if value is not None else []
    made = [origin for origin in found if not isinstance(origin.node, ast.AugAssign)]  # `w -= lr * w.grad` is a step
    return bool(made) and all(is_leaf(origin) or not origin.unknown and is_set_later(origin) for origin in made)


def _is_number(value: Value) -> bool:
    found = origins(value)
    return bool(found) and all(
        isinstance(o.node, ast.Constant) and isinstance(o.node.value, (int, float)) for o in found
    )


def _is_a_product(sides: tuple[Value | None, ...], depth: int) -> bool:
    is_weighted = any(_is_learned(side) or _is_of_raw(side, depth) for side in sides)
    return is_weighted or all(_is_signed(side, depth) for side in sides)


def _is_of_products(value: Value | None, depth: int) -> bool:
    """Of numbers that two tables or towers give, without bounds or of both signs."""
    found = origins(value) if value is not None else []
    return bool(found) and all(
        isinstance(o.node, ast.BinOp)
        and isinstance(o.node.op, ast.Mult)
        and all(_is_signed(o.at(side, ()), depth) for side in (o.node.left, o.node.right))
        for o in found
    )


def _is_contracted(value: Value, depth: int) -> bool:
    """`torch.einsum("nd,nd->n", user, item)` sums, too."""
    how, *parts = value.node.args or (None,)
    said = how.value if isinstance(how, ast.Constant) and isinstance(how.value, str) else ""
    taken, _, given = said.partition("->")
    is_sum = "," in taken and not set(taken) <= {*given, ",", " ", "."}
    return is_sum and len(parts) == 2 and all(_is_signed(value.at(part, ()), depth) for part in parts)


def _is_signed(value: Value | None, depth: int) -> bool:
    """Rows of a table, raw scores, or what tanh makes of them: any number, also those below zero."""
    found = origins(value, SAME_NUMBERS) if value is not None and depth > 0 else []
    return bool(found) and all(_is_row(o) or _is_tanh(o) or _is_raw(o, depth - 1) for o in found)


def _is_tanh(value: Value) -> bool:
    if not isinstance(value.node, ast.Call):
        return False
    names = {callee.name for callee in callees(value)}
    names = {f"{name}()" for name in names} if value.path == ("applied",) else set() if value.path else names
    return bool(names) and names <= _SIGNED


def _are_rows(value: Value) -> bool:
    found = origins(value, SAME_NUMBERS)
    return bool(found) and all(map(_is_row, found))


def _is_row(value: Value) -> bool:
    return isinstance(value.node, ast.Call) and {callee.name for callee in callees(value)} == _TABLES


def _first(value: Value) -> Value | None:
    of = receiver(value.node) if all(c.kind == "method" for c in callees(value)) else argument(value.node, "input", 0)
    return value.at(of, ()) if of is not None else None


def _second(value: Value) -> Value | None:
    place = 0 if all(c.kind == "method" for c in callees(value)) else 1
    return value.at(value.node.args[place], ()) if len(value.node.args) > place else None
