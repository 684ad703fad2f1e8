"""Rows of a graph that may be empty: nodes that are near no other one, or to which nothing was drawn."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import named_of
from torchlint.source.answers.nothing_chosen import is_asked_before, is_compared
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, statement_of
from torchlint.source.text.spelling import argument, dotted, receiver, unparsed
from torchlint.source.training.grads import requires_grad

_DEPTH = 4  # of what is multiplied
_SUMS = named_of("sum")
_EXPECTED = 0.1  # empty rows, of those that are drawn


def rows_counted(count: Value) -> Value | None:
    """What says which nodes of a graph are neighbours where `near.sum(dim=1)` counts them and may count none."""
    found = [_of_rows(origin) for origin in origins(_widened(count), SAME_NUMBERS)]
    return found[0] if found and None not in found else None


def _widened(count: Value) -> Value:
    """`count` of `count[:, None]`"""
    node = count.node
    places = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    is_whole = places and all(unparsed(place) in (":", "None", "...") for place in places)
    return count.at(node.value, ()) if is_whole else count


def _of_rows(origin: Value) -> Value | None:
    if not is_result_of(origin, _SUMS):
        return None
    is_method = all(callee.kind == "method" for callee in callees(origin))
    summed = receiver(origin.node) if is_method else argument(origin.node, "input", 0)
    if summed is None or argument(origin.node, "dim", 0 if is_method else 1) is None:
        return None
    found = [_empty_rows(matrix) for matrix in origins(origin.at(summed, ()), SAME_NUMBERS)]
    return found[0] if found and None not in found else None


@remembered
def _empty_rows(matrix: Value) -> Value | None:
    """The comparison of which each row of a matrix may be false."""
    if matrix.node is None or not isinstance(matrix.node, (ast.BinOp, ast.Compare)):
        return None
    filled = _is_filled(matrix)
    if filled is None:
        return None
    factors = [*_factors(matrix, _DEPTH)]
    drawn = next((factor for factor in factors if _is_seldom(factor)), None)
    near = next((factor for factor in factors if _is_near(factor)), None)
    return drawn or (near if filled or any(map(_leaves_itself_out, factors)) else None)


def _factors(value: Value, depth: int) -> Iterator[Value]:
    """What a mask is multiplied from: it holds where all of them do."""
    node = value.node
    if depth and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.Mult)):
        for side in (node.left, node.right):
            behind = origins(value.at(side, ()), SAME_NUMBERS)
            if len(behind) == 1 and behind[0].node is not None:
                yield from _factors(behind[0], depth - 1)
    else:
        yield value


def _is_seldom(factor: Value) -> bool:
    """`torch.rand(200, 200) < 0.01`, of which some row is likely to be empty."""
    node = factor.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Lt, ast.LtE)):
        return False
    share = number(factor.at(node.comparators[0], ()))
    for drawn in origins(factor.at(node.left, ())):
        if share is None or not is_result_of(drawn, named_of("rand")):
            return False
        sizes = drawn.node.args
        sizes = sizes[0].elts if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)) else sizes
        known = [length for size in sizes if (length := number(drawn.at(size, ()))) is not None]
        if len(known) != 2 or len(sizes) != 2 or min(known) * max(1 - share, 0) ** max(known) < _EXPECTED:
            return False
    return True


def _is_near(factor: Value) -> bool:
    """`torch.cdist(z, z) < radius` and `z @ z.T > least` of what is learned: points of data may lie on a grid."""
    node = factor.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    measured = origins(factor.at(node.left, ()), SAME_NUMBERS)
    if isinstance(node.ops[0], (ast.Lt, ast.LtE)):
        return all(_is_distance(o) and requires_grad(o) is True for o in measured)
    is_above = isinstance(node.ops[0], (ast.Gt, ast.GtE))
    return is_above and all(_is_product(o) and requires_grad(o) is True for o in measured)


def _is_distance(origin: Value) -> bool:
    return is_result_of(origin, named_of("cdist"))


def _is_product(origin: Value) -> bool:
    return isinstance(origin.node, ast.BinOp) and isinstance(origin.node.op, ast.MatMult)


def _leaves_itself_out(factor: Value) -> bool:
    """`~torch.eye(n, dtype=torch.bool)`, `1 - torch.eye(n)`, `torch.cdist(x, x) > 0`"""
    node = factor.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_diagonal(factor.at(node.operand, ()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return number(factor.at(node.left, ())) == 1 and _is_diagonal(factor.at(node.right, ()))
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Gt)
        and number(factor.at(node.comparators[0], ())) is not None
        and all(map(_is_distance, origins(factor.at(node.left, ()), SAME_NUMBERS)))
    )


def _is_diagonal(value: Value) -> bool:
    return all(is_result_of(origin, named_of("eye")) for origin in origins(value, SAME_NUMBERS))


def _is_filled(matrix: Value) -> bool | None:
    """Is the diagonal of what an expression makes filled with zeros? None where it is changed in another way."""
    index, function, found = matrix.module.index, enclosing_function(matrix.node), False
    statement = statement_of(matrix.node)
    for name in filter(None, map(dotted, statement.targets if isinstance(statement, ast.Assign) else ())):
        if changes_of(index, name):
            return None
        for part in index.nodes(ast.Attribute):
            if not part.attr.endswith("_") or dotted(part.value) != name or enclosing_function(part) is not function:
                continue
            call = part.up
            is_zero = isinstance(call, ast.Call) and call.args and number(matrix.at(call.args[0], ())) == 0
            if part.attr != "fill_diagonal_" or not is_zero:
                return None
            found = True
    return found


def empty_rows(division: Value, denominator: ast.expr) -> Value | None:
    """The graph whose neighbours a denominator counts, where nothing asks whether a row has any."""
    count = division.at(denominator, ())
    graph = rows_counted(count)
    if graph is None or division.module.index.says("nan") or is_compared(count):
        return None
    return None if is_asked_before(division, denominator, division) else graph
