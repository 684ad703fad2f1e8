"""What a function gives back and nobody wants: `timed(lambda: loss.backward)`, where `timed` calls what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value

_DEPTH = 4


def unwanted_results(place: Value) -> Iterator[ast.expr]:
    """What a `lambda`, or a function that does no more, returns to those who do nothing with it."""
    node = place.node
    if isinstance(node, ast.Lambda):
        if _is_let_go_where_called(place, _DEPTH):
            yield from parts(node.body)
    elif (function := node.up) and isinstance(function, ast.FunctionDef) and not function.decorator_list:
        before = [one for one in function.body if one is not node and not isinstance(one, ast.Pass)]
        if all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in before):
            calls = list(callers_of(place.module, function, method_class(place.module, function)))
            if calls and all(_is_let_go(call, None, _DEPTH) for call in calls):
                yield from parts(node.value)


def parts(value: ast.expr | None) -> Iterator[ast.expr]:
    """What an expression whose value nobody wants consists of: `a if x else b`, `x and a`, `a, b`, `[a for x in y]`"""
    if isinstance(value, ast.IfExp):
        yield from parts(value.body)
        yield from parts(value.orelse)
    elif isinstance(value, ast.BoolOp):
        yield from parts(value.values[-1])
    elif isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        for element in value.elts:
            yield from parts(element)
    elif isinstance(value, (ast.ListComp, ast.SetComp)):
        yield from parts(value.elt)
    elif isinstance(value, ast.Call) and _is_collector(value.func):
        yield from (part for one in value.args if isinstance(one, ast.GeneratorExp) for part in parts(one.elt))
    elif value is not None:
        yield value


def _is_collector(called: ast.expr) -> bool:
    return isinstance(called, ast.Name) and called.id in ("list", "tuple", "set")


def _is_let_go_where_called(function: Value, depth: int) -> bool:
    """Is all that becomes of a function that it is called, and what it returns let go?"""
    node, around = function.node, function.node.up
    if isinstance(around, (ast.Tuple, ast.List)) and isinstance(around.up, ast.For) and around is around.up.iter:
        return _is_called(function, around.up.target, None, depth)
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        return _is_called(function, around.targets[0], None, depth)
    call = around.up if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call):
        return False
    called = function.at(call, ())
    return _is_let_go(called, None, depth) if node is call.func else _is_taken(function, called, depth)


def _is_taken(given: Value, call: Value, depth: int) -> bool:
    """Does whoever is given it call it, and let go of what it returns?"""
    if external_name(call.at(call.node.func, ())) in ("timeit.timeit", "timeit.repeat", "threading.Thread"):
        return True
    found = callees(call)
    return bool(found) and all(
        callee.kind == "function"
        and isinstance(callee.function, ast.FunctionDef)
        and any(
            _is_called(Value(callee.module, callee.function), parameter, call, depth)
            for parameter in (*callee.function.args.args, *callee.function.args.kwonlyargs)
            if (argument := bound_argument(callee.function, parameter, call, callee.instance is not None)) is not None
            and argument.node is given.node
        )
        for callee in found
    )


def _is_called(home: Value, name: ast.AST, outer: Value | None, depth: int) -> bool:
    """Are all uses of a name calls of it, whose results are let go?"""
    found = uses(home.module, name) if isinstance(name, (ast.Name, ast.arg)) else []
    return bool(found) and all(
        isinstance(use.up, ast.Call) and use is use.up.func and _is_let_go(home.at(use.up, ()), outer, depth)
        for use in found
    )


def _is_let_go(call: Value, outer: Value | None, depth: int) -> bool:
    """Does nobody want what a call returns? `outer` is the call of the function that it stands in."""
    around = call.node.up
    if isinstance(around, ast.Expr):
        return True
    target = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    found = uses(call.module, target) if isinstance(target, ast.Name) else [call.node]
    if found and outer is not None and depth > 0 and all(isinstance(use.up, ast.Return) for use in found):
        return _is_let_go(outer, None, depth - 1)
    return not found
