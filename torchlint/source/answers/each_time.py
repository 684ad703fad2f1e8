"""Helpers that a forward, or the loop over batches, runs anew each time."""

from __future__ import annotations

import ast
from itertools import islice

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import class_info, method_class
from torchlint.source.flow.kinds import is_module
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word, parameters_of, within
from torchlint.source.training.loops import BATCHES, counts
from torchlint.source.training.regions import loops_around, tests_around

_HOPS = 3  # functions that call each other
_CALLERS = 20  # of one function


def runs_each_time(place: Value, hops: int = _HOPS) -> bool:
    """Does some forward, or some loop over batches, run the function in which a line stands, and the function that
    line, in each round?
    """
    function = enclosing_function(place.node)
    if not isinstance(function, ast.FunctionDef) or not hops or not _runs_whenever_called(place, function):
        return False
    owner = method_class(place.module, function)
    calls = list(islice(callers_of(place.module, function, owner, everywhere=True), _CALLERS))
    is_forward = owner is not None and owner.is_module and _is_another_forward(place.module, function)
    if is_forward and not any(_is_for_making(call) for call in calls):
        return True
    return any(_is_each_time(call) or runs_each_time(call, hops - 1) for call in calls)


@remembered
def _is_another_forward(module: Module, function: ast.FunctionDef) -> bool:
    """Does it run layers on tensors that it gets: `generate`, `encode`?"""
    index, given = module.index, {parameter.arg for parameter in parameters_of(function)[1:]}
    calls = (call for call in index.inside(function, ast.Call) if isinstance(call.func, ast.Attribute))
    runs = [call for call in calls if is_module(Value(module, call.func))]
    taken = [name for call in runs for argument in call.args for name in index.inside(argument, ast.Name)]
    asked = (asked.value for asked in index.inside(function, ast.Attribute) if asked.attr == "device")
    return bool(runs) and any(getattr(node, "id", None) in given for node in (*taken, *asked))


def _is_for_making(call: Value) -> bool:
    """Is it run once, while a module is made?"""
    return getattr(enclosing_function(call.node), "name", "") == "__init__"


def _runs_whenever_called(place: Value, function: ast.FunctionDef) -> bool:
    """Does nothing decide whether it runs the line, as where what is made once is kept: a test, a return before it, a
    decorator?
    """
    plain = ("staticmethod", "classmethod", "no_grad", "inference_mode")
    ends = (end for end in place.module.index.inside(function, ast.Return) if enclosing_function(end) is function)
    return (
        all(last_word(getattr(decorator, "func", decorator)) in plain for decorator in function.decorator_list)
        and not _is_asked_first(place.node)
        and not any(end.pos < place.node.pos and not within(place.node, end) for end in ends)
    )


def _is_asked_first(node: ast.AST) -> bool:
    """Does a test decide, other than whether its function was given something: `if state is None`?"""
    return any(not (truth and _asks_for_an_argument(test)) for test, truth in tests_around(node))


def _asks_for_an_argument(test: ast.expr) -> bool:
    function = enclosing_function(test)
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return function is not None and name in {parameter.arg for parameter in parameters_of(function)}
    return False


def _is_each_time(call: Value) -> bool:
    if _is_asked_first(call.node):
        return False
    if any(_is_over_batches(call.at(loop, ())) for loop in loops_around(call.node)):
        return True
    function = enclosing_function(call.node)
    if isinstance(function, ast.FunctionDef) and _is_a_step(call, function):
        return True
    owner = enclosing_class(function) if isinstance(function, ast.FunctionDef) and function.name == "forward" else None
    info = class_info(call.module, owner) if owner is not None else None
    return info is not None and info.is_module and _runs_whenever_called(call, function)


def _is_a_step(call: Value, function: ast.FunctionDef) -> bool:
    """Does a function make one step of training each time it is called: one `backward`, in no loop?"""
    backwards = call.module.index.calls_of("backward", inside=function)
    return _runs_whenever_called(call, function) and [loops_around(one) for one in backwards] == [[]]


def _is_over_batches(loop: Value) -> bool:
    """Over a loader, or one in whose own rounds something is learned"""
    backwards = loop.module.index.calls_of("backward", inside=loop.node)
    return counts(loop) == BATCHES or any(loops_around(call)[:1] == [loop.node] for call in backwards)
