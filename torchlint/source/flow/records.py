"""What the fields of a record were given by the call that made it: of a dataclass or NamedTuple of the project, of a
namespace, of a namedtuple, of a dict.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.flow.values import Step, Value
from torchlint.source.text.index import has_stars
from torchlint.source.text.spelling import dotted

if TYPE_CHECKING:
    from torchlint.source.flow.classes import ClassInfo
    from torchlint.source.flow.module import Module


def field(owner: ClassInfo | None, made: Value | None, step: Step) -> Value | None:
    """What `made.step`, or `made[step]` of a NamedTuple, holds since it was made; None where this is no such class or
    it cannot be told.
    """
    if (
        owner is None
        or made is None
        or not isinstance(made.node, ast.Call)
        or made.path
        or "__init__" in owner.methods
        or len(owner.mro) > 1
    ):
        return None
    is_tuple = owner.is_a("typing.NamedTuple")
    if not is_tuple and not has_decorator(owner.node, "dataclass"):
        return None
    names = [s.target.id for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    if isinstance(step, int) and is_tuple and -len(names) <= step < len(names):
        step = names[step]
    if step not in names or not is_tuple and _is_set_later(made.module, step):
        return None
    for keyword in made.node.keywords:
        if keyword.arg == step:
            return made.at(keyword.value, ())
    given = made.node.args[: names.index(step) + 1]
    if len(given) <= names.index(step) or any(isinstance(a, ast.Starred) for a in given):
        return None
    return made.at(given[-1], ())


def field_or_default(owner: ClassInfo | None, made: Value, name: str) -> Value | None:
    """The same, or what the class says itself where the call gives nothing."""
    given = field(owner, made, name)
    if given is not None or owner is None or has_stars(made.node) or _is_set_later(made.module, name):
        return given
    fields = [s for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    names = [s.target.id for s in fields]
    is_record = owner.is_a("typing.NamedTuple") or has_decorator(owner.node, "dataclass")
    if not is_record or {"__init__", "__post_init__"} & owner.methods.keys() or len(owner.mro) > 1 or name not in names:
        return None
    place = names.index(name)
    is_given = len(made.node.args) > place or any(keyword.arg == name for keyword in made.node.keywords)
    default = fields[place].value
    return None if is_given or default is None else Value(owner.module, default)


def field_names(owner: ClassInfo | None) -> frozenset[str] | None:
    """The fields of a dataclass or NamedTuple of the project, without those of bases; None where it is none such."""
    is_record = owner is not None and (owner.is_a("typing.NamedTuple") or has_decorator(owner.node, "dataclass"))
    if owner is None or not is_record or len(owner.mro) > 1:
        return None
    fields = (s.target for s in owner.node.body if isinstance(s, ast.AnnAssign))
    return frozenset(target.id for target in fields if isinstance(target, ast.Name))


def given_to(name: str, made: Value, kind: Value | None, step: Step, reader: Module) -> Value | None:
    """The same of what a call of the standard library makes, as a file reads it: `SimpleNamespace(step=…)`, or
    `Pair(…)` of the namedtuple that `kind` makes.
    """
    call = made.node
    if name in ("types.SimpleNamespace", "argparse.Namespace"):
        names = [] if _is_set_later(made.module, step) or _is_set_later(reader, step) else [step]
    elif name == "collections.namedtuple()" and kind is not None and len(kind.node.args) > 1:
        names = _names_in(kind.node.args[1])
    else:
        return None
    step = names[step] if isinstance(step, int) and -len(names) <= step < len(names) else step
    if step not in names:
        return None
    for keyword in call.keywords:
        if keyword.arg == step:
            return made.at(keyword.value, ())
    place = names.index(step)
    if name != "collections.namedtuple()" or any(isinstance(a, ast.Starred) for a in call.args[: place + 1]):
        return None
    return made.at(call.args[place], ()) if place < len(call.args) else None


def entry(made: Value) -> Value | None:
    """What `dict(workers=4)["workers"]` is, if nothing is put into the dict later."""
    for keyword in made.node.keywords:
        if keyword.arg == made.path[0] and not is_changed(made):
            return made.at(keyword.value, made.path[1:])
    return None


def _names_in(fields: ast.expr) -> list[str]:
    """`"x y"`, `"x, y"`, `["x", "y"]`"""
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        return fields.value.replace(",", " ").split()
    names = [getattr(part, "value", None) for part in getattr(fields, "elts", ())]
    return names if all(isinstance(name, str) for name in names) else []


def _is_set_later(module: Module, name: Step) -> bool:
    """Does some assignment of the file give the field of that name another value?"""
    return any(dotted(store.value) != "self" for store in module.index.stored(str(name)))


def field_defaults(module: Module, name: str) -> list[ast.expr]:
    """What the classes of a file give a field of this name, as in `rate: float = 0.0`."""
    return [
        s.value
        for owner in module.index.classes
        for s in owner.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.target.id == name and s.value
    ]
