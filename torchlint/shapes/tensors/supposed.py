"""Graphs that are only supposed: a tensor that nobody knows may be the result of a network, or data."""

from __future__ import annotations

from collections.abc import Iterator

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
    return tensor.requires_grad and any(not hasattr(leaf, _SUPPOSED) for leaf in _leaves_behind(tensor))


def is_supposed_in_part(tensor: torch.Tensor) -> bool:
    """Whether what a tensor was computed from is not all known: more may be behind it than can be seen."""
    return tensor.requires_grad and any(hasattr(leaf, _SUPPOSED) for leaf in _leaves_behind(tensor))


def _leaves_behind(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Those that its gradients come to, or itself."""
    if tensor.grad_fn is None:
        yield tensor
        return
    waiting, seen = [tensor.grad_fn], {tensor.grad_fn}
    while waiting and len(seen) < _MOST:
        function = waiting.pop()
        leaf = getattr(function, "variable", None)
        if leaf is not None:
            yield leaf
        for before, _ in function.next_functions:
            if before is not None and before not in seen:
                seen.add(before)
                waiting.append(before)
