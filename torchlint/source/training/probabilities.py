"""Whether a result is a probability: softmax and sigmoid, and what products, mixtures and means make of such."""

from __future__ import annotations

import ast

from torchlint.facts import named, named_of
from torchlint.source.flow.changed import pieces
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver, unparsed

_BOUNDED = named_of("softmax", "sigmoid")
_MEANS = named_of("mean")
_JOINS = named("joins")
_DEPTH = 5  # of arithmetic
_ROUNDING = 1e-6


def is_probability(value: Value) -> bool:
    """Is each of its numbers certainly one from 0 to 1, as computed from a softmax or sigmoid?"""
    most = _most(value, _DEPTH)
    return most is not None and most <= 1 + _ROUNDING


@remembered
def _most(value: Value, depth: int) -> float | None:
    """What no number of a tensor of probabilities exceeds, nor is below 0; None of all other tensors."""
    node = value.node
    if isinstance(node, ast.Call):
        return _most_of_call(value, depth)
    if isinstance(node, ast.Attribute) and not value.path:
        return 1.0 if is_probs(value) else None
    if not isinstance(node, ast.BinOp) or value.path or depth == 0:
        return None
    if isinstance(node.op, ast.Sub):
        return 1.0 if _is_rest(value, depth) else None
    if isinstance(node.op, ast.Add) and _is_mixture(value, depth):
        return 1.0
    left, right = value.at(node.left, ()), value.at(node.right, ())
    if isinstance(node.op, ast.Div):
        above, below = _most_behind(left, depth), number(right)
        return None if above is None or below is None or below <= 0 else above / below
    if not isinstance(node.op, (ast.Add, ast.Mult)):
        return None
    sides = [_most_behind(side, depth) for side in (left, right)]
    if isinstance(node.op, ast.Mult):  # 0.3 times a probability
        sides = [_plain(side) if most is None else most for side, most in zip((left, right), sides)]
    if sides[0] is None or sides[1] is None:
        return None
    return sides[0] + sides[1] if isinstance(node.op, ast.Add) else sides[0] * sides[1]


def is_probs(value: Value) -> bool:
    """`Categorical(logits=x).probs`: torch's distributions have their probabilities in an attribute, and the normed
    logarithms of them in `logits`.
    """
    node = value.node
    if not isinstance(node, ast.Attribute) or node.attr != "probs" or value.path:
        return False
    made = origins(value.at(node.value, ()))
    return bool(made) and all(
        isinstance(one.node, ast.Call)
        and not one.path
        and (external_name(one.at(one.node.func, ())) or "").startswith("torch.distributions.")
        for one in made
    )


def _most_of_call(value: Value, depth: int) -> float | None:
    names = {callee.name for callee in callees(value)}
    if value.path == ("applied",):  # the last layer of a Sequential
        return 1.0 if names and {f"{name}()" for name in names} <= _BOUNDED else None
    if not names or value.path:
        return None
    if names <= _BOUNDED:
        return 1.0
    if depth == 0 or not names <= _MEANS | _JOINS:
        return None
    of = receiver(value.node) if all(name.startswith(".") for name in names) else argument(value.node, "input", 0)
    if of is None:
        return None
    return _most_behind(value.at(of, ()), depth) if names <= _MEANS else _most_of_parts(value.at(of, ()), depth)


def _most_behind(value: Value, depth: int) -> float | None:
    found = [_most(origin, depth - 1) for origin in origins(value, SAME_NUMBERS)]
    known = [most for most in found if most is not None]
    return max(known) if known and len(known) == len(found) else None


def _most_of_parts(joined: Value, depth: int) -> float | None:
    """Of all that is joined: `torch.stack([one.softmax(1), other.softmax(1)])`, or a list that one `append` fills."""
    found: list[float | None] = []
    for made in origins(joined):
        found += [_most_behind(part, depth) for part in pieces(made)] or [None]
    known = [most for most in found if most is not None]
    return max(known) if known and len(known) == len(found) else None


def _is_rest(value: Value, depth: int) -> bool:
    """`1 - p`"""
    most = _most_behind(value.at(value.node.right, ()), depth)
    return number(value.at(value.node.left, ())) == 1 and most is not None and most <= 1


def _is_mixture(value: Value, depth: int) -> bool:
    """`gate * p + (1 - gate) * q`, with a gate that is a probability or a number from 0 to 1"""
    sides = [side for side in (value.node.left, value.node.right) if isinstance(side, ast.BinOp)]
    if len(sides) != 2 or not all(isinstance(side.op, ast.Mult) for side in sides):
        return False
    for gate, one in ((sides[0].left, sides[0].right), (sides[0].right, sides[0].left)):
        for rest, other in ((sides[1].left, sides[1].right), (sides[1].right, sides[1].left)):
            if not (_is_rest_of(rest, gate, value) or _is_rest_of(gate, rest, value)):
                continue
            weight = rest if _is_rest_of(gate, rest, value) else gate
            most = _most_behind(value.at(weight, ()), depth) or _plain(value.at(weight, ()))
            parts = [_most_behind(value.at(part, ()), depth) for part in (one, other)]
            if most is not None and most <= 1 and all(part is not None and part <= 1 for part in parts):
                return True
    return False


def _is_rest_of(rest: ast.expr, gate: ast.expr, value: Value) -> bool:
    """Is it written `1 - gate`?"""
    if not isinstance(rest, ast.BinOp) or not isinstance(rest.op, ast.Sub):
        return False
    return number(value.at(rest.left, ())) == 1 and unparsed(rest.right) == unparsed(gate)


def _plain(value: Value) -> float | None:
    """A number that is not below 0."""
    plain = number(value)
    return None if plain is None or plain < 0 else float(plain)
