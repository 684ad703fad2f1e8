"""Tensors that each round of a loop makes longer, `ids = torch.cat([ids, token], dim=1)`, and how long they get."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

import torch

from torchlint.facts import named, words
from torchlint.shapes.language.walking import last_word, walk
from torchlint.shapes.tensors.wild import resized

_ROUNDS = 3  # that must begin with as much more each time
_APART = (ast.Continue, ast.Try)  # by which a round may be another one than those before it
_JOINING = words(named("joins")) - {"stack"}  # which makes a dimension more in each round


class Growth:
    """The tensors of one loop, as they were when its last rounds began."""

    __slots__ = ("names", "seen")

    def __init__(self, loop: ast.For | ast.While):
        self.names = growing_names(loop)
        self.seen: list[dict[str, Any]] = []

    def note(self, held: dict[str, Any]) -> None:
        """A round begins, or the last one has ended."""
        if self.names:
            self.seen = [*self.seen[1 - _ROUNDS :], {name: held.get(name) for name in self.names}]

    def steps(self) -> dict[str, tuple[int, int]]:
        """In which dimension each of them grows, and by how much; empty if that is not known of all."""
        found = {name: _step([seen[name] for seen in self.seen]) for name in self.names}
        known = {name: step for name, step in found.items() if step is not None}
        return known if len(self.seen) == _ROUNDS and len(known) == len(found) else {}

    def go_on(self, held: dict[str, Any], by: int) -> None:
        """Let them be as they are so many rounds later."""
        for name, (dimension, step) in self.steps().items():
            tensor = self.seen[-1][name]
            held[name] = resized(tensor, {dimension: tensor.shape[dimension] + step * by})


def _step(tensors: list[Any]) -> tuple[int, int] | None:
    if not all(type(one) is torch.Tensor for one in tensors):
        return None
    shapes = [one.shape for one in tensors]
    if len({len(shape) for shape in shapes}) > 1 or len({one.dtype for one in tensors}) > 1:
        return None
    steps = [[after - before for before, after in zip(*pair)] for pair in zip(shapes, shapes[1:])]
    grown = [dimension for dimension, more in enumerate(steps[0]) if more] if steps else []
    return (grown[0], steps[0][grown[0]]) if len(grown) == 1 and all(one == steps[0] for one in steps) else None


@lru_cache(256)
def growing_names(loop: ast.For | ast.While) -> frozenset[str]:
    """The names that each round of a loop sets once, whatever it decides, to what they were and as much more: nothing
    in it asks for its number or its item.
    """
    found = {name for statement in loop.body if (name := _joined_to(statement)) is not None}
    if not found or not isinstance(loop, ast.For):
        return frozenset()
    inside, items = list(walk(*loop.body)), {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    read = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    if not items.isdisjoint(read) or any(isinstance(n, _APART) for n in inside):
        return frozenset()
    stores = [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return frozenset(name for name in found if stores.count(name) == 1)


def _joined_to(statement: ast.stmt) -> str | None:
    """`ids` of `ids = torch.cat([ids, token])`"""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[ast.List() | ast.Tuple() as of, *_])
        ):
            is_joined = last_word(func) in _JOINING and any(
                isinstance(one, ast.Name) and one.id == name for one in of.elts
            )
            return name if is_joined else None
    return None
