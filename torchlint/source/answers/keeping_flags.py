"""Flags on which it depends whether an object keeps what it is given: `if self.use_cache: self.seen.append(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.branches import truth_of
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import objects, origins
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Answer, Value, frame_of
from torchlint.source.text.index import FUNCTIONS, ancestors, block_of, enclosing_function, standing_in
from torchlint.source.text.spelling import COMPARED
from torchlint.source.training.regions import tests_around

_EQUAL = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_HELD = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)  # no answer to whether they are wanted


def is_known_to_keep(callee: Callee, place: ast.AST, call: Value) -> bool:
    """Does a method that is called here come to a place in it, as far as flags of its object decide? Each object that
    may be meant must be seen to be made with them on.
    """
    flags = list(_flags(callee.module, place))
    if not flags:
        return True
    meant = objects(call.at(call.node.func.value, ()))
    return not any(one.unknown for one in meant) and all(
        _goes(Value(callee.module, test, frame_of(callee.module, callee.function, call, one)), truth) is True
        for one in meant
        for test, truth in flags
    )


def is_never_kept(module: Module, place: ast.AST) -> bool:
    """Does a place in a method stand under a flag of its object that is off in all that are made?"""
    return any(_goes(Value(module, test), truth) is False for test, truth in _flags(module, place))


def _flags(module: Module, place: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of flags that must hold, or fail, for a place in a method to run."""
    function = enclosing_function(place)
    info = method_class(module, function) if function is not None else None
    if info is None:
        return
    for test, truth in (*tests_around(place), *_left_before(place)):
        for part, sense in _parts(test, truth):
            asked = part.values if isinstance(part, ast.BoolOp) else [part]
            if any(_is_flag(info, function, each) for each in asked):
                yield part, sense


def _left_before(place: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """`if not self.is_on: return` above a place."""
    child = place
    for parent in ancestors(place):
        if isinstance(child, ast.stmt):
            block, at = block_of(child)
            for above in block[:at]:
                if isinstance(above, ast.If) and not above.orelse and isinstance(above.body[-1], _LEAVES):
                    yield above.test, False
        if isinstance(parent, FUNCTIONS):
            return
        child = parent


def _parts(test: ast.expr, truth: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What must hold and what must fail for a test to go one way."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
        for value in test.values:
            yield from _parts(value, truth)
    else:
        yield test, truth


def _is_flag(owner: ClassInfo, function: ast.FunctionDef, test: ast.expr) -> bool:
    """`self.x`, `self.x is not None`, `self.x == "all"` of what the method does not set itself and nobody counts."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Compare):
        other = test.comparators[0]
        if (
            not isinstance(test.ops[0], _EQUAL)
            or not isinstance(other, ast.Constant)
            or type(other.value) in (int, float)
        ):
            return False
        test = test.left
    me = first_parameter(function) if isinstance(function, ast.FunctionDef) else None
    if me is None or not isinstance(test, ast.Attribute) or getattr(test.value, "id", "") != me.arg:
        return False
    stores = list(standing_in(owner.node, owner.module.index.stored(test.attr)))
    return not any(isinstance(s.up, ast.AugAssign) or enclosing_function(s) is function for s in stores)


def _goes(test: Value, truth: bool) -> Answer:
    """Does a test of flags go this way?"""
    found = truth_of(test, _holds)
    return None if found is None else found is truth


def _holds(test: Value) -> Answer:
    node = test.node
    compared = node.ops[0] if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
    wanted = node.comparators[0] if isinstance(compared, _EQUAL) else None
    if isinstance(wanted, ast.Constant):
        compare = COMPARED[type(compared)]
        return _agreed(
            compare(o.node.value, wanted.value)
            if isinstance(o.node, ast.Constant) and not o.path
            else (isinstance(compared, (ast.NotEq, ast.IsNot)) if _is_held(o) else None)
            for o in origins(test.at(node.left, ()))
        )
    if isinstance(node, ast.Attribute):
        return _agreed(
            bool(o.node.value) if isinstance(o.node, ast.Constant) and not o.path else True if _is_held(o) else None
            for o in origins(test)
        )
    return None


def _is_held(origin: Value) -> bool:
    return isinstance(origin.node, _HELD) and not origin.path


def _agreed(answers: Iterator[Answer]) -> Answer:
    found = set(answers)
    return found.pop() if len(found) == 1 else None
