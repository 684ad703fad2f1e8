"""What must be classes: what is compared with an argmax, as in `(logits.argmax(1) == y).sum()`, and remainders."""

from __future__ import annotations

import ast

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value

_ARGMAX = named_of("argmax")
_PLACES = named_of("argmax", "long", "randint")


@remembered
def predicted(module: Module) -> frozenset[tuple]:
    """The nodes and paths of all that is compared so."""
    found: set[tuple] = set()
    for test in module.index.nodes(ast.Compare):
        if isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            sides = [origins(Value(module, side), SAME_NUMBERS) for side in (test.left, *test.comparators)]
            if any(is_call_of(one, _ARGMAX) for one in sides[0] + sides[-1]):
                found.update((one.node, one.path) for side in sides for one in side if one.node is not None)
    return frozenset(found)


def is_remainder(value: Value) -> bool:
    """`tokens % classes`, and not `tokens % 2`, which may choose"""
    node = value.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod) or getattr(node.right, "value", 0) == 2:
        return False
    divided = origins(value.at(node.left, ()), SAME_NUMBERS)
    return bool(divided) and all(is_call_of(one, _PLACES) for one in divided)
