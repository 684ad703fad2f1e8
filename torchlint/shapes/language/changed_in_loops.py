"""What the statements of a loop may change: names, and containers, behind conditions too."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.shapes.language.cut_short import CHANGING, CONTAINERS
from torchlint.shapes.language.program import CompiledScope, Frame
from torchlint.shapes.language.walking import walk

Evaluate = Callable[[Frame], Any]


def bound_in(nodes: list[ast.AST], scope: CompiledScope) -> list[str]:
    """The names that the statements of a loop bind."""
    inside = CompiledScope("function", nodes, scope, scope.program)
    return sorted(inside.bound | inside.globals | inside.nonlocals)


def filled_in(nodes: list[ast.stmt], compile_: Callable[[ast.expr], Evaluate]) -> list[Callable[[Frame], list[Any]]]:
    """How the containers are read that statements of a loop may change, whether or not they come to it. Of one that is
    read from another, `found["names"].append(…)`, all are that it holds.
    """
    owners: dict[tuple[str, bool], ast.expr] = {}
    for part in nodes:
        for one in walk(part):
            match one:
                case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in CHANGING:
                    _note_owner(owners, owner)
                case ast.Subscript(value=owner, ctx=ast.Store()) | ast.AugAssign(target=owner):
                    _note_owner(owners, owner)
    return [_reader(compile_(owner), is_held) for (_, is_held), owner in owners.items()]


def _reader(read: Evaluate, is_held: bool) -> Callable[[Frame], list[Any]]:
    def read_held(frame: Frame) -> list[Any]:
        owner = read(frame)
        if not isinstance(owner, CONTAINERS):
            return []
        frame.machine.budget.touch(owner)
        return list(owner.values() if isinstance(owner, dict) else owner)

    return read_held if is_held else lambda frame: [read(frame)]


def _note_owner(owners: dict[tuple[str, bool], ast.expr], owner: ast.expr) -> None:
    """`name` or `self.name`: to read it runs nothing else."""
    is_held = isinstance(owner, ast.Subscript)
    match owner.value if is_held else owner:
        case ast.Name(id=name) as holder:
            owners.setdefault((name, is_held), ast.copy_location(ast.Name(name, ast.Load()), holder))
        case ast.Attribute(value=ast.Name(id=of) as base, attr=name) as holder:
            load = ast.Name(of, ast.Load())
            read = ast.Attribute(ast.copy_location(load, base), name, ast.Load())
            owners.setdefault((f"{of}.{name}", is_held), ast.copy_location(read, holder))
