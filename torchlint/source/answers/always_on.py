"""Which dropout in a module's forward is on in eval mode too, as far as nothing around it speaks of the mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, default_of
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.asked_for import is_off_by_default
from torchlint.source.training.regions import asks_training_mode, is_chosen_by_callers, tests_around

_MEANT = re.compile(r"pre_?net|monte|\bmc|mc_|bayes|always|uncertain|stochast|sampl", re.IGNORECASE)
_CRITIC = re.compile(r"discriminator|critic", re.IGNORECASE)
_MODE = re.compile(r"train|eval|infer", re.IGNORECASE)


def is_always_on(call: Value, rate: ast.expr | None) -> bool:
    """Does it stand in a module's method, drops something, and nothing around it speaks of the mode or of intent?"""
    module, node = call.module, call.node
    if not own_name(module, node) and not _helps_forward(module, node):
        return False
    if asks_training_mode(module, node) or is_chosen_by_callers(node) or _is_meant(module, node):
        return False
    if any(_is_switched(module, test) for test, _ in tests_around(node)):
        return False
    return rate is None or _MODE.search(module.segment(rate)) is None and _is_plain(call.at(rate, ()))


def rates_of_callers(call: Value, rate: ast.expr | None) -> Iterator[tuple[Value, Value]]:
    """Of a helper that drops as much as it is told: the calls in the modules of other files, each with its rate, that
    tell it the same in each mode.
    """
    module, function = call.module, enclosing_function(call.node)
    scope = rate.at.lookup(rate.id) if isinstance(rate, ast.Name) else None
    bound = reaching(rate, scope) if scope is not None and scope.node is function else []
    if not _stands_alone(module, function) or len(bound) != 1 or not isinstance(bound[0], ast.arg):
        return
    if _says_mode(module, function) or is_chosen_by_callers(call.node) or _is_meant(module, call.node):
        return
    default = default_of(function, bound[0])
    for call_of_it in _calls_elsewhere(module, function):
        given = bound_argument(function, bound[0], call_of_it, False)
        taken = given if given is not None or default is None else Value(module, default)
        if taken is None or taken.node is None or number(taken) == 0:
            continue
        if is_always_on(call_of_it, None if given is None else given.node):
            yield call_of_it, taken


def _calls_elsewhere(module: Module, function: ast.FunctionDef) -> Iterator[Value]:
    """The calls of a function in other files."""
    for user in module.users(function.name):
        for call in (Value(user, found) for found in user.index.callers(function.name)):
            known = callees(call)
            if known and all(callee.function is function for callee in known):
                yield call


def _stands_alone(module: Module, function: ast.AST | None) -> TypeGuard[ast.FunctionDef]:
    return isinstance(function, ast.FunctionDef) and function.up is module.tree and not function.decorator_list


def says_mode(module: Module, node: ast.AST) -> bool:
    """Does the function around speak of the mode, but for `training=True`?"""
    function = enclosing_function(node)
    return function is not None and _speaks_of(module, function, _MODE, but="training=True")


def is_moot(call: Value, rate: ast.expr | None) -> bool:
    """Is the rate 0, unless somebody asks for more whom nobody sees, or is this a critic, which is only there to train
    another network?
    """
    owner = _class_around(call.module, call.node)
    if owner is not None and _CRITIC.search(owner.name):
        return True
    return rate is not None and is_off_as_seen(call.at(rate, ()))


def is_off_as_seen(rate: Value) -> bool:
    """Is a rate 0 unless somebody asks for more, and none of the calls that are seen does? `Net(**settings)` says
    nothing of it.
    """
    if is_off_by_default(rate):
        return True
    module, node = rate.module, rate.node
    owner = _class_around(module, node)
    maker = owner.methods.get("__init__") if owner is not None else None
    if owner is None or maker is None or not isinstance(node, ast.Attribute) or _is_inherited(owner):
        return False
    stored = [entry.target.up for entry in owner.attribute(node.attr) if entry.target is not None]
    asked = {unparsed(s.value) for s in stored if isinstance(s, ast.Assign)}
    [parameter] = [a for a in (*maker.args.args, *maker.args.kwonlyargs) if {a.arg} == asked] or [None]
    default = default_of(maker, parameter) if parameter is not None else None
    if not isinstance(default, ast.Constant) or default.value or len(stored) != len(owner.attribute(node.attr)):
        return False
    given = [bound_argument(maker, parameter, call, True) for call in callers_of(owner.module, maker, owner)]
    return all(value is None or value.node is None or number(value) == 0 for value in given)


def _is_inherited(owner: ClassInfo) -> bool:
    return any(last_word(base) == owner.name for other in owner.module.index.classes for base in other.bases)


def own_name(module: Module, node: ast.AST) -> str:
    """What the method of a module around a place names its module; empty outside of one."""
    owner, function = _class_around(module, node), enclosing_function(node)
    return function.args.args[0].arg if owner is not None and owner.is_module and function.args.args else ""


def _is_plain(rate: Value) -> bool:
    """Is a rate the same in each mode?"""
    module, node = rate.module, rate.node
    if isinstance(node, ast.Attribute):
        owner = _class_around(module, node)
        if owner is None or owner.method(node.attr) is not None:  # a property may ask for the mode
            return False
        return not _is_set_later(module, node.attr)
    if getattr(enclosing_function(node), "name", "") == "__init__" and isinstance(node, (ast.Name, ast.Subscript)):
        return isinstance(node, ast.Name) or isinstance(node.slice, ast.Constant)  # `partial(F.dropout, p=p)`: kept
    return isinstance(node, ast.Constant) or isinstance(node, ast.Name) and all(map(_is_unconditional, origins(rate)))


def _is_switched(module: Module, test: ast.expr) -> bool:
    """`if self.noisy:` where `train` or who owns the module sets it: a flag of its own for the mode"""
    return any(_is_set_later(module, part.attr) for part in module.index.inside(test, ast.Attribute))


def _is_set_later(module: Module, name: str) -> bool:
    return any(getattr(enclosing_function(s), "name", "") != "__init__" for s in module.index.stored(name))


def _is_unconditional(origin: Value) -> bool:
    """Is it a rate that is always the same, and not the 0 by which a caller turns it off?"""
    node = origin.node
    if isinstance(node, ast.Constant) and not node.value or not isinstance(node, (ast.Constant, ast.Attribute)):
        return False
    return not asks_training_mode(origin.module, node)


def _helps_forward(module: Module, node: ast.AST) -> bool:
    """Does it stand in a function that forwards of this file call, in no mode?"""
    function = enclosing_function(node)
    if not isinstance(function, ast.FunctionDef) or _class_around(module, node) is not None:
        return False
    if _says_mode(module, function):
        return False
    others = list(_calls_elsewhere(module, function)) if _stands_alone(module, function) else []
    if not module.index.callers(function.name) and not others:
        return False
    in_any_mode = all(_is_used_in_any_mode(call.module, call.node) for call in others)
    return in_any_mode and _are_used_in_any_mode(module, function.name)


@remembered
def _are_used_in_any_mode(module: Module, name: str) -> bool:
    return all(_is_used_in_any_mode(module, call) for call in module.index.callers(name))


def _says_mode(module: Module, function: ast.FunctionDef) -> bool:
    return _speaks_of(module, function, _MODE)


def _is_used_in_any_mode(module: Module, call: ast.Call) -> bool:
    owner, function = _class_around(module, call), enclosing_function(call)
    if owner is None or not owner.is_module or function.name != "forward":
        return False
    return not asks_training_mode(module, call) and not _speaks_of(module, owner.node, _MEANT)


@remembered
def _speaks_of(module: Module, part: ast.AST, words: re.Pattern, but: str = "") -> bool:
    """Is one of some words written in a function or a class? Each dropout in it asks."""
    return bool(words.search(module.segment(part).replace(but, "")))


def _is_meant(module: Module, node: ast.AST) -> bool:
    owner, function = _class_around(module, node), enclosing_function(node)
    is_named_so = owner is not None and bool(_MEANT.search(owner.name))
    return is_named_so or function is not None and _speaks_of(module, function, _MEANT)


def _class_around(module: Module, node: ast.AST) -> ClassInfo | None:
    """The class in a method of which a place stands."""
    return method_class(module, enclosing_function(node))
