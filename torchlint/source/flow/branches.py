"""Which way a test goes in a call whose arguments decide it: `if kind == "ce"` in what `make("ce")` runs."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.source.flow import flow
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, LookedThrough, Value
from torchlint.source.text.index import FUNCTIONS, ancestors, enclosing_function, is_in, test_around
from torchlint.source.text.spelling import COMPARED, truth_by_parts, unparsed

_NOTHING = object()
_OF_SETTINGS = (ast.Attribute, ast.UnaryOp, ast.Compare)
MAX_TESTS_ON_TESTS = 1  # what a test holds may depend on other tests, and those on others: unbounded, it is exponential


def may_run(place: Value) -> bool:
    """May a place run in the call it is looked at through, as far as that call's arguments tell?"""
    return runs(place) is not False


def is_ruled_out(place: Value) -> bool:
    """Does a place stand under a test of an object's setting that fails for every object that is seen: `if
    net.regression` where all are made without? What holds there is not what is found for those objects.
    """
    world = place.module.world
    if world.deciding >= MAX_TESTS_ON_TESTS:
        return False
    world.deciding += 1
    try:
        return _is_below_what_fails(place)
    finally:
        world.deciding -= 1


def _is_below_what_fails(place: Value) -> bool:
    """Each branch is asked about once: there may be one in the other, `elif` after `elif`, all with findings."""
    memo, found, passed, node = place.module.world.memo, False, [], place.node
    while (above := test_around(node)) is not None:
        node, needed = above
        key = "below what fails", id(node), needed
        if (known := memo.get(key)) is not None:
            found = known[0]
            break
        passed.append((key, node))
        if isinstance(node, ast.If) and isinstance(node.test, _OF_SETTINGS):
            truth = _truth(place.at(node.test, ()))
            if truth is not None and truth is not needed:
                found = True
                break
    for key, node in passed:
        memo[key] = found, node
    return found


def yielded(module: Module, function: ast.AST) -> list[ast.expr | None]:
    """What a generator gives one after the other; None for what it takes from another one."""
    found = [
        node for node in module.index.inside(function, ast.Yield, ast.YieldFrom) if enclosing_function(node) is function
    ]
    return [node.value if isinstance(node, ast.Yield) else None for node in found] or [None]


def returned(function: ast.AST, frame: LookedThrough, home: Value) -> list[ast.expr]:
    """What a function may return in a call: nothing under tests that fail, nor after a return whose tests hold."""
    if len(function.gives) < 2:
        return function.gives
    found = []
    for expression in function.gives:
        certain = runs(Value(home.module, expression, frame))
        if certain is not False:
            found.append(expression)
        if certain:
            break
    return found


def live(choice: Value) -> list[ast.expr]:
    """The branches of `a if test else b` that may be taken."""
    node: ast.IfExp = choice.node
    truth = (
        _truth(choice.at(node.test, ()))
        if choice.frame is not None and choice.module.world.deciding < MAX_TESTS_ON_TESTS
        else None
    )
    return [branch for branch, sense in ((node.body, True), (node.orelse, False)) if truth is not (not sense)]


def decided(test: Value) -> Answer:
    """Which way a test goes in the call it is looked at through, if it asks a parameter that is given a constant."""
    world = test.module.world
    if test.frame is None or world.deciding >= MAX_TESTS_ON_TESTS or not _asks_a_parameter(test):
        return None
    world.deciding += 1
    try:
        return _truth(test)
    finally:
        world.deciding -= 1


def _asks_a_parameter(test: Value) -> bool:
    given = getattr(test.frame.function, "args", None)
    names = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)} if given is not None else set()
    return any(name.id in names for name in test.module.index.inside(test.node, ast.Name))


def runs(place: Value) -> Answer:
    """Do the tests around a place hold? None where a test is not decided, or where there is none."""
    world = place.module.world
    if (
        place.frame is None
        or enclosing_function(place.node) is not place.frame.function
        or world.deciding >= MAX_TESTS_ON_TESTS
    ):
        return None
    world.deciding += 1
    try:
        return _decided(place)
    finally:
        world.deciding -= 1


def _decided(place: Value) -> Answer:
    child, found = place.node, []
    for parent in ancestors(place.node):
        if parent is place.frame.function:
            break
        if isinstance(parent, ast.If) and child is not parent.test:
            truth = _truth(place.at(parent.test, ()))
            if truth is not None and truth is is_in(child, parent.orelse):
                return False
            found.append(truth)
        elif isinstance(parent, ast.IfExp) and child is not parent.test:
            truth = _truth(place.at(parent.test, ()))
            if truth is not None and truth is (child is parent.orelse):
                return False
            found.append(truth)
        elif not isinstance(parent, (ast.stmt, ast.expr)) or isinstance(parent, (ast.For, ast.While, ast.Try)):
            found.append(None)
        child = parent
    return True if found and None not in found else None


def truth_of(test: Value, of_part: Callable[[Value], Answer]) -> Answer:
    """Which way a test goes, by the answers to what `not`, `and` and `or` put together in it."""
    return truth_by_parts(test.node, lambda part: of_part(test.at(part)))


def _truth(test: Value) -> Answer:
    return truth_of(test, _truth_of_part)


def _truth_of_part(test: Value) -> Answer:
    node = test.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        left, right = _constant(test.at(node.left)), _constant(test.at(node.comparators[0]))
        if left is _NOTHING or right is _NOTHING:
            return None
        try:
            return bool(COMPARED[type(node.ops[0])](left, right))
        except TypeError:
            return None
    if isinstance(node, (ast.Name, ast.Attribute)):
        constant = _constant(test)
        return None if constant is _NOTHING else bool(constant)
    return None


def _constant(value: Value):
    node = value.node
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [e.value for e in node.elts] if all(isinstance(e, ast.Constant) for e in node.elts) else _NOTHING
    if (
        isinstance(node, ast.Name)
        and node.at.lookup(node.id) is None
        or not isinstance(node, (ast.Name, ast.Attribute))
    ):
        return _NOTHING
    found = flow.origins(value)
    if len(found) == 1 and isinstance(found[0].node, ast.Constant) and not found[0].path:
        return found[0].node.value
    return _asked_where_it_is_called(value)


def _asked_where_it_is_called(value: Value):
    """What a parameter is where `convert(x, kind=self.kind)` stands under `if self.kind == "wide":`."""
    frame, node = value.frame, value.node
    if frame is None or frame.call is None or not isinstance(node, ast.Name):
        return _NOTHING
    given = next((k.value for k in frame.call.node.keywords if k.arg == node.id), None)
    home = node.at.lookup(node.id)
    if not isinstance(given, (ast.Name, ast.Attribute)) or home is None or home.node is not frame.function:
        return _NOTHING
    child: ast.AST = frame.call.node
    for parent in ancestors(child):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and child is not parent.test and not is_in(child, parent.orelse):
            test = parent.test
            is_equal = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
            if is_equal and unparsed(test.left) == unparsed(given) and isinstance(test.comparators[0], ast.Constant):
                return test.comparators[0].value
        child = parent
    return _NOTHING
