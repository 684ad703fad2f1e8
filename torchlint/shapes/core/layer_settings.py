"""What a layer of torch says of itself: `3, 16, kernel_size=(3, 3)`."""

from __future__ import annotations

from torch import nn

from torchlint.shapes.core.values import UnknownUsed


def settings_of(layer: nn.Module) -> str:
    """Nothing where the program says it with code of its own, or where the text would have unknown parts."""
    says = next(kind for kind in type(layer).__mro__ if "extra_repr" in vars(kind))
    if not says.__module__.startswith("torch."):
        return ""
    try:
        return says.extra_repr(layer).replace("\n", " ")
    except (AttributeError, UnknownUsed):  # its `__init__` was not run to the end, or was given what nobody knows
        return ""
