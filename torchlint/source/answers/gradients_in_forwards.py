"""Gradients that are taken elsewhere than in a training: by a forward itself, as forces are those of an energy (such a
model cannot run without them), or by a `backward` of the project's own.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import root_of


def forwards_take_gradients(module: Module) -> bool:
    """Does one of the project do so? Which models an evaluation is given is known for few of them."""
    homes = map(module.world.module, module.world.view.mentions("autograd"))
    return any(_takes_gradients(home) for home in (module, *filter(None, homes)))


def _takes_gradients(home: Module) -> bool:
    for call in home.index.callers("grad"):
        function, root = enclosing_function(call), root_of(call.func)
        if function is None or enclosing_class(function) is None or getattr(function, "name", "") != "forward":
            continue
        if root is not None and root.id in ("torch", "autograd", "grad") and last_word(call.func) == "grad":
            return True
    return False


def goes_backward_by_hand(module: Module) -> bool:
    """Is `backward(loss)` the project's own, in a file that never asks torch for gradients?"""
    return any(
        callee.function is not None and callee.module and not callee.module.index.attributes("backward")
        for call in module.index.callers("backward")
        if isinstance(call.func, ast.Name)
        for callee in callees(Value(module, call))
    )
