"""A `backward` that is somebody's own, and none of autograd's."""

from __future__ import annotations

import ast

from torchlint.source.flow.module import Module
from torchlint.source.text.index import enclosing_function


def gives_something(module: Module, backward: ast.Call) -> bool:
    """Is its result used? Then it is no backward of autograd's, which gives nothing, but a flow's, or one that somebody
    has written by hand.
    """
    around = backward.up
    if isinstance(around, ast.Assign):
        return any(not isinstance(target, ast.Name) or _is_read(module, target) for target in around.targets)
    return isinstance(around, (ast.Attribute, ast.Subscript, ast.BinOp, ast.Call))


def _is_read(module: Module, stored: ast.Name) -> bool:
    function = enclosing_function(stored)
    read = (name for name in module.index.names(stored.id) if isinstance(name.ctx, ast.Load))
    return any(enclosing_function(name) is function and name.lineno > stored.lineno for name in read)
