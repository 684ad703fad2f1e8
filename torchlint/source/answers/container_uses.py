"""Whether a list or dict can become one of torch's containers for all who use it: some ask for what these lack."""

from __future__ import annotations

import ast

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import last_word

_OF_LISTS = "appendleft clear copy count extendleft index popleft remove reverse rotate sort"
_LACKS = {
    "ModuleList": frozenset(_OF_LISTS.split()),
    "ParameterList": frozenset(f"{_OF_LISTS} insert pop".split()),
    "ModuleDict": frozenset("copy get move_to_end popitem setdefault".split()),
    "ParameterDict": frozenset(("move_to_end",)),
}


@remembered
def can_be(module: Module, name: str, container: str) -> bool:
    """Do all that use an attribute of this name ask for what the container has, too?"""
    return not any(_asks_for_more(use, container) for use in module.index.attributes(name))


def _asks_for_more(use: ast.expr, container: str) -> bool:
    up = use.up
    if isinstance(up, ast.Subscript) and isinstance(up.slice, ast.Slice) and isinstance(up.ctx, ast.Load):
        return _asks_for_more(up, container)
    if isinstance(up, ast.Attribute):
        return up.attr in _LACKS[container]
    if isinstance(up, ast.BinOp):  # `[first] + self.layers` is a sum of lists
        return not (container == "ModuleList" and isinstance(up.op, ast.Add) and up.left is use)
    if isinstance(up, ast.AugAssign) and up.target is use:
        return not isinstance(up.op, ast.Add)
    if isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Del):
        return container == "ParameterList"
    return isinstance(up, ast.Call) and last_word(up.func) in ("isinstance", "type")
