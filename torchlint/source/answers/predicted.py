"""What must be classes: what is compared with an argmax, as in `(logits.argmax(1) == y).sum()`, and remainders."""

from __future__ import annotations

import ast

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument

_ARGMAX = named_of("argmax")
_DRAWN = named_of("randint")
_PLACES = named_of("argmax", "long", "randint")


@remembered
def predicted(module: Module) -> frozenset[tuple]:
    """The nodes and paths of all that is compared so. Where that may come from two places, nobody can tell which of
    them is classes: labels as they are in evaluation may be mixed into soft ones in training.
    """
    found: set[tuple] = set()
    for test in module.index.nodes(ast.Compare):
        if isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            sides = [origins(Value(module, side), SAME_NUMBERS) for side in (test.left, *test.comparators)]
            if any(is_call_of(one, _ARGMAX) for one in sides[0] + sides[-1]):
                alone = [side[0] for side in sides if len(side) == 1]
                found.update((one.node, one.path) for one in alone if one.node is not None)
    return frozenset(found)


def without_sign(value: Value, depth: int = 3) -> list[Value]:
    """Where a value comes from, and where `x` of `-x` does, whose sign is often taken off first: `-log_p * target`."""
    return [
        one
        for origin in origins(value)
        for one in (
            without_sign(origin.at(origin.node.operand, ()), depth - 1)
            if depth and isinstance(origin.node, ast.UnaryOp) and isinstance(origin.node.op, ast.USub)
            else [origin]
        )
    ]


def holds_one_each(value: Value) -> bool:
    """Is it `torch.randint(0, 5, (n,))` or of `(n, 1)`? In `torch.randint(0, 2, (n, classes))` each class has its
    place among several labels.
    """
    if not is_call_of(value, _DRAWN):
        return True
    size = argument(value.node, "size", 2) or argument(value.node, "high", 1)
    is_wide = isinstance(size, (ast.Tuple, ast.List)) and len(size.elts) > 1
    return not is_wide or getattr(size.elts[-1], "value", None) == 1


def is_remainder(value: Value) -> bool:
    """`tokens % classes`, and not `tokens % 2`, which may choose"""
    node = value.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod) or getattr(node.right, "value", 0) == 2:
        return False
    divided = origins(value.at(node.left, ()), SAME_NUMBERS)
    return bool(divided) and all(is_call_of(one, _PLACES) for one in divided)
