"""What runs only in every n-th round: below `if i % n == 0:`, or behind `if i % n: return`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
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
            block, _ = block_of(statement)
            yield from takewhile(lambda test: test.node.pos < statement.pos, _leaving(place.at(block[0], ()), block))
            around = statement.up
            if not isinstance(around, ast.stmt | ast.excepthandler | ast.match_case) or isinstance(around, FUNCTIONS):
                break
            if isinstance(around, LOOPS) and around not in event.loops:
                break  # the round itself
            statement = around


@remembered
def _leaving(first: Value, block: list[ast.stmt]) -> list[Value]:
    """The tests of counted rounds that may leave a block, which begins with a place: each act behind them asks."""
    tests = [first.at(statement.test, ()) for statement in block if _is_leaving(statement)]
    return [test for test in tests if counts_rounds(test) or is_between(test)]


def _is_leaving(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], (ast.Return, ast.Continue))


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
