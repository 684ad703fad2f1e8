"""Layers one after the other that start with weights of one number each: the units between them stay equal."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact, named
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.keyword_values import is_given
from torchlint.source.training.regions import tests_around

_FILLS = ("zeros_", "ones_", "constant_")
_LAYERS = frozenset(name.removesuffix("()") for name in named("affine") if name.startswith("torch.nn."))
_DEPTH = 4  # of activations between two layers
_MOST = 64  # layers of a file, each of which is looked for behind each other


def keeps_units_equal(module: Module, fill: ast.Call) -> tuple[Value, Value] | None:
    """Of a call `nn.init.zeros_(layer.weight)` the layer, and the next one in a forward, whose weights are one number
    too.
    """
    return _found(module).get(id(fill))


@remembered(meanwhile={})
def _found(module: Module) -> dict[int, tuple[Value, Value]]:
    filled = {layer.node: (fill, layer) for fill in _constant_fills(module) for layer in _layers_of(fill, "weight")}
    biased = {layer.node for fill in _constant_fills(module) for layer in _layers_of(fill, "bias")}
    found = {}
    for node, (fill, layer) in filled.items() if 1 < len(filled) <= _MOST else ():
        has_no_bias = any(k.arg == "bias" and unparsed(k.value) == "False" for k in node.keywords)
        for after in _next_layers(layer) if node in biased or has_no_bias else ():
            if after.node in filled and not _is_drawn(module, {node, after.node}):
                found[id(fill.node)] = layer, after
    return found


def _constant_fills(module: Module) -> list[Value]:
    """Without a condition, but for what it asks of a bias"""
    fills = [Value(module, call) for word in _FILLS for call in module.index.callers(word)]
    return [
        fill
        for fill in fills
        if {c.name for c in callees(fill)} == {f"torch.nn.init.{last_word(fill.node.func)}"}
        and all("bias is not None" in unparsed(test) for test, _ in tests_around(fill.node))
        and _is_of_one_number(fill)
    ]


def _is_of_one_number(fill: Value) -> bool:
    given = argument(fill.node, "val", 1)
    return last_word(fill.node.func) != "constant_" or given is not None and number(fill.at(given, ())) is not None


def _layers_of(fill: Value, part: str) -> Iterator[Value]:
    """The layers that are made here whose weights, or biases, a call of `nn.init` sets, whoever calls its function."""
    tensor = argument(fill.node, "tensor", 0)
    if not isinstance(tensor, ast.Attribute) or tensor.attr != part:
        return
    function = enclosing_function(fill.node)
    owner = method_class(fill.module, function) if function is not None else None
    called = list(callers_of(fill.module, function, owner)) if function is not None and owner is None else []
    frames = [frame_of(fill.module, function, call, None) for call in called if not any(tests_around(call.node))]
    for frame in frames if called else [None]:
        for made in objects(Value(fill.module, tensor.value, frame)):
            if _is_whole_layer(made):
                yield made


def _is_whole_layer(made: Value) -> bool:
    """One of which each unit gets all that the layer gets, other than those of a convolution in groups."""
    names = {c.name for c in callees(made)} if isinstance(made.node, ast.Call) and not made.path else set()
    return bool(names) and names <= _LAYERS and len(made.node.args) <= 6 and not is_given(made, "groups")


def _next_layers(layer: Value) -> Iterator[Value]:
    """The layers that get only what this one makes, through activations, in the forward of the class that has both."""
    maker = enclosing_function(layer.node)
    owner = method_class(layer.module, maker) if maker is not None else None
    forward = owner.methods.get("forward") if owner is not None else None
    for call in layer.module.index.inside(forward, ast.Call) if forward is not None else ():
        made = objects(layer.at(call.func, ())) if len(call.args) == 1 else []
        if len(made) == 1 and isinstance(made[0].node, ast.Call) and made[0].node is not layer.node:
            if _is_made_by(layer.at(call.args[0], ()), layer.node, _DEPTH):
                yield made[0]


def _is_made_by(value: Value, layer: ast.Call, depth: int) -> bool:
    found = origins(Value(value.module, value.node)) if depth else []
    return bool(found) and all(_is_of(origin, layer, depth) for origin in found)


def _is_of(origin: Value, layer: ast.Call, depth: int) -> bool:
    node = origin.node
    if not isinstance(node, ast.Call) or origin.path:
        return False
    if any(made.node is layer for made in objects(origin.at(node.func, ()))):
        return True
    names = {callee.name for callee in callees(origin)}
    rows = [fact(name) for name in names]
    is_activation = bool(rows) and all(row is not None and row.pointwise and not row.random for row in rows)
    of = receiver(node) if all(name.startswith(".") for name in names) else argument(node, "input", 0)
    return is_activation and of is not None and _is_made_by(origin.at(of, ()), layer, depth - 1)


def _is_drawn(module: Module, layers: set[ast.AST]) -> bool:
    """May another call of `nn.init` draw their weights?"""
    for call in module.index.calls:
        name = last_word(call.func)
        if name.endswith("_") and name not in _FILLS and call.args and isinstance(call.args[0], ast.Attribute):
            made = objects(Value(module, call.args[0].value))
            if call.args[0].attr == "weight" and any(
                o.node in layers or not isinstance(o.node, ast.Call) for o in made
            ):
                return True
    return False
