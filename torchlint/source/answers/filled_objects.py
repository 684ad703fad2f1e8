"""Objects that get attributes whose names are written nowhere: `load_fields(config, values)`, where that sets each of
them, `vars(config).update(values)`, `parser.parse_args(namespace=config)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo, heirs_of
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word, standing_in

_BY_NAME = frozenset(("__dict__", "vars"))
_SETTERS = ("setattr", "__setattr__")
_CHANGING = ("update", "setdefault", "__setitem__")
_DEEP = 2  # functions that are called by what is called
_LOOKING = frozenset("isinstance issubclass super hasattr getattr print len str repr id type cast".split())


@remembered
def is_filled(cls: ClassInfo) -> bool:
    """May an object of a class, or of one that derives from it, get attributes from values that only a run has?"""
    if any(_is_filled_by(one.module, use) for one in cls.mro for use in _selves(one)):
        return True
    for one in (cls, *heirs_of(cls)):
        if any(_is_filled_by(module, use) for module in _users(one) for use in _uses(module, one.name)):
            return True
    return False


def _users(cls: ClassInfo) -> Iterator[Module]:
    yield cls.module
    yield from cls.module.users(cls.name)


def _selves(cls: ClassInfo) -> Iterator[ast.Name]:
    """What the methods of a class hand on of their own object."""
    for word in ("self", "cls"):
        yield from filter(_is_argument, standing_in(cls.node, cls.module.index.names(word)))


def _uses(module: Module, name: str) -> Iterator[ast.Name]:
    """Where a file reads a class, and the names that are given one of its objects."""
    yield from module.index.names(name)
    for call in module.index.callers(name):
        target = call.up.targets[0] if isinstance(call.up, ast.Assign) else None
        if isinstance(target, ast.Name):
            yield from uses(module, target)


def _is_argument(use: ast.Name) -> bool:
    call = use.up.up if isinstance(use.up, ast.keyword) else use.up
    return isinstance(call, ast.Call) and call.func is not use and last_word(call.func) not in _LOOKING


def _is_filled_by(module: Module, use: ast.Name) -> bool:
    if isinstance(use.up, ast.Attribute) and use.up.attr == "__dict__":
        return _is_changed(use.up)
    if not _is_argument(use):
        return False
    if isinstance(use.up, ast.keyword):
        call, is_namespace = use.up.up, use.up.arg == "namespace"
    else:
        call, is_namespace = use.up, False
    word = last_word(call.func)
    if word == "vars":
        return _is_changed(call)
    if word in _SETTERS:
        return _sets_any_name(call)
    is_parsed = word.startswith("parse_") and word.endswith("args") and (is_namespace or use in call.args[1:])
    found = callees(Value(module, call)) if not is_parsed else []
    return is_parsed or any(one.kind == "function" and _sets_any(one.module, one.function) for one in found)


def _is_changed(fields: ast.expr) -> bool:
    """`vars(config).update(values)`, `config.__dict__[name] = value`"""
    around = fields.up
    if isinstance(around, ast.Subscript):
        return isinstance(around.ctx, ast.Store) and not isinstance(around.slice, ast.Constant)
    return isinstance(around, ast.Attribute) and around.attr in _CHANGING


def _sets_any_name(call: ast.Call) -> bool:
    return not any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in call.args[:2])


@remembered
def _sets_any(module: Module, function: ast.FunctionDef, depth: int = 0) -> bool:
    """Does a function set attributes, of what it is given, whose names it does not say, or one that it calls?"""
    index = module.index
    if index.stands(_BY_NAME, function) or any(map(_sets_any_name, index.calls_of(*_SETTERS, inside=function))):
        return True
    called = {last_word(call.func) for call in index.inside(function, ast.Call)} if depth < _DEEP else ()
    return any(_sets_any(module, one, depth + 1) for word in called for one in index.functions_called(word))
