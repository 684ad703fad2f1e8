"""Layers that leave all axes of what they are given where they are, and change at most the size of the last one."""

from __future__ import annotations

import ast

from torchlint.facts import named
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.training.members import parts_of

_LAYERS = named("same_shape", but="broadcasts") | {"torch.nn.Linear()"}
_HOPS = 3  # modules in modules


def leaves_axes(call: Value, hops: int = _HOPS) -> bool:
    """Is what is called certainly such a layer, a Sequential of such, or a module of the project that does nothing but
    call them one after the other?
    """
    called = callees(call)
    return hops > 0 and len(called) == 1 and _leaves(call, called[0], hops)


def _leaves(call: Value, callee: Callee, hops: int) -> bool:
    if callee.name == "torch.nn.Sequential()" and callee.made is not None and isinstance(callee.made.node, ast.Call):
        parts = parts_of(callee.made.node)
        return bool(parts) and all(_is_such_a_layer(callee.made.at(part, ())) for part in parts)
    forward = callee.function
    if callee.kind == "object" and isinstance(forward, ast.FunctionDef) and callee.module is not None:
        if len(forward.gives) != 1 or len(call.node.args) != 1 or call.node.keywords or forward.yields:
            return False
        frame = frame_of(call.module, forward, call, callee.instance, callee.closure)
        return _calls_such(Value(callee.module, forward.gives[0], frame), forward, hops - 1)
    return callee.name in _LAYERS and callee.name.endswith("()")


def _is_such_a_layer(part: Value) -> bool:
    names = {callee.name for callee in callees(part)} if isinstance(part.node, ast.Call) else set()
    return bool(names) and all(f"{name}()" in _LAYERS for name in names)


def _calls_such(given: Value, forward: ast.FunctionDef, hops: int) -> bool:
    """`self.act(self.fc(x))` of what `forward` is given"""
    node = given.node
    while isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        if not leaves_axes(given.at(node, ()), hops):
            return False
        node = node.args[0]
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = reaching(node, scope) if scope is not None else []
    return node is not given.node and bound == forward.args.args[1:2]
