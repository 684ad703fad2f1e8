"""Whether an object may have become another than its constructor or display says: changed in place, attributes given anew."""

from __future__ import annotations

import ast

from .classes import Entry
from .index import Index
from .spelling import dotted
from .values import Value

CONTAINERS = (ast.List, ast.Dict, ast.Set)
# What a method of a container is called that puts something where something else may be expected. An `append` leaves the places before it.
_CHANGING = "append extend insert update setdefault pop popitem clear remove sort reverse add_module register_module __setitem__".split()


def is_changed(value: Value) -> bool:
    """Is the list, dict or container module that an expression makes changed under the name it is given?"""
    return not _names_of(value).isdisjoint(_changed_names(value.module.index))


def _changed_names(index: Index) -> frozenset[str | None]:
    """The dotted names in a file whose objects are changed in place: `d["a"] = 1`, `del d[0]`, `d += …`, `d.append(1)`."""
    if index.changed_names is None:
        stores = [n.value for n in index.nodes(ast.Subscript) if not isinstance(n.ctx, ast.Load)]
        grown = [n.target for n in index.nodes(ast.AugAssign)]
        called = [c.func.value for word in _CHANGING for c in index.callers(word) if isinstance(c.func, ast.Attribute)]
        index.changed_names = frozenset(map(dotted, [*stores, *grown, *called])) - {None}
    return index.changed_names


def is_given_anew(instance: Value, name: str, entries: list[Entry]) -> bool:
    """Is an attribute of an object set from outside, or by the constructor that a dataclass gets?"""
    index = instance.module.index
    names = _names_of(instance)
    if names and any(store.attr == name and dotted(store.value) in names for store in index.stores):
        return True
    if all(isinstance(e.target, ast.Name) and isinstance(e.target.up, ast.AnnAssign) for e in entries) and isinstance(instance.node, ast.Call):
        call = instance.node
        return bool(call.args) or any(k.arg in (name, None) for k in call.keywords)
    return False


def _names_of(made: Value) -> set[str]:
    """The dotted names that an object is assigned to where it is made."""
    parent = made.node.up if made.node is not None else None
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target] if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) else []
    return {name for target in targets if (name := dotted(target))}
