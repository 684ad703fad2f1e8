"""What tests require of a choice, and which places of one function run only for different ones: `if kind == "adam"`
and, further down, `if kind == "sgd"`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple

from torchlint.source.flow.reaching import contradict_in_words, reaching
from torchlint.source.text.index import FUNCTIONS, ancestors, is_in
from torchlint.source.text.spelling import unparsed

MAX_CHOICES = 12
READS = frozenset(("get", "lower", "upper", "strip", "casefold"))  # what reads a setting and changes nothing


class Requirement(NamedTuple):
    """What must hold of a setting at a place: its value is, or is not, one of these."""

    setting: str
    values: tuple
    holds: bool


Asked = Callable[[ast.expr], str | None]  # by which words an expression asks a setting


def required(test: ast.expr, truth: bool, asked: Asked) -> list[Requirement]:
    """What the truth of a test says of settings."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return required(test.operand, not truth, asked)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is truth:
            return [answer for operand in test.values for answer in required(operand, truth, asked)]
        return []
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        values = _constants(test.comparators[0], test.ops[0])
        setting = asked(test.left) if values is not None else None
        if setting is None or values is None:
            return []
        return [Requirement(setting, values, isinstance(test.ops[0], (ast.Eq, ast.Is, ast.In)) is truth)]
    setting = asked(test)
    return [Requirement(f"bool({setting})", (True,), truth)] if setting is not None else []


def contradict(ours: list[Requirement], theirs: list[Requirement]) -> bool:
    theirs = _summed(theirs) if ours else []
    return bool(theirs) and any(_denies(one, other) for one in _summed(ours) for other in theirs)


def _summed(answers: list[Requirement]) -> list[Requirement]:
    """The `else` of a chain of `elif`s has none of all their values."""
    denied: dict[str, tuple] = {}
    for answer in answers:
        if not answer.holds:
            denied[answer.setting] = denied.get(answer.setting, ()) + answer.values
    return [a for a in answers if a.holds] + [Requirement(setting, values, False) for setting, values in denied.items()]


def _denies(one: Requirement, other: Requirement) -> bool:
    if one.setting != other.setting:
        return False
    if one.holds and other.holds:
        return not any(value in other.values for value in one.values)
    if one.holds != other.holds:
        yes, no = (one, other) if one.holds else (other, one)
        return all(value in no.values for value in yes.values)
    return False


def _constants(node: ast.expr, how: ast.cmpop) -> tuple | None:
    """Those that a setting is compared with, each with its type: 1 is not True."""
    if isinstance(how, (ast.In, ast.NotIn)):
        given = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [None]
    else:
        given = [node] if isinstance(how, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) else [None]
    if not all(isinstance(each, ast.Constant) for each in given):
        return None
    return tuple((type(each.value), each.value) for each in given)


def core_of(node: ast.expr) -> ast.Name | None:
    """`args` of `args.kind`, of `args["kind"].lower()` and of itself."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS:
            if not all(isinstance(each, ast.Constant) for each in node.args) or node.keywords:
                return None
            node = node.func.value
        elif (
            isinstance(node, ast.Attribute) or isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        ):
            node = node.value
        else:
            return None
    return node


def exclusive(a: ast.AST, b: ast.AST) -> bool:
    """Do two places run only under contradicting conditions: `if c: … else: …`, `if c` and later `if not c`, `if kind
    == "adam"` and later `if kind == "sgd"`?
    """
    return contradict_in_words(a, b) or contradict(_required_at(a), _required_at(b))


def chosen_apart(tests: Iterable[tuple[ast.expr, bool]], others: Iterable[tuple[ast.expr, bool]]) -> bool:
    """Do tests and their truths, all of one call, contradict others?"""
    ours = [answer for test, truth in tests for answer in required(test, truth, _unchanged)]
    return bool(ours) and contradict(ours, [a for test, truth in others for a in required(test, truth, _unchanged)])


def _required_at(node: ast.AST) -> list[Requirement]:
    """What the tests around a place, within its function, say of what does not change between them."""
    if hasattr(node, "required"):
        return node.required
    found: list[Requirement] = []
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS) or len(found) >= MAX_CHOICES:
            break
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            fails = child is parent.orelse if isinstance(parent, ast.IfExp) else is_in(child, parent.orelse)
            found += required(parent.test, not fails, _unchanged)
        child = parent
    node.required = found
    return found


def _unchanged(node: ast.expr) -> str | None:
    """The words of what a test asks, and which bindings of its name it sees; None for what its function sets there."""
    name = core_of(node)
    scope = name.at.lookup(name.id) if name is not None else None
    if name is None or scope is None or name is not node and _is_set_in_function(node):
        return None
    return f"{unparsed(node)} of {[id(binding) for binding in reaching(name, scope)]}"


def _is_set_in_function(node: ast.expr) -> bool:
    """`self.phase = "second"` in the function that asks `self.phase == "first"`"""
    around = next((parent for parent in ancestors(node) if isinstance(parent, (*FUNCTIONS, ast.Module))), None)
    if around is None:
        return False
    if not hasattr(around, "put"):
        places = (n for n in ast.walk(around) if isinstance(n, (ast.Attribute, ast.Subscript)))
        around.put = {unparsed(place) for place in places if isinstance(place.ctx, ast.Store)}
    return any(
        unparsed(part) in around.put for part in ast.walk(node) if isinstance(part, (ast.Attribute, ast.Subscript))
    )
