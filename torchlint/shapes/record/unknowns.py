"""Watches a dry run for where it stops knowing: the first unknown of all, and those of each line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from torchlint.finding import Span
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import CompiledScope, Frame
from torchlint.shapes.record.tensor_watch import WATCHED, Watch
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.wild import Known, free_dimensions

MOST_VALUES = 4


class Unknowns(Watch):
    """`unknown` are the expressions that came out unknown, in the order in which that happened, with the reasons. Of
    those that are known in part, `partly` has what is known.
    """

    in_part = True

    def __init__(self) -> None:
        super().__init__()
        self.unknown: dict[Span, str] = {}
        self.partly: dict[Span, str] = {}

    def expression(self, node: ast.expr, evaluate: Callable, scope: CompiledScope) -> Callable:
        """The same closure; an unknown that comes out is written down, too."""
        evaluate = super().expression(node, evaluate, scope)
        if not isinstance(node, WATCHED) or scope.kind == "class":
            return evaluate
        span = scope.program.span(node)

        def watched(frame: Frame) -> Any:
            value = evaluate(frame)
            if self.looking and type(value) is Unknown:
                if value.known is None:
                    self.unknown.setdefault(span, value.reason)
                else:
                    self.partly.setdefault(span, _in_part(value.known))
            return value

        return watched


def _in_part(known: Any) -> str:
    """`(?, 20) float32`, or the values that a number may have."""
    if not isinstance(known, Known):
        return f"{known}"
    example = known.example
    if not isinstance(example, (torch.Tensor, Array)):
        return f"{type(example).__name__}, one of {', '.join(map(str, list(known.values.values())[:MOST_VALUES]))}…"
    free = free_dimensions(known).get(len(example.shape), set())
    sizes = ["?" if n in free else str(size) for n, size in enumerate(example.shape)]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)}) {str(example.dtype).removeprefix('torch.')}"
