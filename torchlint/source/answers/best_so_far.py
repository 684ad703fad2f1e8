"""Whether a place runs for the highest of something only: below `if score > best:`, or behind one that leaves."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import block_of, last_word
from torchlint.source.text.spelling import paired, unparsed
from torchlint.source.training.regions import tests_around

_COUNTS = re.compile(r"epoch|step|round|version|time|iter|count|^[ijnt]$")
_LEAVES = (ast.Return, ast.Continue)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_NEAR = 3  # tests above a place after which its block may be left


def is_best_so_far(module: Module, assignment: ast.stmt) -> bool:
    """`if score > self.score: self.score = score`, beside it, or `if score > top[0]: top = score, state`: what is kept
    for the highest of something, not for the last of its numbers.
    """
    tests = [test for test, _ in tests_around(assignment)][:1] + left_above(module, assignment)
    return any(_are_of_the_best(module, assignment.up, test) for test in tests)


def left_above(module: Module, statement: ast.stmt) -> list[ast.expr]:
    """The tests above a statement in its block after which its function or round is left: `if score <= best: return`"""
    block, at = block_of(statement)
    found = _exits(module, block[0]) if at else []
    behind = bisect_left(found, at, key=lambda exit: exit[0])
    return [test for _, test in found[max(behind - _NEAR, 0) : behind]]


@remembered
def _exits(module: Module, first: ast.stmt) -> list[tuple[int, ast.expr]]:
    """Where a block, known by its first statement, may be left, and the tests that say so."""
    return [
        (i, one.test)
        for i, one in enumerate(block_of(first)[0])
        if isinstance(one, ast.If) and not one.orelse and isinstance(one.body[-1], _LEAVES)
    ]


def asks_for_order(test: ast.expr) -> bool:
    """`score > best`, or such a one among others"""
    return any(isinstance(one, ast.Compare) and isinstance(one.ops[0], _ORDER) for one in _asked(test))


@remembered
def _are_of_the_best(module: Module, block: ast.AST, test: ast.expr) -> bool:
    """Does one of the statements of a block that runs by a test take up the highest of something?"""
    beside = [one for one in getattr(block, "body", ()) if isinstance(one, ast.Assign)]
    parts = [part for one in beside for target in one.targets for part in paired(target, one.value)]
    return any(
        any(_takes_up(target, value, one) for target, value in parts)
        for one in _asked(test)
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], _ORDER)
    )


def _asked(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _takes_up(target: ast.expr, value: ast.expr, test: ast.Compare) -> bool:
    """Does an assignment keep the new one of two numbers that were compared, for the next time?"""
    sides = [test.left, test.comparators[0]]
    if any(_COUNTS.search(last_word(side).lower()) for side in sides):
        return False
    if {unparsed(target), unparsed(value)} == set(map(unparsed, sides)):
        return True
    given = value.args if isinstance(value, ast.Call) else getattr(value, "elts", [])
    new, kept = sides if unparsed(sides[0]) in map(unparsed, given) else sides[::-1]
    is_part = isinstance(kept, (ast.Attribute, ast.Subscript)) and unparsed(kept.value) == unparsed(target)
    return is_part and unparsed(new) in map(unparsed, given)
