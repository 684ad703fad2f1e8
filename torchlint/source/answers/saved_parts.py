"""What stands in what a program saves: the entries of a dict, also those that it gets later or by `**entries`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import origins
from torchlint.source.flow.kinds import is_module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, is_static
from torchlint.source.flow.uses import may_follow
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import constant_key
from torchlint.source.training.dict_changes import changes_in

MAX_DEPTH = 3  # of a dict put into a dict
MAX_CALLS = 3  # of a helper by a helper
MAX_CALLERS = 20
MAX_CHANGES = 50  # of one dict, each of which is looked at for each time that it is saved

_Entry = tuple[int | str | None, Value]


def saved_parts(saved: Value) -> list[Value]:
    """What is saved, and the entries of it, where it is a dict; none of a key that has had several values."""
    entries = list(_entries(saved, saved.node, MAX_DEPTH))
    several = Counter(key for key, _ in entries)
    return [saved, *(part for key, part in entries if several[key] == 1)]


def is_a_whole_module(part: Value, depth: int = MAX_CALLS) -> bool:
    """Is it a module, or a parameter that each call, in whichever file, gives one?"""
    return (
        is_module(part)
        or depth > 0
        and all(given is not None and is_a_whole_module(given, depth - 1) for given in (_given_for(part) or [None]))
    )


def _given_for(part: Value) -> list[Value | None]:
    """What the calls give the parameter that it comes from; None where one of them keeps its default."""
    found: list[Value | None] = []
    for origin in origins(part):
        if not isinstance(origin.node, ast.arg) or origin.path or isinstance(origin.node.up.up, ast.Lambda):
            return []
        function, owner = origin.node.up.up, method_class(origin.module, origin.node.up.up)
        is_bound = owner is not None and not is_static(function)
        calls = list(islice(callers_of(origin.module, function, owner, everywhere=True), MAX_CALLERS + 1))
        if not calls or len(calls) > MAX_CALLERS:
            return []
        found += [bound_argument(function, origin.node, call, is_bound) for call in calls]
    return found


def _entries(table: Value, before: ast.AST, depth: int) -> Iterator[_Entry]:
    """The keys and values of what may be a dict, as it is before a place."""
    node = table.node
    if depth == 0:
        return
    if isinstance(node, ast.Dict):
        for key, part in zip(node.keys, node.values):
            entry = table.at(part, ())
            yield from _entries(entry, before, depth - 1) if key is None else [(constant_key(key), entry)]
    elif isinstance(node, ast.Call) and last_word(node.func) == "dict":
        yield from _given(table, node, before, depth)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        changes = changes_in(table)
        if len(changes.all) > MAX_CHANGES:
            return
        if not changes.names and changes.names is not None:
            changed: list[ast.AST] = []
        elif enclosing_function(node) in changes.functions and len(changes.functions) == 1:
            changed = [change for change in changes.all if may_follow(change, before)]
        else:
            return
        if (caller := _caller_of(table)) is not None:
            own = {parameter.arg for parameter in ast.walk(caller.parameters) if isinstance(parameter, ast.arg)}
            keywords = ((keyword.arg, keyword.value) for keyword in caller.call.node.keywords)
            yield from ((name, caller.call.at(part, ())) for name, part in keywords if name and name not in own)
        else:
            for made in [stored] if (stored := _stored_once(table)) is not None else origins(table):
                yield from (e for e in _entries(made, before, depth - 1) if not changes.may_remove(str(e[0])))
        for change in changed:
            if isinstance(change, ast.Subscript) and isinstance(change.up, ast.Assign):
                yield constant_key(change.slice), table.at(change.up.value, ())
            elif isinstance(change, ast.Call) and last_word(change.func) == "update":
                yield from _given(table, change, before, depth)


def _given(table: Value, call: ast.Call, before: ast.AST, depth: int) -> Iterator[_Entry]:
    """What `dict(…)` or `.update(…)` is given."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)):
        yield from _entries(table.at(given, ()), before, depth - 1)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, table.at(keyword.value, ())


def _stored_once(table: Value) -> Value | None:
    """What the one assignment puts into `self.entries`."""
    function = enclosing_function(table.node)
    owner = method_class(table.module, function) if isinstance(table.node, ast.Attribute) and function else None
    stored = owner.attributes.get(table.node.attr, []) if owner is not None else []
    given = stored[0].target.up if len(stored) == 1 and stored[0].target is not None else None
    return table.at(given.value, ()) if isinstance(given, ast.Assign) and owner.module is table.module else None


class _Caller(NamedTuple):
    call: Value
    parameters: ast.arguments


def _caller_of(table: Value) -> _Caller | None:
    """The one call that is seen to give a function its `**entries`."""
    node = table.node
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = reaching(node, scope) if scope is not None else []
    if len(bound) != 1 or not isinstance(bound[0], ast.arg) or bound[0] is not scope.node.args.kwarg:
        return None
    calls = list(callers_of(table.module, scope.node, method_class(table.module, scope.node)))
    return _Caller(calls[0], scope.node.args) if len(calls) == 1 else None
