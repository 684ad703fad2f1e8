"""Best values that are asked in each round and never set again: `if score > best: save(model)`."""

from __future__ import annotations

import ast
import math
import re

from torchlint.source.answers.taken_elsewhere import is_taken_elsewhere
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.text.index import LOOPS, ancestors, last_word, statement_of, within

_WORST = 1e3  # what is called the best and is as large as that is what all are better than
_BEGINNINGS = (0, 1, -1)
_INFINITE = frozenset(("inf", "Inf", "Infinity"))
_BOUNDS = frozenset(("possible", "theoretical", "ideal", "known", "threshold", "bound", "limit", "case", "reachable"))
# What is never negative; a Dice score often is a loss, and is then
_RATES = re.compile(
    r"^(?:(?:val|valid|validation|test|eval|train|epoch|mean|avg|dev|current|new|this)_?)?"
    r"(?:acc|accuracy|f1|f1_score|auc|auroc|iou|miou)$"
)
_MOST_STORES = 8  # of a best value that are looked at
_LEAVES = (ast.Return, ast.Raise, ast.Break)


def lasting_best(module: Module, compared: ast.Compare) -> ast.Name | None:
    """The one thing that a name which is compared as the best so far is ever given, from before the loop."""
    asked = statement_of(compared)
    loop = next((one for one in ancestors(compared) if isinstance(one, LOOPS)), None)
    if loop is None or not isinstance(asked, ast.If) or not within(compared, asked.test) or len(compared.ops) != 1:
        return None
    if not isinstance(compared.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) or isinstance(asked.body[-1], _LEAVES):
        return None
    sides = [compared.left, compared.comparators[0]]
    return next((given for side in sides if (given := _only_given(side, loop)) is not None), None)


def _only_given(name: ast.expr, loop: ast.AST) -> ast.Name | None:
    words = name.id.lower().split("_") if isinstance(name, ast.Name) else []
    if "best" not in words or not _BOUNDS.isdisjoint(words):
        return None
    if (scope := name.at.lookup(name.id)) is None or len(scope.bindings.get(name.id, ())) != 1:
        return None
    found = reaching(name, scope)
    given = found[0] if len(found) == 1 else None
    if not isinstance(given, ast.Name) or not isinstance(given.up, ast.Assign) or within(given, loop):
        return None
    return given if _is_beginning(given.up.value) else None


def _is_beginning(value: ast.expr) -> bool:
    """Is it what a search begins with: zero, infinity, or a number that is worse than all?"""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    if isinstance(value, ast.Attribute):
        return value.attr in _INFINITE
    if isinstance(value, ast.Call):
        [*texts] = (one.value for one in value.args if isinstance(one, ast.Constant))
        return getattr(value.func, "id", "") == "float" and any(_is_infinite(text) for text in texts)
    number = value.value if isinstance(value, ast.Constant) and type(value.value) in (int, float) else math.nan
    return number in _BEGINNINGS or number >= _WORST


def _is_infinite(text: object) -> bool:
    return isinstance(text, str) and text.lstrip("+-").lower() in ("inf", "infinity")


def never_better(module: Module, compared: ast.Compare) -> ast.expr | None:
    """What a best value begins with, where nothing is ever better than that: `best = inf`, `if loss > best:`"""
    asked = compared.up
    if not isinstance(asked, ast.If) or asked.test is not compared or len(compared.ops) != 1:
        return None
    is_more = isinstance(compared.ops[0], (ast.Gt, ast.GtE))
    if not is_more and not isinstance(compared.ops[0], (ast.Lt, ast.LtE)):
        return None
    for best, new, wants_more in (
        (compared.comparators[0], compared.left, is_more),
        (compared.left, compared.comparators[0], not is_more),
    ):
        begun = _begun(module, best, asked)
        if begun is not None and _is_out_of_reach(begun, wants_more, new, compared.ops[0]):
            is_taken = isinstance(best, ast.Attribute) and is_taken_elsewhere(module, best.attr)
            return None if is_taken else begun
    return None


def _begun(module: Module, best: ast.expr, asked: ast.If) -> ast.expr | None:
    """What a name, or an attribute of `self`, is given first, if it is set only there and where it has been found
    worse than the new one.
    """
    if isinstance(best, ast.Name):
        scope = best.at.lookup(best.id)
        stores = scope.bindings.get(best.id, []) if scope is not None else []
        if scope is not None and scope is not best.at:
            return None
    elif isinstance(best, ast.Attribute) and isinstance(best.value, ast.Name) and best.value.id == "self":
        stores = module.index.stored(best.attr)
    else:
        return None
    if len(stores) > _MOST_STORES or module.index.attributes("__dict__"):
        return None
    inside = [store for store in stores if any(within(store, statement) for statement in asked.body)]
    outside = [store for store in stores if store not in inside]
    given = outside[0].up if len(outside) == 1 and inside else None
    if not isinstance(given, (ast.Assign, ast.AnnAssign)) or isinstance(given, ast.Assign) and len(given.targets) > 1:
        return None
    return given.value if outside[0] is not given.value and isinstance(outside[0], (ast.Name, ast.Attribute)) else None


def _is_out_of_reach(begun: ast.expr, wants_more: bool, new: ast.expr, asked: ast.cmpop) -> bool:
    """Is nothing more than infinity, or less than minus infinity, or an accuracy less than 0?"""
    is_negative = isinstance(begun, ast.UnaryOp) and isinstance(begun.op, ast.USub)
    if _is_infinity(begun.operand if is_negative else begun):
        return wants_more is not (is_negative or _says_minus(begun))
    is_zero = isinstance(begun, ast.Constant) and begun.value == 0 and begun.value is not False
    return (
        is_zero
        and not wants_more
        and isinstance(asked, (ast.Lt, ast.Gt))
        and _RATES.match(last_word(new).lower()) is not None
    )


def _is_infinity(value: ast.expr) -> bool:
    return not isinstance(value, ast.Constant) and _is_beginning(value)


def _says_minus(value: ast.expr) -> bool:
    """`float("-inf")`"""
    return isinstance(value, ast.Call) and any(str(getattr(one, "value", "")).startswith("-") for one in value.args)
