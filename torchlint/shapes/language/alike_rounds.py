"""Rounds of a comprehension that all make the same kind of thing: `[made_up(generator) for _ in range(5000)]`.

Data are often made up that way, and each round may cost as much as a network. Some are enough where the others change
nothing and make plain things, as these did: what is behind them is like them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.budget import len_of, work
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import CHANGING
from torchlint.shapes.language.program import Frame
from torchlint.shapes.language.walking import last_word, walk
from torchlint.shapes.tensors.arrays import Array

ENOUGH = 16  # rounds
_MOST = 100_000  # things that are made in the rounds that are left out
_DEAR = 100  # units of work of one round, from which it is worth it
_PLAIN = (int, float, bool, str, type(None))
_DEEPEST = 4
_IN_TURN = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def filled_up(node: ast.expr, targets: set[str]) -> Callable[[Frame, Any, list[Any], int], bool] | None:
    """What makes the rest of a list like its first items, where the rounds do not depend on which they are. It says
    whether it did.
    """
    if type(node) is not ast.ListComp or len(node.generators) > 1 or node.generators[0].ifs:
        return None
    parts = list(walk(node.elt))
    if any(isinstance(part, _IN_TURN) or isinstance(part, ast.Name) and part.id in targets for part in parts):
        return None
    called = [last_word(part.func) for part in parts if isinstance(part, ast.Call)]
    if not called or any(name in CHANGING or name == "next" for name in called):
        return None

    def fill(frame: Frame, source: Any, made: list[Any], before: int) -> bool:
        left = len_of(source) - len(made) if type(source) in (range, list, tuple) else 0
        if left <= 0 or work.used - before < ENOUGH * _DEAR:
            return False
        sizes = [_size(frame.machine, one) for one in made]
        if 0 in sizes or max(sizes) * left > _MOST or not frame.machine.changes_nothing(node.elt):
            return False
        frame.machine.budget.length(max(sizes) * left)
        made += [_again(frame.machine, made[place % ENOUGH]) for place in range(left)]
        return True

    return fill


def _size(machine: Any, value: Any, left: int = _DEEPEST) -> int:
    """Of how many numbers, texts and tensors without gradients it is made, with what holds them; 0 for other things."""
    if isinstance(value, torch.Tensor):
        return not value.requires_grad
    if type(value) in (*_PLAIN, Unknown, Array):
        return 1
    parts = _parts(machine, value)
    if not left or parts is None or len(parts) > ENOUGH:
        return 0
    sizes = [_size(machine, part, left - 1) for part in parts]
    return 0 if 0 in sizes else 1 + sum(sizes)


def _parts(machine: Any, value: Any) -> list[Any] | None:
    if type(value) in (list, tuple):
        return list(value)
    if type(value) is dict:
        return list(value.values())
    return list(vars(value).values()) if type(value) in machine.dataclass_fields else None


def _again(machine: Any, value: Any) -> Any:
    """Another one like it: what is put into one of them is in no other."""
    kind = type(value)
    if kind in (list, tuple):
        return kind([_again(machine, part) for part in value])
    if kind is dict:
        return {key: _again(machine, part) for key, part in value.items()}
    if kind in machine.dataclass_fields:
        made = object.__new__(kind)
        made.__dict__.update({name: _again(machine, part) for name, part in vars(value).items()})
        return made
    return Array(value.tensor, value.backwards) if kind is Array else value
