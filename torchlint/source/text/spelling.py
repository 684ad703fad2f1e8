"""What the text of an expression says by itself: dotted names, arguments, constant keys, `super()`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

# What compares: the same, or one of some; how much is for those that know numbers.
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_SHORT = 16  # attributes of one another


def is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def root_of(node: ast.AST) -> ast.Name | None:
    for _ in range(_SHORT):
        if not isinstance(node, ast.Attribute):
            return node if isinstance(node, ast.Name) else None
        node = node.value
    return _root_of_long(node)


def _root_of_long(node: ast.AST) -> ast.Name | None:
    """The same, kept with all on the way: each part of a chain that is as long as the file may ask."""
    passed = []
    while isinstance(node, ast.Attribute) and not hasattr(node, "root"):
        passed.append(node)
        node = node.value
    root = node.root if isinstance(node, ast.Attribute) else node if isinstance(node, ast.Name) else None
    for outer in passed:
        outer.root = root
    return root


def dotted(node: ast.AST) -> str | None:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def rooted_in_import(node: ast.AST) -> bool:
    """Does a dotted expression start at an imported name, so that it names a thing of a library?"""
    root = root_of(node)
    if root is None:
        return False
    scope = root.at.lookup(root.id)
    if scope is None:
        return False
    bindings = scope.bindings[root.id]
    for binding in bindings:  # no `all`: it is asked of every call
        if not isinstance(binding, ast.alias):
            return False
    return bool(bindings)


def first_argument(call: ast.Call, *names: str) -> ast.expr | None:
    """What is given first, or under one of these names; nobody knows what comes first of `*rest`."""
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """An argument by keyword or position; None if it is not given or hidden by stars."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position >= len(call.args):
        return None
    hidden = any(isinstance(a, ast.Starred) for a in call.args[: position + 1])
    return None if hidden else call.args[position]


def joined(bound: tuple[ast.Call, ...], call: ast.Call) -> ast.Call:
    """`g(a, b)` of `f(b)` where `f = partial(g, a)`; the call itself where nothing is bound."""
    if not bound:
        return call
    given = [argument for made in bound for argument in made.args[1:]]
    keywords = [keyword for made in (call, *reversed(bound)) for keyword in made.keywords]
    return ast.Call(call.func, [*given, *call.args], keywords)


def receiver(node: ast.AST) -> ast.expr | None:
    """`model` of `model.eval()`; None for other calls, and for what is no call."""
    func = getattr(node, "func", None)
    return func.value if isinstance(func, ast.Attribute) else None


def paired(target: ast.expr, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment gives to what: `a, b = 1, 2` gives two, one to each."""
    if value is None:
        return []
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts):
            return list(zip(target.elts, value.elts))
    return [(target, value)]


def given_to(target: ast.expr) -> ast.expr | None:
    """`[]` of `self.a = []` and of `self.a, self.b = [], []`"""
    statement = target.up.up if isinstance(target.up, ast.Tuple) else target.up
    if not isinstance(statement, ast.Assign):
        return getattr(statement, "value", None)
    pairs = [pair for one in statement.targets for pair in paired(one, statement.value)]
    return next((value for each, value in pairs if each is target), None)


def constant_key(node: ast.AST) -> int | str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return None


def dumped(node: ast.AST) -> str:
    """The structure of an expression as text, to be compared; one that is too deep for that is like no other."""
    if not hasattr(node, "dump"):
        try:
            node.dump = ast.dump(node)
        except RecursionError:
            node.dump = f"expression {id(node)}"
    return node.dump


def unparsed(node: ast.AST) -> str:
    """The source of an expression in one spelling, to be compared or shown; found out once. One that is too deep for
    that is like no other.
    """
    if not hasattr(node, "source"):
        try:
            node.source = ast.unparse(node)
        except RecursionError:
            node.source = f"expression {id(node)}"
    return node.source


def truth_by_parts(test: ast.expr, of_part: Callable[[ast.expr], bool | None]) -> bool | None:
    """Which way a test goes, by the answers to what `not`, `and` and `or` put together in it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth = truth_by_parts(test.operand, of_part)
        return None if truth is None else not truth
    if isinstance(test, ast.BoolOp):
        truths, decisive = [truth_by_parts(part, of_part) for part in test.values], isinstance(test.op, ast.Or)
        return decisive if decisive in truths else None if None in truths else not decisive
    return of_part(test)


def constant_truth(test: ast.expr) -> bool | None:
    """Which way a test goes that is decided by the constants in it, as `False`, `0`, `x or True`."""
    return truth_by_parts(test, lambda part: bool(part.value) if isinstance(part, ast.Constant) else None)
