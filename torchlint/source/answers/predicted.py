"""What a file compares with an argmax, as only the numbers of classes are: `(logits.argmax(1) == y).sum()`."""

from __future__ import annotations

import ast

from torchlint.facts import named_of
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.flow import SAME_NUMBERS, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value

_ARGMAX = named_of("argmax")


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
