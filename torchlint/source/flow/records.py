"""What the fields of a dataclass or NamedTuple of the project were given by the call that made it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.source.flow.signatures import has_decorator
from torchlint.source.flow.values import Step, Value
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
    if step not in names or not is_tuple and _is_set_later(made, step):
        return None
    for keyword in made.node.keywords:
        if keyword.arg == step:
            return made.at(keyword.value, ())
    given = made.node.args[: names.index(step) + 1]
    if len(given) <= names.index(step) or any(isinstance(a, ast.Starred) for a in given):
        return None
    return made.at(given[-1], ())


def _is_set_later(made: Value, name: str) -> bool:
    """Does some assignment of the file give the field of that name another value?"""
    return any(dotted(store.value) != "self" for store in made.module.index.stored(name))


def field_defaults(module: Module, name: str) -> list[ast.expr]:
    """What the classes of a file give a field of this name, as in `rate: float = 0.0`."""
    return [
        s.value
        for owner in module.index.classes
        for s in owner.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.target.id == name and s.value
    ]
