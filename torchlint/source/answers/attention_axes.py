"""Attention weights that are multiplied over another axis than the one over which their softmax went."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import named, named_of
from torchlint.source.answers.axes import layout
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PARAMETER, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.training.ranks import rank

_SOFTMAX = named_of("softmax") | {"torch.nn.Softmax()"}
_PRODUCTS = named_of("matmul", "bmm")
# What leaves each axis where it is, and what the weights over one axis sum to nearly what it was.
_KEEPS = (named("same_numbers", but="view may_view") | named("same_shape", but="broadcasts")) - _SOFTMAX
_MASKS = named_of("masked_fill")
_TURNS = frozenset("transpose permute t T mT swapaxes swapdims einsum sum rearrange".split())
_MAX_PARTS = 8  # sums, scalings and masks between a product and its softmax


def contracted_elsewhere(module: Module, softmax: ast.Call, scores: ast.expr, axis: int) -> ast.expr | None:
    """The product `softmax(q @ k.T) @ v` that sums over the last axis of weights which were normalised over `axis`."""
    if axis == -1:
        return None
    function = enclosing_function(softmax)
    for product, weights in _products(module, function):
        if not _is_only(module, weights, softmax) or _is_turned(module, softmax):
            continue
        made = list(_made(module, Value(module, scores), _MAX_PARTS))
        if made and all(one is not None and _is_before(module, one, axis) for one in made):
            return product
    return None


def _products(module: Module, function: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The products in a function, each with its left factor."""
    inside = function or module.tree
    for node in module.index.inside(inside, ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            yield node, node.left
    for call in module.index.calls_of("matmul", "bmm", inside=inside):
        if (sides := _sides(Value(module, call))) is not None:
            yield call, sides[0]


def _sides(value: Value) -> tuple[ast.expr, ast.expr] | None:
    """The two factors of a matrix product."""
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if not isinstance(node, ast.Call) or last_word(node.func) not in ("matmul", "bmm"):
        return None
    names = {c.name for c in callees(value)}
    if not names or not names <= _PRODUCTS:
        return None
    is_method = all(name.startswith(".") for name in names)
    given = [node.func.value, *node.args] if is_method else node.args
    return (given[0], given[1]) if len(given) == 2 else None


def _is_only(module: Module, weights: ast.expr, softmax: ast.Call) -> bool:
    """Is a factor what this softmax gives, and nothing else?"""
    found = origins(Value(module, weights), _KEEPS)
    return bool(found) and all(origin.node is softmax and not origin.path for origin in found)


def _is_turned(module: Module, softmax: ast.Call) -> bool:
    """Are the weights used with other axes as well, or normalised once more?"""
    statement = statement_of(softmax)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return any(
        (last_word(use.up) if isinstance(use.up, ast.Attribute) else last_word(getattr(use.up, "func", use))) in _TURNS
        for use in reads(module, statement.targets[0])
    )


def _made(module: Module, value: Value, left: int) -> Iterator[Value | None]:
    """The products that scores come from, through scales, sums and masks; None where it is no product."""
    for origin in origins(value, _KEEPS | _MASKS):
        node = origin.node
        if left and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)):
            yield from _made(module, origin.at(node.left, ()), left - 1)
        else:
            sides = _sides(origin) if node is not None and not origin.path else None
            learned = sides and any(PARAMETER in kinds(origin.at(side, ())) for side in sides)
            yield origin if sides and not learned else None


def _is_before(module: Module, product: Value, axis: int) -> bool:
    """Is an axis of a product certainly none of the last one?"""
    if axis < 0:
        return True
    ranks = [_rank(product.at(side, ())) for side in _sides(product) or ()]
    return axis < max((known for known in ranks if known is not None), default=0) - 1


def _rank(factor: Value) -> int | None:
    known = rank(factor)
    if known is None and (named_axes := layout(factor)) is not None:
        known = len(named_axes)
    return known
