"""Where a class has put a method over that of its base, in whose loop it runs: what that one cleared, nobody clears."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo, Method, heirs_of, method_class, put_over
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, CLEAR, OPAQUE, STEP, SUPPLY, Act, acts
from torchlint.source.training.heirs import is_left_to_others
from torchlint.source.training.loops import trains_once
from torchlint.source.training.regions import loops_around

_PLAIN = ("builtins", "abc", "typing")  # bases that do nothing in a training
_DEPTH = 3  # methods of a base between its loop and the method
# Who says one of these may clear gradients, or lets others do so.
_CLEARS = re.compile(r"zero_\(|zero_grad|(clear|reset)\w*grad|\.grad\b|hook|callback|setattr|__getattr")


def is_put_over(function: Value) -> bool:
    """Does a class put a method over that of a base?"""
    owner = method_class(function.module, function.node)
    return owner is not None and owner.inherited(function.node.name) is not None


def loop_of_its_base(function: Value, optimizer: Value) -> Value | None:
    """The loop of a base class in which a method runs that its class has put over the base's, where nothing else in all
    of these classes may clear the gradients of an optimizer.
    """
    node = function.node
    owner = method_class(function.module, node)
    held = optimizer.node
    if owner is None or not isinstance(held, ast.Attribute):
        return None
    if any(name is None or name.split(".")[0] not in _PLAIN for name in owner.foreign) or _may_clear(owner, node):
        return None
    for loop in _loops(owner, node.name, _DEPTH):
        called = {last_word(call.func) for call in loop.module.index.inside(loop.node, ast.Call)}
        made = (stored for cls in owner.mro for stored in cls.attributes.get(held.attr, ()))
        if not any(stored.method is None or stored.method.name in called for stored in made):
            if not trains_once(loop.module, loop.node) and not _is_cleared(owner, loop, node.name):
                return loop
    return None


def clearing_left_out(module: Module, function: ast.FunctionDef) -> Iterator[tuple[Value, Act, Act]]:
    """Of a method that clears the gradients of `self.optimizer`: those that classes which derive put over it and that
    do not, each with the backward and the step beside which a loop of the base runs it.
    """
    me = first_parameter(function)
    clears = [call for call in module.index.calls_of("zero_grad", inside=function) if isinstance(call.up, ast.Expr)]
    held = {unparsed(call.func.value) for call in clears if isinstance(call.func, ast.Attribute)}
    if me is None or len(held) != 1 or not all(name.startswith(f"{me.arg}.") for name in held):
        return
    if not isinstance(function.up, ast.ClassDef) or any(module.index.calls_of("backward", "step", inside=function)):
        return
    [optimizer] = held
    for method in put_over(module, function):
        owner = method_class(method.module, method.node)
        if owner is not None and not _may_clear_instead(owner, method, optimizer.rpartition(".")[2]):
            found = (_learned_beside(owner, loop, function.name, optimizer) for loop in _uncleared(owner, method.node))
            yield from ((method, *pair) for pair in list(filter(None, found))[:1])


def _may_clear_instead(owner: ClassInfo, method: Value, optimizer: str) -> bool:
    """May a method clear in another way, run the one it is put over, or hand the optimizer, the model or itself on?"""
    if _CLEARS.search(method.module.segment(method.node)) or any(
        method.module.index.calls_of("super", inside=method.node)
    ):
        return True
    if any(name is None or name.split(".")[0] not in _PLAIN for name in owner.foreign) or _may_clear(
        owner, method.node
    ):
        return True
    calls = method.module.index.inside(method.node, ast.Call)
    given = [part for call in calls for part in (*call.args, *(k.value for k in call.keywords))]
    me = first_parameter(method.node)
    return any(
        isinstance(part, ast.Name)
        and me is not None
        and part.id == me.arg
        or last_word(part) == optimizer
        or bool(kinds(method.at(part, ())) & {MODULE, OPTIMIZER})
        for part in given
    )


def _uncleared(owner: ClassInfo, method: ast.FunctionDef) -> Iterator[Value]:
    """The loops of the bases in which a method runs, and in which nothing else clears."""
    for loop in _loops(owner, method.name, _DEPTH):
        if not trains_once(loop.module, loop.node) and not _is_cleared(owner, loop, method.name):
            yield loop


def _learned_beside(owner: ClassInfo, loop: Value, name: str, optimizer: str) -> tuple[Act, Act] | None:
    """The backward and the step of an optimizer in a loop, which run as often as `self.name()` in the same method."""
    found = acts(loop.module, loop.node.body)
    backward = next((act for act in found if act.role == BACKWARD), None)
    steps = (a for a in found if a.role == STEP and a.on is not None and a.on_text == optimizer)
    step = next(steps, None)
    if backward is None or step is None:
        return None
    function, home = enclosing_function(step.node), step.module
    live = owner.method(function.name) if isinstance(function, ast.FunctionDef) else None
    beside = live is not None and live.node is function is enclosing_function(backward.node)
    calls = [*home.index.calls_of(name, inside=function)] if beside else []
    around = [loops_around(node)[:1] for node in (backward.node, step.node, *calls)]
    plain = not step.event.tests and not backward.event.tests and all(isinstance(c.up, ast.Expr) for c in calls)
    return (backward, step) if calls and plain and all(each == around[0] for each in around) else None


def _live(owner: ClassInfo) -> Iterator[Method]:
    """The methods that objects of a class have."""
    names = dict.fromkeys(name for cls in owner.mro for name in cls.methods)
    return (method for name in names if (method := owner.method(name)) is not None)


def _may_clear(owner: ClassInfo, but: ast.AST) -> bool:
    """May another method do so, one of a class that derives too?"""
    others = (method.module.segment(method.node) for method in _live(owner) if method.node is not but)
    derived = (heir.module.segment(heir.node) for heir in heirs_of(owner))
    return any(_CLEARS.search(text) for text in (*others, *derived))


def _loops(owner: ClassInfo, name: str, depth: int) -> Iterator[Value]:
    """The loops in which methods of the class's bases call `self.name(…)`, or what calls it."""
    for caller in _live(owner) if depth else ():
        me = first_parameter(caller.node)
        for call in caller.module.index.calls_of(name, inside=caller.node) if me is not None else ():
            if unparsed(call.func) == f"{me.arg}.{name}":
                around = loops_around(call)
                if around:
                    yield Value(caller.module, around[0])
                elif caller.node.name != name:
                    yield from _loops(owner, caller.node.name, depth - 1)


def _is_cleared(owner: ClassInfo, loop: Value, name: str) -> bool:
    """May something else in a loop clear gradients than the method that is put over?"""
    return any(
        act.role in (CLEAR, SUPPLY, OPAQUE)
        and not any(last_word(getattr(call.node, "func", call.node)) == name for call in act.event.via)
        and not _is_own(owner, act)
        for act in acts(loop.module, loop.node.body)
    )


def _is_own(owner: ClassInfo, act: Act) -> bool:
    """Is it a method of the class, `self.loss(x)`, whose text is known?"""
    method = owner.method(last_word(act.node.func)) if isinstance(act.node, ast.Call) else None
    return act.role == OPAQUE and method is not None and not is_left_to_others(method.node)
