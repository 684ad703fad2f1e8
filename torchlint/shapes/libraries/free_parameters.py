"""Parameters of sizes that nobody knows: the program reads them as values that are known in part, and they go where
their module goes.
"""

from __future__ import annotations

from torch import nn

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.tensors import wild

_NAMED = "_torchlint_free_"


class FreeParameters(nn.Module):
    """A hidden part of a module: what `module.double()` and `module.to(device)` do to a parameter happens to what
    stands for it in each world. It has no parameters of its own, as these have sizes of examples.
    """

    def __init__(self, value: Unknown):
        super().__init__()
        self.value = value
        self.is_shared = False  # by a copy of the module, which reads the same value

    def __deepcopy__(self, memo: dict) -> FreeParameters:
        self.is_shared = True
        return self

    def _apply(self, fn, recurse=True):
        known = wild.known_of(self.value)
        if self.is_shared:
            self.value.known = None  # one of them has changed, and the other has not
        elif known is not None:
            for parameter in known.values.values():
                parameter.data = fn(parameter.data)
        return super()._apply(fn, recurse)

    def forward(self, *args, **kwargs):
        return Unknown(self.value.reason)


def keep_with(module: nn.Module, name: str, value: Unknown) -> None:
    """Let a parameter of free sizes belong to a module under a name, and no longer what did before."""
    parts = module.__dict__.get("_modules")
    if parts is None:
        return
    parts.pop(_NAMED + name, None)
    known = wild.known_of(value)
    if known is not None and all(isinstance(one, nn.Parameter) for one in known.values.values()):
        parts[_NAMED + name] = FreeParameters(value)
