"""The other party of a fault: the layer from which a size comes that the next one does not take."""

from __future__ import annotations

from typing import Any, Iterator

import torch
from torch import nn

from torchlint.shapes.graph import tensors_in

STEPS = 30  # operations that are followed back


def giver(modules: list[nn.Module], tensor: torch.Tensor, size: int) -> nn.Module | None:
    """The layer whose weights made a size of a tensor, followed back through operations that let it through; None if there is no such layer.

    Tensors know what made them while somebody listens (`listening`).
    """
    owners = {id(p): m for root in modules[:1] for m in root.modules() for p in m.parameters(recurse=False)}
    for _ in range(STEPS):
        made = getattr(tensor, "torchlint_made_by", None)
        if made is None or size not in tensor.shape:
            return None
        for value in _parameters(made.args, made.kwargs):
            if id(value) in owners and size in value.shape:
                return owners[id(value)]
        before = next(tensors_in(made.args), None)
        if before is None or before is tensor:
            return None
        tensor = before
    return None


def _parameters(args: tuple, kwargs: dict[str, Any]) -> Iterator[nn.Parameter]:
    for value in tensors_in((args, kwargs)):
        if isinstance(value, nn.Parameter):
            yield value
