"""How the arguments of a call meet the parameters of a function."""

from __future__ import annotations

import ast

from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word

_OF_CLASSES = ("__new__", "__init_subclass__", "__class_getitem__")


def bound_argument(function: ast.AST, parameter: ast.arg, call: Value, bound: bool) -> Value | None:
    """The argument of a call that a parameter receives; an unknown if stars hide it, None if it keeps its default."""
    node: ast.Call = call.node
    partial = last_word(node.func) == "partial" and isinstance(call.node, ast.Call)
    arguments = node.args[1:] if partial else node.args
    positional = [*function.args.posonlyargs, *function.args.args]
    for keyword in node.keywords:
        if keyword.arg == parameter.arg:
            return call.at(keyword.value, ())
    if parameter in positional:
        place = positional.index(parameter) - bool(bound)
        for i, argument in enumerate(arguments):
            if isinstance(argument, ast.Starred):
                return Value(call.module, None)
            if i == place:
                return call.at(argument, ())
    elif parameter in (function.args.vararg, function.args.kwarg):
        return Value(call.module, None)
    if any(keyword.arg is None for keyword in node.keywords):
        return Value(call.module, None)
    return None


def stars_for(parameter: ast.arg, call: ast.Call) -> ast.expr | None:
    """The one `**options` of a call that may give a parameter, if nothing else that is hidden may."""
    function = parameter.up.up
    if parameter in (function.args.vararg, function.args.kwarg, *function.args.posonlyargs):
        return None
    if last_word(call.func) == "partial" or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    options = [keyword.value for keyword in call.keywords if keyword.arg is None]
    return options[0] if len(options) == 1 else None


def further_arguments(function: ast.AST, call: ast.Call, bound: bool) -> list[ast.expr]:
    """What `*rest` of a function gets of a call; nothing where stars or a `partial` hide it."""
    if last_word(call.func) == "partial" or any(isinstance(a, ast.Starred) for a in call.args):
        return []
    return call.args[len(function.args.posonlyargs) + len(function.args.args) - bool(bound) :]


def default_of(function: ast.AST, parameter: ast.arg) -> ast.expr | None:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if parameter in positional:
        place = positional.index(parameter) - (len(positional) - len(arguments.defaults))
        return arguments.defaults[place] if place >= 0 else None
    if parameter in arguments.kwonlyargs:
        return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)]
    return None


def first_parameter(function: ast.AST) -> ast.arg | None:
    given = function.args
    positional = given.posonlyargs or given.args
    return positional[0] if positional else None


def has_decorator(function: ast.AST, *names: str) -> bool:
    marks = getattr(function, "decorator_list", ())
    return bool(marks) and any(last_word(d.func if isinstance(d, ast.Call) else d) in names for d in marks)


def is_static(function: ast.AST) -> bool:
    return has_decorator(function, "staticmethod")


def is_given_its_class(method: ast.AST) -> bool:
    """Is it a classmethod, or what Python makes one by its name?"""
    return has_decorator(method, "classmethod") or getattr(method, "name", "") in _OF_CLASSES


def is_class_itself(parameter: ast.arg) -> bool:
    """`cls` of a classmethod."""
    function = parameter.up.up
    return is_given_its_class(function) and parameter is first_parameter(function)
