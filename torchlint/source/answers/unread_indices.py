"""Datasets that keep the indices of a part, and give the first samples of all instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import bound_argument
from torchlint.source.flow.values import Value
from torchlint.source.text.index import standing_in
from torchlint.source.text.spelling import given_to, unparsed
from torchlint.source.training.members import is_of_self

_CHOOSES = re.compile(
    r"(?:^|_)(?:ind(?:ex|ices|exes)?|idxs?|idcs|chosen|select(?:ed|ion)?|order|perm(?:utation)?)(?:_|$)"
)


class Unread(NamedTuple):
    kept: str  # `indices`
    length: ast.AST  # `len(self.indices)`
    taken: ast.Subscript  # `self.images[i]`
    index: ast.expr


def unread_indices(module: Module, node: ast.ClassDef) -> Unread | None:
    """What `__getitem__` takes of all the data by the number of a sample in a part, where two objects are given the
    same data and other indices.
    """
    cls = class_info(module, node)
    length, item = cls.methods.get("__len__"), cls.methods.get("__getitem__")
    counted = _counted(length) if length is not None else None
    if item is None or counted is None or not _CHOOSES.search(counted.attr) or len(item.args.args) != 2:
        return None
    chosen = _parameter(cls, counted.attr)
    if chosen is None or _is_read(cls, counted):
        return None
    for taken in _taken(module, item):
        data = _parameter(cls, taken.value.attr)
        if data is not None and data is not chosen and _is_shared(cls, data, chosen):
            return Unread(counted.attr, counted.up, taken, taken.slice)
    return None


def _counted(length: ast.FunctionDef) -> ast.Attribute | None:
    """`self.indices` of `return len(self.indices)`, if that is all that the method does."""
    returned = length.body[-1]
    call = returned.value if isinstance(returned, ast.Return) else None
    is_length = isinstance(call, ast.Call) and unparsed(call.func) == "len" and len(call.args) == 1
    counted = call.args[0] if is_length and len(length.gives) == 1 else None
    return counted if isinstance(counted, ast.Attribute) and is_of_self(counted) else None


def _parameter(cls: ClassInfo, name: str) -> ast.arg | None:
    """The one parameter of the constructor of which an attribute is made, and nothing else."""
    stored = cls.attributes.get(name, [])
    init = cls.methods.get("__init__")
    if len(stored) != 1 or init is None or stored[0].method is not init or stored[0].target is None:
        return None
    value = given_to(stored[0].target)
    names = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)} if value is not None else set()
    given = [argument for argument in init.args.args[1:] if argument.arg in names]
    is_plain = value is not None and not any(isinstance(one, ast.Subscript) for one in ast.walk(value))
    return given[0] if is_plain and len(given) == 1 else None


def _is_read(cls: ClassInfo, counted: ast.Attribute) -> bool:
    """Does anything but `__len__` read them, here or where the class is used?"""
    own = standing_in(cls.node, cls.module.index.attributes(counted.attr))
    if any(isinstance(one.ctx, ast.Load) and one is not counted for one in own):
        return True
    if _is_read_of_others(cls.module, counted.attr):
        return True
    return any(user.index.attributes(counted.attr) for user in cls.module.users(cls.name))


@remembered
def _is_read_of_others(module: Module, name: str) -> bool:
    """`train.indices`"""
    return any(isinstance(one.ctx, ast.Load) and not is_of_self(one) for one in module.index.attributes(name))


def _taken(module: Module, item: ast.FunctionDef) -> Iterator[ast.Subscript]:
    """`self.images[i]`, of the number that the method is given"""
    index = item.args.args[1].arg
    named = (one for one in module.index.inside(item, ast.Name) if one.id == index)
    if any(isinstance(one.ctx, ast.Store) for one in named):
        return
    for one in module.index.inside(item, ast.Subscript):
        is_given = isinstance(one.slice, ast.Name) and one.slice.id == index and isinstance(one.ctx, ast.Load)
        if is_given and isinstance(one.value, ast.Attribute) and is_of_self(one.value):
            yield one


def _is_shared(cls: ClassInfo, data: ast.arg, chosen: ast.arg) -> bool:
    """Are two objects given the same data, and other indices?"""
    init = cls.methods["__init__"]
    parts: dict[str, set[str]] = {}
    for module in (cls.module, *cls.module.users(cls.name)):
        for call in module.index.callers(cls.name):
            given = [bound_argument(init, one, Value(module, call), True) for one in (data, chosen)]
            if all(one is not None and one.node is not None for one in given):
                all_of_it, part = (unparsed(one.node) for one in given)
                parts.setdefault(all_of_it, set()).add(part)
    return any(len(of_one) > 1 for of_one in parts.values())
