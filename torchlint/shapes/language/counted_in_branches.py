"""What some rounds of a loop count, and others do not: `if is_input(i): self.inputs += 1`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.walking import walk

_SELDOM = "some rounds count it, and others do not"


def leave_counters_open(loop: ast.For | ast.While, frame: Frame) -> None:
    """A loop ends before it would: what the rounds that were run have not counted, those that follow may."""
    for name, field in _counters(loop):
        held = frame.vars
        if field:
            held = getattr(held.get(name), "__dict__", {})
        if type(held.get(field or name)) in (int, float):
            dict.__setitem__(held, field or name, Unknown(_SELDOM))


@lru_cache(256)
def _counters(loop: ast.For | ast.While) -> tuple[tuple[str, str], ...]:
    """The names, and the fields of what has a name, that are counted where a condition holds that its rounds set."""
    bound = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return tuple(dict.fromkeys(_counted(loop.body, bound, False)))


def _counted(body: list[ast.stmt], bound: set[str], is_seldom: bool) -> Iterator[tuple[str, str]]:
    for statement in body:
        match statement:
            case ast.AugAssign(target=ast.Name(id=name)) if is_seldom:
                yield name, ""
            case ast.AugAssign(target=ast.Attribute(value=ast.Name(id=name), attr=field)) if is_seldom:
                yield name, field
            case ast.If(test=test, body=then, orelse=other):
                varies = is_seldom or any(isinstance(node, ast.Name) and node.id in bound for node in walk(test))
                yield from _counted([*then, *other], bound, varies)
            case ast.For(body=inner) | ast.While(body=inner) | ast.With(body=inner) | ast.Try(body=inner):
                yield from _counted(inner, bound, is_seldom)
