"""The loaders with which Lightning trains: what `train_dataloader` of a module or data module returns."""

from __future__ import annotations

import ast

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function


def training_loaders(function: Value) -> list[Value]:
    """What makes them, if a function is such a method."""
    node = function.node
    if not isinstance(node, ast.FunctionDef) or node.name != "train_dataloader" or node.yields:
        return []
    owner = method_class(function.module, node)
    if owner is None or not owner.has_lightning_base:
        return []
    return [made for given in node.gives for made in objects(function.at(given, ()))]


def asked_by(function: Value, loader: Value) -> Value | None:
    """The call by which it has its loader made by a function of the project, which may make others, too."""
    maker = enclosing_function(loader.node)
    calls = [function.at(call) for call in function.module.index.inside(function.node, ast.Call)]
    return next((call for call in calls if any(callee.function is maker for callee in callees(call))), None)
