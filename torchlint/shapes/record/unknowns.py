"""Watches a dry run for where it stops knowing: the first unknown of all, and those of each line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.finding import Span
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.program import CompiledScope, Frame
from torchlint.shapes.record.tensor_watch import WATCHED, Watch


class Unknowns(Watch):
    """`unknown` are the expressions that came out unknown, in the order in which that happened, with the reasons."""

    def __init__(self) -> None:
        super().__init__()
        self.unknown: dict[Span, str] = {}

    def expression(self, node: ast.expr, evaluate: Callable, scope: CompiledScope) -> Callable:
        """The same closure; an unknown that comes out is written down, too."""
        evaluate = super().expression(node, evaluate, scope)
        if not isinstance(node, WATCHED) or scope.kind == "class":
            return evaluate
        span = scope.program.span(node)

        def watched(frame: Frame) -> Any:
            value = evaluate(frame)
            if self.looking and type(value) is Unknown:
                self.unknown.setdefault(span, value.reason)
            return value

        return watched
