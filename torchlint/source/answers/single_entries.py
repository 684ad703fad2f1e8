"""Dimensions that have certainly one entry: what a linear layer with one output gives, a picture of one channel."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named, named_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import argument, receiver
from torchlint.source.training.ranks import rank

_KEEPS_SHAPE = named("same_shape", but="broadcasts in_place") | named_of("clamp", "detach", "float", "to", "cpu")
_ROWS = named_of("linear", "Linear", "LazyLinear")
_PICTURES = named_of("Conv1d", "Conv2d")
_FLATTENED = named_of("flatten", "Flatten")
_APPLIED = ("applied",)
_OF_OUTPUTS = re.compile(r"out|class|label|target")  # of experts or heads there may be one by choice


def only_entry(scores: Value, dim: object) -> Value | None:
    """What makes the layer because of which a dimension of its scores has one entry, wherever they come from."""
    found = [_layer(origin, dim) for origin in origins(scores, _KEEPS_SHAPE)] if isinstance(dim, int) else []
    return found[0] if found and None not in found else None


def _layer(origin: Value, dim: object) -> Value | None:
    """`nn.Linear(8, 1)`, where that is what is called there."""
    if not isinstance(origin.node, ast.Call) or origin.path not in ((), _APPLIED):
        return None
    if origin.path == _APPLIED:
        return origin.at(origin.node, ()) if gives_one(origin.at(origin.node, ()), dim, None) else None
    made = [callee.made for callee in callees(origin)]
    taken = origin.at(origin.node.args[0], ()) if len(origin.node.args) == 1 else None
    if len(made) != 1 or made[0] is None or not isinstance(made[0].node, ast.Call) or made[0].path:
        return None
    return made[0] if gives_one(made[0], dim, taken) else None


def gives_one(layer: Value, dim: object, taken: Value | None) -> bool:
    """Does a layer, as it is made, certainly give one entry in a dimension?"""
    names = {callee.name for callee in callees(layer)}
    if len(names) != 1 or not isinstance(layer.node, ast.Call) or has_stars(layer.node):
        return False
    [name] = names
    word = name.removeprefix("torch.nn.")
    if f"{name}()" in _ROWS:
        how_many = argument(layer.node, "out_features", 0 if word.startswith("Lazy") else 1)
        is_meant = dim == -1 or dim == 1 and taken is not None and _has_two(taken)
    else:
        how_many = argument(layer.node, "out_channels", 1)
        is_meant = f"{name}()" in _PICTURES and dim in (1, -2 if "1d" in word else -3)
    if not is_meant or how_many is None or number(layer.at(how_many, ())) != 1:
        return False
    return isinstance(how_many, ast.Constant) or _OF_OUTPUTS.search(last_word(how_many).lower()) is not None


def _has_two(value: Value, depth: int = 6) -> bool:
    """Has it certainly two dimensions, behind layers that keep them: `x.view(x.size(0), -1)`, `x.flatten(1)`?"""
    if rank(value) == 2:
        return True
    found = origins(value, _KEEPS_SHAPE) if depth else []
    return bool(found) and all(_is_flat(origin, depth) for origin in found)


def _is_flat(origin: Value, depth: int) -> bool:
    node = origin.node
    if not isinstance(node, ast.Call) or origin.path:
        return False
    names = {callee.name for callee in callees(origin)}
    if names and names <= _FLATTENED:
        is_method, is_layer = names == {".flatten"}, any(name.endswith("()") for name in names)
        start = None if is_layer else argument(node, "start_dim", 0 if is_method else 1)
        is_whole = argument(node, "end_dim", 1 if is_method else 2) is None
        return is_whole and (is_layer and _is_plain(origin) or start is not None and number(origin.at(start, ())) == 1)
    if rank(origin) == 2:
        return True
    given = receiver(node) if all(name.startswith(".") for name in names) else next(iter(node.args), None)
    is_row = bool(names) and names <= named("affine") and all("Linear" in name for name in names)
    return is_row and given is not None and _has_two(origin.at(given, ()), depth - 1)


def _is_plain(called: Value) -> bool:
    """`nn.Flatten()`, which begins with dimension 1"""
    made = [callee.made for callee in callees(called)]
    return all(one is not None and isinstance(one.node, ast.Call) and not one.node.args for one in made)


def softmax_of_one(sequence: Value) -> tuple[Value, Value] | None:
    """In `nn.Sequential(…, nn.Linear(8, 1), nn.Softmax(dim=-1))` the softmax and what it is given by."""
    layers = [] if has_stars(sequence.node) else sequence.node.args
    for layer, last in zip(layers, layers[1:]):
        if not isinstance(last, ast.Call) or not _makes(sequence.at(last, ()), named_of("softmax", "log_softmax")):
            continue
        given = argument(last, "dim", 0)
        dim = number(sequence.at(given, ())) if given is not None else None
        is_row = any(_makes(sequence.at(one, ()), _FLATTENED) for one in layers[: layers.index(last)])
        dim = -1 if dim == 1 and is_row and _makes(sequence.at(layer, ()), _ROWS) else dim
        if isinstance(layer, ast.Call) and gives_one(sequence.at(layer, ()), dim, None):
            return sequence.at(last, ()), sequence.at(layer, ())
    return None


def _makes(made: Value, layers: frozenset[str]) -> bool:
    names = {callee.name for callee in callees(made)} if isinstance(made.node, ast.Call) else set()
    return bool(names) and {f"{name}()" for name in names} <= layers
