"""A softmax for which nothing says over which dimension it goes: the first of one or three, else the second."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from torchlint.facts import named_of, words
from torchlint.source.answers.attention_axes import summed_elsewhere
from torchlint.source.answers.batches import was_turned
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import argument
from torchlint.source.training.ranks import rank

# Where one of these stands, the first dimension may be time.
_TURNING = words(named_of("transpose", "permute", "swapaxes", "movedim", "unbind", "einsum", "LSTM", "GRU", "RNN"))
_TURNS = "|".join((*sorted(_TURNING), "rearrange", "Transformer", "Multihead", r"\.[tT]\b"))


OF_THREE = "its input has three, and it takes the first, the batch"


class WrongAxis(NamedTuple):
    """It takes the batch, the first of three dimensions; or another one than that over which a product sums."""

    product: ast.expr | None = None
    over: str = ""

    def says(self, quoted: Callable[[ast.expr], str]) -> str:
        if self.product is None:
            return OF_THREE
        return f"of three it takes the first, of four the second, and `{quoted(self.product)}` sums over {self.over}"


def taken_wrongly(module: Module, softmax: ast.Call) -> WrongAxis | None:
    """What is plainly wrong with the dimension that it takes, if anything is."""
    scores = argument(softmax, "input", 0)
    if scores is None:
        return None
    if found := summed_elsewhere(module, softmax, scores, 1):  # nor is it the last one if it is the first
        return WrongAxis(found[0], found[1])
    return WrongAxis() if rank(Value(module, scores)) == 3 and not was_turned(module, scores) else None


def runs_over_samples(operation) -> bool:
    """Does one that happens in the dry run take the first of three dimensions: the batch, as loaders give it, or that
    of weights which are multiplied over the last one?
    """
    shape = getattr(operation.argument("input", 0), "shape", ())
    if len(shape) != 3 or operation.argument("dim", 1) is not None or operation.guessed:
        return False
    is_of_batches = operation.file_says("oader") and not operation.file_says(_TURNS)
    return is_of_batches or operation.file_says(_multiplied(operation.text(0)))


def _multiplied(scores: str) -> str:
    """`weights = F.softmax(scores)`, and shortly after it `weights @ values`"""
    given = rf"softmax\(\s*{re.escape(scores)}\s*\)"
    return rf"\b(\w{{1,40}}) = [\w.]{{0,40}}{given}[^=]{{0,80}}?(?:\b\1 @|mm\(\1,|matmul\(\1,)"
