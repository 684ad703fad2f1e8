"""What shows that the second axis of a tensor is the time, and so its first one the batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.facts import fact, named_of
from torchlint.source.answers.batch_first import keeps_axes
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import PARAMETER, kinds
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import constant_key, receiver, unparsed

_JOINS, _TURNS = named_of("cat"), named_of("transpose", "permute")
_CHANNELS_FIRST = frozenset(f"torch.nn.{name}1d()" for name in "Conv MaxPool AvgPool".split())
# What there may be many of at each time, in a batch of its own: (time, nodes, features).
_OF_NO_TIME = re.compile(
    r"batch|node|agent|joint|vert|channel|variate|variable|entit|sensor|station|player|spatial", re.I
)
MAX_STEPS = 6  # between a tensor and what shows it


def shown_second(value: Value) -> Iterator[tuple[Value, str]]:
    """The places that show it for what comes in, each with what it does: positions are added along the second axis, a
    token is put in front there, channels of a convolution are turned to the end.
    """
    yield from _shown(value, MAX_STEPS, set())


def _shown(value: Value, depth: int, seen: set) -> Iterator[tuple[Value, str]]:
    for origin in origins(value) if depth else ():
        node = origin.node
        if origin.path or (origin.key, depth) in seen:
            continue
        seen.add((origin.key, depth))
        if isinstance(node, ast.BinOp):
            yield from _of_sum(origin, depth, seen)
        elif isinstance(node, ast.Call):
            yield from _of_call(origin, depth, seen)


def _of_sum(origin: Value, depth: int, seen: set) -> Iterator[tuple[Value, str]]:
    node = origin.node
    sides = (origin.at(node.left, ()), origin.at(node.right, ()))
    if isinstance(node.op, ast.Add) and any(map(_has_places, sides)):
        yield origin, "positions are added along the second axis here"
        return
    for side in sides:
        yield from _shown(side, depth - 1, seen)


def _of_call(origin: Value, depth: int, seen: set) -> Iterator[tuple[Value, str]]:
    call: ast.Call = origin.node
    names = {callee.name for callee in callees(origin)}
    if names and names <= _JOINS and _puts_a_token(origin):
        yield origin, "a token is put in front along the second axis here"
    elif names and names <= _TURNS and (of := _turned(call)) is not None and _gives_channels(origin.at(of, ()), depth):
        yield origin, "the channels of a convolution, behind the batch, are turned to the end here"
    elif call.args and keeps_axes(origin):
        yield from _shown(origin.at(call.args[0], ()), depth - 1, seen)


def _has_places(side: Value) -> bool:
    """A parameter of the shape (1, places, features), or what is cut from a table to the length of the second axis."""
    node = side.node
    if isinstance(node, ast.Subscript):
        return _is_cut_second(node) and isinstance(node.value, ast.Attribute)
    made = origins(side) if isinstance(node, (ast.Name, ast.Attribute)) else []
    is_of_time = bool(made) and not _OF_NO_TIME.search(last_word(node))
    return is_of_time and all(PARAMETER in kinds(one) and _is_wide(_sizes(one)) for one in made)


def _is_wide(sizes: list[int | str]) -> bool:
    return len(sizes) == 3 and sizes[0] == 1 and sizes[1] != 1 and not _OF_NO_TIME.search(str(sizes[1]))


def _is_cut_second(part: ast.Subscript) -> bool:
    """`[:, :x.size(1)]`"""
    parts = part.slice.elts if isinstance(part.slice, ast.Tuple) else []
    if len(parts) < 2 or not all(isinstance(one, ast.Slice) and one.lower is one.step is None for one in parts[:2]):
        return False
    stop = parts[1].upper
    is_size = isinstance(stop, (ast.Call, ast.Subscript))
    return parts[0].upper is None and is_size and unparsed(stop).endswith((".size(1)", ".shape[1]"))


def _sizes(made: Value) -> list[int | str]:
    """`[1, "n", 64]` of `nn.Parameter(torch.randn(1, n, 64) * 0.02)`: numbers, and how others are written"""
    if not isinstance(made.node, ast.Call) or made.path:
        return []
    created = [call for call in ast.walk(made.node) if isinstance(call, ast.Call) and _creates(made.at(call, ()))]
    if len(created) != 1 or has_stars(created[0]) or not created[0].args:
        return []
    given = created[0].args[0].elts if isinstance(created[0].args[0], (ast.Tuple, ast.List)) else created[0].args
    return [one.value if isinstance(one, ast.Constant) else unparsed(one) for one in given]


def _creates(call: Value) -> bool:
    rows = [fact(callee.name) for callee in callees(call)]
    return bool(rows) and all(row is not None and row.creates and row.of_sizes for row in rows)


def _puts_a_token(origin: Value) -> bool:
    """`torch.cat((self.token.expand(n, -1, -1), x), dim=1)`"""
    call: ast.Call = origin.node
    axis = [k.value for k in call.keywords if k.arg in ("dim", "axis")] or call.args[1:2]
    joined = call.args[0].elts if call.args and isinstance(call.args[0], (ast.Tuple, ast.List)) else []
    if not axis or constant_key(axis[0]) != 1 or len(joined) < 2:
        return False
    for made in origins(origin.at(joined[0], ())):
        node = made.node
        is_spread = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        token = made.at(node.func.value, ()) if is_spread and node.func.attr in ("expand", "repeat") else made
        if not any(PARAMETER in kinds(one) and _sizes(one)[:2] == [1, 1] for one in origins(token)):
            return False
    return True


def _turned(call: ast.Call) -> ast.expr | None:
    """What is turned by `.transpose(1, 2)`, `.permute(0, 2, 1)` or `torch.transpose(x, 1, 2)`."""
    of, given = receiver(call), call.args
    if len(given) > 1 and not isinstance(given[0], (ast.Constant, ast.UnaryOp)):
        of, *given = given
    axes = given[0].elts if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else given
    turned = (["1", "2"], ["2", "1"], ["-1", "-2"], ["-2", "-1"], ["0", "2", "1"])
    return of if [unparsed(one) for one in axes] in turned else None


def _gives_channels(value: Value, depth: int) -> bool:
    """Does it certainly come from a convolution over time, (batch, channels, time)?"""
    found = origins(value) if depth and not isinstance(value.node, ast.Call) else [value]
    return bool(found) and all(isinstance(one.node, ast.Call) and _is_of_channels(one, depth) for one in found)


def _is_of_channels(called: Value, depth: int) -> bool:
    if called.path == ("applied",):
        return _ends_with_channels(called.at(called.node.up, ()))
    if called.path:
        return False
    names = {callee.name for callee in callees(called)}
    if names == {"torch.nn.Sequential()"}:
        return all(map(_ends_with_channels, objects(called.at(called.node.func, ()))))
    if names and names <= _CHANNELS_FIRST:
        return True
    given = called.node.args
    return bool(given) and keeps_axes(called) and _gives_channels(called.at(given[0], ()), depth - 1)


def _ends_with_channels(sequence: Value) -> bool:
    """Is the last layer of a Sequential that is no activation a convolution or pooling over time?"""
    layers = sequence.node.args if isinstance(sequence.node, ast.Call) else []
    named = [{f"{callee.name}()" for callee in callees(sequence.at(one, ()))} for one in reversed(layers)]
    over = [names for names in named if not names or not all(map(_keeps_shape, names))]
    return bool(over) and bool(over[0]) and over[0] <= _CHANNELS_FIRST


def _keeps_shape(name: str) -> bool:
    row = fact(name)
    return row is not None and row.same_shape
