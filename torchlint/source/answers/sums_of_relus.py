"""A sum or norm of what a ReLU gives: 0 where that has cut everything off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import named_of, words
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.flow import SAME_NUMBERS, callees, origins
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument, receiver

_SHAPES = SAME_NUMBERS | {"[]", ".square", ".pow"}
_SUMS = named_of("sum", "mean", "norm", "vector_norm", "amax", "prod")
_CUTS_OFF = named_of("relu", "relu6")


def relu_summed(total: Value) -> Value | None:
    """The ReLU of which a number is the sum, or a product of such."""
    for factor in _factors(total):
        if not is_result_of(factor, _SUMS):
            continue
        is_method = all(callee.kind == "method" for callee in callees(factor))
        summed = receiver(factor.node) if is_method else argument(factor.node, "input", 0)
        made = origins(factor.at(summed, ()), _SHAPES) if summed is not None else []
        if made and all(map(_is_of_a_relu, made)):
            return made[0]
    return None


def _is_of_a_relu(origin: Value) -> bool:
    if origin.path == ("applied",):  # the last layer of a Sequential, as it is made
        names = {f"{callee.name}()" for callee in callees(origin)}
        return bool(names) and names <= _CUTS_OFF
    return isinstance(origin.node, ast.Call) and is_result_of(origin, _CUTS_OFF)


def _factors(product: Value) -> Iterator[Value]:
    """Each factor, which makes the product 0 where it is."""
    for origin in origins(product, _SHAPES):
        if isinstance(origin.node, ast.BinOp) and isinstance(origin.node.op, ast.Mult):
            for side in (origin.node.left, origin.node.right):
                yield from _factors(origin.at(side, ()))
        else:
            yield origin


def relu_totalled(total):
    """The same of a number of the dry run: the ReLU whose rows it sums, each by itself."""
    made = total.source() if hasattr(total, "source") else None
    if made is None or f".{made.name}" not in _SUMS and f"torch.{made.name}" not in _SUMS or total.shape in ((), (1,)):
        return None
    summed = made.argument("input", 0)
    relu = summed.source() if hasattr(summed, "source") else None
    return relu if relu is not None and relu.name in words(_CUTS_OFF) else None
