"""Models that are asked by another method than their forward: `model.generate(src)`, `model.sample(8)`."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import root_of
from torchlint.source.training.events import Event
from torchlint.source.training.sameness import identity

_GIVES = re.compile(
    r"^(?:generate|sample|translate|transcribe|caption|predict|infer|decode|recommend|classify|complete|reconstruct|beam_search"
    r"|greedy_(?:decode|search)|(?:generate|predict|sample|infer|decode)_\w{1,30})$"
)
_MODE = re.compile(r"\.eval\(|\.train\(|\.training\b")


def asked(call: ast.Call) -> ast.expr:
    """`model` of `model.generate(src)`, else what is called."""
    func = call.func
    return func.value if isinstance(func, ast.Attribute) and _GIVES.match(func.attr) else func


def asked_by_method(event: Event) -> Value | None:
    """The model of which a method of the project's own gives what its layers make of something."""
    func = None if event.stores_grad else event.node.func
    if not isinstance(func, ast.Attribute) or not _GIVES.match(func.attr):
        return None
    model = event.value.at(func.value, ())
    made = identity(model).values()
    owners = [instance_class(one) if isinstance(one.node, ast.Call) else None for one in made]
    return model if owners and all(owner is not None and _runs_layers(owner, func.attr) for owner in owners) else None


@remembered
def _runs_layers(owner: ClassInfo, name: str) -> bool:
    """Does a method of a module call it or its layers, and leave the mode to who calls it?"""
    found = owner.method(name)
    me = first_parameter(found.node) if found is not None else None
    if found is None or me is None or not owner.is_named_module or not owner.known:
        return False
    if _MODE.search(found.module.segment(found.node)) or owner.method("train") or owner.method("eval"):
        return False
    calls = found.module.index.inside(found.node, ast.Call)
    return any(_is_of(call.func, me.arg) and not _is_method(owner, call.func) for call in calls)


def _is_of(func: ast.expr, me: str) -> bool:
    root = root_of(func)
    return root is not None and root.id == me


def _is_method(owner: ClassInfo, func: ast.expr) -> bool:
    """`self.prepare(x)`; `self(x)` and `self.decoder(x)` run layers."""
    return isinstance(func, ast.Attribute) and not owner.attribute(func.attr)
