"""Finds where a rule reads an answer that may be unknown as if it were yes or no."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any

from torchlint.source.asking.rounds import Loop
from torchlint.source.asking.structures import Change, ModuleClass
from torchlint.source.asking.views import Node, Origin
from torchlint.source.training.acts import Act
from torchlint.source.training.roles import Role
from torchlint.source.training.updates import Update

VIEWS = (Origin, Node, Loop, Change, ModuleClass, Role, Act, Update)


def read_as_no(rule: str) -> Iterator[tuple[int, str]]:
    """The lines of a rule's text that ask for the truth of an answer (`if role.is_a("model")`, `not update.is_cleared`)
    instead of for the answer (`is True`, `is not False`): unknown is neither yes nor no.
    """
    for node in ast.walk(ast.parse(rule)):
        for asked in _taken_for_true_or_false(node):
            word = _word(asked)
            if word in answers()[isinstance(asked, ast.Call)]:
                yield asked.lineno, word


@cache
def answers() -> tuple[frozenset[str], frozenset[str]]:
    """The properties and the methods of what a rule is given that answer yes, no or unknown."""
    members = [named for view in VIEWS for base in view.__mro__ for named in vars(base).items() if named[0][0] != "_"]
    properties = frozenset(name for name, member in members if isinstance(member, property) and _answers(member.fget))
    methods = frozenset(name for name, member in members if isinstance(member, FunctionType) and _answers(member))
    return properties, methods


def _answers(function: Any) -> bool:
    return function.__annotations__.get("return") == "Answer"


def _word(asked: ast.expr) -> str:
    called = asked.func if isinstance(asked, ast.Call) else asked
    return called.attr if isinstance(called, ast.Attribute) else ""


def _taken_for_true_or_false(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BoolOp(values=values):
            yield from values
        case ast.comprehension(ifs=tests):
            yield from tests
        case ast.Call(func=ast.Name(id="bool" | "any" | "all"), args=[given]):
            yield given.elt if isinstance(given, (ast.GeneratorExp, ast.ListComp)) else given
