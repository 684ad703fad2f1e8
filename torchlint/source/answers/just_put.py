"""What stands in a place of a list or table because a statement right before has put it there."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.flow.flow import callees
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import block_of, statement_of
from torchlint.source.text.spelling import constant_key, root_of, unparsed

MAX_STATEMENTS = 10  # between


class Put(NamedTuple):
    read: Value
    made: Value


def put_there(value: Value) -> list[Put]:
    """What is read by `history[-1]` after `history.append(x)`, or by `parts["l1"]` after `parts["l1"] = x`: there, or
    at the end of each function of the project that is called; nothing where that is not seen.
    """
    if value.path:
        return []
    if isinstance(value.node, ast.Subscript):
        put = _put_before(value)
        return [Put(value, put)] if put is not None else []
    called = callees(value) if isinstance(value.node, ast.Call) else []
    found: list[Put] = []
    for callee in called:
        function = callee.function
        if not isinstance(function, ast.FunctionDef) or callee.module is None or function.yields or callee.partials:
            return []
        frame = frame_of(callee.module, function, value, callee.instance, callee.closure)
        for returned in function.gives:
            read = Value(callee.module, returned, frame)
            put = _put_before(read)
            if put is None:
                return []
            found.append(Put(read, put))
    return found


def _put_before(read: Value) -> Value | None:
    place = read.node
    key = constant_key(place.slice) if isinstance(place, ast.Subscript) else None
    root = _root(place) if key is not None else None
    if root is None:
        return None
    held = unparsed(place.value)
    block, at = block_of(statement_of(place))
    for before in reversed(block[max(0, at - MAX_STATEMENTS) : at]):
        put = _put_by(before, held, key)
        if put is not None:
            return read.at(put, ())
        if not isinstance(before, (ast.Assign, ast.Expr)) or held in unparsed(before) and not _is_beside(before, held):
            return None
        if key == -1 and _calls_of(before, root.id):
            return None  # `self.log(x)` may add to the same list
    return None


def _root(node: ast.expr) -> ast.Name | None:
    """`self` of `self.history["loss"][-1]`"""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _put_by(statement: ast.stmt, held: str, key: int | str) -> ast.expr | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and key == -1:
        call = statement.value
        is_append = isinstance(call.func, ast.Attribute) and call.func.attr == "append" and not call.keywords
        return call.args[0] if is_append and unparsed(call.func.value) == held and len(call.args) == 1 else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        [target] = statement.targets
        if isinstance(target, ast.Subscript) and unparsed(target.value) == held and constant_key(target.slice) == key:
            return statement.value
    return None


def _is_beside(statement: ast.stmt, held: str) -> bool:
    """`parts["fit"] = …`: another entry of the same table"""
    return isinstance(statement, ast.Assign) and all(
        isinstance(target, ast.Subscript)
        and unparsed(target.value) == held
        and isinstance(constant_key(target.slice), str)
        for target in statement.targets
    )


def _calls_of(statement: ast.stmt, root: str) -> list[ast.Call]:
    """The calls of what belongs to an object."""
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    return [call for call in calls if getattr(root_of(call.func), "id", "") == root]
