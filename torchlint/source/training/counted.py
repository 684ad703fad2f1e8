"""What runs only in every n-th round: below `if i % n == 0:`, or behind `if i % n: return`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, LOOPS, block_of, statement_of
from torchlint.source.training.events import Event

_DEPTH = 4  # of names, `not` and `and` in a test


def counts_rounds(test: Value) -> bool:
    """`i % n == 0`, also as what a helper is given."""
    return any(_divides(origin.node) for origin in (test, *origins(test)) if not origin.unknown)


def passing_over(event: Event) -> Iterator[Value]:
    """The tests of counted rounds that leave a round, or a helper that it calls, before something runs."""
    for place in (event.value, *event.via):
        statement = statement_of(place.node)
        while True:
            block, at = block_of(statement)
            for before in block[:at]:
                if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Return, ast.Continue)):
                    test = place.at(before.test, ())
                    if counts_rounds(test) or is_between(test):
                        yield test
            around = statement.up
            if not isinstance(around, ast.stmt | ast.excepthandler | ast.match_case) or isinstance(around, FUNCTIONS):
                break
            if isinstance(around, LOOPS) and around not in event.loops:
                break  # the round itself
            statement = around


def is_between(test: Value, depth: int = _DEPTH) -> bool:
    """Is it true in all rounds but every n-th, as `i % n`, `i % n != 0 and not is_last` and `not is_nth` are?"""
    return _holds(test, True, depth)


def _holds(test: Value, truth: bool, depth: int) -> bool:
    node = test.node
    if depth == 0 or test.path or node is None:
        return False
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _holds(test.at(node.operand, ()), not truth, depth - 1)
    if isinstance(node, ast.BoolOp):
        return any(_holds(test.at(part, ()), truth, depth - 1) for part in node.values)
    if isinstance(node, ast.Compare):
        is_equal = len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
        return _divides(node.left) and len(node.ops) == 1 and is_equal is not truth
    if isinstance(node, ast.BinOp):
        return truth and isinstance(node.op, ast.Mod)
    found = [] if isinstance(node, ast.Call) else origins(test)
    return bool(found) and all(o.node is not node and _holds(o, truth, depth - 1) for o in found)


def _divides(node: ast.AST) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(node))
