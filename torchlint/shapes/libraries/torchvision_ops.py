"""torchvision's compiled operations, as far as their results have a size that is known."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, unknown_in


def _sized(size_of):
    """An operation whose result has the dtype of its first input and a size that its arguments say."""

    def operation(machine, *args, **kwargs):
        if kwargs or unknown_in(args) is not None or not isinstance(args[0], torch.Tensor):
            return Unknown("an operation of torchvision on unknown values")
        shapes = size_of(*args)
        made = tuple(machine.foreign(torch.Tensor.new_empty, (args[0], shape), {}) for shape in shapes)
        return made if len(made) > 1 else made[0]

    return operation


def _pooled(value, boxes, scale, height, width, *rest):
    return [(boxes.shape[0], value.shape[1], height, width)]


def _pooled_with_positions(*args):
    return _pooled(*args) * 2


def _pooled_by_position(value, boxes, scale, height, width, *rest):
    return [(boxes.shape[0], value.shape[1] // (height * width), height, width)] * 2


def _deformed(value, weight, offset, *rest):
    return [(value.shape[0], weight.shape[0], *offset.shape[2:])]


OPERATIONS: dict[str, Any] = {
    f"torch.ops.torchvision.{name}": Special(name, _sized(size_of))
    for name, size_of in {
        "roi_align": _pooled,
        "roi_pool": _pooled_with_positions,
        "ps_roi_align": _pooled_by_position,
        "ps_roi_pool": _pooled_by_position,
        "deform_conv2d": _deformed,
    }.items()
}
