"""What the statements of a loop may change: names, and containers, behind conditions too."""

from __future__ import annotations

import ast

from torchlint.shapes.language.cut_short import CHANGING
from torchlint.shapes.language.program import CompiledScope
from torchlint.shapes.language.walking import walk


def bound_in(nodes: list[ast.AST], scope: CompiledScope) -> list[str]:
    """The names that the statements of a loop bind."""
    inside = CompiledScope("function", nodes, scope, scope.program)
    return sorted(inside.bound | inside.globals | inside.nonlocals)


def filled_in(nodes: list[ast.AST]) -> list[ast.expr]:
    """How the containers are read that statements of a loop may change, whether or not they come to it."""
    owners: dict[str, ast.expr] = {}
    for part in nodes:
        for one in walk(part):
            match one:
                case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in CHANGING:
                    _note_owner(owners, owner)
                case ast.Subscript(value=owner, ctx=ast.Store()) | ast.AugAssign(target=owner):
                    _note_owner(owners, owner)
    return list(owners.values())


def _note_owner(owners: dict[str, ast.expr], owner: ast.expr) -> None:
    """`name` or `self.name`: to read it runs nothing else."""
    match owner:
        case ast.Name(id=name):
            owners.setdefault(name, ast.copy_location(ast.Name(name, ast.Load()), owner))
        case ast.Attribute(value=ast.Name(id=of) as base, attr=name):
            load = ast.Name(of, ast.Load())
            read = ast.Attribute(ast.copy_location(load, base), name, ast.Load())
            owners.setdefault(f"{of}.{name}", ast.copy_location(read, owner))
