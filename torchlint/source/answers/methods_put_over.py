"""Where a class has put a method over that of its base, in whose loop it runs: what that one cleared, nobody clears."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo, Method, heirs_of, method_class
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import CLEAR, OPAQUE, SUPPLY, Act, acts
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
