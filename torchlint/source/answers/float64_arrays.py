"""Where a float64 array reaches a float32 model as a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import named, named_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import dumped
from torchlint.source.training.dtypes import is_move
from torchlint.source.training.members import class_has_weights
from torchlint.source.training.samples import puts_together_as_they_are

CONVERSIONS = frozenset(("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.asarray"))
# What leaves the dtype of a tensor as it is.
SAME_DTYPE = named("same_numbers", but="casts") | {"[]", ".T"}


class Arrival(NamedTuple):
    """A conversion of an array whose tensor reaches a layer (or a loss, as a target) in the dtype it had."""

    conversion: Value
    node: ast.Call | ast.Assign  # that of a layer or loss, or of the weights that it becomes
    is_target: bool

    @property
    def what(self) -> ast.expr:
        """The layer, loss or weight, as it is written."""
        return self.node.func if isinstance(self.node, ast.Call) else self.node.targets[0]


@remembered
def arrivals(module: Module) -> dict[int, Arrival]:
    """By the id of the conversion's call: the first layer or loss that its tensor reaches without a cast."""
    found: dict[int, Arrival] = {}
    if _follows_a_dtype(module):
        return found
    set_weights = [(s, list(_conversions(Value(module, weights), 6))) for s, weights in _weights_set(module)]
    whole = _all_set([statement for statement, conversions in set_weights if conversions])
    for call in module.index.calls:
        if whole and (enclosing_function(call), dumped(call.func)) in whole:
            continue
        for given, is_target in _watched(module, call):
            for conversion in _conversions(Value(module, given), 6):
                found.setdefault(id(conversion.node), Arrival(conversion, call, is_target))
    for statement, conversions in set_weights:
        if (enclosing_function(statement), _part_of_a_layer(statement.targets[0])[0]) not in whole:
            for conversion in conversions:
                found.setdefault(id(conversion.node), Arrival(conversion, statement, False))
    return found


def _follows_a_dtype(module: Module) -> bool:
    """Does a model take the dtype that something else has: `net.to(x)`, `nn.Linear(2, 2, dtype=x.dtype)`?"""
    moved = (call for call in module.index.callers("to") if isinstance(call.func, ast.Attribute))
    for call in moved:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(_is_a_dtype(module, one) for one in given) and kinds(Value(module, call.func.value)) == {MODULE}:
            return True
    layers = (
        k.up for k in module.index.keywords("dtype") if isinstance(k.value, ast.Attribute) and k.value.attr == "dtype"
    )
    return any(isinstance(made, ast.Call) and kinds(Value(module, made)) == {MODULE} for made in layers)


def _is_a_dtype(module: Module, given: ast.expr) -> bool:
    return (last_word(given) or "").endswith("dtype") or kinds(Value(module, given)) == {TENSOR}


def _all_set(statements: list[ast.Assign]) -> set[tuple[ast.AST | None, str]]:
    """The layers that get their weight and their bias in one function, so that all of them is in one dtype, maybe that
    of their input: by function and spelling.
    """
    parts: dict[tuple[ast.AST | None, str], set[str]] = {}
    for statement in statements:
        layer, part = _part_of_a_layer(statement.targets[0])
        parts.setdefault((enclosing_function(statement), layer), set()).add(part)
    return {layer for layer, own in parts.items() if own == {"weight", "bias"}}


def _part_of_a_layer(target: ast.expr) -> tuple[str, str]:
    """`fc`, `weight` of `fc.weight.data`."""
    weight = target.value if target.attr == "data" else target
    return dumped(weight.value), weight.attr


def _weights_set(module: Module) -> Iterator[tuple[ast.Assign, ast.expr]]:
    """The tensors that become the weights of a layer as they are: `layer.weight.data = x`, `layer.weight =
    nn.Parameter(x)`. `copy_` casts.
    """
    stored = [*module.index.stored("data"), *module.index.stored("weight"), *module.index.stored("bias")]
    for target in stored:
        weight = target.value if target.attr == "data" else target
        if not isinstance(target.up, ast.Assign) or not isinstance(weight, ast.Attribute):
            continue
        if weight.attr not in ("weight", "bias") or kinds(Value(module, weight.value)) != {MODULE}:
            continue
        value = target.up.value
        if isinstance(value, ast.Call) and value.args and last_word(value.func) == "Parameter":
            value = value.args[0]
        if not any(kinds(Value(module, call.func.value)) == {MODULE} for call in _float_calls(module)):
            yield target.up, value


def _float_calls(module: Module) -> list[ast.Call]:
    """The calls of `.float()` in the file: of a module, one casts all of its weights."""
    return [call for call in module.index.callers("float") if isinstance(call.func, ast.Attribute)]


def _watched(module: Module, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """The arguments of a call that a float32 layer computes with, and the targets of losses."""
    if not call.args and not call.keywords:
        return
    known = callees(Value(module, call))
    names = {c.name for c in known}
    if known and all(c.kind == "object" and c.owner is not None and c.owner.is_module for c in known):
        method = known[0].function
        foreign = any(
            name is None or not name.startswith(("torch.", "lightning.", "pytorch_lightning.", "builtins."))
            for c in known
            for name in c.owner.foreign
        )
        with_weights = any(class_has_weights(c.owner) for c in known)
        casts = method is None or _casts_its_input(known[0].module, method)
        if not foreign and with_weights and not casts and call.args:
            yield call.args[0], False
    elif names and names <= _COMPUTING and not any(_begins_with_own_code(c) for c in known):
        yield from ((a, False) for a in call.args[:1])
    elif names and names <= _WEIGHTED:
        weights = [k.value for k in call.keywords if k.arg == "weight"] or call.args[:1] * all(
            not n.islower() for n in (m.rsplit(".", 1)[1] for m in names)
        )
        yield from ((w, False) for w in weights)
    elif names and names <= _WITH_KERNEL and len(call.args) > 1 and _is_float32(Value(module, call.args[0])):
        yield call.args[1], False
    elif names and names <= _LOSSES and len(call.args) > 1:
        if not all(_conversions(Value(module, given), 6) for given in call.args[:2]):  # else they agree
            yield call.args[0], False
            yield call.args[1], True
    elif not known and isinstance(call.func, ast.Name) and kinds(Value(module, call.func)) == {MODULE} and call.args:
        yield call.args[0], False


def _begins_with_own_code(callee) -> bool:
    """Is the first layer of a Sequential of a class of the project, which may cast?"""
    if callee.name != "torch.nn.Sequential()" or callee.made is None or not callee.made.node.args:
        return False
    first = origins(callee.made.at(callee.made.node.args[0], ()))
    return any(
        isinstance(o.node, ast.Call)
        and any(
            c.kind == "class" and (m := c.owner.method("forward")) and _casts_its_input(m.module, m.node)
            for c in callees(o)
        )
        for o in first
    )


def _casts_its_input(module: Module, method: ast.FunctionDef, depth: int = 3) -> bool:
    """Does a forward care for the dtype of what it gets, itself or where it hands that on?"""
    if any(getattr(n, "attr", getattr(n, "arg", "")) in _CASTS for n in ast.walk(method)):  # also `dtype=` of a call
        return True
    taken = {a.arg for a in method.args.args[1:]}
    return depth > 0 and any(
        _begins_with_own_code(callee)
        or isinstance(callee.function, ast.FunctionDef)
        and _casts_its_input(callee.module, callee.function, depth - 1)
        for call in module.index.inside(method, ast.Call)
        if any(isinstance(given, ast.Name) and given.id in taken for given in call.args)
        for callee in callees(Value(module, call))
    )


_CASTS = frozenset("float type type_as half double dtype to".split())
_COMPUTING = named("weights", "keeps_input", home="nn") | {"torch.nn.Sequential()"}
_LOSSES = named_of(
    *"mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits".split()
)


# A class weight must have the dtype of the scores.
_WEIGHTED = frozenset(
    (
        "torch.nn.CrossEntropyLoss",
        "torch.nn.NLLLoss",
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.nll_loss",
    )
)
_WITH_KERNEL = named_of(*"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear".split())
_DRAWN = frozenset("torch.rand torch.randn torch.zeros torch.ones torch.full torch.linspace".split())


def _is_float32(tensor: Value) -> bool:
    """Is it plain that a tensor has torch's own dtype: made by torch, or what a forward is given?"""
    made = origins(tensor, SAME_DTYPE)
    return bool(made) and all(
        (
            isinstance(o.node, ast.arg) and o.node.up.up.name == "forward" and kinds(o) == {TENSOR}
            if isinstance(o.node, ast.arg)
            else isinstance(o.node, ast.Call)
            and {c.name for c in callees(o)} <= _DRAWN
            and not any(k.arg == "dtype" for k in o.node.keywords)
        )
        for o in made
    )


def _conversions(value: Value, depth: int) -> list[Value]:
    """The conversions of arrays that a tensor may come from, through loaders and datasets, as long as nothing casts
    it.
    """
    return _converted(value, depth) if depth else []


@remembered(meanwhile=[])
def _converted(value: Value, depth: int) -> list[Value]:
    return list({origin.key: origin for origin in _conversions_in(value, depth)}.values())


def _conversions_in(value: Value, depth: int) -> Iterator[Value]:
    for origin in origins(value, SAME_DTYPE):
        node = origin.node
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                yield from _conversions(origin.at(side, ()), depth - 1)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            yield from _conversions(origin.at(node.value, ()), depth - 1)
        if not isinstance(node, ast.Call):
            continue
        for callee in callees(origin):
            if callee.name in CONVERSIONS and not origin.path:
                yield origin
            elif callee.name == ".to" and is_move(node):
                yield from _conversions(callee.receiver, depth - 1)
            elif callee.name == "torch.utils.data.DataLoader" and origin.path[:1] == (EACH,) and node.args:
                if puts_together_as_they_are(origin):
                    yield from _items(origin.at(node.args[0], ()), origin.path[1:], depth - 1)
            elif callee.name in ("builtins.next", "builtins.iter") and node.args:
                steps = (EACH, *origin.path) if callee.name == "builtins.next" else origin.path
                yield from _conversions(origin.at(node.args[0], steps), depth - 1)


def _items(dataset: Value, path: tuple, depth: int) -> Iterator[Value]:
    """What a dataset hands out, part `path` of an item."""
    for origin in origins(dataset):
        if not isinstance(origin.node, ast.Call):
            continue
        for callee in callees(origin):
            arguments = origin.node.args
            if (
                callee.name == "torch.utils.data.TensorDataset"
                and path
                and isinstance(path[0], int)
                and path[0] < len(arguments)
            ):
                yield from _conversions(origin.at(arguments[path[0]], ()), depth)
            elif callee.name in ("torch.utils.data.random_split", "torch.utils.data.Subset") and arguments:
                yield from _items(origin.at(arguments[0], ()), path, depth - 1)
            elif callee.kind == "class" and callee.owner is not None:
                method = callee.owner.method("__getitem__")
                for returned in method.node.gives if method else ():
                    frame = frame_of(origin.module, method.node, None, origin)
                    yield from _certain(Value(method.module, returned, frame, path), depth - 1)


def _certain(value: Value, depth: int) -> list[Value]:
    """The same where every way leads to a conversion: none goes through a transform, which may cast."""
    ways = [_conversions(origin, depth) for origin in origins(value, SAME_DTYPE)]
    return [conversion for way in ways for conversion in way] if all(ways) else []
