"""What stands behind a softmax and belongs before it: masks that hide scores, and the root of the width."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.fills import hides
from torchlint.source.training.takers import takers, takers_of_changed

_SOFTMAX = named_of("softmax")
_KEPT = SAME_NUMBERS | named_of("dropout")
_FILLS = named_of("masked_fill")
_FULL = named_of("full", "full_like")
_TRIANGLES = named_of("tril", "triu")
_PRODUCTS = named_of("matmul", "bmm", "einsum", "baddbmm")
_WEIGHING = named_of("matmul", "bmm", "einsum", "mul", "multinomial", "mv", "mm")
_ROOTS = named_of("sqrt")


def softmax_behind(value: Value) -> Value | None:
    """The softmax of which a tensor is the result, whichever way it came."""
    found = origins(value, _KEPT)
    return found[0] if found and all(is_call_of(one, _SOFTMAX) and not one.path for one in found) else None


def softmax_filled(fill: Value) -> Value | None:
    """Of `weights.masked_fill(mask, -inf)` the softmax that made the weights, if they weigh something behind it."""
    given, low = _first(fill), _low(fill)
    made = (
        softmax_behind(fill.at(given, ()))
        if given is not None and low is not None and hides(fill.at(low, ()))
        else None
    )
    return made if made is not None and _weighs(fill, given) else None


def softmax_assigned(assigned: Value) -> Value | None:
    """The same of `weights[mask] = -inf`."""
    target = assigned.node.targets[0]
    weights = target.value if isinstance(target, ast.Subscript) else None
    if not isinstance(weights, ast.Name) or not hides(assigned.at(assigned.node.value, ())):
        return None
    made = softmax_behind(assigned.at(weights, ()))
    return made if made is not None and any(map(_is_weighing, takers_of_changed(assigned, weights))) else None


def masks_added(softmax: Value) -> Iterator[Value]:
    """The sums `softmax(…) + mask`, where the mask is 0 and very low, and the sum weighs something."""
    for total in takers(softmax):
        sides = _sides(total, ast.Add)
        is_masked = any(_is_mask(side) for side in sides if side.node is not softmax.node)
        if is_masked and any(map(_is_weighing, takers(total))):
            yield total


def scales(softmax: Value) -> Iterator[Value]:
    """Where `softmax(q @ k.T)` is divided by `math.sqrt(d)`. Linear attention multiplies softmaxed queries by it: where
    no product is seen, it may be that.
    """
    if not _is_of_a_product(softmax):
        return
    for scaled in takers(softmax):
        is_quotient = bool(sides := _sides(scaled, ast.Div))
        if any(_is_root(side, is_quotient) for side in (sides[1:] if is_quotient else _sides(scaled, ast.Mult))):
            yield scaled


def _sides(taker: Value, operator: type) -> list[Value]:
    """Both sides of what an operator computes; none where it is another one."""
    node = taker.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, operator):
        return []
    return [taker.at(node.left, ()), taker.at(node.right, ())]


def _first(call: Value) -> ast.expr | None:
    is_method = all(callee.name and callee.name.startswith(".") for callee in callees(call))
    return receiver(call.node) if is_method else argument(call.node, "input", 0)


def _low(call: Value) -> ast.expr | None:
    is_method = all(callee.name and callee.name.startswith(".") for callee in callees(call))
    return argument(call.node, "value", 1 if is_method else 2)


def _weighs(fill: Value, given: ast.expr) -> bool:
    is_statement = isinstance(fill.node.up, ast.Expr)
    if is_statement:
        return isinstance(given, ast.Name) and any(map(_is_weighing, takers_of_changed(fill, given)))
    return any(map(_is_weighing, takers(fill)))


def _is_weighing(taker: Value) -> bool:
    """Is something multiplied by it, and not ranked?"""
    if isinstance(taker.node, ast.BinOp):
        return isinstance(taker.node.op, (ast.Mult, ast.MatMult))
    return is_call_of(taker, _WEIGHING)


def _is_mask(value: Value) -> bool:
    """`(1 - mask) * -1e9`, `zeros.masked_fill(mask, -inf)`, `triu(full(…, -inf), 1)`"""
    found = origins(value, SAME_NUMBERS)
    return bool(found) and all(map(_is_low, found))


def _is_low(made: Value) -> bool:
    node = made.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and not made.path:
        return hides(made.at(node.left, ())) or hides(made.at(node.right, ()))
    if is_call_of(made, _FILLS):
        low = _low(made)
        return low is not None and hides(made.at(low, ()))
    if is_call_of(made, _FULL):
        low = argument(node, "fill_value", 1)
        return low is not None and hides(made.at(low, ()))
    inner = _first(made) if is_call_of(made, _TRIANGLES) else None
    return inner is not None and _is_mask(made.at(inner, ()))


def _is_root(value: Value, is_quotient: bool) -> bool:
    """Is it `math.sqrt(d)` to divide by, or `d ** -0.5` and `1 / math.sqrt(d)` to multiply with?"""
    found = [one for one in origins(value, SAME_NUMBERS) if not _is_none(one)]
    roots = [(_power(one), is_quotient) in ((0.5, True), (-0.5, False)) for one in found]
    return bool(roots) and all(roots)


def _is_none(one: Value) -> bool:
    """`qk_scale or head_dim ** -0.5`"""
    return isinstance(one.node, ast.arg) or isinstance(one.node, ast.Constant) and one.node.value is None


def _power(one: Value) -> float | None:
    node = one.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return number(one.at(node.right, ()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and number(one.at(node.left, ())) == 1:
        below = [_power(origin) for origin in origins(one.at(node.right, ()), SAME_NUMBERS)]
        return -0.5 if below and all(power == 0.5 for power in below) else None
    if not isinstance(node, ast.Call):
        return None
    name = external_name(one.at(node.func, ()))
    return 0.5 if name in ("math.sqrt", "numpy.sqrt") or is_call_of(one, _ROOTS) else None


def _is_of_a_product(softmax: Value) -> bool:
    """Are the scores products as they are, perhaps with some of them hidden?"""
    scores = _first(softmax)
    found = origins(softmax.at(scores, ()), SAME_NUMBERS) if scores is not None else []
    found = [of for one in found for of in (_hidden_in(one) or [one])]
    return bool(found) and all(map(_is_product, found))


def _hidden_in(one: Value) -> list[Value]:
    given = _first(one) if is_call_of(one, _FILLS) else None
    return origins(one.at(given, ()), SAME_NUMBERS) if given is not None else []


def _is_product(one: Value) -> bool:
    if isinstance(one.node, ast.BinOp):
        return isinstance(one.node.op, ast.MatMult) and not one.path
    return is_call_of(one, _PRODUCTS)
