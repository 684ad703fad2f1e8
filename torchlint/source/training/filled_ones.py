"""Whether there is certainly something to go through: a list that is written out, or made of each part of one."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS

_DEPTH = 4  # of comprehensions over comprehensions
_OF_DICTS = ("values", "items", "keys")
_PASSING = frozenset(f"builtins.{word}" for word in "list tuple set sorted reversed enumerate zip dict".split())


def goes_through_some(iterated: Value, depth: int = _DEPTH) -> bool:
    """Is there something in what a loop goes through: `hooks`, `schedulers.values()`, `zip(names, [a, b])`?"""
    found = origins(iterated) if depth else []
    return bool(found) and all(_holds_some(one, depth - 1) for one in found)


def _holds_some(made: Value, depth: int) -> bool:
    node = made.node
    if made.path:
        return False
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return any(not isinstance(part, ast.Starred) for part in node.elts)
    if isinstance(node, ast.Dict):
        return any(key is not None for key in node.keys)
    if isinstance(node, COMPREHENSIONS):
        return not any(part.ifs for part in node.generators) and all(
            goes_through_some(made.at(part.iter, ()), depth) for part in node.generators
        )
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_DICTS and not node.args:
        return goes_through_some(made.at(node.func.value, ()), depth)
    is_passing = bool(node.args) and external_name(made.at(node.func, ())) in _PASSING
    return is_passing and all(goes_through_some(made.at(part, ()), depth) for part in node.args)
