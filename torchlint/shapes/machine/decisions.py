"""The other way at a branch that nobody can decide: runs are made again with one answer after the other turned
round.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from torchlint.shapes.language.program import Question

RUNS = 5  # of one function, the first one included
TURNS = 3  # of a script
MOST = 200  # conditions that are compared with each other
STEPS = 30_000  # what takes more is not run again
Result = TypeVar("Result")


class Way(NamedTuple):
    """What a run of a module does differently: answers to unknown conditions, evaluation mode, switches among the
    arguments of its forward.
    """

    answers: Mapping[str, bool] = {}
    evaluating: bool = False
    switches: Mapping[str, bool] = {}


def explore(machine: Any, run: Callable[[], Result]) -> Iterator[Result]:
    """The result of a run, and of more in which unknown conditions are answered the other way, first one, then two of
    them.
    """
    before = machine.choices
    queue: deque[dict[str, bool]] = deque([{}])
    try:
        for _ in range(RUNS):
            if not queue or machine.left <= 0:
                return
            machine.choices = queue.popleft()
            machine.forget_answers()
            yield run()
            if machine.budget.used > STEPS:
                return
            for text in turnable(machine.asked):
                if text not in machine.choices:
                    queue.append({**machine.choices, text: not machine.asked[text]})
    finally:
        machine.choices = before


def turnable(asked: Mapping[str, bool]) -> list[str]:
    """The conditions that may be answered alone: those that share no name with another, which would have to change with
    them.
    """
    if len(asked) > MOST:
        return []
    return [
        text
        for text in asked
        if not any(_belong(text, other, {**asked, text: not asked[text]}) for other in asked if other != text)
    ]


def are_independent(asked: Mapping[str, bool]) -> bool:
    """Whether no two conditions share a name: those may have been answered as they never are together."""
    texts = list(asked)
    return len(texts) <= MOST and not any(
        _belong(text, other, asked) for position, text in enumerate(texts) for other in texts[:position]
    )


def excluded(text: str, asked: Mapping[str, bool]) -> bool:
    """Whether a condition cannot hold, because its value was found equal to something else."""
    value = _compared(text)
    return value is not None and any(
        answer and other != text and _compared(other) == value for other, answer in asked.items()
    )


def _belong(one: str, other: str, asked: Mapping[str, bool]) -> bool:
    """Whether the answers to two conditions depend on each other.

    One value compared with several constants is equal to one of them at most.
    """
    if not _names(one) & _names(other):
        return False
    value = _compared(one)
    return value is None or value != _compared(other) or asked[one] and asked[other]


@lru_cache(maxsize=4096)
def _compared(text: str) -> str | None:
    """What a condition compares with a constant."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if (
        isinstance(tree, ast.Compare)
        and len(tree.ops) == 1
        and isinstance(tree.ops[0], ast.Eq)
        and isinstance(tree.comparators[0], ast.Constant)
    ):
        return ast.unparse(tree.left)
    return None


def turns(asked: Mapping[str, bool], nodes: list[ast.AST]) -> list[dict[str, bool]]:
    """The answers with which a script is run again: one of its own conditions turned round."""
    texts = turnable(asked)
    tests = {Question(n.test).asked[0] for n in nodes if isinstance(n, (ast.If, ast.IfExp))} if texts else set()
    return [{text: not asked[text]} for text in texts if text in tests][:TURNS]


@lru_cache(maxsize=4096)
def _names(text: str) -> frozenset[str]:
    """The variables of a condition, with their attributes."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found, inside = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            inside.add(node.func)
        if isinstance(node, (ast.Name, ast.Attribute)) and node not in inside:
            found.add(ast.unparse(node))
        if isinstance(node, ast.Attribute):
            inside.add(node.value)
    return frozenset(found)
