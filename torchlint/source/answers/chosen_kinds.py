"""What becomes of the classes in a table: `TABLE[name]()` makes one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import reads
from torchlint.source.flow.values import Value


def made_plainly(module: Module, table: ast.Dict) -> list[ast.expr]:
    """The entries of a table of which a call without arguments makes whichever somebody has chosen."""
    plain = (call for call in _makers(module, table) if not call.args and not call.keywords)
    return table.values if any(not callees(Value(module, call)) for call in plain) else []


def _makers(module: Module, table: ast.expr) -> Iterator[ast.Call]:
    for entry in _chosen(module, table):
        for kind in (entry, *_reads(module, entry)):
            if isinstance(kind.up, ast.Call) and kind.up.func is kind:
                yield kind.up


def _chosen(module: Module, table: ast.expr) -> Iterator[ast.expr]:
    """`TABLE[name]`, `TABLE.get(name)`, `{…}[name]`"""
    for held in (table, *_reads(module, table)):
        around = held.up
        if isinstance(around, ast.Subscript) and around.value is held:
            yield around
        elif isinstance(around, ast.Attribute) and around.attr == "get" and isinstance(around.up, ast.Call):
            yield around.up


def _reads(module: Module, value: ast.expr) -> list[ast.expr]:
    """Where the name is read that an expression is given."""
    stored = value.up.targets[0] if isinstance(value.up, ast.Assign) and len(value.up.targets) == 1 else None
    if isinstance(stored, ast.Name) and isinstance(owner := value.up.up, ast.ClassDef):  # `self.KINDS[name]`
        return [node for node in module.index.inside(owner, ast.Attribute) if node.attr == stored.id]
    return reads(module, stored) if isinstance(stored, (ast.Name, ast.Attribute)) else []
