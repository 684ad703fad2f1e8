"""Data that are made up where they are used: random numbers, zeros, ones."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import origins
from torchlint.source.training.events import Event


def is_made_up(node: ast.AST) -> bool:
    """`torch.randn(2, 3, 64, 64).cuda()`: whoever puts that in looks at sizes, not at what comes out."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("rand", "randn", "randint", "zeros", "ones", "empty"):
            return True
        node = node.func.value
    return False


def looks_at_sizes(event: Event) -> bool:
    """Is what is put in made up, by the function that puts it in?"""
    given = event.node.args[:1]
    return any(is_made_up(origin.node) for part in given for origin in origins(event.value.at(part, ())))
