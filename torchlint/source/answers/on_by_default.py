"""Which tests hold unless somebody asks for something else."""

from __future__ import annotations

import ast
from typing import Any

from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value


def is_on_by_default(test: Value) -> bool:
    """`LOW = os.environ.get("LOW", "1") == "1"`, an option with `default=1`"""
    found = origins(test)
    return bool(found) and all(not origin.path and _holds(origin) for origin in found)


def _holds(origin: Value) -> bool:
    node = origin.node
    if isinstance(node, ast.Compare):
        sides = [_by_default(origin.at(side, ())) for side in (node.left, *node.comparators)]
        if len(sides) != 2 or None in sides or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return False
        return (sides[0] == sides[1]) is isinstance(node.ops[0], ast.Eq)
    return bool(_by_default(origin))


def _by_default(value: Value) -> Any:
    """The constant that it is if nobody says otherwise; None where nobody can tell."""
    node = value.node
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call) and node.args and not node.keywords:
        name, given = external_name(value.at(node.func, ())), [_by_default(value.at(one, ())) for one in node.args]
        if name in ("os.environ.get", "os.getenv"):
            return given[1] if len(given) == 2 else None
        if name in ("builtins.int", "builtins.bool") and len(given) == 1 and given[0] is not None:
            return _number(given[0]) if name.endswith("int") else bool(given[0])
        return None
    return usual_number(value)


def _number(said: Any) -> int | None:
    return int(said) if isinstance(said, int) or isinstance(said, str) and said.isdecimal() else None
