"""What `and` and `or` give, whose operands need not be True or False."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import Frame, Question
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.wild import is_truth

Evaluate = Callable[[Frame], Any]
Operand = tuple[Evaluate, Any, Question]  # what it is, where, and what is asked if nobody knows


def conjunction(parts: Sequence[Operand]) -> Evaluate:
    """`x and y`"""

    def compute(frame):
        first, truths = None, True
        for at, (part, place, key) in enumerate(parts, 1):
            value = part(frame)
            if at == len(parts) and (first is None or isinstance(value, (torch.Tensor, Array))):
                break  # it is not asked whether it is true, and several numbers would not say
            truths = truths and is_truth(value)
            if type(value) is Unknown:
                first = value if first is None else first  # a later operand may still decide: `unknown and False`
            elif not frame.machine.truth(value, place, key):
                return value
        if first is None:
            return value
        return first if truths and is_truth(value) else _anything(first)

    return compute


def alternatives(parts: Sequence[Operand], nodes: Sequence[ast.expr]) -> Evaluate:
    """`x or default`: an unknown x is taken as it is."""
    plain = [_as_it_stands(node) for node in nodes]

    def compute(frame):
        for at, (part, place, key) in enumerate(parts[:-1], 1):
            value = part(frame)
            if type(value) is Unknown:
                return value if all(is_truth(read(frame)) for read in plain[at:]) else _anything(value)
            if frame.machine.truth(value, place, key):
                return value
        return parts[-1][0](frame)

    return compute


def _anything(value: Unknown) -> Unknown:
    """An unknown that is one of several things: it need not be True or False, even if one of them is."""
    if not is_truth(value):
        return value
    made = Unknown(value.reason, value.hole)
    made.likeness = value.likeness
    return made


def _as_it_stands(node: ast.expr) -> Evaluate:
    """What an operand is that is not asked for: a variable has its value, a comparison is True or False."""
    if isinstance(node, ast.Name):
        return lambda frame: frame.vars.get(node.id)
    made = node.value if isinstance(node, ast.Constant) else isinstance(node, ast.Compare) or None
    return lambda frame: made
