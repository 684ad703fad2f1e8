"""What a value that a layer refuses may lack: an axis too many, too few, or in another place."""

from __future__ import annotations

from math import prod

import torch
from torch import nn

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


def of_layer(layer: nn.Module, value: torch.Tensor, called: str) -> str:
    """What to do to a value so that the layer takes it, where its sizes say so; empty where they do not."""
    shape = tuple(value.shape)
    match layer:
        case nn.Linear() if len(shape) > 1 and shape[-1] != layer.in_features:
            return _of_features(layer.in_features, shape, called)
        case nn.LayerNorm() if len(layer.normalized_shape) == 1 and len(shape) > 2 and shape[-1] != shape[1]:
            wanted = layer.normalized_shape[0]
            if shape[1] == wanted != shape[-1]:
                return f"dimension 1 has {wanted}: a LayerNorm takes the last one, so move it there before"
        case nn.Conv2d() if len(shape) == 4 and shape[-1] == layer.in_channels not in shape[1:3]:
            return f"its channels come last: `{called}.permute(0, 3, 1, 2)`"
    return ""


def _of_features(wanted: int, shape: tuple[int, ...], called: str) -> str:
    for first in range(1, len(shape) - 1):
        if prod(shape[first:]) == wanted:
            return f"flatten it first: `{called}.flatten({first})`"
    if len(shape) == 3 and shape[1] == wanted:
        return f"dimension 1 has {wanted}: a Linear takes the last one, so move it there before"
    return ""
