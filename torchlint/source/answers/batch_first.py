"""Which axis the layers that read a sequence take and give first: the batch or the time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.facts import fact
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, has_stars
from torchlint.source.text.spelling import argument
from torchlint.source.training.keyword_values import is_given, keyword_names, keyword_values

_RECURRENT = {"LSTM": 4, "GRU": 4, "RNN": 4}  # with the place of `batch_first` among the arguments
_PAIRS = {**_RECURRENT, "MultiheadAttention": 8}  # give their output and something else
_LAYERS = {**_PAIRS, "TransformerEncoderLayer": 6, "TransformerDecoderLayer": 6, "Transformer": 10}
_NAMES = (*_LAYERS, "TransformerEncoder")
_ENCODERS = frozenset(name for name in _NAMES if name.startswith("TransformerEncoder"))
_OF_ONE = ("view", "reshape", "unsqueeze", "expand", "repeat")  # what may make a batch of one sample


def is_batch_first(layer: Value) -> bool | None:
    """What a layer says as it is made, or that of which an encoder is made."""
    told = {_told_first(made) for made in objects(layer)}
    return told.pop() if len(told) == 1 else None


def told_by(layer: Value) -> list[Value]:
    """What says it as it is made: of an encoder the layer that it repeats."""
    made = objects(layer)
    inner = [one.at(one.node.args[0], ()) for one in made if _class_of(one) == "TransformerEncoder" and one.node.args]
    return [told for one in inner for told in objects(one)] or made


def sequence_layer(origin: Value) -> Value | None:
    """The recurrent layer or encoder whose output it is, if its batch is not made of one sample."""
    called = _output_of(origin)
    kinds = _kinds_of(origin.at(called.func, ())) if called is not None and called.args else set()
    if called is None or not kinds or not kinds <= {*_RECURRENT, *_ENCODERS}:
        return None
    given = [origin.module.segment(one.node) for one in origins(origin.at(called.args[0], ())) if one.node is not None]
    if any(word in text for text in given for word in _OF_ONE):
        return None
    # More is done to what encoders get: a place is told to each step.
    may_be_one = bool(kinds & _ENCODERS) and _may_make_one(origin.module, enclosing_function(called))
    return None if may_be_one else Value(origin.module, called.func)


@remembered
def _may_make_one(module: Module, function: ast.AST | None) -> bool:
    """Does a function, or a file, say what may make a batch of one sample?"""
    return any(module.index.calls_of(*_OF_ONE, inside=function or module.tree))


def layers_behind(value: Value, depth: int = 5) -> Iterator[Value]:
    """The layers whose output comes in, through what leaves the first two axes where they are."""
    for origin in origins(value) if depth else ():
        called = _output_of(origin)
        if called is not None:
            yield Value(origin.module, called.func)
        elif isinstance(origin.node, ast.BinOp):
            for side in (origin.node.left, origin.node.right):
                yield from layers_behind(origin.at(side, ()), depth - 1)
        elif isinstance(origin.node, ast.Call) and origin.node.args and keeps_axes(origin):
            yield from layers_behind(origin.at(origin.node.args[0], ()), depth - 1)


def keeps_axes(call: Value) -> bool:
    """Does a call leave the first two axes of its first argument where they are?"""
    rows = [fact(callee.name) for callee in callees(call)]
    if not rows or None in rows or len({row.function for row in rows}) > 1:
        return False
    return rows[0].same_shape or rows[0].word == "Linear"


def _output_of(origin: Value) -> ast.Call | None:
    """The call of which it is the output: `out, h = rnn(x)`, `rnn(x)[0]`, `encoder(x)`."""
    node, path = origin.node, origin.path
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and not path:
        node, path = node.value, (node.slice.value,)
    if not isinstance(node, ast.Call):
        return None
    kinds = _kinds_of(origin.at(node.func, ()))
    return node if kinds and path == ((0,) if kinds <= set(_PAIRS) else ()) else None


def _kinds_of(layer: Value) -> set[str]:
    """The classes of torch of which a layer may be; empty where one is another's."""
    kinds = {_class_of(made) for made in objects(layer)}
    return kinds if None not in kinds else set()


def _class_of(made: Value) -> str | None:
    names = {c.name for c in callees(made)} if isinstance(made.node, ast.Call) and not made.path else set()
    known = [name for name in _NAMES if names == {f"torch.nn.{name}"}]
    return known[0] if known else None


def _told_first(made: Value) -> bool | None:
    kind, call = _class_of(made), made.node
    if kind is None or any(isinstance(given, ast.Starred) for given in call.args):
        return None
    if has_stars(call):
        return _told_by_options(made)
    if kind == "TransformerEncoder":
        return is_batch_first(made.at(call.args[0], ())) if call.args else None
    told = argument(call, "batch_first", _LAYERS[kind])
    if told is None:
        return False
    return told.value if isinstance(told, ast.Constant) and isinstance(told.value, bool) else None


def _told_by_options(made: Value) -> bool | None:
    """`nn.GRU(4, **options)`, of which all keys are seen"""
    names = keyword_names(made)
    if names is None or argument(made.node, "batch_first", _LAYERS.get(_class_of(made) or "")) is not None:
        return None
    if "batch_first" not in names:
        return False
    told = {o.node.value if isinstance(o.node, ast.Constant) else None for o in keyword_values(made, "batch_first")}
    known = told.pop() if len(told) == 1 and is_given(made, "batch_first") else None
    return known if isinstance(known, bool) else None
