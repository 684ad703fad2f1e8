"""A base that never calls `super().__init__()` and has no layers itself: a class that inherits from it, perhaps in
another file, puts them where nothing is ready for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.kinds import MODULE, PARAMETER, kinds
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import is_super, unparsed


class Heir(NamedTuple):
    """`layer` is the statement of its `__init__` that fails."""

    info: ClassInfo
    layer: Value


def heir_with_layers(base: ClassInfo) -> Heir | None:
    """The first class that has only this base, begins with it and gets a layer, whatever else happens."""
    for heir in _heirs(base) if "__new__" not in base.methods else ():
        init = heir.methods.get("__init__")
        if init is None or init.decorator_list or not _begins_with(heir, init, base):
            continue
        for statement in init.body:
            if _stores_on(statement, init.args.args[0].arg):
                value = Value(heir.module, statement.value)
                if (found := kinds(value)) and found <= {MODULE, PARAMETER}:
                    return Heir(heir, value.at(statement, ()))
    return None


def _heirs(base: ClassInfo) -> Iterator[ClassInfo]:
    world = base.module.world
    users = map(world.module, world.view.users(base.module.path, base.name))
    for module in (base.module, *filter(None, users)):
        for node in module.index.classes:
            if len(node.bases) == 1 and not node.keywords and not node.decorator_list:
                heir = class_info(module, node)
                [found] = heir.bases or [None]
                if isinstance(found, ClassInfo) and found.node is base.node:
                    yield heir


def _begins_with(heir: ClassInfo, init: ast.FunctionDef, base: ClassInfo) -> bool:
    """Is this base's `__init__` the only one that is called there?"""
    calls = [
        call.func
        for call in heir.module.index.callers("__init__")
        if isinstance(call.func, ast.Attribute) and init.lineno <= call.lineno <= (init.end_lineno or init.lineno)
    ]
    return bool(calls) and all(_is_of(func.value, heir.name, base.name) for func in calls)


def _is_of(owner: ast.expr, heir: str, base: str) -> bool:
    """`super()`, `super(Heir, self)` or `Base`"""
    if is_super(owner):
        return not owner.args or unparsed(owner.args[0]) in (heir, "__class__")
    return unparsed(owner).rsplit(".", 1)[-1] == base


def _stores_on(statement: ast.stmt, me: str) -> bool:
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me
