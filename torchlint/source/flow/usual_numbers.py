"""What a number or a flag is if nobody says otherwise: `default=` of `parser.add_argument("--workers", default=2)`,
`workers=2` of a function that nobody is seen to give another one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.records import field_or_default
from torchlint.source.flow.signatures import bound_argument, default_of, is_static
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import has_stars
from torchlint.source.text.spelling import unparsed

_Plain = TypeVar("_Plain", bool, int | float)

_MOST_CALLS = 10  # of one function
_PARSERS = frozenset(("argparse.ArgumentParser",))
_PARSING = {"parse_args": (), "parse_known_args": (0,)}


def usual_number(value: Value) -> int | float | None:
    """The number that an expression is, or that an option of the command line or a parameter has by default."""
    return _usually(value, number)


def usual_truth(value: Value) -> Answer:
    """The same of a flag, or of whether what it is counts as true."""
    return _usually(value, _truth)


def _truth(value: Value) -> Answer:
    found = {bool(o.node.value) if isinstance(o.node, ast.Constant) and not o.path else None for o in origins(value)}
    return found.pop() if len(found) == 1 else None


def _usually(value: Value, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    known = plain(value)
    if known is not None:
        return known
    found = {_usual(origin, plain) for origin in origins(value)}
    return found.pop() if len(found) == 1 else None


def _usual(origin: Value, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    if isinstance(origin.node, ast.arg):
        return _given_by_nobody(origin, plain)
    return _reached(origin, plain) if isinstance(origin.node, ast.Call) else _default(origin, plain)


def _given_by_nobody(parameter: Value, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    """The default of a parameter, where each call of other files is seen, and none gives another one."""
    module, function = parameter.module, parameter.node.up.up
    default = None if parameter.path else default_of(function, parameter.node)
    if default is None or isinstance(function, ast.Lambda):
        return None
    owner, view = method_class(module, function), module.world.view
    if owner is not None and view.deriving(owner.node.name):
        return None  # who derives calls it by `super()`
    name = owner.node.name if owner is not None and function.name == "__init__" else function.name
    users = module.users(top := owner.node.name if owner is not None else name)
    if len(users) < len(view.users(module.path, top)):
        return None
    known = {plain(Value(module, default))}
    for user in users:
        for use in (*user.index.names(name), *user.index.attributes(name)):
            if not isinstance(use.up, ast.Call) or use.up.func is not use:
                return None  # handed on, to who knows which calls
            is_bound = owner is not None and not is_static(function)
            given = bound_argument(function, parameter.node, Value(user, use.up), is_bound)
            known |= {_usually(given, plain)} if given is not None else set()
    return known.pop() if len(known) == 1 else None


def _reached(origin: Value, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    """Of `max(args.workers, 1)`"""
    call: ast.Call = origin.node
    names = {callee.name for callee in callees(origin)}
    if plain is not number or len(names) != 1 or origin.path or has_stars(call) or call.keywords or len(call.args) < 2:
        return None
    reach = max if names == {"builtins.max"} else min if names == {"builtins.min"} else None
    numbers = [_usually(origin.at(given, ()), plain) for given in call.args] if reach is not None else [None]
    return reach(numbers) if reach is not None and None not in numbers else None


def _default(origin: Value, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    """Of `args.workers`, `config.workers`"""
    node = origin.node
    if not isinstance(node, ast.Attribute) or origin.path or _is_set(origin.module, node.attr):
        return None
    found = {_in_a_record(made, node.attr, plain) for made in _holders(origin)}
    return found.pop() if len(found) == 1 else None


def usual_origins(value: Value) -> list[Value]:
    """The origins of an expression, also of a field that records have by default: `config.device`"""
    return [made for origin in origins(value) for made in (_of_records(origin) or [origin])]


def _of_records(origin: Value) -> list[Value]:
    """What a field is given in all records that it may be of; empty where it is not known of each."""
    node = origin.node
    if not isinstance(node, ast.Attribute) or origin.path or _is_set(origin.module, node.attr):
        return []
    given = [_field(made, node.attr) for made in _holders(origin)]
    return [] if None in given else [made for one in given if one is not None for made in origins(one)]


def _field(made: Value, name: str) -> Value | None:
    owner = instance_class(made) if isinstance(made.node, ast.Call) and not made.path else None
    return field_or_default(owner, made, name) if owner is not None else None


def _holders(attribute: Value) -> list[Value]:
    return [one for made in origins(attribute.at(attribute.node.value, ())) for one in _handed_in(made)]


def _handed_in(holder: Value) -> list[Value]:
    """What a parameter is given by those who call its function, in whichever files."""
    function = holder.node.up.up if isinstance(holder.node, ast.arg) and not holder.path else None
    if not isinstance(function, ast.FunctionDef):
        return [holder]
    owner = method_class(holder.module, function)
    is_bound = owner is not None and not is_static(function)
    calls = list(islice(callers_of(holder.module, function, owner, everywhere=True), _MOST_CALLS + 1))
    given = [bound_argument(function, holder.node, call, is_bound) for call in calls]
    if not given or len(given) > _MOST_CALLS or None in given:
        return [holder]
    return [made for one in given if one is not None for made in origins(one)]


def _in_a_record(made: Value, name: str, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    """What a field of a dataclass is given where it is made, or has by default; or an option of a parser."""
    given = _field(made, name)
    return _usually(given, plain) if given is not None else _given_by_default(made, name, plain)


def _given_by_default(made: Value, name: str, plain: Callable[[Value], _Plain | None]) -> _Plain | None:
    """What an option has that nobody gives, of what `parser.parse_args()` makes."""
    call = made.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if _PARSING.get(call.func.attr) != made.path or not _is_a_parser(made.at(call.func.value, ())):
        return None
    module = made.module
    options = [option for option in module.index.callers("add_argument") if _destination(option) == name]
    if len(options) != 1 or _is_set(module, name) or module.index.callers("set_defaults"):
        return None
    defaults = [keyword.value for keyword in options[0].keywords if keyword.arg == "default"]
    return plain(Value(module, defaults[0])) if len(defaults) == 1 else None


def _is_set(module: Module, name: str) -> bool:
    """`args.workers = 0`; `self.workers = args.workers` is another one."""
    return any(unparsed(store.value) != "self" for store in module.index.stored(name))


def _is_a_parser(value: Value) -> bool:
    made = objects(value)
    return bool(made) and all(
        isinstance(o.node, ast.Call) and not o.path and {c.name for c in callees(o)} == _PARSERS for o in made
    )


def _destination(option: ast.Call) -> str:
    """Under which name an option is read: `num_workers` of `"-j", "--num-workers"`."""
    for keyword in option.keywords:
        if keyword.arg == "dest":
            return str(getattr(keyword.value, "value", ""))
    names = [str(given.value) for given in option.args if isinstance(given, ast.Constant)]
    long = [name for name in names if name.startswith("--")]
    return (long or names or [""])[0].lstrip("-").replace("-", "_")
