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
_MOST = 100_000  # rounds that are left out
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
        if not 0 < left <= _MOST or work.used - before < ENOUGH * _DEAR:
            return False
        if not all(_is_plain(frame.machine, one) for one in made):
            return False
        if not frame.machine.changes_nothing(node.elt):
            return False
        frame.machine.budget.length(left)
        made += (made * (left // len(made) + 1))[:left]
        return True

    return fill


def _is_plain(machine: Any, value: Any, left: int = _DEEPEST) -> bool:
    """Is it made of numbers, texts and tensors without gradients?"""
    if isinstance(value, torch.Tensor):
        return not value.requires_grad
    if type(value) in machine.dataclass_fields or type(value) is dict:
        value = list((value if type(value) is dict else vars(value)).values())
    if type(value) in (list, tuple):
        return left > 0 and len(value) <= ENOUGH and all(_is_plain(machine, part, left - 1) for part in value)
    return type(value) in (*_PLAIN, Unknown, Array)
