"""Parts of a Lightning module that its loss goes through, and that `configure_optimizers` gives to no optimizer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.answers.lightning_results import method_called
from torchlint.source.answers.unheld_parameters import Orphan, made_to_learn, may_be_held_elsewhere
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.values import Value
from torchlint.source.text.index import within
from torchlint.source.training.graphs import graph, is_model_call, returned_losses
from torchlint.source.training.optimizers import constructor_argument, constructors

_MOST = 20  # parts of a module that are looked at
_ON_PURPOSE = re.compile(
    r"freez|frozen|finetun|fine_tun|prob(e|ing)\b|automatic_optimization|configure_model", re.IGNORECASE
)


def left_out(info: ClassInfo) -> Iterator[Orphan]:
    """`self.head`, where only `self.encoder` is trained, from which it gets what it judges: what comes before may be
    meant to stay as it is, but nobody learns from what a head says that never learns.
    """
    module, configure = info.module, method_called(info, "configure_optimizers")
    made = constructors(module)
    if configure is None or len(made) != 1 or not within(made[0].node, configure):
        return
    held = _whole(made[0])
    if held is None or may_be_held_elsewhere(module) or module.finds(_ON_PURPOSE):
        return
    seen = {held}
    for loss in returned_losses(info):
        for node in list(graph(loss).nodes.values()):
            part = _part_called(node)
            if node.module is not module or part is None or part in seen or not within(node.node, info.node):
                continue
            seen.add(part)
            if len(seen) > _MOST:
                return
            layer = made_to_learn(node.at(node.node.func, ()))
            if layer is not None and within(layer.node, info.node) and is_model_call(node) and _gets(node, held):
                yield Orphan(made[0], layer, node.node.func)


def _whole(optimizer: Value) -> str | None:
    """`encoder` of `Adam(self.encoder.parameters(), lr=1e-3)`"""
    given = constructor_argument(optimizer)
    match given.node if given is not None else None:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name), attr="parameters")):
            return name
    return None


def _part_called(node: Value) -> str | None:
    """`head` of `self.head(x)`"""
    match node.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[_, *_]):
            return name
    return None


def _gets(call: Value, held: str) -> bool:
    """Is a layer given what another one makes?"""
    given = [node for argument in call.node.args for node in graph(call.at(argument, ())).nodes.values()]
    return any(_part_called(one) == held for node in given for one in _with_calls_around(node))


def _with_calls_around(node: Value) -> Iterator[Value]:
    """What is in a graph, and the calls of what it stands in."""
    yield node
    while node.frame is not None and node.frame.call is not None:
        node = node.frame.call
        yield node
