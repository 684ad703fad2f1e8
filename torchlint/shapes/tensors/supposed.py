"""Graphs that are only supposed: a tensor that nobody knows may be the result of a network, or data."""

from __future__ import annotations

import torch

_SUPPOSED = "_torchlint_supposed"  # of a leaf that stands for what a network would have computed
_MOST = 2000  # functions of a graph that are looked at


def computed(value: torch.Tensor) -> torch.Tensor:
    """A tensor that may be the result of a network."""
    if not value.is_floating_point():
        return value
    value.requires_grad_()
    setattr(value, _SUPPOSED, True)
    return value.clone()


def surely_has_graph(tensor: torch.Tensor) -> bool:
    """Whether a tensor needs gradients for something that certainly does, a parameter above all."""
    if not tensor.requires_grad:
        return False
    if tensor.grad_fn is None:
        return not hasattr(tensor, _SUPPOSED)
    waiting, seen = [tensor.grad_fn], {tensor.grad_fn}
    while waiting and len(seen) < _MOST:
        function = waiting.pop()
        leaf = getattr(function, "variable", None)
        if leaf is not None and not hasattr(leaf, _SUPPOSED):
            return True
        for before, _ in function.next_functions:
            if before is not None and before not in seen:
                seen.add(before)
                waiting.append(before)
    return False
