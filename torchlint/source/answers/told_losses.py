"""Models that tell their losses, and do so in train mode only: torchvision's detectors, given images and targets."""

from __future__ import annotations

import ast

from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses


def tells_losses(module: Module, call: ast.Call) -> bool:
    """`losses = model(images, targets)`, of which the parts are added up: `sum(losses.values())`."""
    assigned = call.up.targets if isinstance(call.up, ast.Assign) else []
    if len(call.args) < 2 or len(assigned) != 1 or not isinstance(assigned[0], ast.Name):
        return False
    told = assigned[0]
    return "loss" in told.id.lower() and any(
        isinstance(use.up, ast.Attribute) and use.up.attr in ("values", "items") for use in uses(module, told)
    )
